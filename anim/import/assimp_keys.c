/* Keys and rates that Assimp 5.2.5 gives otherwise than the file has them, set right where they say enough. */
#include "clips.h"

#include <assimp/cimport.h>
#include <math.h>

#define X_FORMAT "Direct3D XFile"

/* ---- rates and durations ---- */

/* The fewest ticks from key to key of a channel, on average; INFINITY: no channel has two keys. */
static double find_gap(const struct aiScene *ai)
{
    double gap = (double)INFINITY;
    for (unsigned a = 0; a < ai->mNumAnimations; a++)
        for (unsigned c = 0; c < ai->mAnimations[a]->mNumChannels; c++) {
            const struct aiNodeAnim *of = ai->mAnimations[a]->mChannels[c];
            const double most = fmax(fmax(of->mNumPositionKeys, of->mNumRotationKeys), of->mNumScalingKeys);
            gap = most > 1 ? fmin(gap, ai->mAnimations[a]->mDuration / (most - 1)) : gap;
        }
    return gap;
}

void settle_rates(scene *s)
{
    const double gap = has_format(s, X_FORMAT) ? find_gap(s->ai) : 0;
    const bool is_sparse_x = gap >= 25 && isfinite(gap), is_smd = has_format(s, "Valve SMD"),
               is_mdl = has_format(s, "Quake Mesh");
    for (unsigned a = 0; a < s->ai->mNumAnimations; a++) {
        struct aiAnimation *in = s->ai->mAnimations[a];
        const struct aiNodeAnim *any = in->mNumChannels > 0 ? in->mChannels[0] : NULL;
        if (is_sparse_x && !(in->mTicksPerSecond > 0)) {
            in->mTicksPerSecond = 4800; /* DirectX's own */
            const char *name = in->mName.length > 0 ? read_name(s, in->mName.data) : make_string(s, "clip_%u", a);
            warn(s, WARN_CLIP_RATE_X, 1, "clip %s", name);
        }
        if (is_smd) /* which has none: to say so */
            in->mTicksPerSecond = 0;
        if (is_mdl && any && any->mNumPositionKeys > 0) /* else as many seconds as there are frames */
            in->mDuration = any->mPositionKeys[any->mNumPositionKeys - 1].mTime;
    }
}

/* ---- DirectX .x ---- */

/* Of a key (w, v) that need not have unit length Assimp makes a matrix, and of the matrix a quaternion. If |v|^2 < 3/4,
 * that is (u, v w / u) with u^2 = 1 - |v|^2, else the key, of the sign that makes its largest number but w positive.
 * Then it negates w. Returns false if the key is a guess: both may be meant, or v is lost, as w is 0; `before` then. */
static bool undo_rotation(struct aiQuaternion *q, const struct aiQuaternion *before)
{
    const double v[3] = {-(double)q->x, -(double)q->y, (double)q->z}, u = -(double)q->w; /* before it was mirrored */
    const double given2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], v2 = 1 - u * u;
    if (!(u > 0.5 && v2 > 0) || fabs(given2 - v2) < 1e-6)
        return true;
    const int yz = fabs(v[1]) > fabs(v[2]) ? 1 : 2, most = fabs(v[0]) > fabs(v[yz]) ? 0 : yz;
    const bool is_either = given2 >= 0.75 && v[most] > 0;
    if (is_either && v2 < 0.5)
        return false; /* the other would be longer */
    if (given2 < 1e-8) {
        *q = *before;
        return false;
    }
    const float scale = (float)sqrt(v2 / given2);
    *q = (struct aiQuaternion){(float)(-u * sqrt(given2 / v2)), q->x * scale, q->y * scale, q->z * scale};
    return !is_either;
}

/* Of a matrix that mirrors, Assimp makes a quaternion as if it did not. With r the rotation of minus the matrix, it has
 * a number a > 0 where r has c, 0 <= c <= 1/2, with a^2 = 1/2 - c^2; the others are -c/a times those of r. So they are
 * lost if c is 0, as in a mirror in a plane: those of the rest are taken, and counted. Returns false if it is none. */
