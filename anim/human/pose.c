/* The pose at a phase of a clip. The body follows its waves. The legs follow given paths of the feet, where errors are
 * most visible, by two-bone inverse kinematics. */
#include "parts.h"

#include <assert.h>
#include <string.h>

#define PI 3.14159265358979323846

static double radians(double degrees)
{
    return degrees * (PI / 180);
}

/* ---- waves ---- */

/* Rotates the joint about one of its own axes, after its previous rotations. */
static void turn(th_trs *joint, int axis, double degrees)
{
    double q[4] = {0, 0, 0, th_human_cos(radians(degrees) / 2)};
    q[axis] = th_human_sin(radians(degrees) / 2);
    th_quat_mul(joint->rotation, q, joint->rotation);
}

static double wave_at(const th_human_wave *wave, double phase)
{
    return wave->mean + wave->amplitude * th_human_sin(2 * PI * (wave->cycles * phase + wave->shift));
}

static void apply_wave(const th_human_wave *wave, double phase, th_trs pose[J_COUNT])
{
    assert(wave->joint < J_COUNT && mirror_joint(mirror_joint(wave->joint)) == wave->joint);
    assert(wave->motion < MOVE_X || wave->joint == J_HIPS);
    uint32_t right = mirror_joint(wave->joint);
    double value = wave_at(wave, phase);
    if (wave->motion >= MOVE_X) {
        pose[wave->joint].translation[wave->motion - MOVE_X] += value;
        return;
    }
    if (wave->side != RIGHT)
        turn(&pose[wave->joint], (int)wave->motion, value);
    if (wave->side == LEFT || right == wave->joint)
        return;
    /* Mirroring keeps rotations about X and reverses the others; see th_human_bone_frame. */
    if (wave->side == ALTERNATE)
        value = wave_at(wave, phase + 0.5);
    turn(&pose[right], (int)wave->motion, wave->motion == BEND ? value : -value);
}

/* ---- feet ---- */

/* Slope at a key of a closed curve: the harmonic mean of the neighbouring slopes, or 0 at a peak, so that the curve
 * never leaves the range of its keys (F. Fritsch, J. Butland, A Method for Constructing Local Monotone Piecewise Cubic
 * Interpolants, 1984). So a foot that should lie flat does. */
static double monotone_slope(double before, double after)
{
    return before * after > 0 ? 2 * before * after / (before + after) : 0;
}

static const th_human_footstep *step_at(const th_human_gait *gait, uint32_t i)
{
    assert(gait->step_count > 0);
    return &gait->steps[i % gait->step_count];
}

/* Slope from key i to the next, cyclically. */
static double step_width(const th_human_gait *gait, uint32_t i)
{
    double width = step_at(gait, i + 1)->phase - step_at(gait, i)->phase;
    return width > 0 ? width : width + 1;
}

/* Interpolates between v1 and v2; v0 and v3 are the neighbouring keys. */
static double curve(double v0, double v1, double v2, double v3, const double width[3], double t)
{
    double slope = (v2 - v1) / width[1];
    return hermite(v1, v2, monotone_slope((v1 - v0) / width[0], slope), monotone_slope(slope, (v3 - v2) / width[2]),
                   width[1], t);
}

/* The first key has phase 0. */
static th_human_footstep footstep_at(const th_human_gait *gait, double phase)
{
    assert(phase >= 0 && phase <= 1 && gait->steps[0].phase == 0);
    uint32_t n = gait->step_count, i = n;
    while (step_at(gait, i + 1)->phase > step_at(gait, i)->phase && step_at(gait, i + 1)->phase <= phase)
        i++;
    const th_human_footstep *a = step_at(gait, i - 1), *b = step_at(gait, i), *c = step_at(gait, i + 1),
                            *d = step_at(gait, i + 2);
    double width[3] = {step_width(gait, i - 1), step_width(gait, i), step_width(gait, i + 1)};
    double t = (phase - b->phase) / width[1];
    return (th_human_footstep){.phase = phase,
                               .pitch = curve(a->pitch, b->pitch, c->pitch, d->pitch, width, t),
                               .toe = curve(a->toe, b->toe, c->toe, d->toe, width, t),
                               .lift = curve(a->lift, b->lift, c->lift, d->lift, width, t)};
}

/* Distance of the foot in front of the hips. On the ground it moves backwards at the speed of the gait; in the air it
 * swings forward and lands at the same speed. */
static double foot_ahead(const th_human_gait *gait, double phase)
{
    if (phase <= gait->contact)
        return gait->lead - gait->stride * phase;
    double off = gait->lead - gait->stride * gait->contact, width = 1 - gait->contact;
    return hermite(off, gait->lead, -gait->stride, -gait->stride, width, (phase - gait->contact) / width);
}

static th_dmat34 rotation_about(int axis, double degrees)
{
    th_trs trs = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    turn(&trs, axis, degrees);
    return th_dmat34_from_trs(&trs);
}

