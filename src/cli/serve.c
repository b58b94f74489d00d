/* throng serve: a crowd that keeps running. */
#include "options.h"
#include "snapshot_gl.h"

#include <throng/anim/human.h>
#include <throng/serve/server.h>

#include <string.h>
#include <unistd.h>

static th_result load(void *ctx, const char *path, th_model **out, th_error *err)
{
    return th_model_load(ctx, path, out, err);
}

/* Commands that measure and write one result document. */
static const char *const run_kinds[] = {"scale", "stress", NULL};

static uint32_t max_threads(uint32_t wanted)
{
    const uint32_t usable = th_cpus_read().usable;
    return wanted > usable ? wanted : usable < TH_JOBS_MAX_THREADS ? usable : TH_JOBS_MAX_THREADS;
}

static uint64_t max_memory(uint64_t wanted)
{
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return wanted > 0 ? wanted : machine / 4;
}

/* Options for reading model files, for runs as for the server. Two words per option; ends with NULL. */
typedef struct reading {
    const char *words[2 * TH_FILE_LIST_MAX + 3];
    char timeout[32];
} reading;

static const char *const *reading_options(const th_model_options *o, reading *out)
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

/* The initial settings, built as a client's patch from the options. desc: its settings have the rate, and its registry
 * the models. */
static th_result first_settings(const th_options *o, th_server_desc *desc, th_error *err)
{
    const uint32_t count = o->crowd.count, most = desc->limits.max_count;
    const th_file_list *files = &o->models.models;
    if (count > most)
        return th_fail(err, TH_ERR_INPUT, "--count %u is more than --max-count %u", count, most);
    json_t *models = json_array(), *clips = json_object();
    for (uint32_t m = 0; m < desc->registry.file_count && m < files->count; m++)
        json_array_append_new(models, json_string(th_model_registry_name(files->paths[m])));
    if (files->count == 0)
        json_array_append_new(models, json_string(TH_HUMAN_NAME));
    if (strcmp(o->models.clip, "all") != 0)
        json_object_set_new(clips, o->models.clip, json_integer(1));
    json_t *patch =
        json_pack("{s:i, s:i, s:o, s:o, s:s}", "count", (int)count, "threads", (int)o->crowd.jobs.threads, "models",
                  models, "clips", clips, "interpolation", th_interpolation_name(o->crowd.compile.interpolation));
    th_result result = patch ? th_settings_patch(&desc->settings, patch, &desc->limits, err)
                             : th_fail(err, TH_ERR_INPUT, "names must be UTF-8 here");
    json_decref(patch);
    return result;
}

static void list_models(const th_options *o, th_model_registry *out)
{
    const th_file_list *files = &o->models.models;
    bool human = false;
    for (uint32_t m = 0; m < files->count; m++) {
        out->files[out->file_count++] = files->paths[m];
        human = human || strcmp(th_model_registry_name(files->paths[m]), TH_HUMAN_NAME) == 0;
    }
    if (!human && out->file_count < TH_MODEL_REGISTRY_FILES)
        out->files[out->file_count++] = TH_HUMAN_NAME;
    out->folder_count = o->serve.folders.count;
    memcpy(out->folders, o->serve.folders.paths, out->folder_count * sizeof *out->folders);
}

/* Snapshots are drawn as `throng render` draws, on one thread, because the crowd uses the others. */
static th_result create_snapshots(const th_crowd_view_desc *crowd, th_snapshot_gl **out, th_error *err)
{
    th_options render;
    th_run none;
    *out = NULL;
    const th_result result = th_options_parse(&render, &none, th_command_find("render"), 0, NULL, err);
    if (result != TH_OK)
        return result;
    render.crowd.jobs.threads = 1;
    render.crowd.isa = crowd->isa;
    render.crowd.palette = crowd->palette;
    render.crowd.seed = crowd->seed;
    render.crowd.shadow_pixels = 1024;
    return th_snapshot_gl_create(&render.crowd, render.picture.samples, out, err);
}

int th_command_serve(const th_options *o, th_run *run)
{
    th_error err;
    reading how;
    th_server_desc desc = o->serve.desc;
    (void)run;
    desc.hosts = o->serve.hosts.paths;
    desc.host_count = o->serve.hosts.count;
    desc.run_kinds = run_kinds;
    desc.run_fixed = reading_options(&o->models, &how);
    desc.controller.model_cache =
        (th_model_cache_desc){.load = load, .load_ctx = (void *)&o->models, .compile = o->crowd.compile};
    desc.controller.simulation =
        (th_simulation_desc){.isa = o->crowd.isa, .palette = o->crowd.palette, .seed = o->crowd.seed};
    desc.limits.max_threads = max_threads(o->crowd.jobs.threads);
    desc.limits.max_memory_bytes = max_memory(desc.limits.max_memory_bytes);
    list_models(o, &desc.registry);
    if (first_settings(o, &desc, &err) != TH_OK || th_server_check(&desc, &err) != TH_OK) {
        th_complain("%s", err.text);
        return TH_EXIT_USAGE;
    }
    th_snapshot_gl *snapshot_gl;
    th_result result = create_snapshots(&o->crowd, &snapshot_gl, &err);
    if (result == TH_OK) {
        desc.renderer = th_snapshot_gl_renderer(snapshot_gl);
        result = th_server_run(&desc, &err);
    }
    th_snapshot_gl_destroy(snapshot_gl);
    return result == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}
