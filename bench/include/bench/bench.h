/* The benchmark entries: pose evaluation, its baselines and its memory floor on one thread; the job system on a few.
 *
 *   pose/<isa>/<format>  compiled clips to palettes, interpolated as requested, on each instruction set of this machine
 *   pose/exact           the same from authored keys, interpolated as the file says
 *   pose/tutorial        the tutorial method
 *   limit/write_cached, limit/write_streamed  only write the bytes of f32 palettes, into the caches or past them
 *   ceiling/<what>/<where>  what one core can do at most: multiply_add on an instruction set; read and write of l1, l2,
 *                        l3 and memory. With pose/ they give a roofline
 *   interp/<mode>/<isa>  all tracks in one mode: compiled, or in double precision where <isa> is "exact"
 *   crowd/<count>        this many characters, whatever the scene says, on the best instruction set
 *   threads/<count>      posed on 2 or all threads
 *   play/<how>           forward; or random: at a random time each frame
 *   clips/<which>        one: the first clip of each model; all: a mix of them
 *   morph/<weights>      a synthetic model of 52 joints with so many morph weights, instead of the scene's models
 *   share/<hz>           characters that share poses, this many steps per second; off: none
 *   joints/<level>       characters at a joint level of detail (anim/joint_lod.h); bones are those that are evaluated
 *   blend/<what>         characters that play several clips at once, on the best instruction set
 *   throng-1/<scene>/<how>  the reference scenes, on each instruction set and, on the best one, on all CPUs; only where
 *                        the filter begins with "^throng-1/"
 *   import/<model>, compile/<model>  a small, a usual (the human) and a large model: from a file, and its clips
 *   start/version        starting the program
 *   memory/<what>        bytes: of a character, as allocated; of a process that poses a crowd:10000, at its peak
 *   jobs/<what>/<scheduler>  calls of the job system, and of others for comparison: see docs/notes/measuring.md
 *
 * and the program's own entries (th_external_benchmark): frames, and other programs.
 *
 * Frame i shows the crowd at i / TH_FRAME_RATE, so no result can be reused from frame to frame. */
#ifndef THRONG_BENCH_BENCH_H
#define THRONG_BENCH_BENCH_H

#include <bench/measure.h>
#include <core/table.h>
#include <runtime/scene.h>
#include <runtime/tracer.h>

/* External benchmarks: entries that the program adds to those of this library, such as frames that are drawn, or
 * another program's poses. They are filtered like the others. */
typedef struct th_external_benchmark th_external_benchmark;
struct th_external_benchmark {
    const char *name; /* "what/how", shorter than 64 bytes */
    const void *what; /* the program's, for create */
    /* Adjacent entries with equal `shape` are compared: created together, measured interleaved, destroyed together.
     * NULL: compared with pose/ and limit/ and listed behind them; all others come last. */
    const void *shape;
    bool is_baseline; /* the entry that others of its shape are compared with; at most one */
    /* Creates the subject. Fills in the row's unit, threads, characters and bones, and `failure` if a check fails. If
     * create itself fails, the entry is left out and the reason goes into the report. *out is destroyed in either case;
     * the row outlives it. */
    th_result (*create)(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out, th_error *err);
    /* As in th_subject. */
    void (*before)(void *subject);
    void (*run)(void *subject, uint64_t frame);
    th_lap (*timed_run)(void *subject, uint64_t first, uint32_t iterations);
    void (*after)(void *subject);
    void (*check)(void *subject, uint64_t frame);
    /* Adds fields to the row. baseline: NULL when it was not measured. */
    void (*summarize)(void *subject, const th_row *baseline, th_row *row);
    void (*destroy)(void *subject);
};

typedef struct th_external_benchmarks {
    const th_external_benchmark *entries;
    uint32_t count;
    void *ctx;                      /* the program's, for create; not used to list entries */
    json_t *(*describe)(void *ctx); /* th_report.picture, called after each comparison; NULL: no picture */
} th_external_benchmarks;

typedef struct th_bench_desc {
    /* Its compile.sampling is ignored: both kinds are measured, and compiled as needed. */
    th_scene_desc scene;
    uint32_t threads; /* for the jobs/ entries */
    /* Arguments of a program that calls th_scheduler_process_main, ending with NULL, the first its path: each scheduler
     * of a jobs/ entry runs in a process of its own, which is stopped when it is not its turn. NULL, or with a tracer:
     * all run in this process, and entries that need their own are skipped. */
    const char *const *scheduler_program;
    th_measure_desc measure;
    const char *filter;                     /* extended regular expression, valid; NULL: all */
    const th_external_benchmarks *external; /* NULL: none */
    /* After each group of compared entries: their rows are complete. May be NULL. */
    void (*finished)(void *ctx, const th_report *report, uint32_t first, uint32_t count);
    void *finished_ctx;
    /* Counts additional frames of entries that pose the crowd, not timed; those of threads of jobs/ and of external
     * entries are not counted. */
    bool counters;
    th_tracer *tracer; /* may be NULL; gets a few additional frames of each entry, not timed */
} th_bench_desc;

enum { TH_BENCH_MAX_ENTRIES = 320 };

/* Of the names of reference scenes, which have a version. */
#define TH_REFERENCE_PREFIX "throng-1/"

/* Names of the entries that match the filter. The count may be 0. */
typedef struct th_bench_names {
    char names[TH_BENCH_MAX_ENTRIES][64];
    uint32_t count;
} th_bench_names;

th_bench_names th_bench_list(const char *filter, const th_external_benchmarks *external);

/* Checks, then times. If measure.stop ends it, the report is partial. The row of an entry that fails its check says so.
 * Call th_report_fini in the end if it returned TH_OK. */
th_result th_bench_run(const th_bench_desc *desc, th_report *out, th_error *err);

/* The process of one scheduler, for the jobs/ entries. Threads that spin after a call would take their CPU from the
 * scheduler whose turn comes next, and a runtime reads how its threads shall wait only when its process starts. */
#define TH_SCHEDULER_COMMAND "bench-scheduler" /* in no help: the first argument of the process */

/* What a program calls when it was started as th_bench_desc.scheduler_program, after th_baselines_register: answers on
 * its standard input until that is closed. Returns the exit code. */
int th_scheduler_process_main(void);

/* Tables for people, as text or Markdown. False when memory is out. */
bool th_bench_print(const th_report *report, th_output_format format, FILE *file);

/* Prints the same as text while it is measured. */
typedef struct th_bench_printer {
    th_output_format format; /* TH_OUTPUT_TEXT or TH_OUTPUT_WIDE */
    FILE *file;
    /* The table in progress; zero at first: */
    int view;
    th_table_widths widths;
    const th_row *last;
    bool failed;
} th_bench_printer;

/* As th_bench_desc.finished, with the printer as ctx. Rows that were skipped or are wrong are left out. */
void th_bench_printer_add(void *printer, const th_report *report, uint32_t first, uint32_t count);

/* Prints what stands below the tables. False when memory is out. */
bool th_bench_printer_end(th_bench_printer *printer, const th_report *report);

#endif
