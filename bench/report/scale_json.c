#include "scale_text.h"

#include <assert.h>

/* ---- curves ---- */

static json_t *interval_json(double low, double high)
{
    return th_json_reals((const double[]){low, high}, 2);
}

static json_t *estimate_json(const th_estimate *e)
{
    return json_pack("{s:o, s:o}", "value", th_json_real(e->value), "interval", interval_json(e->low, e->high));
}

static json_t *fit_json(const th_fit *f)
{
    return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "status", th_fit_status_name(f->status), "points",
                     (int)f->point_count, "gamma", estimate_json(&f->gamma), "sigma", estimate_json(&f->sigma), "kappa",
                     estimate_json(&f->kappa), "peak_threads", estimate_json(&f->peak_threads), "peak_characters_per_s",
                     estimate_json(&f->peak_throughput), "rms", th_json_real(f->rms), "r_squared",
                     th_json_real(f->r_squared));
}

static json_t *fits_json(const th_scale_curve *curve)
{
    json_t *json = json_object();
    for (int law = 0; law < TH_FIT_LAW_COUNT; law++)
        json = th_json_set(json, th_fit_law_name((th_fit_law)law), fit_json(&curve->fits[law]));
    return json;
}

static json_t *curve_json(const th_scale *scale, const th_scale_curve *curve)
{
    return json_pack("{s:s, s:i, s:i, s:o, s:o}", "scheduler", th_scheduler_name(curve->scheduler), "characters",
                     (int)curve->characters, "grain", (int)curve->grain, "points", th_scale_points_json(scale, curve),
                     "fits", fits_json(curve));
}

/* ---- ablations and memory ---- */

static json_t *parts_json(const th_scale_parts *parts)
{
    json_t *json = json_pack("{s:i}", "threads", (int)parts->threads);
    for (int a = 0; a < TH_ABLATION_COUNT; a++) {
        json_t *part =
            json_pack("{s:o, s:o, s:o}", "us_per_frame", th_json_real(parts->frame_ns[a] / 1e3), "work_us_per_frame",
                      th_json_real(parts->work_ns[a] / 1e3), "share", estimate_json(&parts->shares[a]));
        json = th_json_set(json, th_ablation_name((th_ablation)a), part);
    }
    return json;
}

static json_t *memory_json(const th_scale_memory *memory)
{
    json_t *json = json_pack("{s:i}", "threads", (int)memory->threads);
    for (int t = 0; t < TH_BANDWIDTH_COUNT; t++)
        json = th_json_set(json, th_bandwidth_kind_name((th_bandwidth_kind)t), th_json_real(memory->bytes_per_s[t]));
    return json;
}

/* ---- the bottleneck ---- */

static json_t *bottleneck_json(const th_bottleneck *v)
{
    json_t *losses = json_object(), *intervals = json_object();
    for (int l = TH_BOTTLENECK_MEMORY; l <= TH_BOTTLENECK_SERIAL; l++) {
        const char *name = th_bottleneck_kind_name((th_bottleneck_kind)l);
        losses = th_json_set(losses, name, th_json_real(v->losses[l].value));
        intervals = th_json_set(intervals, name, interval_json(v->losses[l].low, v->losses[l].high));
    }
    json_t *factor = v->factor == TH_POP_GLOBAL ? json_null() : json_string(th_pop_factor_name(v->factor));
    return json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "kind", th_bottleneck_kind_name(v->kind),
                     "factor", factor, "impossible", v->is_impossible, "speed_up", estimate_json(&v->speed_up),
                     "efficiency", estimate_json(&v->efficiency), "lost", th_json_real(v->lost.value), "lost_interval",
                     interval_json(v->lost.low, v->lost.high), "losses", losses, "losses_intervals", intervals, "text",
                     v->text);
}

json_t *th_scale_json(const th_scale *scale)
{
    assert(scale);
    if (scale->report.is_dry_run)
        return th_report_json(&scale->report);
    json_t *curves = json_array(), *parts = json_array(), *memory = json_array();
    for (uint32_t i = 0; i < scale->curve_count; i++)
        curves = th_json_append(curves, curve_json(scale, &scale->curves[i]));
    for (uint32_t i = 0; i < scale->part_count; i++)
        parts = th_json_append(parts, parts_json(&scale->parts[i]));
    for (uint32_t i = 0; i < scale->memory_count; i++)
        memory = th_json_append(memory, memory_json(&scale->memory[i]));
    json_t *scaling = json_pack("{s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "weak", scale->is_weak, "interval_unit",
                                scale->report.process_count > 1 ? "process" : "round", "curves", curves, "ablation",
                                parts, "palette_bytes", th_json_count(scale->palette_bytes), "memory_bytes_per_s",
                                memory, "memory_block_bytes", th_json_count(scale->memory_bytes), "bottleneck",
                                bottleneck_json(&scale->bottleneck));
    return th_json_set(th_report_json(&scale->report), "scaling", scaling);
}
