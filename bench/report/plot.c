#include "plot.h"

#include <throng/core/text_format.h>

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Sizes in units of the drawing. LETTER: average width. */
#define FONT       12.0
#define LETTER     (0.62 * FONT)
#define RIGHT      16.0
#define HEIGHT     190.0 /* between the ends of a vertical axis */
#define TALL       330.0
#define ROW        17.0
#define KEY_HEIGHT 16.0
#define KEY_MARK   17.0

enum { MOST_TICKS = 7, MOST_NAME = 32 };

/* ---- pieces ---- */

/* Colours for readers without the page's style. */
static const char *const inks[TH_INK_COUNT] = {"#0072b2", "#c8500a", "#00835f", "#9a4487",
                                               "#8a6a00", "#3f86b8", "#767676"};

__attribute__((format(printf, 2, 0))) static void write_format(FILE *file, const char *format, va_list args)
{
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    th_html_escape(text, file);
}

/* anchor: "start", "middle" or "end". */
static void begin_text(const th_plot *plot, double x, double y, const char *anchor, const char *class)
{
    fprintf(plot->file, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#333\">", class, x, y,
            anchor);
}

static void write_text(const th_plot *plot, double x, double y, const char *anchor, const char *class, const char *text)
{
    begin_text(plot, x, y, anchor, class);
    th_html_escape(text, plot->file);
    fputs("</text>\n", plot->file);
}

/* Writes the name of a row or a column, cut to MOST_NAME characters; the full name is then its tooltip. */
static void write_name(const th_plot *plot, double x, double y, const char *anchor, const char *name)
{
    char cut[4 * MOST_NAME + 1];
    begin_text(plot, x, y, anchor, "tick");
    if (th_utf8_length(name) > MOST_NAME) {
        fputs("<title>", plot->file);
        th_html_escape(name, plot->file);
        fputs("</title>", plot->file);
    }
    th_html_escape(th_ellipsize(name, MOST_NAME, cut, sizeof cut), plot->file);
    fputs("</text>\n", plot->file);
}

static void write_line(const th_plot *plot, const char *class, const char *stroke, double x0, double y0, double x1,
                       double y1)
{
    fprintf(plot->file, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\" fill=\"none\" stroke=\"%s\"/>\n", class, x0, y0,
            x1, y1, stroke);
}

/* Writes the shape of an ink, all of about equal area, around the position. */
static void write_shape(const th_plot *plot, th_ink ink, double x, double y)
{
    static const char *const shapes[TH_INK_COUNT] = {
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        "m-3.6-3.6h7.2v7.2h-7.2z",
        "m0-5l5 5l-5 5l-5-5z",
        "m0-4.8l4.6 8h-9.2z",
        "m0 4.8l4.6-8h-9.2z",
        "m-1.4-4.6h2.8v3.2h3.2v2.8h-3.2v3.2h-2.8v-3.2h-3.2v-2.8h3.2z",
        "m-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z",
    };
    fprintf(plot->file, "M%.2f %.2f%s", x, y, shapes[ink]);
}

/* ---- the frame ---- */

static double widest(const char *const *names, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t length = th_utf8_length(names[i]);
        most = length > most ? length : most;
    }
    return LETTER * (most < MOST_NAME ? most : MOST_NAME);
}

/* Calls `show` for each key with its position: side by side, with line breaks. Returns the height of all keys. */
static double each_key(const th_plot *plot, const th_plot_desc *desc,
                       void (*show)(const th_plot *plot, const th_key *key, double x, double y))
{
    double x = 0, y = FONT;
    for (uint32_t k = 0; k < desc->key_count; k++) {
        const double width = KEY_MARK + LETTER * th_utf8_length(desc->keys[k].text) + 10;
        if (x > 0 && x + width > TH_PLOT_WIDTH + 10) {
            x = 0;
            y += KEY_HEIGHT;
        }
        if (show)
            show(plot, &desc->keys[k], x, y);
        x += width;
    }
    return desc->key_count > 0 ? y + 8 : 0;
}

