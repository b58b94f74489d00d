#include "help.h"

#include "options.h"

#include <string.h>

void th_help_program(FILE *file)
{
    fputs("Throng animates crowds of skinned characters on all cores, and measures it.\n\n"
          "usage: throng COMMAND [OPTIONS]\n\n",
          file);
    for (const th_command *c = th_command_table; c->name; c++)
        fprintf(file, "  %-10s%s\n", c->name, c->summary);
    fputs("\n`throng help COMMAND` shows a command's options. Without a model, an embedded human is used.\n"
          "`throng help synthetic`: models made to order, to measure with.\n"
          "\nexit codes: 0 good, 1 a check failed or something became slower, 2 usage, 3 unusable file, 4 "
          "the machine lacks something\n",
          file);
}

static void print_option(const th_option *o, FILE *file)
{
    char head[32];
    snprintf(head, sizeof head, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    fprintf(file, "  %-20s%s", head, o->help);
    if (o->fallback)
        fprintf(file, " (default: %s)", o->fallback);
    if (o->repeatable && o->argument)
        fputs("; may be given again", file);
    fputc('\n', file);
}

void th_help_command(const th_command *command, FILE *file)
{
    fprintf(file, "throng %s: %s\n\nusage: throng %s [OPTIONS]%s%s\n\n%s\n", command->name, command->summary,
            command->name, command->operand ? " " : "", command->operand ? command->operand : "", command->details);
    for (const th_option *o = th_option_table; o->name; o++)
        if (o->commands & command->bit)
            print_option(o, file);
}
