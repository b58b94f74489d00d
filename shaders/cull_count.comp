// Places each instance, tests it, and counts the listed ones of a block by draw list.

layout(std430, binding = 0) readonly restrict buffer Instances
{
    vec4 instances[]; // th_gpu_instance, two each
};
layout(std430, binding = 1) readonly restrict buffer Spheres
{
    uvec4 spheres[]; // block_sphere of gpu_cull.c
};
#ifdef WALKS
struct Walk
{
    uvec2 start, rate, phase, speed; // th_walk
};
layout(std430, binding = 2) readonly restrict buffer Walks
{
    Walk walks[];
};
#endif
layout(std430, binding = 3) writeonly restrict buffer Found
{
    uvec2 found[]; // Z, and the draw list or NOBODY
};
layout(std430, binding = 4) writeonly restrict buffer Counts
{
    uint counts[]; // [draw list][block]
};

shared uint in_list[LISTS];

#ifdef WALKS
// As walked_to of layout.c. NVIDIA takes nothing of a readonly buffer as an argument.
float walked_to(uint i)
{
    Walk walk = walks[i];
    const double shift = 6755399441055744.0lf; // 1.5 * 2^52
    precise double loops = number(walk.phase) + number(walk.speed) * number(u_time);
    double since = number(walk.speed) != 0.0lf ? floor(loops) : number(u_time);
    precise double x = number(walk.start) + number(walk.rate) * since;
    precise double shifted = x + shift;
    precise double whole = shifted - shift;
    precise double z = number(u_length) * (x - whole);
    return float(z);
}
#endif

float z_of(uint i)
{
#ifdef WALKS
    return walked_to(i);
#else
    return instances[2u * i].z;
#endif
}

float reach(uint plane, vec4 s)
{
    vec4 p = u_planes[plane];
    precise float r = p.x * s.x + p.y * s.y + p.z * s.z + p.w + s.w;
    return r;
}

// How far the path of a shadow reaches. in_plane: reach.
float shadow_reach(uint plane, float in_plane, float height)
{
    precise float r = in_plane + u_pushes[plane / 4u][plane % 4u] * height;
    return r;
}

uint lod_of(vec4 s)
{
    precise vec3 d = s.xyz - u_eye.xyz;
    precise float distance2 = d.x * d.x + d.y * d.y + d.z * d.z;
    precise float radius2 = s.w * s.w;
    uint lod = 0u;
    for (uint n = 0u; n < LODS - 1u; n++) {
        precise float limit = u_limits[n / 4u][n % 4u] * distance2;
        lod += radius2 < limit ? 1u : 0u;
    }
    return lod;
}

// As level_of of cull_test_body.h: plus LODS if only the shadow is visible. s: centre and radius.
uint level_of(vec4 s)
{
    precise float above = s.y + s.w - u_eye.w;
    float height = above > 0.0 ? above : 0.0;
    bool hidden = false, casts_nothing = u_plane_count == 6u;
    for (uint p = 0u; p < u_plane_count; p++) {
        float in_plane = reach(p, s);
        hidden = hidden || (p < 6u && in_plane < 0.0);
        casts_nothing = casts_nothing || shadow_reach(p, in_plane, height) < 0.0;
    }
    if (hidden && casts_nothing)
        return NOBODY;
    return lod_of(s) + (hidden ? LODS : 0u);
}

uint list_of(uint i, float z)
{
    uvec4 sphere = spheres[i];
    float radius = uintBitsToFloat(sphere.y);
    precise float grown = radius + SLACK * abs(z);
    uint level = level_of(vec4(instances[2u * i].x, uintBitsToFloat(sphere.x), z, grown));
    return level == NOBODY ? NOBODY : sphere.z + level;
}

void main()
{
    uint i = gl_GlobalInvocationID.x, local = gl_LocalInvocationID.x;
    for (uint g = local; g < LISTS; g += BLOCK)
        in_list[g] = 0u;
    barrier();
    if (i < u_instance_count) {
        float z = z_of(i);
        uint list = list_of(i, z);
        found[i] = uvec2(floatBitsToUint(z), list);
        if (list != NOBODY)
            atomicAdd(in_list[list], 1u);
    }
    barrier();
    for (uint g = local; g < LISTS; g += BLOCK)
        counts[g * u_block_count + gl_WorkGroupID.x] = in_list[g];
}
