#include <cli/run.h>

#include "measuring.h"

#include <bench/context.h>
#include <bench/page.h>
#include <bench/result_file.h>
#include <core/file.h>
#include <core/json.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool th_run_has_option(const th_run *run, const char *name)
{
    for (uint32_t i = 0; i < run->option_count; i++)
        if (strcmp(run->options[i], name) == 0)
            return true;
    return false;
}

/* ---- the result ---- */

bool th_output_json(json_t *document, int digits, FILE *file)
{
    const bool written = document && th_json_write(document, digits, file);
    json_decref(document);
    return written;
}

/* Writes the command line of the run, quoted for a shell. */
static bool write_command(const void *of, th_form form, FILE *file)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    const th_run *run = of;
    (void)form;
    fprintf(file, "%s %s", run->program ? run->program : "throng", run->command->name);
    for (int i = 0; i < run->word_count; i++) {
        const char *word = run->words[i];
        if (word[0] && word[strspn(word, plain)] == '\0') {
            fprintf(file, " %s", word);
            continue;
        }
        fputs(" '", file);
        for (; *word; word++)
            fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, file);
        fputc('\'', file);
    }
    return true;
}

/* ---- baselines ---- */

bool th_baseline_is_name(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t length = strlen(text);
    return length > 0 && length <= 64 && strspn(text, letters) == length && text[0] != '.' && text[0] != '-';
}

bool th_baseline_is_meant(const char *word)
{
    struct stat status;
    const bool is_file = stat(word, &status) == 0 && !S_ISDIR(status.st_mode);
    return !is_file && th_baseline_is_name(word);
}

/* Paths that are not absolute must be ignored (XDG Base Directory Specification 0.8). */
static bool is_absolute(const char *path)
{
    return path && path[0] == '/';
}

th_result th_baseline_path(const char *name, char *path, th_error *err)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = 0;
    if (is_absolute(data))
        length = snprintf(path, TH_BASELINE_MAX_PATH, "%s/throng/baselines/%s.json", data, name);
    else if (is_absolute(home))
        length = snprintf(path, TH_BASELINE_MAX_PATH, "%s/.local/share/throng/baselines/%s.json", home, name);
    else
        return th_fail(err, TH_ERR_ENVIRONMENT, "no place for baselines: neither XDG_DATA_HOME nor HOME is a folder");
    if (length >= TH_BASELINE_MAX_PATH)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the path of the baselines is too long");
    return TH_OK;
}

/* ---- files ---- */

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

static int save(const th_run *run, const char *name, th_write_fn *write, const void *result)
{
    char path[TH_BASELINE_MAX_PATH];
    th_error err;
    if (th_baseline_path(name, path, &err) != TH_OK || th_file_make_folders(path, &err) != TH_OK)
        return th_fail_with(&err);
    if (run->is_partial && access(path, F_OK) == 0) {
        /* One that cannot be read may be of another version, and is kept. */
        th_result_file *before;
        bool is_whole = true;
        if (th_result_file_read(path, &before, &err) == TH_OK) {
            is_whole = !json_is_true(json_object_get(before->context, "partial"));
            th_result_file_free(before);
        }
        if (is_whole) {
            th_complain("the baseline %s stays what it was: the new result is partial", name);
            return TH_EXIT_GOOD;
        }
    }
    return write_file(path, TH_FORM_JSON, write, result);
}

int th_output_write(th_run *run, const th_output_options *o, th_write_fn *write, const void *result)
{
    const char *ending = o->out ? strrchr(o->out, '.') : NULL;
    const th_form form = ending && strcmp(ending, ".csv") == 0  ? TH_FORM_CSV
                         : ending && strcmp(ending, ".md") == 0 ? TH_FORM_MARKDOWN
                                                                : TH_FORM_JSON;
    /* Files first, because a closed pipe ends this program. */
    int codes[4] = {TH_EXIT_GOOD};
    if (o->out)
        codes[0] = write_file(o->out, form, write, result);
    if (o->report)
        codes[1] = write_file(o->report, TH_FORM_HTML, write_page, &(page){run, write, result});
    if (o->save)
        codes[2] = save(run, o->save, write, result);
    /* A stream that failed is for th_output_finish. */
    if (!write(result, o->json ? TH_FORM_JSON : TH_FORM_TEXT, stdout) && !ferror(stdout))
        codes[3] = th_fail_with(&(th_error){TH_ERR_MEMORY, "out of memory"});
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

/* ---- the trace ---- */

int th_run_begin_trace(th_run *run, const char *path)
{
    char name[64];
    th_error err;
    if (!path)
        return TH_EXIT_GOOD;
    snprintf(name, sizeof name, "throng %s", run->command->name);
    return th_tracer_create(name, &run->tracer, &err) == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}

int th_run_end_trace(th_run *run, const char *path, int code)
{
    th_tracer *tracer = run->tracer;
    run->tracer = NULL;
    if (!tracer || (code != TH_EXIT_GOOD && code != TH_EXIT_CHECK && !run->has_result)) {
        th_tracer_destroy(tracer);
        return code;
    }
    char *text = NULL, producer[128];
    size_t size = 0;
    th_error err = {TH_ERR_MEMORY, "no memory for a trace"};
    FILE *file = open_memstream(&text, &size);
    snprintf(producer, sizeof producer, "throng %s", th_context_version());
    th_result result = file ? th_tracer_write(tracer, producer, file, &err) : TH_ERR_MEMORY;
    if (file && fclose(file) != 0)
        result = TH_ERR_MEMORY;
    if (result == TH_OK)
        result = th_file_replace(path, &(struct iovec){text, size}, 1, &err);
    free(text);
    const th_tracer_extent extent = th_tracer_get_extent(tracer);
    if (result == TH_OK && extent.dropped > 0)
        th_complain("%s holds the last %s events, all from %.3f s on; %s before were dropped", path,
                    th_digits_from(extent.kept).text, (double)extent.complete_from_ns / 1e9,
                    th_digits_from(extent.dropped).text);
    th_tracer_destroy(tracer);
    const int written = result == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
    return code != TH_EXIT_GOOD ? code : written;
}

/* ---- the end ---- */

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
