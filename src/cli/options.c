#include "options.h"

#include "baseline.h"

#include <throng/core/file.h>
#include <throng/core/suggest.h>
#include <throng/core/text_format.h>

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

static th_result parse_operand(th_options *options, const th_command *command, const char *word, th_error *err)
{
    static const th_option as_model = {.name = "model", .argument = "FILE"};
    if (command->bit == TH_COMMAND_COMPARE)
        return th_parse_file(&as_model, word, &options->compare.files, err);
    if (!command->operand)
        return th_fail(err, TH_ERR_INPUT, "unexpected \"%s\"; %s takes options only%s", word, command->name,
                       th_option_find(command, "model", 5) ? ", a model as --model FILE" : "");
    return th_parse_file(&as_model, word, &options->models.models, err);
}

/* A word for the programs that compare --run runs. */
static th_result pass_on(th_run *run, const char *word, th_error *err)
{
    if (run->process_word_count == TH_RUN_MAX_WORDS)
        return th_fail(err, TH_ERR_LIMIT, "more than %d words after --", TH_RUN_MAX_WORDS);
    run->process_words[run->process_word_count++] = word;
    return TH_OK;
}

static void set_defaults(th_options *options, const th_command *command)
{
    *options = (struct th_options){.crowd.blend.pace = TH_DEFAULT_PACE};
    for (const th_option *o = th_option_table; o->name; o++)
        if ((o->commands & command->bit) && o->fallback)
            o->parse(o, o->fallback, (char *)options + o->offset, NULL);
}

/* Angles and zoom that are not given are the scene's. */
static th_result take_scene(th_options *options, const th_run *run, th_error *err)
{
    const th_crowd_view_desc given = options->crowd;
    if (!th_run_has_option(run, "scene"))
        return TH_OK;
    if (th_run_has_option(run, "layout"))
        return th_fail(err, TH_ERR_INPUT, "--scene is a layout with its surroundings, so --layout cannot be given too");
    th_crowd_view_desc_set_scene(&options->crowd, options->scene);
    if (th_run_has_option(run, "yaw"))
        options->crowd.yaw_deg = given.yaw_deg;
    if (th_run_has_option(run, "pitch"))
        options->crowd.pitch_deg = given.pitch_deg;
    if (th_run_has_option(run, "zoom"))
        options->crowd.zoom = given.zoom;
    return TH_OK;
}

th_result th_options_parse(th_options *options, th_run *run, const th_command *command, int argc, char *const *argv,
                           th_error *err)
{
    bool words_only = false;
    th_result result = TH_OK;
    set_defaults(options, command);
    *run = (th_run){.command = command, .words = argv, .word_count = argc};
    for (int at = 0; at < argc && result == TH_OK;) {
        const char *word = argv[at];
        const bool is_option = !words_only && word[0] == '-' && word[1] != '\0';
        if (is_option && strcmp(word, "--") == 0) {
            words_only = true;
            at++;
        } else if (is_option && word[1] != '-' && strcmp(word, "-h") != 0) {
            result = th_fail(err, TH_ERR_INPUT, "unknown option %s; options begin with two dashes", word);
        } else if (is_option) {
            result = parse_option(options, run, &at, err);
        } else if (words_only && options->compare.run) {
            result = pass_on(run, argv[at++], err);
        } else {
            result = parse_operand(options, command, argv[at++], err);
        }
    }
    options->crowd.compile.effort = options->models.import_timeout_s / TH_IMPORT_DEFAULT_TIMEOUT_S;
    const uint32_t models = options->models.models.count;
    if (result == TH_OK && command->operand && models > 1)
        return th_fail(err, TH_ERR_INPUT, "%s takes one model, not %u", command->name, models);
    if (result == TH_OK)
        result = take_scene(options, run, err);
    const th_budget_desc *budget = &options->crowd.budget;
    const char *means = options->crowd.share_hz > 0 ? "share" : options->crowd.hold > 1 ? "hold" : "joint-lod";
    const bool saves = options->crowd.share_hz > 0 || options->crowd.hold > 1 || options->crowd.joint_lod;
    if (result == TH_OK && saves && th_budget_is_set(budget))
        return th_fail(err, TH_ERR_INPUT, "--animation-budget chooses how to save, so --%s cannot be given with it",
                       means);
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

/* The output options in the order of their checks, and their paths; NULL when not given. */
enum { RENDERED, OUT, REPORT, SAVE, EXPORT, TRACE, OUTPUTS };

static const char *const output_names[OUTPUTS] = {"out", "out", "report", "save", "export", "trace"};

static bool replace_each_other(const char *const outputs[OUTPUTS])
{
    for (size_t i = 0; i < OUTPUTS; i++)
        for (size_t j = 0; j < i && outputs[i]; j++)
            if (outputs[j] && is_same_file(outputs[i], outputs[j])) {
                th_complain("--%s and --%s are the same file, %s", output_names[j], output_names[i], outputs[i]);
                return true;
            }
    return false;
}

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

static bool replace_models(const char *const outputs[OUTPUTS], const th_file_list *models)
{
    for (uint32_t m = 0; m < models->count; m++)
        if (th_model_name_is_file(models->paths[m]) && replace_input(outputs, models->paths[m]))
            return true;
    return false;
}

static bool replace_baseline(const char *const outputs[OUTPUTS], const char *name)
{
    char path[TH_BASELINE_MAX_PATH];
    return th_baseline_path(name, path, NULL) == TH_OK && replace_input(outputs, path);
}

static bool replace_results(const char *const outputs[OUTPUTS], const th_file_list *results)
{
    for (uint32_t r = 0; r < results->count; r++) {
        const char *word = results->paths[r];
        if (th_baseline_is_meant(word) ? replace_baseline(outputs, word) : replace_input(outputs, word))
            return true;
    }
    return false;
}

/* The writer of pictures checks its own file. */
static th_result probe(const char *const outputs[OUTPUTS], const char *saved_name, char *saved_path, th_error *err)
{
    th_result result = TH_OK;
    for (size_t i = OUT; i < OUTPUTS && result == TH_OK; i++) {
        if (i == SAVE && saved_name)
            result = th_baseline_prepare(saved_name, saved_path, err);
        if (result == TH_OK && outputs[i])
            result = th_file_probe(outputs[i], err);
    }
    return result;
}

int th_options_probe_files(const th_options *o)
{
    char saved[TH_BASELINE_MAX_PATH];
    th_error err;
    const char *const name = o->output.save, *const baseline = o->compare.baseline;
    const bool is_saved = name && th_baseline_path(name, saved, NULL) == TH_OK; /* if not, probing says why */
    const char *const outputs[OUTPUTS] = {o->render.path,          o->output.out,          o->output.report,
                                          is_saved ? saved : NULL, o->inspect.export_path, o->trace};
    if (replace_each_other(outputs) || replace_models(outputs, &o->models.models) ||
        replace_models(outputs, &o->models.animations) || (baseline && replace_baseline(outputs, baseline)) ||
        replace_results(outputs, &o->compare.files))
        return TH_EXIT_USAGE;
    return probe(outputs, name, saved, &err) == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}
