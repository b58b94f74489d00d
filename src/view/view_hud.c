#include "view_hud.h"

#include <core/table.h>
#include <core/text_format.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 50 /* letters per line of the statistics */
#define CLIP    20 /* of these for the clip's name; layout, look and shadows need up to 30 */

static const th_rgba text_color = {236, 240, 245, 255}, faint_color = {160, 170, 184, 255},
                     panel_color = {14, 18, 26, 200}, back_color = {24, 30, 40, 255}, busy_color = {92, 200, 140, 255},
                     idle_color = {60, 68, 80, 255};

static const th_rgba part_colors[TH_FRAME_PARTS] = {
    {92, 200, 140, 255}, {240, 180, 70, 255}, {110, 150, 250, 255}, {112, 122, 140, 255}};

/* The position of the next line. */
typedef struct page {
    th_hud *hud; /* NULL: draws nothing, to measure the page */
    float x, y, line, letter;
} page;

static page page_at(th_hud *hud, float x, float y)
{
    return (page){hud, x, y, th_hud_line_px(hud), th_hud_text_width(hud, "m")};
}

static page blind(page p)
{
    p.hud = NULL;
    return p;
}

/* Draws text at a column of the current line. */
static void put(const page *p, float column, th_rgba color, const char *text)
{
    if (p->hud)
        th_hud_text(p->hud, p->x + column * p->letter, p->y, color, text);
}

/* Draws a line and moves to the next. */
__attribute__((format(printf, 3, 4))) static void say(page *p, th_rgba color, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(p, 0, color, text);
    p->y += p->line;
}

/* ---- statistics ---- */

/* A round number that is higher than all but the rarest frames. */
static double graph_top(double p99_ms)
{
    static const double steps[] = {1, 2, 5};
    for (double ten = 1; ten < 1e6; ten *= 10)
        for (int k = 0; k < 3; k++)
            if (1.15 * p99_ms < steps[k] * ten)
                return steps[k] * ten;
    return 1e6;
}

/* Levels without characters are left out. */
static void say_levels(page *p, const uint32_t by_lod[TH_RENDER_MESH_LODS])
{
    char levels[256] = "";
    for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++)
        if (by_lod[lod] > 0)
            th_append(levels, sizeof levels, "%s%u: %s", *levels ? ", " : "", lod, th_digits_from(by_lod[lod]).text);
    say(p, faint_color, "by LOD %s", *levels ? levels : "-");
}

