/* The head-up display: what it draws is where it was told, and nothing else is. Six pictures of it are stored. */
#include "fixture_gl.h"
#include "fixture_golden.h"
#include "fixture_memory.h"

#include <render/hud.h>

#include <criterion/criterion.h>
#include <glad/gl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 320, HEIGHT = 200, BYTES = WIDTH * HEIGHT * 4, TEXT_PX = 18 };

static const th_rgba white = {255, 255, 255, 255}, red = {255, 0, 0, 255}, green = {0, 255, 0, 255},
                     half = {255, 255, 255, 128}, blue = {0, 0, 160, 255};

static th_target *target;
static th_hud *hud;
static uint8_t picture[BYTES], other[BYTES];
static th_error err;

END_BY(th_hud_destroy)

static void make_hud(uint32_t samples)
{
    target = make_target(WIDTH, HEIGHT, samples);
    cr_assert_eq(th_hud_create(gl, TEXT_PX, &hud, &err), TH_OK, "%s", err.text);
    at_end(end_by_th_hud_destroy, hud);
}

static void make_usual_hud(void)
{
    make_hud(0);
}

static void open_hud(void)
{
    open_gl();
    before_check = make_usual_hud;
}

TestSuite(hud, .init = open_hud, .fini = close_gl);

static void set_text_px(float px)
{
    cr_assert_eq(th_hud_set_text_px(hud, px, &err), TH_OK, "%s", err.text);
}

static void continue_frame(void)
{
    th_target_bind_resolved(target);
    th_hud_begin(hud, WIDTH, HEIGHT);
}

/* On black. */
static void begin(void)
{
    th_target_bind_resolved(target);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    th_hud_begin(hud, WIDTH, HEIGHT);
}

static void end(uint8_t *out)
{
    th_hud_end(hud);
    th_target_read(target, out);
}

static void shoot_text(float x, float y, const char *utf8, uint8_t *out)
{
    begin();
    th_hud_text(hud, x, y, white, utf8);
    end(out);
}

static const uint8_t *at(const uint8_t *rgba, int x, int y)
{
    return rgba + 4 * (y * WIDTH + x);
}

static bool is(const uint8_t *pixel, th_rgba color)
{
    return abs(pixel[0] - color.r) <= 1 && abs(pixel[1] - color.g) <= 1 && abs(pixel[2] - color.b) <= 1;
}

static int count_lit(const uint8_t *rgba)
{
    int count = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        count += !is(rgba + 4 * i, (th_rgba){0});
    return count;
}

static bool same(void)
{
    return memcmp(picture, other, BYTES) == 0;
}

/* ---- stored pictures ---- */

/* Latin-1 and the symbols that hud.h lists; boxes for what it does not know: characters, and bytes that are none. */
static void draw_characters(void)
{
    char latin[3 * 256] = "", *to = latin;
    for (unsigned c = 0x21; c < 0x100; c++) {
        if (c % 32 == 0 && c != 0x80)
            *to++ = '\n';
        if ((c >= 0x7F && c <= 0xA0) || c == 0xAD) /* controls, the space that does not break, and the soft hyphen */
            continue;
        if (c >= 0x80)
            *to++ = (char)(0xC0 | c >> 6);
        *to++ = (char)(c < 0x80 ? c : 0x80 | (c & 63));
    }
    th_hud_text(hud, 2, 2, white, latin);
    th_hud_text(hud, 2, 2 + 6 * TEXT_PX, white, "–‘’“”•…←↑→↓−≈≤≥█▲▶▼◀");
    th_hud_text(hud, 2, 2 + 8 * TEXT_PX, green, "ДΩ \xF0\x9F\x98\x80 \xC3 \xFF\xA9");
}

/* Each text on a panel as large as it is said to be; full blocks fill their cells to the edge, and do not spill into
 * the letter that is their neighbour in the font. A size is chosen between frames. */
static void draw_sizes(void)
{
    static const struct {
        float px, x, y;
    } cases[] = {{TH_HUD_MIN_TEXT_PX, 4, 4}, {9, 4, 24}, {13, 4, 50}, {18, 4, 84}, {32, 4, 128}, {77, 120, 4}};
    th_hud_end(hud);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_text_px(cases[i].px);
        continue_frame();
        th_hud_panel(hud, cases[i].x, cases[i].y, th_hud_text_width(hud, "█Åg█\n≥@"), 2 * th_hud_line_px(hud), blue);
        th_hud_text(hud, cases[i].x, cases[i].y, white, "█Åg█\n≥@");
        th_hud_end(hud);
    }
    continue_frame();
}

