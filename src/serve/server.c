#include <serve/server.h>

#include "http/address.h"
#include "http/http.h"
#include "process.h"
#include "server_state.h"

#include <core/clock.h>
#include <core/json.h>

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Tells systemd of the service's state, if it runs under systemd. */
#if TH_HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#else
#define sd_notify(unset, state)        ((void)0)
#define sd_notifyf(unset, format, ...) ((void)0)
#define sd_watchdog_enabled(unset, us) 0
#endif

#define HEARTBEAT_NS 1000000000u
#define STOP_S       1.5 /* for an orderly stop; then the process ends without one */

typedef struct server {
    const th_server_desc *desc;
    th_address address;
    th_address_text address_text;
    int listen_fd;
    int stop_fd; /* an eventfd: a signal has come */
    sigset_t signals;
    pthread_t signal_thread;
    bool has_signal_thread;
    atomic_bool is_ready;
    atomic_bool is_over; /* for the signal thread, with a SIGHUP: it ends */
    th_request_filter filter;
    th_server_state state;
    th_http *http;
} server;

th_result th_server_check(const th_server_desc *desc, th_error *err)
{
    assert(desc && desc->listen);
    th_address address;
    th_result result = th_address_parse(desc->listen, &address, err);
    if (result != TH_OK)
        return result;
    if (!th_address_is_loopback((struct sockaddr *)&address.bytes) && !desc->token_file)
        return th_fail(err, TH_ERR_INPUT,
                       "--listen %s can be reached from other machines and so needs a token: --token-file FILE",
                       desc->listen);
    return th_model_registry_check(&desc->registry, err);
}

/* ---- start and stop ---- */

/* The next signal to stop; -1: none came in time; SIGHUP: the server is over. */
static int wait_for_signal(server *s, const struct timespec *limit)
{
    int number;
    while ((number = sigtimedwait(&s->signals, NULL, limit)) == SIGHUP ? !atomic_load(&s->is_over)
                                                                       : number < 0 && errno == EINTR)
        if (number == SIGHUP)
            th_log(TH_LOG_INFO,
                   "SIGHUP: there is nothing to reload; settings change through the API, others by a restart");
    return number;
}

/* Without waiting for threads: subprocesses die with them, and none has a file open that matters. */
static _Noreturn void end_process(int code)
{
    th_leftovers_remove(NULL);
    th_log(TH_LOG_INFO, code ? "ended at once" : "stopped, although a crowd was being built");
    _exit(code);
}

/* Waits for the signal to stop. While the first crowd is built there is nothing to put in order; later there is a
 * limit, and a second signal ends the process at once. */
static void *watch_signals(void *arg)
{
    server *s = arg;
    const uint64_t one = 1;
    int number = wait_for_signal(s, NULL);
    if (number == SIGHUP)
        return NULL;
    th_log(TH_LOG_INFO, "signal %d: stopping", number);
    ssize_t ignored = write(s->stop_fd, &one, sizeof one);
    (void)ignored;
    const double limit_s = atomic_load(&s->is_ready) ? STOP_S : 0;
    const struct timespec limit = {(time_t)limit_s, (long)(fmod(limit_s, 1) * 1e9)};
    number = wait_for_signal(s, &limit);
    if (number == SIGHUP)
        return NULL;
    end_process(number > 0 ? 128 + number : 0);
}

