/* The page of a comparison. */
#include "html.h"
#include "plot.h"

#include <throng/bench/compare.h>
#include <throng/bench/page.h>
#include <throng/core/text_format.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- changes ---- */

/* The first of the estimates that have the entry's verdict; else that of the core. */
static const th_change_estimate *estimate_of(const th_change *c)
{
    for (int i = 0; i < TH_ESTIMATOR_COUNT; i++)
        if (c->estimates[i].verdict == c->verdict)
            return &c->estimates[i];
    return &c->estimates[TH_ESTIMATOR_CORE];
}

static bool has_change(const th_change *c)
{
    return isfinite(estimate_of(c)->change);
}

/* Entries in one plot, and how it shows their changes. */
typedef struct forest {
    const th_change **changes;
    uint32_t count;
    bool is_ratio; /* a ratio of times, for large changes; else percent */
} forest;

#define LARGE 1.0

static double shown(const forest *f, double change)
{
    return f->is_ratio ? 1 + change : 100 * change;
}

static th_axis axis_of(forest *f)
{
    f->is_ratio = false;
    for (uint32_t i = 0; i < f->count; i++)
        f->is_ratio = f->is_ratio || fabs(estimate_of(f->changes[i])->change) > LARGE;
    th_axis axis = f->is_ratio ? th_axis_log() : th_axis_linear();
    th_axis_include(&axis, shown(f, 0));
    for (uint32_t i = 0; i < f->count; i++) {
        th_axis_include(&axis, shown(f, estimate_of(f->changes[i])->threshold));
        th_axis_include(&axis, shown(f, -estimate_of(f->changes[i])->threshold));
    }
    return axis;
}

static th_ink ink_of(const th_change *c)
{
    if (c->verdict == TH_VERDICT_SLOWER || c->pixels.verdict == TH_PIXELS_WORSE || c->problem[0])
        return TH_INK_VERMILION;
    return c->verdict == TH_VERDICT_FASTER ? TH_INK_BLUE : TH_INK_GREY;
}

static const th_key keys[] = {{"slower, or wrong", TH_INK_VERMILION, false},
                              {"faster", TH_INK_BLUE, false},
                              {"equivalent, hollow: inconclusive, or a baseline", TH_INK_GREY, false}};

static void draw_row(th_plot *plot, const forest *f, uint32_t row)
{
    const th_change *c = f->changes[row];
    const th_change_estimate *e = estimate_of(c);
    char interval[64] = "", verdict[96] = "";
    th_plot_interval_x(plot, ink_of(c), (th_interval){shown(f, e->interval.low), shown(f, e->interval.high)},
                       row + 0.5);
    if (isfinite(e->interval.low))
        snprintf(interval, sizeof interval, " (%+.1f to %+.1f %%)", 100 * e->interval.low, 100 * e->interval.high);
    th_change_describe(c, verdict, sizeof verdict);
    th_plot_point(plot, ink_of(c), c->verdict == TH_VERDICT_INCONCLUSIVE, shown(f, e->change), row + 0.5,
                  "%s: %+.1f %%%s, %s%s%s", c->name, 100 * e->change, interval, verdict,
                  c->problem[0] ? "; WRONG: " : "", c->problem);
}

/* names: [entry] */
static void draw_forest(forest *f, const char *title, const char *const *names, FILE *file)
{
    const th_axis axis = axis_of(f);
    const th_plot_desc desc = {
        .title = title,
        .x_title = f->is_ratio ? "new time / old time" : "change of time, percent",
        .x = axis,
        .rows = names,
        .row_count = f->count,
        .keys = keys,
        .key_count = sizeof keys / sizeof *keys,
    };
    th_plot plot = th_plot_begin(&desc, file);
    while (th_plot_next(&plot)) {
        for (uint32_t i = 0; i < f->count; i++) {
            const double most = estimate_of(f->changes[i])->threshold, least = 1 / (1 + most) - 1;
            th_plot_band(&plot, shown(f, least), shown(f, most), i, i + 1);
        }
        th_plot_rule_x(&plot, shown(f, 0), "");
        for (uint32_t i = 0; i < f->count; i++)
            draw_row(&plot, f, i);
    }
}