/* Round, and too thin to be round; what is later lies on top, and half of white is half, twice three quarters. */
static void draw_panels(void)
{
    th_hud_panel(hud, 10, 20, 100, 60, red);
    th_hud_panel(hud, 120, 20, 3, 60, green);
    th_hud_panel(hud, 140, 20, 50, 50, red);
    th_hud_text(hud, 140, 20, green, "██");
    th_hud_panel(hud, 140, 20, 9, 50, red);
    th_hud_panel(hud, 10, 100, 100, 80, half);
    th_hud_panel(hud, 10, 140, 100, 40, half);
    th_hud_text(hud, 130, 100, half, "half of it\n\nthe third line");
}

static th_hud_graph_desc graph_of(const th_hud_series *series, uint32_t bar_count, float x, float y)
{
    return (th_hud_graph_desc){.x = x,
                               .y = y,
                               .width = 140,
                               .height = 80,
                               .series = series,
                               .series_count = series ? 2 : 0,
                               .bar_count = bar_count,
                               .top = 80,
                               .guide_color = white};
}

/* A unit of value is a pixel. From the top left: 70 bars of two layers, which rise and zigzag, told from the 22nd on;
 * four wide ones, a pixel apart; a thousand with one peak; values below, beyond and not a number. */
static void draw_graphs(void)
{
    static float rising[70], zigzag[70], many[1000], peak[1000];
    static const float wide[] = {10, 20, 30, 40}, five[] = {5, 5, 5, 5};
    static const float odd[] = {-5, NAN, 300, INFINITY, 60}, more[] = {50, -INFINITY, 5, NAN, 1e30F};
    for (int k = 0; k < 1000; k++)
        many[k] = k == 777 ? 50 : 10;
    peak[777] = 20;
    for (int k = 0; k < 70; k++) {
        rising[k] = 0.7F * (float)k + 0.25F;
        zigzag[k] = (float)(7 * k % 31) + 0.125F;
    }
    const th_hud_series series[][2] = {{{rising, red}, {zigzag, green}},
                                       {{wide, red}, {five, green}},
                                       {{many, red}, {peak, green}},
                                       {{odd, red}, {more, green}}};
    static const uint32_t counts[] = {70, 4, 1000, 5};
    for (int g = 0; g < 4; g++) {
        const float x = g % 2 ? 170 : 10, y = g < 2 ? 10 : 110;
        th_hud_graph_desc desc = graph_of(series[g], counts[g], x, y);
        desc.oldest = g == 0 ? 21 : 0;
        th_hud_panel(hud, x, y, desc.width, desc.height, blue);
        th_hud_graph(hud, &desc);
    }
}

/* A line touches the top of a bar of its value, and none is beyond the graph. To the right, a label that would cover
 * another is left out. */
static void draw_guides(void)
{
    static const float values[] = {40}, none[] = {0};
    const th_hud_series series[] = {{values, red}, {none, green}};
    const th_hud_guide lines[] = {{40, "40 ms"}, {81, "beyond"}, {-1, "below"}, {NAN, "odd"}};
    const th_hud_guide labels[] = {{5, "five"}, {12, "more"}, {60, "much"}};
    th_hud_graph_desc desc = graph_of(series, 1, 10, 60);
    desc.guides = lines;
    desc.guide_count = 4;
    th_hud_graph(hud, &desc);
    desc = graph_of(NULL, 0, 170, 60);
    desc.guides = labels;
    desc.guide_count = 3;
    th_hud_graph(hud, &desc);
}

static void draw_scene(float x, float y)
{
    th_hud_panel(hud, x + 5, y + 5, 120, 90, half);
    th_hud_text(hud, x + 10, y + 10, white, "across the edge\nand beyond it");
    static const float values[] = {1, 5, 3, 7};
    const th_hud_series series = {values, red};
    const th_hud_guide guide = {4, "four"};
    th_hud_graph_desc desc = graph_of(&series, 4, x + 10, y + 50);
    desc.width = 110;
    desc.height = 40;
    desc.series_count = 1;
    desc.top = 8;
    desc.guides = &guide;
    desc.guide_count = 1;
    desc.guide_color = green;
    th_hud_graph(hud, &desc);
}

