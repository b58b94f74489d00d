/* The command line in process: every option, every kind of mistake. */
#include "src/cli/help.h"
#include "src/cli/measure_options.h"
#include "src/cli/option.h"
#include "src/cli/options.h"
#include "src/cli/processes.h"

#include <throng/core/suggest.h>

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static th_options options;
static th_run run;
static th_error error;

/* Splits "scale --count 5" and parses it. */
static bool parse(const char *line)
{
    static char words[512];
    char *argv[64];
    int argc = 0;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    error.text[0] = '\0';
    return th_options_parse(&options, &run, th_command_find(argv[0]), argc - 1, argv + 1, &error) == TH_OK;
}

static void expect_refusal(const char *line, const char *text)
{
    cr_expect(!parse(line), "%s was taken", line);
    cr_expect_str_eq(error.text, text, "%s", line);
}

Test(options, take_the_camera_of_a_scene_unless_it_is_given)
{
    cr_assert(parse("render --camera 3,,2 --scene street"));
    const th_crowd_view_desc given = options.crowd;
    th_crowd_view_desc scene = {0};
    th_crowd_view_desc_set_scene(&scene, TH_LAYOUT_STREET);
    cr_expect(given.layout == TH_LAYOUT_STREET && given.surroundings && scene.zoom == 1);
    cr_expect(given.yaw_deg == 3 && given.zoom == 2 && given.pitch_deg == scene.pitch_deg && scene.yaw_deg != 3);
    cr_assert(parse("view"));
    cr_expect(options.crowd.layout == TH_LAYOUT_GRID && options.crowd.yaw_deg == 25 && options.crowd.pitch_deg == 18);
    cr_assert(parse("stress --draw"));
    cr_expect_eq(options.crowd.pitch_deg, 60);
    expect_refusal("bench --scene plaza", "bench takes no --scene; that is an option of stress, render and view");
}

Test(options, have_the_defaults_that_the_help_shows)
{
    cr_assert(parse("view"));
    cr_expect_eq(options.crowd.gpu_mapping, TH_GPU_MAPPING_AUTO);
    cr_assert(parse("scale"));
    cr_assert_eq(options.scale.counts.count, 1);
    cr_expect_eq(options.scale.counts.values[0], 10000);
    cr_expect_eq(options.measure.repetitions, 0);
    cr_expect_eq(options.measure.iterations, 0);
    cr_expect_eq(options.scale.grains.count, 0);
    cr_expect_eq(options.scale.threads.count, 0);
    cr_expect_eq(options.crowd.seed, 1);
    cr_expect_eq(options.crowd.isa, TH_ISA_AUTO);
    cr_expect_eq(options.crowd.compile.sampling, TH_SAMPLING_COMPILED);
    cr_assert_eq(options.scale.schedulers.count, 1);
    cr_expect_eq(options.scale.schedulers.values[0], TH_SCHEDULER_WORK_STEALING);
    cr_expect_eq(options.crowd.jobs.placement, TH_PLACEMENT_WORKERS);
    cr_expect_eq(options.scale.processes, 1);
    cr_expect_float_eq(options.crowd.compile.bound_m, 0.0001, 1e-12);
    cr_assert(parse("pose"));
    cr_expect_eq(options.crowd.compile.sampling, TH_SAMPLING_EXACT);
    cr_expect_eq(options.crowd.compile.interpolation, TH_INTERPOLATION_AUTHORED);
    cr_expect_eq(options.pose.time_s, 0);
    cr_expect_eq(options.models.clip, NULL);
    cr_assert(parse("bench"));
    cr_expect_eq(options.crowd.count, 1000);
    cr_expect_eq(options.crowd.jobs.threads, 2);
    cr_assert(parse("render"));
    cr_expect_eq(options.crowd.behaviour, TH_BEHAVIOUR_NONE);
    cr_expect_eq(options.crowd.blend.pace, TH_DEFAULT_PACE);
    cr_expect(options.crowd.share_hz == 0 && options.crowd.far_lod == 4 && options.crowd.hold == 1);
    cr_expect(options.crowd.budget.ms == 0 && options.crowd.budget.bones == 0);
}

