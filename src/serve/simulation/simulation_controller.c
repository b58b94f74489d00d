#include "simulation_controller.h"

#include "thread.h"

#include <throng/core/clock.h>
#include <throng/core/json.h>
#include <throng/core/text_format.h>
#include <throng/serve/log.h>

#include <stdlib.h>
#include <string.h>

struct th_director {
    th_director_desc desc;
    th_runner *runner;
    pthread_t thread;
    pthread_mutex_t lock; /* for all below */
    pthread_cond_t wished;
    th_director_state state;
    th_company *company;     /* of the troupe that plays */
    bool casts;              /* the helper is at work; */
    pthread_t helper;        /* then */
    uint64_t helpers_cpu_ns; /* of those that have ended */
    bool stopped;
};

/* ---- making a crowd ---- */

/* The arguments and the result of the helper below. */
typedef struct making {
    th_director *director;
    th_settings settings;
    th_company *company; /* the one that plays, and then the new troupe's */
    th_troupe *troupe;
    th_result result;
    th_error err;
} making;

static void begin_casting(th_director *d)
{
    pthread_mutex_lock(&d->lock);
    d->casts = true;
    d->helper = pthread_self();
    pthread_mutex_unlock(&d->lock);
}

/* From one moment to the next its time is no longer the thread's, but on the books. */
static void end_casting(th_director *d)
{
    pthread_mutex_lock(&d->lock);
    d->casts = false;
    d->helpers_cpu_ns += th_thread_cpu_ns(d->helper);
    pthread_mutex_unlock(&d->lock);
}

static void *cast(void *arg)
{
    making *m = arg;
    begin_casting(m->director);
    th_thread_be_nice();
    th_company *company = m->company;
    const bool fits = company && th_company_fits(company, &m->settings);
    if (!fits)
        m->result = th_company_create(&m->director->desc.company, &m->settings, &company, &m->err);
    if (m->result == TH_OK)
        m->result = th_troupe_cast(&m->director->desc.troupe, &m->settings, company, &m->troupe, &m->err);
    if (!fits)
        th_company_release(company); /* the troupe uses it now, or nobody does */
    end_casting(m->director);
    return NULL;
}

/* The casting in a thread of its own that is nicer than this one, where it makes the workers. */
static void make_troupe(making *m)
{
    pthread_t helper;
    m->result = TH_OK;
    const int error = pthread_create(&helper, NULL, cast, m);
    if (error) {
        m->result = th_fail(&m->err, TH_ERR_ENVIRONMENT, "cannot start a thread: %s", strerror(error));
        return;
    }
    pthread_setname_np(helper, "throng-cast");
    pthread_join(helper, NULL);
    if (m->result == TH_OK)
        m->result = th_troupe_rehearse(m->troupe, &m->err);
    if (m->result != TH_OK) {
        th_troupe_destroy(m->troupe);
        m->troupe = NULL;
    }
}

/* ---- changes ---- */

/* Rate and pause are in force as soon as they are wished, so they are not taken from the troupe. */
static void put_in_force(th_director *d, const th_troupe *troupe)
{
    const th_settings before = d->state.settings;
    d->state.settings = troupe->settings;
    d->state.settings.rate_hz = before.rate_hz;
    d->state.settings.paused = before.paused;
    d->state.joints = th_crowd_joint_count(troupe->crowd);
    d->state.palette_bytes = th_crowd_palette_bytes(troupe->crowd);
    d->state.bytes = th_troupe_bytes(troupe);
    d->state.isa = th_crowd_isa(troupe->crowd);
    d->company = troupe->company;
}

static void finish_change(th_director *d, const making *m)
{
    if (m->result == TH_OK) {
        put_in_force(d, m->troupe);
        d->state.done++;
        d->state.error[0] = '\0';
    } else {
        d->state.failed++;
        strcpy(d->state.error, m->err.text);
        /* A later wish stands, this one is off. */
        if (th_settings_same_crowd(&d->state.wanted, &m->settings))
            d->state.wanted = d->state.settings;
    }
    d->state.changing = !th_settings_same_crowd(&d->state.wanted, &d->state.settings);
}

static void change(th_director *d, making *m)
{
    const uint64_t begin_ns = th_clock_ns();
    make_troupe(m);
    th_troupe *old = m->troupe ? th_runner_swap(d->runner, m->troupe) : NULL;
    pthread_mutex_lock(&d->lock);
    finish_change(d, m);
    pthread_mutex_unlock(&d->lock);
    th_troupe_destroy(old);
    if (m->result == TH_OK)
        th_log(TH_LOG_INFO, "a crowd of %u on %u thread%s plays, made in %.0f ms", m->settings.count,
               m->settings.threads, th_plural(m->settings.threads), (double)(th_clock_ns() - begin_ns) / 1e6);
    else
        th_log(TH_LOG_WARNING, "the crowd stays as it was: %s", m->err.text);
}

