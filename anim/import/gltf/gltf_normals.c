/* Normals for meshes that have none: the mean of those of all triangles at a place. */
#include "import/scene.h"

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
static void add_normal(const struct aiMesh *mesh, const struct aiVector3D *positions, const unsigned *v,
                       struct aiVector3D *sums)
{
    if (v[0] >= mesh->mNumVertices || v[1] >= mesh->mNumVertices || v[2] >= mesh->mNumVertices)
        return; /* meshes.c drops it */
    const struct aiVector3D a = positions[v[0]], b = positions[v[1]], c = positions[v[2]];
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

/* corners: sorted. positions: those of the mesh, or moved by a target; vertices at one place stay together. */
static void sum_normals(const struct aiMesh *mesh, const struct aiVector3D *positions, const corner *corners,
                        struct aiVector3D *out)
{
    for (unsigned f = 0; f < mesh->mNumFaces; f++)
        add_normal(mesh, positions, mesh->mFaces[f].mIndices, out);
    for (size_t first = 0, end; first < mesh->mNumVertices; first = end) {
        for (end = first + 1; end < mesh->mNumVertices && compare_places(&corners[first], &corners[end]) == 0;)
            end++;
        add_up(out, corners + first, end - first);
    }
}

static float length_of(struct aiVector3D v)
{
    const float length = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    return isnormal(length) ? length : 0;
}

/* Sets what the target adds to normals: with them a normal has the length that it has without. */
static void make_target_normals(scene *s, const struct aiMesh *mesh, const corner *corners, struct aiAnimMesh *target)
{
    const size_t count = mesh->mNumVertices;
    struct aiVector3D *moved = make(s, struct aiVector3D, count), *normals = make(s, struct aiVector3D, count);
    for (size_t v = 0; v < count; v++) {
        const struct aiVector3D p = mesh->mVertices[v], d = target->mVertices[v];
        moved[v] = (struct aiVector3D){p.x + d.x, p.y + d.y, p.z + d.z};
    }
    sum_normals(mesh, moved, corners, normals);
    for (size_t v = 0; v < count; v++) {
        const struct aiVector3D n = mesh->mNormals[v], m = normals[v];
        const float length = length_of(m), scale = length > 0 ? length_of(n) / length : 0;
        normals[v] = scale > 0 ? (struct aiVector3D){m.x * scale - n.x, m.y * scale - n.y, m.z * scale - n.z}
                               : (struct aiVector3D){0, 0, 0};
    }
    target->mNormals = normals;
}

void make_normals(scene *s, struct aiMesh *mesh)
{
    if (mesh->mNormals || !mesh->mVertices || mesh->mNumFaces == 0)
        return;
    const size_t count = mesh->mNumVertices;
    corner *corners = make(s, corner, count + 1);
    mesh->mNormals = make(s, struct aiVector3D, count + 1);
    for (uint32_t v = 0; v < count; v++) { /* adding 0 makes a negative 0 positive */
        const struct aiVector3D p = mesh->mVertices[v];
        corners[v] = (corner){{p.x + 0, p.y + 0, p.z + 0}, v};
    }
    qsort(corners, count, sizeof *corners, compare_places);
    sum_normals(mesh, mesh->mVertices, corners, mesh->mNormals);
    for (unsigned t = 0; t < mesh->mNumAnimMeshes; t++)
        if (mesh->mAnimMeshes[t]->mVertices)
            make_target_normals(s, mesh, corners, mesh->mAnimMeshes[t]);
}
