/* A picture of a crowd as the command line asks for it. */
#ifndef TH_CLI_CROWD_VIEW_OPTIONS_H
#define TH_CLI_CROWD_VIEW_OPTIONS_H

#include "model_set.h"

#include <throng/render/crowd_view.h>

/* As th_show_create and th_show_prepare, with the clip that the options name, whichever the cast has. The cast must
 * outlive the show. TH_ERR_USAGE: no model has the clip. */
th_result th_cast_create_show(const th_options *options, const th_cast *cast, th_gl *gl, th_show **out, th_error *err);
th_result th_cast_prepare_show(const th_options *options, const th_cast *cast, const th_show *base, th_show **out,
                               th_error *err);

#endif
