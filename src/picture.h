/* Pictures for `throng serve`: a studio on OpenGL without a window. */
#ifndef TH_PICTURE_H
#define TH_PICTURE_H

#include "options.h"
#include "serve/studio.h"

typedef struct th_picture th_picture;

/* Opens no context yet. Called before there are threads: it sets an environment variable. */
th_result th_picture_create(const th_options *options, th_picture **out, th_error *err);
void th_picture_destroy(th_picture *picture); /* cleared; NULL is fine */

th_studio th_picture_studio(th_picture *picture);

#endif
