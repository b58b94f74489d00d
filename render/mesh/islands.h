/* Connected surfaces of a mesh, such as an eye or a button. */
#ifndef TH_RENDER_MESH_ISLANDS_H
#define TH_RENDER_MESH_ISLANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Triangles that share a corner belong to one island. places: [vertex] an id below vertex_count, shared by the vertices
 * at the same position. out_sizes: [vertex] how many triangles its island has. False when out of memory. */
bool th_islands_measure(const uint32_t *places, uint32_t vertex_count, const uint32_t *indices, size_t index_count,
                        uint32_t *out_sizes);

#endif
