#include "ipc.h"

#include <throng/anim/archive.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ANSWER = STDERR_FILENO + 1 };

void ipc_open(void)
{
    if (dup3(STDOUT_FILENO, ANSWER, O_CLOEXEC) < 0 || close_range(ANSWER + 1, ~0U, 0) != 0)
        _exit(1);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        _exit(1);
    close(nowhere);
}

/* _exit, so that no code of Assimp runs any more. */
static _Noreturn void send(const uint8_t *bytes, size_t size)
{
    assert(bytes && size > 0);
    while (size > 0) {
        ssize_t sent = write(ANSWER, bytes, size);
        if (sent < 0 && errno != EINTR)
            _exit(1);
        if (sent > 0) {
            bytes += sent;
            size -= (size_t)sent;
        }
    }
    _exit(0);
}

void ipc_send_model(const th_model *model)
{
    size_t size;
    uint8_t *bytes = th_archive_write(model, &size);
    if (!bytes)
        give_up_memory();
    send(bytes, size);
}

/* The text may quote the file or Assimp: reduces it to one line without a full stop. */
static void tidy(char *text)
{
    char *last = NULL;
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ')
            *c = ' ';
        if (*c != ' ' && *c != '.')
            last = c;
    }
    if (last)
        last[1] = '\0';
}

void give_up(th_result code, const char *format, ...)
{
    assert(code != TH_OK);
    th_error error = {.code = code};
    va_list args;
    va_start(args, format);
    vsnprintf(error.text, sizeof error.text, format, args);
    va_end(args);
    tidy(error.text);
    size_t size;
    uint8_t *bytes = th_archive_write_error(&error, &size);
    if (!bytes)
        _exit(1);
    send(bytes, size);
}

void give_up_memory(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    give_up(TH_ERR_LIMIT, "the model needs more memory than the importer may use (%.0f MB)",
            (double)limit.rlim_cur / 1e6);
}
