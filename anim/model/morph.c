#include "morph.h"

#include <assert.h>

void th_morph_positions(const th_mesh *mesh, const double *weights, double (*out)[3])
{
    assert(mesh && out && (weights || mesh->target_count == 0));
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (int i = 0; i < 3; i++)
            out[v][i] = (double)mesh->vertices[v].position[i];
    for (uint32_t t = 0; t < mesh->target_count; t++) {
        const th_morph_target *target = &mesh->targets[t];
        const double weight = weights[target->weight];
        for (uint32_t d = 0; weight != 0 && d < target->delta_count; d++)
            for (int i = 0; i < 3; i++)
                out[target->deltas[d].vertex][i] += weight * (double)target->deltas[d].position[i];
    }
}
