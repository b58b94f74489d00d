#include <bench/bench.h>

#include "measure/calibrated_work.h"
#include "measure/untimed_frames.h"
#include "registry.h"
#include "report/scene_json.h"

#include <assert.h>
#include <regex.h>
#include <string.h>

/* ---- which entries ---- */

static uint32_t keep_matching(th_entry *entries, uint32_t count, const char *filter)
{
    regex_t regex;
    if (!filter || regcomp(&regex, filter, REG_EXTENDED | REG_NOSUB) != 0)
        return count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (regexec(&regex, entries[i].name, 0, NULL, 0) == 0)
            entries[kept++] = entries[i];
    regfree(&regex);
    return kept;
}

typedef struct plan {
    th_entry entries[TH_BENCH_MAX_ENTRIES];
    uint32_t pose_count, jobs_count, external_count;
    uint32_t count; /* of all */
} plan;

/* Keeps those of `count` new entries at the end that match the filter. */
static uint32_t add(plan *p, uint32_t count, const char *filter)
{
    assert(p->count + count <= TH_BENCH_MAX_ENTRIES);
    const uint32_t kept = keep_matching(p->entries + p->count, count, filter);
    p->count += kept;
    return kept;
}

static void plan_init(plan *p, const char *filter, const th_external_benchmarks *external)
{
    *p = (plan){.count = 0};
    p->pose_count = add(p, th_pose_entries(p->entries), filter);
    if (external)
        p->external_count = add(p, th_external_entries(external, true, p->entries + p->count), filter);
    add(p, th_ceiling_entries(p->entries + p->count), filter);
    p->pose_count += add(p, th_interp_entries(p->entries + p->count), filter);
    p->pose_count += add(p, th_crowd_entries(p->entries + p->count), filter);
    p->pose_count += add(p, th_morph_entries(p->entries + p->count), filter);
    p->pose_count += add(p, th_joint_entries(p->entries + p->count), filter);
    p->pose_count += add(p, th_blend_entries(p->entries + p->count), filter);
    p->pose_count += add(p, th_share_entries(p->entries + p->count), filter);
    if (filter && strncmp(filter, "^" TH_REFERENCE_PREFIX, strlen("^" TH_REFERENCE_PREFIX)) == 0)
        add(p, th_reference_entries(p->entries + p->count), filter);
    p->jobs_count = add(p, th_jobs_entries(p->entries + p->count), filter);
    if (external)
        p->external_count += add(p, th_external_entries(external, false, p->entries + p->count), filter);
}

th_bench_names th_bench_list(const char *filter, const th_external_benchmarks *external)
{
    plan p;
    plan_init(&p, filter, external);
    th_bench_names names = {.count = p.count};
    for (uint32_t i = 0; i < p.count; i++)
        memcpy(names.names[i], p.entries[i].name, sizeof names.names[i]);
    return names;
}

/* ---- running them ---- */

/* Progress of the whole run: which comparison is in progress, of how many. */
typedef struct progress {
    const th_measure_desc *outer;
    uint32_t comparison, comparisons;
    uint32_t first, count, entries; /* of the comparison, and of all */
} progress;

static void tell_progress(void *ctx, const th_measure_state *state)
{
    const progress *p = ctx;
    th_measure_state told = *state;
    told.comparison = p->comparison;
    told.comparisons = p->comparisons;
    told.done = (p->first + state->done * p->count) / p->entries;
    p->outer->progress(p->outer->progress_ctx, &told);
}

static void summarize(const th_entry *entries, uint32_t count, th_row *rows)
{
    const th_row *baseline = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].is_baseline && !rows[i].failure[0])
            baseline = &rows[i];
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].summarize && !rows[i].failure[0])
            entries[i].summarize(&entries[i], baseline, &rows[i]);
}

static void run_entry(void *entry, uint64_t frame)
{
    const th_entry *e = entry;
    if (e->lap)
        e->lap(e->subject, frame);
    else
        e->run(e->subject, frame);
}

static th_result count_entries(th_entry *entries, uint32_t count, th_row *rows, th_worker_counts *counters,
                               th_error *err)
{
    for (uint32_t i = 0; counters && i < count; i++) {
        th_entry *e = &entries[i];
        if (!e->frame || rows[i].real_ns.count == 0 || rows[i].failure[0])
            continue;
        const th_counted_frames frames = {counters, e->frame(e->subject), run_entry, e};
        if (!th_counted_frames_describe(&frames, &rows[i]))
            return th_fail(err, TH_ERR_MEMORY, "no memory for the counters of %s", e->name);
    }
    return TH_OK;
}

static void trace_entries(th_entry *entries, uint32_t count, const th_row *rows, th_tracer *tracer)
{
    for (uint32_t i = 0; tracer && i < count; i++) {
        th_entry *e = &entries[i];
        if (rows[i].failure[0])
            continue;
        if (e->before)
            e->before(e->subject);
        th_trace_frames(tracer, &rows[i], e->pool ? e->pool(e->subject) : NULL, run_entry, e);
        if (e->after)
            e->after(e->subject);
    }
}