/* ---- groups ---- */

/* Length of the group in a name: "jobs/wake:cold" of "jobs/wake:cold/work-stealing", "interp" of "interp/step/avx2". */
static size_t group_length(const th_change *c)
{
    const char *last = strrchr(c->name, '/');
    const bool is_deep = strncmp(c->name, "jobs/", 5) == 0 || strncmp(c->name, "frame/", 6) == 0;
    return is_deep && last ? (size_t)(last - c->name) : strcspn(c->name, "/");
}

static bool is_together(const th_change *a, const th_change *b)
{
    return group_length(a) == group_length(b) && strncmp(a->name, b->name, group_length(a)) == 0;
}

/* Draws the entries from `first` on that belong to its group. */
static void draw_group(const forest *all, uint32_t first, uint32_t count, const char **names, FILE *file)
{
    char title[64];
    forest f = {.changes = all->changes + first, .count = count};
    const size_t length = group_length(f.changes[0]);
    snprintf(title, sizeof title, "%.*s", (int)(length > 0 ? length : strlen(f.changes[0]->name)), f.changes[0]->name);
    for (uint32_t i = 0; i < count; i++) {
        const char *rest = f.changes[i]->name + length;
        names[i] = rest[0] == '/' && rest[1] ? rest + 1 : f.changes[i]->name;
    }
    draw_forest(&f, title, names, file);
}

static void draw_groups(const forest *all, const char **names, FILE *file)
{
    for (uint32_t first = 0, count; first < all->count; first += count) {
        for (count = 1; first + count < all->count && is_together(all->changes[first], all->changes[first + count]);)
            count++;
        draw_group(all, first, count, names, file);
    }
}

/* Draws all changed entries in one plot, since there may be many others. */
static void draw_changed(const forest *all, const char **names, FILE *file)
{
    forest f = {.changes = calloc(all->count, sizeof *f.changes)};
    for (uint32_t i = 0; i < all->count && f.changes; i++)
        if (ink_of(all->changes[i]) != TH_INK_GREY) {
            names[f.count] = all->changes[i]->name;
            f.changes[f.count++] = all->changes[i];
        }
    if (f.count > 0)
        draw_forest(&f, "What changed", names, file);
    free(f.changes);
}

static bool draw_all(const th_comparison *comparison, FILE *file)
{
    forest all = {.changes = calloc(comparison->count, sizeof *all.changes)};
    const char **names = calloc(comparison->count, sizeof *names);
    const bool room = all.changes && names;
    for (uint32_t i = 0; i < comparison->count && room; i++)
        if (has_change(&comparison->changes[i]))
            all.changes[all.count++] = &comparison->changes[i];
    if (all.count > 0) {
        th_html_plots("Changes",
                      "Of the estimator that decided, else of the core. Bars: 95 % CI. Shaded: within the threshold.",
                      file);
        draw_changed(&all, names, file);
        draw_groups(&all, names, file);
        th_html_plots_end(file);
    }
    free(names);
    free(all.changes);
    return room;
}

/* ---- the page ---- */

static void write_headline(const th_comparison *c, char *out, size_t size)
{
    if (c->problems > 0)
        th_append(out, size, "%u entr%s wrong; ", c->problems, c->problems == 1 ? "y is" : "ies are");
    th_comparison_summarize(c, out, size);
}

bool th_comparison_page(const th_comparison *c, const char *command, FILE *file)
{
    assert(c && command && file);
    char headline[256] = "";
    write_headline(c, headline, sizeof headline);
    th_html_begin(&(th_html_head){"throng compare", headline, NULL, command}, file);
    fputs("<div class=\"conditions\">\n", file);
    th_comparison_print_sides(c, TH_FORMAT_HTML, file);
    fputs("</div>\n<div class=\"warnings\">", file);
    th_comparison_print_warnings(c, TH_FORMAT_HTML, file);
    fputs("</div>\n", file);
    bool made = draw_all(c, file);
    th_html_section("Figures", file);
    made = th_comparison_print_figures(c, TH_FORMAT_HTML, file) && made;
    th_html_section_end(file);
    made = th_html_contexts(c->old_results->context, c->new_results->context, file) && made;
    return th_html_end(file) && made;
}
