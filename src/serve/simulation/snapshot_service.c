#include "snapshot_service.h"

#include "thread.h"

#include <throng/core/clock.h>
#include <throng/serve/log.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS   1000000000u
#define FAILED_NS   10000000000u /* nothing is tried again for so long after a failure */
#define PATIENCE_NS 60000000000u /* after so long without an order the studio is cleared */
#define REST        4u

/* A picture that several replies may hold. */
typedef struct photo {
    atomic_uint users;
    size_t size;
    char png[];
} photo;

typedef struct order {
    uint32_t width, height; /* 0: none */
} order;

struct th_photographer {
    th_studio studio;
    th_director *director;
    uint64_t seed;
    pthread_t thread;
    int taken_fd;

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    order wanted, busy_with;
    bool stopped;
    order size;                   /* of the last picture, */
    photo *last;                  /* which is NULL when there was none, or it failed */
    th_error why;                 /* then */
    uint64_t taken_ns, rested_ns; /* when it was there, and when the next may begin */

    /* the thread's own */
    bool is_set_up;
    uint64_t crowd_number;
    th_company *company;
    th_settings settings;
    th_instance *instances;
};

/* ---- photos ---- */

static photo *develop(const unsigned char *png, size_t size)
{
    photo *fresh = malloc(sizeof *fresh + size);
    if (!fresh)
        return NULL;
    atomic_init(&fresh->users, 1);
    fresh->size = size;
    memcpy(fresh->png, png, size);
    return fresh;
}

static void release(photo *p)
{
    if (p && atomic_fetch_sub_explicit(&p->users, 1, memory_order_acq_rel) == 1)
        free(p);
}

void th_photo_release(void *png)
{
    release((photo *)(void *)((char *)png - offsetof(photo, png)));
}

/* ---- the studio ---- */

static void clear(th_photographer *p)
{
    if (p->is_set_up)
        p->studio.clear(p->studio.ctx);
    p->is_set_up = false;
    free(p->instances);
    p->instances = NULL;
    th_company_release(p->company);
    p->company = NULL;
}

/* The first of those that play now. What an instance is depends on its number, not on how many there are. */
static th_result set_up(th_photographer *p, th_error *err)
{
    const uint32_t most = TH_PHOTO_CHARACTERS;
    p->company = th_director_lend(p->director, &p->settings, &p->crowd_number);
    p->settings.count = p->settings.count < most ? p->settings.count : most;
    p->instances = calloc(p->settings.count, sizeof *p->instances);
    if (!p->instances)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    th_result result = th_troupe_deal(&p->settings, p->company, p->seed, p->instances, err);
    const th_studio_cast cast = {p->company, &p->settings, p->instances};
    if (result == TH_OK)
        result = p->studio.set_up(p->studio.ctx, &cast, err);
    p->is_set_up = result == TH_OK;
    return result;
}

static th_result shoot(th_photographer *p, order o, photo **out, th_error *err)
{
    unsigned char *png = NULL;
    size_t size;
    th_result result = TH_OK;
    if (p->is_set_up && p->crowd_number != th_director_read(p->director).done)
        clear(p);
    if (!p->is_set_up)
        result = set_up(p, err);
    const double crowd_s = th_runner_read(th_director_runner(p->director)).crowd_s;
    if (result == TH_OK)
        result = p->studio.shoot(p->studio.ctx, crowd_s, o.width, o.height, &png, &size, err);
    if (result == TH_OK && !(*out = develop(png, size)))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    free(png);
    if (result != TH_OK)
        clear(p);
    return result;
}

/* ---- orders ---- */

/* With the lock, which is open while it draws. */
static void carry_out(th_photographer *p)
{
    const uint64_t one = 1, begin_ns = th_thread_cpu_ns(pthread_self());
    photo *fresh = NULL, *old = p->last;
    th_error why = {0};
    p->busy_with = p->wanted;
    p->wanted = (order){0};
    pthread_mutex_unlock(&p->lock);
    if (shoot(p, p->busy_with, &fresh, &why) != TH_OK)
        th_log(TH_LOG_WARNING, "no picture: %s", why.text);
    pthread_mutex_lock(&p->lock);
    p->size = p->busy_with;
    p->busy_with = (order){0};
    p->last = fresh;
    p->why = why;
    p->taken_ns = th_clock_ns();
    const uint64_t rest_ns = REST * (th_thread_cpu_ns(pthread_self()) - begin_ns);
    p->rested_ns = p->taken_ns + (rest_ns > SECOND_NS ? rest_ns : SECOND_NS);
    release(old);
    ssize_t ignored = write(p->taken_fd, &one, sizeof one);
    (void)ignored;
}

