#include "oracle_assimp.h"

#include <assimp/cimport.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

static unsigned list_nodes(const struct aiNode *node, const struct aiNode **out)
{
    unsigned count = 1;
    if (out)
        out[0] = node;
    for (unsigned c = 0; c < node->mNumChildren; c++)
        count += list_nodes(node->mChildren[c], out ? out + count : NULL);
    return count;
}

oracle oracle_load(const char *path)
{
    oracle o = {.scene = aiImportFile(path, 0)};
    if (o.scene) {
        o.node_count = list_nodes(o.scene->mRootNode, NULL);
        o.nodes = calloc(o.node_count, sizeof *o.nodes);
        list_nodes(o.scene->mRootNode, o.nodes);
        for (unsigned a = 0; oracle_find(&o, "<MDL_bones>") < o.node_count && a < o.scene->mNumAnimations; a++) {
            const struct aiNodeAnim *any = o.scene->mAnimations[a]->mChannels[0]; /* all have a key for each frame */
            o.scene->mAnimations[a]->mDuration = any->mPositionKeys[any->mNumPositionKeys - 1].mTime;
        }
    }
    return o;
}

void oracle_free(oracle *o)
{
    free(o->nodes);
    aiReleaseImport(o->scene);
}

unsigned oracle_find(const oracle *o, const char *name)
{
    unsigned n = 0;
    while (n < o->node_count && strcmp(o->nodes[n]->mName.data, name) != 0)
        n++;
    return n;
}

/* ---- matrices ---- */

static oracle_matrix from_assimp(const struct aiMatrix4x4 *a)
{
    return (oracle_matrix){{{(double)a->a1, (double)a->a2, (double)a->a3, (double)a->a4},
                            {(double)a->b1, (double)a->b2, (double)a->b3, (double)a->b4},
                            {(double)a->c1, (double)a->c2, (double)a->c3, (double)a->c4},
                            {(double)a->d1, (double)a->d2, (double)a->d3, (double)a->d4}}};
}

static oracle_matrix multiply(const oracle_matrix *a, const oracle_matrix *b)
{
    oracle_matrix product = {0};
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 4; column++)
            for (int i = 0; i < 4; i++)
                product.m[row][column] += a->m[row][i] * b->m[i][column];
    return product;
}

static oracle_matrix translation(const double t[3])
{
    return (oracle_matrix){{{1, 0, 0, t[0]}, {0, 1, 0, t[1]}, {0, 0, 1, t[2]}, {0, 0, 0, 1}}};
}

static oracle_matrix scaling(const double s[3])
{
    return (oracle_matrix){{{s[0], 0, 0, 0}, {0, s[1], 0, 0}, {0, 0, s[2], 0}, {0, 0, 0, 1}}};
}

/* Columns are the turned axes: q * axis * conjugate(q), written out. */
static oracle_matrix rotation(const double q[4])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    return (oracle_matrix){{
        {w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y), 0},
        {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x), 0},
        {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z, 0},
        {0, 0, 0, 1},
    }};
}

/* ---- keys ---- */

static void interpolate_vector(const struct aiVectorKey *keys, unsigned count, double ticks, double out[3])
{
    unsigned next = 0; /* first key behind `ticks` */
    while (next < count && keys[next].mTime <= ticks)
        next++;
    const struct aiVectorKey *a = &keys[next > 0 ? next - 1 : 0], *b = &keys[next < count ? next : count - 1];
    double part = b->mTime > a->mTime ? (ticks - a->mTime) / (b->mTime - a->mTime) : 0;
    out[0] = (1 - part) * (double)a->mValue.x + part * (double)b->mValue.x;
    out[1] = (1 - part) * (double)a->mValue.y + part * (double)b->mValue.y;
    out[2] = (1 - part) * (double)a->mValue.z + part * (double)b->mValue.z;
}

