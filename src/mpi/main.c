/* throng-mpi scale|stress [OPTIONS] [--timeout S]: the scaling experiment over the ranks of an MPI job. */
#include "job.h"
#include <cli/options.h>

#include <anim/archive.h>
#include <bench/baselines.h>
#include <bench/context.h>
#include <bench/validate.h>
#include <core/arena.h>
#include <core/cache_line.h>
#include <core/clock.h>
#include <core/random.h>
#include <runtime/frame.h>
#include <runtime/scene.h>

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Of the options of `throng scale` and `stress` those that mean something here. */
static const char *const measuring[] = {
    "model",     "animation",   "clip",          "import-timeout", "allow-outside", "count",       "threads",
    "isa",       "palette",     "interpolation", "keys",           "seed",          "error-bound", "json",
    "placement", "repetitions", "frames",        "budget-ms",      "out",           "help",        NULL};

enum {
    ROUNDS = 20,
    FRAMES = 10,
    STRESS_FRAMES = 299,
    MOST_FRAMES = 100 * 1000 * 1000,
    BATCH = 16,
    SLICE = 4096, /* characters that rank 0 poses at a time for the reference: their palettes need little memory */
    SAMPLE = 100, /* characters that each rank holds against the double-precision reference */
};

#define TIMEOUT_S 60.0
#define CHECKED_S (TH_VALIDATE_FRAME / TH_FRAME_RATE)

static void help(FILE *file)
{
    fputs("Usage: mpirun -n RANKS throng-mpi scale|stress [OPTIONS] [--timeout S]\n"
          "\n"
          "  scale    measure how a crowd scales with ranks: poses, and palettes gathered on rank 0\n"
          "  stress   whether --count characters meet --budget-ms on all ranks\n"
          "\n"
          "  --timeout S   give a rank up that does not answer for so long (default: 60)\n"
          "\n"
          "Other options are those of `throng scale` and `throng stress`: --model, --animation, --clip, --count "
          "(N/rank: of each rank),\n"
          "--threads (of each rank), --isa, --palette, --interpolation, --keys, --error-bound, --placement,\n"
          "--seed, --repetitions, --frames, --budget-ms, --json, --out.\n"
          "docs/guide/mpi.md has it all.\n",
          file);
}

/* ---- the command line, which all ranks read alike ---- */

typedef struct command_line {
    th_options options;
    th_run run;
    double timeout_s;
    char text[4096];  /* without the program's name */
    char program[48]; /* how it was started */
} command_line;

/* Takes --timeout out of the words. Returns whether its number is one. */
static bool take_timeout(int *argc, char **argv, double *out)
{
    static const char name[] = "--timeout";
    for (int i = 1; i < *argc; i++) {
        const bool has_equals = strncmp(argv[i], "--timeout=", sizeof name) == 0;
        if (!has_equals && strcmp(argv[i], name) != 0)
            continue;
        const int used = has_equals ? 1 : 2;
        const char *text = has_equals ? argv[i] + sizeof name : i + 1 < *argc ? argv[i + 1] : "";
        char *end;
        const double seconds = strtod(text, &end);
        if (end == text || *end || !(seconds >= 1 && seconds <= 86400))
            return false;
        *out = seconds;
        memmove(argv + i, argv + i + used, (size_t)(*argc - i - used + 1) * sizeof *argv);
        *argc -= used;
        i--;
    }
    return true;
}

