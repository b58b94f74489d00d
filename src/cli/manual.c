/* throng-manual FOLDER: writes the manual pages, throng.1 and throng-COMMAND.1, from the tables of commands and
 * options. It runs while throng is built, and is not installed. Source of the format: man(7). */
#include "help.h"
#include "synthetic_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const environment[][2] = {
    {"XDG_DATA_HOME", "where --save keeps results: $XDG_DATA_HOME/throng/baselines, or in ~/.local/share"},
    {"THRONG_PROGRESS", "off: show no progress; any other text: show it as on a terminal"},
    {"TMPDIR", "where serve keeps unlinked reports"},
    {"LP_NUM_THREADS", "threads of Mesa's software renderer; serve sets 0 unless it is set"},
};

/* ---- text ---- */

/* A dash is one that can be copied into a shell. */
static void write_escaped(const char *text, size_t length, FILE *file)
{
    if (length > 0 && (text[0] == '.' || text[0] == '\''))
        fputs("\\&", file);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\\')
            fputs("\\e", file);
        else
            fprintf(file, text[i] == '-' ? "\\-" : "%c", text[i]);
}

static void write_text(const char *text, FILE *file)
{
    write_escaped(text, strlen(text), file);
}

/* Lines are filled. Those that are indented are examples, and stay. */
static void write_lines(const char *text, FILE *file)
{
    bool is_example = false;
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        const size_t indent = strspn(text, " ");
        if (is_example != (indent > 0))
            fputs(is_example ? ".EE\n.in\n" : ".PP\n.in +4n\n.EX\n", file);
        is_example = indent > 0;
        if (length > 0) {
            write_escaped(text + indent, length - indent, file);
            fputc('\n', file);
        } else if (text[1] && text[1] != ' ') {
            fputs(".PP\n", file);
        }
    }
    if (is_example)
        fputs(".EE\n.in\n", file);
}

static void write_entry(const char *head, const char *text, FILE *file)
{
    fputs(".TP\n.B ", file);
    write_text(head, file);
    fputc('\n', file);
    write_text(text, file);
    fputc('\n', file);
}

/* ---- pages ---- */

/* command: NULL for the page of the program. */
static FILE *begin_page(const char *folder, const char *command, const char *summary)
{
    char path[4096];
    const char *dash = command ? "-" : "", *name = command ? command : "";
    if (snprintf(path, sizeof path, "%s/throng%s%s.1", folder, dash, name) >= (int)sizeof path)
        return NULL;
    FILE *file = fopen(path, "w");
    if (!file)
        return NULL;
    fprintf(file, ".TH throng%s%s 1 %s \"throng %s\" \"Throng\"\n", dash, name, TH_RELEASE_DATE, TH_RELEASE);
    fprintf(file, ".ad l\n.SH NAME\nthrong%s%s \\- ", *dash ? "\\-" : "", name);
    write_text(summary, file);
    fprintf(file, "\n.SH SYNOPSIS\n.B throng %s\n", name);
    return file;
}

static bool end_page(FILE *file)
{
    const bool is_written = !ferror(file);
    return fclose(file) == 0 && is_written;
}

static void write_options(const th_command *c, FILE *file)
{
    char text[TH_OPTION_TEXT];
    for (const th_option *o = th_option_table; o->name; o++) {
        if (!(o->commands & c->bit))
            continue;
        fputs(".TP\n\\fB\\-\\-", file);
        write_text(o->name, file);
        fprintf(file, o->argument ? "\\fR \\fI%s\\fR\n" : "\\fR\n", o->argument);
        th_help_option(o, text);
        write_text(text, file);
        fputc('\n', file);
    }
}

static bool write_command(const char *folder, const th_command *c)
{
    FILE *file = begin_page(folder, c->name, c->summary);
    if (!file)
        return false;
    fputs("[\\fIOPTIONS\\fR]", file);
    if (c->operand) {
        fputc(' ', file);
        write_text(c->operand, file);
    }
    fputs("\n.SH DESCRIPTION\n", file);
    write_lines(c->details, file);
    fputs(".SH OPTIONS\nAn option is \\fB\\-\\-name\\fR \\fIVALUE\\fR or \\fB\\-\\-name=\\fIVALUE\\fR.\n", file);
    write_options(c, file);
    fputs(".SH EXIT STATUS\nAs of all commands; see\n.BR throng (1).\n.SH SEE ALSO\n.BR throng (1)\n", file);
    return end_page(file);
}

static bool write_synthetic(FILE *file)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return false;
    th_help_synthetic(memory);
    const bool is_whole = fclose(memory) == 0;
    if (is_whole)
        write_lines(text, file);
    free(text);
    return is_whole;
}

static bool write_program(const char *folder)
{
    FILE *file = begin_page(folder, NULL, TH_SUMMARY);
    if (!file)
        return false;
    fputs("\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.br\n.B throng help\n[\\fICOMMAND\\fR]\n.br\n.B throng \\-\\-version\n"
          ".SH DESCRIPTION\nEach command has a page of its own. Without a model, they animate an embedded human.\n"
          ".SH COMMANDS\n",
          file);
    for (const th_command *c = th_command_table; c->name; c++)
        fprintf(file, ".TP\n.BR throng\\-%s (1)\n%s\n", c->name, c->summary);
    fputs(".SH SYNTHETIC MODELS\n", file);
    const bool is_whole = write_synthetic(file);
    fputs(".SH EXIT STATUS\n", file);
    for (const th_exit_meaning *e = th_exit_meanings; e->codes; e++)
        write_entry(e->codes, e->meaning, file);
    fputs(".SH ENVIRONMENT\n", file);
    for (size_t i = 0; i < sizeof environment / sizeof *environment; i++)
        write_entry(environment[i][0], environment[i][1], file);
    fputs(".SH SEE ALSO\n", file);
    for (const th_command *c = th_command_table; c->name; c++)
        fprintf(file, ".BR throng\\-%s (1)%s\n", c->name, c[1].name ? "," : "");
    return end_page(file) && is_whole;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: throng-manual FOLDER\n", stderr);
        return 2;
    }
    bool is_whole = write_program(argv[1]);
    for (const th_command *c = th_command_table; c->name; c++)
        is_whole = write_command(argv[1], c) && is_whole;
    if (!is_whole)
        fprintf(stderr, "throng-manual: cannot write into %s: %s\n", argv[1], strerror(errno));
    return is_whole ? 0 : 4;
}
