// The quaternion form (th_quat_op).

struct Quat
{
    vec4 rotation;
    vec3 place;
    float scale;
};

#define TRANSFORM Quat

vec4 normalize_key(bool near, vec4 q)
{
    float square = madd(q.x, q.x, madd(q.y, q.y, madd(q.z, q.z, mul(q.w, q.w))));
    if (near)
        return mul(madd(madd(TH_UNIT_SQUARE, square, TH_UNIT_LINEAR), square, TH_UNIT_CONSTANT), q);
    precise float root = sqrt(square);
    return mul(quotient(1.0, root), q);
}

// a * b: the rotation b, then a.
vec4 multiply_quats(vec4 a, vec4 b)
{
    return vec4(madd(a.w, b.x, madd(a.x, b.w, msub(a.y, b.z, mul(a.z, b.y)))),
                madd(a.w, b.y, madd(a.y, b.w, msub(a.z, b.x, mul(a.x, b.z)))),
                madd(a.w, b.z, madd(a.z, b.w, msub(a.x, b.y, mul(a.y, b.x)))),
                nmadd(a.x, b.x, nmadd(a.y, b.y, nmadd(a.z, b.z, mul(a.w, b.w)))));
}

// p + rotate(q, v)
vec3 add_rotated(vec3 p, vec4 q, vec3 v)
{
    vec3 u = add(v, v), sum = add(p, v);
    vec3 t = vec3(msub(q.y, u.z, mul(q.z, u.y)), msub(q.z, u.x, mul(q.x, u.z)), msub(q.x, u.y, mul(q.y, u.x)));
    return vec3(madd(q.w, t.x, madd(q.y, t.z, nmadd(q.z, t.y, sum.x))),
                madd(q.w, t.y, madd(q.z, t.x, nmadd(q.x, t.z, sum.y))),
                madd(q.w, t.z, madd(q.x, t.y, nmadd(q.y, t.x, sum.z))));
}

Quat follow(Quat from, vec4 rotation, vec3 along, float scale)
{
    return Quat(multiply_quats(from.rotation, rotation), add_rotated(from.place, from.rotation, along), scale);
}

#ifdef PALETTE_QUAT16
// As pack_quat of the kernels.
uint pack_number(uint low, uint high, int drop)
{
    return (low & 0x3fffffu) | high >> drop << 22;
}

void write_entry(uint palette, uint entry, Quat m)
{
    float sign = uintBitsToFloat((floatBitsToUint(m.rotation.w) & 0x80000000u) | 0x3f800000u);
    float turn_steps = quotient(TURN_STEPS, add(m.rotation.w, sign));
    vec3 turned = vec3(madd(m.rotation.x, turn_steps, TH_ROUNDING), madd(m.rotation.y, turn_steps, TH_ROUNDING),
                       madd(m.rotation.z, turn_steps, TH_ROUNDING));
    uvec3 r = floatBitsToUint(turned);
    uvec3 p = floatBitsToUint(madd(word(TH_DEVICE_PLACE_STEPS), m.place, vec3(TH_ROUNDING)));
    palettes[palette + entry] = uvec4(pack_number(p.x, r.y, 0), pack_number(p.y, r.y, 10), pack_number(p.z, r.z, 0),
                                      pack_number(r.x, r.z, 10));
}
#define ENTRY_TEXELS 1u
#else
void write_entry(uint palette, uint entry, Quat m)
{
    palettes[palette + 2u * entry] = floatBitsToUint(m.rotation);
    palettes[palette + 2u * entry + 1u] = floatBitsToUint(vec4(m.place, m.scale));
}
#define ENTRY_TEXELS 2u
#endif

// Rotation, and the step from the parent.
Quat sample_op(Blend by, uint op)
{
    uint flags = words[op + TH_DEVICE_FLAGS];
    Quat d = Quat(word4(op + TH_DEVICE_ROTATION), word3(op + TH_DEVICE_STEP), word(op + TH_DEVICE_SCALE));
    if ((flags & TH_OP_ROTATION) != 0u)
        d.rotation =
            normalize_key((flags & TH_OP_NEAR) != 0u, interpolate(by, words[op + TH_DEVICE_KEY], true));
    if ((flags & TH_OP_TRANSLATION) != 0u) {
        vec3 translation = interpolate(by, words[op + TH_DEVICE_TRANSLATION_KEY], false).xyz;
        d.place = madd(word(op + TH_DEVICE_PARENT_SCALE), translation, d.place);
    }
    return d;
}

Quat follow_op(Quat parent, uint op, Quat d)
{
    return follow(parent, d.rotation, d.place, d.scale);
}

Quat follow_product(Quat m, uint product)
{
    uint at = product + TH_DEVICE_PRODUCT_NUMBERS;
    return follow(m, word4(at), word3(at + 4u), word(at + 7u));
}
