#include <cli/output.h>

#include "baseline.h"
#include "interrupt.h"

#include <bench/page.h>
#include <bench/result_file.h>
#include <core/file.h>
#include <core/json.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool th_output_json(json_t *document, int digits, FILE *file)
{
    const bool written = document && th_json_write(document, digits, file);
    json_decref(document);
    return written;
}

/* Quotes a word for a shell. */
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

/* Writes the command line of the run. */
static bool write_command(const void *of, th_form form, FILE *file)
{
    const th_run *run = of;
    (void)form;
    fprintf(file, "%s %s", run->program ? run->program : "throng", run->command->name);
    for (int i = 0; i < run->word_count; i++)
        write_word(run->words[i], file);
    return true;
}

/* ---- files ---- */

static th_form form_of(const char *path)
{
    const char *ending = strrchr(path, '.');
    if (ending && strcmp(ending, ".csv") == 0)
        return TH_FORM_CSV;
    return ending && strcmp(ending, ".md") == 0 ? TH_FORM_MARKDOWN : TH_FORM_JSON;
}

/* NULL: out of memory. The caller frees it. */
static char *text_of(th_write_fn *write, th_form form, const void *result, size_t *size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    bool made = file && write(result, form, file);
    made = file && fclose(file) == 0 && made;
    if (made)
        return text;
    free(text);
    return NULL;
}

typedef struct page {
    const th_run *run;
    th_write_fn *write;
    const void *result;
} page;

static bool write_page(const void *of, th_form form, FILE *file)
{
    const page *p = of;
    char title[64];
    size_t size;
    const char *program = p->run->program ? strrchr(p->run->program, ' ') + 1 : "throng";
    snprintf(title, sizeof title, "%s %s", program, p->run->command->name);
    char *command = text_of(write_command, form, p->run, &size), *report = text_of(p->write, form, p->result, &size),
         *json = text_of(p->write, TH_FORM_JSON, p->result, &size);
    const bool made = command && report && json && th_page_write(title, command, report, json, file);
    free(command);
    free(report);
    free(json);
    return made;
}

/* Writes the text of the file only when it is complete. */
static int write_file(const char *path, th_form form, th_write_fn *write, const void *result)
{
    size_t size;
    th_error err = {TH_ERR_MEMORY, "out of memory"};
    char *text = text_of(write, form, result, &size);
    const bool kept = text && th_file_replace(path, &(struct iovec){text, size}, 1, &err) == TH_OK;
    free(text);
    return kept ? TH_EXIT_GOOD : th_fail_with(&err);
}

/* One that cannot be read may be of another version, and is kept. */
static bool is_whole(const char *path)
{
    th_result_file *results;
    th_error err;
    bool is_partial = access(path, F_OK) != 0;
    if (!is_partial && th_result_file_read(path, &results, &err) == TH_OK) {
        is_partial = json_is_true(json_object_get(results->context, "partial"));
        th_result_file_free(results);
    }
    return !is_partial;
}

static int save(const th_run *run, const char *name, th_write_fn *write, const void *result)
{
    char path[TH_BASELINE_MAX_PATH];
    th_error err;
    if (th_baseline_prepare(name, path, &err) != TH_OK)
        return th_fail_with(&err);
    if (run->is_partial && is_whole(path)) {
        th_complain("the baseline %s stays what it was: the new result is partial", name);
        return TH_EXIT_GOOD;
    }
    return write_file(path, TH_FORM_JSON, write, result);
}

static int print(th_form form, th_write_fn *write, const void *result)
{
    if (write(result, form, stdout) || ferror(stdout))
        return TH_EXIT_GOOD; /* th_output_finish reports a failed stream */
    return th_fail_with(&(th_error){TH_ERR_MEMORY, "out of memory"});
}

int th_output_write(th_run *run, const th_output_options *o, th_write_fn *write, const void *result)
{
    /* Files first, because a closed pipe ends this program. */
    const int codes[] = {
        o->out ? write_file(o->out, form_of(o->out), write, result) : TH_EXIT_GOOD,
        o->report ? write_file(o->report, TH_FORM_HTML, write_page, &(page){run, write, result}) : TH_EXIT_GOOD,
        o->save ? save(run, o->save, write, result) : TH_EXIT_GOOD,
        print(o->json ? TH_FORM_JSON : TH_FORM_TEXT, write, result),
    };
    run->has_result = true;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] != TH_EXIT_GOOD)
            return codes[i];
    return TH_EXIT_GOOD;
}

int th_output_report(th_run *run, const th_output_options *o, th_write_fn *write, const void *result,
                     const th_report *report)
{
    run->is_partial = report->is_partial;
    int code = th_output_write(run, o, write, result);
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].failure[0] && !report->rows[r].skipped) {
            th_complain("%s: %s", report->rows[r].name, report->rows[r].failure);
            code = TH_EXIT_CHECK;
        }
    return report->is_partial ? th_interrupt_code() : code;
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
