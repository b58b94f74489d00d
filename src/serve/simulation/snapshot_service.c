#include "snapshot_service.h"

#include "thread.h"

#include <throng/core/clock.h>
#include <throng/serve/log.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000u
#define RETRY_NS  10000000000u /* no retry for this time after a failure */
#define IDLE_NS   60000000000u /* the renderer is cleared after this time without a request */
#define COOLDOWN  4u

/* A PNG that several replies may share. */
typedef struct snapshot {
    atomic_uint users;
    size_t size;
    char png[];
} snapshot;

typedef struct picture_size {
    uint32_t width, height; /* 0: none */
} picture_size;

struct th_snapshot_service {
    th_snapshot_renderer renderer;
    th_controller *controller;
    uint64_t seed;
    pthread_t thread;
    int ready_fd;

    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    picture_size pending, current;
    bool stopped;
    picture_size size;          /* of the last snapshot */
    snapshot *last;             /* NULL: none yet, or it failed */
    th_error why;               /* the reason for a failure */
    uint64_t taken_ns, next_ns; /* when it was taken, and when the next may start */

    /* used only by the thread */
    bool is_set_up;
    uint64_t crowd_number;
    th_model_cache *model_cache;
    th_settings settings;
    th_instance *instances;
};

/* ---- photos ---- */

static snapshot *new_snapshot(const unsigned char *png, size_t size)
{
    snapshot *fresh = malloc(sizeof *fresh + size);
    if (!fresh)
        return NULL;
    atomic_init(&fresh->users, 1);
    fresh->size = size;
    memcpy(fresh->png, png, size);
    return fresh;
}

static void release(snapshot *s)
{
    if (s && atomic_fetch_sub_explicit(&s->users, 1, memory_order_acq_rel) == 1)
        free(s);
}

void th_snapshot_release(void *png)
{
    release((snapshot *)(void *)((char *)png - offsetof(snapshot, png)));
}

/* ---- the renderer ---- */

static void clear(th_snapshot_service *s)
{
    if (s->is_set_up)
        s->renderer.clear(s->renderer.ctx);
    s->is_set_up = false;
    free(s->instances);
    s->instances = NULL;
    th_model_cache_release(s->model_cache);
    s->model_cache = NULL;
}

/* The first instances of the current crowd. An instance depends on its index, not on the count. */
static th_result set_up(th_snapshot_service *s, th_error *err)
{
    const uint32_t most = TH_SNAPSHOT_CHARACTERS;
    s->model_cache = th_controller_acquire_models(s->controller, &s->settings, &s->crowd_number);
    s->settings.count = s->settings.count < most ? s->settings.count : most;
    s->instances = calloc(s->settings.count, sizeof *s->instances);
    if (!s->instances)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    th_result result = th_simulation_assign_clips(&s->settings, s->model_cache, s->seed, s->instances, err);
    const th_snapshot_scene scene = {s->model_cache, &s->settings, s->instances};
    if (result == TH_OK)
        result = s->renderer.set_up(s->renderer.ctx, &scene, err);
    s->is_set_up = result == TH_OK;
    return result;
}

static th_result render(th_snapshot_service *s, picture_size o, snapshot **out, th_error *err)
{
    unsigned char *png = NULL;
    size_t size;
    th_result result = TH_OK;
    if (s->is_set_up && s->crowd_number != th_controller_read(s->controller).done)
        clear(s);
    if (!s->is_set_up)
        result = set_up(s, err);
    const double crowd_s = th_tick_loop_read(th_controller_tick_loop(s->controller)).crowd_s;
    if (result == TH_OK)
        result = s->renderer.render(s->renderer.ctx, crowd_s, o.width, o.height, &png, &size, err);
    if (result == TH_OK && !(*out = new_snapshot(png, size)))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    free(png);
    if (result != TH_OK)
        clear(s);
    return result;
}

/* ---- requests ---- */

