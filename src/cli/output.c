#include "output.h"

#include "baseline.h"
#include "model_set.h"

#include <throng/core/file.h>
#include <throng/core/json.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* ---- outputs that would overwrite each other or an input ---- */

/* Whether writing one file would replace the other. Anything but a regular file, such as /dev/null or a pipe, may be
 * named twice, because writing it replaces nothing. Existing files are compared by inode: a mount or a case-insensitive
 * file system has two names for one file. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    const bool has_first = stat(a, &first) == 0, has_second = stat(b, &second) == 0;
    if (has_first && has_second)
        return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
    if (has_first || has_second)
        return false;
    char *whole = th_file_resolve(a), *other = th_file_resolve(b);
    const bool same = whole && other && strcmp(whole, other) == 0;
    free(whole);
    free(other);
    return same;
}

/* An output option and its path; NULL when not given. */
typedef struct goal {
    const char *option, *path;
} goal;

enum { GOALS = 5 };

static int refuse_same_goal(const goal goals[GOALS])
{
    for (size_t i = 0; i < GOALS; i++)
        for (size_t j = 0; j < i && goals[i].path; j++)
            if (goals[j].path && is_same_file(goals[i].path, goals[j].path)) {
                th_complain("--%s and --%s are the same file, %s", goals[j].option, goals[i].option, goals[i].path);
                return TH_EXIT_USAGE;
            }
    return TH_EXIT_GOOD;
}

static int refuse_to_replace(const char *input, const goal goals[GOALS])
{
    for (size_t i = 0; i < GOALS; i++)
        if (goals[i].path && is_same_file(goals[i].path, input)) {
            th_complain("--%s would replace %s, which is to be read; they are the same file, %s", goals[i].option,
                        input, goals[i].path);
            return TH_EXIT_USAGE;
        }
    return TH_EXIT_GOOD;
}

static int refuse_to_replace_models(const th_file_list *models, const goal goals[GOALS])
{
    int code = TH_EXIT_GOOD;
    for (uint32_t m = 0; m < models->count && code == TH_EXIT_GOOD; m++)
        if (th_model_name_is_file(models->paths[m]))
            code = refuse_to_replace(models->paths[m], goals);
    return code;
}

static int refuse_to_replace_baseline(const char *name, const goal goals[GOALS])
{
    char path[TH_BASELINE_MAX_PATH];
    return th_baseline_path(name, path, NULL) == TH_OK ? refuse_to_replace(path, goals) : TH_EXIT_GOOD;
}

static int refuse_to_replace_results(const th_options *o, const goal goals[GOALS])
{
    int code = o->baseline ? refuse_to_replace_baseline(o->baseline, goals) : TH_EXIT_GOOD;
    for (uint32_t r = 0; r < o->result_files.count && code == TH_EXIT_GOOD; r++) {
        const char *word = o->result_files.paths[r];
        code = th_baseline_is_meant(word) ? refuse_to_replace_baseline(word, goals) : refuse_to_replace(word, goals);
    }
    return code;
}

/* If --save has no valid path, a later check reports it. */
static int refuse_losses(const th_options *o)
{
    char baseline[TH_BASELINE_MAX_PATH];
    const bool is_saved = o->save && th_baseline_path(o->save, baseline, NULL) == TH_OK;
    const goal goals[GOALS] = {{"out", o->out ? o->out : o->picture_path},
                               {"report", o->report},
                               {"save", is_saved ? baseline : NULL},
                               {"export", o->export_path},
                               {"trace", o->trace}};
    int code = refuse_same_goal(goals);
    if (code == TH_EXIT_GOOD)
        code = refuse_to_replace_models(&o->models, goals);
    if (code == TH_EXIT_GOOD)
        code = refuse_to_replace_models(&o->animations, goals);
    return code == TH_EXIT_GOOD ? refuse_to_replace_results(o, goals) : code;
}

int th_output_probe(const th_options *o)
{
    int code = refuse_losses(o);
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

/* The text of a file, built in memory. */
typedef struct draft {
    char *text;
    size_t size;
    FILE *file; /* NULL when out of memory */
} draft;

static void begin_draft(draft *d)
{
    *d = (draft){.text = NULL};
    d->file = open_memstream(&d->text, &d->size);
}

/* Writes the draft if it is complete. */
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

/* ---- reports ---- */

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

/* The command line of this program; NULL when out of memory. The caller frees it. */
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

static int print(const th_options *o, const th_output *output, const void *ctx)
{
    const bool made = o->json ? write_json(output, ctx, stdout) : output->print(ctx, stdout);
    /* th_output_finish reports a failed stream. */
    return made || ferror(stdout) ? TH_EXIT_GOOD : out_of_memory();
}

int th_output_result(const th_options *o, const th_output *output, const void *ctx)
{
    /* Files first, because a closed pipe ends this program. */
    const int codes[] = {
        o->out ? write_file(o->out, output, ctx) : TH_EXIT_GOOD,
        o->report ? write_page(o, output, ctx) : TH_EXIT_GOOD,
        o->save ? save(o->save, output, ctx) : TH_EXIT_GOOD,
        print(o, output, ctx),
    };
    if (o->has_result)
        *o->has_result = true;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] != TH_EXIT_GOOD)
            return codes[i];
    return TH_EXIT_GOOD;
}

int th_complain_of_failures(const th_report *report)
{
    int code = TH_EXIT_GOOD;
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].failure[0] && !report->rows[r].skipped) {
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
