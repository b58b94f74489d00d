#include "snapshot_service.h"

#include "process.h"

#include <anim/archive.h>
#include <core/arena.h>
#include <core/clock.h>
#include <core/subprocess.h>
#include <serve/log.h>
#include <serve/snapshot_ipc.h>

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000u
#define IDLE_NS   60000000000u /* the process is ended after this time without a request */
#define COOLDOWN  4u

#define ANSWER_S     60         /* of CPU time for a picture, with all that its first one needs; and without any */
#define ANSWER_BYTES (4u << 20) /* at most: more than the pixels of the largest */

/* A PNG that several replies may share. */
typedef struct snapshot {
    atomic_uint users;
    size_t size;
    char png[];
} snapshot;

struct th_snapshot_service {
    th_controller *controller;
    th_controller_desc fixed;
    pthread_t thread;
    int ready_fd;

    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    th_snapshot_view pending, current; /* a width of 0: none */
    bool stopped;
    th_snapshot_view view;      /* of the last snapshot */
    snapshot *last;             /* NULL: none yet, or it failed */
    th_error why;               /* the reason for a failure */
    uint64_t taken_ns, next_ns; /* when it was taken, and when the next may start */
    pid_t pid;                  /* of the process; 0: none */
    uint64_t ended_cpu_ns;      /* of processes that have ended */

    /* used only by the thread */
    int socket;            /* to the process */
    uint64_t crowd_number; /* of its scene */
    th_layout_kind layout; /* of its scene, too */
    uint64_t reserved;     /* for it */
};

/* ---- bytes ---- */

bool th_snapshot_send(int socket, const void *bytes, size_t size)
{
    ssize_t sent = 0;
    for (const char *at = bytes; size > 0; at += sent, size -= (size_t)sent) {
        sent = TEMP_FAILURE_RETRY(send(socket, at, size, MSG_NOSIGNAL));
        if (sent <= 0)
            return false;
    }
    return true;
}

bool th_snapshot_receive(int socket, void *out, size_t size)
{
    ssize_t got = 0;
    for (char *at = out; size > 0; at += got, size -= (size_t)got) {
        got = TEMP_FAILURE_RETRY(recv(socket, at, size, 0));
        if (got == 0)
            errno = EPIPE;
        if (got <= 0)
            return false;
    }
    return true;
}

/* ---- pictures ---- */

static void release(snapshot *s)
{
    if (s && atomic_fetch_sub_explicit(&s->users, 1, memory_order_acq_rel) == 1)
        free(s);
}

void th_snapshot_release(void *png)
{
    release((snapshot *)(void *)((char *)png - offsetof(snapshot, png)));
}

/* ---- the process ---- */

/* CPU time that it has used. Until its end. */
static uint64_t process_cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Starts it from this thread, with which it ends and whose priority it inherits. Half of the memory that is left is the
 * limit of its data. Mesa's software renderer would use all CPUs, which the crowd needs. */
static th_result start(th_snapshot_service *s, th_error *err)
{
    static const char *const words[] = {"throng", TH_SNAPSHOT_COMMAND, NULL};
    static const char *const one_thread[] = {"LP_NUM_THREADS=0", NULL};
    const struct timeval limit = {ANSWER_S, 0};
    int ends[2];
    pid_t pid;
    s->reserved = th_memory_reserve_part(s->fixed.simulation.memory, TH_MEMORY_PICTURES, 2);
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
    const int error = th_subprocess_start(&desc, &pid);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start the picture process: %s", strerror(error));
    }
    th_memory_limit_process(pid, TH_PICTURES_BASE_BYTES + s->reserved);
    s->socket = ends[0];
    pthread_mutex_lock(&s->lock);
    s->pid = pid;
    if (s->stopped)
        kill(pid, SIGKILL);
    pthread_mutex_unlock(&s->lock);
    return TH_OK;
}

