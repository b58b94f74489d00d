#include <anim/bounds.h>
#include <anim/exact.h>
#include <anim/repertoire.h>
#include <core/arena.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEGREE         0.017453292519943295
#define SAMPLES        24            /* poses of a clip that are compared */
#define STILL_RAD      (7 * DEGREE)  /* a leg that differs less from the idle one stands */
#define STILL          0.03          /* its movement, times the model's size */
#define MOVED_RAD      (9 * DEGREE)  /* a joint of a gesture differs more */
#define GROUND         0.03          /* a point that stands on the ground, above the lowest, times the model's size */
#define SEAM_RAD       (20 * DEGREE) /* the first and the last pose of a clip that loops differ less */
#define LEAST_MOVEMENT 0.02
#define SIDEWAYS       (45 * DEGREE)

typedef struct survey {
    const th_model *model;
    th_interpolation interpolation;
    th_repertoire *out;
    th_root_motion *motions; /* [clip] */
    double *movements;       /* [clip] how much it moves; only of those that stand */
    th_trs *idle, *now;      /* [joint] */
    double *turned, *moved;  /* [joint] largest differences from idle */
    bool *stands;            /* [joint] carries what stands on the ground, or has such a joint below it */
    th_dmat34 *pose;
    double *low; /* [joint] */
} survey;

/* ---- poses ---- */

static void sample(const survey *s, uint32_t clip, double part, th_trs *out)
{
    const th_clip *c = &s->model->clips[clip];
    th_exact_sample(s->model, c, part * c->duration_ticks, s->interpolation, s->pose);
    for (uint32_t j = 0; j < s->model->joint_count; j++)
        th_dmat34_decompose(&s->pose[j], &out[j]);
}

/* How much a joint differs in s->now from s->idle. */
static double turned(const survey *s, uint32_t joint)
{
    const double *a = s->idle[joint].rotation, *b = s->now[joint].rotation;
    const double dot = fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
    return 2 * acos(fmin(dot, 1));
}

