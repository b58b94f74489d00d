#include "output.h"

#include <throng/json.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file to be replaced in one step. A temporary file beside it takes the bytes; renaming is atomic. What is no regular
 * file (a pipe, /dev/null) is written straight: replacing a device by a file would do harm. */
typedef struct target {
    char *path; /* symbolic links followed, so that a link stays one */
    char *temporary;
    FILE *file;
} target;

static void target_fini(target *t)
{
    if (t->file)
        fclose(t->file);
    if (t->temporary)
        unlink(t->temporary);
    free(t->temporary);
    free(t->path);
}

static bool open_temporary(target *t, mode_t mode)
{
    size_t size = strlen(t->path) + sizeof ".XXXXXX";
    t->temporary = malloc(size);
    if (!t->temporary)
        return false;
    snprintf(t->temporary, size, "%s.XXXXXX", t->path);
    int fd = mkstemp(t->temporary);
    if (fd < 0) {
        free(t->temporary);
        t->temporary = NULL;
        return false;
    }
    fchmod(fd, mode);
    t->file = fdopen(fd, "w");
    if (!t->file)
        close(fd);
    return t->file != NULL;
}

static bool target_init(target *t, const char *path)
{
    *t = (target){.path = realpath(path, NULL)};
    struct stat status;
    if (t->path && stat(t->path, &status) == 0) {
        if (S_ISREG(status.st_mode))
            return access(t->path, W_OK) == 0 && open_temporary(t, status.st_mode & 0777);
        t->file = fopen(t->path, "w");
        return t->file != NULL;
    }
    mode_t mask = umask(0);
    umask(mask);
    t->path = strdup(path);
    return t->path && open_temporary(t, 0666 & ~mask);
}

static bool target_commit(target *t)
{
    FILE *file = t->file;
    t->file = NULL;
    bool flushed = fflush(file) == 0 && (!t->temporary || fsync(fileno(file)) == 0);
    if (fclose(file) != 0 || !flushed)
        return false;
    if (!t->temporary)
        return true;
    if (rename(t->temporary, t->path) != 0)
        return false;
    free(t->temporary);
    t->temporary = NULL;
    return true;
}

static int refuse_file(const char *path)
{
    th_complain("cannot write %s: %s", path, strerror(errno));
    return TH_EXIT_INPUT;
}

int th_output_probe(const th_options *o)
{
    target t;
    struct stat status;
    if (!o->out)
        return TH_EXIT_GOOD;
    if (stat(o->out, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) /* a pipe opens once */
        return access(o->out, W_OK) == 0 ? TH_EXIT_GOOD : refuse_file(o->out);
    int code = target_init(&t, o->out) ? TH_EXIT_GOOD : refuse_file(o->out);
    target_fini(&t);
    return code;
}

static int write_file(const char *path, const json_t *document, int digits)
{
    target t;
    bool written = target_init(&t, path) && th_json_write(document, digits, t.file) && target_commit(&t);
    int code = written ? TH_EXIT_GOOD : refuse_file(path);
    target_fini(&t);
    return code;
}

int th_output_result(const th_options *o, json_t *document, int digits, bool (*print)(const void *ctx, FILE *file),
                     const void *ctx)
{
    int code = TH_EXIT_GOOD;
    bool complete = document != NULL;
    if (complete && o->out) /* first: a reader that closes the pipe ends this program */
        code = write_file(o->out, document, digits);
    if (complete && o->json)
        th_json_write(document, digits, stdout); /* what goes wrong here shows in th_output_finish */
    else if (complete)
        complete = print(ctx, stdout);
    json_decref(document);
    if (complete)
        return code;
    th_complain("out of memory");
    return TH_EXIT_ENVIRONMENT;
}

int th_complain_of_failures(const th_report *report)
{
    int code = TH_EXIT_GOOD;
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].failure[0]) {
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