static void normalized(const struct aiQuaternion *q, double out[4])
{
    out[0] = (double)q->x;
    out[1] = (double)q->y;
    out[2] = (double)q->z;
    out[3] = (double)q->w;
    double length = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
    for (int i = 0; i < 4; i++)
        out[i] /= length;
}

/* By the angle between them, with the arc tangent, which is exact for small angles too. */
static void slerp(const double a[4], const double b_given[4], double part, double out[4])
{
    double cosine = 0, sine2 = 0, b[4];
    for (int i = 0; i < 4; i++)
        cosine += a[i] * b_given[i];
    for (int i = 0; i < 4; i++)
        b[i] = cosine < 0 ? -b_given[i] : b_given[i];
    for (int i = 0; i < 4; i++) {
        double across = b[i] - fabs(cosine) * a[i];
        sine2 += across * across;
    }
    double angle = atan2(sqrt(sine2), fabs(cosine));
    for (int i = 0; i < 4; i++)
        out[i] = angle < 1e-12 ? a[i] : (sin((1 - part) * angle) * a[i] + sin(part * angle) * b[i]) / sin(angle);
}

static void interpolate_rotation(const struct aiQuatKey *keys, unsigned count, double ticks, double out[4])
{
    unsigned next = 0;
    while (next < count && keys[next].mTime <= ticks)
        next++;
    const struct aiQuatKey *a = &keys[next > 0 ? next - 1 : 0], *b = &keys[next < count ? next : count - 1];
    double part = b->mTime > a->mTime ? (ticks - a->mTime) / (b->mTime - a->mTime) : 0, from[4], to[4];
    normalized(&a->mValue, from);
    normalized(&b->mValue, to);
    slerp(from, to, part, out);
}

/* ---- poses ---- */

static double wrapped_ticks(const struct aiAnimation *clip, double time_s)
{
    double rate = clip->mTicksPerSecond > 0 ? clip->mTicksPerSecond : 25;
    if (!(clip->mDuration > 0))
        return 0;
    double ticks = fmod(time_s * rate, clip->mDuration);
    return ticks < 0 ? ticks + clip->mDuration : ticks;
}

static oracle_matrix local_matrix(const struct aiNode *node, const struct aiAnimation *clip, double ticks)
{
    for (unsigned c = 0; clip && c < clip->mNumChannels; c++) {
        const struct aiNodeAnim *channel = clip->mChannels[c];
        if (strcmp(channel->mNodeName.data, node->mName.data) != 0)
            continue;
        double t[3], r[4], s[3];
        interpolate_vector(channel->mPositionKeys, channel->mNumPositionKeys, ticks, t);
        interpolate_rotation(channel->mRotationKeys, channel->mNumRotationKeys, ticks, r);
        interpolate_vector(channel->mScalingKeys, channel->mNumScalingKeys, ticks, s);
        oracle_matrix move = translation(t), turn = rotation(r), stretch = scaling(s);
        oracle_matrix turn_stretch = multiply(&turn, &stretch);
        return multiply(&move, &turn_stretch);
    }
    return from_assimp(&node->mTransformation);
}

/* By the parent that each node names, which stands before it. */
void oracle_pose(const oracle *o, int clip, double time_s, oracle_matrix *out)
{
    const struct aiAnimation *animation = clip < 0 ? NULL : o->scene->mAnimations[clip];
    const double ticks = animation ? wrapped_ticks(animation, time_s) : 0;
    for (unsigned n = 0; n < o->node_count; n++) {
        unsigned parent = 0;
        while (parent < n && o->nodes[parent] != o->nodes[n]->mParent)
            parent++;
        const oracle_matrix local = local_matrix(o->nodes[n], animation, ticks);
        out[n] = parent < n ? multiply(&out[parent], &local) : local;
    }
}

oracle_matrix oracle_bone(const oracle *o, const struct aiBone *bone, const oracle_matrix *pose)
{
    oracle_matrix offset = from_assimp(&bone->mOffsetMatrix);
    return multiply(&pose[oracle_find(o, bone->mName.data)], &offset);
}
