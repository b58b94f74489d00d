/* Builds crowd views from the command line's options. */
#ifndef TH_CLI_CROWD_VIEW_OPTIONS_H
#define TH_CLI_CROWD_VIEW_OPTIONS_H

#include "model_set.h"

#include <throng/render/crowd_view.h>

/* th_crowd_view_create and th_crowd_view_prepare with the options' settings and clip; the clip that is chosen in the
 * model set is ignored. The model set must outlive the crowd view. TH_ERR_USAGE: no model has the clip. */
th_result th_options_create_crowd_view(const th_options *options, const th_model_set *model_set, th_gl *gl,
                                       th_crowd_view **out, th_error *err);
th_result th_options_prepare_crowd_view(const th_options *options, const th_model_set *model_set,
                                        const th_crowd_view *base, th_crowd_view **out, th_error *err);

#endif
