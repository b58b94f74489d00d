// Lists on the GPU the characters that render/view/cull.c lists on the CPU: the same ones, at the same levels of detail,
// in the same order. Four steps: count each block's characters by draw list (cull_count.comp); sum over blocks
// (cull_sum.comp); find where each draw list begins, and write the draws (cull_draw.comp); write the list
// (cull_list.comp).
// A draw list is a model, visible or not, at a level. Nothing depends on the order in which work groups run.
//
// Each operation is `precise`, as in pose.glsl, so that it rounds as on the CPU.

#define BLOCK 256u // instances; the local size of all steps
layout(local_size_x = 256) in;

#define NOBODY 0xffffffffu

struct Model
{
    uint first_cursor;
    uint chunk; // palettes that can be bound at once
    uint shadow_lod; // the least level in the shadow map
    uint group_size; // characters that a work group poses
    uint first_dispatch, chunk_count;
    uvec2 unused;
};

layout(std140, binding = 0) uniform Frame // frame_block of gpu_cull.c
{
    vec4 u_planes[12]; // th_cull_test
    vec4 u_pushes[3];
    vec4 u_limits[3]; // limit2
    vec4 u_eye; // and the ground
    uvec2 u_time, u_length; // doubles; of the street
    uint u_plane_count, u_instance_count, u_block_count;
    bool u_tints_levels;
    uvec4 u_tints[3]; // by level
    Model u_models[MODELS];
};

double number(uvec2 bits)
{
    return packDouble2x32(bits);
}
