// Writes the list: where each of its characters stands, and where in its clip it is.

layout(std430, binding = 0) readonly restrict buffer Instances
{
    uvec4 instances[]; // th_gpu_instance, two each
};
layout(std430, binding = 1) readonly restrict buffer Found
{
    uvec2 found[];
};
layout(std430, binding = 2) readonly restrict buffer Counts
{
    uint counts[]; // [draw list][block] of the blocks before
};
layout(std430, binding = 3) readonly restrict buffer Lists
{
    uvec2 lists[];
};
struct Playback
{
    uvec2 phase, speed, clip; // th_device_playback
};
layout(std430, binding = 4) readonly restrict buffer Playbacks
{
    Playback playbacks[];
};
struct Stretch
{
    uvec2 begin, rate;
    uint first_frame, last_frame;
};
struct Clip // th_device_clip
{
    uint first_frame;
    bool is_stepped, seeks_stretch;
    uint unused;
    Stretch stretches[STRETCHES];
};
layout(std430, binding = 5) readonly restrict buffer Clips
{
    Clip clips[];
};
layout(std430, binding = 6) writeonly restrict buffer Listed
{
    uvec4 listed[]; // as instances, in the order of the list
};
layout(std430, binding = 7) writeonly restrict buffer Cursors
{
    uvec2 cursors[]; // th_device_cursor, [model][character of the model]
};

shared uint list_of[BLOCK];

// As th_playback_ratio. NVIDIA takes nothing of a readonly buffer as an argument.
double ratio_of(uint i)
{
    Playback playback = playbacks[i];
    precise double loops = number(playback.phase) + number(playback.speed) * number(u_time);
    if (!(abs(loops) < 2251799813685248.0lf)) // 2^51
        return 0.0lf;
    precise double ratio = loops - trunc(loops);
    precise double next = ratio + 1.0lf;
    return ratio < 0.0lf ? next : ratio;
}

uint stretch_of(uint clip, double ratio)
{
    uint at = 0u;
    for (uint step = STRETCHES / 2u; step > 0u; step /= 2u)
        at += ratio >= number(clips[clip].stretches[at + step].begin) ? step : 0u;
    return at;
}

// As th_compiled_clip_interval and th_crowd_cursors.
uvec2 cursor_of(uint i)
{
    uint clip = playbacks[i].clip.x;
    double ratio = ratio_of(i);
    bool seeks = clips[clip].seeks_stretch;
    Stretch stretch = clips[clip].stretches[seeks ? stretch_of(clip, ratio) : 0u];
    precise double whole = ratio * number(stretch.rate);
    precise double within = (ratio - number(stretch.begin)) * number(stretch.rate) + double(stretch.first_frame);
    double at = seeks ? within : whole;
    uint last = stretch.last_frame - 1u;
    uint interval = at < double(last) ? uint(at) : last;
    precise double alpha = at - double(interval);
    return uvec2(clips[clip].first_frame + interval, clips[clip].is_stepped ? 0u : floatBitsToUint(float(alpha)));
}

uint tint_of(uint own, uint lod)
{
    return u_tints_levels ? u_tints[lod / 4u][lod % 4u] : own;
}

// at: in the list.
void write(uint i, uint list, uint at)
{
    uint model = list / (2u * LODS), of_model = at - lists[model * 2u * LODS].x;
    uvec4 place = instances[2u * i], rest = instances[2u * i + 1u];
    place.z = found[i].x;
    rest.z = tint_of(rest.z, list % LODS);
    rest.w = (rest.w & ~0x3FFFFFu) | of_model % u_models[model].chunk;
    listed[2u * at] = place;
    listed[2u * at + 1u] = rest;
    cursors[u_models[model].first_cursor + of_model] = cursor_of(i);
}

void main()
{
    uint i = gl_GlobalInvocationID.x, local = gl_LocalInvocationID.x;
    uint list = i < u_instance_count ? found[i].y : NOBODY, before = 0u;
    list_of[local] = list;
    barrier();
    if (list == NOBODY)
        return;
    for (uint k = 0u; k < local; k++)
        before += list_of[k] == list ? 1u : 0u;
    write(i, list, lists[list].x + counts[list * u_block_count + gl_WorkGroupID.x] + before);
}
