#include "help.h"

#include <anim/synthetic_text.h>
#include <core/text_format.h>

#include <string.h>

const th_exit_meaning th_exit_meanings[] = {
    {"0", "success"},
    {"1", "failed check or slower"},
    {"2", "usage error"},
    {"3", "unusable file"},
    {"4", "missing on this machine (display, memory, driver, program)"},
    {"5", "comparison undecided: measure more"},
    {"130 or 143", "interrupted by SIGINT or SIGTERM"},
    {0},
};

enum { LINE = 100, HEAD = 64 };

/* Prints words wrapped to lines that begin at `column`; the output is already there. */
static void print_words(const char *text, int column, FILE *file)
{
    int at = column;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (at > column && at + 1 + length > LINE) {
            fprintf(file, "\n%*s", column, "");
            at = column;
        }
        at += fprintf(file, "%s%.*s", at > column ? " " : "", length, text);
        text += length;
        text += *text == ' ';
    }
    fputc('\n', file);
}

void th_help_program(FILE *file)
{
    fputs("Throng " TH_SUMMARY ".\n\nusage: throng COMMAND [OPTIONS]\n\n", file);
    for (const th_command *c = th_command_table; c->name; c++)
        fprintf(file, "  %-10s%s\n", c->name, c->summary);
    fputs("\n`throng help COMMAND` shows a command's options. The default model is an embedded human.\n"
          "`throng help options`: those that many commands share. `throng help synthetic`: generated models.\n\n",
          file);
    char text[512] = "";
    for (const th_exit_meaning *e = th_exit_meanings; e->codes; e++)
        th_append(text, sizeof text, "%s%s %s", e == th_exit_meanings ? "" : ", ", e->codes, e->meaning);
    print_words(text, fprintf(file, "exit codes: "), file);
}

/* ---- a command ---- */

/* "--count N" */
static int write_head(const th_option *o, char head[HEAD])
{
    return snprintf(head, HEAD, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
}

void th_help_option(const th_option *o, char text[TH_OPTION_TEXT])
{
    snprintf(text, TH_OPTION_TEXT, "%s%s%s%s%s", o->help, o->fallback ? " (default: " : "",
             o->fallback ? o->fallback : "", o->fallback ? ")" : "",
             o->repeatable && o->argument ? "; repeatable" : "");
}

static const char *const group_names[TH_GROUP_COUNT] = {
    [TH_GROUP_MODEL] = "Models and clips", [TH_GROUP_PICTURE] = "Pictures", [TH_GROUP_OUTPUT] = "Results"};

/* Prints the options of a group that these commands take, one below the other, described behind the longest name. */
static void print_options(uint32_t commands, th_option_group group, FILE *file)
{
    char head[HEAD], text[TH_OPTION_TEXT];
    int longest = 0;
    for (const th_option *o = th_option_table; o->name; o++)
        if ((o->commands & commands) && o->group == group && write_head(o, head) > longest)
            longest = write_head(o, head);
    for (const th_option *o = th_option_table; o->name; o++) {
        if (!(o->commands & commands) || o->group != group)
            continue;
        write_head(o, head);
        th_help_option(o, text);
        fprintf(file, "  %-*s", longest + 2, head);
        print_words(text, longest + 4, file);
    }
}

void th_help_command(const th_command *command, FILE *file)
{
    fprintf(file, "throng %s: %s\n\nusage: throng %s [OPTIONS]%s%s\n\n%s\n", command->name, command->summary,
            command->name, command->operand ? " " : "", command->operand ? command->operand : "", command->details);
    fputs("Options that commands share, which `throng help options` describes:\n", file);
    for (th_option_group group = TH_GROUP_MODEL; group < TH_GROUP_COUNT; group++) {
        char names[512] = ""; /* "Pictures: --size, --scene" */
        for (const th_option *o = th_option_table; o->name; o++)
            if ((o->commands & command->bit) && o->group == group)
                th_append(names, sizeof names, "%s--%s", names[0] ? ", " : "", o->name);
        if (names[0])
            print_words(names, fprintf(file, "%s: ", group_names[group]), file);
    }
    fputc('\n', file);
    print_options(command->bit, TH_GROUP_NONE, file);
}

void th_help_options(FILE *file)
{
    fputs("Options that several commands share; `throng help COMMAND` says which a command takes.\n", file);
    for (th_option_group group = TH_GROUP_MODEL; group < TH_GROUP_COUNT; group++) {
        fprintf(file, "\n%s:\n\n", group_names[group]);
        print_options(UINT32_MAX, group, file);
    }
}

void th_help_synthetic(FILE *file)
{
    const th_synthetic_desc usual = TH_SYNTHETIC_DEFAULT;
    fputs("throng --model synthetic:KEY=VALUE,...: a generated model, instead of a file\n\n"
          "Measures how the cost of a pose depends on one quantity while the others stay the same, as in\n\n"
          "  throng bench --filter '^pose/|^limit/' --model synthetic:shape=star,joints=200\n\n"
          "The same text gives the same model on every machine. Keys and defaults:\n\n",
          file);
    for (const th_synthetic_key *k = th_synthetic_keys; k->name; k++) {
        const void *field = (const char *)&usual + k->offset;
        const bool is_small = k->size == sizeof(uint32_t);
        const uint64_t value = k->words ? 0 : is_small ? *(const uint32_t *)field : *(const uint64_t *)field;
        char head[64]; /* "joints=64" */
        snprintf(head, sizeof head, "%s", k->name);
        if (k->words)
            th_append(head, sizeof head, "=%s", k->words[0]);
        else if (value > 0)
            th_append(head, sizeof head, "=%llu", (unsigned long long)value);
        fprintf(file, "  %-14s%s", head, k->help);
        if (!k->words && is_small)
            fprintf(file, "; %llu to %llu", (unsigned long long)k->low, (unsigned long long)k->high);
        fputc('\n', file);
    }
    fprintf(file, "\n(joints + weights) * clips * keys may be at most %u.\n", TH_SYNTHETIC_MAX_WORK);
}