static void say_statistics(const th_view_hud *v, page *p)
{
    const th_hud_readings *r = &v->readings;
    const th_crowd_view_stats stats = th_crowd_view_get_stats(v->crowd_view);
    const th_crowd_view_desc *crowd = &v->settings.crowd;
    const th_crowd_view_parts parts = th_crowd_view_get_parts(v->crowd_view);
    say(p, text_color, "%.1f frames/s   %u x %u pixels", r->frames_per_s, v->width, v->height);

    static const th_hud_guide rates[] = {
        {1000 / 240.0F, "240/s"}, {1000 / 60.0F, "60/s"}, {1000 / 30.0F, "30/s"}, {100, "10/s"}, {1000, "1/s"},
        {10000, "0.1/s"}};
    th_hud_guide guides[sizeof rates / sizeof *rates];
    th_hud_series series[TH_FRAME_PARTS];
    uint32_t guide_count = 0;
    const float top = (float)graph_top(r->p99_ms);
    for (size_t g = 0; g < sizeof rates / sizeof *rates; g++)
        if (rates[g].value <= top && rates[g].value > top / 6)
            guides[guide_count++] = rates[g];
    for (uint32_t part = 0; part < TH_FRAME_PARTS; part++)
        series[part] = (th_hud_series){v->history.ms[part], part_colors[part]};
    const th_hud_graph_desc graph = {
        .x = p->x,
        .y = p->y,
        .width = COLUMNS * p->letter,
        .height = 6 * p->line,
        .series = series,
        .series_count = TH_FRAME_PARTS,
        .bar_count = TH_HISTORY_FRAMES,
        .oldest = v->history.next,
        .top = top,
        .guides = guides,
        .guide_count = guide_count,
        .guide_color = text_color,
    };
    if (p->hud)
        th_hud_graph(p->hud, &graph);
    p->y += graph.height + 0.4F * p->line;

    /* Times. */
    for (uint32_t part = 0; part < TH_FRAME_PARTS; part++) {
        const float column = (float)part * (COLUMNS / (float)TH_FRAME_PARTS);
        page below = *p;
        char name[16], ms[32];
        snprintf(name, sizeof name, "%9s", th_frame_part_name((th_frame_part)part));
        snprintf(ms, sizeof ms, "%9.2f", r->mean_ms[part]);
        put(p, column, part_colors[part], name);
        below.y += p->line;
        put(&below, column, text_color, ms);
    }
    p->y += 2 * p->line;
    say(p, text_color, "median %.2f   p95 %.2f   p99 %.2f ms", r->median_ms, r->p95_ms, r->p99_ms);
    if (!v->gl->timer_queries)
        say(p, faint_color, "wall time; no reliable GPU timer");
    else if (r->gpu_ms >= 0)
        say(p, text_color, "GPU %.2f ms (timer query); other times: wall clock", r->gpu_ms);
    else
        say(p, faint_color, "GPU -");
    p->y += 0.4F * p->line;

    /* The crowd. */
    char text[4 * COLUMNS + 1];
    const char *clip = v->settings.clip && strcmp(v->settings.clip, "all") != 0 ? v->settings.clip : "all clips";
    say(p, text_color, "%s poses of %s character%s", th_digits_from(stats.evaluated).text,
        th_digits_from(crowd->count).text, th_plural(crowd->count));
    if (crowd->share_hz > 0)
        say(p, text_color, "%s share at %g Hz from LOD %u%s", th_digits_from(stats.shared).text, crowd->share_hz,
            crowd->far_lod, stats.apart > 0 ? ", behaviours apart" : "");
    if (crowd->hold > 1)
        say(p, text_color, "%s hold poses, for %u frames from LOD %u", th_digits_from(stats.held).text, crowd->hold,
            crowd->far_lod);
    if (th_budget_is_set(&crowd->budget))
        say(p, text_color, "%s share, %s hold, within %g px, %.2f ms", th_digits_from(stats.shared).text,
            th_digits_from(stats.held).text, stats.tolerance_px, (double)stats.evaluate_ns / 1e6);
    say_levels(p, stats.listed_by_lod);
    if (crowd->joint_lod || th_budget_is_set(&crowd->budget)) {
        say(p, text_color, "by joint level");
        say_levels(p, stats.listed_by_joint_level);
    }
    say(p, text_color, "%s drawn, %.2f M triangles, %u draw calls", th_digits_from(stats.visible).text,
        (double)stats.triangles / 1e6, stats.draw_calls);
    say_levels(p, stats.visible_by_lod);
    say(p, faint_color, "%s, %s, %s%s", th_ellipsize(clip, CLIP, text, sizeof text), th_layout_name(crowd->layout),
        th_look_name(crowd->look), crowd->shadow_pixels ? "" : ", no shadows");
    say(p, faint_color, "%s, %s palettes, %s", th_interpolation_name(crowd->compile.interpolation),
        th_format_name(parts.palette),
        parts.culling == TH_EVALUATOR_GPU     ? "culled and posed by the GPU"
        : parts.evaluator == TH_EVALUATOR_GPU ? "posed by the GPU"
                                              : th_isa_name(th_crowd_isa(parts.crowd)));
    if (stats.error.count > 0) /* of the last frame that was measured */
        say(p, text_color, "error p50 %.2f   p99 %.2f   max %.2f px", (double)stats.error.p50, (double)stats.error.p99,
            (double)stats.error.max);
    p->y += 0.4F * p->line;

    /* A bar per worker. */
    float sum = 0;
    for (uint32_t w = 0; w < r->threads; w++)
        sum += r->busy[w];
    say(p, text_color, "%u thread%s (%s), %.0f %% busy while posing", r->threads, th_plural(r->threads),
        th_scheduler_name(crowd->jobs.scheduler), r->threads ? 100 * (double)sum / r->threads : 0);
    const float height = 1.6F * p->line, step = fminf(COLUMNS * p->letter / (float)r->threads, 4 * p->letter);
    const float width = fmaxf(1, step - fmaxf(1, step / 8));
    for (uint32_t w = 0; w < r->threads && p->hud; w++) {
        const float x = p->x + (float)w * step, full = fminf(1, r->busy[w]) * height;
        th_hud_panel(p->hud, x, p->y, width, height, idle_color);
        th_hud_panel(p->hud, x, p->y + height - full, width, full, busy_color);
    }
    p->y += height + 0.4F * p->line;

    /* The machine, and where one is. */
    const bool is_following = v->viewpoint.mode == TH_CAMERA_MODE_FOLLOW;
    say(p, faint_color, "%s", th_ellipsize(v->gl->renderer, COLUMNS, text, sizeof text));
    say(p, faint_color, "by %s, %s%s", th_fetch_name(parts.fetch), th_ring_upload_name(parts.upload),
        v->vsync ? ", vsync" : "");
    say(p, text_color, "%s%s%s   %.2f s at x%g%s", th_camera_mode_name(v->viewpoint.mode), is_following ? " " : "",
        is_following ? th_digits_from(v->viewpoint.followed).text : "", v->time_s, v->rate,
        v->paused ? ", paused" : "");
    say(p, faint_color, "F1 help   Tab hides this");
}

