/* Whole frames for the stress test: crowds posed and drawn, as `view` does. */
#ifndef TH_CLI_LOAD_TEST_GL_H
#define TH_CLI_LOAD_TEST_GL_H

#include "model_set.h"
#include "picture.h"

#include <throng/bench/stress.h>

typedef struct th_drawn_crowd {
    th_options options; /* with the number of characters and of threads of the moment */
    const th_cast *cast;
    th_picture picture;
    th_show *one; /* of a single character, which has what all crowds on as many threads share; NULL: not yet */
    th_show *all; /* NULL: none at the moment */
    th_camera camera;
} th_drawn_crowd;

/* Opens a context. Options and cast must outlive it. TH_ERR_ENVIRONMENT: there is no OpenGL. th_drawn_crowd_fini when
 * TH_OK. */
th_result th_drawn_crowd_init(th_drawn_crowd *crowd, const th_options *options, const th_cast *cast, th_error *err);
void th_drawn_crowd_fini(th_drawn_crowd *crowd);

th_stress_guest th_drawn_crowd_guest(th_drawn_crowd *crowd);

#endif
