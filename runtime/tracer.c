#include <runtime/tracer.h>

#include <core/cache_line.h>
#include <core/clock.h>
#include <core/json.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 15, TIDS = 1000 /* TIDS: of a group; thread ids are unique, because reused ids confuse viewers */ };

typedef enum event_kind { STAGE, FRAME, CHUNK, COUNTER, KIND_COUNT } event_kind;

static const char *const categories[KIND_COUNT] = {"stage", "frame", "chunk", "counter"};

typedef struct event {
    uint64_t start_ns, end_ns;
    const char *name;
    union {
        uint32_t items[2]; /* of a chunk: begin, end */
        uint64_t number;   /* of a frame */
        double value;      /* of a counter */
    };
    uint32_t group;
    event_kind kind;
} event;

/* Written only by its thread. The main thread may read a call's events once the call has ended. */
typedef struct track {
    event *events;     /* NULL: this thread has recorded nothing */
    uint64_t recorded; /* the next one goes to events[recorded % TH_TRACER_EVENTS] */
    char apart[2 * TH_CACHE_LINE - sizeof(event *) - sizeof(uint64_t)]; /* x86 fetches lines in pairs */
} track;

typedef struct group {
    char *name;
    uint32_t threads; /* of the largest pool in its frames */
} group;

struct th_tracer {
    track tracks[TH_JOBS_MAX_THREADS]; /* [worker]; the main thread is worker 0 of any pool */
    uint64_t created_ns;
    group *groups;
    uint32_t group_count, current;
    event open[MAX_DEPTH];
    uint32_t depth;
    bool out_of_memory;
};

/* ---- making ---- */

static bool add_track(track *t)
{
    if (!t->events) {
        const size_t bytes = TH_TRACER_EVENTS * sizeof *t->events;
        t->events = th_cache_line_alloc(bytes);
        if (t->events)
            memset(t->events, 0, bytes); /* touches the pages, so that recording does not wait for them */
    }
    return t->events != NULL;
}

th_result th_tracer_create(const char *name, th_tracer **out, th_error *err)
{
    assert(name && out);
    th_tracer *tracer = *out = calloc(1, sizeof *tracer);
    if (tracer) {
        tracer->created_ns = th_clock_ns();
        tracer->out_of_memory = !add_track(&tracer->tracks[0]);
        th_tracer_group(tracer, name);
        if (!tracer->out_of_memory)
            return TH_OK;
    }
    th_tracer_destroy(tracer);
    *out = NULL;
    return th_fail(err, TH_ERR_MEMORY, "no memory for a trace");
}

void th_tracer_destroy(th_tracer *tracer)
{
    if (!tracer)
        return;
    for (uint32_t w = 0; w < TH_JOBS_MAX_THREADS; w++)
        free(tracer->tracks[w].events);
    for (uint32_t g = 0; g < tracer->group_count; g++)
        free(tracer->groups[g].name);
    free(tracer->groups);
    free(tracer);
}

void th_tracer_group(th_tracer *tracer, const char *name)
{
    if (!tracer)
        return;
    for (uint32_t d = 0; d < tracer->depth; d++)
        assert(tracer->open[d].kind != FRAME);
    tracer->current = 0;
    while (name && tracer->current < tracer->group_count && strcmp(tracer->groups[tracer->current].name, name) != 0)
        tracer->current++;
    if (tracer->current < tracer->group_count)
        return;
    char *copy = strdup(name);
    group *groups = realloc(tracer->groups, (tracer->group_count + 1) * sizeof *groups);
    if (groups)
        tracer->groups = groups;
    if (!copy || !groups) {
        free(copy);
        tracer->out_of_memory = true;
        tracer->current = 0;
        return;
    }
    groups[tracer->group_count++] = (group){.name = copy};
}

/* ---- recording ---- */

static event *next_event(track *t)
{
    assert(t->events);
    return &t->events[t->recorded++ % TH_TRACER_EVENTS];
}

static void open_span(th_tracer *tracer, const char *name, event_kind kind, uint64_t number, uint64_t now_ns)
{
    assert(name);
    assert(tracer->depth < MAX_DEPTH);
    tracer->open[tracer->depth++] =
        (event){.start_ns = now_ns, .name = name, .number = number, .group = tracer->current, .kind = kind};
}

static void close_span(th_tracer *tracer, uint64_t now_ns)
{
    assert(tracer->depth > 0);
    event *span = &tracer->open[--tracer->depth];
    span->end_ns = now_ns;
    *next_event(&tracer->tracks[0]) = *span;
}

uint64_t th_tracer_begin(th_tracer *tracer, const char *name)
{
    assert(name);
    const uint64_t now_ns = th_clock_ns();
    if (tracer)
        open_span(tracer, name, STAGE, 0, now_ns);
    return now_ns;
}

