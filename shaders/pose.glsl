// Keys to palettes: the twin of the scalar kernel (anim/kernels/pose_body.h and pose_quat.h), operation by operation,
// so that it writes the same bits. Therefore each operation is assigned to something `precise`: no driver may then
// contract a multiplication and an addition, or reorder them.
//
// This piece has what is in common. Then follow a form, which defines TRANSFORM, ENTRY_TEXELS and sample_op, follow_op,
// follow_product and write_entry (pose_matrices.glsl, pose_quats.glsl), and a mapping (pose_character.comp,
// pose_joint.comp).

layout(std430, binding = 0) writeonly restrict buffer Palettes
{
    uvec4 palettes[];
};
layout(std430, binding = 1) readonly restrict buffer Program
{
    uint words[];
};
#ifdef KEYS_16
#define KEY uvec2
#else
#define KEY uvec4
#endif
layout(std430, binding = 2) readonly restrict buffer Frames
{
    KEY frames[];
};
layout(std430, binding = 3) readonly restrict buffer Cursors
{
    uvec2 cursors[]; // th_device_cursor
};
uniform uint u_count;        // of characters
uniform uint u_first_cursor; // of the first of them
uniform uint u_first_texel;  // of its palette, in the bound range
uniform uint u_stride;       // from one palette to the next, in texels

float madd(float a, float b, float c)
{
    precise float r = a * b + c;
    return r;
}

vec3 madd(float a, vec3 b, vec3 c)
{
    precise vec3 r = a * b + c;
    return r;
}

vec4 madd(float a, vec4 b, vec4 c)
{
    precise vec4 r = a * b + c;
    return r;
}

vec4 madd(vec4 a, vec4 b, vec4 c)
{
    precise vec4 r = a * b + c;
    return r;
}

float msub(float a, float b, float c)
{
    precise float r = a * b - c;
    return r;
}

float nmadd(float a, float b, float c)
{
    precise float r = c - a * b;
    return r;
}

float mul(float a, float b)
{
    precise float r = a * b;
    return r;
}

vec3 mul(float a, vec3 b)
{
    precise vec3 r = a * b;
    return r;
}

vec4 mul(float a, vec4 b)
{
    precise vec4 r = a * b;
    return r;
}

float add(float a, float b)
{
    precise float r = a + b;
    return r;
}

vec3 add(vec3 a, vec3 b)
{
    precise vec3 r = a + b;
    return r;
}

float sub(float a, float b)
{
    precise float r = a - b;
    return r;
}

vec4 sub(vec4 a, vec4 b)
{
    precise vec4 r = a - b;
    return r;
}

float quotient(float a, float b)
{
    precise float r = a / b;
    return r;
}

float word(uint at)
{
    return uintBitsToFloat(words[at]);
}

vec3 word3(uint at)
{
    return vec3(word(at), word(at + 1u), word(at + 2u));
}

vec4 word4(uint at)
{
    return vec4(word3(at), word(at + 3u));
}

// ---- sampling ----

struct Blend
{
    uint frame; // key index
    uint stride;
    float alpha;
    vec4 weights; // CUBIC: of the four frames
    ivec2 shares; // of 16-bit keys with NLERP: how many of SHARES each of the two frames has, negative
};

Blend blend_of(uvec2 cursor)
{
    Blend b;
    float t = uintBitsToFloat(cursor.y);
    b.stride = words[TH_DEVICE_FRAME_KEYS];
    b.frame = cursor.x * b.stride;
    b.alpha = t;
    b.weights = vec4(0);
    b.shares = ivec2(0);
#ifdef CURVE_CUBIC
    float t2 = mul(t, t), t3 = mul(t2, t);
    precise vec4 w = vec4(0.5 * (2.0 * t2 - t3 - t), 0.5 * (3.0 * t3 - 5.0 * t2) + 1.0,
                          0.5 * (4.0 * t2 - 3.0 * t3 + t), 0.5 * (t3 - t2));
    b.weights = w;
#endif
#if defined(KEYS_16) && defined(CURVE_NLERP)
    int next = int(madd(t, float(TH_SHARES), 0.5));
    b.shares = ivec2(next - TH_SHARES, -next);
#endif
    return b;
}

