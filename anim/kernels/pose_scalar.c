#include "wide_scalar.h"

#include "pose_body.h"

void th_pose_scalar(const th_program *program, const th_lane lanes[TH_LANES], float *palette, size_t stride,
                    float *scratch)
{
    for (size_t i = 0; i < TH_LANES; i++) {
        lane_group lane = {lanes[i].key, program->frame_floats, lanes[i].alpha, palette + i * stride};
        run(program, &lane, scratch);
    }
}

void th_sample_scalar(const th_program *program, const th_lane lanes[TH_LANES], float *pose)
{
    for (size_t i = 0; i < TH_LANES; i++) {
        lane_group lane = {.key = lanes[i].key, .frame_floats = program->frame_floats, .alpha = lanes[i].alpha};
        run_sample(program, &lane, pose + i * program->step_count * TH_ENTRY);
    }
}

void th_resolve_scalar(const th_program *program, const float *pose, float *palette, size_t stride, float *scratch)
{
    for (size_t i = 0; i < TH_LANES; i++) {
        lane_group lane = {.palette = palette + i * stride};
        run_resolve(program, &lane, pose + i * program->step_count * TH_ENTRY, scratch);
    }
}

void th_fill_scalar(float *palette, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        palette[i] = value;
}