/* Waits for a change, or until then; whether the time was up. */
static bool wait_until(th_photographer *p, uint64_t ns)
{
    const struct timespec when = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    return pthread_cond_timedwait(&p->changed, &p->lock, &when) == ETIMEDOUT;
}

/* Nobody has asked for long: memory is for others. Those who ask must not wait for a driver. */
static void forget(th_photographer *p)
{
    pthread_mutex_unlock(&p->lock);
    clear(p);
    pthread_mutex_lock(&p->lock);
    release(p->last);
    p->last = NULL;
    p->taken_ns = 0;
}

static void *attend(void *arg)
{
    th_photographer *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->stopped) {
        if (p->wanted.width && th_director_read(p->director).held)
            p->wanted = (order){0}; /* not beside a run; who asked goes without */
        else if (p->wanted.width && th_clock_ns() >= p->rested_ns)
            carry_out(p);
        else if (p->wanted.width)
            wait_until(p, p->rested_ns);
        else if (!p->company)
            pthread_cond_wait(&p->changed, &p->lock);
        else if (wait_until(p, p->taken_ns + PATIENCE_NS))
            forget(p);
    }
    pthread_mutex_unlock(&p->lock);
    clear(p);
    return NULL;
}

static bool is_recent(const th_photographer *p, order o)
{
    const uint64_t now_ns = th_clock_ns();
    if (!p->last)
        return p->taken_ns && now_ns < p->taken_ns + FAILED_NS;
    return p->size.width == o.width && p->size.height == o.height && now_ns < p->rested_ns;
}

th_photo_answer th_photographer_ask(th_photographer *p, uint32_t width, uint32_t height, char **out, size_t *out_size,
                                    th_error *err)
{
    const order o = {width, height};
    th_photo_answer answer = TH_PHOTO_LATER;
    pthread_mutex_lock(&p->lock);
    if (!is_recent(p, o)) {
        if (!p->wanted.width && (p->busy_with.width != width || p->busy_with.height != height)) {
            p->wanted = o;
            pthread_cond_signal(&p->changed);
        }
    } else if (p->last) {
        atomic_fetch_add_explicit(&p->last->users, 1, memory_order_relaxed);
        *out = p->last->png;
        *out_size = p->last->size;
        answer = TH_PHOTO_TAKEN;
    } else {
        *err = p->why;
        answer = TH_PHOTO_FAILED;
    }
    pthread_mutex_unlock(&p->lock);
    return answer;
}

/* ---- life ---- */

th_result th_photographer_create(const th_studio *studio, th_director *director, uint64_t seed, th_photographer **out,
                                 th_error *err)
{
    pthread_condattr_t attributes;
    *out = NULL;
    th_photographer *p = calloc(1, sizeof *p);
    if (!p)
        return th_fail(err, TH_ERR_MEMORY, "no memory for pictures");
    *p = (th_photographer){.studio = *studio, .director = director, .seed = seed};
    p->taken_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attributes);
    const int error = p->taken_fd < 0 ? errno : pthread_create(&p->thread, NULL, attend, p);
    if (error) {
        if (p->taken_fd >= 0)
            close(p->taken_fd);
        free(p);
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start a thread: %s", strerror(error));
    }
    pthread_setname_np(p->thread, "throng-picture");
    *out = p;
    return TH_OK;
}

void th_photographer_destroy(th_photographer *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopped = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    release(p->last);
    close(p->taken_fd);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

int th_photographer_fd(const th_photographer *p)
{
    return p->taken_fd;
}

uint64_t th_photographer_cpu_ns(const th_photographer *p)
{
    return th_thread_cpu_ns(p->thread);
}
