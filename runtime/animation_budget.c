#include <runtime/animation_budget.h>

#include <anim/exact.h>
#include <core/arena.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* A finer tolerance is tried after so many frames, and may take this part of the budget. */
enum { TRIAL_FRAMES = 30 };
#define MARGIN 0.85

enum { SMOOTHING = 8 }; /* frames */

enum { MOMENTS = 64 }; /* of a clip at which its motion is measured */

static const double rates_hz[] = TH_BUDGET_RATES_HZ;
_Static_assert(sizeof rates_hz / sizeof *rates_hz == TH_BUDGET_RATES, "a number for each");

double th_budget_tolerance_px(uint32_t tolerance)
{
    assert(tolerance < TH_BUDGET_TOLERANCES);
    return tolerance == 0 ? 0 : ldexp(0.125, (int)tolerance);
}

/* ---- motion ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool th_budget_motion(const th_model *model, double *out)
{
    assert(model && out);
    th_arena *arena = th_arena_create();
    th_dmat34 *poses[2] = {th_arena_new(arena, th_dmat34, model->joint_count),
                           th_arena_new(arena, th_dmat34, model->joint_count)};
    double *speeds = th_arena_new(arena, double, (size_t)model->clip_count *MOMENTS); /* in model sizes per second */
    const bool ok = !th_arena_failed(arena);
    size_t count = 0;
    for (uint32_t c = 0; ok && c < model->clip_count; c++) {
        const th_clip *clip = &model->clips[c];
        const double step_s = clip->duration_ticks / clip->ticks_per_second / MOMENTS;
        for (uint32_t n = 0; step_s > 0 && n <= MOMENTS; n++) {
            const th_dmat34 *from = poses[(n + 1) % 2], *to = poses[n % 2];
            double most2 = 0;
            th_exact_pose(model, clip, clip->duration_ticks * n / MOMENTS, TH_INTERPOLATION_AUTHORED, poses[n % 2]);
            for (uint32_t b = 0; n > 0 && b < model->bone_count; b++) {
                const double *p = from[model->bones[b].joint].m, *q = to[model->bones[b].joint].m;
                const double x = q[3] - p[3], y = q[7] - p[7], z = q[11] - p[11];
                most2 = fmax(most2, x * x + y * y + z * z);
            }
            if (n > 0)
                speeds[count++] = sqrt(most2) / step_s / model->size;
        }
    }
    *out = 0;
    if (count > 0) {
        qsort(speeds, count, sizeof *speeds, ascending);
        *out = speeds[(count - 1) * 95 / 100];
    }
    th_arena_destroy(arena);
    return ok;
}

/* ---- ways ---- */

/* The best way so far. Errors and costs are for a model of one pixel, and for each character. */
typedef struct choice {
    th_budget_way way;
    double allowed, error, bones;
} choice;

static void consider(choice *best, th_budget_way way, double error, double bones)
{
    const bool better = bones < best->bones || (bones == best->bones && error < best->error);
    if (error > best->allowed || !better)
        return;
    best->way = way;
    best->error = error;
    best->bones = bones;
}

th_budget_way th_budget_choose(uint32_t tolerance, const th_budget_means *means, double size_px, double frame_s)
{
    assert(means && means->level_count > 0 && means->level_count <= TH_LOD_LEVELS);
    assert(tolerance < TH_BUDGET_TOLERANCES && size_px > 0 && frame_s >= 0);
    choice best = {
        .way = {0, TH_NO_INDEX, 1}, .allowed = th_budget_tolerance_px(tolerance) / size_px, .bones = means->bones[0]};
    for (uint32_t l = 0; l < means->level_count && tolerance > 0; l++) {
        for (uint32_t h = 1; h <= TH_BUDGET_MOST_HOLD; h++)
            consider(&best, (th_budget_way){l, TH_NO_INDEX, h}, means->errors[l] + means->speed * (h - 1) * frame_s,
                     (double)means->bones[l] / h);
        for (uint32_t r = 0; r < TH_BUDGET_RATES; r++)
            if (means->poses[r] < 1)
                consider(&best, (th_budget_way){l, r, 1}, means->errors[l] + means->motion * 0.5 / rates_hz[r],
                         means->bones[l] * means->poses[r]);
    }
    return best.way;
}

/* ---- frames ---- */

uint64_t th_budget_bones(const th_animation_budget *budget, double ns, uint64_t bones)
{
    assert(budget && (ns > 0 || bones > 0));
    if (bones > 0)
        return bones;
    return budget->ns_per_bone > 0 ? (uint64_t)(ns / budget->ns_per_bone) : UINT64_MAX;
}

void th_budget_begin(th_animation_budget *budget)
{
    assert(budget);
    budget->is_trial = budget->tolerance > 0 && budget->frames >= TRIAL_FRAMES;
    budget->tolerance -= budget->is_trial;
    budget->frames = budget->is_trial ? 0 : budget->frames + 1;
}

bool th_budget_exceeded(th_animation_budget *budget, uint64_t bones, uint64_t allowed)
{
    assert(budget);
    const double most = (double)allowed * (budget->is_trial ? MARGIN : 1);
    if ((double)bones <= most || budget->tolerance + 1 == TH_BUDGET_TOLERANCES)
        return false;
    budget->tolerance++;
    budget->frames = 0;
    budget->is_trial = false;
    return true;
}

void th_budget_end(th_animation_budget *budget, uint64_t bones, double ns)
{
    assert(budget);
    if (!(ns > 0) || bones == 0)
        return;
    const double now = ns / (double)bones, weight = budget->ns_per_bone > 0 ? 1.0 / SMOOTHING : 1;
    budget->ns_per_bone += weight * (now - budget->ns_per_bone);
}
