#include "toolbar.h"

#include <assert.h>
#include <stddef.h>

static const struct {
    const char *text, *pressed; /* pressed: while the crowd is paused; NULL: the same */
    th_action action;
} buttons[] = {
    {" help ", NULL, TH_ACTION_HELP},          {" see all ", NULL, TH_ACTION_SEE_ALL},
    {" camera ", NULL, TH_ACTION_CAMERA},      {" look ", NULL, TH_ACTION_NEXT_LOOK},
    {" layout ", NULL, TH_ACTION_NEXT_LAYOUT}, {" behaviour ", NULL, TH_ACTION_NEXT_BEHAVIOUR},
    {" clip ", NULL, TH_ACTION_NEXT_CLIP},     {" fewer ", NULL, TH_ACTION_HALVE},
    {" more ", NULL, TH_ACTION_DOUBLE},        {" pause ", " play  ", TH_ACTION_PAUSE},
};
enum { BUTTONS = sizeof buttons / sizeof *buttons };
_Static_assert((int)BUTTONS <= (int)TH_CONTROLS_HOTSPOTS, "each can be clicked");

/* The first button that is not in the row, and the row's width. */
static uint32_t row_end(const th_hud *hud, uint32_t begin, float gap, float most, float *out_width)
{
    uint32_t end = begin;
    *out_width = gap;
    for (; end < BUTTONS; end++) {
        const float more = th_hud_text_width(hud, buttons[end].text) + gap;
        if (end > begin && *out_width + more > most)
            break;
        *out_width += more;
    }
    return end;
}

static void draw_button(th_hud *hud, uint32_t b, const th_hotspot *place, const double cursor[2], bool paused)
{
    static const th_rgba text = {236, 240, 245, 255}, ground = {14, 18, 26, 200}, bright = {60, 68, 80, 240};
    const bool is_under = th_hotspot_has(place, cursor);
    const float line = th_hud_line_px(hud);
    th_hud_panel(hud, place->x, place->y, place->width, place->height, is_under ? bright : ground);
    th_hud_text(hud, place->x, place->y + (place->height - line) / 2, text,
                paused && buttons[b].pressed ? buttons[b].pressed : buttons[b].text);
}

float th_toolbar_draw(th_hud *hud, uint32_t width, uint32_t height, const double cursor[2], bool paused,
                      th_hotspots *out)
{
    assert(hud && cursor && out);
    const float line = th_hud_line_px(hud), gap = line / 4, tall = 1.5F * line, step = tall + gap;
    uint32_t rows = 0, end = 0;
    float row_width;
    for (; end < BUTTONS; rows++)
        end = row_end(hud, end, gap, (float)width, &row_width);
    float y = (float)height - (float)rows * step;
    out->count = 0;
    for (uint32_t begin = 0; begin < BUTTONS; begin = end, y += step) {
        end = row_end(hud, begin, gap, (float)width, &row_width);
        float x = (float)width - row_width + gap;
        for (uint32_t b = begin; b < end; b++) {
            const float button_width = th_hud_text_width(hud, buttons[b].text);
            out->spots[out->count] = (th_hotspot){x, y, button_width, tall, buttons[b].action};
            draw_button(hud, b, &out->spots[out->count++], cursor, paused);
            x += button_width + gap;
        }
    }
    return (float)rows * step;
}
