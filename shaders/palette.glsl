// Bone palettes: entries of three rows, of two with PALETTE_QUAT or of one with PALETTE_QUAT16, one palette after
// another. gl_InstanceID starts at 0 in every draw, so each draw sets where its first palette begins.
layout(location = 12) in uint i_palette_and_appearance; // the lower 22 bits: which the instance reads, in draws that share
uniform uint u_first_row;  // of the draw's first palette, in rows from the start of the bound range
uniform uint u_row_stride; // from one palette to the next, in rows
uniform bool u_shares;

uint palette_begin()
{
    return u_first_row + (u_shares ? i_palette_and_appearance & 0x3FFFFFu : uint(gl_InstanceID)) * u_row_stride;
}

#if defined(PALETTE_QUAT16)
#if defined(PALETTE_TEXTURE)
uniform usamplerBuffer u_palette; // RGBA32UI
uvec4 palette_words(uint row)
{
    return texelFetch(u_palette, int(row));
}
#else
layout(std430, binding = 0) readonly buffer Palette
{
    uvec4 rows[];
};
uvec4 palette_words(uint row)
{
    return rows[row];
}
#endif
#elif defined(PALETTE_TEXTURE)
uniform samplerBuffer u_palette; // RGBA32F
vec4 palette_row(uint row)
{
    return texelFetch(u_palette, int(row));
}
#else
layout(std430, binding = 0) readonly buffer Palette
{
    vec4 rows[];
};
vec4 palette_row(uint row)
{
    return rows[row];
}
#endif

struct Bone
{
    vec4 x, y, z; // rows of a 3x4 matrix
};

#if defined(PALETTE_QUAT) || defined(PALETTE_QUAT16)
uniform samplerBuffer u_places; // of each bone in the bind pose, and the step of whole numbers

#ifdef PALETTE_QUAT16
const uint ENTRY_ROWS = 1u;
const float TURN_STEPS = 500000.0;

// See th_quat16. Returns the factor for products of two components, as the quaternion is not of length 1.
float read_quat(uint row, float step, out vec4 q, out vec4 place)
{
    uvec4 words = palette_words(row);
    ivec4 low = ivec4(words) << 10 >> 10;
    ivec2 high = ivec2(words.xz >> 22 | words.yw >> 22 << 10) << 12 >> 12;
    vec3 r = vec3(low.w, high) / TURN_STEPS;
    q = vec4(2.0 * r, 1.0 - dot(r, r));
    place = vec4(step * vec3(low.xyz), 1);
    return 2.0 / dot(q, q);
}
#else
const uint ENTRY_ROWS = 2u;

float read_quat(uint row, float step, out vec4 q, out vec4 place)
{
    q = palette_row(row);
    place = palette_row(row + 1u);
    return 2.0;
}
#endif

// A point v belongs at place.xyz + place.w * rotate(q, v - bind).
void add_bone(inout Bone bone, uint first, uint entry, float weight)
{
    vec4 q, place, base = texelFetch(u_places, int(entry));
    float twice = read_quat(first + ENTRY_ROWS * entry, base.w, q, place);
    vec3 bind = base.xyz, k = twice * q.xyz, w = k * q.w;
    float scale = weight * place.w;
    vec3 x = scale * vec3(1.0 - k.y * q.y - k.z * q.z, k.x * q.y - w.z, k.x * q.z + w.y);
    vec3 y = scale * vec3(k.x * q.y + w.z, 1.0 - k.x * q.x - k.z * q.z, k.y * q.z - w.x);
    vec3 z = scale * vec3(k.x * q.z - w.y, k.y * q.z + w.x, 1.0 - k.x * q.x - k.y * q.y);
    bone.x += vec4(x, weight * place.x - dot(x, bind));
    bone.y += vec4(y, weight * place.y - dot(y, bind));
    bone.z += vec4(z, weight * place.z - dot(z, bind));
}
#else
void add_bone(inout Bone bone, uint first, uint entry, float weight)
{
    uint row = first + 3u * entry;
    bone.x += weight * palette_row(row);
    bone.y += weight * palette_row(row + 1u);
    bone.z += weight * palette_row(row + 2u);
}
#endif

// Weights descend, and most vertices have no third influence.
Bone blend_bones(uvec4 bones, vec4 weights)
{
    uint first = palette_begin();
    Bone bone = Bone(vec4(0), vec4(0), vec4(0));
    add_bone(bone, first, bones.x, weights.x);
    if (weights.y > 0.0)
        add_bone(bone, first, bones.y, weights.y);
    if (weights.z > 0.0) {
        add_bone(bone, first, bones.z, weights.z);
        add_bone(bone, first, bones.w, weights.w);
    }
    return bone;
}

vec3 skin_point(Bone bone, vec3 p)
{
    return vec3(dot(bone.x, vec4(p, 1)), dot(bone.y, vec4(p, 1)), dot(bone.z, vec4(p, 1)));
}

// Also correct for non-uniform scale: the cofactor matrix rotates normals as the inverse transpose does.
vec3 skin_normal(Bone bone, vec3 n)
{
    vec3 x = bone.x.xyz, y = bone.y.xyz, z = bone.z.xyz;
    return vec3(dot(cross(y, z), n), dot(cross(z, x), n), dot(cross(x, y), n));
}
