// Finds each draw list's range of the list, and writes the commands that pose and draw them. A work group for each part
// of a mesh; the first one also writes what there is once.

layout(std430, binding = 0) readonly restrict buffer Totals
{
    uint totals[]; // [draw list]
};
struct Part // draw_part of gpu_cull.c
{
    uint model, first_command;
    bool has_indices;
    uvec2 levels[LODS]; // first index or vertex, and how many
};
layout(std430, binding = 1) readonly restrict buffer Parts
{
    Part parts[];
};
layout(std430, binding = 2) writeonly restrict buffer Lists
{
    uvec2 lists[]; // where in the list it begins, and how many
};
layout(std430, binding = 3) writeonly restrict buffer Counted
{
    uint counted[]; // [draw list] for the CPU
};
layout(std430, binding = 4) writeonly restrict buffer Dispatches
{
    uint dispatches[]; // three each
};
struct Command // DrawElementsIndirectCommand; DrawArraysIndirectCommand is without base_vertex
{
    uint count, instance_count, first, base_vertex, base_instance;
};
layout(std430, binding = 5) writeonly restrict buffer Commands
{
    Command commands[];
};

shared uint total[LISTS];
shared uint first[LISTS];

void find_ranges()
{
    uint local = gl_LocalInvocationID.x;
    for (uint g = local; g < LISTS; g += BLOCK)
        total[g] = totals[g];
    barrier();
    for (uint g = local; g < LISTS; g += BLOCK) {
        uint sum = 0u;
        for (uint before = 0u; before < g; before++)
            sum += total[before];
        first[g] = sum;
    }
    barrier();
}

// How many of [begin, end) are in a chunk. All count the characters of a model.
uint in_chunk(uint begin, uint end, uint chunk, uint size)
{
    uint low = max(begin, chunk * size), high = min(end, (chunk + 1u) * size);
    return high > low ? high - low : 0u;
}

void write_dispatches(uint model)
{
    Model m = u_models[model];
    uint g = model * 2u * LODS, last = g + 2u * LODS - 1u, end = first[last] + total[last] - first[g];
    for (uint c = 0u; c < m.chunk_count; c++) {
        uint at = 3u * (m.first_dispatch + c);
        dispatches[at] = (in_chunk(0u, end, c, m.chunk) + m.group_size - 1u) / m.group_size;
        dispatches[at + 1u] = 1u;
        dispatches[at + 2u] = 1u;
    }
}

void write_ranges()
{
    uint local = gl_LocalInvocationID.x;
    for (uint g = local; g < LISTS; g += BLOCK) {
        lists[g] = uvec2(first[g], total[g]);
        counted[g] = total[g];
    }
    if (local < MODELS)
        write_dispatches(local);
}

// k: of a chunk: first the levels of the picture, then those of the shadow map, then those of who is out of sight.
void write_command(uint part, uint chunk, uint k)
{
    uint model = parts[part].model, size = u_models[model].chunk, lod = k % LODS;
    bool into_map = k >= LODS;
    uint list = model * 2u * LODS + (k >= 2u * LODS ? LODS : 0u) + lod;
    uint begin = first[list] - first[model * 2u * LODS];
    uint base_instance = first[model * 2u * LODS] + max(begin, chunk * size);
    uvec2 level = parts[part].levels[into_map ? max(lod, u_models[model].shadow_lod) : lod];
    uint base_vertex = parts[part].has_indices ? 0u : base_instance;
    commands[parts[part].first_command + chunk * COMMANDS + k] =
        Command(level.y, in_chunk(begin, begin + total[list], chunk, size), level.x, base_vertex, base_instance);
}

void main()
{
    uint part = gl_WorkGroupID.x, count = COMMANDS * u_models[parts[part].model].chunk_count;
    find_ranges();
    if (part == 0u)
        write_ranges();
    for (uint k = gl_LocalInvocationID.x; k < count; k += BLOCK)
        write_command(part, k / COMMANDS, k % COMMANDS);
}
