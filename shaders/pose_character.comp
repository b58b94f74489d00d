// An invocation for each character walks the ops in the kernel's order, depth first.

layout(local_size_x = 64) in;

TRANSFORM slots[SLOTS]; // what later ops are relative to

void keep(uint slot, TRANSFORM m)
{
    if (slot != TH_DEVICE_NO_SLOT)
        slots[slot] = m;
}

// range: the word where a range in outputs is.
void write_entries(uint palette, uint range, TRANSFORM m)
{
    uint first = words[TH_DEVICE_OUTPUTS] + words[range], end = first + words[range + 1u];
    for (uint o = first; o < end; o++)
        write_entry(palette, words[o], m);
}

void write_products(uint palette, uint op, TRANSFORM m)
{
    uint first = words[op + TH_DEVICE_PRODUCT], end = first + words[op + TH_DEVICE_PRODUCT_COUNT];
    for (uint p = first; p < end; p++) {
        uint product = product_at(p);
        write_entries(palette, product + TH_DEVICE_PRODUCT_OUTPUT, follow_product(m, product));
    }
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= u_count)
        return;
    uint palette = u_first_texel + i * u_stride;
    Blend by = blend_of(cursors[u_first_cursor + i]);
    for (uint k = 0u; k < words[TH_DEVICE_OP_COUNT]; k++) {
        uint op = op_at(k), parent = words[op + TH_DEVICE_PARENT_SLOT];
        TRANSFORM m = sample_op(by, op);
        if (parent != TH_DEVICE_NO_SLOT)
            m = follow_op(slots[parent], op, m);
        keep(words[op + TH_DEVICE_SLOT], m);
        write_entries(palette, op + TH_DEVICE_OUTPUT, m);
        write_products(palette, op, m);
    }
    for (uint at = words[TH_DEVICE_ENTRY_COUNT] * ENTRY_TEXELS; at < padding_end(ENTRY_TEXELS); at++)
        palettes[palette + at] = uvec4(0);
}
