/* Inside, since which parts are shared shows in no picture. A crowd_view that takes another's place draws what one
 * that was made from nothing draws. */
#include "fixture_coarse_human.h"
#include "fixture_gl.h"
#include "render/view/crowd_view_parts.h"
#include <cli/model_set.h>

#include <render/crowd_view.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 160, HEIGHT = 90 };

static th_model_set model_set;
static th_target *target;
static uint8_t pictures[2][WIDTH * HEIGHT * 4];
static th_error err;

static void open_all(void)
{
    open_gl();
    target = make_target(WIDTH, HEIGHT, 1);
    model_set.models[0] = create_coarse_human();
    model_set.models[0]->clip_count = 5; /* those that are asked for among them, and two that stand */
    model_set.count = 1;
}

static void close_all(void)
{
    th_model_set_fini(&model_set);
    close_gl();
}

static void begin_check(void)
{
    while (model_set.count > 1)
        th_model_destroy(model_set.models[--model_set.count]);
}

TestSuite(crowd_view_rebuild, .init = open_all, .fini = close_all);

/* A crowd's settings, and the clip that it plays; NULL: all. */
typedef struct settings {
    th_crowd_view_desc crowd;
    const char *clip;
} settings;

static settings usual(void)
{
    return (settings){.crowd = {.count = 150,
                                .jobs = {.threads = 2},
                                .seed = 1,
                                .compile = {.bound_m = 0.0001},
                                .yaw_deg = 25,
                                .pitch_deg = 20,
                                .zoom = 1,
                                .shadow_pixels = 128}};
}

/* base: NULL: makes it from nothing. */
static th_result prepare(const settings *s, const th_crowd_view *base, th_crowd_view **out)
{
    th_model_set chosen = model_set;
    *out = NULL;
    const th_result result = th_model_set_choose_clip(&chosen, s->clip, &err);
    const th_crowd_view_desc desc = th_model_set_crowd_view_desc(&chosen, &s->crowd);
    return result == TH_OK ? th_crowd_view_prepare(&desc, NULL, base, out, &err) : result;
}

static th_crowd_view *create(const settings *s)
{
    th_crowd_view *crowd_view;
    cr_assert_eq(prepare(s, NULL, &crowd_view), TH_OK, "%s", err.text);
    cr_assert_eq(th_crowd_view_complete(crowd_view, gl, &err), TH_OK, "%s", err.text);
    return crowd_view;
}

static const uint8_t *draw_from(th_crowd_view *crowd_view, const th_camera *camera, int picture)
{
    th_crowd_view_frame(crowd_view, 1.25, camera, target);
    th_target_resolve(target);
    th_target_read(target, pictures[picture]);
    return pictures[picture];
}

static const uint8_t *draw(th_crowd_view *crowd_view, int picture)
{
    const th_camera camera = th_crowd_view_camera(crowd_view, (float)WIDTH / HEIGHT, HUGE_VAL);
    return draw_from(crowd_view, &camera, picture);
}

static th_crowd_view *rebuild(th_crowd_view *crowd_view, const settings *s)
{
    th_crowd_view *next;
    cr_assert_eq(prepare(s, crowd_view, &next), TH_OK, "%s", err.text);
    draw(crowd_view, 0); /* goes on meanwhile */
    cr_assert_eq(th_crowd_view_complete(next, gl, &err), TH_OK, "%s", err.text);
    th_crowd_view_release(crowd_view, next);
    return next;
}

static bool equal(void)
{
    return memcmp(pictures[0], pictures[1], sizeof pictures[0]) == 0;
}

#define SET(member) .at = offsetof(th_crowd_view_desc, member), .value

/* A rebuild for each setting that a key changes, and for what else options say; which of them are seen, and which
 * never. */
static const struct {
    size_t at;
    uint32_t value;
    bool is_seen, is_hidden, is_scene; /* is_scene: with what stands around */
    const char *clip;
} changes[] = {
    {SET(count) = 310, .is_seen = true},
    {SET(count) = 1, .is_seen = true},
    {SET(jobs.threads) = 3, .is_hidden = true},
    {SET(jobs.scheduler) = TH_SCHEDULER_SERIAL, .is_hidden = true},
    {SET(palette) = TH_FORMAT_QUAT16, .is_seen = true},
    {SET(compile.interpolation) = TH_INTERPOLATION_STEP, .is_seen = true},
    {.clip = "walk", .is_seen = true},
    {SET(layout) = TH_LAYOUT_STREET, .is_seen = true},
    {SET(look) = TH_LOOK_SKELETON, .is_seen = true},
    {SET(shadow_pixels) = 0, .is_seen = true},
    {SET(upload) = TH_RING_UNSYNCHRONIZED, .is_hidden = true},
    {SET(fetch) = TH_FETCH_STORAGE, .is_hidden = true},
    {SET(compile.keys) = TH_KEYS_16},
    {SET(evaluator) = TH_EVALUATOR_GPU},
    {.is_scene = true, .value = TH_LAYOUT_STREET, .is_seen = true},
    {.is_scene = true, .value = TH_LAYOUT_PLAZA, .is_seen = true},
    {.is_scene = true, .value = TH_LAYOUT_GRID},
    {SET(isa) = TH_ISA_SCALAR},
};
enum { CHANGES = sizeof changes / sizeof *changes };

