/* The entries external/<program>/<entry> of the bench: frames of other programs, measured in turns with pose/ entries.
 *
 * A program times its own frames, because our clock would include the way to it and back. What it says is held against
 * our clock. docs/reference/external.md has the protocol. A program is killed when the thread that started it ends. */
#ifndef TH_CLI_BENCH_PROGRAMS_H
#define TH_CLI_BENCH_PROGRAMS_H

#include <bench/bench.h>

enum { TH_BENCH_PROGRAMS_MAX_ENTRIES = 32 }; /* of all programs */

typedef struct th_bench_programs th_bench_programs;

typedef struct th_bench_programs_desc {
    const char *const *commands; /* of a shell; borrowed */
    uint32_t count;
    double timeout_s; /* of each answer */
} th_bench_programs_desc;

/* Starts the programs and asks for their entries. Fails if one of them does not describe itself as it should. Call
 * th_bench_programs_stop in any case, from the same thread: it ends their input, kills those that do not end in a
 * second, and waits for them. */
th_result th_bench_programs_start(const th_bench_programs_desc *desc, th_bench_programs **out, th_error *err);
void th_bench_programs_stop(th_bench_programs *programs);

/* The programs' entries and others. Valid until the next call. */
th_external_benchmarks th_bench_programs_join(th_bench_programs *programs, const th_external_benchmarks *others);

/* CPU time of the programs so far. It is none of other programs' interference. */
double th_bench_programs_cpu_s(th_bench_programs *programs);

#endif
