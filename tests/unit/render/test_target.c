/* Inside, since shader programs are made up that fail. Off-screen pictures, and the shader programs that draw to
 * them. */
#include "fixture_gl.h"
#include "render/gl/program.h"

#include <shaders_of_tests.h>

#include <criterion/criterion.h>
#include <glad/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 6, HEIGHT = 4, MAX_SIDE = 64 };

static const uint8_t *picture;
static th_error err;

TestSuite(target, .init = open_gl, .fini = close_gl);

static void expect_pixel(uint32_t width, uint32_t x, uint32_t y, const int rgba[4])
{
    const uint8_t *pixel = picture + ((size_t)y * width + x) * 4;
    for (int i = 0; i < 4; i++)
        cr_expect_leq(abs(pixel[i] - rgba[i]), 1, "channel %d of pixel %u, %u is %d, not %d", i, x, y, pixel[i],
                      rgba[i]);
}

/* Half the light is 188 of 255 in sRGB: 255 (1.055 * 0.5^(1 / 2.4) - 0.055). Alpha is no light. */
static void clear_top_row_apart(const th_target *target, int width, int height)
{
    th_target_bind(target);
    glClearColor(0.5f, 0.0f, 1.0f, 0.5f);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, height - 1, width - 1, 1);
    glClearColor(0.0f, 0.2f, 0.0f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
}

static const int below[4] = {188, 0, 255, 128}, above[4] = {0, 124, 0, 255};

CHECK(target, reads_back_srgb_top_row_first)
{
    for (uint32_t samples = 0; samples <= 4; samples += 4) {
        th_target *target = make_target(WIDTH, HEIGHT, samples);
        cr_assert_eq(th_target_bytes(target), 4 * WIDTH * HEIGHT);
        clear_top_row_apart(target, WIDTH, HEIGHT);
        picture = read_target(target);
        for (uint32_t y = 0; y < HEIGHT; y++)
            for (uint32_t x = 0; x < WIDTH; x++)
                expect_pixel(WIDTH, x, y, y == 0 && x < WIDTH - 1 ? above : below);
        glDisable(GL_SCISSOR_TEST);
    }
}

static GLuint make_program(const th_program_desc *desc)
{
    GLuint program;
    cr_assert_eq(th_program_create(desc, &program, &err), TH_OK, "%s", err.text);
    return program;
}

static GLuint make_box_program(const char *colour)
{
    return make_program(&(th_program_desc){.name = "box",
                                           .vertex = {&th_shader_place_glsl, &th_shader_box_vert},
                                           .fragment = {&th_shader_box_frag},
                                           .defines = {"UNUSED", colour}});
}

static void draw_box(GLuint program, float right)
{
    GLuint vertices;
    glGenVertexArrays(1, &vertices);
    glBindVertexArray(vertices);
    glUseProgram(program);
    glUniform4f(0, -1.0f, -1.0f, right, 1.0f);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glUseProgram(0);
    glDeleteVertexArrays(1, &vertices);
}

/* A box over half of column 2: its grey must be half the light (188), not half the number (128). */
CHECK(target, antialiasing_averages_light)
{
    th_target *target = make_target(WIDTH, HEIGHT, 4);
    th_target_bind(target);
    glClearColor(0.0f, 0.0f, 0.0f, 0.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    GLuint program = make_box_program("COLOUR vec4(1.0)");
    draw_box(program, 2.5f / WIDTH * 2.0f - 1.0f);
    picture = read_target(target);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        expect_pixel(WIDTH, 1, y, (const int[]){255, 255, 255, 255});
        expect_pixel(WIDTH, 2, y, (const int[]){188, 188, 188, 128});
        expect_pixel(WIDTH, 3, y, (const int[]){0, 0, 0, 0});
    }
    glDeleteProgram(program);
}

CHECK(target, shows_nothing_that_is_discarded)
{
    th_target *target = make_target(WIDTH, HEIGHT, 0);
    clear_top_row_apart(target, WIDTH, HEIGHT);
    glDisable(GL_SCISSOR_TEST);
    const uint32_t nothing = th_gl_discard_begin();
    glClear(GL_COLOR_BUFFER_BIT);
    th_gl_discard_end(nothing);
    picture = read_target(target);
    expect_pixel(WIDTH, 0, 1, below);
}