/* Its id is forgotten before it can be another's. */
static void end(th_snapshot_service *s)
{
    pthread_mutex_lock(&s->lock);
    const pid_t pid = s->pid;
    if (pid)
        s->ended_cpu_ns += process_cpu_ns(pid);
    s->pid = 0;
    pthread_mutex_unlock(&s->lock);
    if (pid) {
        close(s->socket);
        th_subprocess_kill(pid);
    }
    th_memory_release(s->fixed.simulation.memory, TH_MEMORY_PICTURES, s->reserved);
    s->reserved = 0;
}

/* On a busy machine it may wait long for a CPU, as its priority is low: what it has used counts. False: it hangs. */
static bool await_answer(const th_snapshot_service *s)
{
    struct pollfd answer = {.fd = s->socket, .events = POLLIN};
    const uint64_t limit_ns = process_cpu_ns(s->pid) + (uint64_t)ANSWER_S * SECOND_NS;
    uint64_t before_ns, used_ns = 0;
    int ready;
    do {
        before_ns = used_ns;
        ready = (int)TEMP_FAILURE_RETRY(poll(&answer, 1, 1000 * (int)ANSWER_S));
        used_ns = process_cpu_ns(s->pid);
    } while (ready == 0 && used_ns > before_ns && used_ns < limit_ns);
    errno = EAGAIN;
    return ready > 0;
}

