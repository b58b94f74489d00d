#include "snapshot_process.h"

#include "memory_budget.h"

#include <core/subprocess.h>
#include <throng/anim/archive.h>

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_S     60         /* for a picture, with all that its first one needs */
#define ANSWER_BYTES (4u << 20) /* at most: more than the pixels of the largest */

/* ---- bytes ---- */

bool th_snapshot_send(int socket, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool th_snapshot_receive(int socket, void *out, size_t size)
{
    char *at = out;
    while (size > 0) {
        const ssize_t got = recv(socket, at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = EPIPE;
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

/* ---- the process ---- */

/* Mesa's software renderer would use all CPUs, which the crowd needs. */
th_result th_snapshot_process_start(uint64_t max_bytes, th_snapshot_process *out, th_error *err)
{
    static const char *const words[] = {"throng", TH_SNAPSHOT_COMMAND, NULL};
    static const char *const one_thread[] = {"LP_NUM_THREADS=0", NULL};
    const struct timeval limit = {ANSWER_S, 0};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "no sockets for the picture process: %s", strerror(errno));
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const th_subprocess_desc desc = {
        .program = "/proc/self/exe",
        .arguments = words,
        .variables = getenv("LP_NUM_THREADS") ? NULL : one_thread,
        .files = {ends[1], -1, STDERR_FILENO},
    };
    const int error = th_subprocess_start(&desc, &out->pid);
    close(ends[1]);
    out->socket = ends[0];
    if (!error) {
        th_memory_limit_process(out->pid, TH_PICTURES_BASE_BYTES + max_bytes);
        return TH_OK;
    }
    close(ends[0]);
    out->pid = 0;
    return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start the picture process: %s", strerror(error));
}

void th_snapshot_process_end(th_snapshot_process *p)
{
    close(p->socket);
    th_subprocess_kill(p->pid);
    p->pid = 0;
}

uint64_t th_snapshot_process_cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* ---- the conversation ---- */

/* It has ended or is about to, or is too slow. */
static th_result lost(const th_snapshot_process *p, th_error *err)
{
    siginfo_t end = {0};
    if (errno == EAGAIN)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the picture process took more than %d s", ANSWER_S);
    if (errno != EPIPE && errno != ECONNRESET)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the picture process cannot be reached: %s", strerror(errno));
    while (waitid(P_PID, (id_t)p->pid, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    return th_fail(err, TH_ERR_ENVIRONMENT, "the picture process ended with %s %d",
                   end.si_code == CLD_EXITED ? "exit code" : "signal", end.si_status);
}

th_result th_snapshot_process_set_scene(const th_snapshot_process *p, const th_snapshot_scene *scene,
                                        const th_model_cache *models, th_error *err)
{
    assert(scene->model_count == models->count && scene->count <= TH_SNAPSHOT_CHARACTERS);
    bool is_sent = th_snapshot_send(p->socket, scene, sizeof *scene);
    for (uint32_t m = 0; is_sent && m < models->count; m++) {
        size_t size;
        uint8_t *archive = th_archive_write(models->models[m], &size);
        if (!archive)
            return th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
        is_sent = th_snapshot_send(p->socket, archive, size);
        free(archive);
    }
    return is_sent ? TH_OK : lost(p, err);
}

th_result th_snapshot_process_render(const th_snapshot_process *p, const th_snapshot_request *request, size_t *out_size,
                                     th_error *err)
{
    th_snapshot_answer answer;
    if (!th_snapshot_send(p->socket, request, sizeof *request) ||
        !th_snapshot_receive(p->socket, &answer, sizeof answer))
        return lost(p, err);
    *out_size = answer.size;
    if (answer.result == TH_OK && answer.size <= ANSWER_BYTES)
        return TH_OK;
    err->code = TH_ERR_ENVIRONMENT;
    memset(err->text, 0, sizeof err->text);
    if (answer.size >= sizeof err->text || !th_snapshot_receive(p->socket, err->text, answer.size))
        return lost(p, err);
    return err->code;
}
