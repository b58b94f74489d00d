/* throng-mpi scale|stress [OPTIONS] [--timeout S]: the crowd on the ranks of an MPI job. */
#include "study.h"
#include <cli/options.h>

#include <bench/baselines.h>
#include <bench/context.h>
#include <throng/anim/archive.h>

#include <stdlib.h>
#include <string.h>

/* Of the options of `throng scale` and `stress` those that mean something here. */
static const char *const measuring[] = {
    "model",     "animation",   "clip",          "import-timeout", "allow-outside", "count",       "threads",
    "isa",       "palette",     "interpolation", "keys",           "seed",          "error-bound", "json",
    "placement", "repetitions", "frames",        "budget-ms",      "out",           "help",        NULL};

enum { ROUNDS = 20, FRAMES = 10, STRESS_FRAMES = 299, MOST_FRAMES = 100 * 1000 * 1000 };

#define TIMEOUT_S 60.0

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

static th_result check(const command_line *c, th_error *err)
{
    const th_options *o = &c->options;
    const bool is_stress = c->run.command->bit == TH_COMMAND_STRESS;
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
    const th_result result = th_options_parse(&c->options, &c->run, command, argc - 2, argv + 2, err);
    return result == TH_OK && !c->options.help ? check(c, err) : result;
}

/* ---- the result ---- */

static bool write_scaling(const void *result, th_form form, FILE *file)
{
    if (form != TH_FORM_JSON)
        return th_rank_scaling_print(result, (th_format)form, file);
    return th_output_json(th_rank_scaling_json(result), 12, file);
}

static void write_partial(void *ctx, th_rank_scaling *partial)
{
    command_line *c = ctx;
    c->run.is_partial = true;
    th_output_write(&c->run, &c->options.output, write_scaling, partial);
}

/* ---- the models: rank 0 reads the files, all others get them from it ---- */

static int share_model(th_mpi_job *job, th_model **model)
{
    th_error err;
    th_result result = TH_OK;
    uint8_t *bytes = NULL;
    size_t written = 0;
    if (job->rank == 0)
        bytes = th_archive_write(*model, &written);
    uint64_t size = written;
    th_mpi_broadcast(job, &size, sizeof size, "the size of a model");
    if (job->rank > 0)
        bytes = malloc(size + 1);
    int code = th_mpi_agree(job, bytes ? TH_EXIT_GOOD : TH_EXIT_ENVIRONMENT, "no memory for a model");
    if (code == TH_EXIT_GOOD) {
        th_mpi_broadcast(job, bytes, size, "a model");
        if (job->rank > 0)
            result = th_archive_read(bytes, size, model, &err);
        code = th_mpi_agree_on(job, result, &err);
    }
    free(bytes);
    return code;
}

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
        code = share_model(job, &out->models[m]);
        out->count = job->rank > 0 && out->models[m] ? m + 1 : out->count;
    }
    if (code == TH_EXIT_GOOD && job->rank > 0)
        result = th_model_set_choose_clip(out, options->clip, &err);
    return code == TH_EXIT_GOOD ? th_mpi_agree_on(job, result, &err) : code;
}

/* ---- the job ---- */

static int study(th_mpi_job *job, command_line *c, const th_model_set *models)
{
    const th_options *o = &c->options;
    const bool is_stress = c->run.command->bit == TH_COMMAND_STRESS;
    const th_thread_list *threads = is_stress ? &o->stress.threads : &o->scale.threads;
    th_rank_scaling scaling = {0};
    th_mpi_study_desc desc = {
        .scene = th_model_set_scene_desc(models, &o->crowd),
        .isa = o->crowd.isa,
        .palette = o->crowd.palette,
        .placement = o->crowd.jobs.placement,
        .threads = th_run_has_option(&c->run, "threads") ? threads->counts[0] : 0,
        .is_weak = o->scale.counts.per != NULL,
        .rounds = o->measure.repetitions ? o->measure.repetitions : ROUNDS,
        .frames = o->measure.iterations ? o->measure.iterations : FRAMES,
    };
    if (is_stress) {
        desc.is_alone = true;
        desc.rounds = 1;
        desc.frames = th_run_has_option(&c->run, "frames") ? o->stress.frames : STRESS_FRAMES;
        desc.budget_ns = o->stress.budget_ms * 1e6;
    } else {
        desc.scene.instance_count = (uint32_t)o->scale.counts.values[0];
    }
    snprintf(c->program, sizeof c->program, "mpirun -n %d throng-mpi", job->size);
    c->run.program = c->program;
    int code = th_mpi_study(job, &desc, write_partial, c, &scaling);
    if (job->rank == 0 && code == TH_EXIT_GOOD) {
        code = th_output_write(&c->run, &o->output, write_scaling, &scaling);
        if (code == TH_EXIT_GOOD && th_rank_scaling_misses_budget(&scaling))
            code = TH_EXIT_CHECK;
    }
    th_rank_scaling_fini(&scaling);
    return code;
}

static int run(th_mpi_job *job, command_line *c)
{
    th_model_set models = {0};
    int code = th_mpi_agree_same(job, "version", th_context_version());
    if (code == TH_EXIT_GOOD)
        code = th_mpi_agree_same(job, "command line", c->text);
    if (code == TH_EXIT_GOOD)
        code = share_models(job, &c->options.models, &models);
    if (code == TH_EXIT_GOOD)
        code = study(job, c, &models);
    th_model_set_fini(&models);
    /* All ranks end with the same code, for mpirun returns that of any. */
    th_mpi_broadcast(job, &code, sizeof code, "the end");
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
    if (code == TH_EXIT_GOOD && c.options.help)
        job.rank == 0 ? help(stdout) : (void)0;
    else if (code == TH_EXIT_GOOD)
        code = run(&job, &c);
    th_mpi_end(&job);
    const int finish = th_output_finish();
    return code != TH_EXIT_GOOD ? code : finish;
}
