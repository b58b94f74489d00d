#include "help.h"

#include <cli/options.h>

#include <anim/synthetic.h>

#include <dirent.h>
#include <string.h>

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
            fprintf(file, "%s\ta saved result\n", entry->d_name);
    }
    if (folder)
        closedir(folder);
}

/* begun: of a list, what stands before its last comma stays. */
static void complete_value(const th_option *o, const char *begun, FILE *file)
{
    const bool are_endings = o->parse == th_parse_named_file || o->parse == th_parse_output;
    const bool is_list = o->parse == th_parse_schedulers;
    const char *comma = is_list ? strrchr(begun, ',') : NULL;
    fputs(strcmp(o->argument, "DIR") == 0 ? "folders" : strcmp(o->argument, "FILE") == 0 ? "files" : "none", file);
    for (const char *const *c = o->choices; are_endings && c && *c; c++)
        fprintf(file, " %s", *c);
    fputc('\n', file);
    for (const char *const *c = o->choices; !are_endings && c && *c; c++)
        fprintf(file, "%.*s%s\t\n", comma ? (int)(comma + 1 - begun) : 0, begun, *c);
    if (is_list && !comma)
        fputs("all\teach of them\n", file);
    if (o->parse == th_parse_threads || o->parse == th_parse_thread_list)
        fputs("max\tone per usable CPU\n", file);
    if (o->parse == th_parse_name)
        write_baselines(file);
    if (strcmp(o->name, "model") == 0)
        fputs("human\tthe embedded human\n", file);
}

/* ---- words ---- */

static const th_option *find_own(const th_command *command, const char *word)
{
    const th_option *o = th_option_find(command, word + 2, strcspn(word + 2, "="));
    return o && (o->commands & command->bit) ? o : NULL;
}

/* words: of the command up to the cursor, the last one is begun. */
static void complete_words(const th_command *command, int count, char *const *words, FILE *file)
{
    const char *begun = count > 0 ? words[count - 1] : "", *equals = strchr(begun, '=');
    const th_option *pending = NULL; /* its value comes next */
    bool has_operands_only = false;
    for (char *const *word = words, *const *const last = words + count - 1; word < last; word++) {
        if (pending) {
            pending = strcmp(*word, "=") == 0 ? pending : NULL;
        } else if (strcmp(*word, "--") == 0) {
            has_operands_only = command->bit != TH_COMMAND_COMPARE;
            if (!has_operands_only) { /* what follows is for bench */
                command = th_command_find("bench");
                words = word + 1;
                count = (int)(last + 1 - words);
            }
        } else if (!has_operands_only && strncmp(*word, "--", 2) == 0 && !strchr(*word, '=')) {
            const th_option *o = find_own(command, *word);
            pending = o && o->argument ? o : NULL;
        }
    }

    const bool is_option = begun[0] == '-' && !has_operands_only;
    if (pending) {
        complete_value(pending, strcmp(begun, "=") == 0 ? "" : begun, file);
    } else if (is_option && equals && find_own(command, begun)) {
        complete_value(find_own(command, begun), equals + 1, file);
    } else if (is_option || !command->operand) {
        fputs("none\n", file);
        for (const th_option *o = th_option_table; o->name; o++) {
            bool is_given = false;
            for (int i = 0; i < count - 1; i++)
                is_given = is_given || (strncmp(words[i], "--", 2) == 0 && find_own(command, words[i]) == o);
            if ((o->commands & command->bit) && (o->repeatable || !is_given))
                fprintf(file, "--%s\t%s\n", o->name, o->help);
        }
    } else if (command->bit == TH_COMMAND_COMPARE) {
        fputs("files\n", file);
        write_baselines(file);
    } else {
        complete_value(find_own(command, "--model"), "", file);
    }
}

void th_complete(int count, char *const *words, FILE *file)
{
    const bool is_help = count == 2 && strcmp(words[0], "help") == 0;
    const th_command *command = count > 1 ? th_command_find(words[0]) : NULL;
    if (command) {
        complete_words(command, count - 1, words + 1, file);
        return;
    }
    fputs("none\n", file);
    if (count >= 2 && !is_help)
        return;
    for (const th_command *c = th_command_table; c->name; c++)
        fprintf(file, "%s\t%s\n", c->name, c->summary);
    if (is_help) {
        fprintf(file, "%s\t%s\n", TH_HELP_OPTIONS, "those that many commands share");
        fprintf(file, "%s\t%s\n", TH_SYNTHETIC_NAME, "generated models");
        return;
    }
    fputs("help\tshow the commands, or the options of one\n", file);
    if (count > 0 && words[0][0] == '-')
        fputs("--version\tshow the version\n", file);
}
