#include <bench/bench.h>

#include "measure/calibrated_work.h"
#include "measure/untimed_frames.h"
#include "registry.h"

#include <assert.h>
#include <regex.h>
#include <string.h>

/* ---- the program's own entries ---- */

static th_result create_external(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                                 th_error *err)
{
    const th_external_benchmark *benchmark = entry->variant;
    th_error reason;
    (void)fixture, (void)err;
    row->time_unit = "ms";
    row->has_helpers = !benchmark->timed_run; /* drivers have threads */
    if (benchmark->create(benchmark, desc->external->ctx, row, &entry->subject, &reason) == TH_OK)
        return TH_OK;
    th_row_skip(row, "%s", reason.text);
    return TH_OK;
}

static void summarize_external(const th_entry *entry, const th_row *baseline, th_row *row)
{
    const th_external_benchmark *benchmark = entry->variant;
    benchmark->summarize(entry->subject, baseline, row);
}

/* of_poses: those that are compared with pose/, or all others. */
static uint32_t list_external(const th_external_benchmarks *external, bool of_poses, th_entry *entries)
{
    uint32_t count = 0;
    for (uint32_t i = 0; external && i < external->count; i++) {
        const th_external_benchmark *benchmark = &external->entries[i];
        if ((benchmark->shape == NULL) != of_poses)
            continue;
        th_entry *e = &entries[count++];
        *e = (th_entry){
            .shape = benchmark->shape,
            .variant = benchmark,
            .is_baseline = benchmark->is_baseline,
            .create = create_external,
            .before = benchmark->before,
            .run = benchmark->run,
            .timed_run = benchmark->timed_run,
            .after = benchmark->after,
            .check = benchmark->check,
            .summarize = summarize_external,
            .destroy = benchmark->destroy,
        };
        snprintf(e->name, sizeof e->name, "%s", benchmark->name);
    }
    return count;
}

/* ---- which entries ---- */

typedef struct plan {
    th_entry entries[TH_BENCH_MAX_ENTRIES];
    uint32_t pose_count, jobs_count, external_count;
    uint32_t count; /* of all */
} plan;

/* Keeps those of `count` new entries at the end that match the filter. */
static uint32_t add(plan *p, uint32_t count, const char *filter)
{
    regex_t regex;
    assert(p->count + count <= TH_BENCH_MAX_ENTRIES);
    const bool filters = filter && regcomp(&regex, filter, REG_EXTENDED | REG_NOSUB) == 0;
    const th_entry *added = p->entries + p->count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!filters || regexec(&regex, added[i].name, 0, NULL, 0) == 0)
            p->entries[p->count + kept++] = added[i];
    if (filters)
        regfree(&regex);
    p->count += kept;
    return kept;
}

