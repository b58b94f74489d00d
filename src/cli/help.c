#include "help.h"

#include "option.h"

#include <string.h>

void th_help_program(FILE *file)
{
    fputs("Throng animates crowds of skinned characters on all cores and measures how fast that is.\n\n"
          "usage: throng COMMAND [OPTIONS]\n\n",
          file);
    for (const th_command *c = th_command_table; c->name; c++)
        fprintf(file, "  %-10s%s\n", c->name, c->summary);
    fputs("\n`throng help COMMAND` shows a command's options. The default model is an embedded human.\n"
          "`throng help synthetic`: generated models for measurements.\n"
          "\nexit codes: 0 success, 1 failed check or slower, 2 usage error, 3 unusable file,\n"
          "            4 missing on this machine (display, memory, driver, program),\n"
          "            5 comparison undecided: measure more,\n"
          "            130 or 143 interrupted by SIGINT or SIGTERM\n",
          file);
}

/* ---- a command ---- */

enum { LINE = 100, HEAD = 64 };

/* "--count N" */
static int write_head(const th_option *o, char head[HEAD])
{
    return snprintf(head, HEAD, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
}

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

static void print_option(const th_option *o, int column, FILE *file)
{
    char head[HEAD], text[1024];
    write_head(o, head);
    snprintf(text, sizeof text, "%s%s%s%s%s", o->help, o->fallback ? " (default: " : "", o->fallback ? o->fallback : "",
             o->fallback ? ")" : "", o->repeatable && o->argument ? "; repeatable" : "");
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
