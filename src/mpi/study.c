#include "study.h"

#include <cli/command.h>

#include <bench/validate.h>
#include <core/arena.h>
#include <core/clock.h>
#include <core/random.h>
#include <throng/core/cache_line.h>

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 16,
    SLICE = 4096, /* characters that rank 0 poses at a time for the reference: their palettes need little memory */
    SAMPLE = 100, /* characters that each rank holds against the double-precision reference */
};

#define CHECKED_S (TH_VALIDATE_FRAME / TH_FRAME_RATE)

/* A rank's block of the crowd at one point, on the rank's pool. */
typedef struct block {
    uint32_t first, count; /* characters of the whole crowd */
    th_scene *scene;
    th_crowd *crowd;
    th_frame *frame;
} block;

typedef struct point {
    MPI_Comm comm; /* MPI_COMM_NULL: this rank takes no part */
    block block;
    int *counts, *offsets; /* on rank 0: each rank's palettes, in cache lines */
    th_rank_point *out;
} point;

typedef struct study {
    th_mpi_job *job;
    const th_mpi_study_desc *desc;
    th_rank_scaling *out;
    th_jobs *jobs;
    th_arena *arena; /* all arrays but palettes: threads touch those pages first, so that they lie near */
    th_scene *whole; /* all characters, or more; blocks use its compiled models */
    uint32_t *costs; /* of a character of each model, relative to others */
    point *points;
    void *palette, *gathered;
    double *poses_ns, *all_poses_ns; /* of a round: [frame]; on rank 0 [rank * frames + frame] */
    th_hash128 *hashes;              /* on rank 0: of each character, as it poses them alone */
    MPI_Datatype line, hash;
    MPI_Op add;
    void (*lost)(void *ctx, th_rank_scaling *partial);
    void *ctx;
} study;

static bool is_root(const study *s)
{
    return s->job->rank == 0;
}

static int agree(const study *s, bool has_room, const char *what)
{
    char text[96];
    snprintf(text, sizeof text, "no memory for %s", what);
    return th_mpi_agree(s->job, has_room ? TH_EXIT_GOOD : TH_EXIT_ENVIRONMENT, text);
}

static uint32_t characters_at(const study *s, uint32_t ranks)
{
    return s->desc->scene.instance_count * (s->desc->is_weak ? ranks : 1);
}

/* ---- blocks ---- */

static th_scene_desc scene_of(const study *s, const th_instance *instances, uint32_t count)
{
    th_scene_desc scene = s->desc->scene;
    scene.compiled_models = s->whole->compiled_models;
    scene.instances = instances;
    scene.instance_count = count;
    return scene;
}

/* Call fini_block in the end, even if it failed. */
static th_result init_block(const study *s, uint32_t first, uint32_t count, block *b, th_error *err)
{
    assert(first + count <= s->whole->instance_count);
    const th_scene_desc scene = scene_of(s, s->whole->instances + first, count);
    *b = (block){.first = first, .count = count};
    th_result result = th_scene_create(&scene, &b->scene, err);
    if (result == TH_OK)
        result = th_scene_crowd(b->scene, s->desc->isa, s->desc->palette, &b->crowd, err);
    if (result == TH_OK)
        result = th_frame_create(&(th_frame_desc){.crowd = b->crowd, .jobs = s->jobs}, &b->frame, err);
    return result;
}

static void fini_block(block *b)
{
    th_frame_destroy(b->frame);
    th_crowd_destroy(b->crowd);
    th_scene_destroy(b->scene);
    *b = (block){0};
}

/* In the frame that is checked. */
static void pose_block(const block *b, void *palette)
{
    memset(palette, 0xff, th_crowd_palette_bytes(b->crowd));
    th_frame_animate(b->frame, CHECKED_S, palette);
}

