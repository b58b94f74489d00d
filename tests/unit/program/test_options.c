/* Inside, since a process for each command line would be slow. The command line in process: every option, every kind
 * of mistake. */
#include "src/cli/commands/bench_programs.h"
#include "src/cli/help.h"
#include "src/cli/measuring.h"
#include <cli/option.h>
#include <cli/options.h>

#include <core/suggest.h>

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

Test(options, take_the_camera_of_a_scene_unless_it_is_given)
{
    cr_assert(parse("render --camera 3,,2 --scene street"));
    const th_crowd_view_desc given = options.crowd;
    th_crowd_view_desc scene = {0};
    th_crowd_view_desc_set_scene(&scene, TH_LAYOUT_STREET);
    cr_expect(given.layout == TH_LAYOUT_STREET && given.surroundings && scene.zoom == 1);
    cr_expect(given.yaw_deg == 3 && given.zoom == 2 && given.pitch_deg == scene.pitch_deg && scene.yaw_deg != 3);
    cr_assert(parse("view"));
    cr_expect(options.crowd.layout == TH_LAYOUT_GRID && options.crowd.yaw_deg == -24 && options.crowd.zoom == 0);
    cr_assert(parse("stress --draw"));
    cr_expect(options.crowd.yaw_deg == 25 && options.crowd.pitch_deg == 60 && options.crowd.zoom == 1);
}

Test(options, reach_the_view_of_a_crowd)
{
    th_model_set models;
    cr_assert(
        parse("render --model synthetic:joints=2,clips=2 --clip 1 --count 7 --scene ring --seed 2 --palette quat16 "
              "--interpolation step --camera 60,61,2 --shadow 32 --share 3 --isa scalar --look lod"));
    cr_assert_eq(th_model_set_init(&models, &options.models, NULL, &error), TH_OK);
    const th_crowd_view_desc desc = th_model_set_crowd_view_desc(&models, &options.crowd);
    cr_expect(desc.model_count == 1 && desc.clips[0] == 1 && desc.count == 7 && desc.seed == 2 && desc.share_hz == 3);
    cr_expect(desc.layout == TH_LAYOUT_RING && desc.palette == TH_FORMAT_QUAT16 && desc.look == TH_LOOK_LOD);
    cr_expect(desc.yaw_deg == 60 && desc.pitch_deg == 61 && desc.zoom == 2 && desc.shadow_pixels == 32);
    cr_expect(desc.isa == TH_ISA_SCALAR && desc.compile.interpolation == TH_INTERPOLATION_STEP);
    th_model_set_fini(&models);
}

Test(options, have_defaults_that_the_help_puts_into_words)
{
    cr_assert(parse("view"));
    cr_expect_eq(options.crowd.gpu_mapping, TH_GPU_MAPPING_AUTO);
    cr_assert(parse("scale"));
    cr_expect(options.measure.repetitions == 0 && options.measure.iterations == 0);
    cr_expect(options.scale.grains.count == 0 && options.scale.threads.count == 0);
    cr_assert(parse("pose"));
    cr_expect_eq(options.models.clip, NULL);
    cr_assert(parse("render"));
    cr_expect_eq(options.behaviour.blend.pace, TH_DEFAULT_PACE);
    cr_expect(options.crowd.far_lod == 4 && options.crowd.hold == 1);
    cr_expect(options.crowd.budget.ms == 0 && options.crowd.budget.bones == 0);
}

Test(options, take_a_budget_in_time_or_in_bones)
{
    cr_assert(parse("render --animation-budget 0.25"));
    cr_expect(options.crowd.budget.ms == 0.25 && options.crowd.budget.bones == 0);
    cr_assert(parse("view --animation-budget bones:52000"));
    cr_expect(options.crowd.budget.ms == 0 && options.crowd.budget.bones == 52000);
}

static void expect_path(const double from[3], const double to[3])
{
    cr_expect_arr_eq(options.camera.to, to, 3 * sizeof *to);
    cr_expect(options.crowd.yaw_deg == from[0] && options.crowd.pitch_deg == from[1] && options.crowd.zoom == from[2]);
}

