/* throng-manual FOLDER: writes the manual pages, throng.1 and throng-COMMAND.1, from the tables of commands and
 * options. It runs while throng is built, and is not installed. Source of the format: man(7). */
#include "help.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const environment[][2] = {
    {"XDG_DATA_HOME", "where --save keeps results: $XDG_DATA_HOME/throng/baselines, or in ~/.local/share"},
    {"THRONG_CHECK_SEED",
     "check the same frames and characters again as the result or the failure that names this number"},
    {"THRONG_PROGRESS", "off: show no progress; any other text: show it as on a terminal"},
    {"TMPDIR", "where serve keeps unlinked reports"},
    {"LP_NUM_THREADS", "threads of Mesa's software renderer; serve sets 0 unless it is set"},
};

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

/* The page of a command; NULL: of the program. */
static bool write_page(const char *folder, const th_command *c)
{
    char path[4096], option[TH_OPTION_TEXT], *synthetic = NULL;
    const char *dash = c ? "-" : "", *name = c ? c->name : "";
    if (snprintf(path, sizeof path, "%s/throng%s%s.1", folder, dash, name) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    bool is_whole = true;
    fprintf(file, ".TH throng%s%s 1 %s \"throng %s\" \"Throng\"\n", dash, name, TH_RELEASE_DATE, TH_RELEASE);
    fprintf(file, ".ad l\n.SH NAME\nthrong%s%s \\- ", c ? "\\-" : "", name);
    write_text(c ? c->summary : TH_SUMMARY, file);
    fprintf(file, "\n.SH SYNOPSIS\n.B throng %s\n", name);
    if (c) {
        fputs("[\\fIOPTIONS\\fR]", file);
        if (c->operand) {
            fputc(' ', file);
            write_text(c->operand, file);
        }
        fputs("\n.SH DESCRIPTION\n", file);
        write_lines(c->details, file);
        fputs(".SH OPTIONS\nAn option is \\fB\\-\\-name\\fR \\fIVALUE\\fR or \\fB\\-\\-name=\\fIVALUE\\fR.\n", file);
        for (const th_option *o = th_option_table; o->name; o++) {
            if (!(o->commands & c->bit))
                continue;
            fputs(".TP\n\\fB\\-\\-", file);
            write_text(o->name, file);
            fprintf(file, o->argument ? "\\fR \\fI%s\\fR\n" : "\\fR\n", o->argument);
            th_help_option(o, option);
            write_text(option, file);
            fputc('\n', file);
        }
        fputs(".SH EXIT STATUS\nAs of all commands; see\n.BR throng (1).\n.SH SEE ALSO\n.BR throng (1)\n", file);
    } else {
        fputs(
            "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.br\n.B throng help\n[\\fICOMMAND\\fR]\n.br\n.B throng \\-\\-version\n"
            ".SH DESCRIPTION\nEach command has a page of its own. Without a model, they animate an embedded human.\n"
            ".SH COMMANDS\n",
            file);
        for (const th_command *one = th_command_table; one->name; one++)
            fprintf(file, ".TP\n.BR throng\\-%s (1)\n%s\n", one->name, one->summary);
        fputs(".SH SYNTHETIC MODELS\n", file);
        size_t size;
        FILE *memory = open_memstream(&synthetic, &size);
        if (memory)
            th_help_synthetic(memory);
        is_whole = memory && fclose(memory) == 0;
        if (is_whole)
            write_lines(synthetic, file);
        free(synthetic);
        fputs(".SH EXIT STATUS\n", file);
        for (const th_exit_meaning *e = th_exit_meanings; e->codes; e++)
            write_entry(e->codes, e->meaning, file);
        fputs(".SH ENVIRONMENT\n", file);
        for (size_t i = 0; i < sizeof environment / sizeof *environment; i++)
            write_entry(environment[i][0], environment[i][1], file);
        fputs(".SH SEE ALSO\n", file);
        for (const th_command *one = th_command_table; one->name; one++)
            fprintf(file, ".BR throng\\-%s (1)%s\n", one->name, one[1].name ? "," : "");
    }
    is_whole = is_whole && !ferror(file);
    return fclose(file) == 0 && is_whole;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: throng-manual FOLDER\n", stderr);
        return 2;
    }
    bool is_whole = write_page(argv[1], NULL);
    for (const th_command *c = th_command_table; c->name; c++)
        is_whole = write_page(argv[1], c) && is_whole;
    if (!is_whole)
        fprintf(stderr, "throng-manual: cannot write into %s: %s\n", argv[1], strerror(errno));
    return is_whole ? 0 : 4;
}
