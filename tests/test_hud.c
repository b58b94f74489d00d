/* The head-up display: what it draws is where it was told, and nothing else is. */
#include "fixture_gl.h"
#include "fixture_memory.h"

#include <throng/render/hud.h>
#include <throng/render/target.h>

#include <criterion/criterion.h>
#include <glad/gl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 320, HEIGHT = 200, BYTES = WIDTH * HEIGHT * 4, TEXT_PX = 18 };

static const th_rgba white = {255, 255, 255, 255}, red = {255, 0, 0, 255}, green = {0, 255, 0, 255},
                     half = {255, 255, 255, 128};

static th_target *target;
static th_hud *hud;
static uint8_t picture[BYTES], other[BYTES];

/* ---- pictures ---- */

static void open_hud(uint32_t samples)
{
    th_error err;
    open_gl();
    const th_target_desc desc = {.width = WIDTH, .height = HEIGHT, .samples = samples};
    cr_assert_eq(th_target_create(&desc, &target, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_hud_create(gl, TEXT_PX, &hud, &err), TH_OK, "%s", err.text);
}

static void close_hud(void)
{
    th_hud_destroy(hud);
    th_target_destroy(target);
    close_gl();
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

/* Beyond the edges nothing is drawn. */
static int count_lit(const uint8_t *rgba, int left, int top, int right, int bottom)
{
    int count = 0;
    for (int y = top < 0 ? 0 : top; y < bottom && y < HEIGHT; y++)
        for (int x = left < 0 ? 0 : left; x < right && x < WIDTH; x++)
            count += at(rgba, x, y)[0] + at(rgba, x, y)[1] + at(rgba, x, y)[2] > 0;
    return count;
}

static int count_all(const uint8_t *rgba)
{
    return count_lit(rgba, 0, 0, WIDTH, HEIGHT);
}

static void expect_same(const uint8_t *a, const uint8_t *b)
{
    cr_expect_eq(memcmp(a, b, BYTES), 0, "the pictures differ");
}

/* ---- text ---- */

static void check_extent(float text_px)
{
    th_error err;
    cr_assert_eq(th_hud_set_text_px(hud, text_px, &err), TH_OK, "%s", err.text);
    const int line = (int)th_hud_line_px(hud), width = (int)th_hud_text_width(hud, "█Åg█\n@");
    cr_expect_eq(line, (int)text_px);
    cr_expect_eq(width, 4 * (int)th_hud_text_width(hud, "x"));
    shoot_text(30, 20, "█Åg█\n@", picture);
    cr_expect_eq(count_all(picture), count_lit(picture, 30, 20, 30 + width, 20 + 2 * line), "of %g pixels",
                 (double)text_px);
    cr_expect_gt(count_lit(picture, 30, 20 + line, 30 + width / 4, 20 + 2 * line), 0);
    for (int y = 20; y < 20 + line; y++)
        cr_expect(is(at(picture, 30, y), white) && is(at(picture, 29 + width, y), white), "%g: row %d", (double)text_px,
                  y);
}

Test(hud, text_fills_its_measured_size_and_no_more)
{
    static const float sizes[] = {TH_HUD_MIN_TEXT_PX, 9, 13, 18, 32, 77};
    open_hud(0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_extent(sizes[i]);
    close_hud();
}

Test(hud, measures_the_longest_line)
{
    open_hud(0);
    const float x = th_hud_text_width(hud, "x");
    cr_expect_gt(x, TEXT_PX / 3);
    cr_expect_eq(x, floorf(x));
    cr_expect_eq(th_hud_text_width(hud, ""), 0);
    cr_expect_eq(th_hud_text_width(hud, "\n\n"), 0);
    cr_expect_eq(th_hud_text_width(hud, "ab\nµ − ±\nabc"), 5 * x);
    close_hud();
}

Test(hud, lines_are_one_below_the_other)
{
    open_hud(0);
    shoot_text(7, 5, "one\n\nthree", picture);
    begin();
    th_hud_text(hud, 7, 5, white, "one");
    th_hud_text(hud, 7, 5 + 2 * th_hud_line_px(hud), white, "three");
    end(other);
    expect_same(picture, other);
    close_hud();
}

Test(hud, places_are_whole_pixels)
{
    open_hud(0);
    shoot_text(7, 5, "crisp", picture);
    shoot_text(7.49F, 4.5F, "crisp", other);
    expect_same(picture, other);
    close_hud();
}

/* A character at the top left, with nothing beside it. */
static void shoot_character(uint32_t c, uint8_t *out)
{
    char utf8[5] = {(char)c, 0};
    if (c >= 0x800)
        snprintf(utf8, sizeof utf8, "%c%c%c", (char)(0xE0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3F)),
                 (char)(0x80 | (c & 0x3F)));
    else if (c >= 0x80)
        snprintf(utf8, sizeof utf8, "%c%c", (char)(0xC0 | c >> 6), (char)(0x80 | (c & 0x3F)));
    cr_expect_eq(th_hud_text_width(hud, utf8), th_hud_text_width(hud, "x"), "U+%04X", c);
    shoot_text(0, 0, utf8, out);
}

/* An em dash is as wide as an en dash in a font of equal widths, and a soft hyphen looks like a hyphen. */
Test(hud, has_latin_and_symbols)
{
    static const uint32_t symbols[] = {0x2013, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2026, 0x2190, 0x2191, 0x2192,
                                       0x2193, 0x2212, 0x2248, 0x2264, 0x2265, 0x2588, 0x25B2, 0x25B6, 0x25BC, 0x25C0};
    enum { SYMBOLS = sizeof symbols / sizeof *symbols, CELL = 9 * TEXT_PX * 4 };
    static uint8_t looks[0x100 + SYMBOLS][CELL];
    int count = 0;
    open_hud(0);
    shoot_character(0x4E00, other); /* the box */
    cr_assert_eq(th_hud_text_width(hud, "x"), 9);
    for (uint32_t i = 0x21; i < 0x100 + SYMBOLS; i++) {
        if ((i >= 0x7F && i <= 0xA0) || i == 0xAD)
            continue;
        const uint32_t c = i < 0x100 ? i : symbols[i - 0x100];
        shoot_character(c, picture);
        cr_expect_gt(count_all(picture), 0, "U+%04X", c);
        cr_expect_neq(memcmp(picture, other, BYTES), 0, "U+%04X is a box", c);
        for (int y = 0; y < TEXT_PX; y++)
            memcpy(&looks[count][(size_t)y * 9 * 4], at(picture, 0, y), 9 * 4);
        for (int k = 0; k < count; k++)
            cr_expect_neq(memcmp(looks[k], looks[count], CELL), 0, "U+%04X looks like another", c);
        count++;
    }
    close_hud();
}

static void expect_boxes(const char *text, int count)
{
    shoot_text(0, 0, text, picture);
    shoot_text(0, 0, &"日日日日"[12 - 3 * count], other);
    cr_expect_eq(th_hud_text_width(hud, text), (float)count * th_hud_text_width(hud, "x"), "%s", text);
    cr_expect_gt(count_all(picture), 0);
    expect_same(picture, other);
}

Test(hud, what_it_does_not_know_is_a_box)
{
    open_hud(0);
    expect_boxes("\t\x7f\x1b", 3);
    expect_boxes("ДΩ", 2);
    expect_boxes("\xF0\x9F\x98\x80", 1); /* an emoji */
    expect_boxes("\xC2\x80", 1);         /* a control character */
    expect_boxes("\xC3", 1);             /* the text ends within a character */
    expect_boxes("\xE2\x82", 2);
    expect_boxes("\xF0\x9F\x98", 3);
    expect_boxes("\xFF\xA9\x80\xF8", 4);
    expect_boxes("\xC1\xA1", 2); /* 'a', in more bytes than it takes */
    expect_boxes("\xE0\x81\xA1", 3);
    expect_boxes("\xF0\x80\x81\xA1", 4);
    shoot_text(0, 0, "\xC3\xC3\xA9", picture); /* what follows is read */
    shoot_text(0, 0, "日é", other);
    expect_same(picture, other);
    close_hud();
}

/* The full block, which is its neighbour in the font, fills its cell to the edge. */
Test(hud, letters_do_not_spill_into_others)
{
    th_error err;
    open_hud(0);
    cr_assert_eq(th_hud_set_text_px(hud, 100, &err), TH_OK, "%s", err.text);
    shoot_text(0, 0, "≥", picture);
    const int width = (int)th_hud_text_width(hud, "≥");
    cr_expect_gt(count_all(picture), 0);
    cr_expect_eq(count_lit(picture, width - 2, 0, width, HEIGHT), 0);
    close_hud();
}

Test(hud, empty_texts_draw_nothing)
{
    open_hud(0);
    begin();
    end(other);
    cr_expect_eq(count_all(other), 0);
    shoot_text(10, 10, "", picture);
    expect_same(picture, other);
    shoot_text(10, 10, " \n \xC2\xA0", picture);
    expect_same(picture, other);
    close_hud();
}

Test(hud, size_can_change_and_is_checked)
{
    th_error err;
    open_hud(0);
    shoot_text(3, 3, "size", picture);
    cr_assert_eq(th_hud_set_text_px(hud, 32.4F, &err), TH_OK, "%s", err.text);
    cr_expect_eq(th_hud_line_px(hud), 32);
    cr_assert_eq(th_hud_set_text_px(hud, TEXT_PX, &err), TH_OK, "%s", err.text);
    static const float wrong[] = {-1, 5.9F, 256.5F, INFINITY, NAN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect_eq(th_hud_set_text_px(hud, wrong[i], &err), TH_ERR_LIMIT);
        cr_expect(strstr(err.text, "it can have 6 to 256"), "%s", err.text);
    }
    th_hud *none = hud;
    cr_expect_eq(th_hud_create(gl, 0, &none, &err), TH_ERR_LIMIT);
    cr_expect_null(none);
    shoot_text(3, 3, "size", other);
    expect_same(picture, other);
    close_hud();
}

/* ---- panels ---- */

Test(hud, panels_are_filled_and_round)
{
    open_hud(0);
    begin();
    th_hud_panel(hud, 10, 20, 100, 60, red);
    th_hud_panel(hud, 200, 20, 3, 60, green); /* too thin to be round */
    end(picture);
    const int radius = TEXT_PX / 4;
    for (int y = 20; y < 80; y++) {
        const bool corner = y < 20 + radius || y >= 80 - radius;
        cr_expect_eq(is(at(picture, 10, y), red), !corner, "row %d", y);
        cr_expect(is(at(picture, 10 + radius, y), red) && is(at(picture, 109 - radius, y), red), "row %d", y);
    }
    cr_expect(is(at(picture, 10, 20), (th_rgba){0}));
    cr_expect(is(at(picture, 109, 79), (th_rgba){0}));
    const int lit = count_lit(picture, 10, 20, 110, 80), cut = 100 * 60 - lit;
    cr_expect(cut >= 4 && cut <= 4 * radius * radius / 2, "%d pixels are cut off", cut);
    cr_expect_eq(count_lit(picture, 200, 20, 203, 80), 3 * 60);
    cr_expect_eq(count_all(picture), lit + 3 * 60);
    close_hud();
}

Test(hud, later_lies_on_top)
{
    open_hud(0);
    begin();
    th_hud_panel(hud, 0, 0, 50, 50, red);
    th_hud_text(hud, 0, 0, green, "██");
    th_hud_panel(hud, 0, 0, 9, 50, red);
    end(picture);
    cr_expect(is(at(picture, 4, 9), red));
    cr_expect(is(at(picture, 14, 9), green));
    cr_expect(is(at(picture, 24, 9), red));
    close_hud();
}

/* As bytes: half of white over black is 128. An opaque picture stays opaque, a clear one gets the panel's alpha. */
Test(hud, blends_bytes)
{
    open_hud(0);
    begin();
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 50, HEIGHT);
    glClearColor(0, 0, 0, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    th_hud_panel(hud, 0, 0, 100, 100, half);
    th_hud_panel(hud, 0, 50, 100, 50, half);
    end(picture);
    cr_expect(is(at(picture, 75, 25), (th_rgba){128, 128, 128, 0}), "%d", at(picture, 75, 25)[0]);
    cr_expect(is(at(picture, 75, 60), (th_rgba){191, 191, 191, 0}), "%d", at(picture, 75, 60)[0]);
    cr_expect_eq(at(picture, 75, 25)[3], 255);
    cr_expect_leq(abs(at(picture, 25, 25)[3] - 128), 1);
    close_hud();
}

/* ---- edges ---- */

static void draw_scene(float x, float y)
{
    th_hud_panel(hud, x + 5, y + 5, 120, 90, half);
    th_hud_text(hud, x + 10, y + 10, white, "across the edge\nand beyond it");
    static const float values[] = {1, 5, 3, 7};
    const th_hud_series series = {values, red};
    const th_hud_guide guide = {4, "four"};
    th_hud_graph(hud, &(th_hud_graph_desc){.x = x + 10,
                                           .y = y + 50,
                                           .width = 110,
                                           .height = 40,
                                           .series = &series,
                                           .series_count = 1,
                                           .bar_count = 4,
                                           .top = 8,
                                           .guides = &guide,
                                           .guide_count = 1,
                                           .guide_color = green});
}

/* What is seen of it is the same as in a picture that has all of it. */
Test(hud, is_cut_at_the_edges)
{
    static const int by[][2] = {{-60, 0}, {0, -40}, {250, 0}, {0, 150}, {-40, -30}, {270, 170}, {-150, 0}, {0, 300}};
    open_hud(0);
    begin();
    draw_scene(0, 0);
    end(picture);
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        begin();
        draw_scene((float)by[i][0], (float)by[i][1]);
        end(other);
        int differ = 0;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const int from_x = x - by[i][0], from_y = y - by[i][1];
                const bool seen = from_x >= 0 && from_x < WIDTH && from_y >= 0 && from_y < HEIGHT;
                differ += !is(at(other, x, y), seen ? *(const th_rgba *)at(picture, from_x, from_y) : (th_rgba){0});
            }
        cr_expect_eq(differ, 0, "by %d, %d: %d pixels differ", by[i][0], by[i][1], differ);
    }
    close_hud();
}

