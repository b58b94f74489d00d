#include "complete.h"

#include "baseline.h"
#include "help.h"
#include "synthetic_text.h"
#include <cli/options.h>

#include <dirent.h>
#include <string.h>

static void write_word(const char *word, const char *what, FILE *file)
{
    fprintf(file, "%s\t%s\n", word, what);
}

/* ---- values ---- */

static void write_baselines(FILE *file)
{
    char path[TH_BASELINE_MAX_PATH];
    if (th_baseline_path("any", path, NULL) != TH_OK)
        return;
    *strrchr(path, '/') = '\0';
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char *ending = strrchr(entry->d_name, '.');
        if (!ending || strcmp(ending, ".json") != 0)
            continue;
        *ending = '\0';
        if (th_baseline_is_name(entry->d_name))
            write_word(entry->d_name, "a saved result", file);
    }
    if (folder)
        closedir(folder);
}

/* Whether the choices are endings of files. */
static bool names_file(const th_option *o)
{
    return o->choices && (o->parse == th_parse_named_file || o->parse == th_parse_output);
}

static void write_files(const th_option *o, FILE *file)
{
    const bool is_folder = strcmp(o->argument, "DIR") == 0;
    fputs(is_folder ? "folders" : strcmp(o->argument, "FILE") == 0 ? "files" : "none", file);
    for (const char *const *c = o->choices; names_file(o) && *c; c++)
        fprintf(file, " %s", *c);
    fputc('\n', file);
}

/* begun: of a list, what stands before its last comma stays. */
static void write_choices(const th_option *o, const char *begun, FILE *file)
{
    const bool is_list = o->parse == th_parse_schedulers;
    const char *comma = is_list ? strrchr(begun, ',') : NULL;
    for (const char *const *c = o->choices; c && *c && !names_file(o); c++)
        fprintf(file, "%.*s%s\t\n", comma ? (int)(comma + 1 - begun) : 0, begun, *c);
    if (is_list && !comma)
        write_word("all", "each of them", file);
}

static void complete_value(const th_option *o, const char *begun, FILE *file)
{
    write_files(o, file);
    write_choices(o, begun, file);
    if (o->parse == th_parse_threads || o->parse == th_parse_thread_list)
        write_word("max", "one per usable CPU", file);
    if (o->parse == th_parse_name)
        write_baselines(file);
    if (strcmp(o->name, "model") == 0)
        write_word("human", "the embedded human", file);
}

/* ---- words ---- */

/* A command line up to the cursor. */
typedef struct line {
    const th_command *command;
    char *const *words; /* of the command */
    int count;
    const th_option *pending; /* its value comes next */
    bool has_operands_only;
} line;

static const th_option *find_own(const th_command *command, const char *word)
{
    const th_option *o = th_option_find(command, word + 2, strcspn(word + 2, "="));
    return o && (o->commands & command->bit) ? o : NULL;
}

static void read_word(line *l, char *const *word)
{
    if (l->pending) {
        l->pending = strcmp(*word, "=") == 0 ? l->pending : NULL;
    } else if (strcmp(*word, "--") == 0) {
        l->has_operands_only = l->command->bit != TH_COMMAND_COMPARE;
        if (!l->has_operands_only) {
            l->command = th_command_find("bench");
            l->count -= (int)(word + 1 - l->words);
            l->words = word + 1;
        }
    } else if (!l->has_operands_only && strncmp(*word, "--", 2) == 0 && !strchr(*word, '=')) {
        const th_option *o = find_own(l->command, *word);
        l->pending = o && o->argument ? o : NULL;
    }
}

static bool is_given(const line *l, const th_option *o)
{
    for (int i = 0; i < l->count - 1; i++)
        if (strncmp(l->words[i], "--", 2) == 0 && find_own(l->command, l->words[i]) == o)
            return true;
    return false;
}

static void complete_option(const line *l, FILE *file)
{
    fputs("none\n", file);
    for (const th_option *o = th_option_table; o->name; o++)
        if ((o->commands & l->command->bit) && (o->repeatable || !is_given(l, o)))
            fprintf(file, "--%s\t%s\n", o->name, o->help);
}

static void complete_operand(const line *l, FILE *file)
{
    static const char model[] = "--model";
    if (l->command->bit != TH_COMMAND_COMPARE) {
        complete_value(find_own(l->command, model), "", file);
    } else {
        fputs("files\n", file);
        write_baselines(file);
    }
}

static void complete_words(const th_command *command, int count, char *const *words, FILE *file)
{
    line l = {.command = command, .words = words, .count = count};
    for (int i = 0; i < count - 1; i++)
        read_word(&l, &words[i]);
    const char *begun = count > 0 ? words[count - 1] : "", *equals = strchr(begun, '=');
    const bool is_option = begun[0] == '-' && !l.has_operands_only;
    if (l.pending)
        complete_value(l.pending, strcmp(begun, "=") == 0 ? "" : begun, file);
    else if (is_option && equals && find_own(l.command, begun))
        complete_value(find_own(l.command, begun), equals + 1, file);
    else if (is_option || !l.command->operand)
        complete_option(&l, file);
    else
        complete_operand(&l, file);
}

static void complete_command(bool is_help, const char *begun, FILE *file)
{
    fputs("none\n", file);
    for (const th_command *c = th_command_table; c->name; c++)
        write_word(c->name, c->summary, file);
    if (is_help) {
        write_word(TH_HELP_OPTIONS, "those that many commands share", file);
        write_word(TH_SYNTHETIC_NAME, "generated models", file);
        return;
    }
    write_word("help", "show the commands, or the options of one", file);
    if (begun[0] == '-')
        write_word("--version", "show the version", file);
}

void th_complete(int count, char *const *words, FILE *file)
{
    const bool is_help = count == 2 && strcmp(words[0], "help") == 0;
    const th_command *c = count > 1 ? th_command_find(words[0]) : NULL;
    if (count < 2 || is_help)
        complete_command(is_help, count > 0 ? words[0] : "", file);
    else if (c)
        complete_words(c, count - 1, words + 1, file);
    else
        fputs("none\n", file);
}
