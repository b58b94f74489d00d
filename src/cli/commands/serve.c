/* throng serve: a crowd that keeps running. */
#include <cli/options.h>

#include <serve/log.h>
#include <serve/server.h>
#include <throng/throng.h>

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
    const th_result result = th_model_load(&options, path, out, err);
    if (result == TH_OK && (*out)->warning_count > 0)
        th_log(TH_LOG_WARNING, "%s: %s%s", (*out)->name, (*out)->warnings[0],
               (*out)->warning_count > 1 ? "; /api/models lists more" : "");
    return result;
}

int th_command_serve(const th_options *o, th_run *run)
{
    const th_file_list *named = &o->models.models;
    th_error err;
    th_server_desc desc = o->serve.desc;
    desc.hosts = o->serve.hosts.paths;
    desc.host_count = o->serve.hosts.count;
    desc.controller.model_cache = (th_model_cache_desc){
        .load = load, .load_ctx = (void *)&o->models, .compile = o->crowd.compile, .routines = {.seed = o->crowd.seed}};
    desc.controller.simulation =
        (th_simulation_desc){.isa = o->crowd.isa, .palette = o->crowd.palette, .seed = o->crowd.seed};

    /* What clients may run: commands that measure and write one result document, which read model files as the server
     * does (run_fixed of th_server_desc). */
    static const char *const run_kinds[] = {"scale", "stress", NULL};
    const char *fixed[2 * TH_FILE_LIST_MAX + 5];
    char timeout[32];
    uint32_t words = 0;
    for (uint32_t a = 0; a < o->models.animations.count; a++) {
        fixed[words++] = "animation";
        fixed[words++] = o->models.animations.paths[a];
    }
    snprintf(timeout, sizeof timeout, "%.15g", o->models.import_timeout_s);
    fixed[words++] = "import-timeout";
    fixed[words++] = timeout;
    if (o->models.allow_outside) {
        fixed[words++] = "--allow-outside";
        fixed[words++] = NULL;
    }
    fixed[words] = NULL;
    desc.run_kinds = run_kinds;
    desc.run_fixed = fixed;

    /* A client may ask for as many characters as the command line; what memory there is limits them before. */
    const uint32_t usable = th_cpus_read().usable, most = usable < TH_JOBS_MAX_THREADS ? usable : TH_JOBS_MAX_THREADS;
    desc.limits.max_count = (uint32_t)th_option_find(run->command, "count", strlen("count"))->high;
    desc.limits.max_threads = o->crowd.jobs.threads > most ? o->crowd.jobs.threads : most;
    if (desc.limits.max_memory_bytes == 0)
        desc.limits.max_memory_bytes = th_memory_limit() / 4;

    /* The models, and the initial settings, built as a client's patch: they have the rate. */
    th_model_registry *registry = &desc.registry;
    json_t *models = json_array(), *clips = json_object();
    bool has_human = false;
    for (uint32_t m = 0; m < named->count; m++) {
        const char *path = named->paths[m], *name = th_model_registry_name(path);
        struct stat status;
        has_human = has_human || strcmp(name, TH_HUMAN_NAME) == 0;
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
            registry->folders[registry->folder_count++] = path;
            continue;
        }
        registry->files[registry->file_count++] = path;
        json_array_append_new(models, json_string(name));
    }
    if (!has_human && registry->file_count < TH_MODEL_REGISTRY_FILES)
        registry->files[registry->file_count++] = TH_HUMAN_NAME;
    if (json_array_size(models) == 0)
        json_array_append_new(models, json_string(TH_HUMAN_NAME));
    if (strcmp(o->models.clip, "all") != 0)
        json_object_set_new(clips, o->models.clip, json_integer(1));
    json_t *patch = json_pack("{s:i, s:i, s:o, s:o, s:s, s:s, s:f}", "count", (int)o->crowd.count, "threads",
                              (int)o->crowd.jobs.threads, "models", models, "clips", clips, "interpolation",
                              th_interpolation_name(o->crowd.compile.interpolation), "behaviour",
                              th_behaviour_name(o->behaviour.kind), "pace", o->behaviour.blend.pace);
    th_result result = patch ? th_settings_patch(&desc.settings, patch, &desc.limits, &err)
                             : th_fail(&err, TH_ERR_INPUT, "names must be UTF-8 here");
    json_decref(patch);
    if (result == TH_OK)
        result = th_server_check(&desc, &err);
    if (result != TH_OK)
        return th_refuse("%s", err.text);
    return th_server_run(&desc, &err) == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}