void th_view_hud_statistics(const th_view_hud *v)
{
    const float margin = th_hud_line_px(v->hud);
    page p = page_at(v->hud, margin, margin), measured = blind(p);
    say_statistics(v, &measured);
    th_hud_panel(v->hud, margin / 2, margin / 2, COLUMNS * p.letter + margin, measured.y, panel_color);
    say_statistics(v, &p);
}

/* ---- help ---- */

enum { KEY_COLUMNS = 25, TEXT_COLUMNS = 46 };

/* How the help lies in a picture: two columns of rows where they fit, else one, and in a narrow picture each row's
 * text below its keys. */
typedef struct help_layout {
    page at;
    float column, tallest; /* a column's width, and height without margins */
    uint32_t columns, rows;
    bool is_narrow;
} help_layout;

static float row_height(const help_layout *h, uint32_t row, bool is_first)
{
    const bool is_heading = !th_bindings[row].keys;
    return h->at.line * (is_heading ? (is_first ? 1 : 1.5F) : h->is_narrow ? 2 : 1);
}

/* The first row that is not in a column of this height. A heading is never its last row. */
static uint32_t column_end(const help_layout *h, uint32_t begin, float height)
{
    float y = 0;
    uint32_t end = begin;
    for (; end < h->rows; end++) {
        y += row_height(h, end, end == begin);
        if (end > begin && y > height)
            break;
    }
    while (end < h->rows && end > begin + 1 && !th_bindings[end - 1].keys)
        end--;
    return end;
}

static help_layout lay_out_help(const th_view_hud *v)
{
    help_layout h = {.at = page_at(v->hud, 0, 0)};
    const float letters = (float)v->width / h.at.letter, margin = 2 * h.at.line;
    while (th_bindings[h.rows].text)
        h.rows++;
    h.is_narrow = (KEY_COLUMNS + TEXT_COLUMNS) * h.at.letter + margin > (float)v->width;
    h.column =
        h.is_narrow ? fminf(letters - 4, TEXT_COLUMNS) * h.at.letter : (KEY_COLUMNS + TEXT_COLUMNS) * h.at.letter;
    h.columns = 2 * h.column + 2 * margin > (float)v->width ? 1 : 2;
    h.tallest = fmaxf((float)v->height - margin - h.at.line, 2 * h.at.line);
    /* Two columns of about the same height look better than a full one and a short one. */
    for (float even = h.at.line; h.columns == 2 && even < h.tallest; even += h.at.line)
        if (column_end(&h, column_end(&h, 0, even), even) == h.rows)
            h.tallest = even;
    return h;
}

static uint32_t page_end(const help_layout *h, uint32_t begin)
{
    for (uint32_t c = 0; c < h->columns; c++)
        begin = column_end(h, begin, h->tallest);
    return begin;
}

uint32_t th_view_hud_help_pages(const th_view_hud *v)
{
    const help_layout h = lay_out_help(v);
    uint32_t pages = 0;
    for (uint32_t row = 0; row < h.rows; pages++)
        row = page_end(&h, row);
    return pages;
}

/* Returns its height. */
static float say_column(const help_layout *h, page p, uint32_t begin, uint32_t end)
{
    const float top = p.y;
    for (uint32_t r = begin; r < end; r++) {
        const th_binding *row = &th_bindings[r];
        const float height = row_height(h, r, r == begin), gap = row->keys || r == begin ? 0 : p.line / 2;
        page at = p;
        at.y += gap;
        put(&at, 0, row->keys ? busy_color : faint_color, row->keys ? row->keys : row->text);
        at.y += h->is_narrow ? p.line : 0;
        if (row->keys)
            put(&at, h->is_narrow ? 2 : KEY_COLUMNS, text_color, row->text);
        p.y += height;
    }
    return p.y - top;
}

