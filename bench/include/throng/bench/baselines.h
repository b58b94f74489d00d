/* The schedulers that people know, to compare the pool with: OpenMP and oneTBB, where the build has them. */
#ifndef THRONG_BENCH_BASELINES_H
#define THRONG_BENCH_BASELINES_H

#include <throng/core/api.h>

TH_API_BEGIN

/* Makes them available to th_jobs_create. Before the first pool; again is fine. */
void th_baselines_register(void);

TH_API_END

#endif
