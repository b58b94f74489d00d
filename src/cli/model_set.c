#include <cli/model_set.h>

#include <cli/command.h>

#include <anim/archive.h>
#include <anim/clip_choice.h>
#include <anim/synthetic_text.h>
#include <runtime/parallel.h>
#include <throng/throng.h>

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert((int)TH_CROWD_VIEW_MAX_MODELS >= (int)TH_FILE_LIST_MAX, "a crowd view takes as many models as options");

static th_result load(const th_model_options *o, const char *path, th_model **out, th_error *err)
{
    if (strcmp(path, TH_HUMAN_NAME) == 0)
        return th_human_create(out, err);
    if (th_synthetic_named(path)) {
        th_synthetic_desc synthetic;
        const th_result result = th_synthetic_parse(path, &synthetic, err);
        return result == TH_OK ? th_synthetic_create(&synthetic, out, err) : result;
    }
    th_import_desc desc = {.path = path, .timeout_s = o->import_timeout_s, .allow_outside = o->allow_outside};
    if (o->import_bytes > 0) { /* the answer has to be there with the importer, then with the model */
        desc.answer_bytes = o->import_bytes / (1 + TH_ARCHIVE_GROWTH) + 1;
        desc.memory_bytes = o->import_bytes - desc.answer_bytes + TH_IMPORT_BASE_MEMORY;
    }
    return th_import(&desc, out, err);
}

bool th_model_name_is_file(const char *path)
{
    return strcmp(path, TH_HUMAN_NAME) != 0 && !th_synthetic_named(path);
}

uint32_t th_sandbox_gaps_once(const char *out[TH_SANDBOX_MAX_GAPS])
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    const th_sandbox sandbox = th_sandbox_read();
    return atomic_flag_test_and_set(&done) ? 0 : th_sandbox_gaps(&sandbox, out);
}

/* ---- clips of other files ---- */

static int has_clips(const struct dirent *entry)
{
    static const char *const endings[] = {".fbx", ".glb", ".gltf", ".bvh", ".dae", NULL};
    const char *dot = strrchr(entry->d_name, '.');
    int n = 0;
    while (endings[n] && (!dot || strcasecmp(dot, endings[n]) != 0))
        n++;
    return endings[n] && entry->d_name[0] != '.' && entry->d_type != DT_DIR;
}

static int compare_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* the same in all locales */
}

th_result th_animation_files(const th_model_options *o, th_arena *arena, const char *const **out, uint32_t *out_count,
                             th_error *err)
{
    const char **paths = NULL;
    uint32_t count = 0;
    for (uint32_t a = 0; a < o->animations.count; a++) {
        const char *named = o->animations.paths[a];
        struct stat status;
        struct dirent **entries = NULL;
        const bool folder = th_model_name_is_file(named) && stat(named, &status) == 0 && S_ISDIR(status.st_mode);
        const int found = folder ? scandir(named, &entries, has_clips, compare_bytes) : 1;
        if (found < 0)
            return th_fail(err, TH_ERR_INPUT, "%s: %s", named, strerrordesc_np(errno));
        const char **more = th_arena_new(arena, const char *, (size_t)count + (size_t)found);
        for (uint32_t f = 0; more && f < count; f++)
            more[f] = paths[f];
        for (int f = 0; f < found; f++) {
            if (more)
                more[count++] = folder ? th_arena_format(arena, "%s/%s", named, entries[f]->d_name) : named;
            if (folder)
                free(entries[f]);
        }
        free(entries);
        paths = more;
        if (found == 0)
            return th_fail(err, TH_ERR_INPUT, "%s: the folder has no file with clips: .fbx, .glb, .gltf, .bvh or .dae",
                           named);
    }
    *out = paths;
    *out_count = count;
    return th_arena_failed(arena) ? th_fail(err, TH_ERR_MEMORY, "out of memory") : TH_OK;
}

enum { AT_ONCE = 64 };

/* Some donors, which are read side by side. */
typedef struct donors {
    const th_model_options *options;
    const char *const *paths;
    th_model *models[AT_ONCE];
    th_result results[AT_ONCE];
    th_error errors[AT_ONCE];
} donors;

static void load_donor(uint32_t index, void *ctx)
{
    donors *d = ctx;
    d->results[index] = load(d->options, d->paths[index], &d->models[index], &d->errors[index]);
}

static th_result attach_donor(th_model_set *model_set, const th_model *donor, th_error *err)
{
    th_result result = TH_OK;
    for (uint32_t m = 0; m < model_set->count && result == TH_OK; m++) {
        th_model *richer;
        result = th_model_attach_clips(model_set->models[m], donor, &richer, err);
        if (result == TH_OK) {
            th_model_destroy(model_set->models[m]);
            model_set->models[m] = richer;
        }
    }
    return result;
}

