/* throng serve: a crowd that keeps running. */
#include "model_set.h"
#include "snapshot_gl.h"

#include <throng/anim/human.h>
#include <throng/serve/server.h>

#include <string.h>
#include <unistd.h>

static th_result load(void *ctx, const char *path, th_model **out, th_error *err)
{
    return th_model_set_load(ctx, path, out, err);
}

/* Commands that measure and write one result document. */
static const char *const run_kinds[] = {"scale", "stress", NULL};

static uint32_t max_threads(uint32_t wanted)
{
    const uint32_t usable = th_cpus_read().usable;
    return wanted > usable ? wanted : usable < TH_JOBS_MAX_THREADS ? usable : TH_JOBS_MAX_THREADS;
}

static uint64_t max_memory(double megabytes)
{
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return megabytes > 0 ? (uint64_t)(megabytes * 1e6) : machine / 4;
}

/* Options for reading model files, for runs as for the server. Two words per option; ends with NULL. */
typedef struct reading {
    const char *words[2 * TH_OPTIONS_MAX_FILES + 3];
    char timeout[32];
} reading;

static const char *const *reading_options(const th_options *o, reading *out)
{
    uint32_t count = 0;
    for (uint32_t a = 0; a < o->animations.count; a++) {
        out->words[count++] = "animation";
        out->words[count++] = o->animations.paths[a];
    }
    snprintf(out->timeout, sizeof out->timeout, "%.15g", o->import_timeout_s);
    out->words[count++] = "import-timeout";
    out->words[count++] = out->timeout;
    out->words[count] = NULL;
    return out->words;
}

/* The initial settings, built as a client's patch from the options. */
static th_result first_settings(const th_options *o, const th_server_desc *desc, th_settings *out, th_error *err)
{
    if (o->count > o->max_count)
        return th_fail(err, TH_ERR_INPUT, "--count %u is more than --max-count %u", o->count, o->max_count);
    json_t *models = json_array(), *clips = json_object();
    for (uint32_t m = 0; m < desc->registry.file_count && m < o->models.count; m++)
        json_array_append_new(models, json_string(th_model_registry_name(o->models.paths[m])));
    if (o->models.count == 0)
        json_array_append_new(models, json_string(TH_HUMAN_NAME));
    if (strcmp(o->clip, "all") != 0)
        json_object_set_new(clips, o->clip, json_integer(1));
    json_t *patch = json_pack("{s:i, s:i, s:f, s:b, s:o, s:o, s:s}", "count", (int)o->count, "threads",
                              (int)o->threads.counts[0], "rate_hz", o->rate_hz, "paused", 0, "models", models, "clips",
                              clips, "interpolation", th_interpolation_name(o->interpolation));
    th_result result = patch ? th_settings_patch(out, patch, &desc->limits, err)
                             : th_fail(err, TH_ERR_INPUT, "names must be UTF-8 here");
    json_decref(patch);
    return result;
}

static void list_models(const th_options *o, th_model_registry *out)
{
    bool human = false;
    for (uint32_t m = 0; m < o->models.count; m++) {
        out->files[out->file_count++] = o->models.paths[m];
        human = human || strcmp(th_model_registry_name(o->models.paths[m]), TH_HUMAN_NAME) == 0;
    }
    if (!human && out->file_count < TH_MODEL_REGISTRY_FILES)
        out->files[out->file_count++] = TH_HUMAN_NAME;
    out->folder_count = o->model_folders.count;
    memcpy(out->folders, o->model_folders.paths, o->model_folders.count * sizeof *out->folders);
}

int th_command_serve(const th_options *o)
{
    th_error err;
    reading how;
    th_server_desc desc = {
        .listen = o->listen,
        .token_file = o->token_file,
        .hosts = o->allow_hosts.paths,
        .host_count = o->allow_hosts.count,
        .results = o->results,
        .run_kinds = run_kinds,
        .run_fixed = reading_options(o, &how),
        .requests_per_s = o->max_requests_hz,
        .controller = {.model_cache = {.load = load, .load_ctx = (void *)o, .compile = th_model_set_compile_desc(o)},
                       .simulation = {.isa = o->isa, .palette = o->palette, .seed = o->seed}},
        .limits = {o->max_count, max_threads(o->threads.counts[0]), max_memory(o->max_memory_mb)},
        .log_level = o->log_level,
        .log_format = o->log_format,
    };
    list_models(o, &desc.registry);
    if (first_settings(o, &desc, &desc.settings, &err) != TH_OK || th_server_check(&desc, &err) != TH_OK) {
        th_complain("%s", err.text);
        return TH_EXIT_USAGE;
    }
    th_snapshot_gl *snapshot_gl;
    th_result result = th_snapshot_gl_create(o, &snapshot_gl, &err);
    if (result == TH_OK) {
        desc.renderer = th_snapshot_gl_renderer(snapshot_gl);
        result = th_server_run(&desc, &err);
    }
    th_snapshot_gl_destroy(snapshot_gl);
    return result == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}
