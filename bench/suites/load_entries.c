/* The entries of what comes before a frame: import/, compile/ and start/ take time, memory/ takes bytes. */
#include "registry.h"

#include <anim/glb.h>
#include <anim/synthetic.h>
#include <core/clock.h>
#include <core/json.h>
#include <core/subprocess.h>
#include <throng/throng.h>

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of import/ and compile/. */
typedef enum size { NO_MODEL, SMALL, USUAL, LARGE } size;

typedef struct load {
    th_result (*run)(struct load *l, th_error *err);
    const char *program;
    const th_scene *scene;
    th_model *model; /* NULL: none */
    char path[256];  /* of its file; "": none */
    th_row *row;
    double bytes; /* that an iteration took; 0: unknown */
} load;

/* Of all that is allocated. Nothing else runs meanwhile. */
static double heap_bytes(void)
{
    const struct mallinfo2 heap = mallinfo2();
    return (double)heap.uordblks + (double)heap.hblkhd;
}

/* ---- operations ---- */

static th_result import_model(load *l, th_error *err)
{
    th_model *model = NULL;
    const th_result result = th_import(&(th_import_desc){.path = l->path}, &model, err);
    th_model_destroy(model);
    return result;
}

static th_result compile_model(load *l, th_error *err)
{
    th_compiled_model *compiled = NULL;
    const double before = heap_bytes();
    const th_result result = th_compiled_model_create(&(th_compiled_model_desc){.model = l->model}, &compiled, err);
    l->bytes = (heap_bytes() - before) / l->model->clip_count;
    th_compiled_model_destroy(compiled);
    return result;
}

static th_result create_crowd(load *l, th_error *err)
{
    th_crowd *crowd = NULL;
    void *palettes = NULL;
    const double before = heap_bytes();
    th_result result = th_scene_crowd(l->scene, TH_ISA_AUTO, TH_FORMAT_F32, &crowd, err);
    result = result == TH_OK ? th_palettes_create(crowd, &palettes, err) : result;
    l->bytes = (heap_bytes() - before) / l->scene->instance_count;
    th_palettes_destroy(palettes);
    th_crowd_destroy(crowd);
    return result;
}

static th_result run_program(load *l, const char *const *arguments, struct rusage *used, th_error *err)
{
    int status = -1;
    pid_t pid;
    const th_subprocess_desc desc = {.program = l->program, .arguments = arguments, .files = {-1, -1, -1}};
    const int error = th_subprocess_start(&desc, &pid);
    while (!error && wait4(pid, &status, 0, used) < 0 && errno == EINTR)
        ;
    return error || status ? th_fail(err, TH_ERR_ENVIRONMENT, "%s %s fails", l->program, arguments[1]) : TH_OK;
}

static th_result start(load *l, th_error *err)
{
    struct rusage used;
    return run_program(l, (const char *const[]){"throng", "--version", NULL}, &used, err);
}

/* The peak of a new process begins with that of ours, which 5 sets back to what we have now (proc(5)). */
static th_result pose_crowd(load *l, th_error *err)
{
    static const char *const words[] = {"throng", "bench", "--dry-run", "--filter", "^crowd/10000$", NULL};
    struct rusage used = {0}, own;
    FILE *peak = fopen("/proc/self/clear_refs", "w");
    if (peak) {
        fputc('5', peak);
        fclose(peak);
    }
    const th_result result = run_program(l, words, &used, err);
    getrusage(RUSAGE_SELF, &own);
    l->bytes = used.ru_maxrss > own.ru_maxrss ? (double)used.ru_maxrss * 1024 : 0;
    return result;
}

/* ---- the entries ---- */

static const struct operation {
    const char *name;
    th_result (*run)(load *l, th_error *err);
    size model;
} operations[] = {
    {"import/small", import_model, SMALL},        {"import/usual", import_model, USUAL},
    {"import/large", import_model, LARGE},        {"compile/small", compile_model, SMALL},
    {"compile/usual", compile_model, USUAL},      {"compile/large", compile_model, LARGE},
    {"start/version", start, NO_MODEL},           {"memory/character", create_crowd, NO_MODEL},
    {"memory/crowd:10000", pose_crowd, NO_MODEL},
};

static th_result create_model(load *l, size wanted, th_error *err)
{
    static const th_synthetic_desc descs[] = {
        [SMALL] = {.joints = 16, .clips = 1, .keys = 31, .rate = 30, .moving = 100},
        [LARGE] = {.joints = 120, .clips = 6, .keys = 91, .rate = 30, .moving = 100}};
    const char *folder = getenv("TMPDIR");
    const th_result result =
        wanted == USUAL ? th_human_create(&l->model, err) : th_synthetic_create(&descs[wanted], &l->model, err);
    if (result != TH_OK || l->run != import_model)
        return result;
    snprintf(l->path, sizeof l->path, "%s/throng-XXXXXX.glb", folder ? folder : "/tmp");
    const int file = mkstemps(l->path, 4);
    if (file < 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "%s cannot be made", l->path);
    close(file);
    return th_glb_write(l->model, l->path, err);
}

static void destroy(void *subject)
{
    load *l = subject;
    if (l->path[0])
        unlink(l->path);
    th_model_destroy(l->model);
    free(l);
}

static th_result create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                        th_error *err)
{
    const struct operation *o = entry->variant;
    load *l = entry->subject = calloc(1, sizeof *l);
    (void)fixture;
    if (!l)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", entry->name);
    *l = (load){.run = o->run, .row = row, .scene = entry->shared ? entry->shared->scene : NULL};
    l->program = desc->scheduler_program ? desc->scheduler_program[0] : NULL;
    row->time_unit = "ms";
    row->threads = 1;
    row->has_helpers = true; /* other processes, and threads that compile */
    if (!l->program && (o->run == start || o->run == pose_crowd))
        th_row_skip(row, "%s starts the program itself", entry->name);
    return o->model ? create_model(l, o->model, err) : TH_OK;
}

/* With the CPU time of processes that it waited for. */
static th_lap timed_run(void *subject, uint64_t first, uint32_t iterations)
{
    load *l = subject;
    th_error err;
    (void)first;
    const uint64_t cpu = th_clock_family_cpu_ns(), start_ns = th_clock_ns();
    for (uint32_t i = 0; i < iterations && !l->row->failure[0]; i++)
        if (l->run(l, &err) != TH_OK)
            th_row_fail(l->row, "%s", err.text);
    const uint64_t real = th_clock_ns() - start_ns;
    return (th_lap){real, th_clock_family_cpu_ns() - cpu};
}

static void run_once(void *subject, uint64_t frame)
{
    timed_run(subject, frame, 1);
}

static void summarize(const th_entry *entry, const th_row *baseline, th_row *row)
{
    const load *l = entry->subject;
    (void)baseline;
    if (l->bytes > 0)
        row->own = json_pack("{s:o}", "bytes", th_json_count((uint64_t)l->bytes));
}

static void keep_scene(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry, (void)fixture, (void)desc;
}

uint32_t th_load_entries(th_entry *entries)
{
    enum { COUNT = sizeof operations / sizeof *operations };
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct operation *o = &operations[i]; /* each by itself */
        entries[i] = (th_entry){.shape = o,
                                .variant = o,
                                .set_scene = o->run == create_crowd ? keep_scene : NULL,
                                .create = create,
                                .run = run_once,
                                .timed_run = timed_run,
                                .summarize = summarize,
                                .destroy = destroy};
        snprintf(entries[i].name, sizeof entries[i].name, "%s", o->name);
    }
    return COUNT;
}