/* Fails if these palettes are not those of the double-precision reference. */
static th_result validate_block(const block *b, const void *palette, th_error *err)
{
    const th_validation_desc desc = {.scene = b->scene,
                                     .crowd = b->crowd,
                                     .palette = palette,
                                     .time_s = CHECKED_S,
                                     .sample = SAMPLE,
                                     .seed = b->first};
    th_validation found = {0};
    const th_result result = th_validate_palettes(&desc, &found, err);
    if (result != TH_OK || found.excess <= 1)
        return result;
    const th_model *model = th_scene_model(b->scene, found.instance);
    return th_fail(err, TH_ERR_INPUT,
                   "joint %s of character %u is %g units off the double-precision reference; %g are "
                   "allowed",
                   model->joints[found.joint].name, b->first + found.instance, found.excess * found.allowed,
                   found.allowed);
}

/* ---- the crowd and its points ---- */

/* Where mpirun has bound no rank, each one of a host gets CPUs of its own if there are enough. Returns whether its
 * threads can have a CPU each. */
static bool bind_threads(const th_mpi_job *job, uint32_t threads)
{
    cpu_set_t all, own;
    const uint32_t first = job->local_rank * threads;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    if (!job->shares_cpus)
        return (uint32_t)CPU_COUNT(&all) >= threads;
    if ((uint32_t)CPU_COUNT(&all) < job->local_ranks * threads)
        return false;
    for (uint32_t cpu = 0, n = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all)) {
            if (n >= first && n < first + threads)
                CPU_SET(cpu, &own);
            n++;
        }
    return sched_setaffinity(0, sizeof own, &own) == 0;
}

/* Ranks of one host share no CPU if there are enough: those of the host are divided among them, where mpirun has not
 * done so and no number of threads is given. */
static int create_pool(study *s)
{
    th_error err;
    char text[32];
    const uint32_t usable = th_cpus_read().usable;
    const uint32_t each = s->job->shares_cpus ? usable / s->job->local_ranks : usable;
    const uint32_t threads = s->desc->threads ? s->desc->threads : each > 0 ? each : 1;
    const bool has_cpus = bind_threads(s->job, threads);
    const th_jobs_desc jobs = {
        .threads = threads,
        .scheduler = TH_SCHEDULER_WORK_STEALING,
        .placement = has_cpus ? s->desc->placement : TH_PLACEMENT_NONE,
    };
    s->out->threads = threads;
    snprintf(text, sizeof text, "%u threads", threads);
    const int code = th_mpi_agree_same(s->job, "number of threads", text);
    return code == TH_EXIT_GOOD ? th_mpi_agree_on(s->job, th_threads_create(&jobs, &s->jobs, &err), &err) : code;
}

/* The cost of a model is that of a batch whose characters have this model alone. */
static th_result create_whole(study *s, th_error *err)
{
    th_instance instances[BATCH];
    th_scene_desc desc = s->desc->scene;
    desc.instance_count = characters_at(s, (uint32_t)s->job->size);
    th_result result = th_scene_create(&desc, &s->whole, err);
    if (result != TH_OK)
        return result;
    s->costs = th_arena_new(s->arena, uint32_t, s->whole->compiled_model_count);
    if (!s->costs)
        return th_fail(err, TH_ERR_MEMORY, "no memory");
    for (uint32_t m = 0; m < s->whole->compiled_model_count && result == TH_OK; m++) {
        th_scene *scene = NULL;
        th_crowd *crowd = NULL;
        for (int i = 0; i < BATCH; i++)
            instances[i] = (th_instance){.model = m, .clip = TH_NO_INDEX, .speed = 1};
        const th_scene_desc alike = scene_of(s, instances, BATCH);
        result = th_scene_create(&alike, &scene, err);
        if (result == TH_OK)
            result = th_scene_crowd(scene, s->desc->isa, s->desc->palette, &crowd, err);
        if (result == TH_OK)
            s->costs[m] = th_crowd_batch_cost(crowd, 0) + 1; /* a model without a joint costs something, too */
        th_crowd_destroy(crowd);
        th_scene_destroy(scene);
    }
    return result;
}

typedef struct block_size {
    int lines, bones; /* palettes in cache lines */
} block_size;

