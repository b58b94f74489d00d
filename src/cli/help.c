#include "help.h"

#include <throng/core/text_format.h>

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
          "`throng help synthetic`: generated models for measurements.\n\n",
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

static void print_option(const th_option *o, int column, FILE *file)
{
    char head[HEAD], text[TH_OPTION_TEXT];
    write_head(o, head);
    th_help_option(o, text);
    fprintf(file, "  %-*s", column - 2, head);
    print_words(text, column, file);
}

/* The column of the descriptions: behind the longest option name. */
static int column_of(const th_command *command)
{
    char head[HEAD];
    int longest = 0;
    for (const th_option *o = th_option_table; o->name; o++)
        if ((o->commands & command->bit) && write_head(o, head) > longest)
            longest = write_head(o, head);
    return longest + 4;
}

void th_help_command(const th_command *command, FILE *file)
{
    fprintf(file, "throng %s: %s\n\nusage: throng %s [OPTIONS]%s%s\n\n%s\n", command->name, command->summary,
            command->name, command->operand ? " " : "", command->operand ? command->operand : "", command->details);
    const int column = column_of(command);
    for (const th_option *o = th_option_table; o->name; o++)
        if (o->commands & command->bit)
            print_option(o, column, file);
}
