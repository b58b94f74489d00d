/* Shared by the files of the program that builds the human: its joints and some vector arithmetic. Private to this
 * folder.
 *
 *   main.c        builds the model and writes it
 *   skeleton.c    joints and bones, from one table
 *   body.c        the shape of the body: tables of tubes that blend into each other
 *   mesh.c        distance to those tubes, skin weights derived from them, and polygons
 *   wardrobe.c    the appearances: which colours and which parts individuals have
 *   clips.c       the motions: tables of waves and footsteps, poses of these, and the keys generated from them
 *   elementary.c  sine and exponential, correctly rounded
 *
 * human.c alone is part of the library: it reads what main.c wrote. */
#ifndef TH_ANIM_HUMAN_PARTS_H
#define TH_ANIM_HUMAN_PARTS_H

#include <throng/throng.h>

#include <math.h>

/* Depth first. Only the left side has names: the right limb follows the left one, in the same order. */
enum {
    J_HIPS,
    J_SPINE_01,
    J_SPINE_02,
    J_SPINE_03,
    J_NECK,
    J_HEAD,
    J_CLAVICLE_L,
    J_UPPERARM_L,
    J_LOWERARM_L,
    J_HAND_L,
    J_THUMB_01_L,
    J_THUMB_02_L,
    J_THUMB_03_L,
    J_INDEX_01_L,
    J_INDEX_02_L,
    J_INDEX_03_L,
    J_MIDDLE_01_L,
    J_MIDDLE_02_L,
    J_MIDDLE_03_L,
    J_RING_01_L,
    J_RING_02_L,
    J_RING_03_L,
    J_PINKY_01_L,
    J_PINKY_02_L,
    J_PINKY_03_L,
    J_CLAVICLE_R,
    J_THIGH_L = 2 * J_CLAVICLE_R - J_CLAVICLE_L,
    J_CALF_L,
    J_FOOT_L,
    J_TOE_L,
    J_THIGH_R,
    J_COUNT = 2 * J_THIGH_R - J_THIGH_L,
    J_NONE = J_COUNT
};

/* The joint on the other side. Joints on the midline are their own mirror image. */
static inline uint32_t mirror_joint(uint32_t joint)
{
    const uint32_t arm = J_CLAVICLE_R - J_CLAVICLE_L, leg = J_THIGH_R - J_THIGH_L;
    if (joint < J_CLAVICLE_L)
        return joint;
    if (joint < J_THIGH_L)
        return joint < J_CLAVICLE_R ? joint + arm : joint - arm;
    return joint < J_THIGH_R ? joint + leg : joint - leg;
}

typedef struct vec3 {
    double x, y, z;
} vec3;

