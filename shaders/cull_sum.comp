// Replaces a draw list's counts by their sums over the blocks before. A work group for each draw list.

layout(std430, binding = 0) restrict buffer Counts
{
    uint counts[]; // [draw list][block]
};
layout(std430, binding = 1) writeonly restrict buffer Totals
{
    uint totals[]; // [draw list]
};

shared uint sums[BLOCK];

// Of the counts of this invocation and of those before.
uint sum_up(uint count)
{
    uint local = gl_LocalInvocationID.x;
    sums[local] = count;
    barrier();
    for (uint step = 1u; step < BLOCK; step *= 2u) {
        uint before = local >= step ? sums[local - step] : 0u;
        barrier();
        sums[local] += before;
        barrier();
    }
    return sums[local];
}

void main()
{
    uint first = gl_WorkGroupID.x * u_block_count, total = 0u;
    for (uint begin = 0u; begin < u_block_count; begin += BLOCK) {
        uint block = begin + gl_LocalInvocationID.x;
        uint count = block < u_block_count ? counts[first + block] : 0u;
        uint sum = sum_up(count);
        if (block < u_block_count)
            counts[first + block] = total + sum - count;
        total += sums[BLOCK - 1u];
        barrier();
    }
    if (gl_LocalInvocationID.x == 0u)
        totals[gl_WorkGroupID.x] = total;
}
