/* Inside, since windows are made up of all sizes. Help and buttons of `throng view` in windows of all sizes. */
#include "fixture_gl.h"
#include "src/view/view_hud.h"

#include <criterion/criterion.h>
#include <glad/gl.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t sizes[][2] = {{1920, 1080}, {1280, 720}, {640, 360}, {400, 1000}, {320, 240}, {256, 160}};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST_BYTES = 1920 * 1080 * 4 };

static th_hud *hud;
static th_target *target;
static uint32_t width, height;
static uint8_t picture[MOST_BYTES], other[MOST_BYTES];

END_BY(th_hud_destroy)

static void open_hud(void)
{
    th_error err;
    open_gl();
    cr_assert_eq(th_hud_create(gl, 16, &hud, &err), TH_OK, "%s", err.text);
    at_end(end_by_th_hud_destroy, hud);
}

TestSuite(view_hud, .init = open_hud, .fini = close_gl);

/* Letters as the viewer has them in such a window. */
static void resize(size_t s)
{
    th_error err;
    width = sizes[s][0], height = sizes[s][1];
    target = make_target(width, height, 1);
    cr_assert_eq(th_hud_set_text_px(hud, s < 2 ? 16 : 9, &err), TH_OK, "%s", err.text);
}

static void begin(void)
{
    th_target_bind_resolved(target);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    th_hud_begin(hud, width, height);
}

static void end(uint8_t *out)
{
    th_hud_end(hud);
    th_target_read(target, out);
}

/* The brightest byte of a rectangle. */
static int brightest(const uint8_t *rgba, float x, float y, float w, float h)
{
    int most = 0;
    for (uint32_t row = (uint32_t)y; row < (uint32_t)(y + h) && row < height; row++)
        for (uint32_t column = (uint32_t)x; column < (uint32_t)(x + w) && column < width; column++) {
            const uint8_t *pixel = &rgba[4 * ((size_t)row * width + column)];
            for (int c = 0; c < 3; c++)
                most = pixel[c] > most ? pixel[c] : most;
        }
    return most;
}

/* ---- buttons ---- */

static float draw_buttons(double x, double y, bool paused, th_hotspots *out, uint8_t *pixels)
{
    const th_view_hud view_hud = {.hud = hud, .width = width, .height = height, .paused = paused};
    begin();
    const float taken = th_view_hud_buttons(&view_hud, (double[]){x, y}, out);
    end(pixels);
    return taken;
}

Test(view_hud, buttons_lie_in_the_picture_with_a_text_each)
{
    for (size_t s = 0; s < SIZES; s++) {
        th_hotspots spots;
        resize(s);
        const float taken = draw_buttons(0, 0, false, &spots, picture);
        bool has[2 * TH_ACTION_BACK] = {false};
        for (uint32_t b = 0; b < spots.count; b++) {
            const th_hotspot *p = &spots.spots[b];
            cr_expect(p->x >= 0 && p->x + p->width <= (float)width && p->y >= (float)height - taken &&
                          p->y + p->height <= (float)height,
                      "button %u, %u x %u", b, width, height);
            cr_expect_gt(brightest(picture, p->x, p->y, p->width, p->height), 120);
            cr_expect_not(has[p->action], "two buttons for action %d", p->action);
            has[p->action] = true;
            for (const th_hotspot *o = spots.spots; o < p; o++)
                cr_expect(p->x >= o->x + o->width || o->x >= p->x + p->width || p->y >= o->y + o->height ||
                              o->y >= p->y + p->height,
                          "buttons %d and %u overlap, %u x %u", (int)(o - spots.spots), b, width, height);
        }
        cr_expect(has[TH_ACTION_PAUSE] && has[TH_ACTION_LOOK] && has[TH_ACTION_DOUBLE] &&
                  has[TH_ACTION_DOUBLE + TH_ACTION_BACK] && has[TH_ACTION_BEHAVIOUR] && has[TH_ACTION_HELP]);
    }
}

Test(view_hud, buttons_show_what_a_click_would_do)
{
    th_hotspots spots;
    resize(1);
    draw_buttons(0, 0, false, &spots, picture);
    for (uint32_t b = 0; b < spots.count; b++) {
        const th_hotspot *p = &spots.spots[b];
        draw_buttons((double)p->x + 1, (double)p->y + 1, false, &spots, other);
        const size_t corner = 4 * ((size_t)(p->y + p->height / 2) * width + (size_t)p->x + 2);
        cr_expect_gt(other[corner], picture[corner], "button %u under the cursor", b);
    }
    draw_buttons(0, 0, true, &spots, other);
    cr_expect_neq(memcmp(picture, other, (size_t)4 * width * height), 0, "paused");
}

/* ---- help ---- */

Test(view_hud, help_shows_each_line_whole_on_one_of_its_pages)
{
    static const uint32_t pages[SIZES] = {1, 1, 1, 1, 2, 6};
    for (size_t s = 0; s < SIZES; s++) {
        resize(s);
        const th_view_hud view_hud = {.hud = hud, .width = width, .height = height};
        cr_expect_eq(th_view_hud_help_pages(&view_hud), pages[s], "%u x %u: %u pages", width, height,
                     th_view_hud_help_pages(&view_hud));
        for (uint32_t page = 0; page < th_view_hud_help_pages(&view_hud); page++) {
            uint32_t rows = 0, last = height; /* letters are 5 to 255 bright, the panel 26 at most */
            begin();
            th_view_hud_help(&view_hud, page);
            end(picture);
            for (uint32_t y = 0; y < height; y++)
                if (brightest(picture, 0, (float)y, (float)width, 1) > 60) {
                    rows++;
                    last = y;
                }
            cr_expect_gt(rows, 4, "page %u, %u x %u", page, width, height);
            cr_expect_lt(last, height - 2, "page %u, %u x %u is cut off", page, width, height);
            cr_expect_lt(brightest(picture, (float)width - 2, 0, 2, (float)height), 60, "%u x %u: too wide", width,
                         height);
        }
    }
}