Test(options, take_a_budget_in_time_or_in_bones)
{
    cr_assert(parse("render --animation-budget 0.25"));
    cr_expect(options.crowd.budget.ms == 0.25 && options.crowd.budget.bones == 0);
    cr_assert(parse("view --animation-budget bones:52000"));
    cr_expect(options.crowd.budget.ms == 0 && options.crowd.budget.bones == 52000);
    for (int n = 0; n < 5; n++) {
        static const char *const wrong[] = {"0", "bones:0", "bones:", "bones:1.5", "1ms"};
        char line[64];
        snprintf(line, sizeof line, "render --animation-budget %s", wrong[n]);
        cr_expect(!parse(line), "%s", line);
        cr_expect(strstr(error.text, "or bones:N"), "%s", error.text);
    }
    expect_refusal("render --share 60 --animation-budget 1",
                   "--animation-budget chooses how to save, so --share cannot be given with it");
}

static void expect_path(const double from[3], const double to[3])
{
    cr_expect_arr_eq(options.camera.to, to, 3 * sizeof *to);
    cr_expect(options.crowd.yaw_deg == from[0] && options.crowd.pitch_deg == from[1] && options.crowd.zoom == from[2]);
}

Test(options, take_where_the_camera_is_and_flies_to)
{
    cr_assert(parse("render"));
    expect_path((double[]){25, 18, 1}, (double[]){25, 18, 1});
    cr_assert(parse("render --camera ,,2"));
    expect_path((double[]){25, 18, 2}, (double[]){25, 18, 2});
    cr_assert(parse("view --camera -90"));
    expect_path((double[]){-90, 18, 1}, (double[]){-90, 18, 1});
    cr_assert(parse("render --camera 10,20,1:-90,10.5,4"));
    expect_path((double[]){10, 20, 1}, (double[]){-90, 10.5, 4});
    cr_assert(parse("render --camera 10:,,3"));
    expect_path((double[]){10, 18, 1}, (double[]){10, 18, 3});
    expect_refusal("view --camera 10:20", "--camera A:B flies from A to B in render alone; view takes A");
    static const char *const wrong[] = {"90,10,4,", "90,10,4,1", "400,10,4", "90,90,4", "90,10,0",
                                        ",,",       "90;10;4",   ":",        "90:",     ":90",
                                        "1:2:3",    "90,10,4:,", "90,10,nan"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[96];
        snprintf(line, sizeof line, "render --camera %s", wrong[i]);
        cr_expect(!parse(line), "%s", line);
        cr_expect(strstr(error.text, "--camera takes a yaw, a pitch and a zoom, such as 90,10,4"), "%s", error.text);
    }
}

Test(options, take_values_behind_a_space_or_an_equals_sign)
{
    cr_assert(parse("pose fox.glb --time -1.5e0 --clip=Walk --isa=scalar --sampling compiled --json"));
    cr_expect_eq(options.pose.time_s, -1.5);
    cr_expect_str_eq(options.models.clip, "Walk");
    cr_expect_eq(options.crowd.isa, TH_ISA_SCALAR);
    cr_expect_eq(options.crowd.compile.sampling, TH_SAMPLING_COMPILED);
    cr_expect(options.output.json);
    cr_expect_eq(options.models.models.count, 1);
    cr_expect_str_eq(options.models.models.paths[0], "fox.glb");
    cr_assert(parse("pose --out=--json -- --model"));
    cr_expect_str_eq(options.output.out, "--json");
    cr_expect(!options.output.json);
    cr_expect_str_eq(options.models.models.paths[0], "--model");
}

Test(options, know_every_instruction_set_by_its_name)
{
    for (int isa = TH_ISA_AUTO; isa < TH_ISA_COUNT; isa++) {
        char line[64];
        snprintf(line, sizeof line, "scale --isa %s", th_isa_name((th_isa)isa));
        cr_assert(parse(line), "%s: %s", line, error.text);
        cr_expect_eq(options.crowd.isa, (th_isa)isa, "%s", line);
    }
}

Test(options, collect_models_and_animations)
{
    cr_assert(parse("bench --model a --model human --animation b --animation c --seed 18446744073709551615"));
    cr_expect_eq(options.models.models.count, 2);
    cr_expect_str_eq(options.models.models.paths[1], "human");
    cr_expect_eq(options.models.animations.count, 2);
    cr_expect_eq(options.crowd.seed, UINT64_MAX);
}

