#include "hud_box.h"

#include <render/hud.h>

#include <assert.h>
#include <math.h>

/* ---- bars ---- */

static float value(const th_hud_graph_desc *desc, uint32_t series, uint32_t bar)
{
    assert(series < desc->series_count && bar < desc->bar_count);
    const uint32_t at = (uint32_t)(((uint64_t)desc->oldest + bar) % desc->bar_count);
    const float v = desc->series[series].values[at];
    return v > 0 ? v : 0;
}

static uint32_t highest(const th_hud_graph_desc *desc, uint32_t begin, uint32_t end)
{
    uint32_t best = begin;
    float most = -1;
    for (uint32_t bar = begin; bar < end; bar++) {
        float sum = 0;
        for (uint32_t s = 0; s < desc->series_count; s++)
            sum += value(desc, s, bar);
        if (sum > most) {
            most = sum;
            best = bar;
        }
    }
    return best;
}

/* Height of a value in pixel rows. */
static int32_t rows(const th_hud_edges *plot, const th_hud_graph_desc *desc, float v)
{
    return th_hud_pixel(fminf(v / desc->top, 1) * (float)(plot->bottom - plot->top));
}

/* Rounds the running sum, not each part, so that the bar's height is its rounded total. */
static void draw_bar(th_hud *hud, const th_hud_graph_desc *desc, const th_hud_edges *plot, uint32_t bar, int32_t left,
                     int32_t right)
{
    float sum = 0;
    for (uint32_t s = 0; s < desc->series_count; s++) {
        const int32_t below = rows(plot, desc, sum);
        sum += value(desc, s, bar);
        const th_hud_edges e = {left, plot->bottom - rows(plot, desc, sum), right, plot->bottom - below};
        th_hud_box(hud, e, desc->series[s].color);
    }
}

/* k/n of `extent`. */
static uint32_t part(uint32_t extent, uint32_t k, uint32_t n)
{
    assert(k <= n && n > 0);
    return (uint32_t)((uint64_t)extent * k / n);
}

static void draw_bars(th_hud *hud, const th_hud_graph_desc *desc, const th_hud_edges *plot)
{
    const uint32_t width = (uint32_t)(plot->right - plot->left), n = desc->bar_count < width ? desc->bar_count : width;
    const int32_t apart = n > 0 && width / n >= 4;
    for (uint32_t c = 0; c < n; c++) {
        const uint32_t bar = highest(desc, part(desc->bar_count, c, n), part(desc->bar_count, c + 1, n));
        draw_bar(hud, desc, plot, bar, plot->left + (int32_t)part(width, c, n),
                 plot->left + (int32_t)part(width, c + 1, n) - apart);
    }
}

/* ---- guides ---- */

static float label_width(const th_hud *hud, const th_hud_graph_desc *desc)
{
    float widest = 0;
    for (uint32_t g = 0; g < desc->guide_count; g++)
        if (desc->guides[g].label)
            widest = fmaxf(widest, th_hud_text_width(hud, desc->guides[g].label));
    return widest;
}

static float clamp(float at, float low, float high)
{
    return fmaxf(fminf(at, high), low);
}

/* The line touches the top of a bar of the same value. */
static void draw_guides(th_hud *hud, const th_hud_graph_desc *desc, const th_hud_edges *plot)
{
    const float line = th_hud_line_px(hud);
    const int32_t thick = th_hud_pixel(fmaxf(line / 20, 1));
    const th_rgba color = desc->guide_color, faint = {color.r, color.g, color.b, (uint8_t)(color.a / 2)};
    float last = INFINITY;
    for (uint32_t g = 0; g < desc->guide_count; g++) {
        const th_hud_guide *guide = &desc->guides[g];
        if (!(guide->value >= 0 && guide->value <= desc->top))
            continue;
        const int32_t y = plot->bottom - rows(plot, desc, guide->value);
        const int32_t top = y - thick > plot->top ? y - thick : plot->top;
        th_hud_box(hud, (th_hud_edges){plot->left, top, plot->right, top + thick}, faint);
        const float label = clamp((float)y - line / 2, (float)plot->top, (float)plot->bottom - line);
        if (guide->label && fabsf(label - last) >= line) {
            th_hud_text(hud, desc->x + desc->width - th_hud_text_width(hud, guide->label), label, color, guide->label);
            last = label;
        }
    }
}

void th_hud_graph(th_hud *hud, const th_hud_graph_desc *desc)
{
    assert(hud && desc && desc->top > 0);
    assert(desc->series || desc->series_count == 0);
    assert(desc->guides || desc->guide_count == 0);
    const float labels = label_width(hud, desc);
    const th_hud_edges plot = {
        .left = th_hud_pixel(desc->x),
        .top = th_hud_pixel(desc->y),
        .right = th_hud_pixel(desc->x + desc->width - (labels > 0 ? labels + th_hud_line_px(hud) / 3 : 0)),
        .bottom = th_hud_pixel(desc->y + desc->height)};
    if (plot.right <= plot.left || plot.bottom <= plot.top)
        return;
    draw_bars(hud, desc, &plot);
    draw_guides(hud, desc, &plot);
}
