#include "fixture_arm.h"

#include <throng/anim/exact.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

const uint8_t arm_png[69] = {/* one red pixel */
                             0x89, 'P',  'N',  'G',  0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 'I',  'H',
                             'D',  'R',  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
                             0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 'I',  'D',  'A',  'T',  0x08,
                             0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0x18, 0xdd, 0x8d,
                             0xb0, 0x00, 0x00, 0x00, 0x00, 'I',  'E',  'N',  'D',  0xae, 0x42, 0x60, 0x82};
static const uint8_t bmp[] = {'B', 'M', 70, 0, 0, 0, 0, 0, 0, 0};

static th_mat34 rest(double x, double y, double z, double degrees, double sx, double sy, double sz)
{
    double half = degrees * M_PI / 360;
    th_trs trs = {{x, y, z}, {0, 0, sin(half), cos(half)}, {sx, sy, sz}};
    return th_mat34_from(th_dmat34_from_trs(&trs));
}

static th_mat34 inverse(th_dmat34 a)
{
    if (!th_dmat34_invert(&a, &a))
        abort();
    return th_mat34_from(a);
}

static void build_skeleton(arm *a)
{
    a->joints[BASE] = (th_joint){"base", TH_NO_INDEX, TH_MAT34_IDENTITY};
    a->joints[UPPER] = (th_joint){"upper", BASE, rest(0, 1, 0, 30, 1, 1, 1)};
    a->joints[LOWER] = (th_joint){"lower", UPPER, rest(0, 1, 0, -50, 1, 2, 0.5)};
    a->joints[HAND] = (th_joint){"hand \xc3\xa4", LOWER, rest(0, 0.5, 0, 0, -1, 1, 1)};
    a->joints[PROP] = (th_joint){"sleeve", BASE, rest(0, 0, 3, 90, 1, 1, 1)};
    a->model.joints = a->joints;
    a->model.joint_count = JOINTS;

    th_dmat34 pose[JOINTS];
    th_exact_pose(&a->model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    /* The second mesh follows the upper arm with a matrix of its own. */
    a->bones[0] = (th_bone){UPPER, inverse(pose[UPPER])};
    a->bones[1] = (th_bone){UPPER, TH_MAT34_IDENTITY};
    a->bones[2] = (th_bone){LOWER, inverse(pose[LOWER])};
    a->bones[3] = (th_bone){HAND, inverse(pose[HAND])};
    a->model.bones = a->bones;
    a->model.bone_count = sizeof a->bones / sizeof *a->bones;
}

static th_vertex ring_vertex(int ring, int side, const uint16_t bone[2])
{
    float angle = (float)side * 6.2831853f / SIDES, along = (float)ring / (RINGS - 1);
    return (th_vertex){
        .position = {0.2f * cosf(angle), 3 * along, 0.2f * sinf(angle)},
        .normal = {1.001f * cosf(angle), 0, 1.001f * sinf(angle)}, /* not quite of unit length */
        .uv = {(float)side / SIDES, along},
        .color = {255, (uint8_t)(40 * ring), (uint8_t)(40 * side), 255},
        .bone = {along > 0.5f ? bone[1] : bone[0], along > 0.5f ? bone[0] : bone[1], 0, 0},
        .weight = {0.5f + fabsf(along - 0.5f), 0.5f - fabsf(along - 0.5f), 0, 0},
    };
}

static void build_meshes(arm *a)
{
    const uint16_t bones[2][2] = {{0, 2}, {1, 3}};
    uint32_t *i = a->indices;
    for (int m = 0; m < 2; m++)
        for (int v = 0; v < VERTICES; v++)
            a->vertices[m][v] = ring_vertex(v / SIDES, v % SIDES, bones[m]);
    for (uint32_t ring = 0; ring + 1 < RINGS; ring++)
        for (uint32_t side = 0; side < SIDES; side++) {
            uint32_t p = ring * SIDES + side, q = ring * SIDES + (side + 1) % SIDES;
            for (int k = 0; k < 6; k++)
                *i++ = (const uint32_t[]){p, p + SIDES, q, q, p + SIDES, q + SIDES}[k];
        }
    a->textures[0] = (th_texture){"skin.png", arm_png, sizeof arm_png};
    a->textures[1] = (th_texture){"cloth.bmp", bmp, sizeof bmp};
    a->materials[0] = (th_material){.name = "skin", .base_color = {0.5f, 0.25f, 1.5f, 1}, .texture = 0};
    a->materials[1] = (th_material){.name = "cloth", .base_color = {1, 1, 1, 1}, .texture = 1};
    a->meshes[0] = (th_mesh){.name = "skin",
                             .material = 0,
                             .vertex_count = VERTICES,
                             .index_count = INDICES,
                             .vertices = a->vertices[0],
                             .indices = a->indices};
    a->meshes[1] = (th_mesh){.name = "sleeve",
                             .material = 1,
                             .vertex_count = VERTICES,
                             .index_count = INDICES,
                             .vertices = a->vertices[1],
                             .indices = a->indices};
    a->model.textures = a->textures;
    a->model.texture_count = 2;
    a->model.materials = a->materials;
    a->model.material_count = 2;
    a->model.meshes = a->meshes;
    a->model.mesh_count = 2;
}

/* In ticks of 1/24 s. The first channel moves its joint from before the start; the second has tracks of different ends;
 * the third says what its joint's rest does not. */
static void build_clips(arm *a)
{
    static const double times[][3] = {[EARLY] = {-12, 12, 48}, [WHOLE] = {0, 24}, [ONCE] = {0}, [LATE] = {6}};
    static const float turns[2][8] = {{0, 0, 0, 1, 0, 0, 0.6f, 0.8f}, {0, 0, 0.6f, 0.8f, 0.8f, 0, 0, 0.6f}};
    memcpy(a->times, times, sizeof times);
    memcpy(a->turns, turns, sizeof turns);
    for (int i = 0; i < 9; i++) {
        a->at_rest[0][i] = i % 3 == 1;
        a->at_rest[1][i] = 1;
        a->moving[i] = 0.25f * (float)(i + 1);
    }
    const double *early = a->times[EARLY], *whole = a->times[WHOLE], *once = a->times[ONCE], *late = a->times[LATE];
    a->channels[0] = (th_channel){UPPER,
                                  {1, once, a->at_rest[0], NULL, false},
                                  {2, early, a->turns[0], NULL, false},
                                  {1, once, a->at_rest[1], NULL, false},
                                  0};
    a->channels[1] = (th_channel){LOWER,
                                  {2, whole, a->moving, NULL, false},
                                  {2, whole, a->turns[1], NULL, false},
                                  {3, early, a->moving, NULL, false},
                                  0};
    a->channels[2] = (th_channel){PROP,
                                  {1, late, a->moving, NULL, false},
                                  {1, late, a->turns[0], NULL, false},
                                  {1, late, a->moving, NULL, false},
                                  0};
    a->clips[CUT] = (th_clip){.name = "cut at both ends",
                              .duration_ticks = 24,
                              .ticks_per_second = 24,
                              .channel_count = 2,
                              .channels = a->channels};
    a->clips[LONGER] = (th_clip){.name = "longer than its keys",
                                 .duration_ticks = 60,
                                 .ticks_per_second = 24,
                                 .channel_count = 2,
                                 .channels = a->channels + 1};
    a->clips[POSE] = (th_clip){
        .name = "one pose", .duration_ticks = 0, .ticks_per_second = 24, .channel_count = 3, .channels = a->channels};
    a->clips[STILL] = (th_clip){
        .name = "nothing moves", .duration_ticks = 30, .ticks_per_second = 24, .channel_count = 0, .channels = NULL};
    a->model.clips = a->clips;
    a->model.clip_count = CLIPS;
}

arm *make_arm(void)
{
    arm *a = calloc(1, sizeof *a);
    if (!a)
        abort();
    a->model.name = "arm";
    build_skeleton(a);
    build_meshes(a);
    build_clips(a);
    a->model.size = th_model_measure(&a->model);
    if (th_model_check(&a->model, NULL) != TH_OK)
        abort();
    return a;
}