/* All pools of a comparison live at once. */
Test(options, refuse_more_threads_than_fit_together)
{
    cr_assert(parse("scale --threads 1-44")); /* 990 */
    cr_assert(parse("scale --threads 1-43,78"));
    expect_refusal("scale --threads 1-43,79", "--threads takes counts of at most 1024 threads together, not 1025");
    expect_refusal("scale --threads 1-256", "--threads takes counts of at most 1024 threads together, not 32896");
    for (const th_option *o = th_option_table; o->name; o++)
        if (strcmp(o->name, "threads") == 0 && (o->commands & th_command_find("scale")->bit))
            cr_expect(strstr(o->help, "at most 1024 threads together"), "%s", o->help);
    cr_assert(parse("stress --threads 1-256"), "one after the other: %s", error.text);
    cr_expect_eq(options.stress.threads.count, 256);
}

static void expect_threads(const char *list, uint32_t count, const uint32_t *counts)
{
    char line[64];
    snprintf(line, sizeof line, "scale --threads %s", list);
    cr_assert(parse(line), "%s", error.text);
    cr_assert_eq(options.scale.threads.count, count, "%s", list);
    cr_expect_arr_eq(options.scale.threads.counts, counts, count * sizeof *counts, "%s", list);
}

Test(options, read_lists_of_threads_in_order_and_once)
{
    uint32_t usable = th_cpus_read().usable;
    expect_threads("1,2,4", 3, (uint32_t[]){1, 2, 4});
    expect_threads("2-5", 4, (uint32_t[]){2, 3, 4, 5});
    expect_threads("8,1-2,2", 3, (uint32_t[]){1, 2, 8});
    expect_threads("max", 1, &usable);
    expect_threads("256", 1, (uint32_t[]){256});
    static const char *const bad[] = {"0", "257", "", ",", "1,", "1-", "-2", "3-1", "a", "1,,2", "1-2-3", "2.5", "+1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[64];
        snprintf(line, sizeof line, "scale --threads=%s", bad[i]);
        cr_expect(!parse(line), "%s was taken", bad[i]);
    }
}

static void expect_numbers(const char *line, const th_number_list *list, uint32_t count, const uint32_t *values)
{
    cr_assert(parse(line), "%s", error.text);
    cr_assert_eq(list->count, count, "%s", line);
    cr_expect_arr_eq(list->values, values, count * sizeof *values, "%s", line);
}

Test(options, read_lists_of_numbers_in_the_order_given)
{
    expect_numbers("scale --count 100", &options.scale.counts, 1, (uint32_t[]){100});
    expect_numbers("scale --count 1000,10,100", &options.scale.counts, 3, (uint32_t[]){1000, 10, 100});
    cr_expect_null(options.scale.counts.per);
    expect_numbers("scale --count 50,20/thread", &options.scale.counts, 2, (uint32_t[]){50, 20});
    cr_expect_str_eq(options.scale.counts.per, "thread");
    expect_numbers("scale --grain 4,1", &options.scale.grains, 2, (uint32_t[]){4, 1});
    cr_assert(parse("scale --grain 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"));
    static const char *const bad[] = {"0",
                                      "",
                                      ",",
                                      "1,",
                                      ",1",
                                      "1,,2",
                                      "1-4",
                                      "2.5",
                                      "max",
                                      "10/threads",
                                      "10/",
                                      "1000001",
                                      "1,a",
                                      "+1",
                                      "1, 2",
                                      "99999999999999999999999",
                                      "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[64];
        snprintf(line, sizeof line, "scale --count=%s", bad[i]);
        cr_expect(!parse(line), "%s was taken", bad[i]);
    }
    expect_refusal("scale --grain 2,b",
                   "--grain takes up to 16 whole numbers from 1 to 1000000, such as 1,2,4, not \"2,b\"");
    expect_refusal("scale --grain 2,4,2", "--grain has 2 twice");
}