/* Adds all scenes before the first entry is made, since all entries write to the same memory. */
static th_result prepare_fixture(th_fixture *fixture, th_entry *entries, uint32_t count, th_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        th_entry *e = &entries[i];
        th_scene_desc scene = fixture->requested;
        if (!e->set_scene)
            continue;
        th_result result = e->needs_levels ? th_fixture_find_levels(fixture, err) : TH_OK;
        if (result != TH_OK)
            return result;
        e->set_scene(e, fixture, &scene);
        result = th_fixture_add(fixture, &scene, &e->shared, err);
        if (result != TH_OK)
            return result;
    }
    return th_fixture_allocate(fixture, err);
}

static th_result run_group(th_entry *entries, uint32_t count, const th_bench_desc *desc, th_fixture *fixture,
                           th_worker_counts *counters, th_report *report, uint32_t first, th_error *err)
{
    th_row *rows = report->rows + first;
    th_subject subjects[TH_BENCH_MAX_ENTRIES];
    th_tracer_begin(desc->tracer, "prepare");
    th_result result = prepare_fixture(fixture, entries, count, err);
    for (uint32_t i = 0; i < count && result == TH_OK; i++) {
        const th_entry *e = &entries[i];
        result = e->create(&entries[i], desc, fixture, &rows[i], err);
        subjects[i] = (th_subject){e->before, e->run, e->timed_run, e->after, e->check, e->subject, &rows[i]};
    }
    if (result == TH_OK) {
        th_measure_desc measure = desc->measure;
        measure.lap = entries->lap;
        th_tracer_next(desc->tracer, "measure");
        report->is_partial = !th_measure(&measure, subjects, count);
        if (!measure.is_dry_run)
            summarize(entries, count, rows);
        if (!report->is_partial)
            result = count_entries(entries, count, rows, counters, err);
        th_tracer_next(desc->tracer, "trace");
        trace_entries(entries, count, rows, desc->tracer);
    }
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].subject)
            entries[i].destroy(entries[i].subject);
    th_fixture_clear(fixture);
    th_tracer_end(desc->tracer);
    return result;
}

/* Entries that are compared are adjacent. */
static uint32_t group_length(const plan *p, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < p->count && p->entries[end].shape == p->entries[first].shape)
        end++;
    return end - first;
}

/* What is drawn is known once something was. */
static void describe_picture(const th_external_benchmarks *external, th_report *out)
{
    json_decref(out->picture);
    out->picture = external->describe(external->ctx);
}

/* Entries that are compared are measured together. Nothing else exists meanwhile: other entries' threads might run. */
static th_result run_groups(plan *p, const th_bench_desc *desc, th_fixture *fixture, th_worker_counts *counters,
                            th_report *out, th_error *err)
{
    const volatile sig_atomic_t *stop = desc->measure.stop;
    th_bench_desc inner = *desc;
    progress told = {.outer = &desc->measure, .entries = p->count};
    inner.measure.progress = desc->measure.progress ? tell_progress : NULL;
    inner.measure.progress_ctx = &told;
    for (uint32_t i = 0; i < p->count; i += group_length(p, i))
        told.comparisons++;
    th_result result = TH_OK;
    for (uint32_t i = 0; i < p->count && result == TH_OK && !out->is_partial; i += told.count) {
        told.comparison++;
        told.first = i;
        told.count = group_length(p, i);
        out->is_partial = stop && *stop;
        if (!out->is_partial)
            result = run_group(p->entries + i, told.count, &inner, fixture, counters, out, i, err);
        if (result == TH_OK && i + told.count > p->count - p->external_count)
            describe_picture(desc->external, out);
        if (result == TH_OK && desc->finished)
            desc->finished(desc->finished_ctx, out, i, told.count);
    }
    if (out->is_partial)
        th_report_interrupt(out);
    return result;
}

static th_result run_all(plan *p, const th_bench_desc *desc, th_worker_counts *counters, th_report *out, th_error *err)
{
    th_fixture fixture;
    th_result result = th_fixture_init(&fixture, &desc->scene, err);
    fixture.steps_per_us = p->jobs_count > 0 ? th_work_calibrate() : 0;
    for (uint32_t i = 0; i < p->count; i++)
        memcpy(out->rows[i].name, p->entries[i].name, sizeof out->rows[i].name);
    if (p->pose_count + p->external_count > 0)
        out->scene = th_scene_json(NULL, &desc->scene); /* without what compiling shows */
    if (result == TH_OK)
        result = run_groups(p, desc, &fixture, counters, out, err);
    if (result == TH_OK && out->scene) {
        json_decref(out->scene);
        out->scene =
            th_scene_json(fixture.base_scenes[TH_SAMPLING_COMPILED][desc->scene.compile.interpolation], &desc->scene);
    }
    th_fixture_fini(&fixture);
    return result;
}

th_result th_bench_run(const th_bench_desc *desc, th_report *out, th_error *err)
{
    assert(desc && out);
    plan p;
    plan_init(&p, desc->filter, desc->external);
    th_result result = th_measure_report(&desc->measure, p.count, out, err);
    if (result != TH_OK)
        return result;
    th_worker_counts *counters = NULL;
    if (desc->counters && !desc->measure.is_dry_run)
        result = th_worker_counts_create(TH_JOBS_MAX_THREADS, &counters, err);
    const th_interference_mark begin = th_interference_begin();
    if (result == TH_OK)
        result = run_all(&p, desc, counters, out, err);
    out->interference = th_interference_end(&begin);
    if (result == TH_OK && counters)
        th_counted_frames_end(counters, out);
    th_worker_counts_destroy(counters);
    if (result != TH_OK)
        th_report_fini(out);
    return result;
}
