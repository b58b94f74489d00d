/* throng view: the crowd in a window. */
#include "view/viewer.h"

#include "cli/interrupt.h"
#include <cli/options.h>

#include <unistd.h>

#define SOFTWARE_COUNT 100u

static bool write_view(const void *result, th_form form, FILE *file)
{
    return form == TH_FORM_TEXT ? th_viewer_print(result, file) : th_output_json(th_viewer_json(result), 6, file);
}

int th_command_view(const th_options *o, th_run *run)
{
    const th_viewer_desc desc = {
        .models = &o->models,
        .settings = {.crowd = o->crowd, .clip = o->models.clip},
        .software_count = th_run_has_option(run, "count") ? o->crowd.count : SOFTWARE_COUNT,
        .picture = o->picture,
        .frames = o->view.frames,
        .stop = th_interrupt_begin(),
        .tracer = run->tracer,
    };
    th_error err;
    th_viewer *viewer;
    th_result result = th_viewer_create(&desc, &viewer, &err);
    if (result == TH_OK)
        result = th_viewer_run(viewer, &err);
    int code = TH_EXIT_GOOD; /* Ctrl-C also reaches the importer, and that it fails then is no news */
    if (result == TH_OK)
        code = th_output_write(run, &o->output, write_view, viewer);
    else if (!th_interrupt_is_requested())
        code = th_fail_with(&err);
    if (code == TH_EXIT_GOOD && th_interrupt_is_requested())
        code = th_interrupt_code();
    if (viewer && th_viewer_is_rebuilding(viewer)) {
        /* The result of the rebuild is not needed. The program exits without waiting for its thread; the system frees
         * its memory. */
        code = th_run_end_trace(run, o->trace, code);
        const int finish = th_output_finish();
        _exit(code != TH_EXIT_GOOD ? code : finish);
    }
    th_viewer_destroy(viewer);
    return code;
}