static th_result read_words(command_line *c, int argc, char **argv, th_error *err)
{
    const th_command *command = argc > 1 ? th_command_find(argv[1]) : NULL;
    c->timeout_s = TIMEOUT_S;
    for (int i = 1; i < argc; i++)
        th_append(c->text, sizeof c->text, "%s%s", i > 1 ? " " : "", argv[i]);
    if (command && (command->bit & (TH_COMMAND_BENCH | TH_COMMAND_RENDER)))
        return th_fail(err, TH_ERR_USAGE, "throng-mpi has no %s any more; throng %s does it on one machine",
                       command->name, command->name);
    if (!command || !(command->bit & (TH_COMMAND_SCALE | TH_COMMAND_STRESS)))
        return th_fail(err, TH_ERR_USAGE, "a command comes first: scale or stress; throng-mpi --help says more");
    if (!take_timeout(&argc, argv, &c->timeout_s))
        return th_fail(err, TH_ERR_USAGE, "--timeout takes a number of seconds from 1 to 86400");
    const th_options *o = &c->options;
    const bool is_stress = command->bit == TH_COMMAND_STRESS;
    const th_result result = th_options_parse(&c->options, &c->run, command, argc - 2, argv + 2, err);
    if (result != TH_OK || o->help)
        return result;
    for (uint32_t i = 0; i < c->run.option_count; i++) {
        const char *const *name = measuring;
        while (*name && strcmp(*name, c->run.options[i]) != 0)
            name++;
        if (!*name)
            return th_fail(err, TH_ERR_USAGE, "throng-mpi does not take --%s; throng-mpi --help lists what it takes",
                           c->run.options[i]);
    }
    const char *out = o->output.out;
    if (out && strlen(out) > 4 && strcmp(out + strlen(out) - 4, ".csv") == 0)
        return th_fail(err, TH_ERR_USAGE,
                       "throng-mpi writes no CSV: --out takes a name that ends in .json, .md or .html");
    if (is_stress && o->crowd.count == 0)
        return th_fail(err, TH_ERR_USAGE, "throng-mpi stress makes no search: it needs --count");
    if (!is_stress && o->scale.counts.per && strcmp(o->scale.counts.per, "rank") != 0)
        return th_fail(err, TH_ERR_USAGE, "throng-mpi takes --count N/rank, not N/%s", o->scale.counts.per);
    if (!is_stress && o->scale.counts.count > 1)
        return th_fail(err, TH_ERR_USAGE, "throng-mpi takes one --count, not %u", o->scale.counts.count);
    if ((uint64_t)o->measure.repetitions * (o->measure.iterations ? o->measure.iterations : FRAMES) > MOST_FRAMES)
        return th_fail(err, TH_ERR_USAGE,
                       "throng-mpi keeps the times of %d frames at most; fewer --repetitions or --frames", MOST_FRAMES);
    if ((is_stress ? o->stress.threads.count : o->scale.threads.count) > 1)
        return th_fail(err, TH_ERR_USAGE, "throng-mpi takes one number of --threads, which each rank has");
    return TH_OK;
}

/* ---- the models: rank 0 reads the files, all others get them from it ---- */

/* Returns an exit code, the same on all ranks, after rank 0 has complained. Call th_model_set_fini in any case. */
static int share_models(th_mpi_job *job, const th_model_options *options, th_model_set *out)
{
    th_error err;
    th_result result = TH_OK;
    *out = (th_model_set){0};
    if (job->rank == 0)
        result = th_model_set_init(out, options, NULL, &err);
    int code = th_mpi_agree_on(job, result, &err);
    uint32_t count = out->count;
    if (code == TH_EXIT_GOOD)
        th_mpi_broadcast(job, &count, sizeof count, "the number of models");
    for (uint32_t m = 0; m < count && code == TH_EXIT_GOOD; m++) {
        size_t written = 0;
        uint8_t *bytes = job->rank == 0 ? th_archive_write(out->models[m], &written) : NULL;
        uint64_t size = written;
        th_mpi_broadcast(job, &size, sizeof size, "the size of a model");
        if (job->rank > 0)
            bytes = malloc(size + 1);
        code = th_mpi_agree(job, bytes ? TH_EXIT_GOOD : TH_EXIT_ENVIRONMENT, "no memory for a model");
        if (code == TH_EXIT_GOOD) {
            th_mpi_broadcast(job, bytes, size, "a model");
            if (job->rank > 0)
                result = th_archive_read(bytes, size, &out->models[m], &err);
            code = th_mpi_agree_on(job, result, &err);
        }
        free(bytes);
        if (job->rank > 0 && out->models[m])
            out->count = m + 1;
    }
    if (code == TH_EXIT_GOOD && job->rank > 0)
        result = th_model_set_choose_clip(out, options->clip, &err);
    return code == TH_EXIT_GOOD ? th_mpi_agree_on(job, result, &err) : code;
}