uint64_t th_tracer_end(th_tracer *tracer)
{
    assert(!tracer || (tracer->depth > 0 && tracer->open[tracer->depth - 1].kind == STAGE));
    const uint64_t now_ns = th_clock_ns();
    if (tracer)
        close_span(tracer, now_ns);
    return now_ns;
}

uint64_t th_tracer_next(th_tracer *tracer, const char *name)
{
    assert(!tracer || (tracer->depth > 0 && tracer->open[tracer->depth - 1].kind == STAGE));
    const uint64_t now_ns = th_clock_ns();
    if (tracer) {
        close_span(tracer, now_ns);
        open_span(tracer, name, STAGE, 0, now_ns);
    }
    return now_ns;
}

void th_tracer_count(th_tracer *tracer, const char *name, double value)
{
    assert(name);
    if (!tracer || !isfinite(value))
        return;
    const uint64_t now_ns = th_clock_ns();
    *next_event(&tracer->tracks[0]) = (event){
        .start_ns = now_ns, .end_ns = now_ns, .name = name, .value = value, .group = tracer->current, .kind = COUNTER};
}

/* Runs within a call in a frame, so neither the group nor the open spans change meanwhile. */
static void record_chunk(const th_span *span, void *ctx)
{
    th_tracer *tracer = ctx;
    assert(tracer->depth > 0 && span->worker < TH_JOBS_MAX_THREADS);
    *next_event(&tracer->tracks[span->worker]) = (event){
        .start_ns = span->start_ns,
        .end_ns = span->end_ns,
        .name = tracer->open[tracer->depth - 1].name,
        .items = {span->begin, span->end},
        .group = tracer->current,
        .kind = CHUNK,
    };
}

void th_tracer_frame_begin(th_tracer *tracer, th_jobs *jobs, uint64_t number)
{
    if (!tracer)
        return;
    const uint32_t threads = jobs ? th_jobs_threads(jobs) : 1;
    group *g = &tracer->groups[tracer->current];
    g->threads = threads > g->threads ? threads : g->threads;
    for (uint32_t w = 0; w < threads; w++)
        if (!add_track(&tracer->tracks[w]))
            tracer->out_of_memory = true;
    if (jobs && !tracer->out_of_memory)
        th_jobs_trace(jobs, record_chunk, tracer);
    open_span(tracer, "frame", FRAME, number, th_clock_ns());
}

void th_tracer_frame_end(th_tracer *tracer, th_jobs *jobs)
{
    if (!tracer)
        return;
    assert(tracer->depth > 0 && tracer->open[tracer->depth - 1].kind == FRAME);
    close_span(tracer, th_clock_ns());
    if (jobs)
        th_jobs_trace(jobs, NULL, NULL);
}

/* ---- what is there ---- */

static uint64_t count_of(const track *t)
{
    return t->recorded < TH_TRACER_EVENTS ? t->recorded : TH_TRACER_EVENTS;
}

/* Visits a thread's events from the oldest on. They are sorted by end. */
static const event *event_at(const track *t, uint64_t index)
{
    assert(index < count_of(t));
    return &t->events[(t->recorded - count_of(t) + index) % TH_TRACER_EVENTS];
}

uint64_t th_tracer_recorded(const th_tracer *tracer)
{
    assert(tracer);
    uint64_t sum = 0;
    for (uint32_t w = 0; w < TH_JOBS_MAX_THREADS; w++)
        sum += tracer->tracks[w].recorded;
    return sum;
}

/* Threads fill their buffers at different speeds: from this moment on all have complete records. */
static uint64_t complete_from_ns(const th_tracer *tracer)
{
    uint64_t from_ns = tracer->created_ns;
    for (uint32_t w = 0; w < TH_JOBS_MAX_THREADS; w++) {
        const track *t = &tracer->tracks[w];
        if (t->recorded > TH_TRACER_EVENTS && event_at(t, 0)->end_ns > from_ns)
            from_ns = event_at(t, 0)->end_ns;
    }
    return from_ns;
}

typedef struct placed {
    const event *event;
    uint64_t index; /* in its track; a span comes after the spans within it */
    uint32_t worker;
} placed;

/* Collects the events that end after the moment of completeness. out: NULL to count only. */
static uint64_t collect(const th_tracer *tracer, placed *out)
{
    const uint64_t from_ns = complete_from_ns(tracer);
    uint64_t count = 0;
    for (uint32_t w = 0; w < TH_JOBS_MAX_THREADS; w++) {
        const track *t = &tracer->tracks[w];
        for (uint64_t i = 0; i < count_of(t); i++) {
            const event *e = event_at(t, i);
            if (e->end_ns < from_ns)
                continue;
            if (out)
                out[count] = (placed){e, i, w};
            count++;
        }
    }
    return count;
}