static int create_point(study *s, point *p)
{
    th_error err;
    th_result result = TH_OK;
    const uint32_t ranks = p->out->ranks, characters = characters_at(s, ranks);
    const bool takes_part = (uint32_t)s->job->rank < ranks;
    uint32_t *bounds = th_arena_new(s->arena, uint32_t, (size_t)ranks + 1);
    block_size *all = th_arena_new(s->arena, block_size, ranks);
    p->counts = th_arena_new(s->arena, int, ranks);
    p->offsets = th_arena_new(s->arena, int, ranks);
    p->out->characters = characters;
    int code = agree(s, !th_arena_failed(s->arena), "blocks");
    if (code != TH_EXIT_GOOD)
        return code;
    th_mpi_guard_begin(s->job);
    MPI_Comm_split(s->job->world, takes_part ? 0 : MPI_UNDEFINED, s->job->rank, &p->comm);
    th_mpi_guard_end();
    th_rank_split(s->whole->instances, characters, s->costs, ranks, bounds);
    if (takes_part) {
        const uint32_t first = bounds[s->job->rank], end = bounds[s->job->rank + 1];
        result = init_block(s, first, end - first, &p->block, &err);
    }
    code = th_mpi_agree_on(s->job, result, &err);
    if (code != TH_EXIT_GOOD)
        return code;

    /* What rank 0 has to know of the blocks. All ranks have agreed that there is room before any of them waits for the
     * others' sizes. */
    bool fits = true;
    if (takes_part) {
        const block_size own = {(int)(th_crowd_palette_bytes(p->block.crowd) / TH_CACHE_LINE),
                                (int)th_crowd_bone_count(p->block.crowd)};
        MPI_Request request;
        MPI_Iallgather(&own, 2, MPI_INT, all, 2, MPI_INT, p->comm, &request);
        th_mpi_wait(s->job, request, "the sizes of blocks");
        uint64_t lines = 0;
        for (uint32_t r = 0; r < ranks; r++) {
            const uint64_t bones = (uint64_t)all[r].bones;
            p->counts[r] = all[r].lines;
            p->offsets[r] = (int)lines;
            lines += (uint64_t)all[r].lines;
            p->out->bones += bones;
            p->out->shares[r] = (th_rank_share){.characters = bounds[r + 1] - bounds[r], .bones = bones};
        }
        p->out->palette_bytes = lines * TH_CACHE_LINE;
        fits = lines <= INT32_MAX;
    }
    return th_mpi_agree(s->job, fits ? TH_EXIT_GOOD : TH_EXIT_ENVIRONMENT,
                        "palettes of all ranks have 128 GiB or more; fewer characters can be gathered");
}

static bool allocate(study *s)
{
    size_t own = TH_CACHE_LINE;
    uint64_t all = TH_CACHE_LINE;
    for (uint32_t i = 0; i < s->out->point_count; i++) {
        const point *p = &s->points[i];
        const size_t bytes = p->block.crowd ? th_crowd_palette_bytes(p->block.crowd) : 0;
        own = bytes > own ? bytes : own;
        all = p->out->palette_bytes > all ? p->out->palette_bytes : all;
    }
    const bool gathers = is_root(s) && !s->desc->is_alone;
    s->palette = th_cache_line_alloc(own);
    s->gathered = gathers ? th_cache_line_alloc(all) : NULL;
    s->poses_ns = th_arena_new(s->arena, double, s->desc->frames);
    if (is_root(s)) {
        s->all_poses_ns = th_arena_new(s->arena, double, (size_t)s->job->size * s->desc->frames);
        s->hashes = th_arena_new(s->arena, th_hash128, s->whole->instance_count);
    }
    return s->palette && (s->gathered || !gathers) && !th_arena_failed(s->arena);
}

/* ---- checking ---- */

/* For MPI_Op: sums modulo 2^128. */
static void add_hashes(void *in, void *sum, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((th_hash128 *)sum)[i] = th_hash128_add(((th_hash128 *)sum)[i], ((th_hash128 *)in)[i]);
}

