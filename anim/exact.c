#include <throng/exact.h>

#include <math.h>

double th_clip_ticks(const th_clip *clip, double time_s)
{
    double duration = clip->duration_ticks;
    if (!(duration > 0))
        return 0;
    double ticks = time_s * clip->ticks_per_second;
    if (!(ticks >= 0 && ticks < duration)) {
        /* fmod is exact and ten times slower; this is off by a rounding of `ticks`, which carries one already. */
        ticks -= floor(ticks / duration) * duration;
        if (!(ticks >= 0 && ticks < duration))
            ticks = 0;
    }
    return ticks;
}

/* Index of the last key at or before `ticks`; 0 when all are later. */
static uint32_t find_key(const th_track *track, double ticks)
{
    uint32_t low = 0, high = track->key_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (track->times[middle] <= ticks)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Finds the two keys around `ticks` and how far it is from one to the other; the same key twice at the ends. */
static double bracket(const th_track *track, double ticks, uint32_t width, const float **a, const float **b)
{
    uint32_t key = find_key(track, ticks), next = key + 1;
    *a = *b = track->values + (size_t)key * width;
    if (next >= track->key_count || ticks <= track->times[key])
        return 0;
    *b = *a + width;
    return (ticks - track->times[key]) / (track->times[next] - track->times[key]);
}

/* The spline between the keys around `ticks`. Tangents are changes per tick, hence the length of the interval. */
static void sample_spline(const th_track *track, double ticks, uint32_t width, double out[])
{
    const float *a, *b;
    double t = bracket(track, ticks, width, &a, &b), t2 = t * t, t3 = t2 * t, length = 0;
    uint32_t key = (uint32_t)((size_t)(a - track->values) / width);
    const float *leave = track->tangents + (2 * (size_t)key + 1) * width, *arrive = leave;
    if (b != a) {
        length = track->times[key + 1] - track->times[key];
        arrive += width;
    }
    for (uint32_t i = 0; i < width; i++)
        out[i] = (2 * t3 - 3 * t2 + 1) * (double)a[i] + length * (t3 - 2 * t2 + t) * (double)leave[i] +
                 (3 * t2 - 2 * t3) * (double)b[i] + length * (t3 - t2) * (double)arrive[i];
}

static void sample_vector(const th_track *track, double ticks, double out[3])
{
    if (track->tangents) {
        sample_spline(track, ticks, 3, out);
        return;
    }
    const float *a, *b;
    double t = bracket(track, ticks, 3, &a, &b);
    for (int i = 0; i < 3; i++)
        out[i] = (double)a[i] + t * ((double)b[i] - (double)a[i]);
}

/* Where the curve meets 0, which is no rotation, the key before holds. */
static void sample_rotation_spline(const th_track *track, double ticks, double out[4])
{
    sample_spline(track, ticks, 4, out);
    if (th_quat_normalize(out))
        return;
    const float *key = track->values + 4 * (size_t)find_key(track, ticks);
    for (int i = 0; i < 4; i++)
        out[i] = (double)key[i];
    th_quat_normalize(out);
}

static void sample_rotation(const th_track *track, double ticks, double out[4])
{
    if (track->tangents) {
        sample_rotation_spline(track, ticks, out);
        return;
    }
    const float *a, *b;
    double t = bracket(track, ticks, 4, &a, &b), from[4], to[4];
    for (int i = 0; i < 4; i++) {
        from[i] = (double)a[i];
        to[i] = (double)b[i];
    }
    th_quat_normalize(from); /* unit length as floats go; the last digits matter in the reference */
    th_quat_normalize(to);
    th_quat_slerp(from, to, t, out);
}

void th_exact_channel(const th_channel *channel, double ticks, th_trs *out)
{
    sample_vector(&channel->translation, ticks, out->translation);
    sample_rotation(&channel->rotation, ticks, out->rotation);
    sample_vector(&channel->scale, ticks, out->scale);
}

void th_exact_sample(const th_model *model, const th_clip *clip, double ticks, th_dmat34 *out_local)
{
    const th_channel *channel = clip ? clip->channels : NULL;
    const th_channel *end = clip ? channel + clip->channel_count : NULL;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        if (channel != end && channel->joint == j) {
            th_trs trs;
            th_exact_channel(channel++, ticks, &trs);
            out_local[j] = th_dmat34_from_trs(&trs);
        } else {
            out_local[j] = th_dmat34_from(model->joints[j].rest);
        }
    }
}

void th_exact_resolve(const th_model *model, const th_dmat34 *local, th_dmat34 *out)
{
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent;
        out[j] = parent == TH_NO_INDEX ? local[j] : th_dmat34_mul(out[parent], local[j]);
    }
}

void th_exact_pose(const th_model *model, const th_clip *clip, double ticks, th_dmat34 *out)
{
    th_exact_sample(model, clip, ticks, out);
    th_exact_resolve(model, out, out);
}

void th_exact_palette(const th_model *model, const th_dmat34 *pose, th_dmat34 *out)
{
    for (uint32_t b = 0; b < model->bind_count; b++)
        out[b] = th_dmat34_mul(pose[model->binds[b].joint], th_dmat34_from(model->binds[b].inverse_bind));
}