static th_result attach_clips(th_model_set *model_set, const th_model_options *o, th_error *err)
{
    th_arena *arena = th_arena_create();
    const char *const *paths;
    uint32_t count = 0;
    th_result result = th_animation_files(o, arena, &paths, &count, err);
    donors *d = th_arena_new(arena, donors, 1);
    if (!d && result == TH_OK)
        result = th_fail(err, TH_ERR_MEMORY, "out of memory");
    for (uint32_t f = 0; f < count && result == TH_OK; f += AT_ONCE) {
        const uint32_t some = count - f < AT_ONCE ? count - f : AT_ONCE;
        *d = (donors){.options = o, .paths = paths + f};
        th_parallel_run(some, load_donor, d, NULL);
        for (uint32_t n = 0; n < some; n++) {
            if (result == TH_OK && d->results[n] != TH_OK) {
                result = d->results[n];
                th_fail(err, result, "%s", d->errors[n].text);
            }
            if (result == TH_OK)
                result = attach_donor(model_set, d->models[n], err);
            th_model_destroy(d->models[n]);
        }
    }
    th_arena_destroy(arena);
    return result;
}

/* With several models it is enough that one of them has the clip. The others stand in their rest pose. */
th_result th_model_set_choose_clip(th_model_set *model_set, const char *clip, th_error *err)
{
    bool all = !clip || strcmp(clip, "all") == 0, found = all;
    for (uint32_t m = 0; m < model_set->count; m++) {
        model_set->clips[m] = all ? TH_NO_INDEX : th_clip_find(model_set->models[m], clip);
        found = found || model_set->clips[m] != TH_NO_INDEX;
        if (!all && model_set->clips[m] == TH_NO_INDEX)
            model_set->clips[m] = model_set->models[m]->clip_count; /* no clip: the rest pose */
    }
    return found ? TH_OK : th_clip_not_found(clip, model_set->models, model_set->count, err);
}

void th_complain_of_warnings(const char *model, const char *const *warnings, uint32_t count)
{
    if (count > 0)
        th_complain("%s: %s%s", model, warnings[0], count > 1 ? "; `throng inspect` lists more" : "");
}

th_result th_model_set_init(th_model_set *model_set, const th_model_options *o, th_tracer *tracer, th_error *err)
{
    static const th_file_list human = {.paths = {TH_HUMAN_NAME}, .count = 1};
    const th_file_list *lists[] = {o->models.count ? &o->models : &human, &o->animations};
    const char *gaps[TH_SANDBOX_MAX_GAPS];
    bool imports = false;
    for (int i = 0; i < 2; i++)
        for (uint32_t f = 0; f < lists[i]->count; f++)
            imports = imports || th_model_name_is_file(lists[i]->paths[f]);
    const uint32_t gap_count = imports ? th_sandbox_gaps_once(gaps) : 0;
    for (uint32_t g = 0; g < gap_count; g++)
        th_complain("%s", gaps[g]);

    th_tracer_begin(tracer, "load");
    *model_set = (struct th_model_set){0};
    th_result result = TH_OK;
    for (uint32_t m = 0; m < lists[0]->count && result == TH_OK; m++) {
        result = load(o, lists[0]->paths[m], &model_set->models[m], err);
        model_set->count += result == TH_OK;
    }
    if (result == TH_OK)
        result = attach_clips(model_set, o, err);
    if (result == TH_OK)
        result = th_model_set_choose_clip(model_set, o->clip, err);
    for (uint32_t m = 0; m < model_set->count && result == TH_OK; m++)
        if (model_set->clips[m] == model_set->models[m]->clip_count)
            th_complain("%s has no clip \"%s\": it stands in its rest pose", model_set->models[m]->name, o->clip);
    for (uint32_t m = 0; m < model_set->count && result == TH_OK && !o->is_listed; m++)
        th_complain_of_warnings(model_set->models[m]->name, model_set->models[m]->warnings,
                                model_set->models[m]->warning_count);
    th_tracer_end(tracer);
    return result;
}

void th_model_set_fini(th_model_set *model_set)
{
    for (uint32_t m = 0; m < model_set->count; m++)
        th_model_destroy(model_set->models[m]);
}

th_result th_model_load(const th_model_options *o, const char *path, th_model **out, th_error *err)
{
    th_model_set one = {0};
    th_result result = load(o, path, &one.models[0], err);
    *out = NULL;
    if (result != TH_OK)
        return result;
    one.count = 1;
    result = attach_clips(&one, o, err);
    if (result == TH_OK)
        *out = one.models[0];
    else
        th_model_set_fini(&one);
    return result;
}

th_crowd_view_desc th_model_set_crowd_view_desc(const th_model_set *model_set, const th_crowd_view_desc *crowd)
{
    th_crowd_view_desc desc = *crowd;
    desc.model_count = model_set->count;
    for (uint32_t m = 0; m < model_set->count; m++)
        desc.models[m] = model_set->models[m];
    memcpy(desc.clips, model_set->clips, model_set->count * sizeof *desc.clips);
    return desc;
}

th_scene_desc th_model_set_scene_desc(const th_model_set *model_set, const th_crowd_view_desc *crowd,
                                      const th_crowd_behaviour *behaviour)
{
    return (th_scene_desc){
        .models = (const th_model *const *)model_set->models,
        .model_count = model_set->count,
        .clips = model_set->clips,
        .instance_count = crowd->count,
        .seed = crowd->seed,
        .compile = crowd->compile,
        .behaviour = behaviour->kind,
        .blend = behaviour->blend,
    };
}
