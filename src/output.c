#include "output.h"

#include "baseline.h"

#include <throng/file.h>
#include <throng/json.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int probe(const char *path)
{
    th_error err;
    return !path || th_file_probe(path, &err) == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}

static int probe_baseline(const char *name)
{
    char path[TH_BASELINE_MAX_PATH];
    th_error err;
    return th_baseline_prepare(name, path, &err) == TH_OK ? probe(path) : th_fail_with(&err);
}

/* As the system knows it, whether it is there or only its folder is. NULL when neither is. */
static char *resolved(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole)
        return whole;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(name - path)) : strdup("."), *known = NULL;
    if (folder)
        known = realpath(folder, NULL);
    if (known && asprintf(&whole, "%s/%s", known, name) < 0)
        whole = NULL;
    free(known);
    free(folder);
    return whole;
}

static bool is_same_file(const char *a, const char *b)
{
    char *first = resolved(a), *second = resolved(b);
    const bool same = first && second ? strcmp(first, second) == 0 : strcmp(a, b) == 0;
    free(first);
    free(second);
    return same;
}

/* One would replace the other. */
static int refuse_same_file(const th_options *o)
{
    const struct {
        const char *option, *path;
    } files[] = {
        {"out", o->out ? o->out : o->film}, {"report", o->report}, {"export", o->export_path}, {"trace", o->trace}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t j = 0; j < i && files[i].path; j++)
            if (files[j].path && is_same_file(files[i].path, files[j].path)) {
                th_complain("--%s and --%s are the same file, %s", files[j].option, files[i].option, files[i].path);
                return TH_EXIT_USAGE;
            }
    return TH_EXIT_GOOD;
}

int th_output_probe(const th_options *o)
{
    int code = refuse_same_file(o);
    if (code == TH_EXIT_GOOD)
        code = probe(o->out);
    if (code == TH_EXIT_GOOD)
        code = probe(o->report);
    if (code == TH_EXIT_GOOD && o->save)
        code = probe_baseline(o->save);
    if (code == TH_EXIT_GOOD)
        code = probe(o->export_path);
    return code == TH_EXIT_GOOD ? probe(o->trace) : code;
}

static int out_of_memory(void)
{
    th_complain("out of memory");
    return TH_EXIT_ENVIRONMENT;
}

static bool write_json(const th_output *output, const void *ctx, FILE *file)
{
    json_t *document = output->document(ctx);
    const bool written = document && th_json_write(document, output->digits, file);
    json_decref(document);
    return written;
}

static bool write_form(const th_output *output, const void *ctx, const char *ending, FILE *file)
{
    if (output->csv && strcmp(ending, ".csv") == 0)
        return output->csv(ctx, file);
    if (output->markdown && strcmp(ending, ".md") == 0)
        return output->markdown(ctx, file);
    return write_json(output, ctx, file);
}

/* The text of a file, made in memory first. */
typedef struct draft {
    char *text;
    size_t size;
    FILE *file; /* NULL when memory is out */
} draft;

static void begin_draft(draft *d)
{
    *d = (draft){.text = NULL};
    d->file = open_memstream(&d->text, &d->size);
}

/* Writes it, if it was made. */
static int end_draft(draft *d, bool made, const char *path)
{
    th_error err = {TH_ERR_MEMORY, "out of memory"};
    made = d->file && fclose(d->file) == 0 && made;
    const th_result result = made ? th_file_replace(path, &(struct iovec){d->text, d->size}, 1, &err) : TH_ERR_MEMORY;
    free(d->text);
    return result == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}

static int write_file(const char *path, const th_output *output, const void *ctx)
{
    const char *ending = strrchr(path, '.');
    draft d;
    begin_draft(&d);
    return end_draft(&d, d.file && write_form(output, ctx, ending ? ending : "", d.file), path);
}

/* ---- pages ---- */

/* As a shell takes it. */
static void write_word(const char *word, FILE *file)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    if (word[0] && word[strspn(word, plain)] == '\0') {
        fprintf(file, " %s", word);
        return;
    }
    fputs(" '", file);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, file);
    fputc('\'', file);
}

/* The line that this program was called with; NULL when memory is out. free() it. */
static char *command_line(const th_options *o)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    fprintf(file, "throng %s", o->command->name);
    for (int i = 0; i < o->word_count; i++)
        write_word(o->words[i], file);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static int write_page(const th_options *o, const th_output *output, const void *ctx)
{
    char *command = command_line(o);
    draft d;
    begin_draft(&d);
    const int code = end_draft(&d, command && d.file && output->page(ctx, command, d.file), o->report);
    free(command);
    return code;
}

static int save(const char *name, const th_output *output, const void *ctx)
{
    char path[TH_BASELINE_MAX_PATH];
    th_error err;
    return th_baseline_prepare(name, path, &err) == TH_OK ? write_file(path, output, ctx) : th_fail_with(&err);
}

int th_output_result(const th_options *o, const th_output *output, const void *ctx)
{
    /* The file first: a reader that closes the pipe ends this program. */
    int code = o->out ? write_file(o->out, output, ctx) : TH_EXIT_GOOD;
    if (code == TH_EXIT_GOOD && o->report)
        code = write_page(o, output, ctx);
    if (code == TH_EXIT_GOOD && o->save)
        code = save(o->save, output, ctx);
    const bool made = o->json ? write_json(output, ctx, stdout) : output->print(ctx, stdout);
    /* A stream that fails shows in th_output_finish. */
    return made || ferror(stdout) ? code : out_of_memory();
}

int th_complain_of_failures(const th_report *report)
{
    int code = TH_EXIT_GOOD;
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].failure[0] && !report->rows[r].left_out) {
            th_complain("%s: %s", report->rows[r].name, report->rows[r].failure);
            code = TH_EXIT_CHECK;
        }
    return code;
}

int th_output_finish(void)
{
    errno = 0;
    bool failed = fflush(stdout) != 0;
    if (!failed && !ferror(stdout))
        return TH_EXIT_GOOD;
    if (errno != EPIPE)
        th_complain("cannot write standard output: %s", errno ? strerror(errno) : "input/output error");
    return TH_EXIT_ENVIRONMENT;
}
