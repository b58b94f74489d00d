# The programs' own code in process: command line, window, server.
th_suite(aim th_cli INSIDE)
th_suite(options th_cli INSIDE WITH fixture_baselines)
th_suite(bench_frames th_cli th_glad INSIDE WITH fixture_coarse_human fixture_end fixture_gl)
th_suite(load_test_gl th_cli INSIDE WITH fixture_coarse_human fixture_end fixture_gl)

th_suite(controls th_cli PkgConfig::GLFW INSIDE)
th_suite(history th_cli INSIDE)
th_suite(live_settings th_cli INSIDE WITH fixture_baselines WRAP th_scheduler_available)
th_suite(view_hud th_cli th_glad INSIDE WITH fixture_end fixture_gl)
th_suite(viewpoint th_cli INSIDE)

th_suite(head th::serve INSIDE)
th_suite(prometheus th::serve INSIDE)
th_suite(request_filter th::serve INSIDE)
th_suite(settings th_cli INSIDE)
th_suite(simulation th::serve INSIDE WITH fixture_small)
th_suite(time_series th::serve INSIDE)