static vec3 transform(const th_dmat34 *m, vec3 p)
{
    const double in[3] = {p.x, p.y, p.z};
    double out[3];
    th_dmat34_point(m, in, out);
    return (vec3){out[0], out[1], out[2]};
}

/* model_from_foot. The foot is flat, or rotates about the edge of the heel or the joint of the toes, which stay in
 * place. */
static th_dmat34 foot_frame(const th_human_gait *gait, uint32_t foot, const th_human_footstep *step)
{
    double side = foot == J_FOOT_L ? 1 : -1;
    vec3 rest = th_human_joint_position(foot), toe = th_human_joint_position(foot + 1);
    vec3 ankle = {side * gait->spread, rest.y + step->lift, rest.z + foot_ahead(gait, step->phase)};

    th_dmat34 yaw = rotation_about(1, side * gait->toe_out), pitch = rotation_about(0, -step->pitch);
    th_dmat34 turned = th_dmat34_mul(yaw, pitch);
    vec3 heel = {0, -rest.y, -0.06}, pivot = step->pitch > 0 ? heel : sub(toe, rest);
    ankle = add(ankle, sub(transform(&yaw, pivot), transform(&turned, pivot)));
    return th_human_bone_frame(ankle, transform(&turned, sub(toe, rest)), transform(&turned, (vec3){0, 1, 0}));
}

/* ---- legs ---- */

static vec3 origin_of(const th_dmat34 *frame)
{
    return (vec3){frame->m[3], frame->m[7], frame->m[11]};
}

static double translation_length(const th_trs *trs)
{
    return length((vec3){trs->translation[0], trs->translation[1], trs->translation[2]});
}

/* Sets a joint's rotation so that it gets the given frame in model space. Its position follows from its parent. */
static void aim(const th_dmat34 *model_from_parent, const th_dmat34 *frame, th_trs *out)
{
    th_dmat34 parent_from_model;
    th_trs local;
    if (th_dmat34_invert(model_from_parent, &parent_from_model)) {
        th_dmat34 m = th_dmat34_mul(parent_from_model, *frame);
        th_dmat34_decompose(&m, &local);
        memcpy(out->rotation, local.rotation, sizeof local.rotation);
    }
}

/* The leg is never fully stretched: close to that, a small movement of the foot rotates the knee by a large angle. */
static double soft_reach(double distance, double reach)
{
    const double softness = 0.015;
    double begin = reach * (1 - softness);
    if (distance <= begin)
        return distance;
    return begin + reach * softness * (1 - th_human_exp(-(distance - begin) / (reach * softness)));
}

static void place_leg(const th_human_gait *gait, uint32_t thigh, double phase, th_trs pose[J_COUNT])
{
    assert(thigh == J_THIGH_L || thigh == J_THIGH_R);
    uint32_t calf = thigh + 1, foot = thigh + 2, toe = thigh + 3;
    th_human_footstep step = footstep_at(gait, phase - floor(phase));
    th_dmat34 target = foot_frame(gait, foot, &step);
    th_dmat34 hips = th_dmat34_from_trs(&pose[J_HIPS]), thigh_rest = th_dmat34_from_trs(&pose[thigh]);
    thigh_rest = th_dmat34_mul(hips, thigh_rest);

    /* The triangle of hip, knee and ankle, in the plane that contains the foot's direction. */
    vec3 hip = origin_of(&thigh_rest), to_ankle = sub(origin_of(&target), hip);
    double upper = translation_length(&pose[calf]), lower = translation_length(&pose[foot]);
    double reach = soft_reach(length(to_ankle), upper + lower);
    double side = thigh == J_THIGH_L ? 1 : -1, toe_out = radians(gait->toe_out);
    vec3 down = unit(to_ankle),
         hinge = unit(cross(down, (vec3){side * th_human_sin(toe_out), 0, th_human_cos(toe_out)}));
    double along = (reach * reach + upper * upper - lower * lower) / (2 * reach);
    double ahead = sqrt(fmax(upper * upper - along * along, 0));
    vec3 knee = add(hip, add(scale(down, along), scale(cross(hinge, down), ahead)));
    vec3 ankle = add(hip, scale(down, reach));

    th_dmat34 thigh_frame = th_human_bone_frame(hip, sub(knee, hip), cross(hinge, sub(knee, hip)));
    th_dmat34 calf_frame = th_human_bone_frame(knee, sub(ankle, knee), cross(hinge, sub(ankle, knee)));
    aim(&hips, &thigh_frame, &pose[thigh]);
    aim(&thigh_frame, &calf_frame, &pose[calf]);
    aim(&calf_frame, &target, &pose[foot]);
    turn(&pose[toe], BEND, step.toe);
}

void th_human_pose(const th_human_clip *clip, double phase, const th_trs rest[J_COUNT], th_trs out[J_COUNT])
{
    memcpy(out, rest, J_COUNT * sizeof *out);
    for (uint32_t i = 0; i < clip->wave_count; i++)
        apply_wave(&clip->waves[i], phase, out);
    place_leg(clip->gait, J_THIGH_L, phase, out);
    place_leg(clip->gait, J_THIGH_R, phase + 0.5, out);
}