Test(options, read_lists_of_schedulers)
{
    cr_assert(parse("scale --scheduler serial,work-stealing"));
    cr_assert_eq(options.scale.schedulers.count, 2);
    cr_expect_eq(options.scale.schedulers.values[0], TH_SCHEDULER_SERIAL);
    cr_expect_eq(options.scale.schedulers.values[1], TH_SCHEDULER_WORK_STEALING);
    cr_assert(parse("scale --scheduler all"));
    uint32_t available = 0;
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++)
        available += th_scheduler_available((th_scheduler)s);
    cr_expect_eq(options.scale.schedulers.count, available);
    cr_expect_eq(options.scale.schedulers.values[0], TH_SCHEDULER_WORK_STEALING);
    static const char *const bad[] = {"",
                                      ",",
                                      "work-stealing,",
                                      "work-stealing,,serial",
                                      "work-stealing,all",
                                      "own,serial,work-stealing",
                                      "a-name-that-no-scheduler-would-ever-have"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[64];
        snprintf(line, sizeof line, "scale --scheduler=%s", bad[i]);
        cr_expect(!parse(line), "%s was taken", bad[i]);
    }
    expect_refusal("scale --scheduler work-stealing,serial,work-stealing", "--scheduler has work-stealing twice");
}

Test(options, name_schedulers_placements_and_interpolations_as_the_library_does)
{
    char line[64];
    for (unsigned i = 0; i < TH_INTERPOLATION_COUNT; i++) {
        snprintf(line, sizeof line, "pose --interpolation %s", th_interpolation_name((th_interpolation)i));
        cr_assert(parse(line), "%s", error.text);
        cr_expect_eq(options.crowd.compile.interpolation, i, "%s", line);
    }
    for (unsigned i = 0; i < TH_SCHEDULER_COUNT; i++) {
        snprintf(line, sizeof line, "scale --scheduler %s", th_scheduler_name((th_scheduler)i));
        cr_assert(parse(line), "%s", error.text);
        cr_expect_eq(options.scale.schedulers.values[0], i, "%s", line);
    }
    for (unsigned i = 0; i < TH_PLACEMENT_COUNT; i++) {
        snprintf(line, sizeof line, "scale --placement %s", th_placement_name((th_placement)i));
        cr_assert(parse(line), "%s", error.text);
        cr_expect_eq(options.crowd.jobs.placement, i, "%s", line);
    }
}

Test(options, refuse_numbers_that_are_no_numbers)
{
    static const char *const whole[] = {
        "0", "-1", "+1", "1e3", "0x10", "1.0", "10k", "1000001", "99999999999999999999"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        char line[64], text[128];
        snprintf(line, sizeof line, "bench --count %s", whole[i]);
        snprintf(text, sizeof text, "--count takes a whole number from 1 to 1000000, not \"%s\"", whole[i]);
        expect_refusal(line, text);
    }
    static const char *const real[] = {"nan", "inf", "0x1p3", "1s", "1e400", "e", ".", "1e10"};
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        char line[64], text[128];
        snprintf(line, sizeof line, "pose --time %s", real[i]);
        snprintf(text, sizeof text, "--time takes a number from -1e+09 to 1e+09, not \"%s\"", real[i]);
        expect_refusal(line, text);
    }
    expect_refusal("bench --seed 18446744073709551616",
                   "--seed takes a whole number from 0 to 18446744073709551615, not \"18446744073709551616\"");
    expect_refusal("bench --seed=", "--seed takes a whole number from 0 to 18446744073709551615, not \"\"");
}

Test(options, become_the_units_of_what_takes_them)
{
    cr_assert(parse("bench --precision 2.5 --max-time 3 --repetition-time 0.25 --error-bound 0.02"));
    cr_expect_eq(options.measure.precision, 0.025);
    cr_expect_eq(options.measure.max_ns, 3000000000);
    cr_expect_eq(options.measure.repetition_ns, 250000);
    cr_expect_eq(options.crowd.compile.bound_m, 0.02 / 1000);
    cr_assert(parse("compare --threshold 7"));
    cr_expect_eq(options.compare.desc.threshold, 0.07);
    cr_assert(parse("stress --max-memory 1.5"));
    cr_expect_eq(options.stress.memory_bytes, 1500000);
    cr_assert(parse("serve --max-memory 64"));
    cr_expect_eq(options.serve.desc.limits.max_memory_bytes, 64000000);
}

