#include <cli/run.h>

#include <bench/context.h>
#include <core/file.h>
#include <core/table.h>

#include <stdlib.h>
#include <string.h>

bool th_run_has_option(const th_run *run, const char *name)
{
    for (uint32_t i = 0; i < run->option_count; i++)
        if (strcmp(run->options[i], name) == 0)
            return true;
    return false;
}

/* ---- the trace ---- */

int th_run_begin_trace(th_run *run, const char *path)
{
    char name[64];
    th_error err;
    if (!path)
        return TH_EXIT_GOOD;
    snprintf(name, sizeof name, "throng %s", run->command->name);
    return th_tracer_create(name, &run->tracer, &err) == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}

static int write_trace(th_tracer *tracer, const char *path)
{
    char *text = NULL, producer[128];
    size_t size = 0;
    th_error err = {TH_ERR_MEMORY, "no memory for a trace"};
    FILE *file = open_memstream(&text, &size);
    snprintf(producer, sizeof producer, "throng %s", th_context_version());
    th_result result = file ? th_tracer_write(tracer, producer, file, &err) : TH_ERR_MEMORY;
    if (file && fclose(file) != 0)
        result = TH_ERR_MEMORY;
    if (result == TH_OK)
        result = th_file_replace(path, &(struct iovec){text, size}, 1, &err);
    free(text);
    if (result != TH_OK)
        return th_fail_with(&err);
    const th_tracer_extent extent = th_tracer_get_extent(tracer);
    if (extent.dropped > 0)
        th_complain("%s holds the last %s events, all from %.3f s on; %s before were dropped", path,
                    th_digits_from(extent.kept).text, (double)extent.complete_from_ns / 1e9,
                    th_digits_from(extent.dropped).text);
    return TH_EXIT_GOOD;
}

int th_run_end_trace(th_run *run, const char *path, int code)
{
    int written = TH_EXIT_GOOD;
    if (run->tracer && (code == TH_EXIT_GOOD || code == TH_EXIT_CHECK || run->has_result))
        written = write_trace(run->tracer, path);
    th_tracer_destroy(run->tracer);
    run->tracer = NULL;
    return code != TH_EXIT_GOOD ? code : written;
}