/* Poses all characters on rank 0, a slice after the other, as without MPI. */
static th_result pose_alone(study *s, th_error *err)
{
    th_result result = TH_OK;
    const uint32_t count = s->whole->instance_count;
    for (uint32_t first = 0; first < count && result == TH_OK; first += SLICE) {
        block slice;
        void *palette = NULL;
        result = init_block(s, first, count - first < SLICE ? count - first : SLICE, &slice, err);
        if (result == TH_OK)
            result = th_palette_create(slice.crowd, &palette, err);
        if (result == TH_OK)
            pose_block(&slice, palette);
        for (uint32_t i = 0; i < slice.count && result == TH_OK; i++)
            s->hashes[first + i] = th_crowd_instance_hash(slice.crowd, palette, i, first + i);
        free(palette);
        fini_block(&slice);
    }
    return result;
}

static th_hash128 sum_of(const th_hash128 *hashes, uint32_t count)
{
    th_hash128 sum = {0};
    for (uint32_t i = 0; i < count; i++)
        sum = th_hash128_add(sum, hashes[i]);
    return sum;
}

/* Collects all hashes on rank 0, which names the first character that differs, and the rank that posed it. */
static void find_difference(study *s, const point *p, const th_hash128 *own)
{
    MPI_Request request;
    const uint32_t ranks = p->out->ranks, characters = p->out->characters;
    th_hash128 *all = calloc(characters + 1, sizeof *all);
    int *counts = calloc(2 * (size_t)ranks, sizeof *counts);
    const int code = agree(s, all && counts, "all hashes");
    if (code == TH_EXIT_GOOD && p->comm != MPI_COMM_NULL) {
        for (uint32_t r = 0; r < ranks; r++) {
            counts[r] = (int)p->out->shares[r].characters;
            counts[ranks + r] = r > 0 ? counts[ranks + r - 1] + counts[r - 1] : 0;
        }
        MPI_Igatherv(own, (int)p->block.count, s->hash, all, counts, counts + ranks, s->hash, 0, p->comm, &request);
        th_mpi_wait(s->job, request, "hashes of palettes");
        uint32_t i = 0, r = 0, end = p->out->shares[0].characters;
        while (is_root(s) && i < characters && all[i].low == s->hashes[i].low && all[i].high == s->hashes[i].high)
            i++;
        while (i >= end && r + 1 < ranks)
            end += p->out->shares[++r].characters;
        if (is_root(s))
            th_complain("rank %u on %s poses character %u otherwise than rank 0 alone; it is the first that differs of "
                        "%u, on %u ranks",
                        r, s->job->hosts[r], i, characters, ranks);
    }
    free(all);
    free(counts);
}

/* The sum of all ranks' hashes must be that of rank 0 alone. Returns an exit code for all ranks. */
static int compare_hashes(study *s, point *p)
{
    th_hash128 *own = calloc(p->block.count + 1, sizeof *own), sum = {0}, all = {0};
    int code = agree(s, own != NULL, "hashes");
    if (code == TH_EXIT_GOOD && p->comm != MPI_COMM_NULL) {
        MPI_Request request;
        for (uint32_t i = 0; i < p->block.count; i++)
            own[i] = th_crowd_instance_hash(p->block.crowd, s->palette, i, p->block.first + i);
        sum = sum_of(own, p->block.count);
        MPI_Iallreduce(&sum, &all, 1, s->hash, s->add, p->comm, &request);
        th_mpi_wait(s->job, request, "the sum of hashes");
        p->out->sum = all;
    }
    if (code == TH_EXIT_GOOD) {
        const th_hash128 alone = is_root(s) ? sum_of(s->hashes, p->out->characters) : all;
        code = all.low == alone.low && all.high == alone.high ? TH_EXIT_GOOD : TH_EXIT_CHECK;
        th_mpi_broadcast(s->job, &code, sizeof code, "the comparison of hashes");
        if (code != TH_EXIT_GOOD)
            find_difference(s, p, own);
    }
    free(own);
    return code;
}

/* Equal hashes first: they name the rank that differs. Then whether all are wrong in the same way. */
static int check_point(study *s, point *p)
{
    th_error err = {0};
    th_result result = TH_OK;
    const bool takes_part = p->comm != MPI_COMM_NULL;
    if (takes_part)
        pose_block(&p->block, s->palette);
    const int code = compare_hashes(s, p);
    if (code != TH_EXIT_GOOD)
        return code;
    if (takes_part)
        result = validate_block(&p->block, s->palette, &err);
    const int why = result == TH_ERR_MEMORY ? TH_EXIT_ENVIRONMENT : TH_EXIT_CHECK;
    return th_mpi_agree(s->job, result == TH_OK ? TH_EXIT_GOOD : why, err.text);
}