Test(hud, impossible_places_draw_nothing)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1e30F, -1e30F, 3e9F, -3e9F, 1e5F, -1e5F};
    open_hud(0);
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
    end(picture);
    cr_expect_eq(count_all(picture), 0);
    begin();
    th_hud_panel(hud, -INFINITY, -1e30F, 3e30F, INFINITY, white);
    end(picture);
    cr_expect_eq(count_all(picture), 0);
    begin();
    th_hud_panel(hud, -1e6F, -1e30F, 2e6F, INFINITY, white);
    end(picture);
    cr_expect_eq(count_all(picture), WIDTH * HEIGHT);
    close_hud();
}

/* ---- much ---- */

/* Line 3990 of 4000, scrolled into sight. */
Test(hud, shows_the_lines_in_sight_of_thousands)
{
    enum { LINES = 4000, FIRST = 3990 };
    static char text[LINES * 16];
    char *end_of_text = text, *rest = NULL;
    for (int i = 0; i < LINES; i++) {
        if (i == FIRST)
            rest = end_of_text;
        end_of_text += sprintf(end_of_text, "line %d\n", i);
    }
    open_hud(0);
    shoot_text(5, -FIRST * (float)TEXT_PX, text, picture);
    shoot_text(5, 0, rest, other);
    expect_same(picture, other);
    close_hud();
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

Test(hud, frames_allocate_nothing_once_it_has_grown)
{
    open_hud(0);
    begin();
    allocations = 0;
    draw_much(5000);
    cr_expect(allocations > 0 && allocations < 12, "%zu allocations for 150,000 letters", allocations);
    th_hud_text(hud, 9, 9, green, "█");
    end(picture);
    cr_expect(is(at(picture, 12, 12), green), "the last is missing");
    th_error err;
    cr_assert_eq(th_hud_set_text_px(hud, TEXT_PX, &err), TH_OK);
    allocations = 0;
    for (int i = 0; i < 3; i++) {
        begin();
        draw_much(4000 + 500 * i);
        draw_scene(0, 0);
        end(picture);
    }
    cr_expect_eq(allocations, 0, "%zu allocations", allocations);
    close_hud();
}

Test(hud, without_memory_it_draws_what_it_can)
{
    open_hud(0);
    allocations_left = 0;
    begin();
    draw_scene(0, 0);
    end(picture);
    cr_expect_eq(count_all(picture), 0);
    allocations_left = -1;
    begin();
    th_hud_panel(hud, 0, 0, 50, 50, red);
    allocations_left = 0;
    draw_much(1000);
    th_hud_panel(hud, 100, 100, 50, 50, red);
    end(picture);
    allocations_left = -1;
    cr_expect(is(at(picture, 10, 48), red));
    cr_expect_eq(count_lit(picture, 100, 100, 150, 150), 0);
    close_hud();
}

/* ---- graphs ---- */

enum { LEFT = 10, TOP = 20, TALL = 100 };

static th_hud_graph_desc graph_of(const th_hud_series *series, uint32_t series_count, uint32_t bar_count, float width)
{
    return (th_hud_graph_desc){.x = LEFT,
                               .y = TOP,
                               .width = width,
                               .height = TALL,
                               .series = series,
                               .series_count = series_count,
                               .bar_count = bar_count,
                               .top = TALL,
                               .guide_color = white};
}

static void shoot_graph(const th_hud_graph_desc *desc, uint8_t *out)
{
    begin();
    th_hud_graph(hud, desc);
    end(out);
}

/* From below, `first` rows of red, then green up to `both`. */
static void expect_column(const uint8_t *rgba, int x, int first, int both)
{
    for (int y = 0; y < HEIGHT; y++) {
        const int row = TOP + TALL - 1 - y;
        const th_rgba color = row < 0 || row >= both ? (th_rgba){0} : row < first ? red : green;
        cr_expect(is(at(rgba, x, y), color), "column %d, row %d, with bars of %d and %d", x, y, first, both);
    }
}

/* A unit of value is a pixel. Sums end in 3/8, so no value is in the middle between two pixels. */
Test(hud, bars_are_as_high_as_their_values)
{
    enum { BARS = 60 };
    float values[2][BARS];
    open_hud(0);
    for (int k = 0; k < BARS; k++) {
        values[0][k] = (float)k + 0.25F;
        values[1][k] = (float)(7 * k % 31) + 0.125F;
    }
    const th_hud_series series[] = {{values[0], red}, {values[1], green}};
    th_hud_graph_desc desc = graph_of(series, 2, BARS, 2 * BARS);
    shoot_graph(&desc, picture);
    for (int x = 0; x < 2 * BARS; x++)
        expect_column(picture, LEFT + x, x / 2, x / 2 + 7 * (x / 2) % 31);
    cr_expect_eq(count_all(picture), count_lit(picture, LEFT, TOP, LEFT + 2 * BARS, TOP + TALL));

    desc.oldest = 21; /* a ring that is told from its oldest on */
    shoot_graph(&desc, picture);
    for (int x = 0; x < 2 * BARS; x++) {
        const int k = (x / 2 + 21) % BARS;
        expect_column(picture, LEFT + x, k, k + 7 * k % 31);
    }
    close_hud();
}

Test(hud, wide_bars_are_a_pixel_apart)
{
    static const float low[] = {10, 20, 30, 40}, high[] = {5, 5, 5, 5};
    const th_hud_series series[] = {{low, red}, {high, green}};
    open_hud(0);
    const th_hud_graph_desc desc = graph_of(series, 2, 4, 80);
    shoot_graph(&desc, picture);
    for (int x = 0; x < 80; x++) {
        const int rows = x % 20 == 19 ? 0 : 10 * (1 + x / 20);
        expect_column(picture, LEFT + x, rows, rows ? rows + 5 : 0);
    }
    close_hud();
}

Test(hud, no_peak_is_lost_among_many_bars)
{
    enum { BARS = 1000, PEAK = 777 };
    static float values[BARS], more[BARS];
    for (int k = 0; k < BARS; k++)
        values[k] = 10;
    values[PEAK] = 60;
    more[PEAK] = 20;
    const th_hud_series series[] = {{values, red}, {more, green}};
    open_hud(0);
    const th_hud_graph_desc desc = graph_of(series, 2, BARS, 100);
    shoot_graph(&desc, picture);
    for (int x = 0; x < 100; x++)
        expect_column(picture, LEFT + x, x == PEAK / 10 ? 60 : 10, x == PEAK / 10 ? 80 : 10);
    close_hud();
}

Test(hud, odd_values_stay_within_the_graph)
{
    static const float low[] = {-5, NAN, 300, INFINITY, 90}, high[] = {50, -INFINITY, 5, NAN, 1e30F};
    const th_hud_series series[] = {{low, red}, {high, green}};
    static const int rows[][2] = {{0, 50}, {0, 0}, {100, 100}, {100, 100}, {90, 100}};
    open_hud(0);
    th_hud_graph_desc desc = graph_of(series, 2, 5, 15);
    shoot_graph(&desc, picture);
    for (int x = 0; x < 15; x++)
        expect_column(picture, LEFT + x, rows[x / 3][0], rows[x / 3][1]);
    desc.bar_count = 0;
    shoot_graph(&desc, picture);
    cr_expect_eq(count_all(picture), 0);
    desc.bar_count = 5;
    desc.series_count = 0;
    shoot_graph(&desc, picture);
    cr_expect_eq(count_all(picture), 0);
    close_hud();
}

Test(hud, guides_lie_on_bars_of_their_value)
{
    static const float values[] = {40};
    const th_hud_series series = {values, red};
    const th_hud_guide guides[] = {{40, "40 ms"}, {101, NULL}, {-1, NULL}, {NAN, NULL}};
    open_hud(0);
    th_hud_graph_desc desc = graph_of(&series, 1, 1, 200);
    desc.guides = guides;
    desc.guide_count = 4;
    shoot_graph(&desc, picture);
    const int line = TOP + TALL - 41, labels = LEFT + 200 - (int)th_hud_text_width(hud, "40 ms");
    const th_rgba faint = {127, 127, 127, 255};
    int plot = 0;
    while (is(at(picture, LEFT + plot, line), faint))
        plot++;
    cr_expect(LEFT + plot < labels && LEFT + plot > labels - TEXT_PX, "the line ends %d from the label",
              labels - LEFT - plot);
    cr_expect(is(at(picture, LEFT, line + 1), red));
    cr_expect_eq(count_lit(picture, 0, 0, LEFT + plot, HEIGHT), 40 * (plot - 1) + plot);
    cr_expect_gt(count_lit(picture, labels, line - TEXT_PX / 2, LEFT + 200, line + TEXT_PX / 2), 20);
    cr_expect_eq(count_all(picture), count_lit(picture, 0, 0, LEFT + plot, HEIGHT) +
                                         count_lit(picture, labels, line - TEXT_PX / 2, LEFT + 200, line + TEXT_PX));
    close_hud();
}

/* With spaces instead of letters in the second label there is nothing to see of it anyway. */
Test(hud, labels_do_not_cover_each_other)
{
    th_hud_guide guides[] = {{5, "five"}, {12, "more"}, {60, "much"}};
    open_hud(0);
    th_hud_graph_desc desc = graph_of(NULL, 0, 0, 200);
    desc.guides = guides;
    desc.guide_count = 3;
    shoot_graph(&desc, picture);
    guides[1].label = "    ";
    shoot_graph(&desc, other);
    expect_same(picture, other);
    guides[2].label = "    ";
    shoot_graph(&desc, other);
    cr_expect_neq(memcmp(picture, other, BYTES), 0, "the third label is missing, too");
    close_hud();
}

/* ---- where it is drawn ---- */

Test(hud, lies_on_the_resolved_picture_alone)
{
    open_hud(4);
    th_target_bind(target);
    glClearColor(0, 0, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    th_target_resolve(target);
    th_target_read(target, picture);
    th_target_bind_resolved(target);
    th_hud_begin(hud, WIDTH, HEIGHT);
    draw_scene(0, 0);
    th_hud_end(hud);
    th_target_read(target, other);
    cr_expect_neq(memcmp(picture, other, BYTES), 0);
    th_target_resolve(target);
    th_target_read(target, other);
    expect_same(picture, other);
    close_hud();
}

static void read_state(GLint out[32])
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
    GLint *to = out;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        *to++ = glIsEnabled(switches[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        glGetIntegerv(numbers[i], to++);
}

Test(hud, leaves_the_state_as_binding_a_target_does)
{
    GLint before[32] = {0}, after[32] = {0};
    open_hud(0);
    th_target_bind(target);
    read_state(before);
    begin();
    draw_scene(0, 0);
    th_hud_end(hud);
    read_state(after);
    cr_expect_arr_eq(before, after, sizeof before);
    close_hud();
}

Test(hud, needs_no_state)
{
    open_hud(0);
    begin();
    draw_scene(0, 0);
    end(picture);
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
    expect_same(picture, other);
    close_hud();
}

/* The same bytes, whether the framebuffer is sRGB or a window's. */
Test(hud, looks_the_same_in_a_window)
{
    if (!getenv("DISPLAY"))
        cr_skip("no display; xvfb-run gives one");
    th_error err;
    const th_gl_desc desc = {.want = TH_GL_WINDOW, .width = WIDTH, .height = HEIGHT, .debug = true};
    cr_assert_eq(th_gl_create(&desc, &gl, &err), TH_OK, "%s", err.text);
    const th_target_desc size = {.width = WIDTH, .height = HEIGHT};
    cr_assert_eq(th_target_create(&size, &target, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_hud_create(gl, TEXT_PX, &hud, &err), TH_OK, "%s", err.text);
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
    cr_expect_gt(count_all(picture), 0);
    close_hud();
}