/* The same thing in the middle, cut at all edges and corners, and out of sight. */
static void draw_edges(void)
{
    static const float by[][2] = {{100, 50},  {-60, 50},  {100, -55}, {260, 50}, {100, 150},
                                  {-50, -60}, {270, 170}, {-150, 0},  {0, 300}};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++)
        draw_scene(by[i][0], by[i][1]);
}

CHECK(hud, pictures_are_those_stored)
{
    static const struct {
        const char *name;
        void (*draw)(void);
    } pictures[] = {{"hud_characters", draw_characters}, {"hud_sizes", draw_sizes},   {"hud_panels", draw_panels},
                    {"hud_graphs", draw_graphs},         {"hud_guides", draw_guides}, {"hud_edges", draw_edges}};
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures && is_llvmpipe(); i++) {
        set_text_px(TEXT_PX);
        begin();
        pictures[i].draw();
        end(picture);
        check_golden(pictures[i].name, picture, WIDTH, HEIGHT);
    }
}

/* ---- text ---- */

CHECK(hud, measures_the_longest_line)
{
    const float x = th_hud_text_width(hud, "x");
    cr_expect(x > TEXT_PX / 3 && x == floorf(x));
    cr_expect_eq(th_hud_text_width(hud, ""), 0);
    cr_expect_eq(th_hud_text_width(hud, "\n\n"), 0);
    cr_expect_eq(th_hud_text_width(hud, "ab\nµ − ±\nabc"), 5 * x);
}

/* What it does not know is a box, as 日 is; what follows is read. */
CHECK(hud, different_bytes_may_be_the_same_text)
{
    static const char *const texts[][2] = {
        {"\t\x7f\x1b", "日日日"},
        {"\xF0\x9F\x98\x80", "日"}, /* an emoji */
        {"\xC2\x80", "日"},         /* a control character */
        {"\xC3", "日"},             /* the text ends within a character */
        {"\xE2\x82", "日日"},
        {"\xF0\x9F\x98", "日日日"},
        {"\xFF\xA9\x80\xF8", "日日日日"},
        {"\xC1\xA1", "日日"}, /* 'a', in more bytes than it takes */
        {"\xE0\x81\xA1", "日日日"},
        {"\xF0\x80\x81\xA1", "日日日日"},
        {"\xC3\xC3\xA9", "日é"},
        {" \n \xC2\xA0", ""},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        shoot_text(7.49F, 4.5F, texts[i][0], picture);
        shoot_text(7, 5, texts[i][1], other); /* places are whole pixels */
        cr_expect(same(), "text %zu", i);
        cr_expect(texts[i][1][0] == '\0' ? count_lit(picture) == 0
                                         : th_hud_text_width(hud, texts[i][0]) == th_hud_text_width(hud, texts[i][1]));
    }
}

/* Each has a look of its own: a cell is 9 pixels wide. An em dash is as wide as an en dash in a font of equal widths,
 * and a soft hyphen looks like a hyphen. */
CHECK(hud, no_two_characters_look_the_same)
{
    enum { MOST = 256, CELL = 9 };
    static uint8_t looks[MOST][TEXT_PX][CELL * 4];
    int count = 0;
    cr_assert_eq(th_hud_text_width(hud, "x"), CELL);
    begin();
    draw_characters();
    end(picture);
    for (int row = 0; row < 7; row++)
        for (int column = 0; column < 32; column++, count++) {
            for (int y = 0; y < TEXT_PX; y++)
                memcpy(looks[count][y], at(picture, 2 + CELL * column, 2 + row * TEXT_PX + y), sizeof looks[count][y]);
            static const uint8_t empty[TEXT_PX][CELL * 4];
            bool blank = true;
            for (size_t i = 0; i < sizeof empty; i++)
                blank &= i % 4 == 3 || looks[count][i / (CELL * 4)][i % (CELL * 4)] == 0;
            for (int k = 0; k < count && !blank; k++)
                cr_expect_neq(memcmp(looks[k], looks[count], sizeof *looks), 0, "character %d of row %d", column, row);
        }
}