static void write_key(const th_plot *plot, const th_key *key, double x, double y)
{
    if (key->is_line) {
        fprintf(plot->file,
                "<path class=\"line i%d dashed\" stroke=\"%s\" stroke-dasharray=\"5 4\" d=\"M%.1f %.1fh14\"/>\n",
                key->ink, inks[key->ink], x, y - 4);
    } else {
        fprintf(plot->file, "<path class=\"mark i%d\" fill=\"%s\" d=\"", key->ink, inks[key->ink]);
        write_shape(plot, key->ink, x + 6, y - 4);
        fputs("\"/>\n", plot->file);
    }
    write_text(plot, x + KEY_MARK, y, "start", "key", key->text);
}

static void write_x_axis(const th_plot *plot, const th_plot_desc *desc)
{
    double ticks[TH_AXIS_MAX_TICKS];
    char label[32];
    const double bottom = fmax(plot->y.from, plot->y.to), top = fmin(plot->y.from, plot->y.to);
    const uint32_t count = desc->columns ? 0 : th_axis_ticks(&plot->x, MOST_TICKS, ticks);
    double end = -HUGE_VAL; /* right edge of the last label */
    for (uint32_t i = 0; i < count; i++) {
        const double x = th_axis_at(&plot->x, ticks[i]);
        const double half = LETTER * th_utf8_length(th_axis_label(ticks[i], label, sizeof label)) / 2;
        write_line(plot, "grid", "#ddd", x, top, x, bottom);
        if (x - half > end) {
            write_text(plot, x, bottom + 14, "middle", "tick", label);
            end = x + half;
        }
    }
    for (uint32_t i = 0; i < desc->column_count; i++)
        write_name(plot, th_axis_at(&plot->x, i + 0.5), bottom + 14, "middle", desc->columns[i]);
    write_text(plot, plot->x.to, bottom + 30, "end", "title", desc->x_title);
}

static void write_y_axis(const th_plot *plot, const th_plot_desc *desc)
{
    double ticks[TH_AXIS_MAX_TICKS];
    char label[32];
    const uint32_t count = desc->rows ? 0 : th_axis_ticks(&plot->y, MOST_TICKS, ticks);
    for (uint32_t i = 0; i < count; i++) {
        const double y = th_axis_at(&plot->y, ticks[i]);
        write_line(plot, "grid", "#ddd", plot->x.from, y, plot->x.to, y);
        write_text(plot, plot->x.from - 5, y + 4, "end", "tick", th_axis_label(ticks[i], label, sizeof label));
    }
    for (uint32_t i = 0; i < desc->row_count; i++)
        write_name(plot, plot->x.from - 5, th_axis_at(&plot->y, i + 0.5) + 4, "end", desc->rows[i]);
    if (desc->y_title)
        write_text(plot, 0, fmin(plot->y.from, plot->y.to) - 7, "start", "title", desc->y_title);
}

/* Places the axes beside labels and titles, and returns the total height. */
static double lay_out(th_plot *plot, const th_plot_desc *desc)
{
    const double top = each_key(plot, desc, NULL) + (desc->y_title ? FONT + 8 : 4);
    const double row = desc->row_height > 0 ? desc->row_height : ROW;
    const double height = desc->rows ? row * desc->row_count : desc->is_tall ? TALL : HEIGHT;
    if (desc->columns)
        plot->x = (th_axis){.low = 0, .high = desc->column_count};
    else
        th_axis_finalize(&plot->x, 0.04);
    if (desc->rows)
        plot->y = (th_axis){.low = 0, .high = desc->row_count, .from = top, .to = top + height};
    else
        th_axis_finalize(&plot->y, 0.06);
    if (!desc->rows)
        plot->y.from = top + height, plot->y.to = top;
    plot->x.from = desc->rows ? widest(desc->rows, desc->row_count) + 8 : 6 * LETTER + 5;
    plot->x.to = TH_PLOT_WIDTH - RIGHT;
    return top + height + 36;
}