Test(options, have_rates_that_the_server_takes)
{
    static const char *const good[] = {"0", "0.1", "60", "1000"}, *const bad[] = {"0.05", "1001", "-1", "x", ""};
    char line[64], text[96];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(line, sizeof line, "serve --rate %s", good[i]);
        cr_assert(parse(line), "%s", error.text);
        cr_expect_eq(options.serve.desc.settings.rate_hz, atof(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(line, sizeof line, "serve --rate=%s", bad[i]);
        snprintf(text, sizeof text, "--rate takes 0 or a number from 0.1 to 1000, not \"%s\"", bad[i]);
        expect_refusal(line, text);
    }
}

Test(options, say_what_may_have_been_meant)
{
    static const char *const gone[] = {"layout",  "yaw",   "pitch",     "zoom",     "fly",    "report", "weak",
                                       "hold",    "far",   "joint-lod", "baseline", "list",   "stages", "upload",
                                       "fetch",   "vsync", "drawn",     "min-time", "submit", "wide",   "roofline",
                                       "seconds", "fade",  "pace",      "log-level"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        char line[64], text[64];
        snprintf(line, sizeof line, "scale --%s 1", gone[i]);
        snprintf(text, sizeof text, "there is no --%s any more: ", gone[i]);
        cr_expect(!parse(line), "%s", line);
        cr_expect_eq(strncmp(error.text, text, strlen(text)), 0, "%s", error.text);
    }
    expect_refusal("serve --join a:1",
                   "there is no --join any more: Prometheus collects the metrics of several servers");
    expect_refusal("inspect --export a.glb",
                   "there is no --export any more: Blender and `assimp export` convert models to glTF");
    expect_refusal("scale --thread 2", "unknown option --thread; did you mean --threads?");
    expect_refusal("scale --cuont 2", "unknown option --cuont; did you mean --count?");
    expect_refusal("bench --rep=2", "unknown option --rep; did you mean --repetitions?");
    expect_refusal("inspect --xyzzy", "unknown option --xyzzy; `throng help inspect` lists them");
    expect_refusal("pose --isa sclar",
                   "--isa takes auto, scalar, sse4, avx2, avx512 or neon, not \"sclar\"; did you mean scalar?");
    expect_refusal(
        "scale --scheduler tbb",
        "--scheduler takes work-stealing, serial, openmp-dynamic, openmp-guided or openmp-static, not \"tbb\"");
    expect_refusal("render --scheduler onetbb",
                   "--scheduler takes work-stealing, serial, openmp-dynamic, openmp-guided or "
                   "openmp-static, not \"onetbb\"; there is no onetbb any more, openmp-guided "
                   "is most like it");
    expect_refusal("render --palette f16",
                   "--palette takes f32, quat, quat16 or auto, not \"f16\"; there is no f16 any more, "
                   "quat16 takes less memory, and f32 any model");
    expect_refusal("pose --interpolation fast-slerp",
                   "--interpolation takes authored, step, nlerp, slerp or cubic, not \"fast-slerp\"; there is no "
                   "fast-slerp any more, nlerp is faster, and slerp exact");
    expect_refusal("scale --placement core",
                   "--placement takes none, workers, compact, spread or cores, not \"core\"; did you mean cores?");
}

Test(options, say_what_is_wrong)
{
    expect_refusal("scale -t 2", "unknown option -t; options begin with two dashes");
    expect_refusal(
        "inspect --threads 2",
        "inspect takes no --threads; that is an option of bench, scale, stress, render, serve, view and demo");
    expect_refusal("scale --time 2", "scale takes no --time; that is an option of pose");
    expect_refusal("bench --count", "--count needs a value: --count N");
    expect_refusal("bench --out --json", "--out needs a value: --out FILE");
    expect_refusal("bench --json=yes", "--json takes no value");
    expect_refusal("bench --json --json", "--json is given twice");
    expect_refusal("bench --count 1 --count=1", "--count is given twice");
    expect_refusal("bench fox.glb", "unexpected \"fox.glb\"; bench takes options only, a model as --model FILE");
    expect_refusal("inspect a b", "inspect takes one model, not 2");
    expect_refusal("inspect a --model b", "inspect takes one model, not 2");
    expect_refusal("bench --model=", "--model takes the name of a file, not \"\"");
    expect_refusal("bench --filter (", "--filter \"(\" is no regular expression: Unmatched ( or \\(");
}

Test(options, keep_within_the_list_of_files)
{
    const th_command *bench = th_command_find("bench");
    char word[] = "--model=a", *argv[TH_FILE_LIST_MAX + 1];
    for (int i = 0; i <= TH_FILE_LIST_MAX; i++)
        argv[i] = word;
    cr_expect_eq(th_options_parse(&options, &run, bench, TH_FILE_LIST_MAX, argv, &error), TH_OK);
    cr_expect_eq(th_options_parse(&options, &run, bench, TH_FILE_LIST_MAX + 1, argv, &error), TH_ERR_LIMIT);
    cr_expect_str_eq(error.text, "--model can be given 64 times");
}

/* ---- help and parser against each other ---- */

/* A value that an option with this argument, or of this name, takes. */
static const char *example(const th_option *o)
{
    if (o->choices)
        return o->choices[0];
    static const char *const examples[][2] = {
        {"RE", "a|b"}, {"FILE", "f.md"}, {"WxH", "64x36"}, {"frames", "300"}, {"camera", "90,10,4"}};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (strcmp(o->argument, examples[i][0]) == 0 || strcmp(o->name, examples[i][0]) == 0)
            return examples[i][1];
    return "1";
}

/* Until the next call. */
static char *help_text(const th_command *c)
{
    static char text[1 << 16];
    FILE *file = fmemopen(text, sizeof text, "w");
    th_help_command(c, file);
    fclose(file);
    return text;
}

/* Whether it is another command's of the same name, which takes other values. */
static bool is_namesake(const th_option *o, const th_command *c)
{
    for (const th_option *own = th_option_table; own->name; own++)
        if ((own->commands & c->bit) && strcmp(own->name, o->name) == 0)
            return !(o->commands & c->bit);
    return false;
}

/* Whether a whole word of the lists of options is this. */
static bool names(const char *help, const char *head)
{
    const size_t length = strlen(head);
    for (const char *at = strstr(help, "Options that"); (at = strstr(at, head)); at += length)
        if (strchr(" ,\n", at[length]))
            return true;
    return false;
}

Test(options, are_in_the_help_exactly_when_they_are_taken)
{
    for (const th_command *c = th_command_table; c->name; c++) {
        char *help = help_text(c);
        for (const th_option *o = th_option_table; o->name; o++) {
            if (is_namesake(o, c))
                continue;
            char head[64], line[128];
            snprintf(head, sizeof head, "--%s", o->name);
            snprintf(line, sizeof line, "%s --%s %s", c->name, o->name, o->argument ? example(o) : "");
            const bool taken = parse(line), shown = names(help, head);
            bool elsewhere = strstr(error.text, " takes no --") != NULL;
            cr_expect_eq(taken, shown, "%s: %s", line, error.text);
            cr_expect_eq(elsewhere, !shown, "%s: %s", line, error.text);
        }
    }
}

/* "  --name ARGUMENT  what it does", and lines of that alone. */
Test(options, have_their_help_in_one_column_of_lines_that_fit)
{
    for (const th_command *c = th_command_table; c->name; c++) {
        char *help = help_text(c);
        size_t column = 0, length;
        for (char *line = strstr(help, "\n  --") + 1; *line; line += length + 1) {
            length = strcspn(line, "\n");
            line[length] = '\0';
            const char *gap = line[2] == '-' ? strstr(line + 2, "  ") : line;
            const size_t begin = gap ? (size_t)(gap - line) + strspn(gap, " ") : 0;
            column = column ? column : begin;
            cr_expect_eq(begin, column, "%s: %s", c->name, line);
            cr_expect_leq(length, 100, "%s: %s", c->name, line);
        }
    }
}

/* One more needs one less: nobody reads a longer list. */
Test(options, are_few)
{
    uint32_t names_in_all = 0;
    for (const th_option *o = th_option_table; o->name; o++) {
        const th_option *first = th_option_table;
        while (strcmp(first->name, o->name) != 0)
            first++;
        names_in_all += first == o;
    }
    cr_expect_leq(names_in_all, 60);
    for (const th_command *c = th_command_table; c->name; c++) {
        uint32_t own = 0;
        for (const th_option *o = th_option_table; o->name; o++)
            own += (o->commands & c->bit) && o->group == TH_GROUP_NONE;
        cr_expect_leq(own, 25, "%s has %u", c->name, own);
    }
}

Test(options, have_defaults_that_their_own_parser_takes)
{
    for (const th_option *o = th_option_table; o->name; o++)
        if (o->fallback)
            cr_expect_eq(o->parse(o, o->fallback, (char *)&options + o->offset, &error), TH_OK, "--%s", o->name);
}

Test(options, remember_which_were_given)
{
    cr_assert(parse("pose --isa auto"));
    cr_expect(th_run_has_option(&run, "isa"));
    cr_expect(!th_run_has_option(&run, "time"));
}

Test(options, for_further_processes_are_those_that_say_what_to_measure)
{
    cr_assert(parse("bench --count 5 --save a --filter=x --out b.json --json --processes 3 --seed 7"));
    static const char *const again[] = {"--count", "5", "--filter=x", "--seed", "7"};
    cr_assert_eq(run.process_word_count, 5);
    for (int i = 0; i < 5; i++)
        cr_expect_str_eq(run.process_words[i], again[i]);
}

/* ---- how things are measured ---- */

static void expect_processes(const char *line, uint32_t processes, uint64_t repetition_ns)
{
    cr_assert(parse(line), "%s", error.text);
    th_measure_desc measure = options.measure;
    const bool is_bench = run.command->bit == TH_COMMAND_BENCH;
    const uint32_t planned = is_bench ? th_processes_plan(options.bench.processes, options.output.save, &measure) : 1;
    cr_assert_eq(th_measure_options_complete(&run, &measure), TH_EXIT_GOOD);
    cr_expect_eq(planned, processes, "%s: %u", line, planned);
    cr_expect_eq(measure.repetition_ns, repetition_ns, "%s: %llu ns", line, (unsigned long long)measure.repetition_ns);
}

/* Those of several processes are short. */
Test(measuring, only_what_bench_keeps_is_of_many_processes)
{
    expect_processes("bench", 1, 0);
    expect_processes("bench --save a", 12, 1000000);
    expect_processes("bench --save a --repetition-time 7", 12, 7000000);
    expect_processes("bench --save a --repetitions 3", 1, 0);
    expect_processes("bench --save a --dry-run", 1, 0);
    expect_processes("scale --save a", 1, 0);
    expect_processes("scale --repetition-time 7", 1, 7000000);
}

Test(measuring, help_says_how_long_a_repetition_is)
{
    cr_expect(strstr(help_text(th_command_find("bench")), "(default: 5; "));
    cr_expect(
        strstr(help_text(th_command_find("scale")), "shortest time of a repetition in milliseconds (default: 20)"));
}

/* ---- suggestions ---- */

Test(suggest, counts_edits)
{
    cr_expect_eq(th_edit_distance("", ""), 0);
    cr_expect_eq(th_edit_distance("", "abc"), 3);
    cr_expect_eq(th_edit_distance("kitten", "sitting"), 3);
    cr_expect_eq(th_edit_distance("count", "cuont"), 1);
    cr_expect_eq(th_edit_distance("ca", "abc"), 3); /* the restricted form: no edit inside a swapped pair */
    cr_expect_eq(th_edit_distance("Walk", "wALK"), 0);
    char longer[200];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    cr_expect_eq(th_edit_distance(longer, "a"), sizeof longer - 1);
}

Test(suggest, keeps_silent_when_nothing_is_near)
{
    th_suggestion s = {.typed = "zz"};
    th_suggestion_consider(&s, "bench");
    th_suggestion_consider(&s, "pose");
    cr_expect_eq(s.best, NULL);
    s.typed = "pse";
    th_suggestion_consider(&s, "bench");
    th_suggestion_consider(&s, "pose");
    cr_expect_str_eq(s.best, "pose");
}

/* ---- output ---- */

static int documents, texts;

static bool count_forms(const void *result, th_form form, FILE *file)
{
    (void)result, (void)file;
    documents += form == TH_FORM_JSON;
    texts += form == TH_FORM_TEXT;
    return true;
}

Test(output, makes_only_what_is_wanted)
{
    cr_expect_eq(th_output_write(&run, &(th_output_options){0}, count_forms, NULL), TH_EXIT_GOOD);
    cr_expect(documents == 0 && texts == 1);
    cr_expect_eq(th_output_write(&run, &(th_output_options){.json = true}, count_forms, NULL), TH_EXIT_GOOD);
    cr_expect(documents == 1 && texts == 1);
    cr_expect(run.has_result);
}
