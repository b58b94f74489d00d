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
 *   play/<how>           forward; or random: at a random time each frame
 *   clips/<which>        one: the first clip of each model; all: a mix of them
 *   morph/<weights>      a synthetic model of 52 joints with so many morph weights, instead of the scene's models
 *   share/<hz>           characters that share poses, this many steps per second; off: none
 *   joints/<level>       characters at a joint level of detail (anim/joint_lod.h); bones are those that are evaluated
 *   blend/<what>         characters that play several clips at once, on the best instruction set
 *   throng-1/<scene>/<how>  the reference scenes, on each instruction set and, on the best one, on all CPUs; only where
 *                        the filter begins with "^throng-1/"
 *   jobs/<what>/<scheduler>  calls of the job system, and of others for comparison: see docs/notes/measuring.md
 *
 * and the program's own entries (external_benchmark.h): frames, and other programs.
 *
 * Frame i shows the crowd at i / TH_FRAME_RATE, so no result can be reused from frame to frame. */
#ifndef THRONG_BENCH_BENCH_H
#define THRONG_BENCH_BENCH_H

#include <bench/external_benchmark.h>
#include <bench/measure.h>
#include <core/table.h>
#include <throng/core/api.h>
#include <throng/runtime/scene.h>
#include <throng/runtime/tracer.h>

TH_API_BEGIN

typedef struct th_bench_desc {
    /* Its compile.sampling is ignored: both kinds are measured, and compiled as needed. */
    th_scene_desc scene;
    uint32_t threads; /* for the jobs/ entries */
    /* Arguments of a program that calls th_scheduler_process_main (scheduler_process.h), ending with NULL, the first
     * its path: each scheduler of a jobs/ entry runs in a process of its own, which is stopped when it is not its turn.
     * NULL, or with a tracer: all run in this process, and entries that need their own are skipped. */
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

/* Tables for people, as text or Markdown. False when memory is out. */
bool th_bench_print(const th_report *report, th_format format, FILE *file);

/* Prints the same as text while it is measured. */
typedef struct th_bench_printer {
    th_format format; /* TH_FORMAT_TEXT or TH_FORMAT_WIDE */
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

TH_API_END

#endif
