#include "roofline.h"

#include "figures.h"
#include "row_figures.h"

#include <throng/anim/crowd.h>

#include <math.h>
#include <string.h>

static const char *const levels[TH_ROOFLINE_LEVELS] = {"l1", "l2", "l3", "memory"};

/* ---- ceilings ---- */

static double ceiling(const th_report *report, const char *what, const char *which, const char *field)
{
    char name[64];
    snprintf(name, sizeof name, "ceiling/%s/%s", what, which);
    for (uint32_t r = 0; r < report->row_count; r++)
        if (strcmp(report->rows[r].name, name) == 0 && !report->rows[r].failure[0])
            return th_row_own(&report->rows[r], field);
    return (double)NAN;
}

double th_roofline_peak(const th_report *report, const char *isa)
{
    return ceiling(report, "multiply_add", isa, "flops_per_second");
}

/* The smallest level that can hold so many bytes. */
static uint32_t level_of(const th_context *context, double bytes)
{
    uint32_t least = TH_ROOFLINE_LEVELS - 1;
    for (uint32_t c = 0; c < context->cache_count; c++) {
        const th_cache *cache = &context->caches[c];
        if (strcmp(cache->type, "Instruction") != 0 && (double)cache->bytes >= bytes && cache->level - 1 < least)
            least = cache->level - 1;
    }
    return least;
}

/* ---- points ---- */

/* "avx2" of "pose/avx2/f32". */
static void isa_of(const th_row *row, char *out, size_t size)
{
    const char *first = strchr(row->name, '/');
    snprintf(out, size, "%.*s", first ? (int)strcspn(first + 1, "/") : 0, first ? first + 1 : "");
}

/* Time is at least that of the arithmetic, and that of reading keys and that of writing palettes, from and to the
 * smallest caches that hold them. They overlap. */
static bool point_of(const th_report *report, const th_roofline *r, const th_row *row, th_roofline_point *out)
{
    char isa[16];
    const double flops = th_row_own(row, "flops"), keys = th_row_own(row, "key_bytes_read");
    const double palettes = th_row_own(row, "palette_bytes"), ns = th_samples_stats(&row->cpu_ns).median;
    isa_of(row, isa, sizeof isa);
    const double peak = th_roofline_peak(report, isa);
    const uint32_t level = level_of(&report->context, palettes);
    const uint32_t key_level = level_of(&report->context, th_row_own(row, "key_bytes"));
    const double read_s = keys / r->read[key_level], write_s = palettes / r->write[level];
    const double moving_s = fmax(read_s, write_s);
    if (row->failure[0] || strncmp(row->name, "pose/", 5) != 0 || !(flops > 0) || !(ns > 0) ||
        !isfinite(peak + moving_s))
        return false;
    *out = (th_roofline_point){
        .row = row,
        .flops_per_bone = flops / (double)row->bones,
        .reads_per_bone = keys / (double)row->bones,
        .writes_per_bone = palettes / (double)row->bones,
        .rate = flops / ns * 1e9,
        .roof = fmin(peak, flops / moving_s),
        .is_bandwidth = flops / moving_s < peak,
        .level = write_s < read_s ? key_level : level,
    };
    return true;
}

th_roofline th_roofline_of(const th_report *report)
{
    th_roofline r = {.count = 0};
    for (uint32_t l = 0; l < TH_ROOFLINE_LEVELS; l++) {
        r.read[l] = ceiling(report, "read", levels[l], "bytes_per_second");
        r.write[l] = ceiling(report, "write", levels[l], "bytes_per_second");
    }
    for (uint32_t i = 0; i < report->row_count && r.count < TH_ROOFLINE_MAX_POINTS; i++)
        r.count += point_of(report, &r, &report->rows[i], &r.points[r.count]);
    return r;
}

/* ---- tables ---- */

static void add_ceilings(th_sheet *sheet, const th_report *report)
{
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        const double flops = th_row_own(row, "flops_per_second"), bytes = th_row_own(row, "bytes_per_second");
        const th_figure figures[] = {
            TH_COLUMN("<one core", TH_TEXT(row->name)),
            TH_COLUMN(">GFLOP/s", TH_REAL(flops / 1e9, "%.3g")),
            TH_COLUMN(">GB/s", TH_REAL(bytes / 1e9, "%.3g")),
        };
        if (strncmp(row->name, "ceiling/", 8) == 0 && !row->failure[0])
            th_sheet_add(sheet, figures, sizeof figures / sizeof *figures);
    }
}

static void add_points(th_sheet *sheet, const th_report *report, const th_roofline *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const th_roofline_point *p = &r->points[i];
        char isa[16], limit[32];
        isa_of(p->row, isa, sizeof isa);
        snprintf(limit, sizeof limit, "%s", p->is_bandwidth ? levels[p->level] : "multiply-add");
        const th_figure figures[] = {
            TH_COLUMN("<roofline", TH_TEXT(p->row->name)),
            TH_COLUMN(">flop/bone", TH_REAL(p->flops_per_bone, "%.1f")),
            TH_COLUMN(">reads B/bone", TH_REAL(p->reads_per_bone, "%.1f")),
            TH_COLUMN(">writes B/bone", TH_REAL(p->writes_per_bone, "%.1f")),
            TH_COLUMN(">GFLOP/s", TH_REAL(p->rate / 1e9, "%.1f")),
            TH_COLUMN(">peak", TH_REAL(th_roofline_peak(report, isa) / 1e9, "%.1f")),
            TH_COLUMN(">of roof", TH_SHARE(p->rate / p->roof, "%.*f %%")),
            TH_COLUMN("<roof", TH_TEXT(limit)),
        };
        th_sheet_add(sheet, figures, sizeof figures / sizeof *figures);
    }
}

bool th_roofline_print(const th_report *report, th_format format, FILE *file)
{
    const th_roofline r = th_roofline_of(report);
    th_sheet ceilings = th_sheet_table(0), kernels = th_sheet_table(0);
    add_ceilings(&ceilings, report);
    add_points(&kernels, report, &r);
    const bool has_points = kernels.count > 0;
    if (ceilings.count > 0)
        fputc('\n', file);
    bool printed = th_sheet_write(&ceilings, format, file);
    if (has_points)
        fputc('\n', file);
    printed = th_sheet_write(&kernels, format, file) && printed;
    if (!has_points)
        return printed;
    fputc('\n', file);
    th_write_line(file, format,
                  "Roofline: operations of the kernel, a fused multiply-add as two, against keys read and palettes "
                  "written.");
    th_write_line(
        file, format,
        "Roof: what the multiply-adds alone take on that instruction set, or the keys or palettes alone, in CPU "
        "time.");
    return printed;
}
