/* The throng-1/ entries: scenes that are the same work on every machine, whatever the options say but for --model.
 * Their hashes are in docs/reference/throng-1.json, which also describes them. A scene that changes gets another name.
 */
#include "pose_benchmark.h"

#include <throng/runtime/frame.h>

#include <stdio.h>
#include <string.h>

typedef struct reference_scene {
    const char *name;
    uint32_t count;
    bool is_fox;       /* of a file that is not ours, and may be missing; otherwise the embedded human */
    const char *blend; /* the entry of blend/ whose layers it plays; NULL: a clip each */
} reference_scene;

static const reference_scene scenes[] = {
    {"human_1k", 1000, false, NULL}, {"human_10k", 10000, false, NULL}, {"human_100k", 100000, false, NULL},
    {"fox_1k", 1000, true, NULL},    {"fox_10k", 10000, true, NULL},    {"blend_1k", 1000, false, "blend/fade:2"},
};

/* ---- models ---- */

static bool is_fox(const th_model *model)
{
    static const char *const clips[] = {"Survey", "Walk", "Run"};
    bool is_same = model->bone_count == 24 && model->clip_count == sizeof clips / sizeof *clips;
    for (uint32_t c = 0; is_same && c < model->clip_count; c++)
        is_same = strcmp(model->clips[c].name, clips[c]) == 0;
    return is_same;
}

/* NULL if it is not requested. */
static const th_model *const *find_fox(const th_fixture *fixture)
{
    for (uint32_t m = 0; m < fixture->requested.model_count; m++)
        if (is_fox(fixture->requested.models[m]))
            return &fixture->requested.models[m];
    return NULL;
}

static void set_scene(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    const reference_scene *scene = entry->shape;
    const th_model *const *fox = scene->is_fox ? find_fox(fixture) : NULL;
    *desc = (th_scene_desc){
        .models = fox ? fox : (const th_model *const *)&fixture->human,
        .model_count = 1,
        .instance_count = scene->is_fox && !fox ? 1 : scene->count,
        .seed = 1,
    };
}

static bool can_have(const th_entry *entry, const th_fixture *fixture, th_row *row)
{
    const reference_scene *scene = entry->shape;
    row->skipped = scene->is_fox && !find_fox(fixture);
    if (row->skipped)
        snprintf(row->failure, sizeof row->failure, "takes --model Fox.glb of the Khronos sample assets");
    return !row->skipped;
}

/* ---- one thread ---- */

static th_result create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                        th_error *err)
{
    return can_have(entry, fixture, row) ? th_pose_benchmark_create(entry, desc, fixture, row, err) : TH_OK;
}

/* ---- all threads ---- */

static void run_frame(void *subject, uint64_t frame)
{
    th_pose_benchmark *p = subject;
    th_frame_animate(p->frame, p->time_s(frame), p->palette);
}

static th_result create_frame(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                              th_error *err)
{
    (void)desc;
    if (!can_have(entry, fixture, row))
        return TH_OK;
    th_result result = th_pose_benchmark_init(entry, fixture, row, err);
    th_pose_benchmark *p = entry->subject;
    if (result == TH_OK)
        result = th_threads_create(&(th_jobs_desc){.placement = TH_PLACEMENT_WORKERS}, &p->jobs, err);
    if (result == TH_OK)
        result = th_frame_create(&(th_frame_desc){.crowd = p->crowd, .jobs = p->jobs}, &p->frame, err);
    if (result != TH_OK)
        return result;
    row->threads = th_jobs_threads(p->jobs);
    return th_pose_benchmark_validate(entry, fixture, row, err);
}

/* ---- the entries ---- */

/* The entry of blend/, as its file makes it. */
static th_entry find_blend(const char *name)
{
    th_entry blends[TH_BENCH_MAX_BLENDS];
    const uint32_t count = th_blend_entries(blends);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(blends[i].name, name) == 0)
            return blends[i];
    return (th_entry){0};
}

static void add(const reference_scene *scene, const char *how, th_isa isa, th_entry *e)
{
    const bool is_frame = isa == TH_ISA_AUTO;
    *e = scene->blend ? find_blend(scene->blend)
                      : (th_entry){.create = is_frame ? create_frame : create,
                                   .before = th_pose_benchmark_begin,
                                   .run = is_frame ? run_frame : th_pose_benchmark_run,
                                   .destroy = th_pose_benchmark_destroy};
    e->shape = scene;
    e->isa = isa;
    e->set_scene = set_scene;
    snprintf(e->name, sizeof e->name, TH_REFERENCE_PREFIX "%s/%s", scene->name, how);
}

uint32_t th_reference_entries(th_entry *entries)
{
    uint32_t count = 0;
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        for (int isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++)
            if (th_isa_available((th_isa)isa))
                add(&scenes[s], th_isa_name((th_isa)isa), (th_isa)isa, &entries[count++]);
        if (!scenes[s].blend)
            add(&scenes[s], "all_threads", TH_ISA_AUTO, &entries[count++]);
    }
    return count;
}
