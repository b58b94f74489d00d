/* The bench: pose evaluation, its baselines and its floor on one thread; the job system on a few.
 *
 *   pose/<isa>/<format>  compiled clips to palettes, for each instruction set this machine has, as is asked for
 *   pose/exact           the same with authored keys, as the file says
 *   pose/tutorial        the way of the tutorials
 *   limit/palette_write  the bytes of f32 palettes written and nothing else
 *   interp/<mode>/<isa>  all tracks interpolated in that mode, compiled; or in double precision, <isa> being "exact"
 *   crowd/<count>        so many characters, whatever the scene's number, on the best instruction set
 *   play/<how>           forward; or random: at another moment each frame
 *   clips/<which>        one: the first clip of each model; all: a mix of them
 *   jobs/<what>/<scheduler>  calls of the job system, and of others for comparison; docs/notes/measuring.md lists them
 *   and what the program brings along (external_benchmark.h)
 *
 * Frame i shows the crowd at i / TH_FRAME_RATE, so nothing can be kept from one frame to the next. */
#ifndef THRONG_BENCH_BENCH_H
#define THRONG_BENCH_BENCH_H

#include <throng/bench/external_benchmark.h>
#include <throng/bench/measure.h>
#include <throng/core/api.h>
#include <throng/runtime/scene.h>
#include <throng/runtime/tracer.h>

TH_API_BEGIN

typedef struct th_bench_desc {
    th_scene_desc
        scene; /* its rig.sampling and compiled_models do not matter: both are measured, what is needed is compiled */
    uint32_t threads; /* of the jobs/ entries */
    th_measure_desc measure;
    const char *filter;                     /* extended regular expression, valid; NULL: all */
    const th_external_benchmarks *external; /* NULL: none */
    th_tracer *tracer;                      /* NULL, or gets some more frames of each entry, not timed */
} th_bench_desc;

enum { TH_BENCH_MAX_ENTRIES = 256 };

/* Names of the entries that the filter lets through. The count may be 0. */
typedef struct th_bench_names {
    char names[TH_BENCH_MAX_ENTRIES][64];
    uint32_t count;
} th_bench_names;

th_bench_names th_bench_list(const char *filter, const th_external_benchmarks *external);

/* Checks, then times. An entry that fails its check has a row that says so. th_report_fini in the end when TH_OK. */
th_result th_bench_run(const th_bench_desc *desc, th_report *out, th_error *err);

/* Tables for people, as text or Markdown. False when memory is out. */
bool th_bench_print(const th_report *report, th_format format, FILE *file);

TH_API_END

#endif
