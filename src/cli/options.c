#include <cli/options.h>

#include <core/file.h>
#include <core/suggest.h>
#include <core/text_format.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- reading the command line ---- */

const th_option *th_option_find(const th_command *command, const char *name, size_t length)
{
    const th_option *other = NULL;
    for (const th_option *o = th_option_table; o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0) {
            if (o->commands & command->bit)
                return o;
            other = o;
        }
    return other;
}

/* Options of earlier versions, and what replaces them. */
static const struct {
    const char *name, *instead;
} gone_options[] = {
    {"max-requests", "a proxy in front limits requests"},
    {"fade", "cross-fades take 0.3 seconds"},
    {"fade-curve", "cross-fades are smooth"},
    {"fade-old", "the old clip runs on"},
    {"pace", "a blend walks at 1.4 model units per second; view and serve change that while they run"},
    {"influences", "vertices follow up to eight bones, at coarse levels of detail four"},
    {"sandbox-status", "what confines an import is in force by itself, and what is missing is a warning"},
    {"joint-level", "inspect lists the levels, and the joints/ entries of bench measure them"},
    {"upload", "the driver decides"},
    {"gpu-mapping", "the faster one is measured at the start"},
    {"fetch", "the driver decides"},
    {"vsync", "a window waits for the display, until key v is pressed"},
    {"drawn", "--count is that of frame/ entries too"},
    {"far", "characters at level of detail 4 or coarser share"},
    {"hold", "--animation-budget says when far characters hold their pose"},
    {"joint-lod", "--animation-budget says when far characters do with fewer joints"},
    {"stages", "keys become palettes in one pass"},
    {"min-time", "--repetitions or --precision repeat more"},
    {"wide", "--out FILE.md has all columns"},
    {"roofline", "--filter '^pose/.*/f|^ceiling/' measures a roofline"},
    {"external-timeout", "an external program has 60 seconds to answer"},
    {"baseline", "compare takes the name of a baseline for OLD or NEW"},
    {"weak", "--count 1000/thread lets the crowd grow with the threads"},
    {"layout", "--scene arranges the characters"},
    {"yaw", "--camera YAW,PITCH,ZOOM is all three"},
    {"pitch", "--camera YAW,PITCH,ZOOM is all three"},
    {"zoom", "--camera YAW,PITCH,ZOOM is all three"},
    {"fly", "--camera YAW,PITCH,ZOOM:YAW,PITCH,ZOOM flies"},
    {"log-level", "all but debugging is logged"},
    {"log-format", "lines are TIME LEVEL TEXT"},
    {"max-count", "--max-memory limits what clients may request"},
    {"report", "--out FILE.html writes the page"},
    {"list", "--dry-run runs each entry once and lists it"},
    {"seconds", "--frames is the length of the demo"},
    {"submit", "--filter '^throng-1/' --out measures the reference scenes"},
    {"models", "--model takes a folder too"},
    {"export", "Blender and `assimp export` convert models to glTF"},
    {"join", "Prometheus collects the metrics of several servers"},
};

static th_result refuse_unknown(const th_command *command, const char *word, size_t length, th_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (size_t i = 0; i < sizeof gone_options / sizeof gone_options[0]; i++)
        if (strcmp(gone_options[i].name, name) == 0)
            return th_fail(err, TH_ERR_INPUT, "there is no --%s any more: %s", name, gone_options[i].instead);
    th_suggestion s = {.typed = name};
    for (const th_option *o = th_option_table; o->name; o++)
        if (o->commands & command->bit)
            th_suggestion_consider(&s, o->name);
    if (s.best)
        return th_fail(err, TH_ERR_INPUT, "unknown option --%s; did you mean --%s?", name, s.best);
    return th_fail(err, TH_ERR_INPUT, "unknown option --%s; `throng help %s` lists them", name, command->name);
}

static th_result refuse_elsewhere(const th_command *command, const th_option *option, th_error *err)
{
    char names[128] = "";
    uint32_t takers = 0;
    for (const th_option *o = th_option_table; o->name; o++)
        if (strcmp(o->name, option->name) == 0)
            takers |= o->commands;
    for (const th_command *c = th_command_table; c->name; c++) {
        if (!(c->bit & takers))
            continue;
        takers &= ~c->bit;
        th_append(names, sizeof names, "%s%s", !names[0] ? "" : takers ? ", " : " and ", c->name);
    }
    return th_fail(err, TH_ERR_INPUT, "%s takes no --%s; that is an option of %s", command->name, option->name, names);
}