static inline vec3 add(vec3 a, vec3 b)
{
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec3 sub(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec3 scale(vec3 a, double s)
{
    return (vec3){a.x * s, a.y * s, a.z * s};
}

static inline double dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec3 cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double length(vec3 a)
{
    return sqrt(dot(a, a));
}

static inline vec3 unit(vec3 a)
{
    return scale(a, 1 / length(a));
}

static inline double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* 0 up to `low`, 1 from `high` on, with slope 0 at both ends. */
static inline double smoothstep(double low, double high, double x)
{
    double t = clamp((x - low) / (high - low), 0, 1);
    return t * t * (3 - 2 * t);
}

/* The cubic from a to b over `width` with these slopes at its ends, at t in [0, 1]. */
static inline double hermite(double a, double b, double slope_a, double slope_b, double width, double t)
{
    double t2 = t * t, t3 = t2 * t;
    return a * (2 * t3 - 3 * t2 + 1) + b * (3 * t2 - 2 * t3) +
           width * (slope_a * (t3 - 2 * t2 + t) + slope_b * (t3 - t2));
}

double th_human_sin(double x);
double th_human_cos(double x);
double th_human_exp(double x);

/* ---- skeleton ---- */

/* Rest position of a joint in model space. */
vec3 th_human_joint_position(uint32_t joint);

/* The frame of a bone that starts at `origin`: Y along the bone, Z as close to `front` as possible. A rotation about X
 * moves the tip of the bone towards its front, on both sides of the body. */
th_dmat34 th_human_bone_frame(vec3 origin, vec3 along, vec3 front);

/* ---- shape ---- */

/* A chain of joints with blended skin weights: each joint takes over from the one before, from `soft` before its
 * position on the axis to `soft` after it. */
typedef enum th_human_chain_id {
    CHAIN_TORSO,
    CHAIN_SKULL,
    CHAIN_ARM,
    CHAIN_LEG,
    CHAIN_SKIRT,
    CHAIN_FOOT,
    CHAIN_THUMB,
    CHAIN_INDEX,
    CHAIN_MIDDLE,
    CHAIN_RING,
    CHAIN_PINKY
} th_human_chain_id;

typedef struct th_human_chain {
    vec3 axis;
    struct {
        uint32_t joint; /* J_NONE after the last one */
        double soft;
    } links[7];
} th_human_chain;

extern const th_human_chain th_human_chains[];

/* An elliptic cross-section of a tube. */
typedef struct th_human_station {
    vec3 centre;
    double width, depth; /* half of each, of the broadest person in the widest clothes; width along the side vector */
    double slack;        /* how much thinner the slightest person in the tightest clothes is there, metres */
} th_human_station;

/* A smooth surface through a row of stations, with rounded ends; it follows a chain of joints. */
typedef struct th_human_tube {
    th_human_chain_id chain;
    vec3 axis, side; /* unit length, orthogonal */
    double cap;      /* extent of the ends beyond the first and last station */
    double blend;    /* blend distance with the tubes before it */
    double boxiness; /* 0: ellipse, 1: nearly a box */
    bool carve;      /* subtracts from the tubes before it instead of adding */
    uint32_t station_count;
    th_human_station stations[10];
} th_human_tube;

/* Grid lines on one axis, starting at `from`; each run continues to `to` (or just beyond) in equal steps. */
typedef struct th_human_lines {
    double from;
    struct {
        double to, step;
    } runs[6];
} th_human_lines;

/* Regions of appearances: what individuals have in different colours, or not at all. */
typedef enum th_human_region {
    REGION_SKIN,
    REGION_LIPS,
    REGION_EYE,
    REGION_IRIS,
    REGION_BROW,
    REGION_HAIR, /* short; under the others as well */
    REGION_LONG_HAIR,
    REGION_BUN,
    REGION_TORSO,
    REGION_FRONT,  /* of the torso: between the edges of an open jacket */
    REGION_COLLAR, /* of a sweater; otherwise the lower neck */
    REGION_UPPER_ARM,
    REGION_FOREARM,
    REGION_HOOD,
    REGION_HIPS, /* not under a skirt */
    REGION_THIGH,
    REGION_SHIN,
    REGION_SKIRT,
    REGION_SHOE,
    REGION_SOLE,
    REGION_COUNT
} th_human_region;

/* What slack is stored in, metres. */
#define TH_HUMAN_SLACK 0.051

/* A box of a part that is a region of its own. Its sides cut the surface along edges of the mesh. */
typedef struct th_human_zone {
    th_human_region region;
    vec3 low, high; /* x: distance from the midline */
} th_human_zone;

/* One closed surface, such as the shirt or the left hand: the union of some tubes. */
typedef struct th_human_part {
    const char *name;
    th_human_region region; /* outside of all zones */
    bool pair;              /* defined for the left side and mirrored; otherwise symmetric */
    double midline;         /* both sides move what is so near to it */
    uint32_t tube_count;
    const th_human_tube *tubes;
    uint32_t zone_count;
    const th_human_zone *zones; /* of those that overlap, the last counts */
    th_human_lines grid[3];     /* x y z; surrounds the part. Dense where the skin bends, sparse where it is straight */
} th_human_part;

extern const th_human_part th_human_parts[];
extern const uint32_t th_human_part_count;

/* ---- the model ---- */

/* Add a part of the model, which must have an arena. Call in this order. Return false if out of memory. */
bool th_human_add_skeleton(th_model *model);
bool th_human_add_mesh(th_model *model);
bool th_human_add_appearances(th_model *model);
bool th_human_add_clips(th_model *model);

#endif