/* It has ended or is about to, or is too slow. */
static th_result lost(const th_snapshot_service *s, th_error *err)
{
    siginfo_t how = {0};
    if (errno == EAGAIN)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the picture process took more than %d s", ANSWER_S);
    if (errno != EPIPE && errno != ECONNRESET)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the picture process cannot be reached: %s", strerror(errno));
    while (waitid(P_PID, (id_t)s->pid, &how, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    return th_fail(err, TH_ERR_ENVIRONMENT, "the picture process ended with %s %d",
                   how.si_code == CLD_EXITED ? "exit code" : "signal", how.si_status);
}

/* The first instances of the current crowd. An instance depends on its index, not on the count. */
static th_result send_scene(th_snapshot_service *s, th_layout_kind layout, th_error *err)
{
    th_settings settings;
    th_memory_budget *memory = s->fixed.simulation.memory;
    th_model_cache *models = th_controller_acquire_models(s->controller, &settings, &s->crowd_number);
    s->layout = layout;
    if (settings.count > TH_SNAPSHOT_CHARACTERS)
        settings.count = TH_SNAPSHOT_CHARACTERS;
    th_snapshot_scene scene = {.compile = s->fixed.model_cache.compile,
                               .isa = s->fixed.simulation.isa,
                               .palette = s->fixed.simulation.palette,
                               .seed = s->fixed.simulation.seed,
                               .settings = settings,
                               .layout = layout,
                               .model_count = models->count,
                               .count = settings.count};
    scene.compile.model = NULL;
    scene.compile.interpolation = settings.interpolation;
    th_result result = th_simulation_assign_clips(&settings, models, scene.seed, scene.instances, err);
    if (result == TH_OK && !th_snapshot_send(s->socket, &scene, sizeof scene))
        result = lost(s, err);

    /* A model is an archive here while it is sent, one after the other. */
    size_t most = 0;
    for (uint32_t m = 0; m < models->count; m++) {
        const size_t bytes = th_arena_bytes(models->models[m]->arena);
        most = bytes > most ? bytes : most;
    }
    const bool fits = result == TH_OK && th_memory_reserve(memory, TH_MEMORY_PICTURES, most);
    if (result == TH_OK && !fits)
        result = th_fail(err, TH_ERR_LIMIT, "a picture needs another %.1f MB to send a model; %.1f MB are left",
                         (double)most / 1e6, (double)th_memory_left(memory) / 1e6);
    for (uint32_t m = 0; result == TH_OK && m < models->count; m++) {
        size_t size;
        uint8_t *archive = th_archive_write(models->models[m], &size);
        if (!archive)
            result = th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
        else if (!th_snapshot_send(s->socket, archive, size))
            result = lost(s, err);
        free(archive);
    }
    if (fits)
        th_memory_release(memory, TH_MEMORY_PICTURES, most);
    th_model_cache_release(models);
    return result;
}

/* Waits for the answer to a request: a picture or an error. */
static th_result ask(th_snapshot_service *s, const th_snapshot_request *request, snapshot **out, th_error *err)
{
    th_snapshot_answer answer;
    if (!th_snapshot_send(s->socket, request, sizeof *request) || !await_answer(s) ||
        !th_snapshot_receive(s->socket, &answer, sizeof answer))
        return lost(s, err);
    if (answer.result != TH_OK || answer.size > ANSWER_BYTES) {
        err->code = TH_ERR_ENVIRONMENT;
        memset(err->text, 0, sizeof err->text);
        if (answer.size >= sizeof err->text || !th_snapshot_receive(s->socket, err->text, answer.size))
            return lost(s, err);
        return err->code;
    }
    snapshot *fresh = malloc(sizeof *fresh + answer.size);
    if (!fresh)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    atomic_init(&fresh->users, 1);
    fresh->size = answer.size;
    if (!th_snapshot_receive(s->socket, fresh->png, answer.size)) {
        free(fresh);
        return th_fail(err, TH_ERR_ENVIRONMENT, "the picture process ended within a picture");
    }
    *out = fresh;
    return TH_OK;
}

static th_result render(th_snapshot_service *s, th_snapshot_view view, snapshot **out, th_error *err)
{
    th_result result = TH_OK;
    if (s->pid && (s->crowd_number != th_controller_read(s->controller).done || s->layout != view.layout))
        end(s);
    if (!s->pid && (result = start(s, err)) == TH_OK)
        result = send_scene(s, view.layout, err);
    th_tick_loop *loop = s->controller->tick_loop;
    th_snapshot_request request = {
        .time_s = th_tick_loop_read(loop).crowd_s, .width = view.width, .height = view.height};
    th_tick_loop_save_blends(loop, request.blends);
    if (result == TH_OK)
        result = ask(s, &request, out, err);
    if (result != TH_OK)
        end(s);
    return result;
}

/* ---- requests ---- */

/* With the lock. */
static uint64_t cpu_ns(const th_snapshot_service *s)
{
    const uint64_t living_ns = s->pid ? process_cpu_ns(s->pid) : 0;
    return th_thread_cpu_ns(s->thread) + s->ended_cpu_ns + living_ns;
}

/* Waits for a change or for the time; returns true if the time has passed. */
static bool wait_until(th_snapshot_service *s, uint64_t ns)
{
    const struct timespec when = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    return pthread_cond_timedwait(&s->changed, &s->lock, &when) == ETIMEDOUT;
}

static void *run_service(void *arg)
{
    th_snapshot_service *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->stopped) {
        if (s->pending.width && th_controller_read(s->controller).held) {
            s->pending.width = 0; /* not during a run; waiting requests get none */
        } else if (s->pending.width && th_clock_ns() < s->next_ns) {
            wait_until(s, s->next_ns);
        } else if (s->pending.width) {
            const uint64_t one = 1, begin_ns = cpu_ns(s);
            snapshot *fresh = NULL, *old = s->last;
            th_error why = {0};
            s->current = s->pending;
            s->pending.width = 0;
            pthread_mutex_unlock(&s->lock);
            render(s, s->current, &fresh, &why);
            pthread_mutex_lock(&s->lock);
            if (!fresh && !s->stopped && strcmp(why.text, s->why.text) != 0)
                th_log(TH_LOG_WARNING, "no picture: %s", why.text);
            s->view = s->current;
            s->current.width = 0;
            s->last = fresh;
            s->why = why;
            s->taken_ns = th_clock_ns();
            const uint64_t cooldown_ns = COOLDOWN * (cpu_ns(s) - begin_ns);
            s->next_ns = s->taken_ns + (cooldown_ns > SECOND_NS ? cooldown_ns : SECOND_NS);
            release(old);
            ssize_t ignored = write(s->ready_fd, &one, sizeof one);
            (void)ignored;
        } else if (!s->pid) {
            pthread_cond_wait(&s->changed, &s->lock);
        } else if (wait_until(s, s->taken_ns + IDLE_NS)) {
            pthread_mutex_unlock(&s->lock); /* requests must not wait for the end of a process */
            end(s);
            pthread_mutex_lock(&s->lock);
            release(s->last);
            s->last = NULL;
            s->taken_ns = 0;
        }
    }
    pthread_mutex_unlock(&s->lock);
    end(s);
    return NULL;
}

static bool is_same_view(const th_snapshot_view *a, const th_snapshot_view *b)
{
    return a->width == b->width && a->height == b->height && a->layout == b->layout;
}

th_snapshot_status th_snapshot_service_request(th_snapshot_service *s, const th_snapshot_view *view, char **out,
                                               size_t *out_size, th_error *err)
{
    assert(view->width >= TH_SNAPSHOT_MIN_SIDE && view->width <= TH_SNAPSHOT_MAX_WIDTH);
    assert(view->height >= TH_SNAPSHOT_MIN_SIDE && view->height <= TH_SNAPSHOT_MAX_HEIGHT);
    assert(out && out_size);
    th_snapshot_status answer = TH_SNAPSHOT_PENDING;
    pthread_mutex_lock(&s->lock);
    const bool is_same = !s->last || is_same_view(&s->view, view);
    const bool is_recent = s->taken_ns && th_clock_ns() < s->next_ns;
    if (!is_same || !is_recent) {
        if (!s->pending.width && !is_same_view(&s->current, view)) {
            s->pending = *view;
            pthread_cond_signal(&s->changed);
        }
    } else if (s->last) {
        atomic_fetch_add_explicit(&s->last->users, 1, memory_order_relaxed);
        *out = s->last->png;
        *out_size = s->last->size;
        answer = TH_SNAPSHOT_READY;
    } else {
        *err = s->why;
        answer = TH_SNAPSHOT_FAILED;
    }
    pthread_mutex_unlock(&s->lock);
    return answer;
}

/* ---- life ---- */

th_result th_snapshot_service_create(th_controller *controller, const th_controller_desc *fixed,
                                     th_snapshot_service **out, th_error *err)
{
    assert(controller && fixed && out);
    pthread_condattr_t attributes;
    *out = NULL;
    th_snapshot_service *s = calloc(1, sizeof *s);
    if (!s)
        return th_fail(err, TH_ERR_MEMORY, "no memory for pictures");
    *s = (th_snapshot_service){.controller = controller, .fixed = *fixed};
    s->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attributes);
    const int error = s->ready_fd < 0 ? errno : pthread_create(&s->thread, NULL, run_service, s);
    if (error) {
        if (s->ready_fd >= 0)
            close(s->ready_fd);
        free(s);
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start a thread: %s", strerror(error));
    }
    pthread_setname_np(s->thread, "throng-picture");
    *out = s;
    return TH_OK;
}

void th_snapshot_service_destroy(th_snapshot_service *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stopped = true;
    if (s->pid)
        kill(s->pid, SIGKILL); /* the thread may wait for its answer */
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    release(s->last);
    close(s->ready_fd);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int th_snapshot_service_fd(const th_snapshot_service *s)
{
    return s->ready_fd;
}

th_snapshot_cpu th_snapshot_service_cpu(th_snapshot_service *s)
{
    pthread_mutex_lock(&s->lock);
    const th_snapshot_cpu cpu = {cpu_ns(s), th_thread_cpu_ns(s->thread)};
    pthread_mutex_unlock(&s->lock);
    return cpu;
}
