th_suite(arena th::core)
th_suite(file th::anim WITH fixture_folder)
th_suite(subprocess th::core WITH fixture_folder)