CHECK(target, has_depth_of_32_bit_float)
{
    for (uint32_t samples = 0; samples <= 4; samples += 4) {
        th_target *target = make_target(WIDTH, HEIGHT, samples);
        th_target_bind(target);
        GLint bits = 0, type = 0;
        glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE,
                                              &bits);
        glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT,
                                              GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE, &type);
        cr_expect(bits == 32 && type == GL_FLOAT, "%u samples: %d bits", samples, bits);
        glClearDepth(0.7);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        glEnable(GL_DEPTH_TEST);
        glDepthFunc(GL_GREATER);
        GLuint program = make_box_program("COLOUR vec4(1.0)");
        draw_box(program, 1.0f); /* at depth 0.75 */
        glDepthFunc(GL_LESS);
        draw_box(program, 1.0f);
        glDeleteProgram(program);
        picture = read_target(target);
        expect_pixel(WIDTH, 0, 0, (const int[]){255, 255, 255, 255});
        glDisable(GL_DEPTH_TEST);
    }
}

CHECK(target, can_change_its_size)
{
    for (uint32_t samples = 0; samples <= 4; samples += 4) {
        th_target *target = make_target(MAX_SIDE, 3, samples);
        cr_assert_eq(th_target_resize(target, WIDTH, HEIGHT, &err), TH_OK, "%s", err.text);
        cr_assert_eq(th_target_bytes(target), (size_t)WIDTH * HEIGHT * 4);
        clear_top_row_apart(target, WIDTH, HEIGHT);
        cr_expect_eq(th_target_resize(target, WIDTH, HEIGHT, &err), TH_OK); /* not lost: it is the same */
        picture = read_target(target);
        expect_pixel(WIDTH, 0, 0, above);
        expect_pixel(WIDTH, 0, 1, below);
        glDisable(GL_SCISSOR_TEST);
    }
}

static void expect_refused(const th_target_desc *desc, const char *said)
{
    th_target *target = (th_target *)&err;
    err = (th_error){0};
    cr_expect_eq(th_target_create(desc, &target, &err), TH_ERR_ENVIRONMENT);
    cr_expect_null(target);
    cr_expect(strstr(err.text, said), "%s", err.text);
}

CHECK(target, names_the_limit_that_it_is_beyond)
{
    expect_refused(&(th_target_desc){.width = 0, .height = 4}, "0x4 pixels");
    expect_refused(&(th_target_desc){.width = 4}, "4x0 pixels");
    expect_refused(&(th_target_desc){.width = UINT32_MAX, .height = 4}, "4294967295x4 pixels");
    expect_refused(&(th_target_desc){.width = 4, .height = 1u << 20}, "4x1048576 pixels");
    expect_refused(&(th_target_desc){.width = 4, .height = 4, .samples = 1000}, "1000 samples a pixel");
    expect_refused(&(th_target_desc){.width = 4, .height = 4, .samples = UINT32_MAX}, "4294967295 samples a pixel");

    th_target *target = make_target(WIDTH, HEIGHT, 0);
    clear_top_row_apart(target, WIDTH, HEIGHT);
    cr_expect_eq(th_target_resize(target, 1u << 20, 4, &err), TH_ERR_ENVIRONMENT);
    cr_expect_eq(th_target_bytes(target), (size_t)WIDTH * HEIGHT * 4);
    picture = read_target(target);
    expect_pixel(WIDTH, 0, 0, above);
    glDisable(GL_SCISSOR_TEST);
}

/* Rows longer than the piece by which they are swapped, and an odd number of them. */
CHECK(target, turns_large_pictures_around)
{
    enum { wide = 3000, rows = 5 };
    th_target *target = make_target(wide, rows, 0);
    th_target_bind(target);
    glEnable(GL_SCISSOR_TEST);
    for (int y = 0; y < rows; y++) {
        glScissor(0, y, wide, 1);
        glClearColor(0.0f, 0.0f, 0.0f, (float)y / 255.0f);
        glClear(GL_COLOR_BUFFER_BIT);
        glScissor(wide - 1, y, 1, 1);
        glClearColor(0.0f, 0.0f, 0.0f, (float)(y + 100) / 255.0f);
        glClear(GL_COLOR_BUFFER_BIT);
    }
    const uint8_t *read = read_target(target);
    for (size_t y = 0; y < rows; y++) {
        cr_expect_eq(read[y * wide * 4 + 3], rows - 1 - y);
        cr_expect_eq(read[(y * wide + wide - 2) * 4 + 3], rows - 1 - y);
        cr_expect_eq(read[(y * wide + wide - 1) * 4 + 3], rows - 1 - y + 100);
    }
    glDisable(GL_SCISSOR_TEST);
}

