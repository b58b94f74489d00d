#include <throng/bench/stress.h>
#include <throng/core/json.h>

static json_t *number_json(uint32_t number)
{
    return number ? th_json_count(number) : json_null();
}

static json_t *probe_json(const th_capacity_probe *p)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:b, s:o, s:o}", "stage", th_capacity_stage_name(p->stage), "characters",
                     (int)p->items, "frames", (int)p->frames, "deadline_misses", (int)p->deadline_misses,
                     "meets_budget", p->meets_budget, "median_ms", th_json_real(p->median_ns / 1e6), "p99_ms",
                     th_json_real(p->p99_ns / 1e6));
}

static json_t *point_json(const th_stress_point *p)
{
    uint32_t low = 0, high = 0;
    th_stress_interval(p, &low, &high);
    json_t *probes = json_array();
    for (uint32_t i = 0; i < p->search.probe_count; i++)
        probes = th_json_append(probes, probe_json(&p->search.probes[i]));
    return json_pack(
        "{s:i, s:i, s:b, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:b, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "threads",
        (int)p->threads, "characters", (int)p->characters, "meets_budget", p->meets_budget, "ci_low", number_json(low),
        "ci_high", number_json(high), "visible", number_json(p->visible), "first_failing",
        number_json(p->search.first_failing), "runs", (int)p->search.runs, "worst_run",
        number_json(p->search.worst_run), "best_run", number_json(p->search.best_run), "out_of_memory",
        p->out_of_memory, "frames", (int)p->frames, "deadline_misses", (int)p->deadline_misses,
        "deadline_miss_rate_bound", th_json_real(th_capacity_miss_rate_bound(p->deadline_misses, p->frames)), "p99_ms",
        th_json_real(p->times.p99 / 1e6), "preempted", p->preempted_unknown ? json_null() : th_json_count(p->preempted),
        "p99_without_preempted_ms", th_json_real(p->unpreempted.p99 / 1e6), "probes", probes);
}

json_t *th_stress_json(const th_stress *stress)
{
    if (stress->report.is_dry_run)
        return th_report_json(&stress->report);
    json_t *points = json_array();
    for (uint32_t i = 0; i < stress->point_count; i++)
        if (!stress->report.rows[i].failure[0])
            points = th_json_append(points, point_json(&stress->points[i]));
    json_t *json = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:i, s:o, s:b, s:o, s:o, s:o}", "headline", th_json_text(stress->headline), "frame",
        th_stress_frame_name(stress), "budget_ms", th_json_real(stress->budget_ns / 1e6), "deadline_miss_rate_allowed",
        th_json_real(TH_CAPACITY_MISS_RATE), "confidence", th_json_real(TH_CONFIDENCE), "frames", (int)stress->frames,
        "preemption_threshold_ms", th_json_real(stress->preemption_threshold_ns / 1e6), "searched", stress->searched,
        "memory_bytes", th_json_count(stress->memory), "bytes_per_character", th_json_real(stress->bytes_per_character),
        "points", points);
    return th_json_merge(th_report_json(&stress->report), json_pack("{s:o}", "stress", json));
}
