/* Normals for meshes that have none: the mean of those of all triangles at a place. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A vertex, sorted by its place. */
typedef struct corner {
    float place[3];
    uint32_t vertex;
} corner;

static int compare_places(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(float[3]));
}

/* Adds the normal of a triangle, of unit length, to its vertices. */
static void add_normal(const struct aiMesh *mesh, const unsigned *v, struct aiVector3D *sums)
{
    if (v[0] >= mesh->mNumVertices || v[1] >= mesh->mNumVertices || v[2] >= mesh->mNumVertices)
        return; /* meshes.c drops it */
    const struct aiVector3D a = mesh->mVertices[v[0]], b = mesh->mVertices[v[1]], c = mesh->mVertices[v[2]];
    const float u[3] = {b.x - a.x, b.y - a.y, b.z - a.z}, w[3] = {c.x - a.x, c.y - a.y, c.z - a.z};
    const float n[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
    const float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3 && isnormal(length); i++) {
        sums[v[i]].x += n[0] / length;
        sums[v[i]].y += n[1] / length;
        sums[v[i]].z += n[2] / length;
    }
}

static void add_up(struct aiVector3D *sums, const corner *corners, size_t count)
{
    struct aiVector3D sum = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        const struct aiVector3D n = sums[corners[i].vertex];
        sum = (struct aiVector3D){sum.x + n.x, sum.y + n.y, sum.z + n.z};
    }
    for (size_t i = 0; i < count; i++)
        sums[corners[i].vertex] = sum;
}

void make_normals(scene *s, struct aiMesh *mesh)
{
    if (mesh->mNormals || !mesh->mVertices || mesh->mNumFaces == 0)
        return;
    const size_t count = mesh->mNumVertices;
    corner *corners = make(s, corner, count + 1);
    mesh->mNormals = make(s, struct aiVector3D, count + 1);
    for (unsigned f = 0; f < mesh->mNumFaces; f++)
        add_normal(mesh, mesh->mFaces[f].mIndices, mesh->mNormals);
    for (uint32_t v = 0; v < count; v++) { /* adding 0 makes a negative 0 positive */
        const struct aiVector3D p = mesh->mVertices[v];
        corners[v] = (corner){{p.x + 0, p.y + 0, p.z + 0}, v};
    }
    qsort(corners, count, sizeof *corners, compare_places);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && compare_places(&corners[first], &corners[end]) == 0;)
            end++;
        add_up(mesh->mNormals, corners + first, end - first);
    }
}