static int check_points(study *s)
{
    int code = TH_EXIT_GOOD;
    for (uint32_t i = 0; i < s->out->point_count && code == TH_EXIT_GOOD; i++)
        code = check_point(s, &s->points[i]);
    return code;
}

/* ---- measuring ---- */

static void run_frame(study *s, point *p, th_rank_stage stage, uint32_t round, uint32_t f)
{
    MPI_Request request;
    const bool is_barrier = stage == TH_RANK_POSES || stage == TH_RANK_BARE_BARRIER;
    th_mpi_barrier(s->job, p->comm, "the begin of a frame");
    const uint64_t start_ns = th_clock_ns();
    if (stage == TH_RANK_POSES || stage == TH_RANK_GATHER)
        th_frame_animate(p->block.frame, (round * s->desc->frames + f) / TH_FRAME_RATE, s->palette);
    const uint64_t posed_ns = th_clock_ns();
    if (is_barrier)
        MPI_Ibarrier(p->comm, &request);
    else
        MPI_Igatherv(s->palette, p->counts[s->job->rank], s->line, s->gathered, p->counts, p->offsets, s->line, 0,
                     p->comm, &request);
    th_mpi_wait(s->job, request, is_barrier ? "the end of a frame" : "palettes");
    if (is_root(s))
        th_samples_add(&p->out->stages[stage], (double)(th_clock_ns() - start_ns));
    if (stage == TH_RANK_POSES)
        s->poses_ns[f] = (double)(posed_ns - start_ns);
}

static void run_point(study *s, point *p, uint32_t round)
{
    MPI_Request request;
    const uint32_t frames = s->desc->frames, ranks = p->out->ranks;
    const int stages = s->desc->is_alone ? 1 : TH_RANK_STAGE_COUNT;
    for (int stage = 0; stage < stages; stage++) {
        th_jobs_frame_begin(s->jobs);
        for (uint32_t f = 0; f < frames; f++)
            run_frame(s, p, (th_rank_stage)stage, round, f);
        th_jobs_frame_end(s->jobs);
    }
    /* Each rank's poses go to rank 0 after the round, so that what was measured outlives a lost rank. */
    MPI_Igather(s->poses_ns, (int)frames, MPI_DOUBLE, s->all_poses_ns, (int)frames, MPI_DOUBLE, 0, p->comm, &request);
    th_mpi_wait(s->job, request, "times of poses");
    for (uint32_t r = 0; is_root(s) && r < ranks; r++)
        for (uint32_t f = 0; f < frames; f++)
            p->out->poses_ns[((size_t)round * frames + f) * ranks + r] = s->all_poses_ns[(size_t)r * frames + f];
}

static void run_round(study *s, uint32_t round)
{
    /* R. Durstenfeld, Algorithm 235: Random permutation, 1964. The same on all ranks. */
    uint32_t order[TH_RANKS_MAX];
    const uint64_t seed = th_random_bits(s->desc->scene.seed, round);
    for (uint32_t i = 0; i < s->out->point_count; i++)
        order[i] = i;
    for (uint32_t i = s->out->point_count; i > 1; i--) {
        const uint32_t other = (uint32_t)((th_random_bits(seed, i) >> 32) * i >> 32), last = order[i - 1];
        order[i - 1] = order[other];
        order[other] = last;
    }
    for (uint32_t i = 0; i < s->out->point_count; i++) {
        point *p = &s->points[order[i]];
        MPI_Request request;
        if (p->comm != MPI_COMM_NULL)
            run_point(s, p, round);
        MPI_Ibarrier(s->job->world, &request);
        th_mpi_wait_idle(s->job, request, "the ranks that measure");
    }
    s->out->rounds_done = round + 1;
}

/* ---- the study ---- */

static void end_lost(void *ctx)
{
    study *s = ctx;
    if (s->points && th_rank_scaling_analyze(s->out))
        s->lost(s->ctx, s->out);
}