Test(target_window, is_shown_in_a_window_as_it_is, .fini = close_gl)
{
    if (!getenv("DISPLAY"))
        cr_skip("no display; xvfb-run gives one");
    static uint8_t window[MAX_SIDE * MAX_SIDE * 4];
    const th_gl_desc desc = {.want = TH_GL_WINDOW, .width = MAX_SIDE, .height = MAX_SIDE, .debug = true};
    cr_assert_eq(th_gl_create(&desc, &gl, &err), TH_OK, "%s", err.text);
    for (uint32_t side = MAX_SIDE / 2; side <= MAX_SIDE; side *= 2) { /* enlarged, and as large */
        th_target *target = make_target(side, side, 4);
        clear_top_row_apart(target, (int)side, (int)side);
        th_target_resolve(target);
        glEnable(GL_SCISSOR_TEST); /* of one row and all columns but one, yet */
        th_target_show(target, gl);
        glReadBuffer(GL_BACK);
        glReadPixels(0, 0, MAX_SIDE, MAX_SIDE, GL_RGBA, GL_UNSIGNED_BYTE, window);
        th_gl_swap(gl);
        const uint8_t *top = window + ((size_t)MAX_SIDE - 1) * MAX_SIDE * 4;
        cr_expect_arr_eq(window, ((const uint8_t[]){188, 0, 255}), 3);
        cr_expect_arr_eq(top, ((const uint8_t[]){0, 124, 0}), 3);
        if (side < MAX_SIDE)
            cr_expect(top[1 - MAX_SIDE * 4] > 0 && top[1 - MAX_SIDE * 4] < 124, "enlarged without smoothing");
    }
}

CHECK(target, texts_are_embedded_as_they_are)
{
    const th_shader *const shaders[] = {&th_shader_box_vert, &th_shader_box_frag, &th_shader_place_glsl};
    const char *const names[] = {"box.vert", "box.frag", "place.glsl"};
    for (int i = 0; i < 3; i++) {
        static char path[512], text[65536];
        snprintf(path, sizeof path, "%s/%s", TEST_SHADERS, names[i]);
        FILE *file = fopen(path, "rb");
        cr_assert(file, "%s", path);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        cr_expect_str_eq(shaders[i]->name, names[i]);
        cr_expect_str_eq(shaders[i]->text, text);
    }
}

CHECK(target, draws_what_its_defines_say)
{
    th_target *target = make_target(WIDTH, HEIGHT, 0);
    th_target_bind(target);
    GLuint program = make_box_program("COLOUR vec4(0.0, 0.5, 1.0, 1.0)");
    draw_box(program, 1.0f);
    picture = read_target(target);
    expect_pixel(WIDTH, WIDTH - 1, HEIGHT - 1, (const int[]){0, 188, 255, 255});
    glDeleteProgram(program);
}

CHECK(target, computes)
{
    const GLuint program = make_program(&(th_program_desc){.name = "double", .compute = {&th_shader_double_comp}});
    GLuint buffer;
    uint32_t numbers[4] = {1, 2, 3, 4};
    glGenBuffers(1, &buffer);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
    glBufferData(GL_SHADER_STORAGE_BUFFER, sizeof numbers, numbers, GL_STATIC_DRAW);
    glUseProgram(program);
    glDispatchCompute(1, 1, 1);
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    glGetBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, sizeof numbers, numbers);
    cr_expect_arr_eq(numbers, ((const uint32_t[]){2, 4, 6, 8}), sizeof numbers);
    glUseProgram(0);
    glDeleteProgram(program);
    glDeleteBuffers(1, &buffer);
}