Test(options, take_where_the_camera_is_and_flies_to)
{
    cr_assert(parse("render"));
    expect_path((double[]){-24, 14, 0}, (double[]){-24, 14, 0});
    cr_assert(parse("render --camera ,,2"));
    expect_path((double[]){-24, 14, 2}, (double[]){-24, 14, 2});
    cr_assert(parse("view --camera -90"));
    expect_path((double[]){-90, 14, 0}, (double[]){-90, 14, 0});
    cr_assert(parse("render --camera 10,20,1:-90,10.5,4"));
    expect_path((double[]){10, 20, 1}, (double[]){-90, 10.5, 4});
    cr_assert(parse("render --camera 10:,,3"));
    expect_path((double[]){10, 14, 0}, (double[]){10, 14, 3});
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

Test(options, collect_models_and_animations)
{
    cr_assert(parse("bench --model a --model human --animation b --animation c --seed 18446744073709551615"));
    cr_expect_eq(options.models.models.count, 2);
    cr_expect_str_eq(options.models.models.paths[1], "human");
    cr_expect_eq(options.models.animations.count, 2);
    cr_expect_eq(options.crowd.seed, UINT64_MAX);
}

Test(options, read_lists_of_threads_in_order_and_once)
{
    uint32_t usable = th_cpus_read().usable;
    const struct {
        const char *list;
        uint32_t count, counts[4];
    } cases[] = {{"1,2,4", 3, {1, 2, 4}},
                 {"2-5", 4, {2, 3, 4, 5}},
                 {"8,1-2,2", 3, {1, 2, 8}},
                 {"max", 1, {usable}},
                 {"256", 1, {256}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[64];
        snprintf(line, sizeof line, "scale --threads %s", cases[i].list);
        cr_assert(parse(line), "%s", error.text);
        cr_assert_eq(options.scale.threads.count, cases[i].count, "%s", line);
        cr_expect_arr_eq(options.scale.threads.counts, cases[i].counts, 4 * cases[i].count, "%s", line);
    }
    cr_assert(parse("scale --threads 1-43,78"), "1024 threads, which live at once: %s", error.text);
    cr_assert(parse("stress --threads 1-256"), "one after the other: %s", error.text);
    cr_expect_eq(options.stress.threads.count, 256);
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
}

static void expect_value(const char *option, const char *name, const void *found, int value)
{
    char line[64];
    snprintf(line, sizeof line, "%s %s", option, name);
    cr_assert(parse(line), "%s", error.text);
    cr_expect_eq(memcmp(found, &value, sizeof value), 0, "%s", line);
}

Test(options, name_kernels_schedulers_placements_and_interpolations_as_the_library_does)
{
    for (int i = TH_ISA_AUTO; i < TH_ISA_COUNT; i++)
        expect_value("scale --isa", th_isa_name((th_isa)i), &options.crowd.isa, i);
    for (int i = 0; i < TH_INTERPOLATION_COUNT; i++)
        expect_value("pose --interpolation", th_interpolation_name((th_interpolation)i),
                     &options.crowd.compile.interpolation, i);
    for (int i = 0; i < TH_SCHEDULER_COUNT; i++)
        expect_value("scale --scheduler", th_scheduler_name((th_scheduler)i), options.scale.schedulers.values, i);
    for (int i = 0; i < TH_PLACEMENT_COUNT; i++)
        expect_value("scale --placement", th_placement_name((th_placement)i), &options.crowd.jobs.placement, i);
}

/* What they say: tests/golden/documents/messages.txt. */
Test(options, refuse_what_is_no_value_of_theirs)
{
    static const struct {
        const char *option, *values;
    } cases[] = {
        {"bench --count", "0 -1 +1 1e3 0x10 1.0 10k 1000001 99999999999999999999"},
        {"bench --seed", "18446744073709551616 -1"},
        {"bench --save", "a/b ../a .a .. -a a:b"},
        {"pose --time", "nan inf 0x1p3 1s 1e400 e . 1e10"},
        {"serve --rate", "0.05 1001 -1 x"},
        {"scale --threads", "0 257 , 1, 1- -2 3-1 a 1,,2 1-2-3 2.5 +1 1-43,79"},
        {"scale --count", "0 , 1, ,1 1,,2 1-4 2.5 max 10/threads 10/ 1000001 1,a +1 1,1 99999999999999999999 "
                          "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"},
        {"scale --scheduler", ", work-stealing, work-stealing,,serial work-stealing,all own,serial,work-stealing "
                              "a-name-that-no-scheduler-would-ever-have"},
        {"render --animation-budget", "0 bones:0 bones: bones:1.5 1ms"},
        {"render --camera",
         "90,10,4, 90,10,4,1 400,10,4 90,90,4 90,10,0 ,, 90;10;4 : 90: :90 1:2:3 90,10,4:, 90,10,nan"},
    };
    char values[256], line[320];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(line, sizeof line, "%s=", cases[i].option);
        cr_expect(!parse(line), "%s", line);
        snprintf(values, sizeof values, "%s", cases[i].values);
        for (char *rest, *value = strtok_r(values, " ", &rest); value; value = strtok_r(NULL, " ", &rest)) {
            snprintf(line, sizeof line, "%s=%s", cases[i].option, value);
            cr_expect(!parse(line), "%s", line);
            cr_expect(strstr(error.text, strstr(cases[i].option, "--")), "%s: %s", line, error.text);
        }
    }
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
    cr_assert(parse("serve --rate 0.1"));
    cr_expect_eq(options.serve.desc.settings.rate_hz, 0.1);
    cr_assert(parse("serve --rate 0"));
    cr_expect_eq(options.serve.desc.settings.rate_hz, 0);
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
    cr_expect_leq(names_in_all, 61);
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

/* All else that they do: tests/programs/external_programs.py. */
Test(measuring, external_programs_that_do_not_answer_are_given_up)
{
    static const char *const command = "exec sleep 1000";
    th_bench_programs *programs;
    cr_expect_eq(th_bench_programs_start(&(th_bench_programs_desc){&command, 1, 0.1}, &programs, &error), TH_ERR_INPUT);
    cr_expect_str_eq(error.text, "the external program \"exec sleep 1000\" did not answer in 0.1 s");
    th_bench_programs_stop(programs);
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
