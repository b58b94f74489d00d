/* Tables and document of the scaling over ranks. */
#include "figures.h"

#include <bench/rank_scaling.h>
#include <core/json.h>

#include <assert.h>
#include <inttypes.h>
#include <math.h>

static double median_of(const th_rank_point *p, th_rank_stage stage)
{
    return th_samples_stats(&p->stages[stage]).median;
}

static double gather_bytes_per_s(const th_rank_point *p)
{
    return (double)p->palette_bytes / median_of(p, TH_RANK_BARE_GATHER) * 1e9;
}

/* ---- figures ---- */

/* The part of each rank. */
static th_sheet with_shares(th_sheet sheet, const th_rank_scaling *s, const th_rank_point *p)
{
    for (uint32_t r = 0; r < p->ranks; r++) {
        const th_rank_share *share = &p->shares[r];
        const th_figure figures[] = {
            TH_FIGURE("rank", ">rank", TH_COUNT(r)),
            TH_FIGURE("host", "<host", TH_TEXT(s->hosts[r])),
            TH_FIGURE("characters", ">characters", TH_DIGITS(share->characters)),
            TH_FIGURE("poses_us", ">poses us", TH_REAL(share->median_ns / 1e3, "%.1f")),
            TH_FIGURE("p99_us", ">p99", TH_REAL(share->p99_ns / 1e3, "%.1f")),
            TH_FIGURE("longest_us", ">longest", TH_REAL(share->max_ns / 1e3, "%.1f")),
            TH_FIGURE("grind_ns", ">grind ns", TH_REAL(share->median_ns * s->threads / (double)share->bones, "%.2f")),
        };
        TH_SHEET_ADD(&sheet, figures);
    }
    return sheet;
}

/* Views of a point: a table of stages, one of factors, JSON. */
enum { STAGES = 1, FACTORS = 2, JSON = 4 };

static void add_point(th_sheet *sheet, const th_rank_scaling *s, const th_rank_point *p)
{
    const double *pop = p->pop.values;
    json_t *shares = sheet->view == JSON ? with_shares(th_sheet_json(0), s, p).objects : NULL;
    char sum[40];
    snprintf(sum, sizeof sum, "%016" PRIx64 "%016" PRIx64, p->sum.high, p->sum.low);
    const th_figure figures[] = {
        {"ranks", ">ranks", TH_COUNT(p->ranks), STAGES | FACTORS | JSON},
        {"threads", NULL, TH_COUNT((uint64_t)p->ranks * s->threads), JSON},
        {"characters", ">characters", TH_DIGITS(p->characters), STAGES | JSON},
        {"poses_us", ">poses us", TH_REAL(p->frame_ns / 1e3, "%.1f"), STAGES | JSON},
        {"bare_barrier_us", ">barrier alone", TH_REAL(median_of(p, TH_RANK_BARE_BARRIER) / 1e3, "%.1f"), STAGES | JSON},
        {"gather_us", s->has_gather ? ">gather us" : NULL, TH_REAL(median_of(p, TH_RANK_GATHER) / 1e3, "%.1f"),
         STAGES | JSON},
        {"bare_gather_us", s->has_gather ? ">gather alone" : NULL,
         TH_REAL(median_of(p, TH_RANK_BARE_GATHER) / 1e3, "%.1f"), STAGES | JSON},
        {"palette_bytes", NULL, TH_COUNT(p->palette_bytes), JSON},
        {"gather_bytes_per_s", NULL, TH_NUMBER(gather_bytes_per_s(p)), JSON},
        {NULL, s->has_gather ? ">GB/s" : NULL, TH_REAL(gather_bytes_per_s(p) / 1e9, "%.2f"), STAGES},
        {"poses_p99_us", ">poses p99", TH_REAL(p->p99_ns / 1e3, "%.1f"), STAGES | JSON},
        {"slowest_us", ">slowest rank", TH_REAL(p->slowest_ns / 1e3, "%.1f"), STAGES | JSON},
        {"speed_up", ">speed-up", TH_REAL(p->speed_up, "%.2f"), FACTORS | JSON},
        {"efficiency", ">efficiency", TH_SHARE(p->efficiency, "%.1f %%"), FACTORS | JSON},
        {"load_balance", ">load balance", TH_SHARE(pop[TH_POP_LOAD_BALANCE], "%.1f %%"), FACTORS | JSON},
        {"serialisation_efficiency", ">serialisation", TH_SHARE(pop[TH_POP_SERIALISATION], "%.1f %%"), FACTORS | JSON},
        {"transfer_efficiency", ">transfer", TH_SHARE(pop[TH_POP_TRANSFER], "%.1f %%"), FACTORS | JSON},
        {"computation_scaling", ">computation", TH_SHARE(pop[TH_POP_COMPUTATION], "%.1f %%"), FACTORS | JSON},
        {"grind_ns", ">grind ns", TH_REAL(p->grind_ns, "%.2f"), FACTORS | JSON},
        {"bones_per_s", NULL, TH_NUMBER(p->bones_per_s), JSON},
        {"palette_sum", NULL, TH_TEXT(sum), JSON},
        {"shares", NULL, TH_JSON(shares), JSON},
    };
    TH_SHEET_ADD(sheet, figures);
    json_decref(shares);
}

