// A work group for each character, an invocation for a joint at a time: first all keys, then the hierarchy a level at a
// time, then the palette, whose entries are written next to each other. The order of ops changes, not what one does.
//
// Loops go round equally often for all invocations. barrier() needs that, and llvmpipe does, too (docs/notes/gpu.md).

layout(local_size_x = 32) in;

#define LANES gl_WorkGroupSize.x

shared TRANSFORM transforms[OPS]; // of an op: from its keys, then M

// M of an op, or a product behind those.
TRANSFORM result_of(uint result)
{
    if (result < OPS)
        return transforms[result];
    uint product = product_at(result - OPS);
    return follow_product(transforms[words[product + TH_DEVICE_PRODUCT_OP]], product);
}

void wait_for_others()
{
    memoryBarrierShared();
    barrier();
}

void main()
{
    uint lane = gl_LocalInvocationID.x, i = gl_WorkGroupID.x, palette = u_first_texel + i * u_stride;
    Blend by = blend_of(cursors[u_first_cursor + i]);
    for (uint first = 0u; first < OPS; first += LANES) {
        uint k = first + lane;
        if (k < OPS)
            transforms[k] = sample_op(by, op_at(k));
    }
    wait_for_others();
    uint level = words[TH_DEVICE_LEVELS], last = level + words[TH_DEVICE_LEVEL_COUNT];
    for (level++; level < last; level++) { // the first level has no parents
        uint end = words[level + 1u];
        for (uint first = words[level]; first < end; first += LANES) {
            if (first + lane < end) {
                uint k = words[first + lane], op = op_at(k);
                transforms[k] = follow_op(transforms[words[op + TH_DEVICE_PARENT]], op, transforms[k]);
            }
        }
        wait_for_others();
    }
    uint entries = words[TH_DEVICE_ENTRY_COUNT], results = words[TH_DEVICE_RESULTS];
    for (uint first = 0u; first < entries; first += LANES) {
        uint e = first + lane;
        if (e < entries)
            write_entry(palette, e, result_of(words[results + e]));
    }
    uint padding = entries * ENTRY_TEXELS + lane; // less than a line has
    if (padding < padding_end(ENTRY_TEXELS))
        palettes[palette + padding] = uvec4(0);
}