/* Reads the option at run->words[*at] and moves *at past it. */
static th_result parse_option(th_options *options, th_run *run, int *at, th_error *err)
{
    char *const *words = run->words;
    const char *word = strcmp(words[*at], "-h") == 0 ? "help" : words[*at] + 2, *text = NULL;
    const int first = *at;
    size_t length = strcspn(word, "=");
    const th_option *o = th_option_find(run->command, word, length);
    if (!o)
        return refuse_unknown(run->command, word, length, err);
    if (!(o->commands & run->command->bit))
        return refuse_elsewhere(run->command, o, err);

    if (!th_run_has_option(run, o->name)) {
        run->options[run->option_count++] = o->name;
    } else if (!o->repeatable) {
        return th_fail(err, TH_ERR_INPUT, "--%s is given twice", o->name);
    }
    *at += 1;
    if (word[length] == '=')
        text = word + length + 1;
    if (text && !o->argument)
        return th_fail(err, TH_ERR_INPUT, "--%s takes no value", o->name);
    if (!text && o->argument) {
        /* "--out --json" lacks a file name; a file of that name can be given as "--out=--json". */
        if (*at == run->word_count || strncmp(words[*at], "--", 2) == 0)
            return th_fail(err, TH_ERR_INPUT, "--%s needs a value: --%s %s", o->name, o->name, o->argument);
        text = words[(*at)++];
    }
    for (int i = first; i < *at && !o->for_one && run->process_word_count < TH_RUN_MAX_WORDS; i++)
        run->process_words[run->process_word_count++] = words[i];
    return o->parse(o, text, (char *)options + o->offset, err);
}

th_result th_options_parse(th_options *options, th_run *run, const th_command *command, int argc, char *const *argv,
                           th_error *err)
{
    static const th_option as_model = {.name = "model", .argument = "FILE"};
    th_crowd_view_desc *crowd = &options->crowd;
    th_camera_path *path = &options->camera;
    *options = (struct th_options){
        .crowd = {.far_lod = 4, .hold = 1},
        .behaviour.blend.pace = TH_DEFAULT_PACE,
        .camera = {.from = {(double)NAN, (double)NAN, (double)NAN}, .to = {(double)NAN, (double)NAN, (double)NAN}},
    };
    for (const th_option *o = th_option_table; o->name; o++)
        if ((o->commands & command->bit) && o->fallback)
            o->parse(o, o->fallback, (char *)options + o->offset, NULL);
    *run = (th_run){.command = command, .words = argv, .word_count = argc};

    bool words_only = false;
    th_result result = TH_OK;
    for (int at = 0; at < argc && result == TH_OK;) {
        const char *word = argv[at];
        const bool is_option = !words_only && word[0] == '-' && word[1] != '\0';
        if (is_option && (word[1] == '-' || strcmp(word, "-h") == 0) && strcmp(word, "--") != 0) {
            result = parse_option(options, run, &at, err);
            continue;
        }
        at++;
        if (is_option && strcmp(word, "--") == 0)
            words_only = true;
        else if (is_option)
            result = th_fail(err, TH_ERR_INPUT, "unknown option %s; options begin with two dashes", word);
        else if (words_only && options->compare.run && run->process_word_count < TH_RUN_MAX_WORDS)
            run->process_words[run->process_word_count++] = word; /* for the programs that it runs */
        else if (words_only && options->compare.run)
            result = th_fail(err, TH_ERR_LIMIT, "more than %d words after --", TH_RUN_MAX_WORDS);
        else if (command->bit == TH_COMMAND_COMPARE)
            result = th_parse_file(&as_model, word, &options->compare.files, err);
        else if (command->operand)
            result = th_parse_file(&as_model, word, &options->models.models, err);
        else
            result = th_fail(err, TH_ERR_INPUT, "unexpected \"%s\"; %s takes options only%s", word, command->name,
                             th_option_find(command, "model", 5) ? ", a model as --model FILE" : "");
    }
    crowd->compile.effort = options->models.import_timeout_s / TH_IMPORT_DEFAULT_TIMEOUT_S;
    const uint32_t models = options->models.models.count;
    if (result == TH_OK && command->operand && models > 1)
        return th_fail(err, TH_ERR_INPUT, "%s takes one model, not %u", command->name, models);
    if (result == TH_OK && path->flies && command->bit != TH_COMMAND_RENDER)
        return th_fail(err, TH_ERR_INPUT, "--camera A:B flies from A to B in render alone; %s takes A", command->name);

    /* What of the camera is not given is the scene's; stress looks further down on its grid, to see more of it. */
    th_crowd_view_desc_set_scene(crowd, options->scene);
    crowd->surroundings = th_run_has_option(run, "scene");
    if (command->bit == TH_COMMAND_STRESS && !crowd->surroundings)
        crowd->yaw_deg = 25, crowd->pitch_deg = 60, crowd->zoom = 1;
    double *const camera[] = {&crowd->yaw_deg, &crowd->pitch_deg, &crowd->zoom};
    for (int i = 0; i < 3; i++) {
        *camera[i] = isnan(path->from[i]) ? *camera[i] : path->from[i];
        path->to[i] = isnan(path->to[i]) ? *camera[i] : path->to[i];
    }
    if (result == TH_OK && crowd->share_hz > 0 && th_budget_is_set(&crowd->budget))
        return th_fail(err, TH_ERR_INPUT, "--animation-budget chooses how to save, so --share cannot be given with it");
    return result;
}