/* Called with the lock, which it releases while it renders. */
static void serve_request(th_snapshot_service *s)
{
    const uint64_t one = 1, begin_ns = th_thread_cpu_ns(pthread_self());
    snapshot *fresh = NULL, *old = s->last;
    th_error why = {0};
    s->current = s->pending;
    s->pending = (picture_size){0};
    pthread_mutex_unlock(&s->lock);
    if (render(s, s->current, &fresh, &why) != TH_OK)
        th_log(TH_LOG_WARNING, "no picture: %s", why.text);
    pthread_mutex_lock(&s->lock);
    s->size = s->current;
    s->current = (picture_size){0};
    s->last = fresh;
    s->why = why;
    s->taken_ns = th_clock_ns();
    const uint64_t cooldown_ns = COOLDOWN * (th_thread_cpu_ns(pthread_self()) - begin_ns);
    s->next_ns = s->taken_ns + (cooldown_ns > SECOND_NS ? cooldown_ns : SECOND_NS);
    release(old);
    ssize_t ignored = write(s->ready_fd, &one, sizeof one);
    (void)ignored;
}

/* Waits for a change or for the time; returns true if the time has passed. */
static bool wait_until(th_snapshot_service *s, uint64_t ns)
{
    const struct timespec when = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    return pthread_cond_timedwait(&s->changed, &s->lock, &when) == ETIMEDOUT;
}

/* Frees the renderer after a long time without requests. Unlocked, because requests must not wait for a driver. */
static void drop_context(th_snapshot_service *s)
{
    pthread_mutex_unlock(&s->lock);
    clear(s);
    pthread_mutex_lock(&s->lock);
    release(s->last);
    s->last = NULL;
    s->taken_ns = 0;
}

static void *run_service(void *arg)
{
    th_snapshot_service *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->stopped) {
        if (s->pending.width && th_controller_read(s->controller).held)
            s->pending = (picture_size){0}; /* not during a run; waiting requests get none */
        else if (s->pending.width && th_clock_ns() >= s->next_ns)
            serve_request(s);
        else if (s->pending.width)
            wait_until(s, s->next_ns);
        else if (!s->model_cache)
            pthread_cond_wait(&s->changed, &s->lock);
        else if (wait_until(s, s->taken_ns + IDLE_NS))
            drop_context(s);
    }
    pthread_mutex_unlock(&s->lock);
    clear(s);
    return NULL;
}

static bool is_recent(const th_snapshot_service *s, picture_size o)
{
    const uint64_t now_ns = th_clock_ns();
    if (!s->last)
        return s->taken_ns && now_ns < s->taken_ns + RETRY_NS;
    return s->size.width == o.width && s->size.height == o.height && now_ns < s->next_ns;
}

th_snapshot_status th_snapshot_service_request(th_snapshot_service *s, uint32_t width, uint32_t height, char **out,
                                               size_t *out_size, th_error *err)
{
    assert(width >= TH_SNAPSHOT_MIN_SIDE && width <= TH_SNAPSHOT_MAX_WIDTH);
    assert(height >= TH_SNAPSHOT_MIN_SIDE && height <= TH_SNAPSHOT_MAX_HEIGHT);
    assert(out && out_size);
    const picture_size o = {width, height};
    th_snapshot_status answer = TH_SNAPSHOT_PENDING;
    pthread_mutex_lock(&s->lock);
    if (!is_recent(s, o)) {
        if (!s->pending.width && (s->current.width != width || s->current.height != height)) {
            s->pending = o;
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

th_result th_snapshot_service_create(const th_snapshot_renderer *renderer, th_controller *controller, uint64_t seed,
                                     th_snapshot_service **out, th_error *err)
{
    assert(renderer && renderer->set_up && renderer->render && renderer->clear && controller && out);
    pthread_condattr_t attributes;
    *out = NULL;
    th_snapshot_service *s = calloc(1, sizeof *s);
    if (!s)
        return th_fail(err, TH_ERR_MEMORY, "no memory for pictures");
    *s = (th_snapshot_service){.renderer = *renderer, .controller = controller, .seed = seed};
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

uint64_t th_snapshot_service_cpu_ns(const th_snapshot_service *s)
{
    return th_thread_cpu_ns(s->thread);
}