void th_view_hud_help(const th_view_hud *v, uint32_t number)
{
    const th_rgba color = {panel_color.r, panel_color.g, panel_color.b, 236};
    const help_layout h = lay_out_help(v);
    const float margin = h.at.line;
    const uint32_t pages = th_view_hud_help_pages(v);
    uint32_t begin = 0;
    for (uint32_t p = 0; p < number && p + 1 < pages; p++)
        begin = page_end(&h, begin);
    const uint32_t split = column_end(&h, begin, h.tallest), end = page_end(&h, begin);
    const float tall = fmaxf(say_column(&h, blind(h.at), begin, split), say_column(&h, blind(h.at), split, end));
    const float width = (end > split ? 2 : 1) * h.column + 2 * margin;
    const float height = tall + 2 * margin + (pages > 1 ? h.at.line : 0);
    const float x = fmaxf(0, ((float)v->width - width) / 2), y = fmaxf(0, ((float)v->height - height) / 2);
    th_hud_panel(v->hud, x, y, width, height, color);
    say_column(&h, page_at(v->hud, x + margin, y + margin), begin, split);
    say_column(&h, page_at(v->hud, x + margin + h.column, y + margin), split, end);
    if (pages > 1) {
        page p = page_at(v->hud, x + margin, y + margin + tall);
        say(&p, faint_color, "%u of %u   F1: %s", number + 1, pages, number + 1 < pages ? "more" : "close");
    }
}

/* ---- messages ---- */

static void say_in_middle(const th_view_hud *v, float y, th_rgba color, const char *text)
{
    char cut[256];
    page p = page_at(v->hud, 0, y);
    text = th_ellipsize(text, (uint32_t)fmaxf(1, (float)v->width / p.letter - 4), cut, sizeof cut);
    const float width = th_hud_text_width(v->hud, text), x = fmaxf(p.line, ((float)v->width - width) / 2);
    th_hud_panel(v->hud, x - p.line, y - p.line / 2, width + 2 * p.line, 2 * p.line, panel_color);
    p.x = x;
    say(&p, color, "%s", text);
}

void th_view_hud_message(const th_view_hud *v, const char *text)
{
    say_in_middle(v, (float)v->height - v->bottom - 3 * th_hud_line_px(v->hud), text_color, text);
}

void th_view_hud_loading(const th_view_hud *v, const char *doing, double waited_s)
{
    const float line = th_hud_line_px(v->hud), middle = (float)v->height / 2;
    char text[256];
    th_hud_panel(v->hud, -line, -line, (float)v->width + 2 * line, (float)v->height + 2 * line, back_color);
    snprintf(text, sizeof text, "%s… %.0f s", doing, floor(waited_s));
    say_in_middle(v, middle - 2 * line, text_color, text);
    say_in_middle(v, middle + line, faint_color, "Escape quits");
}

/* ---- buttons ---- */

static const struct {
    const char *text, *pressed; /* pressed: while the crowd is paused; NULL: the same */
    th_action action;
} buttons[] = {
    {" help ", NULL, TH_ACTION_HELP},     {" see all ", NULL, TH_ACTION_SEE_ALL},
    {" camera ", NULL, TH_ACTION_CAMERA}, {" look ", NULL, TH_ACTION_LOOK},
    {" layout ", NULL, TH_ACTION_LAYOUT}, {" behaviour ", NULL, TH_ACTION_BEHAVIOUR},
    {" clip ", NULL, TH_ACTION_CLIP},     {" fewer ", NULL, TH_ACTION_DOUBLE + TH_ACTION_BACK},
    {" more ", NULL, TH_ACTION_DOUBLE},   {" pause ", " play  ", TH_ACTION_PAUSE},
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

float th_view_hud_buttons(const th_view_hud *v, const double cursor[2], th_hotspots *out)
{
    static const th_rgba bright = {60, 68, 80, 240};
    const float line = th_hud_line_px(v->hud), gap = line / 4, tall = 1.5F * line, step = tall + gap;
    const float width = (float)v->width;
    uint32_t rows = 0, end = 0;
    float row_width;
    for (; end < BUTTONS; rows++)
        end = row_end(v->hud, end, gap, width, &row_width);
    float y = (float)v->height - (float)rows * step;
    out->count = 0;
    for (uint32_t begin = 0; begin < BUTTONS; begin = end, y += step) {
        end = row_end(v->hud, begin, gap, width, &row_width);
        float x = width - row_width + gap;
        for (uint32_t k = begin; k < end; k++) {
            th_hotspot *spot = &out->spots[out->count++];
            *spot = (th_hotspot){x, y, th_hud_text_width(v->hud, buttons[k].text), tall, buttons[k].action};
            th_hud_panel(v->hud, x, y, spot->width, tall, th_hotspot_has(spot, cursor) ? bright : panel_color);
            th_hud_text(v->hud, x, y + (tall - line) / 2, text_color,
                        v->paused && buttons[k].pressed ? buttons[k].pressed : buttons[k].text);
            x += spot->width + gap;
        }
    }
    return (float)rows * step;
}