static double moved(const survey *s, uint32_t joint)
{
    const double *a = s->idle[joint].translation, *b = s->now[joint].translation;
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* Largest differences of each joint in a clip from the pose in `idle`. */
static void compare(survey *s, uint32_t clip)
{
    memset(s->turned, 0, s->model->joint_count * sizeof *s->turned);
    memset(s->moved, 0, s->model->joint_count * sizeof *s->moved);
    for (uint32_t n = 0; n < SAMPLES; n++) {
        sample(s, clip, (double)n / SAMPLES, s->now);
        for (uint32_t j = 0; j < s->model->joint_count; j++) {
            s->turned[j] = fmax(s->turned[j], turned(s, j));
            s->moved[j] = fmax(s->moved[j], moved(s, j));
        }
    }
}

/* ---- idle ---- */

static bool stands(const survey *s, uint32_t clip)
{
    return s->motions[clip].kind == TH_ROOT_MOTION_NONE;
}

static bool is_called(const char *name, const char *word)
{
    const size_t length = strlen(word);
    for (; *name; name++)
        if (strncasecmp(name, word, length) == 0)
            return true;
    return false;
}

/* Clips of a single pose, such as the one to bind in, are nothing to play. */
static bool moves(const survey *s, uint32_t clip)
{
    return s->model->clips[clip].duration_ticks > 0 && s->movements[clip] > LEAST_MOVEMENT;
}

static void find_idle(survey *s)
{
    double least = HUGE_VAL;
    int clearest = 0;
    for (uint32_t c = 0; c < s->model->clip_count; c++) {
        /* Larger for names that say more clearly that the clip is an idle one. */
        const char *name = s->model->clips[c].name;
        const int said = is_called(name, "idle") ? 3000 : is_called(name, "stand") ? 2000 : 0;
        const int clear = said > 0 ? said - (int)fmin((double)strlen(name), 999) : 0;
        if (!stands(s, c) || clear < clearest)
            continue;
        if (clear > clearest || s->movements[c] < least) {
            clearest = clear;
            least = s->movements[c];
            s->out->idle = c;
        }
    }
}

/* ---- gaits ---- */

/* Whether its last pose is its first one. */
static bool loops(const survey *s, uint32_t clip)
{
    bool same = true;
    sample(s, clip, 0, s->idle);
    sample(s, clip, 1, s->now);
    for (uint32_t j = 0; j < s->model->joint_count; j++)
        same = same && !(turned(s, j) >= SEAM_RAD) && !(moved(s, j) >= STILL * s->model->size);
    return same;
}

static bool is_gait(const survey *s, uint32_t clip)
{
    return s->motions[clip].kind == TH_ROOT_MOTION_IN_PLACE && loops(s, clip);
}

static void find_gaits(survey *s)
{
    th_repertoire *r = s->out;
    uint32_t slowest = TH_NO_INDEX;
    for (uint32_t c = 0; c < s->model->clip_count; c++)
        if (is_gait(s, c) && (slowest == TH_NO_INDEX || s->motions[c].speed < s->motions[slowest].speed))
            slowest = c;
    if (slowest == TH_NO_INDEX)
        return;
    r->heading_rad = s->motions[slowest].heading_rad;
    for (uint32_t c = 0; c < s->model->clip_count; c++) {
        if (!is_gait(s, c) || cos(s->motions[c].heading_rad - r->heading_rad) < cos(SIDEWAYS))
            continue;
        uint32_t at = r->gait_count++;
        for (; at > 0 && r->gaits[at - 1].speed > s->motions[c].speed; at--)
            r->gaits[at] = r->gaits[at - 1];
        r->gaits[at] = (th_gait){c, s->motions[c].speed};
    }
}

/* ---- gestures ---- */

/* The lowest point of a vertex's own position in the idle pose decides which joints carry feet. A model without
 * vertices stands on its lowest joints. */
static void find_feet(survey *s)
{
    const th_model *model = s->model;
    const th_clip *clip = &model->clips[s->out->idle];
    th_dmat34 *pose = s->pose;
    double *low = s->low, lowest = HUGE_VAL;
    th_exact_pose(model, clip, 0, s->interpolation, pose);
    for (uint32_t j = 0; j < model->joint_count; j++)
        low[j] = model->mesh_count > 0 ? HUGE_VAL : pose[j].m[7];
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
            const th_vertex *vertex = &model->meshes[m].vertices[v];
            const th_bone *bone = &model->bones[vertex->bone[0]]; /* the one with the largest weight */
            const th_dmat34 inverse_bind = th_dmat34_from(bone->inverse_bind);
            double point[3] = {(double)vertex->position[0], (double)vertex->position[1], (double)vertex->position[2]};
            th_dmat34_point(&inverse_bind, point, point);
            th_dmat34_point(&pose[bone->joint], point, point);
            low[bone->joint] = fmin(low[bone->joint], point[1]);
        }
    for (uint32_t j = 0; j < model->joint_count; j++)
        lowest = fmin(lowest, low[j]);
    for (uint32_t j = model->joint_count; j-- > 0;) {
        s->stands[j] |= low[j] <= lowest + GROUND * model->size;
        if (s->stands[j] && model->joints[j].parent != TH_NO_INDEX)
            s->stands[model->joints[j].parent] = true;
    }
}

/* Adds the mask of the joints in s->turned that move, with all joints below them, and the opposite. false: out of
 * memory. */
static bool add_masks(survey *s, const char *name)
{
    const th_model *model = s->model;
    th_repertoire *r = s->out;
    float *moved = calloc(2 * ((size_t)model->joint_count + 1), sizeof *moved); /* of both */
    if (!moved)
        return false;
    float *others = moved + model->joint_count + 1;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent;
        const bool below = parent != TH_NO_INDEX && moved[parent] > 0;
        moved[j] = below || (!s->stands[j] && s->turned[j] > MOVED_RAD);
        others[j] = 1 - moved[j];
    }
    r->masks[r->mask_count++] = (th_mask){name, moved};
    r->masks[r->mask_count++] = (th_mask){name, others};
    return true;
}

/* Whether the legs stand as in the idle clip, and something else moves. */
static bool is_gesture(const survey *s)
{
    bool moves = false;
    for (uint32_t j = 0; j < s->model->joint_count; j++) {
        if (s->stands[j] && (s->turned[j] > STILL_RAD || s->moved[j] > STILL * s->model->size))
            return false;
        moves |= !s->stands[j] && s->turned[j] > MOVED_RAD;
    }
    return moves;
}

