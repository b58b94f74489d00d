/* What the colours of a look mean. */
#include "crowd_view_parts.h"
#include "tint.h"

#include <core/text_format.h>

#include <math.h>
#include <stdio.h>

enum { MOST_ITEMS = 16 };

static const th_rgba panel_color = {14, 18, 26, 200}, text_color = {236, 240, 245, 255};

/* "8.1 million" */
static const char *large(uint64_t number, char *text, size_t size)
{
    if (number < 100000)
        snprintf(text, size, "%s", th_digits_from(number).text);
    else
        snprintf(text, size, number < 100000000 ? "%.3g million" : "%.0f million", (double)number / 1e6);
    return text;
}

float th_crowd_view_legend(const th_crowd_view *v, th_hud *hud, float x, float bottom)
{
    static const char *const errors[] = {"0", "1/32", "1/16", "1/8", "1/4", "1/2", "1", "2", "4"};
    const th_crowd_view_stats *stats = &v->stats;
    const float line = th_hud_line_px(hud), gap = line / 2, height = 3.2F * line;
    char title[160], of[32], at_finest[32], labels[MOST_ITEMS][40];
    th_tint tints[MOST_ITEMS];
    uint32_t count = 0;
    if (v->desc.look == TH_LOOK_LOD) {
        snprintf(title, sizeof title, "level of detail: characters   %s triangles, at the finest %s",
                 large(stats->triangles, of, sizeof of), large(stats->finest_triangles, at_finest, sizeof at_finest));
        for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++) {
            if (stats->visible_by_lod[lod] == 0)
                continue;
            tints[count] = th_tint_lod(lod);
            snprintf(labels[count++], sizeof *labels, "%u: %s", lod, th_digits_from(stats->visible_by_lod[lod]).text);
        }
    } else if (v->desc.look == TH_LOOK_WORKERS) {
        const uint32_t threads = th_jobs_threads(v->jobs);
        snprintf(title, sizeof title, "which of %u thread%s posed it", threads, th_plural(threads));
        for (; count < threads && count < MOST_ITEMS; count++) {
            tints[count] = th_tint_worker(count);
            snprintf(labels[count], sizeof *labels, "%u", count);
        }
    } else if (v->desc.look == TH_LOOK_ERROR) {
        snprintf(title, sizeof title, "pixels of error from here on   99 %% within %.2g   %s poses for %s characters",
                 (double)stats->error.p99, th_digits_from(stats->evaluated).text, th_digits_from(stats->listed).text);
        for (; count < sizeof errors / sizeof *errors; count++) {
            tints[count] = th_tint_error(count == 0 ? 0 : ldexpf(1.0F / 64, (int)count));
            snprintf(labels[count], sizeof *labels, "%s", errors[count]);
        }
    } else {
        return 0;
    }
    float width = gap;
    for (uint32_t i = 0; i < count; i++)
        width += 1.2F * line + th_hud_text_width(hud, labels[i]) + gap;
    width = fmaxf(width, th_hud_text_width(hud, title) + 2 * gap);
    th_hud_panel(hud, x, bottom - height, width, height, panel_color);
    th_hud_text(hud, x + gap, bottom - 2.8F * line, text_color, title);
    x += gap;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *c = tints[i].rgba;
        th_hud_panel(hud, x, bottom - 1.4F * line, line, line, (th_rgba){c[0], c[1], c[2], 255});
        th_hud_text(hud, x + 1.2F * line, bottom - 1.4F * line, text_color, labels[i]);
        x += 1.2F * line + th_hud_text_width(hud, labels[i]) + gap;
    }
    return height;
}
