// The matrix form (th_joint_op).

struct Matrix
{
    vec4 x, y, z; // rows
};

#define TRANSFORM    Matrix
#define ENTRY_TEXELS 3u

// Rotation matrix of a quaternion of any length.
Matrix linear_from_quat(vec4 q)
{
    float square = madd(q.x, q.x, madd(q.y, q.y, madd(q.z, q.z, mul(q.w, q.w))));
    float k = quotient(2.0, square);
    float xk = mul(q.x, k), yk = mul(q.y, k), zk = mul(q.z, k);
    float wx = mul(q.w, xk), wy = mul(q.w, yk), wz = mul(q.w, zk);
    Matrix d;
    d.x = vec4(nmadd(q.y, yk, nmadd(q.z, zk, 1.0)), msub(q.x, yk, wz), madd(q.x, zk, wy), 0);
    d.y = vec4(madd(q.x, yk, wz), nmadd(q.x, xk, nmadd(q.z, zk, 1.0)), msub(q.y, zk, wx), 0);
    d.z = vec4(msub(q.x, zk, wy), madd(q.y, zk, wx), nmadd(q.x, xk, nmadd(q.y, yk, 1.0)), 0);
    return d;
}

vec4 scale_row(vec4 row, vec4 scale)
{
    return vec4(mul(row.x, scale.x), mul(row.y, scale.y), mul(row.z, scale.z), row.w);
}

float offset_row(vec4 row, vec3 offset, float moved)
{
    return madd(row.x, offset.x, madd(row.y, offset.y, madd(row.z, offset.z, moved)));
}

// D of an op.
Matrix sample_op(Blend by, uint op)
{
    uint flags = words[op + TH_DEVICE_FLAGS];
    uint key = words[op + TH_DEVICE_KEY];
    Matrix d = Matrix(word4(op + TH_DEVICE_LOCAL), word4(op + TH_DEVICE_LOCAL + 4u), word4(op + TH_DEVICE_LOCAL + 8u));
    if ((flags & TH_OP_WEIGHTS) != 0u)
        return Matrix(interpolate(by, key, false), interpolate(by, key + 1u, false), interpolate(by, key + 2u, false));
    vec3 moved = vec3(d.x.w, d.y.w, d.z.w);
    if ((flags & TH_OP_ROTATION) != 0u)
        d = linear_from_quat(interpolate(by, key++, true));
    if ((flags & TH_OP_SCALE) != 0u) {
        vec4 scale = interpolate(by, key++, false);
        d = Matrix(scale_row(d.x, scale), scale_row(d.y, scale), scale_row(d.z, scale));
    }
    if ((flags & TH_OP_TRANSLATION) != 0u)
        moved = interpolate(by, key, false).xyz;
    if ((flags & TH_OP_OFFSET) != 0u) {
        vec3 offset = word3(op + TH_DEVICE_OFFSET);
        moved = vec3(offset_row(d.x, offset, moved.x), offset_row(d.y, offset, moved.y),
                     offset_row(d.z, offset, moved.z));
    }
    d.x.w = moved.x;
    d.y.w = moved.y;
    d.z.w = moved.z;
    return d;
}

vec3 multiply_linear(vec4 r, Matrix b)
{
    return madd(r.x, b.x.xyz, madd(r.y, b.y.xyz, mul(r.z, b.z.xyz)));
}

vec4 multiply_row(vec4 r, Matrix b)
{
    return vec4(multiply_linear(r, b), madd(r.x, b.x.w, madd(r.y, b.y.w, madd(r.z, b.z.w, r.w))));
}

Matrix multiply(Matrix a, Matrix b)
{
    return Matrix(multiply_row(a.x, b), multiply_row(a.y, b), multiply_row(a.z, b));
}

vec4 pivot_row(vec4 r, Matrix b, vec3 pivot)
{
    vec3 turned = multiply_linear(r, b);
    return vec4(turned, madd(sub(r.x, turned.x), pivot.x,
                             madd(sub(r.y, turned.y), pivot.y, madd(sub(r.z, turned.z), pivot.z, r.w))));
}

Matrix multiply_pivot(Matrix a, Matrix b, vec3 pivot)
{
    return Matrix(pivot_row(a.x, b, pivot), pivot_row(a.y, b, pivot), pivot_row(a.z, b, pivot));
}

// M of an op from that of its parent and D.
Matrix follow_op(Matrix parent, uint op, Matrix d)
{
    if ((words[op + TH_DEVICE_FLAGS] & TH_OP_PIVOT) != 0u)
        return multiply_pivot(parent, d, word3(op + TH_DEVICE_OFFSET));
    return multiply(parent, d);
}

Matrix follow_product(Matrix m, uint product)
{
    uint at = product + TH_DEVICE_PRODUCT_NUMBERS;
    return multiply(m, Matrix(word4(at), word4(at + 4u), word4(at + 8u)));
}

void write_entry(uint palette, uint entry, Matrix m)
{
    uint at = palette + 3u * entry;
    palettes[at] = floatBitsToUint(m.x);
    palettes[at + 1u] = floatBitsToUint(m.y);
    palettes[at + 2u] = floatBitsToUint(m.z);
}