static bool find_gestures(survey *s)
{
    th_repertoire *r = s->out;
    if (r->idle == TH_NO_INDEX)
        return true;
    find_feet(s);
    for (uint32_t c = 0; c < s->model->clip_count; c++) {
        if (c == r->idle || !stands(s, c) || !moves(s, c))
            continue;
        sample(s, r->idle, 0, s->idle);
        compare(s, c);
        if (!is_gesture(s) || r->mask_count + 2 > TH_MAX_MASKS) {
            r->stands[r->stand_count++] = (th_stand){c, loops(s, c)};
            continue;
        }
        r->gestures[r->gesture_count++] = (th_gesture){c, r->mask_count, r->mask_count + 1};
        if (!add_masks(s, s->model->clips[c].name))
            return false;
    }
    return true;
}

/* ---- all ---- */

th_result th_repertoire_create(const th_model *model, th_interpolation interpolation, th_repertoire **out,
                               th_error *err)
{
    assert(model && out && (unsigned)interpolation < TH_INTERPOLATION_COUNT);
    const size_t clips = (size_t)model->clip_count + 1, joints = model->joint_count;
    th_arena *scratch = th_arena_create();
    th_repertoire *r = *out = calloc(1, sizeof *r);
    survey s = {
        .model = model,
        .interpolation = interpolation,
        .out = r,
        .motions = th_arena_new(scratch, th_root_motion, clips),
        .movements = th_arena_new(scratch, double, clips),
        .idle = th_arena_new(scratch, th_trs, joints),
        .now = th_arena_new(scratch, th_trs, joints),
        .turned = th_arena_new(scratch, double, joints),
        .moved = th_arena_new(scratch, double, joints),
        .stands = th_arena_new(scratch, bool, joints),
        .pose = th_arena_new(scratch, th_dmat34, joints),
        .low = th_arena_new(scratch, double, joints),
    };
    bool good = r && !th_arena_failed(scratch);
    if (good) {
        r->idle = TH_NO_INDEX;
        r->gaits = calloc(clips, sizeof *r->gaits);
        r->stands = calloc(clips, sizeof *r->stands);
        r->gestures = calloc(clips, sizeof *r->gestures);
        r->masks = calloc(TH_MAX_MASKS + 1, sizeof *r->masks);
        good = r->gaits && r->stands && r->gestures && r->masks;
    }
    th_result result = TH_OK;
    for (uint32_t c = 0; c < model->clip_count && good && result == TH_OK; c++) {
        result = th_clip_root_motion(model, c, interpolation, &s.motions[c], err);
        if (result != TH_OK || !stands(&s, c))
            continue;
        sample(&s, c, 0, s.idle); /* movement is from the first pose on */
        compare(&s, c);
        for (uint32_t j = 0; j < model->joint_count; j++)
            s.movements[c] += s.turned[j] + s.moved[j] / model->size;
    }
    if (good && result == TH_OK) {
        find_idle(&s);
        find_gaits(&s);
        good = find_gestures(&s);
    }
    th_arena_destroy(scratch);
    if (!good)
        result = th_fail(err, TH_ERR_MEMORY, "no memory for what %s can do", model->name);
    if (result != TH_OK) {
        th_repertoire_destroy(r);
        *out = NULL;
    }
    return result;
}

void th_repertoire_destroy(th_repertoire *repertoire)
{
    if (!repertoire)
        return;
    for (uint32_t m = 0; m < repertoire->mask_count; m += 2) /* with the opposite one */
        free((void *)(uintptr_t)repertoire->masks[m].weights);
    free(repertoire->gaits);
    free(repertoire->stands);
    free(repertoire->gestures);
    free(repertoire->masks);
    free(repertoire);
}

size_t th_repertoire_bytes(const th_repertoire *r, const th_model *model)
{
    if (!r)
        return 0;
    const size_t clip = sizeof *r->gaits + sizeof *r->stands + sizeof *r->gestures;
    const size_t mask = ((size_t)model->joint_count + 1) * sizeof *r->masks->weights;
    return sizeof *r + ((size_t)model->clip_count + 1) * clip + (TH_MAX_MASKS + 1) * sizeof *r->masks +
           r->mask_count * mask;
}
