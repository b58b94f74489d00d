/* A union-find forest over the places. */
#include "islands.h"

#include <assert.h>
#include <stdlib.h>

static uint32_t find_root(uint32_t *roots, uint32_t of)
{
    while (roots[of] != of) {
        roots[of] = roots[roots[of]];
        of = roots[of];
    }
    return of;
}

static void join(uint32_t *roots, uint32_t a, uint32_t b)
{
    const uint32_t one = find_root(roots, a), other = find_root(roots, b);
    roots[one > other ? one : other] = one > other ? other : one;
}

bool th_islands_measure(const uint32_t *places, uint32_t vertex_count, const uint32_t *indices, size_t index_count,
                        uint32_t *out_sizes)
{
    assert(places && indices && index_count % 3 == 0 && out_sizes);
    uint32_t *roots = malloc(vertex_count * sizeof *roots), *sizes = calloc(vertex_count, sizeof *sizes);
    const bool good = roots && sizes;
    for (uint32_t p = 0; good && p < vertex_count; p++)
        roots[p] = p;
    for (size_t i = 0; good && i < index_count; i++)
        join(roots, places[indices[i - i % 3]], places[indices[i]]);
    for (size_t i = 0; good && i < index_count; i += 3)
        sizes[find_root(roots, places[indices[i]])]++;
    for (uint32_t v = 0; good && v < vertex_count; v++)
        out_sizes[v] = sizes[find_root(roots, places[v])];
    free(roots);
    free(sizes);
    return good;
}