static void apply(int which, settings *s)
{
    if (changes[which].clip)
        s->clip = changes[which].clip;
    else if (changes[which].is_scene)
        th_crowd_view_desc_set_scene(&s->crowd, (th_layout_kind)changes[which].value);
    else
        memcpy((char *)&s->crowd + changes[which].at, &changes[which].value, sizeof changes[which].value);
    if (s->crowd.evaluator == TH_EVALUATOR_GPU)
        s->crowd.isa = TH_ISA_SCALAR; /* whose bytes it has */
}

/* And so does each change back. */
CHECK(crowd_view_rebuild, each_change_draws_what_a_new_show_draws)
{
    static uint8_t before[sizeof pictures[0]];
    const settings first = usual();
    th_crowd_view *crowd_view = create(&first);
    memcpy(before, draw(crowd_view, 0), sizeof before);
    for (int which = 0; which < CHANGES; which++) {
        settings options = usual();
        apply(which, &options);
        crowd_view = rebuild(crowd_view, &options);
        draw(crowd_view, 0);
        const bool is_other = memcmp(pictures[0], before, sizeof before) != 0;
        cr_expect(changes[which].is_hidden ? !is_other : is_other || !changes[which].is_seen, "rebuild %d", which);
        if (!changes[which].is_hidden) {
            th_crowd_view *fresh = create(&options);
            draw(fresh, 1);
            cr_expect(equal(), "rebuild %d", which);
            th_crowd_view_destroy(fresh);
        }
        crowd_view = rebuild(crowd_view, &first);
        cr_expect_eq(memcmp(draw(crowd_view, 0), before, sizeof before), 0, "rebuild %d, and back", which);
    }
    th_crowd_view_destroy(crowd_view);
}

CHECK(crowd_view_rebuild, many_changes_in_a_row_are_one)
{
    settings options = usual();
    th_crowd_view *crowd_view = create(&options);
    for (int which = 0; which < CHANGES; which++) {
        apply(which, &options);
        crowd_view = rebuild(crowd_view, &options);
    }
    draw(crowd_view, 0);
    th_crowd_view *fresh = create(&options);
    draw(fresh, 1);
    cr_expect(equal());
    th_crowd_view_destroy(fresh);
    th_crowd_view_destroy(crowd_view);
}

CHECK(crowd_view_rebuild, changes_while_few_are_in_sight)
{
    settings options = usual();
    options.crowd.count = 1200;
    th_crowd_view *crowd_view = create(&options);
    th_camera all = th_crowd_view_camera(crowd_view, (float)WIDTH / HEIGHT, HUGE_VAL), few = all;
    few.distance /= 40;
    few.pitch_rad = 1;
    th_crowd_view_fit_depth(crowd_view, &few);
    draw_from(crowd_view, &few, 0);
    cr_assert_lt(th_crowd_view_get_stats(crowd_view).visible, 600);
    options.crowd.jobs.threads = 4;
    th_crowd_view *next;
    cr_assert_eq(prepare(&options, crowd_view, &next), TH_OK);
    cr_assert_eq(th_crowd_view_complete(next, gl, &err), TH_OK);
    th_crowd_view_release(crowd_view, next);
    draw_from(next, &all, 0);
    cr_expect_eq(th_crowd_view_get_stats(next).visible, 1200);
    th_crowd_view_destroy(next);
}

/* Frames that are drawn while the next one is prepared still teach the budget. */
CHECK(crowd_view_rebuild, takes_over_what_the_budget_learned_until_the_last_frame)
{
    settings options = usual();
    options.crowd.budget.bones = 1000;
    th_crowd_view *crowd_view = create(&options), *next;
    options.crowd.look = TH_LOOK_LOD;
    cr_assert_eq(prepare(&options, crowd_view, &next), TH_OK, "%s", err.text);
    draw(crowd_view, 0);
    const th_animation_budget learned = crowd_view->budget;
    cr_assert(learned.tolerance > 0 && learned.ns_per_bone > 0, "%u", learned.tolerance);
    cr_assert_eq(th_crowd_view_complete(next, gl, &err), TH_OK, "%s", err.text);
    th_crowd_view_release(crowd_view, next);
    cr_expect_eq(next->budget.tolerance, learned.tolerance);
    cr_expect_eq(next->budget.ns_per_bone, learned.ns_per_bone);
    draw(next, 0);
    options.crowd.budget.bones = 2000;
    th_crowd_view *other = rebuild(next, &options);
    cr_expect_eq(other->budget.tolerance, 0, "another budget begins anew");
    th_crowd_view_destroy(other);
}

