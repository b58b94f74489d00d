/* Well-known schedulers to compare the pool with: those of OpenMP, where the build has it. */
#ifndef THRONG_BENCH_BASELINES_H
#define THRONG_BENCH_BASELINES_H

/* Registers them for th_jobs_create. Call before the first pool is created; calling again is allowed. */
void th_baselines_register(void);

#endif