/* ---- the study ---- */

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
    command_line *line;
    th_scene_desc scene; /* instance_count: characters, of weak scaling for each rank */
    bool is_alone;       /* only one point, of all ranks, and only poses */
    th_rank_scaling out; /* of rank 0; elsewhere it has no meaning */
    th_jobs *jobs;
    th_arena *arena; /* all arrays but palettes: threads touch those pages first, so that they lie near */
    th_scene *whole; /* all characters, or more; blocks use its compiled models */
    uint32_t *costs; /* of a character of each model, relative to others */
    point *points;
    void *palette, *gathered;
    double *poses_ns, *all_poses_ns; /* of a round: [frame]; on rank 0 [rank * frames + frame] */
    th_hash128 *hashes;              /* on rank 0: of each character, as it poses them alone */
    MPI_Datatype line_type, hash_type;
    MPI_Op add;
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

/* ---- blocks ---- */

/* Of these characters, with the compiled models of the whole crowd. Call fini_block in the end, even if it failed. */
static th_result init_block(const study *s, const th_spawn *instances, uint32_t count, block *b, th_error *err)
{
    const th_crowd_view_desc *crowd = &s->line->options.crowd;
    th_scene_desc scene = s->scene;
    scene.compiled_models = s->whole->compiled_models;
    scene.instances = instances;
    scene.instance_count = count;
    *b = (block){.count = count};
    th_result result = th_scene_create(&scene, &b->scene, err);
    if (result == TH_OK)
        result = th_scene_crowd(b->scene, crowd->isa, crowd->palette, &b->crowd, err);
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
    th_frame_run(b->frame, CHECKED_S, palette);
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

/* The cost of a model is that of a batch whose characters have this model alone. */
static th_result create_whole(study *s, th_error *err)
{
    th_spawn instances[BATCH];
    th_scene_desc desc = s->scene;
    desc.instance_count *= s->out.is_weak ? (uint32_t)s->job->size : 1;
    th_result result = th_scene_create(&desc, &s->whole, err);
    if (result != TH_OK)
        return result;
    s->costs = th_arena_new(s->arena, uint32_t, s->whole->compiled_model_count);
    if (!s->costs)
        return th_fail(err, TH_ERR_MEMORY, "no memory");
    for (uint32_t m = 0; m < s->whole->compiled_model_count && result == TH_OK; m++) {
        block alike;
        for (int i = 0; i < BATCH; i++)
            instances[i] = (th_spawn){.model = m, .clip = TH_NO_INDEX, .speed = 1};
        result = init_block(s, instances, BATCH, &alike, err);
        if (result == TH_OK)
            s->costs[m] = th_crowd_batch_cost(alike.crowd, 0) + 1; /* a model without a joint costs something, too */
        fini_block(&alike);
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
    const uint32_t ranks = p->out->ranks, characters = s->scene.instance_count * (s->out.is_weak ? ranks : 1);
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
        assert(first <= end && end <= s->whole->instance_count);
        result = init_block(s, s->whole->instances + first, end - first, &p->block, &err);
        p->block.first = first;
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
        const uint32_t left = count - first;
        result = init_block(s, s->whole->instances + first, left < SLICE ? left : SLICE, &slice, err);
        if (result == TH_OK)
            result = th_palettes_create(slice.crowd, &palette, err);
        if (result == TH_OK)
            pose_block(&slice, palette);
        for (uint32_t i = 0; i < slice.count && result == TH_OK; i++)
            s->hashes[first + i] = th_crowd_instance_hash(slice.crowd, palette, i, first + i);
        th_palettes_destroy(palette);
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
        MPI_Igatherv(own, (int)p->block.count, s->hash_type, all, counts, counts + ranks, s->hash_type, 0, p->comm,
                     &request);
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
        MPI_Iallreduce(&sum, &all, 1, s->hash_type, s->add, p->comm, &request);
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

/* Checks all points. Returns an exit code for all ranks. */
static int check_points(study *s)
{
    for (uint32_t i = 0; i < s->out.point_count; i++) {
        point *p = &s->points[i];
        const bool takes_part = p->comm != MPI_COMM_NULL;
        th_error err = {0};
        th_result result = TH_OK;
        if (takes_part)
            pose_block(&p->block, s->palette);
        /* Equal hashes first: they name the rank that differs. Then whether all are wrong in the same way: whether they
         * are those of the double-precision reference. */
        int code = compare_hashes(s, p);
        if (code != TH_EXIT_GOOD)
            return code;
        if (takes_part) {
            const th_validation_desc desc = {.scene = p->block.scene,
                                             .crowd = p->block.crowd,
                                             .palette = s->palette,
                                             .time_s = CHECKED_S,
                                             .sample = SAMPLE,
                                             .seed = th_entropy()};
            th_validation found = {0};
            result = th_validate_palettes(&desc, &found, &err);
            if (result == TH_OK && found.excess > 1)
                result = th_fail(&err, TH_ERR_INPUT,
                                 "joint %s of character %u is %g units off the double-precision reference; %g are "
                                 "allowed",
                                 th_scene_model(p->block.scene, found.instance)->joints[found.joint].name,
                                 p->block.first + found.instance, found.excess * found.allowed, found.allowed);
        }
        const int why = result == TH_ERR_MEMORY ? TH_EXIT_ENVIRONMENT : TH_EXIT_CHECK;
        code = th_mpi_agree(s->job, result == TH_OK ? TH_EXIT_GOOD : why, err.text);
        if (code != TH_EXIT_GOOD)
            return code;
    }
    return TH_EXIT_GOOD;
}

/* ---- measuring ---- */

/* All stages of a point, on the ranks that take part. */
static bool run_point(study *s, point *p, uint32_t round)
{
    MPI_Request request;
    const uint32_t frames = s->out.frames, ranks = p->out->ranks;
    const int stages = s->is_alone ? 1 : TH_RANK_STAGE_COUNT;
    uint32_t done = 0;
    for (int stage = 0; stage < stages && !s->job->signal; stage++) {
        const bool is_barrier = stage == TH_RANK_POSES || stage == TH_RANK_BARE_BARRIER;
        th_jobs_frame_begin(s->jobs);
        for (uint32_t f = done = 0; f < frames; f++, done++) {
            th_mpi_barrier(s->job, p->comm, "the begin of a frame", false);
            if (s->job->signal)
                break;
            const uint64_t start_ns = th_clock_ns();
            if (stage == TH_RANK_POSES || stage == TH_RANK_GATHER)
                th_frame_run(p->block.frame, (round * frames + f) / TH_FRAME_RATE, s->palette);
            const uint64_t posed_ns = th_clock_ns();
            if (is_barrier)
                MPI_Ibarrier(p->comm, &request);
            else
                MPI_Igatherv(s->palette, p->counts[s->job->rank], s->line_type, s->gathered, p->counts, p->offsets,
                             s->line_type, 0, p->comm, &request);
            th_mpi_wait(s->job, request, is_barrier ? "the end of a frame" : "palettes");
            if (is_root(s))
                th_samples_add(&p->out->stages[stage], (double)(th_clock_ns() - start_ns));
            if (stage == TH_RANK_POSES)
                s->poses_ns[f] = (double)(posed_ns - start_ns);
        }
        th_jobs_frame_end(s->jobs);
    }
    if (s->job->signal && !s->is_alone)
        return false;
    /* Each rank's poses go to rank 0 after the round, so that what was measured outlives a lost rank. */
    MPI_Igather(s->poses_ns, (int)done, MPI_DOUBLE, s->all_poses_ns, (int)done, MPI_DOUBLE, 0, p->comm, &request);
    th_mpi_wait(s->job, request, "times of poses");
    for (uint32_t r = 0; is_root(s) && r < ranks; r++)
        for (uint32_t f = 0; f < done; f++)
            p->out->poses_ns[((size_t)round * frames + f) * ranks + r] = s->all_poses_ns[(size_t)r * done + f];
    if (s->job->signal) { /* of the only round: each frame becomes one */
        s->out.rounds = frames;
        s->out.rounds_done = done;
        s->out.frames = 1;
    }
    return !s->job->signal;
}

/* ---- from begin to end ---- */

/* The pool, the crowd, its points, and memory for their palettes. Returns an exit code for all ranks. */
static int prepare(study *s)
{
    th_error err;
    uint32_t counts[TH_RANKS_MAX];
    th_mpi_job *job = s->job;
    th_rank_scaling *out = &s->out;
    counts[0] = (uint32_t)job->size;
    out->ranks = (uint32_t)job->size;
    out->point_count = s->is_alone ? 1 : th_rank_counts(out->ranks, counts);
    int code = th_mpi_agree_on(job, th_rank_scaling_init(out, counts, &err), &err);
    if (code != TH_EXIT_GOOD)
        return code;
    memcpy(out->hosts, job->hosts, out->ranks * sizeof *out->hosts);
    s->arena = th_arena_create();
    s->points = th_arena_new(s->arena, point, out->point_count);
    for (uint32_t i = 0; s->points && i < out->point_count; i++)
        s->points[i] = (point){.comm = MPI_COMM_NULL, .out = &out->points[i]};
    code = agree(s, s->points != NULL, "points");
    if (code != TH_EXIT_GOOD)
        return code;

    /* Ranks of one host share no CPU if there are enough: those of the host are divided among them, where mpirun has
     * not done so and no number of threads is given. */
    char text[32];
    const th_options *o = &s->line->options;
    const th_thread_list *threads = s->is_alone ? &o->stress.threads : &o->scale.threads;
    const uint32_t usable = th_cpus_read().usable, each = job->shares_cpus ? usable / job->local_ranks : usable;
    out->threads = each > 0 ? each : 1;
    if (th_run_has_option(&s->line->run, "threads") && threads->counts[0] > 0)
        out->threads = threads->counts[0];
    const bool has_cpus = bind_threads(job, out->threads);
    const th_jobs_desc jobs = {
        .threads = out->threads,
        .scheduler = TH_SCHEDULER_WORK_STEALING,
        .placement = has_cpus ? o->crowd.jobs.placement : TH_PLACEMENT_NONE,
    };
    snprintf(text, sizeof text, "%u threads", out->threads);
    code = th_mpi_agree_same(job, "number of threads", text);
    if (code == TH_EXIT_GOOD)
        code = th_mpi_agree_on(job, th_jobs_create(&jobs, &s->jobs, &err), &err);
    if (code == TH_EXIT_GOOD)
        code = th_mpi_agree_on(job, create_whole(s, &err), &err);
    for (uint32_t i = 0; i < out->point_count && code == TH_EXIT_GOOD; i++)
        code = create_point(s, &s->points[i]);
    if (code != TH_EXIT_GOOD)
        return code;

    size_t own = TH_CACHE_LINE;
    uint64_t all = TH_CACHE_LINE;
    for (uint32_t i = 0; i < out->point_count; i++) {
        const point *p = &s->points[i];
        const size_t bytes = p->block.crowd ? th_crowd_palette_bytes(p->block.crowd) : 0;
        own = bytes > own ? bytes : own;
        all = p->out->palette_bytes > all ? p->out->palette_bytes : all;
    }
    const bool gathers = is_root(s) && !s->is_alone;
    s->palette = th_cache_line_alloc(own);
    s->gathered = gathers ? th_cache_line_alloc(all) : NULL;
    s->poses_ns = th_arena_new(s->arena, double, out->frames);
    if (is_root(s)) {
        s->all_poses_ns = th_arena_new(s->arena, double, (size_t)job->size * out->frames);
        s->hashes = th_arena_new(s->arena, th_hash128, s->whole->instance_count);
    }
    return agree(s, s->palette && (s->gathered || !gathers) && !th_arena_failed(s->arena), "palettes");
}

static int measure(study *s)
{
    th_error err;
    int code = prepare(s);
    if (code != TH_EXIT_GOOD)
        return code;
    const th_crowd *crowd = s->points[s->out.point_count - 1].block.crowd;
    s->out.isa = th_crowd_isa(crowd);
    s->out.palette = th_crowd_format(crowd);
    th_rank_scaling_describe(&s->out, s->whole, &s->scene, s->whole->instance_count);
    code = th_mpi_agree_same(s->job, "instruction set", th_isa_name(s->out.isa));
    if (code == TH_EXIT_GOOD)
        code = th_mpi_agree_on(s->job, is_root(s) ? pose_alone(s, &err) : TH_OK, &err);
    if (code == TH_EXIT_GOOD)
        code = check_points(s);
    for (uint32_t round = 0; round < s->out.rounds && code == TH_EXIT_GOOD; round++) {
        /* R. Durstenfeld, Algorithm 235: Random permutation, 1964. The same on all ranks. */
        uint32_t order[TH_RANKS_MAX];
        const uint64_t seed = th_random_bits(s->scene.seed, round);
        for (uint32_t i = 0; i < s->out.point_count; i++)
            order[i] = i;
        for (uint32_t i = s->out.point_count; i > 1; i--) {
            const uint32_t other = (uint32_t)((th_random_bits(seed, i) >> 32) * i >> 32), last = order[i - 1];
            order[i - 1] = order[other];
            order[other] = last;
        }
        for (uint32_t i = 0; i < s->out.point_count; i++) {
            const bool is_whole =
                s->points[order[i]].comm == MPI_COMM_NULL || run_point(s, &s->points[order[i]], round);
            th_mpi_barrier(s->job, s->job->world, "the ranks that measure", true);
            if (s->job->signal && is_whole && i + 1 == s->out.point_count) /* the signal came after the last frame */
                s->out.rounds_done = round + 1;
            if (s->job->signal)
                return agree(s, th_rank_scaling_analyze(&s->out), "statistics");
        }
        s->out.rounds_done = round + 1;
    }
    if (code == TH_EXIT_GOOD)
        code = check_points(s); /* what was timed must still be right */
    return code == TH_EXIT_GOOD ? agree(s, th_rank_scaling_analyze(&s->out), "statistics") : code;
}

static bool write_scaling(const void *result, th_form form, FILE *file)
{
    if (form != TH_FORM_JSON)
        return th_rank_scaling_print(result, (th_output_format)form, file);
    return th_output_json(th_rank_scaling_json(result), 12, file);
}

/* What was measured so far, where the job is lost. */
static void write_partial(void *ctx)
{
    study *s = ctx;
    if (!s->points || s->out.threads == 0 || !th_rank_scaling_analyze(&s->out)) /* the job is not even described */
        return;
    s->line->run.is_partial = s->out.rounds_done < s->out.rounds;
    th_output_write(&s->line->run, &s->line->options.output, write_scaling, &s->out);
}

/* Returns an exit code, the same on all ranks but where rank 0 cannot write: TH_EXIT_CHECK where palettes are wrong. */
static int run_study(th_mpi_job *job, command_line *c, const th_model_set *models)
{
    const th_options *o = &c->options;
    const bool is_stress = c->run.command->bit == TH_COMMAND_STRESS;
    study s = {.job = job,
               .line = c,
               .scene = th_model_set_scene_desc(models, &o->crowd, &o->behaviour),
               .is_alone = is_stress,
               .out = {.is_weak = o->scale.counts.per != NULL, .has_gather = !is_stress}};
    if (is_stress) {
        s.out.rounds = 1;
        s.out.frames = th_run_has_option(&c->run, "frames") ? o->stress.frames : STRESS_FRAMES;
        s.out.budget_ns = o->stress.budget_ms * 1e6;
    } else {
        s.out.rounds = o->measure.repetitions ? o->measure.repetitions : ROUNDS;
        s.out.frames = o->measure.iterations ? o->measure.iterations : FRAMES;
        s.scene.instance_count = (uint32_t)o->scale.counts.values[0];
    }
    snprintf(c->program, sizeof c->program, "mpirun -n %d throng-mpi", job->size);
    c->run.program = c->program;
    MPI_Type_contiguous(TH_CACHE_LINE, MPI_BYTE, &s.line_type);
    MPI_Type_contiguous(2, MPI_UINT64_T, &s.hash_type);
    MPI_Type_commit(&s.line_type);
    MPI_Type_commit(&s.hash_type);
    MPI_Op_create(add_hashes, true, &s.add);
    job->on_loss = write_partial;
    job->ctx = &s;
    int code = measure(&s);
    job->on_loss = NULL;
    if (is_root(&s) && code > 128)
        write_partial(&s);
    for (uint32_t i = 0; s.points && i < s.out.point_count; i++) {
        fini_block(&s.points[i].block);
        if (s.points[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&s.points[i].comm);
    }
    MPI_Op_free(&s.add);
    MPI_Type_free(&s.line_type);
    MPI_Type_free(&s.hash_type);
    th_scene_destroy(s.whole);
    th_jobs_destroy(s.jobs);
    th_arena_destroy(s.arena);
    free(s.palette);
    free(s.gathered);
    if (is_root(&s) && code == TH_EXIT_GOOD) {
        code = th_output_write(&c->run, &o->output, write_scaling, &s.out);
        if (code == TH_EXIT_GOOD && th_rank_scaling_misses_budget(&s.out))
            code = TH_EXIT_CHECK;
    }
    th_rank_scaling_fini(&s.out);
    return code;
}

int main(int argc, char **argv)
{
    static command_line c;
    th_mpi_job job;
    th_error err;
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("throng-mpi %s\n", th_context_version());
        return TH_EXIT_GOOD;
    }
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)) {
        help(stdout);
        return TH_EXIT_GOOD;
    }
    const th_result result = read_words(&c, argc, argv, &err);
    if (result != TH_OK)
        err.code = TH_ERR_USAGE; /* whatever is wrong with a word */
    th_baselines_register();
    th_mpi_begin(&job, c.timeout_s);
    int code = th_mpi_agree_on(&job, result, &err);
    if (code == TH_EXIT_GOOD && c.options.help) {
        if (job.rank == 0)
            help(stdout);
    } else if (code == TH_EXIT_GOOD) {
        th_model_set models = {0};
        code = th_mpi_agree_same(&job, "version", th_context_version());
        if (code == TH_EXIT_GOOD)
            code = th_mpi_agree_same(&job, "command line", c.text);
        if (code == TH_EXIT_GOOD)
            code = share_models(&job, &c.options.models, &models);
        if (code == TH_EXIT_GOOD)
            code = run_study(&job, &c, &models);
        th_model_set_fini(&models);
        /* All ranks end with the same code, for mpirun returns that of any. */
        th_mpi_broadcast(&job, &code, sizeof code, "the end");
    }
    th_mpi_end(&job);
    const int finish = th_output_finish();
    return code != TH_EXIT_GOOD ? code : finish;
}
