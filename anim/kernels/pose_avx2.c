#include "wide_avx2.h"

#include "pose_body.h"

static inline void load_lanes(const th_program *program, const th_lane lanes[TH_LANES], lane_group *group)
{
    group->frame_floats = program->frame_floats;
    for (int i = 0; i < TH_LANES; i++)
        group->key[i] = lanes[i].key;
    for (int i = 0; i < 4; i++)
        group->alpha[i] = _mm256_set_m128(_mm_set1_ps(lanes[i + 4].alpha), _mm_set1_ps(lanes[i].alpha));
}

void th_pose_avx2(const th_program *program, const th_lane lanes[TH_LANES], float *palette, size_t stride,
                  float *scratch)
{
    lane_group group = {.palette = palette, .stride = stride};
    load_lanes(program, lanes, &group);
    run(program, &group, scratch);
}

void th_sample_avx2(const th_program *program, const th_lane lanes[TH_LANES], float *pose)
{
    lane_group group = {.palette = NULL};
    load_lanes(program, lanes, &group);
    run_sample(program, &group, pose);
}

void th_resolve_avx2(const th_program *program, const float *pose, float *palette, size_t stride, float *scratch)
{
    const lane_group group = {.palette = palette, .stride = stride};
    run_resolve(program, &group, pose, scratch);
}

void th_fill_avx2(float *palette, size_t count, float value)
{
    size_t whole = count / 8 * 8;
    for (size_t i = 0; i < whole; i += 8)
        _mm256_store_ps(palette + i, _mm256_set1_ps(value));
    for (size_t i = whole; i < count; i++)
        palette[i] = value;
}