/* Line 3990 of 4000, scrolled into sight. */
CHECK(hud, shows_the_lines_in_sight_of_thousands)
{
    enum { LINES = 4000, FIRST = 3990 };
    static char text[LINES * 16];
    char *end_of_text = text, *rest = NULL;
    for (int i = 0; i < LINES; i++) {
        if (i == FIRST)
            rest = end_of_text;
        end_of_text += sprintf(end_of_text, "line %d\n", i);
    }
    shoot_text(5, -FIRST * (float)TEXT_PX, text, picture);
    shoot_text(5, 0, rest, other);
    cr_expect(same());
}

CHECK(hud, size_can_change_and_is_checked)
{
    static const float wrong[] = {-1, 5.9F, 256.5F, INFINITY, NAN};
    shoot_text(3, 3, "size", picture);
    set_text_px(32.4F);
    cr_expect_eq(th_hud_line_px(hud), 32);
    set_text_px(TEXT_PX);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect_eq(th_hud_set_text_px(hud, wrong[i], &err), TH_ERR_LIMIT);
        cr_expect(strstr(err.text, "it can have 6 to 256"), "%s", err.text);
    }
    th_hud *none = hud;
    cr_expect_eq(th_hud_create(gl, 0, &none, &err), TH_ERR_LIMIT);
    cr_expect_null(none);
    shoot_text(3, 3, "size", other);
    cr_expect(same());
}

/* ---- places, and memory ---- */

CHECK(hud, impossible_places_draw_nothing)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1e30F, -1e30F, 3e9F, -3e9F, 1e5F, -1e5F};
    begin();
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        draw_scene(odd[i], 0);
        draw_scene(0, odd[i]);
        draw_scene(odd[i], odd[i]);
    }
    th_hud_panel(hud, 10, 10, 0, 10, white);
    th_hud_panel(hud, 10, 10, 10, -10, white);
    th_hud_panel(hud, 10, 10, NAN, 10, white);
    th_hud_panel(hud, NAN, 10, 10, 10, white);
    th_hud_panel(hud, -INFINITY, -1e30F, 3e30F, INFINITY, white);
    th_hud_graph_desc nothing = graph_of(NULL, 5, 10, 10);
    th_hud_graph(hud, &nothing);
    nothing = graph_of((const th_hud_series[]){{odd, red}, {odd, red}}, 0, 10, 10);
    th_hud_graph(hud, &nothing);
    end(picture);
    cr_expect_eq(count_lit(picture), 0);
    begin();
    th_hud_panel(hud, -1e6F, -1e30F, 2e6F, INFINITY, white);
    end(picture);
    cr_expect_eq(count_lit(picture), WIDTH * HEIGHT);
}

/* A row of pixels of each letter, lest the test be slow. */
static void draw_much(int lines)
{
    char line[64];
    for (int i = 0; i < lines; i++) {
        snprintf(line, sizeof line, "%06d of what nobody will ever read", i);
        th_hud_text(hud, 0, HEIGHT - 1, white, line);
    }
}

CHECK(hud, frames_allocate_nothing_once_it_has_grown)
{
    begin();
    allocations = 0;
    draw_much(5000);
    cr_expect(allocations > 0 && allocations < 12, "%zu allocations for 150,000 letters", allocations);
    th_hud_text(hud, 9, 9, green, "█");
    end(picture);
    cr_expect(is(at(picture, 12, 12), green), "the last is missing");
    set_text_px(TEXT_PX);
    allocations = 0;
    for (int lines = 50; lines <= 5000; lines += 4950) {
        begin();
        draw_much(lines);
        th_hud_end(hud);
    }
    cr_expect_eq(allocations, 0, "%zu allocations", allocations);
}

CHECK(hud, without_memory_it_draws_what_it_can)
{
    allocations_left = 0;
    begin();
    draw_scene(0, 0);
    end(picture);
    cr_expect_eq(count_lit(picture), 0);
    allocations_left = -1;
    begin();
    th_hud_panel(hud, 0, 0, 50, 50, red);
    allocations_left = 0;
    draw_much(1000);
    th_hud_panel(hud, 100, 100, 50, 50, red);
    end(picture);
    allocations_left = -1;
    cr_expect(is(at(picture, 10, 48), red));
    cr_expect(is(at(picture, 125, 125), (th_rgba){0}));
}