static bool undo_mirror(struct aiQuaternion *q, const struct aiQuaternion *rest, uint32_t *lost)
{
    double r[4] = {(double)q->w, -(double)q->x, -(double)q->y, (double)q->z}; /* before it was mirrored */
    const double all2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
    for (int i = 0; i < 4; i++) {
        const double a2 = r[i] * r[i], rest2 = all2 - a2, c2 = (1 - sqrt(fmax(1 - 4 * a2 * rest2, 0))) / 2;
        if (r[i] <= 0 || !(fabs(a2 + c2 - 0.5) < 2e-5))
            continue;
        const bool is_lost = rest2 < 1e-6;
        for (int j = 0; j < 4; j++)
            r[j] = j == i ? sqrt(c2) : -r[j] * sqrt((1 - c2) / rest2);
        *q = is_lost ? *rest : (struct aiQuaternion){(float)r[0], (float)-r[1], (float)-r[2], (float)r[3]};
        *lost += is_lost;
        return true;
    }
    return false;
}

/* Whether the channel looks as Assimp makes it of matrices that mirror. */
static bool is_mirror(const struct aiNodeAnim *of, const struct aiQuaternion *rest, bool is_mirrored)
{
    bool all = of->mNumScalingKeys == of->mNumRotationKeys, any = is_mirrored;
    uint32_t lost = 0;
    for (unsigned k = 0; k < of->mNumRotationKeys && all; k++) {
        struct aiQuaternion q = of->mRotationKeys[k].mValue;
        const struct aiVector3D scale = of->mScalingKeys[k].mValue;
        any |= fabsf(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1) > 1e-3F;
        all = scale.x >= 0 && scale.y >= 0 && scale.z >= 0 && undo_mirror(&q, rest, &lost);
    }
    return all && any;
}

static void undo_x(const clip *c, const struct aiNodeAnim *channel, const char *node, const struct aiQuaternion *rest,
                   bool is_mirrored)
{
    const bool mirrors = is_mirror(channel, rest, is_mirrored);
    uint32_t guessed = 0;
    for (unsigned k = 0; k < channel->mNumRotationKeys; k++) {
        struct aiQuaternion *q = &channel->mRotationKeys[k].mValue;
        if (mirrors && undo_mirror(q, rest, &guessed)) {
            struct aiVector3D *scale = &channel->mScalingKeys[k].mValue;
            *scale = (struct aiVector3D){-scale->x, -scale->y, -scale->z};
        } else {
            guessed += !undo_rotation(q, k > 0 ? &channel->mRotationKeys[k - 1].mValue : rest);
        }
    }
    warn(c->s, WARN_ROTATION_GUESSED, guessed, "clip %s, node %s", c->name, node);
}

/* ---- channels ---- */

void undo_assimp_keys(const clip *c, const struct aiNodeAnim *channel, const char *node, uint32_t joint)
{
    const bool is_x = has_format(c->s, X_FORMAT);
    if (!is_x && !has_format(c->s, "Ogre"))
        return;
    struct aiMatrix4x4 matrix = c->s->nodes.node[joint]->mTransformation;
    struct aiVector3D translation, scale;
    struct aiQuaternion rotation;
    aiDecomposeMatrix(&matrix, &scale, &rotation, &translation);
    if (is_x) {
        undo_x(c, channel, node, &rotation, scale.x < 0);
        return;
    }
    aiMatrix4Inverse(&matrix); /* Ogre moves a bone in the space of its parent, Assimp in that of the bone */
    for (unsigned k = 0; k < channel->mNumPositionKeys; k++) {
        struct aiVector3D *move = &channel->mPositionKeys[k].mValue;
        aiTransformVecByMatrix4(move, &matrix);
        *move = (struct aiVector3D){translation.x + move->x, translation.y + move->y, translation.z + move->z};
    }
}
