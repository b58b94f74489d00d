/* FBX space: the global settings of a file state the up axis and the length of a unit. Assimp 5.2.5 copies both into
 * the scene's metadata and leaves the scene unchanged. Later versions rotate and scale the root unless told not to, as
 * read_with_assimp (scene.c) does.
 *
 * Units are applied to all lengths, so that rotations and translations stay what they are: with s the metres per unit,
 * every transform M becomes S M S^-1. Axes are applied to the root alone. */
#include "fbx.h"

#include <assimp/cimport.h>

/* One of our axes, in terms of the file's. */
typedef struct axis {
    int index; /* 0 to 2; -1: no such axis */
    int sign;
} axis;

/* ---- lengths ---- */

static void scale_vector(struct aiVector3D *v, float factor)
{
    v->x *= factor;
    v->y *= factor;
    v->z *= factor;
}

static void scale_translation(struct aiMatrix4x4 *m, float factor)
{
    m->a4 *= factor;
    m->b4 *= factor;
    m->c4 *= factor;
}

static void scale_mesh(struct aiMesh *mesh, float factor)
{
    for (unsigned v = 0; mesh->mVertices && v < mesh->mNumVertices; v++)
        scale_vector(&mesh->mVertices[v], factor);
    for (unsigned t = 0; t < mesh->mNumAnimMeshes; t++)
        for (unsigned v = 0; mesh->mAnimMeshes[t]->mVertices && v < mesh->mAnimMeshes[t]->mNumVertices; v++)
            scale_vector(&mesh->mAnimMeshes[t]->mVertices[v], factor);
    for (unsigned b = 0; b < mesh->mNumBones; b++)
        scale_translation(&mesh->mBones[b]->mOffsetMatrix, factor);
}

/* the unit of FBX is a centimetre */
double read_fbx_unit(const fbx *f)
{
    const double unit_cm = fbx_property(f, &f->settings, "UnitScaleFactor", 0);
    const bool said = unit_cm >= 1e-6 && unit_cm <= 1e9;
    warn(f->s, WARN_UNIT_UNKNOWN, !said, "%g", unit_cm);
    warn(f->s, WARN_UNIT, said && unit_cm != 100, "%g cm", unit_cm);
    return said ? unit_cm / 100 : 0.01;
}

/* ---- axes ---- */

static axis read_axis(const scene *s, const char *name, const char *sign_name, int standard)
{
    const double index = fbx_property(s->fbx, &s->fbx->settings, name, standard),
                 sign = fbx_property(s->fbx, &s->fbx->settings, sign_name, 1);
    return (axis){index >= 0 && index <= 2 ? (int)index : -1, sign < 0 ? -1 : 1};
}

/* Whether the three axes are distinct. */
static bool is_frame(const axis axes[3])
{
    unsigned seen = 0;
    for (int i = 0; i < 3; i++)
        seen |= axes[i].index < 0 ? 0 : 1u << axes[i].index;
    return seen == 7;
}

/* Rows of the rotation: our x is the file's coord axis, y its up axis, z its front axis. */
static void turn_upright(scene *s)
{
    const axis axes[3] = {read_axis(s, "CoordAxis", "CoordAxisSign", 0), read_axis(s, "UpAxis", "UpAxisSign", 1),
                          read_axis(s, "FrontAxis", "FrontAxisSign", 2)};
    if (!is_frame(axes)) {
        warn(s, WARN_AXES_UNKNOWN, 1, "up %d, front %d, coord %d", axes[1].index, axes[2].index, axes[0].index);
        return;
    }
    struct aiMatrix4x4 turn = {0}, *root = &s->ai->mRootNode->mTransformation;
    (&turn.a1)[axes[0].index] = (float)axes[0].sign;
    (&turn.b1)[axes[1].index] = (float)axes[1].sign;
    (&turn.c1)[axes[2].index] = (float)axes[2].sign;
    turn.d4 = 1;
    if (turn.a1 == 1 && turn.b2 == 1 && turn.c3 == 1)
        return;
    static const char *const names = "XYZ";
    warn(s, WARN_AXES, 1, "up is %c%c, front %c%c", axes[1].sign < 0 ? '-' : '+', names[axes[1].index],
         axes[2].sign < 0 ? '-' : '+', names[axes[2].index]);
    aiMultiplyMatrix4(&turn, root);
    *root = turn;
}

void settle_fbx_space(scene *s)
{
    if (!s->fbx)
        return;
    for (unsigned m = 0; m < s->ai->mNumMeshes; m++)
        scale_mesh(s->ai->mMeshes[m], (float)s->fbx->metres);
    turn_upright(s);
}