/* ---- where it is drawn ---- */

CHECK(hud, needs_no_state_and_leaves_it_as_binding_a_target_does)
{
    static const GLenum switches[] = {GL_BLEND,        GL_CULL_FACE,        GL_DEPTH_TEST,
                                      GL_SCISSOR_TEST, GL_FRAMEBUFFER_SRGB, GL_STENCIL_TEST};
    static const GLenum numbers[] = {GL_CURRENT_PROGRAM,
                                     GL_VERTEX_ARRAY_BINDING,
                                     GL_ARRAY_BUFFER_BINDING,
                                     GL_TEXTURE_BINDING_2D,
                                     GL_ACTIVE_TEXTURE,
                                     GL_BLEND_SRC_RGB,
                                     GL_BLEND_DST_RGB,
                                     GL_BLEND_SRC_ALPHA,
                                     GL_BLEND_DST_ALPHA,
                                     GL_DRAW_FRAMEBUFFER_BINDING,
                                     GL_READ_FRAMEBUFFER_BINDING,
                                     GL_UNPACK_ALIGNMENT,
                                     GL_DEPTH_WRITEMASK,
                                     GL_VIEWPORT};
    enum { SWITCHES = sizeof switches / sizeof *switches, NUMBERS = sizeof numbers / sizeof *numbers };
    GLint states[2][SWITCHES + NUMBERS + 3] = {{0}}; /* a viewport is four */
    for (int drawn = 0; drawn < 2; drawn++) {
        th_target_bind(target);
        if (drawn) {
            begin();
            draw_scene(0, 0);
            th_hud_end(hud);
        }
        for (size_t i = 0; i < SWITCHES; i++)
            states[drawn][i] = glIsEnabled(switches[i]);
        for (size_t i = 0; i < NUMBERS; i++)
            glGetIntegerv(numbers[i], &states[drawn][SWITCHES + i]);
    }
    cr_expect_arr_eq(states[0], states[1], sizeof states[0]);
    th_target_read(target, picture);
    begin();
    draw_scene(0, 0);
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 5, 5);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_NEVER);
    glEnable(GL_CULL_FACE);
    glCullFace(GL_FRONT_AND_BACK);
    glViewport(0, 0, 7, 7);
    glActiveTexture(GL_TEXTURE5);
    end(other);
    cr_expect(same());
}

/* As bytes: an opaque picture stays opaque, a clear one gets the panel's alpha. Resolving undoes it. */
CHECK(hud, lies_on_the_resolved_picture_alone)
{
    make_hud(4);
    th_target_bind(target);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 50, HEIGHT);
    glClearColor(0, 0, 0, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    th_target_resolve(target);
    th_target_read(target, picture);
    continue_frame();
    th_hud_panel(hud, 0, 0, 100, 100, half);
    th_hud_end(hud);
    th_target_read(target, other);
    cr_expect_not(same());
    cr_expect_eq(at(other, 75, 25)[3], 255);
    cr_expect_leq(abs(at(other, 25, 25)[3] - 128), 1);
    th_target_resolve(target);
    th_target_read(target, other);
    cr_expect(same());
}

/* The same bytes, whether the framebuffer is sRGB or a window's. */
Test(hud_window, looks_the_same, .fini = close_gl)
{
    if (!getenv("DISPLAY"))
        cr_skip("no display; xvfb-run gives one");
    const th_gl_desc desc = {.want = TH_GL_WINDOW, .width = WIDTH, .height = HEIGHT, .debug = true};
    cr_assert_eq(th_gl_create(&desc, &gl, &err), TH_OK, "%s", err.text);
    make_hud(0);
    begin();
    draw_scene(0, 0);
    end(picture);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    th_hud_begin(hud, WIDTH, HEIGHT);
    draw_scene(0, 0);
    th_hud_end(hud);
    glReadBuffer(GL_BACK);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, other);
    int differ = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            differ += !is(at(other, x, HEIGHT - 1 - y), *(const th_rgba *)at(picture, x, y));
    cr_expect_eq(differ, 0, "%d pixels differ", differ);
    cr_expect_gt(count_lit(picture), 0);
}

Test(hud, checks)
{
    run_checks("hud");
}
