# What needs no context.
th_suite(camera th::render WITH fixture_end random_model)
th_suite(chunk th::render INSIDE WITH random_model)
th_suite(cull th::render WITH fixture_end random_model)
th_suite(layout th::render INSIDE WITH fixture_end random_model)
th_suite(surroundings th::render INSIDE WITH fixture_end)
th_suite(frame_writer th::render WITH fixture_end fixture_folder random_model)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/test_frame_writer.c PROPERTIES
    COMPILE_OPTIONS -Wno-unused-function) # stb's
th_suite(image th::render INSIDE WITH fixture_end fixture_render_mesh)
if(WEBP_FOUND)
    target_compile_definitions(test_image PRIVATE TH_HAVE_WEBP)
endif()
th_suite(render_mesh th::human th::render INSIDE NEEDS throng-import
    WITH fixture_coarse_human fixture_end fixture_import fixture_memory fixture_render_mesh random_model)

# Contexts, then what is drawn in them, also in windows.
th_embed_shaders(shaders_of_tests
    unit/render/shaders/apart.frag unit/render/shaders/box.frag unit/render/shaders/box.vert
    unit/render/shaders/broken.frag unit/render/shaders/double.comp unit/render/shaders/place.glsl)
th_suite(gl th::render th_glad SCREEN WITH fixture_end fixture_gl WRAP dlopen gladLoadEGL gladLoadGL)
th_suite(target th::render th_glad shaders_of_tests INSIDE SCREEN WITH fixture_end fixture_gl)
target_compile_definitions(test_target PRIVATE TEST_SHADERS="${CMAKE_CURRENT_LIST_DIR}/shaders")
th_suite(hud th::render th_glad SCREEN WITH fixture_end fixture_gl fixture_golden fixture_memory)
th_suite(gpu_clock th::render th_glad INSIDE WITH fixture_end fixture_gl)
th_suite(ring th::render th_glad th_shaders Threads::Threads INSIDE WITH fixture_end fixture_gl)
th_suite(indirect th::render th_glad PkgConfig::CGLM INSIDE
    WITH fixture_boxes fixture_end fixture_gl fixture_golden fixture_picture random_model)
th_suite(gpu_evaluator th::human th::render th_glad NEEDS throng-import
    WITH fixture_end fixture_gl fixture_crowd fixture_import fixture_morph random_model)
th_suite(gpu_cull th::human th::render th_glad th_shaders INSIDE
    WITH fixture_coarse_human fixture_end fixture_gl fixture_memory fixture_shown random_model
    WRAP th_gl_get_info th_jobs_run th_program_create)
th_suite(barriers th::human th::render th_glad
    WITH fixture_coarse_human fixture_end fixture_gl fixture_shown WRAP th_gl_get_info)
th_suite(crowd_view th::human th::render th_glad INSIDE
    WITH fixture_coarse_human fixture_end fixture_gl fixture_memory fixture_shown WRAP th_gl_get_info th_ring_end)
th_suite(crowd_view_rebuild th_cli INSIDE WITH fixture_coarse_human fixture_end fixture_gl)
th_suite(screen_error th::human th::render INSIDE
    WITH fixture_coarse_human fixture_end fixture_gl fixture_memory fixture_shown WRAP th_gl_get_info)

# Pictures held against others.
th_suite(crowd_renderer th::human th::render PkgConfig::CGLM
    WITH fixture_boxes fixture_coarse_human fixture_end fixture_gl fixture_golden fixture_picture fixture_skin random_model)
th_suite(golden th::human th::render PkgConfig::CGLM PkgConfig::JANSSON NEEDS throng throng-import
    WITH fixture_coarse_human fixture_end fixture_gl fixture_golden fixture_import fixture_picture fixture_program
    random_model)