/* Creates the crowd and the run manager before lowering this thread's priority, which their threads would inherit. */
static th_result start(server *s, th_error *err)
{
    const th_server_desc *d = s->desc;
    struct stat status;
    if (d->results && (stat(d->results, &status) != 0 || !S_ISDIR(status.st_mode) || access(d->results, W_OK) != 0))
        return th_fail(err, TH_ERR_INPUT, "--results %s is not a writable folder", d->results);
    th_result result = th_address_parse(d->listen, &s->address, err);
    if (result != TH_OK)
        return result;

    /* Blocks signals before threads start, because they inherit the mask. */
    sigemptyset(&s->signals);
    sigaddset(&s->signals, SIGTERM);
    sigaddset(&s->signals, SIGINT);
    sigaddset(&s->signals, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &s->signals, NULL);
    s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const int error = s->stop_fd < 0 ? errno : pthread_create(&s->signal_thread, NULL, watch_signals, s);
    s->has_signal_thread = !error;
    if (error)
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start a thread: %s", strerror(error));
    result = th_address_listen(&s->address, &s->listen_fd, err);
    if (result != TH_OK)
        return result;

    /* Who may ask. */
    static char machine[256];
    for (uint32_t h = 0; h < d->host_count && h + 1 < TH_REQUEST_FILTER_HOSTS; h++)
        s->filter.hosts[s->filter.host_count++] = d->hosts[h];
    s->filter.listen = (struct sockaddr *)&s->address.bytes;
    if (!th_address_is_loopback(s->filter.listen) && gethostname(machine, sizeof machine - 1) == 0)
        s->filter.hosts[s->filter.host_count++] = machine;
    result = th_token_read(d->token_file, &s->filter.token, err);
    if (result != TH_OK)
        return result;

    /* Returns large blocks to the system when they are freed; by default glibc raises the threshold with the size of
     * freed blocks. Raises the limit of descriptors, for connections. */
    struct rlimit files;
    const rlim_t wanted = 2 * (TH_HTTP_CONNECTIONS + TH_HTTP_PENDING);
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_ARENA_MAX, 2);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < wanted) {
        files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &files);
    }

    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    s->address_text = th_address_print((struct sockaddr *)&s->address.bytes);
    s->state.listen = s->address_text.text;
    s->state.registry = d->registry;
    s->state.limits = d->limits;
    s->state.run_kinds = d->run_kinds;
    s->state.fixed = d->controller;
    s->state.fixed.model_cache.registry = &s->state.registry;
    s->state.memory = (th_memory_budget)TH_MEMORY_BUDGET(d->limits.max_memory_bytes);
    s->state.fixed.model_cache.memory = s->state.fixed.simulation.memory = &s->state.memory;
    s->state.start_ns = th_clock_ns();
    s->state.has_systemd = TH_HAVE_SYSTEMD;
    strftime(s->state.started, sizeof s->state.started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    th_context_read(&s->state.machine);
    result = th_controller_create(&s->state.fixed, &d->settings, &s->state.controller, err);
    const th_run_manager_desc runs = {.kinds = d->run_kinds,
                                      .results = d->results,
                                      .registry = &s->state.registry,
                                      .controller = s->state.controller,
                                      .limits = d->limits,
                                      .memory = &s->state.memory,
                                      .fixed = d->run_fixed};
    if (result == TH_OK)
        result = th_run_manager_create(&runs, &s->state.run_manager, err);
    th_thread_lower_priority();
    if (result == TH_OK)
        result = th_snapshot_service_create(s->state.controller, &s->state.fixed, &s->state.snapshots, err);
    if (result == TH_OK) {
        result = th_http_create(&s->filter, &s->state, s->listen_fd, &s->http, err);
        s->listen_fd = -1; /* now owned by http, or closed */
    }
    return result;
}

/* The crowd stops ticking first, so that everything else gets its CPUs, and goes last, because a build cannot be
 * interrupted. */
static void stop(server *s)
{
    sd_notify(0, "STOPPING=1");
    if (s->state.controller)
        th_controller_hold(s->state.controller, true);
    th_http_destroy(s->http);
    if (s->listen_fd >= 0)
        close(s->listen_fd);
    th_snapshot_service_destroy(s->state.snapshots);
    th_run_manager_destroy(s->state.run_manager);
    if (s->state.controller && th_controller_read(s->state.controller).reconfiguring)
        end_process(0);
    th_leftovers_remove(NULL);
    th_controller_destroy(s->state.controller);
    if (s->has_signal_thread) {
        atomic_store(&s->is_over, true);
        pthread_kill(s->signal_thread, SIGHUP);
        pthread_join(s->signal_thread, NULL);
    }
    if (s->stop_fd >= 0)
        close(s->stop_fd);
}