CHECK(crowd_view_rebuild, a_change_that_fails_leaves_the_picture)
{
    settings options = usual();
    th_crowd_view *crowd_view = create(&options), *next;
    draw(crowd_view, 1);
    options.clip = "no such clip";
    options.crowd.count = 40;
    cr_expect_eq(prepare(&options, crowd_view, &next), TH_ERR_USAGE);
    cr_expect(strstr(err.text, "no such clip") && !next);
    options.clip = NULL;
    options.crowd.shadow_pixels = 1u << 30; /* more than any driver has; after ring and threads were made */
    options.crowd.jobs.threads = 3;
    cr_assert_eq(prepare(&options, crowd_view, &next), TH_OK);
    cr_expect_neq(th_crowd_view_complete(next, gl, &err), TH_OK);
    cr_expect_neq(err.text[0], '\0');
    th_crowd_view_release(next, crowd_view);
    while (th_gl_check(gl, "as expected", &err) != TH_OK)
        ;
    draw(crowd_view, 0);
    cr_expect(equal());
    th_crowd_view_destroy(crowd_view);
}

/* In a street of walkers each frame moves the one that is looked at by as much as the last one did, and ahead. */
static void expect_steady_walk(const char *what)
{
    settings options = usual();
    options.crowd.layout = TH_LAYOUT_STREET;
    options.clip = "walk";
    th_crowd_view *crowd_view = create(&options);
    uint32_t walked = 0;
    for (uint32_t frame = 0; frame < 300; frame++) {
        const th_follow_target now = th_crowd_view_follow_target(crowd_view, 7, frame / 60.0),
                               next = th_crowd_view_follow_target(crowd_view, 7, (frame + 1) / 60.0);
        const float dx = next.centre[0] - now.centre[0], dz = next.centre[2] - now.centre[2], far = hypotf(dx, dz);
        if (far > 1)
            continue; /* comes in again at the other end */
        walked++;
        cr_expect(far > 0.01F && far < 0.05F, "%s: %g m in frame %u", what, (double)far, frame);
        cr_expect_float_eq(dx, far * sinf(now.heading_rad), 1e-3F, "%s", what);
        cr_expect_float_eq(dz, far * cosf(now.heading_rad), 1e-3F, "%s", what);
    }
    cr_expect_gt(walked, 290);
    th_crowd_view_destroy(crowd_view);
}

/* It changes the clip. */
CHECK(crowd_view_rebuild_last, a_subject_walks_steadily_whoever_moves_it)
{
    expect_steady_walk("the layout");
    const th_clip *clip = &model_set.models[0]->clips[th_model_find_clip(model_set.models[0], "walk")];
    const th_track *hips = &clip->channels[0].translation;
    for (uint32_t k = 0; k < hips->key_count; k++) {
        const float s = (float)(hips->times[k] / clip->ticks_per_second);
        ((float *)hips->values)[3 * k] += 0.8F * s;
        ((float *)hips->values)[3 * k + 2] += 1.1F * s;
    }
    expect_steady_walk("the clip");
}

/* Two models take turns. The second one is in other units. */
CHECK(crowd_view_rebuild, models_in_other_units_are_as_tall_as_the_first)
{
    static const double units[] = {0.05, 20};
    const settings options = usual();
    model_set.models[1] = create_coarse_human();
    model_set.count = 2;
    const double size = model_set.models[1]->size;
    for (int u = 0; u < 2; u++) {
        model_set.models[1]->size = units[u] * size;
        th_crowd_view *crowd_view = create(&options);
        const th_follow_target first = th_crowd_view_follow_target(crowd_view, 0, 0),
                               second = th_crowd_view_follow_target(crowd_view, 1, 0);
        cr_expect_float_eq(second.centre[1] / first.centre[1], 1, 0.2, "%g", units[u]);
        th_crowd_view_destroy(crowd_view);
    }
}

CHECK(crowd_view_rebuild, walkers_are_found_in_order)
{
    settings options = usual();
    th_crowd_view *crowd_view = create(&options);
    uint32_t at = 0, steps = 0;
    for (uint32_t last = 0; steps == 0 || at > last; steps++) {
        last = at;
        at = th_crowd_view_next_walker(crowd_view, last, false);
        cr_expect_eq(th_crowd_view_next_walker(crowd_view, th_crowd_view_next_walker(crowd_view, at, false), true), at);
    }
    cr_expect(steps > 10 && steps < options.crowd.count, "%u of %u walk", steps, options.crowd.count);
    options.clip = "idle";
    th_crowd_view *idle = create(&options);
    cr_expect_eq(th_crowd_view_next_walker(idle, 5, false), 6);
    cr_expect_eq(th_crowd_view_next_walker(idle, 0, true), options.crowd.count - 1, "nobody walks");
    th_crowd_view_destroy(idle);
    th_crowd_view_destroy(crowd_view);
}

Test(crowd_view_rebuild, checks)
{
    before_check = begin_check;
    run_checks("crowd_view_rebuild");
    run_checks("crowd_view_rebuild_last");
}