static void plan_init(plan *p, const char *filter, const th_external_benchmarks *external)
{
    *p = (plan){.count = 0};
    p->pose_count = add(p, th_pose_entries(p->entries), filter);
    p->external_count = add(p, list_external(external, true, p->entries + p->count), filter);
    add(p, th_ceiling_entries(p->entries + p->count), filter);
    p->pose_count += add(p, th_variation_entries(p->entries + p->count), filter);
    if (filter && strncmp(filter, "^" TH_REFERENCE_PREFIX, strlen("^" TH_REFERENCE_PREFIX)) == 0)
        add(p, th_reference_entries(p->entries + p->count), filter);
    add(p, th_load_entries(p->entries + p->count), filter);
    p->jobs_count = add(p, th_jobs_entries(p->entries + p->count), filter);
    p->external_count += add(p, list_external(external, false, p->entries + p->count), filter);
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

/* A run, and which comparison is in progress, of how many. */
typedef struct bench_run {
    const th_bench_desc *desc;
    plan plan;
    th_fixture fixture;
    th_worker_counts *counters; /* NULL: nothing is counted */
    th_report *report;
    uint32_t comparison, comparisons;
    uint32_t first, count; /* entries of the comparison */
} bench_run;

static void tell_progress(void *ctx, const th_measure_state *state)
{
    const bench_run *r = ctx;
    th_measure_state told = *state;
    told.comparison = r->comparison;
    told.comparisons = r->comparisons;
    told.done = (r->first + state->done * r->count) / r->plan.count;
    r->desc->measure.progress(r->desc->measure.progress_ctx, &told);
}

static void run_entry(void *entry, uint64_t frame)
{
    const th_entry *e = entry;
    if (e->lap)
        e->lap(e->subject, frame);
    else
        e->run(e->subject, frame);
}

/* Times the entries, then counts and traces additional frames. */
static th_result measure_group(bench_run *r, th_entry *entries, th_row *rows, const th_subject *subjects, th_error *err)
{
    th_tracer *tracer = r->desc->tracer;
    th_measure_desc measure = r->desc->measure;
    measure.lap = entries->lap;
    measure.progress = measure.progress ? tell_progress : NULL;
    measure.progress_ctx = r;
    th_tracer_next(tracer, "measure");
    r->report->is_partial = !th_measure(&measure, subjects, r->count);

    const th_row *baseline = NULL;
    for (uint32_t i = 0; i < r->count; i++)
        if (entries[i].is_baseline && !rows[i].failure[0])
            baseline = &rows[i];
    for (uint32_t i = 0; i < r->count && !measure.is_dry_run; i++)
        if (entries[i].summarize && !rows[i].failure[0])
            entries[i].summarize(&entries[i], baseline, &rows[i]);
    for (uint32_t i = 0; i < r->count; i++)
        th_row_leave_out(&rows[i]);

    for (uint32_t i = 0; i < r->count && r->counters && !r->report->is_partial; i++) {
        th_entry *e = &entries[i];
        if (!e->frame || rows[i].real_ns.count == 0 || rows[i].failure[0])
            continue;
        const th_counted_frames frames = {r->counters, e->frame(e->subject), run_entry, e};
        if (!th_counted_frames_describe(&frames, &rows[i]))
            return th_fail(err, TH_ERR_MEMORY, "no memory for the counters of %s", e->name);
    }

    th_tracer_next(tracer, "trace");
    for (uint32_t i = 0; i < r->count && tracer; i++) {
        th_entry *e = &entries[i];
        if (rows[i].failure[0])
            continue;
        if (e->before)
            e->before(e->subject);
        th_trace_frames(tracer, &rows[i], e->pool ? e->pool(e->subject) : NULL, run_entry, e);
        if (e->after)
            e->after(e->subject);
    }
    return TH_OK;
}

/* Entries that are compared are measured together. Nothing else exists meanwhile: other entries' threads might run. */
static th_result run_group(bench_run *r, th_error *err)
{
    th_entry *entries = r->plan.entries + r->first;
    th_row *rows = r->report->rows + r->first;
    th_subject subjects[TH_BENCH_MAX_ENTRIES];
    th_result result = TH_OK;
    th_tracer_begin(r->desc->tracer, "prepare");

    /* All scenes come before the first entry, since all entries write to the same memory. */
    for (uint32_t i = 0; i < r->count && result == TH_OK; i++) {
        th_entry *e = &entries[i];
        th_scene_desc scene = r->fixture.requested;
        if (!e->set_scene)
            continue;
        result = e->needs_levels ? th_fixture_find_levels(&r->fixture, err) : TH_OK;
        if (result != TH_OK)
            break;
        e->set_scene(e, &r->fixture, &scene);
        result = th_fixture_add(&r->fixture, &scene, &e->shared, err);
    }
    if (result == TH_OK)
        result = th_fixture_allocate(&r->fixture, err);

    for (uint32_t i = 0; i < r->count && result == TH_OK; i++) {
        th_entry *e = &entries[i];
        result = e->create(e, r->desc, &r->fixture, &rows[i], err);
        subjects[i] = (th_subject){e->before, e->run, e->timed_run, e->after, e->check, e->subject, &rows[i]};
    }
    if (result == TH_OK)
        result = measure_group(r, entries, rows, subjects, err);
    for (uint32_t i = 0; i < r->count; i++)
        if (entries[i].subject)
            entries[i].destroy(entries[i].subject);
    th_fixture_clear(&r->fixture);
    th_tracer_end(r->desc->tracer);
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

static th_result run_groups(bench_run *r, th_error *err)
{
    const th_bench_desc *desc = r->desc;
    const plan *p = &r->plan;
    th_report *out = r->report;
    for (uint32_t i = 0; i < p->count; i += group_length(p, i))
        r->comparisons++;
    for (; r->first < p->count; r->first += r->count) {
        r->comparison++;
        r->count = group_length(p, r->first);
        out->is_partial = desc->measure.stop && *desc->measure.stop;
        const th_result result = out->is_partial ? TH_OK : run_group(r, err);
        if (result != TH_OK)
            return result;
        if (r->first + r->count > p->count - p->external_count && desc->external->describe) {
            json_decref(out->picture); /* what is drawn is known once something was */
            out->picture = desc->external->describe(desc->external->ctx);
        }
        if (desc->finished)
            desc->finished(desc->finished_ctx, out, r->first, r->count);
        if (out->is_partial)
            break;
    }
    if (out->is_partial)
        th_report_interrupt(out);
    return TH_OK;
}

th_result th_bench_run(const th_bench_desc *desc, th_report *out, th_error *err)
{
    assert(desc && out);
    bench_run r = {.desc = desc, .report = out};
    plan *p = &r.plan;
    plan_init(p, desc->filter, desc->external);
    th_result result = th_measure_report_init(&desc->measure, p->count, out, err);
    if (result != TH_OK)
        return result;
    if (desc->counters && !desc->measure.is_dry_run)
        result = th_worker_counts_create(TH_JOBS_MAX_THREADS, &r.counters, err);
    const th_interference_mark begin = th_interference_begin();
    if (result == TH_OK)
        result = th_fixture_init(&r.fixture, &desc->scene, err);
    r.fixture.steps_per_us = p->jobs_count > 0 ? th_work_calibrate() : 0;
    for (uint32_t i = 0; i < p->count; i++)
        memcpy(out->rows[i].name, p->entries[i].name, sizeof out->rows[i].name);
    const bool has_scene = p->pose_count + p->external_count > 0;
    if (has_scene)
        out->scene = th_scene_json(NULL, &desc->scene); /* without what compiling shows */
    if (result == TH_OK)
        result = run_groups(&r, err);
    if (result == TH_OK && has_scene) {
        json_decref(out->scene);
        out->scene =
            th_scene_json(r.fixture.base_scenes[TH_SAMPLING_COMPILED][desc->scene.compile.interpolation], &desc->scene);
    }
    th_fixture_fini(&r.fixture);
    out->interference = th_interference_end(&begin);
    if (result == TH_OK && r.counters)
        th_counted_frames_end(r.counters, out);
    th_worker_counts_destroy(r.counters);
    if (result != TH_OK)
        th_report_fini(out);
    return result;
}
