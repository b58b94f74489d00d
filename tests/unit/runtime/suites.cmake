th_suite(animation_budget th::human th::runtime)
th_suite(frame th::human th::runtime WITH fixture_crowd fixture_human fixture_jobs fixture_memory random_model)
th_suite(tracer th_cli INSIDE WITH fixture_baselines fixture_jobs fixture_memory)
th_suite(workers th_cli INSIDE WITH fixture_baselines fixture_human fixture_jobs WRAP th_crowd_pose_layers th_jobs_run)
th_suite(misuse th::human th::render WITH fixture_document fixture_human WRAP th_misused)
# Of all modules.
th_suite(preconditions th::render th::bench WITH fixture_crowd fixture_end fixture_gl fixture_jobs random_model)
