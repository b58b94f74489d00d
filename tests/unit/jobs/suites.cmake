# All schedulers that the build has, as `throng` has them: fixture_baselines.
th_suite(jobs th::bench INSIDE WITH fixture_baselines fixture_jobs WRAP pthread_create)
th_suite(jobs_calls th::bench INSIDE WITH fixture_baselines fixture_jobs)
set_property(TEST jobs jobs_calls APPEND PROPERTY ENVIRONMENT CRITERION_FAIL_FAST=1) # where one hangs, many do
th_suite(cpus th::jobs INSIDE)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc) # judges what we make of machines
th_suite(placement th::bench PkgConfig::HWLOC INSIDE WITH fixture_baselines fixture_jobs
    WRAP calloc sched_getcpu th_topology_read)
