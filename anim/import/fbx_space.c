/* FBX space: the global settings of a file state the up axis and the length of a unit. Assimp 5.2.5 copies both into
 * the scene's metadata and leaves the scene unchanged. Later versions rotate and scale the root unless told not to, as
 * read_with_assimp (scene.c) does.
 *
 * Units are applied to all lengths, so that rotations and translations stay what they are: with s the metres per unit,
 * every transform M becomes S M S^-1. Axes are applied to the root alone. */
#include "scene.h"

#include <assimp/cimport.h>
#include <math.h>
#include <string.h>

/* One of our axes, in terms of the file's. */
typedef struct axis {
    int index; /* 0 to 2; -1: no such axis */
    int sign;
} axis;

/* Leaves *out unchanged if there is no such number. */
static bool read_number(const struct aiMetadata *data, const char *name, double *out)
{
    for (unsigned p = 0; data && p < data->mNumProperties; p++) {
        const struct aiMetadataEntry *entry = &data->mValues[p];
        if (strcmp(data->mKeys[p].data, name) != 0)
            continue;
        if (entry->mType == AI_INT32)
            *out = *(const int32_t *)entry->mData;
        else if (entry->mType == AI_FLOAT)
            *out = (double)*(const float *)entry->mData;
        else if (entry->mType == AI_DOUBLE)
            *out = *(const double *)entry->mData;
        else
            return false;
        return true;
    }
    return false;
}

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

static void scale_nodes(struct aiNode *node, float factor)
{
    if (!node)
        return;
    scale_translation(&node->mTransformation, factor);
    for (unsigned c = 0; c < node->mNumChildren; c++)
        scale_nodes(node->mChildren[c], factor);
}

static void scale_mesh(struct aiMesh *mesh, float factor)
{
    for (unsigned v = 0; mesh->mVertices && v < mesh->mNumVertices; v++)
        scale_vector(&mesh->mVertices[v], factor);
    for (unsigned b = 0; b < mesh->mNumBones; b++)
        scale_translation(&mesh->mBones[b]->mOffsetMatrix, factor);
}

static void scale_clip(struct aiAnimation *clip, float factor)
{
    for (unsigned c = 0; c < clip->mNumChannels; c++)
        for (unsigned k = 0; k < clip->mChannels[c]->mNumPositionKeys; k++)
            scale_vector(&clip->mChannels[c]->mPositionKeys[k].mValue, factor);
}

/* the unit of FBX is a centimetre */
static void scale_to_metres(scene *s)
{
    double unit_cm = 1;
    bool said = read_number(s->ai->mMetaData, "UnitScaleFactor", &unit_cm);
    if (!said || !isfinite(unit_cm) || unit_cm < 1e-6 || unit_cm > 1e9) {
        warn(s, WARN_UNIT_UNKNOWN, 1, "%g", unit_cm);
        unit_cm = 1;
    }
    float factor = (float)(unit_cm / 100);
    if (factor == 1)
        return;
    warn(s, WARN_UNIT, 1, "%g cm", unit_cm);
    scale_nodes(s->ai->mRootNode, factor);
    for (unsigned m = 0; m < s->ai->mNumMeshes; m++)
        scale_mesh(s->ai->mMeshes[m], factor);
    for (unsigned a = 0; a < s->ai->mNumAnimations; a++)
        scale_clip(s->ai->mAnimations[a], factor);
}

/* ---- axes ---- */

static axis read_axis(const scene *s, const char *name, int standard)
{
    double index = standard, sign = 1;
    read_number(s->ai->mMetaData, name, &index);
    char sign_name[32] = "";
    strcat(strcpy(sign_name, name), "Sign");
    read_number(s->ai->mMetaData, sign_name, &sign);
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
    const axis axes[3] = {read_axis(s, "CoordAxis", 0), read_axis(s, "UpAxis", 1), read_axis(s, "FrontAxis", 2)};
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
    if (!has_format(s, "Autodesk FBX"))
        return;
    scale_to_metres(s);
    turn_upright(s);
}
