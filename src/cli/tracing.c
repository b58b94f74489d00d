#include "tracing.h"

#include <throng/bench/context.h>
#include <throng/core/file.h>
#include <throng/core/table.h>
#include <throng/runtime/tracer.h>

#include <stdlib.h>

int th_tracing_begin(th_options *o, const th_command *command)
{
    char name[64];
    th_error err;
    if (!o->trace)
        return TH_EXIT_GOOD;
    snprintf(name, sizeof name, "throng %s", command->name);
    return th_tracer_create(name, &o->tracer, &err) == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}

static void say_what_is_missing(const th_options *o)
{
    const th_tracer_extent extent = th_tracer_get_extent(o->tracer);
    if (extent.dropped > 0)
        th_complain("%s holds the last %s events, all from %.3f s on; %s before were dropped", o->trace,
                    th_digits_from(extent.kept).text, (double)extent.complete_from_ns / 1e9,
                    th_digits_from(extent.dropped).text);
}

static int write_file(const th_options *o)
{
    char *text = NULL, producer[128];
    size_t size = 0;
    th_error err = {TH_ERR_MEMORY, "no memory for a trace"};
    FILE *file = open_memstream(&text, &size);
    snprintf(producer, sizeof producer, "throng %s", th_context_version());
    th_result result = file ? th_tracer_write(o->tracer, producer, file, &err) : TH_ERR_MEMORY;
    if (file && fclose(file) != 0)
        result = TH_ERR_MEMORY;
    if (result == TH_OK)
        result = th_file_replace(o->trace, &(struct iovec){text, size}, 1, &err);
    free(text);
    if (result != TH_OK)
        return th_fail_with(&err);
    say_what_is_missing(o);
    return TH_EXIT_GOOD;
}

int th_tracing_end(const th_options *o, int code)
{
    int written = TH_EXIT_GOOD;
    const bool has_result = o->has_result && *o->has_result;
    if (o->tracer && (code == TH_EXIT_GOOD || code == TH_EXIT_CHECK || has_result))
        written = write_file(o);
    th_tracer_destroy(o->tracer);
    return code != TH_EXIT_GOOD ? code : written;
}