static void begin_figure(th_plot *plot)
{
    FILE *file = plot->file;
    const th_plot_desc *desc = plot->desc;
    const double height = lay_out(plot, desc);
    fputs("<figure>\n<figcaption><h3>", file);
    th_html_escape(desc->title, file);
    fputs("</h3>", file);
    if (desc->note) {
        fputs("<p>", file);
        th_html_escape(desc->note, file);
        fputs("</p>", file);
    }
    fputs("</figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"", file);
    th_html_escape(desc->title, file);
    fprintf(
        file,
        "\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"%g\">\n",
        TH_PLOT_WIDTH, height, TH_PLOT_WIDTH, height, FONT);
    each_key(plot, desc, write_key);
    write_x_axis(plot, desc);
    write_y_axis(plot, desc);
}

th_plot th_plot_begin(const th_plot_desc *desc, FILE *file)
{
    assert(desc && desc->title && desc->x_title && file);
    assert(!desc->rows == (desc->row_count == 0) && !desc->columns == (desc->column_count == 0));
    return (th_plot){.desc = desc, .file = file, .x = desc->x, .y = desc->y};
}

bool th_plot_next(th_plot *plot)
{
    if (plot->pass == TH_PLOT_MEASURE)
        begin_figure(plot);
    else if (plot->pass == TH_PLOT_DRAW)
        fputs("</svg>\n</figure>\n", plot->file);
    return plot->pass++ < TH_PLOT_DRAW;
}

/* ---- marks ---- */

static void include(th_plot *plot, double x, double y)
{
    if (th_axis_takes(&plot->x, x) && th_axis_takes(&plot->y, y)) {
        th_axis_include(&plot->x, x);
        th_axis_include(&plot->y, y);
    }
}

/* Whether to draw; if not yet, extends the axes to show both corners of a mark. */
static bool is_drawing(th_plot *plot, double x0, double x1, double y0, double y1)
{
    if (plot->pass == TH_PLOT_MEASURE) {
        include(plot, x0, y0);
        include(plot, x1, y1);
    }
    return plot->pass == TH_PLOT_DRAW;
}

void th_plot_line(th_plot *plot, th_ink ink, bool is_dashed, const double *x, const double *y, uint32_t count)
{
    char pen = 'M';
    bool begun = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!(is_dashed ? plot->pass == TH_PLOT_DRAW : is_drawing(plot, x[i], x[i], y[i], y[i])))
            continue;
        const double at = th_axis_at(&plot->x, x[i]), up = th_axis_at(&plot->y, y[i]);
        if (isnan(at) || isnan(up)) {
            pen = 'M';
            continue;
        }
        if (!begun)
            fprintf(plot->file, "<path class=\"line i%d%s\" fill=\"none\" stroke=\"%s\"%s d=\"", ink,
                    is_dashed ? " dashed" : "", inks[ink], is_dashed ? " stroke-dasharray=\"5 4\"" : "");
        begun = true;
        fprintf(plot->file, "%c%.2f %.2f", pen, at, up);
        pen = 'L';
    }
    fputs(begun ? "\"/>\n" : "", plot->file);
}

/* Ends a mark with its tooltip. */
#define WRITE_TITLE(plot, element, format)                                                                             \
    do {                                                                                                               \
        va_list args;                                                                                                  \
        va_start(args, format);                                                                                        \
        fputs("<title>", (plot)->file);                                                                                \
        write_format((plot)->file, format, args);                                                                      \
        fputs("</title></" element ">\n", (plot)->file);                                                               \
        va_end(args);                                                                                                  \
    } while (0)

static void take_place(th_plot *plot, const struct th_plot_label *place)
{
    if (plot->label_count < TH_PLOT_MAX_LABELS)
        plot->labels[plot->label_count++] = *place;
}

