/* `throng pose` from outside, held against what the library computes. */
#include "fixture_program.h"

#include <anim/crowd.h>
#include <anim/exact.h>
#include <throng/throng.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(pose, .init = make_folder, .fini = remove_folder);

static void expect_matrix(const json_t *joint, const char *key, const double *wanted, double tolerance)
{
    const json_t *array = json_object_get(joint, key);
    cr_assert_eq(json_array_size(array), 12, "%s", key);
    for (size_t i = 0; i < 12; i++)
        cr_expect_float_eq(json_real_value(json_array_get(array, i)), wanted[i], tolerance, "%s of %s", key,
                           json_string_value(json_object_get(joint, "name")));
}

/* With these options it prints this clip's pose. tolerance: of palettes. */
static void compare(const char *options, const char *clip_name, double time_s, th_interpolation interpolation,
                    double tolerance)
{
    char line[128];
    th_model *human;
    cr_assert_eq(th_human_create(&human, NULL), TH_OK);
    th_dmat34 *pose = calloc(human->joint_count + human->bone_count, sizeof *pose),
              *palette = pose + human->joint_count;
    const th_clip *clip = &human->clips[th_model_find_clip(human, clip_name)];
    double ticks = th_clip_ticks(clip, time_s);
    th_exact_pose(human, clip, ticks, interpolation, pose);
    th_exact_palette(human, pose, palette);

    snprintf(line, sizeof line, "pose --json %s", options);
    json_t *json = document(line), *joints = json_object_get(json, "joints");
    cr_expect_str_eq(json_string_value(json_object_get(json, "clip")), clip_name);
    cr_expect_str_eq(json_string_value(json_object_get(json, "interpolation")), th_interpolation_name(interpolation));
    cr_expect_eq(json_real_value(json_object_get(json, "ticks")), ticks);
    cr_assert_eq(json_array_size(joints), human->joint_count);
    for (uint32_t j = 0; j < human->joint_count; j++) {
        const json_t *joint = json_array_get(joints, j), *entry = json_object_get(joint, "entry");
        uint32_t parent = human->joints[j].parent;
        cr_expect_str_eq(json_string_value(json_object_get(joint, "name")), human->joints[j].name);
        cr_expect_eq(json_integer_value(json_object_get(joint, "parent")), parent == TH_NO_INDEX ? -1 : (int)parent);
        expect_matrix(joint, "model", pose[j].m, 0);
        if (json_is_integer(entry)) {
            cr_expect_eq(human->bones[json_integer_value(entry)].joint, j);
            expect_matrix(joint, "palette", palette[json_integer_value(entry)].m, tolerance);
        }
    }
    json_decref(json);
    free(pose);
    th_model_destroy(human);
}

Test(pose, prints_the_exact_pose_to_the_last_bit)
{
    char options[96];
    compare("--clip walk --time 0.37", "walk", 0.37, TH_INTERPOLATION_AUTHORED, 0);
    compare("--clip=1 --time=-12.3 --sampling exact", "walk", -12.3, TH_INTERPOLATION_AUTHORED, 0);
    for (th_interpolation how = TH_INTERPOLATION_AUTHORED; how < TH_INTERPOLATION_COUNT; how++) {
        snprintf(options, sizeof options, "--clip walk --time 0.37 --interpolation %s", th_interpolation_name(how));
        compare(options, "walk", 0.37, how, 0);
    }
}

Test(pose, prints_what_the_kernels_write)
{
    char options[96];
    for (th_isa isa = TH_ISA_AUTO; isa < TH_ISA_COUNT; isa++) {
        const char *name = th_isa_name(isa);
        snprintf(options, sizeof options, "--clip walk --time 0.37 --sampling compiled --isa %s", name);
        if (th_isa_available(isa)) {
            compare(options, "walk", 0.37, TH_INTERPOLATION_AUTHORED, 2e-4);
        } else {
            char line[128];
            snprintf(line, sizeof line, "pose %s", options);
            expect(4, line, name); /* what the machine lacks */
        }
    }
}