static th_sheet with_points(th_sheet sheet, const th_rank_scaling *s)
{
    for (uint32_t i = 0; i < s->point_count && s->rounds_done > 0; i++)
        add_point(&sheet, s, &s->points[i]);
    return sheet;
}

/* ---- the document ---- */

json_t *th_rank_scaling_json(const th_rank_scaling *s)
{
    assert(s);
    const bool is_partial = s->rounds_done < s->rounds;
    json_t *scaling =
        json_pack("{s:b, s:b, s:i, s:i, s:i, s:i, s:s, s:s, s:o}", "weak", s->is_weak, "partial", is_partial, "rounds",
                  (int)s->rounds_done, "frames", (int)s->frames, "ranks", (int)s->ranks, "threads_per_rank",
                  (int)s->threads, "isa", th_isa_name(s->isa), "palette", th_format_name(s->palette), "points",
                  with_points(th_sheet_json(JSON), s).objects);
    json_t *context = th_json_set(th_report_context_json(&s->report), "partial", json_boolean(is_partial));
    return json_pack("{s:o, s:o}", "context", context, "rank_scaling", scaling);
}

/* ---- text ---- */

bool th_rank_scaling_print(const th_rank_scaling *s, th_output_format format, FILE *file)
{
    assert(s && file);
    if (s->rounds_done < s->rounds)
        th_write_line(file, format, "Partial: %u of %u %s were measured.", s->rounds_done, s->rounds,
                      s->frames == 1 ? "frames" : "rounds");
    if (s->rounds_done == 0)
        return true;
    const th_rank_point *last = &s->points[s->point_count - 1];
    th_sheet stages = with_points(th_sheet_table(STAGES), s), factors = with_points(th_sheet_table(FACTORS), s),
             shares = with_shares(th_sheet_table(0), s, last);
    th_report_print_conditions(&s->report, format, file);
    th_print_gap(format, file);
    bool printed = th_sheet_write(&stages, format, file);
    fputc('\n', file);
    printed = th_sheet_write(&factors, format, file) && printed;
    fputc('\n', file);
    th_write_line(file, format, "Each of %u rank%s:", last->ranks, th_plural(last->ranks));
    th_print_gap(format, file);
    printed = th_sheet_write(&shares, format, file) && printed;
    fputc('\n', file);

    char efficiency[96] = ", efficiency left out: it cannot be";
    if (isfinite(last->efficiency))
        snprintf(efficiency, sizeof efficiency, ", efficiency %.1f %%, %s scaling", 100 * last->efficiency,
                 s->is_weak ? "weak" : "strong");
    th_write_line(file, format,
                  "Figure of merit: %.4g bones/s on %u rank%s of %u thread%s, grind time %.4g ns a bone and thread%s.",
                  last->bones_per_s, last->ranks, th_plural(last->ranks), s->threads, th_plural(s->threads),
                  last->grind_ns, s->point_count > 1 ? efficiency : "");
    th_write_line(file, format, "Palettes are those of rank 0 alone: sum %016" PRIx64 "%016" PRIx64 ".", last->sum.high,
                  last->sum.low);
    if (s->budget_ns > 0)
        th_write_line(file, format, "%u characters %s %.4g ms: p99 %.4g ms of %u frames.", last->characters,
                      th_rank_scaling_misses_budget(s) ? "do not meet" : "meet", s->budget_ns / 1e6, last->p99_ns / 1e6,
                      last->stages[TH_RANK_POSES].count);
    return printed;
}