void th_plot_point(th_plot *plot, th_ink ink, bool is_hollow, double x, double y, const char *title, ...)
{
    const bool drawing = is_drawing(plot, x, x, y, y);
    const double at = th_axis_at(&plot->x, x), up = th_axis_at(&plot->y, y);
    if (!drawing || isnan(at) || isnan(up))
        return;
    fprintf(plot->file, "<path class=\"%s i%d\" fill=\"%s\" stroke=\"%s\" d=\"", is_hollow ? "hollow" : "mark", ink,
            is_hollow ? "#fff" : inks[ink], is_hollow ? inks[ink] : "none");
    write_shape(plot, ink, at, up);
    fputs("\">", plot->file);
    WRITE_TITLE(plot, "path", title);
    take_place(plot, &(struct th_plot_label){at - 5, up - 5, at + 5, up + 5});
}

static void write_interval(const th_plot *plot, th_ink ink, const char *path)
{
    fprintf(plot->file, "<path class=\"interval i%d\" fill=\"none\" stroke=\"%s\" d=\"%s\"/>\n", ink, inks[ink], path);
}

void th_plot_interval_y(th_plot *plot, th_ink ink, double x, th_interval y)
{
    char path[128];
    if (!is_drawing(plot, x, x, y.low, y.high))
        return;
    const double at = th_axis_at(&plot->x, x), low = th_axis_at(&plot->y, y.low), high = th_axis_at(&plot->y, y.high);
    if (isnan(at) || isnan(low) || isnan(high))
        return;
    snprintf(path, sizeof path, "M%.2f %.2fV%.2fM%.2f %.2fh6M%.2f %.2fh6", at, low, high, at - 3, low, at - 3, high);
    write_interval(plot, ink, path);
}

void th_plot_interval_x(th_plot *plot, th_ink ink, th_interval x, double y)
{
    char path[128];
    if (!is_drawing(plot, x.low, x.high, y, y))
        return;
    const double up = th_axis_at(&plot->y, y), low = th_axis_at(&plot->x, x.low), high = th_axis_at(&plot->x, x.high);
    if (isnan(up) || isnan(low) || isnan(high))
        return;
    snprintf(path, sizeof path, "M%.2f %.2fH%.2fM%.2f %.2fv6M%.2f %.2fv6", low, up, high, low, up - 3, high, up - 3);
    write_interval(plot, ink, path);
}

/* Writes position and size between two corners; false if the area is empty. */
static bool begin_rectangle(const th_plot *plot, double x0, double x1, double y0, double y1)
{
    const double left = th_axis_at(&plot->x, x0), right = th_axis_at(&plot->x, x1);
    const double top = th_axis_at(&plot->y, y1), bottom = th_axis_at(&plot->y, y0);
    if (isnan(left) || isnan(right) || isnan(top) || isnan(bottom))
        return false;
    fprintf(plot->file, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"", fmin(left, right),
            fmin(top, bottom), fabs(right - left), fabs(bottom - top));
    return true;
}

void th_plot_bar(th_plot *plot, th_ink ink, double x0, double x1, double y0, double y1, const char *title, ...)
{
    if (!is_drawing(plot, x0, x1, y0, y1) || !begin_rectangle(plot, x0, x1, y0, y1))
        return;
    fprintf(plot->file, " class=\"mark i%d\" fill=\"%s\">", ink, inks[ink]);
    WRITE_TITLE(plot, "rect", title);
}

void th_plot_band(th_plot *plot, double x0, double x1, double y0, double y1)
{
    if (plot->pass == TH_PLOT_DRAW && begin_rectangle(plot, x0, x1, y0, y1))
        fputs(" class=\"band\" fill=\"#e8e8e8\"/>\n", plot->file);
}

