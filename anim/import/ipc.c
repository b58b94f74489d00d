#include "ipc.h"

#include "model/archive.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static int answer_fd = STDOUT_FILENO;

void ipc_open(void)
{
    answer_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (answer_fd < 0 || nowhere < 0)
        _exit(1);
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
}

/* _exit, so that no code of Assimp runs any more. */
static _Noreturn void send(const uint8_t *bytes, size_t size)
{
    assert(bytes && size > 0);
    while (size > 0) {
        ssize_t sent = write(answer_fd, bytes, size);
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
    give_up(TH_ERR_LIMIT, "the model needs more memory than the importer may use");
}
