/* render_crowd [MODEL [FILE]]: a picture of 200 characters, drawn off screen with Throng's renderer, as PNG. Without a
 * model file it draws the embedded human. */
#include <throng/render.h>

#include <stdio.h>
#include <stdlib.h>

static void check(th_result result, const th_error *err)
{
    if (result == TH_OK)
        return;
    fprintf(stderr, "render_crowd: %s\n", err->text);
    exit(result == TH_ERR_INPUT || result == TH_ERR_LIMIT ? 3 : 4);
}

int main(int argc, char **argv)
{
    enum { WIDTH = 640, HEIGHT = 360 };
    th_error err;
    th_model *model;
    const th_import_desc import = {.path = argv[1]};
    check(argc > 1 ? th_import(&import, &model, &err) : th_human_create(&model, &err), &err);

    /* A context without a window; where there is no OpenGL 4.3 the error says what was tried. */
    th_gl *gl;
    th_target *target;
    const th_target_desc picture = {.width = WIDTH, .height = HEIGHT, .samples = 4};
    check(th_gl_create(&(th_gl_desc){.want = TH_GL_HEADLESS}, &gl, &err), &err);
    check(th_target_create(&picture, &target, &err), &err);

    /* Everybody plays one of all clips, on a grid, and the camera sees all of them. */
    th_crowd_view *view;
    th_crowd_view_desc crowd = {
        .models = {model}, .clips = {TH_NO_INDEX}, .model_count = 1, .count = 200, .shadow_pixels = 2048};
    th_crowd_view_desc_set_scene(&crowd, TH_LAYOUT_GRID);
    check(th_crowd_view_create(&crowd, gl, &view, &err), &err);
    const th_camera camera = th_crowd_view_camera(view, (float)WIDTH / HEIGHT, 0);
    if (!th_crowd_view_frame(view, 1.5, &camera, target))
        return fprintf(stderr, "render_crowd: no memory for the palettes\n"), 4;

    th_target_resolve(target);
    static uint8_t pixels[4 * WIDTH * HEIGHT];
    th_target_read(target, pixels);
    check(th_gl_check(gl, "while the crowd was drawn", &err), &err);
    th_frame_writer *writer;
    const th_frame_writer_desc file = {
        .path = argc > 2 ? argv[2] : "crowd.png", .width = WIDTH, .height = HEIGHT, .frame_count = 1};
    check(th_frame_writer_open(&file, &writer, &err), &err);
    check(th_frame_writer_add(writer, pixels, &err), &err);
    check(th_frame_writer_close(writer, &err), &err);
    printf("%s: %u characters, drawn by %s\n", file.path, th_crowd_view_get_stats(view).visible,
           th_gl_get_info(gl)->renderer);

    th_crowd_view_destroy(view);
    th_target_destroy(target);
    th_gl_destroy(gl);
    th_model_destroy(model);
}