/* ---- outputs that would overwrite each other or an input ---- */

/* Whether writing one file would replace the other. Anything but a regular file, such as /dev/null or a pipe, may be
 * named twice, because writing it replaces nothing. Existing files are compared by inode: a mount or a case-insensitive
 * file system has two names for one file. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    const bool has_first = stat(a, &first) == 0, has_second = stat(b, &second) == 0;
    if (has_first && has_second)
        return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
    if (has_first || has_second)
        return false;
    char *whole = th_file_resolve(a), *other = th_file_resolve(b);
    const bool same = whole && other && strcmp(whole, other) == 0;
    free(whole);
    free(other);
    return same;
}

/* The output options in the order of their checks; paths are NULL when not given. */
enum { RENDERED, OUT, REPORT, SAVE, TRACE, OUTPUTS };

static const char *const output_names[OUTPUTS] = {"out", "out", "out", "save", "trace"};

static bool replace_input(const char *const outputs[OUTPUTS], const char *input)
{
    for (size_t i = 0; i < OUTPUTS; i++)
        if (outputs[i] && is_same_file(outputs[i], input)) {
            th_complain("--%s would replace %s, which is to be read; they are the same file, %s", output_names[i],
                        input, outputs[i]);
            return true;
        }
    return false;
}

bool th_options_take_stdout(const th_options *o)
{
    const char *const paths[] = {o->render.path, o->output.out, o->output.report, o->trace};
    struct stat file, printed;
    bool taken = false;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && fstat(STDOUT_FILENO, &printed) == 0; i++)
        taken = taken || (paths[i] && stat(paths[i], &file) == 0 && file.st_dev == printed.st_dev &&
                          file.st_ino == printed.st_ino);
    return taken;
}

int th_options_probe_files(const th_options *o)
{
    char saved[TH_BASELINE_MAX_PATH], path[TH_BASELINE_MAX_PATH];
    th_error err;
    const char *const name = o->output.save;
    const bool is_saved = name && th_baseline_path(name, saved, NULL) == TH_OK; /* if not, probing says why */
    const char *const outputs[OUTPUTS] = {o->render.path, o->output.out, o->output.report, is_saved ? saved : NULL,
                                          o->trace};
    for (size_t i = 0; i < OUTPUTS; i++)
        for (size_t j = 0; j < i && outputs[i]; j++)
            if (outputs[j] && is_same_file(outputs[i], outputs[j]))
                return th_refuse("--%s and --%s are the same file, %s", output_names[j], output_names[i], outputs[i]);
    const th_file_list *const models = &o->models.models, *const results = &o->compare.files;
    bool replaces = false;
    for (uint32_t m = 0; m < models->count && !replaces; m++)
        replaces = th_model_name_is_file(models->paths[m]) && replace_input(outputs, models->paths[m]);
    const char *const *animations;
    uint32_t animation_count;
    th_arena *arena = th_arena_create();
    if (!replaces && th_animation_files(&o->models, arena, &animations, &animation_count, NULL) == TH_OK)
        for (uint32_t a = 0; a < animation_count && !replaces; a++)
            replaces = th_model_name_is_file(animations[a]) && replace_input(outputs, animations[a]);
    th_arena_destroy(arena);
    if (replaces)
        return TH_EXIT_USAGE;
    for (uint32_t r = 0; r < results->count; r++) {
        const bool is_baseline = th_baseline_is_meant(results->paths[r]);
        const char *file = is_baseline ? path : results->paths[r];
        if (is_baseline && th_baseline_path(results->paths[r], path, NULL) != TH_OK)
            continue;
        if (replace_input(outputs, file))
            return TH_EXIT_USAGE;
    }

    th_result result = TH_OK;
    for (size_t i = OUT; i < OUTPUTS && result == TH_OK; i++) { /* the writer of pictures checks its own file */
        if (i == SAVE && name)
            result = th_baseline_path(name, saved, &err);
        if (result == TH_OK && i == SAVE && name)
            result = th_file_make_folders(saved, &err);
        if (result == TH_OK && outputs[i])
            result = th_file_probe(outputs[i], &err);
    }
    return result == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}