static void *direct(void *arg)
{
    th_director *d = arg;
    making m;
    pthread_mutex_lock(&d->lock);
    while (!d->stopped) {
        if (!d->state.changing) {
            pthread_cond_wait(&d->wished, &d->lock);
            continue;
        }
        m = (making){.director = d, .settings = d->state.wanted, .company = d->company};
        pthread_mutex_unlock(&d->lock);
        change(d, &m);
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

bool th_director_wish(th_director *d, const th_settings *settings)
{
    pthread_mutex_lock(&d->lock);
    d->state.wanted = *settings;
    d->state.settings.rate_hz = settings->rate_hz;
    d->state.settings.paused = settings->paused;
    th_runner_set_rate(d->runner, settings->rate_hz);
    th_runner_set_paused(d->runner, settings->paused || d->state.held);
    if (!th_settings_same_crowd(settings, &d->state.settings)) {
        d->state.changing = true;
        d->state.error[0] = '\0';
        pthread_cond_signal(&d->wished);
    }
    const bool changing = d->state.changing;
    pthread_mutex_unlock(&d->lock);
    return changing;
}

void th_director_hold(th_director *d, bool held)
{
    pthread_mutex_lock(&d->lock);
    d->state.held = held;
    th_runner_set_paused(d->runner, held || d->state.settings.paused);
    pthread_mutex_unlock(&d->lock);
}

/* ---- life ---- */

static th_result begin(th_director *d, th_troupe *troupe, th_error *err)
{
    th_result result = th_runner_create(troupe, &d->runner, err);
    if (result != TH_OK) {
        th_troupe_destroy(troupe);
        return result;
    }
    const int error = pthread_create(&d->thread, NULL, direct, d);
    if (error) {
        th_troupe_destroy(th_runner_destroy(d->runner));
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot start a thread: %s", strerror(error));
    }
    pthread_setname_np(d->thread, "throng-director");
    return TH_OK;
}

static void free_director(th_director *d)
{
    pthread_cond_destroy(&d->wished);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

th_result th_director_create(const th_director_desc *desc, const th_settings *settings, th_director **out,
                             th_error *err)
{
    *out = NULL;
    th_director *d = calloc(1, sizeof *d);
    if (!d)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a director");
    d->desc = *desc;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->wished, NULL);
    making m = {.director = d, .settings = *settings};
    make_troupe(&m);
    th_result result = m.result;
    if (result == TH_OK) {
        d->state.wanted = d->state.settings = *settings;
        put_in_force(d, m.troupe);
        result = begin(d, m.troupe, &m.err);
    }
    if (result == TH_OK) {
        *out = d;
        return TH_OK;
    }
    free_director(d);
    return th_fail(err, result, "%s", m.err.text);
}

void th_director_destroy(th_director *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->stopped = true;
    pthread_cond_signal(&d->wished);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    th_troupe_destroy(th_runner_destroy(d->runner));
    free_director(d);
}

/* ---- watching ---- */

th_director_state th_director_read(th_director *d)
{
    pthread_mutex_lock(&d->lock);
    const th_director_state state = d->state;
    pthread_mutex_unlock(&d->lock);
    return state;
}

th_runner *th_director_runner(th_director *d)
{
    return d->runner;
}

th_company *th_director_lend(th_director *d, th_settings *out_settings, uint64_t *out_number)
{
    pthread_mutex_lock(&d->lock);
    th_company *company = d->company;
    th_company_use(company);
    *out_settings = d->state.settings;
    *out_number = d->state.done;
    pthread_mutex_unlock(&d->lock);
    return company;
}

static json_t *clips_json(const th_rig *rig)
{
    const th_model *model = th_rig_model(rig);
    json_t *clips = json_array();
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const th_clip *clip = &model->clips[c];
        clips = th_json_append(clips, json_pack("{s:o, s:o, s:b}", "name", th_json_text(clip->name), "seconds",
                                                th_json_real(clip->duration_ticks / clip->ticks_per_second), "exact",
                                                !th_rig_clip_report(rig, c)->compiled));
    }
    return clips;
}

json_t *th_director_models_json(th_director *d)
{
    json_t *models = json_array();
    pthread_mutex_lock(&d->lock);
    for (uint32_t m = 0; m < d->company->count; m++) {
        const th_model *model = d->company->models[m];
        models = th_json_append(models, json_pack("{s:o, s:i, s:i, s:o}", "name", th_json_text(d->company->names[m]),
                                                  "joints", (int)model->joint_count, "palette_entries",
                                                  (int)model->bind_count, "clips", clips_json(d->company->rigs[m])));
    }
    pthread_mutex_unlock(&d->lock);
    return models;
}

uint64_t th_director_cpu_ns(th_director *d)
{
    pthread_mutex_lock(&d->lock);
    const uint64_t helpers_ns = d->helpers_cpu_ns + (d->casts ? th_thread_cpu_ns(d->helper) : 0);
    pthread_mutex_unlock(&d->lock);
    return helpers_ns + th_thread_cpu_ns(d->thread);
}