static int prepare(study *s)
{
    th_error err;
    uint32_t counts[TH_RANKS_MAX];
    th_rank_scaling *out = s->out;
    counts[0] = (uint32_t)s->job->size;
    out->ranks = (uint32_t)s->job->size;
    out->point_count = s->desc->is_alone ? 1 : th_rank_counts(out->ranks, counts);
    int code = th_mpi_agree_on(s->job, th_rank_scaling_init(out, counts, &err), &err);
    if (code != TH_EXIT_GOOD)
        return code;
    memcpy(out->hosts, s->job->hosts, out->ranks * sizeof *out->hosts);
    s->arena = th_arena_create();
    s->points = th_arena_new(s->arena, point, out->point_count);
    code = agree(s, s->points != NULL, "points");
    for (uint32_t i = 0; s->points && i < out->point_count; i++) {
        s->points[i].comm = MPI_COMM_NULL;
        s->points[i].out = &out->points[i];
    }
    if (code == TH_EXIT_GOOD)
        code = create_pool(s);
    if (code == TH_EXIT_GOOD)
        code = th_mpi_agree_on(s->job, create_whole(s, &err), &err);
    for (uint32_t i = 0; i < out->point_count && code == TH_EXIT_GOOD; i++)
        code = create_point(s, &s->points[i]);
    return code == TH_EXIT_GOOD ? agree(s, allocate(s), "palettes") : code;
}

static int run(study *s)
{
    th_error err;
    int code = prepare(s);
    if (code != TH_EXIT_GOOD)
        return code;
    const th_crowd *crowd = s->points[s->out->point_count - 1].block.crowd;
    s->out->isa = th_crowd_isa(crowd);
    s->out->palette = th_crowd_palette(crowd);
    th_rank_scaling_describe(s->out, s->whole, &s->desc->scene, s->whole->instance_count);
    code = th_mpi_agree_same(s->job, "instruction set", th_isa_name(s->out->isa));
    if (code == TH_EXIT_GOOD)
        code = th_mpi_agree_on(s->job, is_root(s) ? pose_alone(s, &err) : TH_OK, &err);
    if (code == TH_EXIT_GOOD)
        code = check_points(s);
    for (uint32_t round = 0; round < s->desc->rounds && code == TH_EXIT_GOOD; round++)
        run_round(s, round);
    if (code == TH_EXIT_GOOD)
        code = check_points(s); /* what was timed must still be right */
    return code == TH_EXIT_GOOD ? agree(s, th_rank_scaling_analyze(s->out), "statistics") : code;
}

static void fini(study *s)
{
    for (uint32_t i = 0; s->points && i < s->out->point_count; i++) {
        fini_block(&s->points[i].block);
        if (s->points[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&s->points[i].comm);
    }
    MPI_Op_free(&s->add);
    MPI_Type_free(&s->line);
    MPI_Type_free(&s->hash);
    th_scene_destroy(s->whole);
    th_jobs_destroy(s->jobs);
    th_arena_destroy(s->arena);
    free(s->palette);
    free(s->gathered);
}

int th_mpi_study(th_mpi_job *job, const th_mpi_study_desc *desc, void (*lost)(void *ctx, th_rank_scaling *partial),
                 void *ctx, th_rank_scaling *out)
{
    study s = {.job = job, .desc = desc, .out = out, .lost = lost, .ctx = ctx};
    *out = (th_rank_scaling){.rounds = desc->rounds,
                             .frames = desc->frames,
                             .is_weak = desc->is_weak,
                             .has_gather = !desc->is_alone,
                             .budget_ns = desc->budget_ns};
    MPI_Type_contiguous(TH_CACHE_LINE, MPI_BYTE, &s.line);
    MPI_Type_contiguous(2, MPI_UINT64_T, &s.hash);
    MPI_Type_commit(&s.line);
    MPI_Type_commit(&s.hash);
    MPI_Op_create(add_hashes, true, &s.add);
    job->on_loss = end_lost;
    job->ctx = &s;
    const int code = run(&s);
    job->on_loss = NULL;
    fini(&s);
    return code;
}
