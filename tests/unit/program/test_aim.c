/* What --target looks at, held against palettes of the kernel. Inside, since nothing is drawn. */
#include "src/cli/commands/aim.h"

#include <anim/palette.h>
#include <anim/transform.h>
#include <runtime/frame.h>
#include <runtime/scene.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static th_error err;

static th_crowd_view *make(th_model *human, th_layout_kind layout, th_behaviour_kind kind)
{
    th_crowd_view_desc desc = {
        .models = {human}, .clips = {TH_NO_INDEX}, .model_count = 1, .count = 20, .seed = 3, .layout = layout};
    const th_crowd_behaviour behaviour = {.kind = kind};
    th_crowd_view *view;
    desc.palette = TH_FORMAT_F32;
    cr_assert_eq(th_crowd_view_prepare(&desc, &behaviour, NULL, &view, &err), TH_OK, "%s", err.text);
    return view;
}

/* Where a joint is drawn: its place at rest, moved by its bone's palette. */
static void draw_joint(const th_crowd_view *view, uint32_t instance, uint32_t joint, double time_s, float out[3])
{
    const th_crowd_view_parts parts = th_crowd_view_get_parts(view);
    const th_model *model = th_scene_model(parts.scene, instance);
    th_crowd *crowd;
    th_frame *frame;
    void *palettes;
    cr_assert_eq(th_scene_crowd(parts.scene, TH_ISA_SCALAR, TH_FORMAT_F32, &crowd, &err), TH_OK);
    cr_assert_eq(th_palettes_create(crowd, &palettes, &err), TH_OK);
    cr_assert_eq(th_frame_create_with(&(th_frame_desc){.crowd = crowd}, parts.behaviour, &frame, &err), TH_OK);
    cr_assert_eq(th_frame_run(frame, time_s, palettes), TH_OK);
    uint32_t bone = 0;
    while (model->bones[bone].joint != joint)
        bone++;
    const th_dmat34 bind = th_dmat34_from(model->bones[bone].inverse_bind);
    th_dmat34 rest;
    cr_assert(th_dmat34_invert(&bind, &rest));
    const float *m = (const float *)(void *)((char *)palettes + th_crowd_palette_offset(crowd, instance)) + 12 * bone;
    float moved[3];
    for (int i = 0; i < 3; i++)
        moved[i] = m[4 * i] * (float)rest.m[3] + m[4 * i + 1] * (float)rest.m[7] + m[4 * i + 2] * (float)rest.m[11] +
                   m[4 * i + 3];
    th_instance_transform at;
    th_sphere sphere;
    th_crowd_view_place(view, instance, time_s, &at, &sphere);
    const float c = at.scale * cosf(at.heading_rad), s = at.scale * sinf(at.heading_rad);
    out[0] = at.position[0] + c * moved[0] + s * moved[2];
    out[1] = at.position[1] + at.scale * moved[1];
    out[2] = at.position[2] - s * moved[0] + c * moved[2];
    th_frame_destroy(frame);
    th_palettes_destroy(palettes);
    th_crowd_destroy(crowd);
}

Test(aim, follows_a_joint_wherever_its_character_goes)
{
    th_model *human;
    cr_assert_eq(th_human_create(&human, &err), TH_OK);
    for (int n = 0; n < 3; n++) {
        th_crowd_view *view =
            make(human, n == 0 ? TH_LAYOUT_GRID : TH_LAYOUT_STREET, n == 2 ? TH_BEHAVIOUR_GRAPH : TH_BEHAVIOUR_NONE);
        static const char *const texts[] = {"hand_l", "7:hand_r", "13:face", "face"};
        for (int k = 0; k < 4 * 3; k++) {
            const double time_s = 0.1 + 0.73 * (k % 3);
            th_camera camera = th_camera_look_at((float[3]){0, 0, 1}, (float[3]){0, 0, 0});
            th_aim aim;
            float wanted[3];
            cr_assert_eq(th_aim_at(texts[k / 3], view, &aim, &err), TH_OK, "%s", err.text);
            th_aim_camera(&aim, view, time_s, 1, &camera);
            draw_joint(view, aim.instance, aim.joint, time_s, wanted);
            for (int i = 0; i < 3; i++)
                cr_expect_float_eq(camera.target[i], wanted[i], 1e-3F, "%s of %d at %g s: %g, not %g", texts[k / 3], n,
                                   time_s, (double)camera.target[i], (double)wanted[i]);
        }
        th_crowd_view_destroy(view);
    }
    th_model_destroy(human);
}

Test(aim, is_at_a_character_from_where_it_looks_or_at_a_place)
{
    th_model *human;
    cr_assert_eq(th_human_create(&human, &err), TH_OK);
    th_crowd_view *view = make(human, TH_LAYOUT_RING, TH_BEHAVIOUR_NONE);
    const th_follow_target five = th_crowd_view_follow_target(view, 5, 0);
    th_camera near = th_camera_look_at((float[3]){0, 0, 1}, (float[3]){0, 0, 0}), far = near, there = near;
    th_aim aim;
    cr_assert_eq(th_aim_at("5", view, &aim, &err), TH_OK);
    th_aim_camera(&aim, view, 0, 1, &far);
    th_aim_camera(&aim, view, 0, 2, &near);
    cr_expect_arr_eq(far.target, five.centre, sizeof far.target);
    cr_expect_float_eq(far.yaw_rad, five.heading_rad, 1e-5F);
    cr_expect_float_eq(far.distance, 2 * near.distance, 1e-4F);
    cr_assert_eq(th_aim_at("1,-2.5,3e1", view, &aim, &err), TH_OK);
    th_aim_camera(&aim, view, 0, 1, &there);
    cr_expect(there.target[0] == 1 && there.target[1] == -2.5F && there.target[2] == 30 && there.yaw_rad == 0);
    static const char *const wrong[] = {"20", "20:face", "1,2", "1,2,3,4", "1,2,nan", "haed", "-1", "3:", "3:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_eq(th_aim_at(wrong[i], view, &aim, &err), TH_ERR_USAGE, "%s", wrong[i]);
    th_aim_at("haed", view, &aim, &err);
    cr_expect_str_eq(err.text, "--target: no joint \"haed\"; did you mean \"head\"?");
    th_crowd_view_destroy(view);
    th_model_destroy(human);
}
