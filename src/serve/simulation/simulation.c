#include "simulation.h"

#include <throng/anim/clip_choice.h>
#include <throng/core/random.h>
#include <throng/core/text_format.h>

#include <stdlib.h>

/* ---- who plays what ---- */

static th_result check_clips(const th_settings *s, const th_company *company, th_error *err)
{
    for (uint32_t c = 0; c < s->clip_count; c++) {
        bool found = false;
        for (uint32_t m = 0; m < company->count; m++)
            found = found || th_clip_find(company->models[m], s->clips[c].name) != TH_NO_INDEX;
        if (!found)
            return th_clip_refuse(s->clips[c].name, company->models, company->count, err);
    }
    return TH_OK;
}

/* Which of the clips instance i plays, of those that its model has; s->clip_count when it has none of them. */
static uint32_t draw_clip(const th_settings *s, const th_model *model, uint64_t seed, uint32_t i)
{
    double sum = 0, at;
    for (uint32_t c = 0; c < s->clip_count; c++)
        if (th_clip_find(model, s->clips[c].name) != TH_NO_INDEX)
            sum += s->clips[c].weight;
    at = th_random_unit(th_random_bits(seed, 77), i) * sum;
    uint32_t drawn = s->clip_count;
    for (uint32_t c = 0; c < s->clip_count; c++) {
        if (th_clip_find(model, s->clips[c].name) == TH_NO_INDEX)
            continue;
        drawn = c;
        at -= s->clips[c].weight;
        if (at < 0)
            break;
    }
    return drawn;
}

/* An instance depends on the seed and its index alone, so each clip deals out a whole crowd, and instances come from
 * the deal of the clip that they drew. */
static void deal_clip(const th_settings *s, const th_company *company, uint32_t rig, uint32_t c, uint64_t seed,
                      const uint8_t *drawn, th_instance *deal, th_instance *out)
{
    const uint32_t clip = c < s->clip_count ? th_clip_find(company->models[rig], s->clips[c].name) : TH_NO_INDEX;
    th_instances_scatter(company->rigs, company->count, clip, seed, deal, s->count);
    for (uint32_t i = rig; i < s->count; i += company->count)
        if (drawn[i] == c) {
            out[i] = deal[i];
            if (c == s->clip_count)
                out[i].clip = TH_NO_INDEX; /* stands in the rest pose */
        }
}

th_result th_troupe_deal(const th_settings *s, const th_company *company, uint64_t seed, th_instance *out,
                         th_error *err)
{
    if (s->clip_count == 0) {
        th_instances_scatter(company->rigs, company->count, TH_NO_INDEX, seed, out, s->count);
        return TH_OK;
    }
    th_instance *deal = calloc(s->count, sizeof *deal);
    uint8_t *drawn = calloc(s->count, 1);
    th_result result = deal && drawn ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", s->count);
    for (uint32_t i = 0; result == TH_OK && i < s->count; i++)
        drawn[i] = (uint8_t)draw_clip(s, company->models[i % company->count], seed, i);
    for (uint32_t m = 0; result == TH_OK && m < company->count; m++)
        for (uint32_t c = 0; c <= s->clip_count; c++)
            deal_clip(s, company, m, c, seed, drawn, deal, out);
    free(deal);
    free(drawn);
    return result;
}

/* ---- the troupe ---- */

static th_result make_crowd(th_troupe *troupe, const th_troupe_desc *desc, th_error *err)
{
    const th_settings *s = &troupe->settings;
    th_instance *instances = calloc(s->count, sizeof *instances);
    if (!instances)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", s->count);
    th_result result = check_clips(s, troupe->company, err);
    if (result == TH_OK)
        result = th_troupe_deal(s, troupe->company, desc->seed, instances, err);
    const th_crowd_desc crowd = {
        .rigs = troupe->company->rigs,
        .rig_count = troupe->company->count,
        .instances = instances,
        .instance_count = s->count,
        .isa = desc->isa,
        .palette = desc->palette,
    };
    if (result == TH_OK)
        result = th_crowd_create(&crowd, &troupe->crowd, err);
    free(instances);
    return result;
}

th_result th_troupe_cast(const th_troupe_desc *desc, const th_settings *settings, th_company *company, th_troupe **out,
                         th_error *err)
{
    *out = NULL;
    th_troupe *troupe = calloc(1, sizeof *troupe);
    if (!troupe)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a crowd");
    troupe->settings = *settings;
    troupe->company = company;
    th_company_use(company);
    th_result result = make_crowd(troupe, desc, err);
    if (result == TH_OK && th_troupe_bytes(troupe) > desc->max_memory_bytes)
        result = th_fail(err, TH_ERR_LIMIT, "%u character%s would take %.1f MB; the limit is %.1f MB", settings->count,
                         th_plural(settings->count), (double)th_troupe_bytes(troupe) / 1e6,
                         (double)desc->max_memory_bytes / 1e6);
    if (result == TH_OK)
        result = th_palette_create(troupe->crowd, &troupe->palettes, err);
    if (result == TH_OK)
        *out = troupe;
    else
        th_troupe_destroy(troupe);
    return result;
}

th_result th_troupe_rehearse(th_troupe *troupe, th_error *err)
{
    th_worker_stats stats[TH_JOBS_MAX_THREADS];
    th_result result = th_threads_create(&(th_jobs_desc){.threads = troupe->settings.threads}, &troupe->jobs, err);
    if (result == TH_OK)
        result = th_frame_create(&(th_frame_desc){.crowd = troupe->crowd, .jobs = troupe->jobs}, &troupe->frame, err);
    if (result != TH_OK)
        return result;
    th_frame_animate(troupe->frame, 0, troupe->palettes);
    th_jobs_stats(troupe->jobs, stats);
    th_jobs_stats_reset(troupe->jobs);
    return TH_OK;
}

void th_troupe_destroy(th_troupe *troupe)
{
    if (!troupe)
        return;
    th_frame_destroy(troupe->frame);
    th_jobs_destroy(troupe->jobs);
    free(troupe->palettes);
    th_crowd_destroy(troupe->crowd);
    th_company_release(troupe->company);
    free(troupe);
}

size_t th_troupe_bytes(const th_troupe *troupe)
{
    return th_crowd_palette_bytes(troupe->crowd) + th_crowd_bytes(troupe->crowd) + troupe->company->bytes;
}
