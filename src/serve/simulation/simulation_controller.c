#include "simulation_controller.h"

#include "process.h"

#include <core/clock.h>
#include <core/json.h>
#include <core/text_format.h>
#include <serve/log.h>

#include <stdlib.h>
#include <string.h>

/* ---- building a crowd ---- */

/* Arguments and result of the helper thread. */
typedef struct build_job {
    th_controller *controller;
    th_settings settings;
    th_model_cache *model_cache; /* of the running simulation, then of the new one */
    th_simulation *simulation;
    th_result result;
    th_error err;
} build_job;

static void *build(void *arg)
{
    build_job *job = arg;
    th_controller *c = job->controller;
    pthread_mutex_lock(&c->lock);
    c->building = true;
    c->helper = pthread_self();
    pthread_mutex_unlock(&c->lock);
    th_thread_lower_priority();
    th_model_cache *model_cache = job->model_cache;
    const bool matches = model_cache && th_model_cache_matches(model_cache, &job->settings);
    if (!matches)
        job->result = th_model_cache_create(&c->desc.model_cache, &job->settings, &model_cache, &job->err);
    if (job->result == TH_OK)
        job->result =
            th_simulation_build(&c->desc.simulation, &job->settings, model_cache, &job->simulation, &job->err);
    if (!matches)
        th_model_cache_release(model_cache); /* the simulation has its own reference */

    /* Its CPU time is added to the total at the moment it stops counting as a running thread. */
    pthread_mutex_lock(&c->lock);
    c->building = false;
    c->helpers_cpu_ns += th_thread_cpu_ns(c->helper);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Builds in a helper thread of lower priority; creates the workers in this thread. */
static void build_simulation(build_job *job)
{
    pthread_t helper;
    job->result = TH_OK;
    const int error = pthread_create(&helper, NULL, build, job);
    if (error) {
        job->result = th_fail(&job->err, TH_ERR_ENVIRONMENT, "cannot start a thread: %s", strerror(error));
        return;
    }
    pthread_setname_np(helper, "throng-build");
    pthread_join(helper, NULL);
    if (job->result == TH_OK)
        job->result = th_simulation_warm_up(job->simulation, &job->err);
    if (job->result != TH_OK) {
        th_simulation_destroy(job->simulation);
        job->simulation = NULL;
    }
}

/* ---- changes ---- */

/* Rate and pause apply as soon as they are requested, so they are not taken from the simulation. */
static void apply(th_controller *c, const th_simulation *simulation)
{
    const th_settings before = c->state.settings;
    c->state.settings = simulation->settings;
    c->state.settings.rate_hz = before.rate_hz;
    c->state.settings.paused = before.paused;
    c->state.bones = th_crowd_bone_count(simulation->crowd);
    c->state.palette_bytes = th_crowd_palette_bytes(simulation->crowd);
    c->state.bytes = th_simulation_bytes(simulation);
    c->state.isa = th_crowd_isa(simulation->crowd);
    c->model_cache = simulation->model_cache;
}

/* Another blend needs no other crowd. A clip that no model has is left to a reconfiguration, which refuses it. Returns
 * whether one is needed. */
static bool apply_blend(th_controller *c, const th_settings *wanted)
{
    th_error err;
    th_settings *s = &c->state.settings;
    if (s->behaviour != TH_BEHAVIOUR_BLEND || th_settings_same_blend(s, wanted))
        return false;
    if (th_simulation_check_clips(wanted, c->model_cache, &err) != TH_OK)
        return true;
    s->pace = wanted->pace;
    memcpy(s->clips, wanted->clips, sizeof s->clips);
    s->clip_count = wanted->clip_count;
    th_tick_loop_set_blend(c->tick_loop, s);
    return false;
}

static void *run_controller(void *arg)
{
    th_controller *c = arg;
    pthread_mutex_lock(&c->lock);
    while (!c->stopped) {
        if (!c->state.reconfiguring) {
            pthread_cond_wait(&c->wake, &c->lock);
            continue;
        }
        build_job job = {.controller = c, .settings = c->state.requested, .model_cache = c->model_cache};
        pthread_mutex_unlock(&c->lock);

        const uint64_t begin_ns = th_clock_ns();
        build_simulation(&job);
        th_simulation *old = job.simulation ? th_tick_loop_swap(c->tick_loop, job.simulation) : NULL;

        pthread_mutex_lock(&c->lock);
        if (job.result == TH_OK) {
            apply(c, job.simulation);
            c->state.done++;
            c->state.error[0] = '\0';
        } else {
            c->state.failed++;
            strcpy(c->state.error, job.err.text);
            /* Withdraws this request, unless a later one has replaced it. */
            if (th_settings_same_crowd(&c->state.requested, &job.settings) &&
                th_settings_same_blend(&c->state.requested, &job.settings))
                c->state.requested = c->state.settings;
        }
        c->state.reconfiguring =
            !th_settings_same_crowd(&c->state.requested, &c->state.settings) || apply_blend(c, &c->state.requested);
        pthread_mutex_unlock(&c->lock);

        th_simulation_destroy(old);
        if (job.result == TH_OK)
            th_log(TH_LOG_INFO, "crowd of %u on %u thread%s is running, built in %.0f ms", job.settings.count,
                   job.settings.threads, th_plural(job.settings.threads), (double)(th_clock_ns() - begin_ns) / 1e6);
        else
            th_log(TH_LOG_WARNING, "crowd unchanged: %s", job.err.text);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

bool th_controller_request(th_controller *c, const th_settings *settings)
{
    pthread_mutex_lock(&c->lock);
    c->state.requested = *settings;
    c->state.settings.rate_hz = settings->rate_hz;
    c->state.settings.paused = settings->paused;
    th_tick_loop_set_rate(c->tick_loop, settings->rate_hz);
    atomic_store(&c->tick_loop->paused, settings->paused || c->state.held);
    if (!th_settings_same_crowd(settings, &c->state.settings) || apply_blend(c, settings)) {
        c->state.reconfiguring = true;
        c->state.error[0] = '\0';
        pthread_cond_signal(&c->wake);
    }
    const bool reconfiguring = c->state.reconfiguring;
    pthread_mutex_unlock(&c->lock);
    return reconfiguring;
}

void th_controller_hold(th_controller *c, bool held)
{
    pthread_mutex_lock(&c->lock);
    c->state.held = held;
    atomic_store(&c->tick_loop->paused, held || c->state.settings.paused);
    pthread_mutex_unlock(&c->lock);
}

/* ---- life ---- */

static void free_controller(th_controller *c)
{
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

th_result th_controller_create(const th_controller_desc *desc, const th_settings *settings, th_controller **out,
                               th_error *err)
{
    *out = NULL;
    th_controller *c = calloc(1, sizeof *c);
    if (!c)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a simulation controller");
    c->desc = *desc;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    build_job job = {.controller = c, .settings = *settings};
    build_simulation(&job);
    th_result result = job.result;
    if (result == TH_OK) {
        c->state.requested = c->state.settings = *settings;
        apply(c, job.simulation);
        result = th_tick_loop_create(job.simulation, &c->tick_loop, &job.err);
        if (result != TH_OK)
            th_simulation_destroy(job.simulation);
    }
    const int error = result == TH_OK ? pthread_create(&c->thread, NULL, run_controller, c) : 0;
    if (error) {
        th_simulation_destroy(th_tick_loop_destroy(c->tick_loop));
        result = th_fail(&job.err, TH_ERR_ENVIRONMENT, "cannot start a thread: %s", strerror(error));
    }
    if (result != TH_OK) {
        free_controller(c);
        return th_fail(err, result, "%s", job.err.text);
    }
    pthread_setname_np(c->thread, "throng-control");
    *out = c;
    return TH_OK;
}

void th_controller_destroy(th_controller *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopped = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    th_simulation_destroy(th_tick_loop_destroy(c->tick_loop));
    free_controller(c);
}

/* ---- watching ---- */

th_controller_state th_controller_read(th_controller *c)
{
    pthread_mutex_lock(&c->lock);
    const th_controller_state state = c->state;
    pthread_mutex_unlock(&c->lock);
    return state;
}

th_model_cache *th_controller_acquire_models(th_controller *c, th_settings *out_settings, uint64_t *out_number)
{
    pthread_mutex_lock(&c->lock);
    th_model_cache *model_cache = c->model_cache;
    th_model_cache_retain(model_cache);
    *out_settings = c->state.settings;
    *out_number = c->state.done;
    pthread_mutex_unlock(&c->lock);
    return model_cache;
}

json_t *th_controller_models_json(th_controller *c)
{
    json_t *models = json_array();
    pthread_mutex_lock(&c->lock);
    for (uint32_t m = 0; m < c->model_cache->count; m++) {
        const th_model *model = c->model_cache->models[m];
        const th_compiled_model *compiled = c->model_cache->compiled_models[m];
        const th_model *played = th_compiled_model_source(compiled);
        json_t *clips = json_array(), *warnings = json_array();
        for (uint32_t n = 0; n < model->warning_count; n++)
            warnings = th_json_append(warnings, th_json_text(model->warnings[n]));
        for (uint32_t i = 0; i < played->clip_count; i++) {
            const th_clip *clip = &played->clips[i];
            const bool is_exact = !th_compiled_model_clip_report(compiled, i)->compiled;
            const double duration_s = clip->duration_ticks / clip->ticks_per_second;
            clips = th_json_append(clips, json_pack("{s:o, s:o, s:b}", "name", th_json_text(clip->name), "seconds",
                                                    th_json_real(duration_s), "exact", is_exact));
        }
        models =
            th_json_append(models, json_pack("{s:o, s:i, s:i, s:o, s:o}", "name",
                                             th_json_text(c->model_cache->names[m]), "joints", (int)model->joint_count,
                                             "bones", (int)model->bone_count, "clips", clips, "warnings", warnings));
    }
    pthread_mutex_unlock(&c->lock);
    return models;
}

uint64_t th_controller_cpu_ns(th_controller *c)
{
    pthread_mutex_lock(&c->lock);
    const uint64_t helpers_ns = c->helpers_cpu_ns + (c->building ? th_thread_cpu_ns(c->helper) : 0);
    pthread_mutex_unlock(&c->lock);
    return helpers_ns + th_thread_cpu_ns(c->thread);
}