static void expect_broken(const th_program_desc *desc, const char *said)
{
    GLuint program = 77;
    err = (th_error){0};
    cr_expect_eq(th_program_create(desc, &program, &err), TH_ERR_ENVIRONMENT);
    cr_expect_eq(err.code, TH_ERR_ENVIRONMENT);
    cr_expect_eq(program, 0);
    cr_expect(strstr(err.text, said), "%s", err.text);
    cr_expect_null(strchr(err.text, '\n'));
}

Test(target, errors_name_piece_and_line)
{
    expect_broken(&(th_program_desc){.name = "wall",
                                     .vertex = {&th_shader_place_glsl, &th_shader_box_vert},
                                     .fragment = {&th_shader_place_glsl, &th_shader_broken_frag}},
                  "program wall, fragment shader: broken.frag, line 5: ");
    expect_broken(&(th_program_desc){.name = "wall", .vertex = {&th_shader_box_vert}},
                  "program wall, vertex shader: box.vert, line 5: ");
    expect_broken(&(th_program_desc){.name = "wall",
                                     .vertex = {&th_shader_place_glsl, &th_shader_box_vert},
                                     .fragment = {&th_shader_box_frag},
                                     .defines = {"COLOUR vec4(missing)"}},
                  "program wall, fragment shader: box.frag, line 5: ");
    expect_broken(&(th_program_desc){.name = "wall", .vertex = {&th_shader_box_vert}, .defines = {"GOOD", "1"}},
                  "program wall, vertex shader: the defines, line 3: ");
    expect_broken(&(th_program_desc){.name = "wall",
                                     .vertex = {&th_shader_place_glsl, &th_shader_box_vert},
                                     .fragment = {&th_shader_apart_frag}},
                  "program wall does not link: ");
    th_gl_destroy(gl); /* its driver has complained */
    gl = NULL;
}

static const char *driver_log;

static void tell_log(GLuint shader, GLsizei size, GLsizei *length, char *text)
{
    (void)shader, (void)length;
    snprintf(text, (size_t)size, "%s", driver_log);
}

static void tell_failure(GLuint shader, GLenum what, GLint *value)
{
    (void)shader;
    *value = what == GL_INFO_LOG_LENGTH ? (GLint)strlen(driver_log) + 1 : GL_FALSE;
}

/* What other drivers than Mesa write. */
CHECK(target, reads_the_logs_of_several_drivers)
{
    static const struct {
        const char *log, *said;
    } cases[] = {
        /* line 1: the version, lines 2 to 6 and an empty one: place.glsl, line 8: the first of box.vert */
        {"0(2) : warning C7050: \"x\" might be used\n0(12) : error C1503: undefined variable \"a\"\n",
         "box.vert, line 5: error C1503: undefined variable \"a\""},
        {"ERROR: 0:4: 'a' : undeclared identifier\nERROR: 1 compilation errors.\n",
         "place.glsl, line 3: 'a' : undeclared identifier"},
        {"0:8(4): error: syntax error\n", "box.vert, line 1: error: syntax error"},
        {"0:1(1): error: old\n", "the defines, line 1: error: old"},
        {"0:99(4): error: no such line\n", "vertex shader: 0:99(4): error: no such line"},
        {"0:0(0): error: nowhere\n", "vertex shader: 0:0(0): error: nowhere"},
        {"out of luck\n", "vertex shader: out of luck"},
        {"0 errors\n", "vertex shader: 0 errors"},
        {"", "vertex shader: the driver does not say why"},
    };
    const PFNGLGETSHADERINFOLOGPROC get_log = glad_glGetShaderInfoLog;
    const PFNGLGETSHADERIVPROC get_shader = glad_glGetShaderiv;
    glad_glGetShaderInfoLog = tell_log;
    glad_glGetShaderiv = tell_failure;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        driver_log = cases[i].log;
        expect_broken(&(th_program_desc){.name = "wall", .vertex = {&th_shader_place_glsl, &th_shader_box_vert}},
                      cases[i].said);
    }
    glad_glGetShaderInfoLog = get_log;
    glad_glGetShaderiv = get_shader;
}

Test(target, checks)
{
    run_checks("target");
}