vec4 load(uint at)
{
#ifdef KEYS_16
    uvec2 key = frames[at];
    return vec4(ivec4(int(key.x << 16) >> 16, int(key.x) >> 16, int(key.y << 16) >> 16, int(key.y) >> 16));
#else
    return uintBitsToFloat(frames[at]);
#endif
}

// Turns the numbers of a 16-bit key into values. key: its index in a frame.
vec4 dequantize(vec4 numbers, uint key, uint span)
{
#ifdef KEYS_16
    uint range = words[TH_DEVICE_RANGES] + key * TH_DEVICE_RANGE_WORDS;
    return madd(numbers, word4(range + span), word4(range));
#else
    return numbers;
#endif
}

#ifdef CURVE_SLERP
const float slerp_angle[] = float[](TH_SLERP_ANGLE);
const float slerp_sine[] = float[](TH_SLERP_SINE);

float angle_polynomial(float x)
{
    float sum = slerp_angle[slerp_angle.length() - 1];
    for (int i = slerp_angle.length() - 2; i >= 0; i--)
        sum = madd(sum, x, slerp_angle[i]);
    return sum;
}

float sine_polynomial(float x)
{
    float sum = slerp_sine[slerp_sine.length() - 1];
    for (int i = slerp_sine.length() - 2; i >= 0; i--)
        sum = madd(sum, x, slerp_sine[i]);
    return sum;
}

vec4 slerp(float t, vec4 a, vec4 b)
{
    float s = sub(1.0, t);
    float cosine = madd(a.x, b.x, madd(a.y, b.y, madd(a.z, b.z, mul(a.w, b.w))));
    float u = sub(1.0, cosine);
    float square = mul(u, angle_polynomial(u));
    float of_a = mul(s, sine_polynomial(mul(mul(s, s), square)));
    float of_b = mul(t, sine_polynomial(mul(mul(t, t), square)));
    return madd(of_a, a, mul(of_b, b));
}
#endif

// key: its index in a frame.
vec4 interpolate(Blend by, uint key, bool rotation)
{
    uint at = by.frame + key;
#ifdef CURVE_SLERP
    if (rotation) {
        vec4 a = dequantize(load(at), key, 4u), b = dequantize(load(at + by.stride), key, 4u);
        return slerp(by.alpha, a, b);
    }
#endif
#if defined(CURVE_STEP)
    return dequantize(load(at), key, 4u);
#elif defined(CURVE_CUBIC)
    vec4 a = load(at), b = load(at + by.stride), c = load(at + 2u * by.stride), d = load(at + 3u * by.stride);
    vec4 sum = madd(by.weights.x, a, madd(by.weights.y, b, madd(by.weights.z, c, mul(by.weights.w, d))));
    return dequantize(sum, key, 4u);
#elif defined(KEYS_16) && defined(CURVE_NLERP)
    ivec4 a = ivec4(load(at)), b = ivec4(load(at + by.stride));
    return dequantize(vec4(a * by.shares.x + b * by.shares.y), key, 8u);
#else
    vec4 a = load(at), b = load(at + by.stride);
    return dequantize(madd(by.alpha, sub(b, a), a), key, 4u);
#endif
}

// ---- writing ----

// Palettes are whole cache lines of four texels, with zeros behind their entries. Returns where those end.
uint padding_end(uint entry_texels)
{
    uint texels = words[TH_DEVICE_ENTRY_COUNT] * entry_texels;
    return (texels + 3u) / 4u * 4u;
}

// The word where an op begins.
uint op_at(uint k)
{
    return TH_DEVICE_HEADER + k * TH_DEVICE_OP_WORDS;
}

uint product_at(uint p)
{
    return words[TH_DEVICE_PRODUCTS] + p * TH_DEVICE_PRODUCT_WORDS;
}