th_tracer_extent th_tracer_get_extent(const th_tracer *tracer)
{
    assert(tracer);
    th_tracer_extent extent = {
        .kept = collect(tracer, NULL),
        .complete_from_ns = complete_from_ns(tracer) - tracer->created_ns,
    };
    extent.dropped = th_tracer_recorded(tracer) - extent.kept;
    return extent;
}

/* ---- writing ---- */

typedef struct writer {
    FILE *file;
    bool has_any; /* events */
    bool failed;  /* out of memory */
} writer;

static int compare(const void *one, const void *other)
{
    const placed *a = one, *b = other;
    if (a->event->start_ns != b->event->start_ns)
        return a->event->start_ns < b->event->start_ns ? -1 : 1;
    if (a->event->end_ns != b->event->end_ns)
        return a->event->end_ns > b->event->end_ns ? -1 : 1;
    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    return a->index > b->index ? -1 : 1;
}

static void write_text(writer *w, const char *text)
{
    json_t *json = th_json_text(text);
    if (!json || !th_json_put(json, 0, w->file))
        w->failed = true;
    json_decref(json);
}

static void write_us(const writer *w, const char *name, uint64_t ns)
{
    fprintf(w->file, ",\"%s\":%llu.%03u", name, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

/* One event per line. */
static void begin_event(writer *w, char phase, uint32_t g, uint32_t worker)
{
    fprintf(w->file, "%s\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", w->has_any ? "," : "", phase, g + 1,
            (g + 1) * TIDS + worker);
    w->has_any = true;
}

/* what: "process" or "thread". */
static void write_name(writer *w, const char *what, uint32_t g, uint32_t worker, const char *name, uint32_t order)
{
    begin_event(w, 'M', g, worker);
    fprintf(w->file, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
    write_text(w, name);
    fputs("}}", w->file);
    begin_event(w, 'M', g, worker);
    fprintf(w->file, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%u}}", what, order);
}

th_result th_tracer_write(th_tracer *tracer, const char *producer, FILE *file, th_error *err)
{
    assert(tracer && producer && file);
    writer w = {.file = file, .failed = tracer->out_of_memory};
    const uint64_t now_ns = th_clock_ns();
    while (tracer->depth > 0)
        close_span(tracer, now_ns);
    const uint64_t count = collect(tracer, NULL);
    placed *events = malloc((count + 1) * sizeof *events);
    w.failed = w.failed || !events;
    if (!w.failed) {
        const th_tracer_extent extent = th_tracer_get_extent(tracer);
        collect(tracer, events);
        qsort(events, count, sizeof *events, compare);
        fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":", file);
        write_text(&w, producer);
        write_us(&w, "wall_us", now_ns - tracer->created_ns);
        write_us(&w, "complete_from_us", extent.complete_from_ns);
        fprintf(file, ",\"dropped_events\":%llu},\n\"traceEvents\":[", (unsigned long long)extent.dropped);
    }
    for (uint32_t g = 0; !w.failed && g < tracer->group_count; g++) {
        write_name(&w, "process", g, 0, tracer->groups[g].name, g);
        write_name(&w, "thread", g, 0, "main", 0);
        for (uint32_t worker = 1; worker < tracer->groups[g].threads; worker++) { /* idle ones too, so that they show */
            char name[32];
            snprintf(name, sizeof name, "worker %u", worker);
            write_name(&w, "thread", g, worker, name, worker);
        }
    }
    for (uint64_t i = 0; i < count && !w.failed; i++) {
        const event *e = events[i].event;
        begin_event(&w, e->kind == COUNTER ? 'C' : 'X', e->group, events[i].worker);
        write_us(&w, "ts", e->start_ns - tracer->created_ns);
        if (e->kind != COUNTER)
            write_us(&w, "dur", e->end_ns - e->start_ns);
        fprintf(file, ",\"cat\":\"%s\",\"name\":", categories[e->kind]);
        write_text(&w, e->name);
        if (e->kind == CHUNK)
            fprintf(file, ",\"args\":{\"begin\":%u,\"end\":%u}", e->items[0], e->items[1]);
        else if (e->kind == FRAME)
            fprintf(file, ",\"args\":{\"frame\":%llu}", (unsigned long long)e->number);
        else if (e->kind == COUNTER)
            fprintf(file, ",\"args\":{\"value\":%.12g}", e->value);
        fputc('}', file);
    }
    fputs("]}\n", file);
    free(events);
    return w.failed && !ferror(file) ? th_fail(err, TH_ERR_MEMORY, "no memory for a trace") : TH_OK;
}