/* Whether it is; then says when it is again. What was not done in time is not made up for. */
static bool is_due(uint64_t *due_ns, uint64_t period_ns)
{
    const uint64_t now_ns = th_clock_ns();
    if (now_ns < *due_ns)
        return false;
    *due_ns = *due_ns + period_ns < now_ns ? now_ns + period_ns : *due_ns + period_ns;
    return true;
}

th_result th_server_run(const th_server_desc *desc, th_error *err)
{
    assert(desc && desc->listen && desc->run_kinds);
    server *s = calloc(1, sizeof *s);
    if (!s)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a server");
    s->desc = desc;
    s->listen_fd = s->stop_fd = -1;
    th_result result = start(s, err);
    if (result == TH_OK) {
        printf(s->address.bytes.ss_family == AF_UNIX ? "%s\n" : "http://%s/\n", s->address_text.text);
        fflush(stdout);
        th_log(TH_LOG_INFO, "listening on %s%s", s->address_text.text,
               s->filter.token.text[0]                 ? ", with a token"
               : s->address.bytes.ss_family == AF_UNIX ? ", for this user and root"
                                                       : ", open to every user of this machine");
        sd_notifyf(0, "READY=1\nSTATUS=%s", s->address_text.text);
        atomic_store(&s->is_ready, true);

        /* A quarter, so that one keep-alive may come late. */
        uint64_t watchdog_us = 0, due_ns = th_clock_ns() + HEARTBEAT_NS, tick_loop_before_ns = 0;
        const bool is_watched = sd_watchdog_enabled(0, &watchdog_us) > 0;
        const uint64_t quarter_ns = watchdog_us * 1000 / 4;
        const uint64_t keep_alive_ns = quarter_ns < HEARTBEAT_NS ? quarter_ns : HEARTBEAT_NS;
        uint64_t keep_alive_due_ns = is_watched ? th_clock_ns() : UINT64_MAX;
        const int snapshot_fd = th_snapshot_service_fd(s->state.snapshots);
        th_server_state_heartbeat(&s->state);
        for (bool stops = false; !stops;) {
            int to_http_ms;
            const int http_fd = th_http_fd(s->http, &to_http_ms);
            struct pollfd fds[] = {{http_fd, POLLIN, 0}, {s->stop_fd, POLLIN, 0}, {snapshot_fd, POLLIN, 0}};
            uint64_t count;
            const uint64_t now_ns = th_clock_ns(), next_ns = due_ns < keep_alive_due_ns ? due_ns : keep_alive_due_ns;
            const int to_next_ms = now_ns < next_ns ? (int)((next_ns - now_ns) / 1000000 + 1) : 0;
            poll(fds, 3, to_http_ms >= 0 && to_http_ms < to_next_ms ? to_http_ms : to_next_ms);
            stops = fds[1].revents != 0;
            if (fds[2].revents && read(snapshot_fd, &count, sizeof count) > 0)
                th_http_wake(s->http);
            if (is_due(&keep_alive_due_ns, keep_alive_ns)) {
                /* The service is alive only if the tick loop makes progress. */
                const uint64_t tick_loop_ns = th_tick_loop_read(s->state.controller->tick_loop).now_ns;
                if (tick_loop_ns != tick_loop_before_ns)
                    sd_notify(0, "WATCHDOG=1");
                tick_loop_before_ns = tick_loop_ns;
            }
            if (is_due(&due_ns, HEARTBEAT_NS)) {
                th_server_state_heartbeat(&s->state);
                json_t *json = th_state_json(&s->state);
                char *text = th_json_line(json, 9);
                if (text)
                    th_http_publish(s->http, "state", text);
                free(text);
                json_decref(json);
                th_http_wake(s->http);
                th_http_close_stalled(s->http);
            }
            th_http_run(s->http);
        }
    }
    stop(s);
    if (result == TH_OK)
        th_log(TH_LOG_INFO, "stopped");
    free(s);
    return result;
}
