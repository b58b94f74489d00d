/* throng serve: a crowd that keeps running. */
#include <cli/options.h>

#include <serve/log.h>
#include <serve/server.h>
#include <throng/anim/human.h>

#include <string.h>
#include <sys/stat.h>

static th_result load(void *ctx, const char *path, uint64_t most_bytes, th_model **out, th_error *err)
{
    th_model_options options = *(const th_model_options *)ctx;
    const char *gaps[TH_SANDBOX_MAX_GAPS];
    const uint32_t count = th_model_name_is_file(path) ? th_sandbox_gaps_once(gaps) : 0;
    for (uint32_t g = 0; g < count; g++)
        th_log(TH_LOG_WARNING, "%s", gaps[g]);
    options.import_bytes = most_bytes > 0 ? most_bytes : 1;
    return th_model_load(&options, path, out, err);
}

/* Commands that measure and write one result document. */
static const char *const run_kinds[] = {"scale", "stress", NULL};

static uint32_t max_threads(uint32_t wanted)
{
    const uint32_t usable = th_cpus_read().usable;
    return wanted > usable ? wanted : usable < TH_JOBS_MAX_THREADS ? usable : TH_JOBS_MAX_THREADS;
}

/* Options for reading model files, for runs as for the server: see run_fixed of th_server_desc. */
typedef struct reading {
    const char *words[2 * TH_FILE_LIST_MAX + 5];
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
    if (o->allow_outside) {
        out->words[count++] = "--allow-outside";
        out->words[count++] = NULL;
    }
    out->words[count] = NULL;
    return out->words;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The initial settings, built as a client's patch from the options. desc: its settings have the rate, and its registry
 * the models. */
static th_result first_settings(const th_options *o, th_server_desc *desc, th_error *err)
{
    const th_file_list *named = &o->models.models;
    json_t *models = json_array(), *clips = json_object();
    for (uint32_t m = 0; m < named->count; m++)
        if (!is_folder(named->paths[m]))
            json_array_append_new(models, json_string(th_model_registry_name(named->paths[m])));
    if (json_array_size(models) == 0)
        json_array_append_new(models, json_string(TH_HUMAN_NAME));
    if (strcmp(o->models.clip, "all") != 0)
        json_object_set_new(clips, o->models.clip, json_integer(1));
    json_t *patch = json_pack("{s:i, s:i, s:o, s:o, s:s, s:s, s:f}", "count", (int)o->crowd.count, "threads",
                              (int)o->crowd.jobs.threads, "models", models, "clips", clips, "interpolation",
                              th_interpolation_name(o->crowd.compile.interpolation), "behaviour",
                              th_behaviour_name(o->crowd.behaviour), "pace", o->crowd.blend.pace);
    th_result result = patch ? th_settings_patch(&desc->settings, patch, &desc->limits, err)
                             : th_fail(err, TH_ERR_INPUT, "names must be UTF-8 here");
    json_decref(patch);
    return result;
}

static void list_models(const th_options *o, th_model_registry *out)
{
    const th_file_list *named = &o->models.models;
    bool human = false;
    for (uint32_t m = 0; m < named->count; m++) {
        const char *path = named->paths[m];
        if (is_folder(path))
            out->folders[out->folder_count++] = path;
        else
            out->files[out->file_count++] = path;
        human = human || strcmp(th_model_registry_name(path), TH_HUMAN_NAME) == 0;
    }
    if (!human && out->file_count < TH_MODEL_REGISTRY_FILES)
        out->files[out->file_count++] = TH_HUMAN_NAME;
}

int th_command_serve(const th_options *o, th_run *run)
{
    th_error err;
    reading how;
    th_server_desc desc = o->serve.desc;
    desc.hosts = o->serve.hosts.paths;
    desc.host_count = o->serve.hosts.count;
    desc.run_kinds = run_kinds;
    desc.run_fixed = reading_options(&o->models, &how);
    desc.controller.model_cache = (th_model_cache_desc){
        .load = load, .load_ctx = (void *)&o->models, .compile = o->crowd.compile, .routines = {.seed = o->crowd.seed}};
    desc.controller.simulation =
        (th_simulation_desc){.isa = o->crowd.isa, .palette = o->crowd.palette, .seed = o->crowd.seed};
    /* A client may ask for as many characters as the command line; what memory there is limits them before. */
    desc.limits.max_count = (uint32_t)th_option_find(run->command, "count", strlen("count"))->high;
    desc.limits.max_threads = max_threads(o->crowd.jobs.threads);
    if (desc.limits.max_memory_bytes == 0)
        desc.limits.max_memory_bytes = th_memory_limit() / 4;
    list_models(o, &desc.registry);
    if (first_settings(o, &desc, &err) != TH_OK || th_server_check(&desc, &err) != TH_OK) {
        th_complain("%s", err.text);
        return TH_EXIT_USAGE;
    }
    return th_server_run(&desc, &err) == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}
