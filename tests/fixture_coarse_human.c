#include "fixture_coarse_human.h"

#include <throng/anim/human.h>

#include <criterion/criterion.h>
#include <meshoptimizer.h>

void coarsen_human(th_model *human, uint32_t factor)
{
    cr_assert_eq(human->mesh_count, 1);
    th_mesh *mesh = (th_mesh *)human->meshes;
    uint32_t *indices = (uint32_t *)mesh->indices;
    th_vertex *vertices = (th_vertex *)mesh->vertices;
    mesh->index_count =
        (uint32_t)meshopt_simplify(indices, indices, mesh->index_count, vertices->position, mesh->vertex_count,
                                   sizeof *vertices, mesh->index_count / factor, 1, 0, NULL);
    mesh->vertex_count = (uint32_t)meshopt_optimizeVertexFetch(vertices, indices, mesh->index_count, vertices,
                                                               mesh->vertex_count, sizeof *vertices);
    human->size = th_model_measure(human);
}

th_model *create_coarse_human(void)
{
    th_model *human;
    th_error err;
    cr_assert_eq(th_human_create(&human, &err), TH_OK, "%s", err.text);
    coarsen_human(human, COARSE);
    return human;
}
