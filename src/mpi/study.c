#include "study.h"

#include "block.h"
#include "cpus.h"
#include <cli/command.h>

#include <core/clock.h>
#include <core/random.h>
#include <throng/core/cache_line.h>

#include <stdlib.h>
#include <string.h>

/* Characters that rank 0 poses at a time for the reference: their palettes need little memory. */
enum { SLICE = 4096 };

typedef struct point {
    MPI_Comm comm; /* MPI_COMM_NULL: this rank takes no part */
    th_mpi_block block;
    int *counts, *offsets; /* on rank 0: each rank's palettes, in cache lines */
    th_rank_point *out;
} point;

typedef struct study {
    th_mpi_job *job;
    const th_mpi_study_desc *desc;
    th_rank_scaling *out;
    th_jobs *jobs;
    th_scene *whole;
    uint32_t *costs; /* [model] */
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

/* ---- threads ---- */

static int create_pool(study *s)
{
    th_error err;
    const uint32_t threads = th_mpi_threads(s->job, s->desc->threads);
    const bool has_cpus = th_mpi_bind(s->job, threads);
    const th_jobs_desc jobs = {
        .threads = threads,
        .scheduler = TH_SCHEDULER_WORK_STEALING,
        .placement = has_cpus ? s->desc->placement : TH_PLACEMENT_NONE,
    };
    char text[32];
    s->out->threads = threads;
    snprintf(text, sizeof text, "%u threads", threads);
    const int code = th_mpi_agree_same(s->job, "number of threads", text);
    return code == TH_EXIT_GOOD ? th_mpi_agree_on(s->job, th_threads_create(&jobs, &s->jobs, &err), &err) : code;
}

/* ---- points ---- */

static uint32_t characters_at(const study *s, uint32_t ranks)
{
    return s->desc->scene.instance_count * (s->desc->is_weak ? ranks : 1);
}

static th_mpi_block_desc block_desc(const study *s, uint32_t first, uint32_t count)
{
    return (th_mpi_block_desc){
        .whole = s->whole,
        .scene = s->desc->scene,
        .isa = s->desc->isa,
        .palette = s->desc->palette,
        .jobs = s->jobs,
        .first = first,
        .count = count,
    };
}

static int create_whole(study *s)
{
    th_error err;
    th_scene_desc scene = s->desc->scene;
    scene.instance_count = characters_at(s, (uint32_t)s->job->size);
    th_result result = th_scene_create(&scene, &s->whole, &err);
    if (result == TH_OK) {
        s->costs = calloc(s->whole->compiled_model_count, sizeof *s->costs);
        const th_mpi_block_desc none = block_desc(s, 0, 0);
        result = s->costs ? th_mpi_model_costs(&none, s->costs, &err) : th_fail(&err, TH_ERR_MEMORY, "no memory");
    }
    return th_mpi_agree_on(s->job, result, &err);
}

typedef struct block_size {
    int lines, bones; /* palettes in cache lines */
} block_size;

/* What rank 0 has to know of the blocks. all: [ranks] room for their sizes. False if they are too large to gather. */
static bool collect_blocks(const study *s, point *p, const uint32_t *bounds, block_size *all)
{
    const block_size own = {(int)(th_crowd_palette_bytes(p->block.crowd) / TH_CACHE_LINE),
                            (int)th_crowd_bone_count(p->block.crowd)};
    MPI_Request request;
    MPI_Iallgather(&own, 2, MPI_INT, all, 2, MPI_INT, p->comm, &request);
    th_mpi_wait(s->job, request, "the sizes of blocks");
    uint64_t lines = 0;
    for (uint32_t r = 0; r < p->out->ranks; r++) {
        p->counts[r] = all[r].lines;
        p->offsets[r] = (int)lines;
        lines += (uint64_t)all[r].lines;
        p->out->bones += (uint64_t)all[r].bones;
        p->out->shares[r] = (th_rank_share){.characters = bounds[r + 1] - bounds[r], .bones = (uint64_t)all[r].bones};
    }
    p->out->palette_bytes = lines * TH_CACHE_LINE;
    return lines <= INT32_MAX;
}

/* All ranks have agreed that there is room before any of them waits for the others' sizes. */
static int exchange_blocks(const study *s, point *p, const uint32_t *bounds)
{
    const bool takes_part = p->comm != MPI_COMM_NULL;
    block_size *all = calloc(p->out->ranks, sizeof *all);
    p->counts = calloc(p->out->ranks, sizeof *p->counts);
    p->offsets = calloc(p->out->ranks, sizeof *p->offsets);
    int code = agree(s, all && p->counts && p->offsets, "the sizes of blocks");
    if (code == TH_EXIT_GOOD) {
        const bool fits = !takes_part || collect_blocks(s, p, bounds, all);
        code = th_mpi_agree(s->job, fits ? TH_EXIT_GOOD : TH_EXIT_ENVIRONMENT,
                            "palettes of all ranks have 128 GiB or more; fewer characters can be gathered");
    }
    free(all);
    return code;
}

static int create_point(study *s, point *p)
{
    th_error err;
    th_result result = TH_OK;
    const uint32_t ranks = p->out->ranks, characters = characters_at(s, ranks);
    uint32_t *bounds = calloc((size_t)ranks + 1, sizeof *bounds);
    int code = agree(s, bounds != NULL, "blocks");
    const bool takes_part = (uint32_t)s->job->rank < ranks;
    p->out->characters = characters;
    if (code == TH_EXIT_GOOD) {
        th_mpi_guard_begin(s->job);
        MPI_Comm_split(s->job->world, takes_part ? 0 : MPI_UNDEFINED, s->job->rank, &p->comm);
        th_mpi_guard_end();
        th_rank_split(s->whole->instances, characters, s->costs, ranks, bounds);
        if (takes_part) {
            const uint32_t first = bounds[s->job->rank], end = bounds[s->job->rank + 1];
            const th_mpi_block_desc desc = block_desc(s, first, end - first);
            result = th_mpi_block_init(&p->block, &desc, &err);
        }
        code = th_mpi_agree_on(s->job, result, &err);
    }
    if (code == TH_EXIT_GOOD)
        code = exchange_blocks(s, p, bounds);
    free(bounds);
    return code;
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
    s->palette = th_cache_line_alloc(own);
    s->poses_ns = calloc(s->desc->frames, sizeof *s->poses_ns);
    if (is_root(s)) {
        s->gathered = s->desc->is_alone ? NULL : th_cache_line_alloc(all);
        s->all_poses_ns = calloc((size_t)s->job->size * s->desc->frames, sizeof *s->all_poses_ns);
        s->hashes = calloc(s->whole->instance_count + 1, sizeof *s->hashes);
    }
    return s->palette && s->poses_ns &&
           (!is_root(s) || ((s->desc->is_alone || s->gathered) && s->all_poses_ns && s->hashes));
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
        const th_mpi_block_desc desc = block_desc(s, first, count - first < SLICE ? count - first : SLICE);
        th_mpi_block slice;
        void *palette = NULL;
        result = th_mpi_block_init(&slice, &desc, err);
        if (result == TH_OK)
            result = th_palette_create(slice.crowd, &palette, err);
        if (result == TH_OK)
            th_mpi_block_pose(&slice, palette);
        for (uint32_t i = 0; i < slice.count && result == TH_OK; i++)
            s->hashes[first + i] = th_crowd_instance_hash(slice.crowd, palette, i, first + i);
        free(palette);
        th_mpi_block_fini(&slice);
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

/* On rank 0: the first character that differs, and the rank that posed it. */
static void complain_of_difference(const study *s, const point *p, const th_hash128 *all)
{
    uint32_t i = 0, r = 0, end = p->out->shares[0].characters;
    while (i < p->out->characters && all[i].low == s->hashes[i].low && all[i].high == s->hashes[i].high)
        i++;
    while (i >= end && r + 1 < p->out->ranks)
        end += p->out->shares[++r].characters;
    th_complain("rank %u on %s poses character %u otherwise than rank 0 alone; it is the first that differs of %u, on "
                "%u ranks",
                r, s->job->hosts[r], i, p->out->characters, p->out->ranks);
}

/* Collects all hashes on rank 0, to find out which differ. */
static void find_difference(study *s, const point *p, const th_hash128 *own)
{
    MPI_Request request;
    const uint32_t ranks = p->out->ranks;
    th_hash128 *all = calloc(p->out->characters + 1, sizeof *all);
    int *counts = calloc(2 * (size_t)ranks, sizeof *counts);
    const int code = agree(s, all && counts, "all hashes");
    if (code == TH_EXIT_GOOD && p->comm != MPI_COMM_NULL) {
        for (uint32_t r = 0; r < ranks; r++) {
            counts[r] = (int)p->out->shares[r].characters;
            counts[ranks + r] = r > 0 ? counts[ranks + r - 1] + counts[r - 1] : 0;
        }
        MPI_Igatherv(own, (int)p->block.count, s->hash, all, counts, counts + ranks, s->hash, 0, p->comm, &request);
        th_mpi_wait(s->job, request, "hashes of palettes");
        if (is_root(s))
            complain_of_difference(s, p, all);
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
        th_mpi_block_pose(&p->block, s->palette);
    const int code = compare_hashes(s, p);
    if (code != TH_EXIT_GOOD)
        return code;
    if (takes_part)
        result = th_mpi_block_validate(&p->block, s->palette, &err);
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

static bool has_poses(th_rank_stage stage)
{
    return stage == TH_RANK_POSES || stage == TH_RANK_GATHER;
}

static void collect(study *s, const point *p, th_rank_stage stage)
{
    MPI_Request request;
    const bool is_barrier = stage == TH_RANK_POSES || stage == TH_RANK_BARE_BARRIER;
    if (is_barrier)
        MPI_Ibarrier(p->comm, &request);
    else
        MPI_Igatherv(s->palette, p->counts[s->job->rank], s->line, s->gathered, p->counts, p->offsets, s->line, 0,
                     p->comm, &request);
    th_mpi_wait(s->job, request, is_barrier ? "the end of a frame" : "palettes");
}

static void run_frame(study *s, point *p, th_rank_stage stage, uint32_t round, uint32_t f)
{
    th_mpi_barrier(s->job, p->comm, "the begin of a frame");
    const uint64_t start_ns = th_clock_ns();
    if (has_poses(stage))
        th_frame_animate(p->block.frame, (round * s->desc->frames + f) / TH_FRAME_RATE, s->palette);
    const uint64_t posed_ns = th_clock_ns();
    collect(s, p, stage);
    if (is_root(s))
        th_samples_add(&p->out->stages[stage], (double)(th_clock_ns() - start_ns));
    if (stage == TH_RANK_POSES)
        s->poses_ns[f] = (double)(posed_ns - start_ns);
}

/* Each rank's poses go to rank 0 after the round, so that what was measured outlives a lost rank. */
static void collect_poses(study *s, point *p, uint32_t round)
{
    MPI_Request request;
    const uint32_t frames = s->desc->frames, ranks = p->out->ranks;
    MPI_Igather(s->poses_ns, (int)frames, MPI_DOUBLE, s->all_poses_ns, (int)frames, MPI_DOUBLE, 0, p->comm, &request);
    th_mpi_wait(s->job, request, "times of poses");
    for (uint32_t r = 0; is_root(s) && r < ranks; r++)
        for (uint32_t f = 0; f < frames; f++)
            p->out->poses_ns[((size_t)round * frames + f) * ranks + r] = s->all_poses_ns[(size_t)r * frames + f];
}

static void run_point(study *s, point *p, uint32_t round)
{
    const int stages = s->desc->is_alone ? 1 : TH_RANK_STAGE_COUNT;
    for (int stage = 0; stage < stages; stage++) {
        th_jobs_frame_begin(s->jobs);
        for (uint32_t f = 0; f < s->desc->frames; f++)
            run_frame(s, p, (th_rank_stage)stage, round, f);
        th_jobs_frame_end(s->jobs);
    }
    collect_poses(s, p, round);
}

/* R. Durstenfeld, Algorithm 235: Random permutation, 1964. The same on all ranks. */
static void shuffle(const study *s, uint32_t round, uint32_t *order)
{
    const uint64_t seed = th_random_bits(s->desc->scene.seed, round);
    for (uint32_t i = 0; i < s->out->point_count; i++)
        order[i] = i;
    for (uint32_t i = s->out->point_count; i > 1; i--) {
        const uint32_t other = (uint32_t)((th_random_bits(seed, i) >> 32) * i >> 32), last = order[i - 1];
        order[i - 1] = order[other];
        order[other] = last;
    }
}

static void run_round(study *s, uint32_t round)
{
    uint32_t order[TH_RANKS_MAX];
    shuffle(s, round, order);
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
    s->points = calloc(out->point_count, sizeof *s->points);
    code = agree(s, s->points != NULL, "points");
    for (uint32_t i = 0; s->points && i < out->point_count; i++) {
        s->points[i].comm = MPI_COMM_NULL;
        s->points[i].out = &out->points[i];
    }
    if (code == TH_EXIT_GOOD)
        code = create_pool(s);
    if (code == TH_EXIT_GOOD)
        code = create_whole(s);
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
        th_mpi_block_fini(&s->points[i].block);
        free(s->points[i].counts);
        free(s->points[i].offsets);
        if (s->points[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&s->points[i].comm);
    }
    MPI_Op_free(&s->add);
    MPI_Type_free(&s->line);
    MPI_Type_free(&s->hash);
    th_scene_destroy(s->whole);
    th_jobs_destroy(s->jobs);
    free(s->points);
    free(s->costs);
    free(s->palette);
    free(s->gathered);
    free(s->poses_ns);
    free(s->all_poses_ns);
    free(s->hashes);
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
