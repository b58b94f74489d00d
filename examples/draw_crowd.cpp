// draw_crowd [MODEL [FRAMES]]: a crowd drawn with Throng's renderer, in a window, or off screen without a display, and
// then one frame unless told otherwise. Without a model file it draws the embedded human.
#include <throng/render.h>

#include <GLFW/glfw3.h>
#include <cstdio>
#include <cstdlib>

static void check(th_result result, const th_error &err)
{
    if (result == TH_OK)
        return;
    std::fprintf(stderr, "draw_crowd: %s\n", err.text);
    std::exit(result == TH_ERR_INPUT || result == TH_ERR_LIMIT ? 3 : 4);
}

int main(int argc, char **argv)
{
    th_error err;
    th_model *model;
    th_import_desc import{};
    import.path = argv[1];
    check(argc > 1 ? th_import(&import, &model, &err) : th_human_create(&model, &err), err);

    th_gl *gl; // a window, or a context without one: where there is no OpenGL 4.3 the error says what was tried
    th_gl_desc any{};
    check(th_gl_create(&any, &gl, &err), err);
    th_target *target;
    th_target_desc size{};
    size.width = 1280, size.height = 720, size.samples = 4;
    check(th_target_create(&size, &target, &err), err);

    th_crowd_view *view; // everybody plays one of all clips, on a grid, and the camera sees all of them
    th_crowd_view_desc desc{};
    desc.models[0] = model, desc.clips[0] = TH_NO_INDEX, desc.model_count = 1;
    desc.count = 200, desc.shadow_pixels = 2048;
    th_crowd_view_desc_set_scene(&desc, TH_LAYOUT_GRID);
    check(th_crowd_view_create(&desc, gl, &view, &err), err);
    const th_camera camera = th_crowd_view_camera(view, 16 / 9.0F, 0);

    GLFWwindow *window = th_gl_window(gl);
    const int frames = argc > 2 ? std::atoi(argv[2]) : window ? 0 : 1;
    for (int f = 0; (frames == 0 || f < frames) && !(window && glfwWindowShouldClose(window)); f++) {
        if (!th_crowd_view_frame(view, f / 60.0, &camera, target))
            return std::fprintf(stderr, "draw_crowd: no memory for the palettes\n"), 4;
        th_target_resolve(target);
        if (window)
            th_target_show(target, gl), th_gl_swap(gl), glfwPollEvents();
    }
    check(th_gl_check(gl, "while the crowd was drawn", &err), err);
    const uint32_t visible = th_crowd_view_get_stats(view).visible;
    std::printf("%u characters, drawn by %s\n", visible, th_gl_get_info(gl)->renderer);

    th_crowd_view_destroy(view);
    th_target_destroy(target);
    th_gl_destroy(gl);
    th_model_destroy(model);
    return visible > 0 ? 0 : 1;
}
