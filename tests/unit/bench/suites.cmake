# The arithmetic of results.
th_suite(bench_stats th::bench WITH fixture_samples)
th_suite(rank_test th::bench WITH fixture_samples)
th_suite(student th::bench WITH fixture_samples)
th_suite(fit th::bench WITH fixture_samples)
th_suite(pop_intervals th::bench INSIDE)
th_suite(capacity th::bench WITH fixture_samples WRAP th_quantile_interval)

# Measuring.
th_suite(measure th::bench WRAP th_runqueue_delay_open th_runqueue_delay_max)
th_suite(counters th::bench INSIDE WRAP fopen pread sched_getaffinity)
th_suite(counted_frames th::bench INSIDE WITH fixture_human
    WRAP syscall read th_crowd_pose_layers th_jobs_frame_begin)
th_suite(runqueue_delay th::bench WRAP pread)
th_suite(validate th::bench WITH random_model)
th_suite(sight th::bench)
th_suite(bench th::bench INSIDE NEEDS throng-import WITH fixture_baselines fixture_memory fixture_small random_model
    WRAP th_context_read th_crowd_pose th_compiled_model_create_with)
th_suite(scale th::bench INSIDE WITH fixture_baselines fixture_small
    WRAP th_crowd_hash th_memory_available th_bandwidth_measure)
th_suite(ranks th::bench WITH fixture_human fixture_made_up)
th_suite(stress th::bench INSIDE WITH fixture_document fixture_made_up fixture_small
    WRAP th_validate_palettes th_crowd_hash th_runqueue_delay_max)
th_suite(external_benchmarks th::bench WITH fixture_human)
th_suite(scheduler_process th::bench INSIDE NEEDS throng WITH fixture_baselines fixture_program)

# Results and reports; documents holds these against golden/documents/bench.
th_suite(documents th::bench INSIDE WITH fixture_document fixture_made_up fixture_result_file
    WRAP th_context_json th_context_version th_isa_best th_scheduler_available th_report_warnings)
th_suite(report th::bench)
th_suite(result_file th::bench WITH fixture_result_file)
th_suite(compare th::bench WITH fixture_result_file fixture_samples)
th_suite(memory th::bench NEEDS throng-import WITH fixture_import fixture_memory fixture_result_file)