void th_plot_cell(th_plot *plot, uint32_t row, uint32_t column, double share, const char *text, const char *title, ...)
{
    if (plot->pass != TH_PLOT_DRAW || !isfinite(share) || column >= plot->x.high || row >= plot->y.high ||
        !begin_rectangle(plot, column, column + 1, row, row + 1))
        return;
    fprintf(plot->file, " class=\"cell\" fill=\"%s\" fill-opacity=\"%.2f\">", inks[TH_INK_SKY],
            0.05 + 0.75 * share * share);
    WRITE_TITLE(plot, "rect", title);
    write_text(plot, th_axis_at(&plot->x, column + 0.5), th_axis_at(&plot->y, row + 0.5) + 4, "middle", "value", text);
}

/* ---- names of lines and points ---- */

static bool is_within(const th_axis *axis, double value)
{
    return value >= axis->low && value <= axis->high;
}

static bool is_free(const th_plot *plot, const struct th_plot_label *l)
{
    const double top = fmin(plot->y.from, plot->y.to), bottom = fmax(plot->y.from, plot->y.to);
    if (l->left < plot->x.from || l->right > TH_PLOT_WIDTH || l->top < top || l->bottom > bottom ||
        plot->label_count == TH_PLOT_MAX_LABELS)
        return false;
    for (uint32_t i = 0; i < plot->label_count; i++) {
        const struct th_plot_label *other = &plot->labels[i];
        if (l->left < other->right && other->left < l->right && l->top < other->bottom && other->top < l->bottom)
            return false;
    }
    return true;
}

/* Writes the label unless it overlaps something; x: its left side. Returns whether it was written. */
static bool place_label(th_plot *plot, double x, double y, const char *text)
{
    const struct th_plot_label label = {x, y - 9, x + LETTER * th_utf8_length(text), y + 2};
    if (!is_free(plot, &label))
        return false;
    take_place(plot, &label);
    write_text(plot, x, y, "start", "label", text);
    return true;
}

/* Writes the name at the first free position of several. */
static void place_name(th_plot *plot, const double (*tries)[2], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (place_label(plot, tries[i][0], tries[i][1], name))
            return;
}

void th_plot_label(th_plot *plot, double x, double y, const char *text)
{
    const double at = th_axis_at(&plot->x, x), up = th_axis_at(&plot->y, y), width = LETTER * th_utf8_length(text);
    const double middle = at - width / 2, behind = at + 7, before = at - 7 - width;
    const double tries[][2] = {{behind, up + 4}, {before, up + 4},  {middle, up - 8}, {middle, up + 15},
                               {behind, up - 8}, {behind, up + 15}, {before, up - 8}, {before, up + 15}};
    if (plot->pass == TH_PLOT_DRAW && !isnan(at) && !isnan(up))
        place_name(plot, tries, sizeof tries / sizeof *tries, text);
}

void th_plot_rule_x(th_plot *plot, double x, const char *name)
{
    const double at = th_axis_at(&plot->x, x), top = fmin(plot->y.from, plot->y.to),
                 width = LETTER * th_utf8_length(name);
    const double tries[][2] = {
        {at + 4, top + 9}, {at - 4 - width, top + 9}, {at + 4, top + 22}, {at - 4 - width, top + 22}};
    if (plot->pass != TH_PLOT_DRAW || isnan(at) || !is_within(&plot->x, x))
        return;
    write_line(plot, "rule", "#333", at, top, at, fmax(plot->y.from, plot->y.to));
    place_name(plot, tries, sizeof tries / sizeof *tries, name);
}

void th_plot_rule_y(th_plot *plot, double y, const char *name)
{
    const double up = th_axis_at(&plot->y, y), right = plot->x.to - LETTER * th_utf8_length(name),
                 left = plot->x.from + 4;
    const double tries[][2] = {{right, up - 4}, {right, up + 12}, {left, up - 4}, {left, up + 12}};
    if (plot->pass != TH_PLOT_DRAW || isnan(up) || !is_within(&plot->y, y))
        return;
    write_line(plot, "rule", "#333", plot->x.from, up, plot->x.to, up);
    place_name(plot, tries, sizeof tries / sizeof *tries, name);
}
