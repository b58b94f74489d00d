/* Where the characters of a crowd stand, and where they have walked to at a given time.
 *
 * Plain data and pure functions, no allocation; any thread, any range. A transform depends only on the layout's
 * description, the instance and the time, so the same crowd stands the same way on every machine and in every run.
 *
 * Scene space: right-handed, Y up, the ground is Y = 0, the middle of the crowd is the origin. A heading turns about Y.
 * Heading 0 keeps the model's orientation, looking along +Z as in glTF; a quarter turn makes it look along +X. */
#ifndef THRONG_RENDER_LAYOUT_H
#define THRONG_RENDER_LAYOUT_H

#include <anim/bounds.h>
#include <anim/playback.h>
#include <anim/transform.h>
#include <throng/render.h>

/* "grid", "ring", "street", "plaza", "stadium"; "unknown" for anything else. */
const char *th_layout_name(th_layout_kind kind);

typedef struct th_sphere {
    float centre[3];
    float radius;
} th_sphere;

/* One way of moving, usually a model with one of its clips. Lengths are in model units, before `scale`. */
typedef struct th_locomotion {
    th_sphere sphere;                 /* holds the model during the clip (bounds.h), relative to its position */
    th_sphere parts[TH_BOUNDS_PARTS]; /* hold it during each part of the clip; needed if loop_s is above 0 */
    float reach;                      /* largest distance from the Y axis */
    float lowest_y;                   /* this height is placed on the ground */
    float scale;                      /* scene units per model unit; above 0 */
    float speed;                      /* along the ground, per second of the clip; 0: it stands */
    float facing_rad;                 /* the walking direction, or the viewing direction of a standing model */
    double loop_s;   /* above 0: the clip has root motion and jumps back after this many clip seconds, which is exactly
                        its duration. 0: the clip stays in place */
    float deviation; /* above 0: a routine (behaviour.h), whose `speed` is a mean, and how far it strays from it. In a
                        street all who follow routines keep the mean speed of their lane, at a distance at which they do
                        not touch, on ways that weave. Their positions do not include how far they have strayed */
    bool suits_crowds; /* clip_choice.h */
} th_locomotion;

/* One character. */
typedef struct th_instance_motion {
    uint32_t locomotion;
    double phase_s; /* clip time at time 0, seconds */
    double speed;   /* clip seconds per second; may be 0 or negative */
    float stature;  /* a factor for its size, above 0 and at most 1; 0: 1 */
} th_instance_motion;

typedef struct th_layout_desc {
    th_layout_kind kind;
    uint64_t seed;
    const th_locomotion *locomotions; /* required; the layout borrows it and the motions */
    uint32_t locomotion_count;
    const th_instance_motion *motions; /* [count] */
    uint32_t count;                    /* characters; may be 0 */
    float spacing;      /* between neighbours, scene units; 0: the smallest at which standing characters do not touch */
    float looseness;    /* of a grid: how far characters stand from their places, in spacings; they turn, too */
    float scale_spread; /* largest relative difference in size, up and down; below 1 */
} th_layout_desc;

typedef struct th_layout {
    th_layout_desc desc; /* with the spacing resolved */
    uint32_t lanes;      /* of a street; even */
    float length;        /* of a street */
    double lane_width;   /* this and below: of a street, scene units */
    double step;         /* between neighbours in a lane */
    double strayed;      /* how far routines stray */
    double pace;         /* mean speed of routines, before that of the lane; 0: there are none */
} th_layout;

typedef struct th_instance_transform {
    float position[3];
    float heading_rad;
    float scale;
} th_instance_transform;

/* The movement of one character along its lane, as constants. Everything else of its transform never changes. */
typedef struct th_walk {
    double start, rate;   /* Z in lengths of the lane, wrapped to its ends: at time 0; added per second, or per loop */
    th_playback playback; /* of a clip with root motion, which advances by whole loops; otherwise its speed is 0 */
} th_walk;

/* The way of a character with a routine: it turns to either side within its lane, by at most 10 degrees. As
 * a function of the distance walked the way is in closed form, and of that length. */
typedef struct th_weave {
    double wave;        /* radians of a turn to both sides per scene unit walked; 0: the character walks straight */
    double phase;       /* where Z would be 0 if it walked straight */
    double middle;      /* X about which it weaves */
    double heading_rad; /* of its transform, where it walks along the lane */
} th_weave;

th_layout th_layout_make(const th_layout_desc *desc);

/* Nobody has room to walk in such a layout, so clips that stay in place look right. */
bool th_layout_is_for_standing(th_layout_kind kind);

/* Places instances [begin, end); out[0] belongs to `begin`. Only in a street does it depend on time. With root motion
 * in the clip, the transform is that of the clip's start and advances by a whole loop each time the clip starts over.
 */
void th_layout_place(const th_layout *layout, uint32_t begin, uint32_t end, double time_s, th_instance_transform *out);

/* The speed at which an instance has to follow its routine in a street, routine seconds per second, so that it keeps
 * the pace of its lane. Other instances, and other layouts: that of its motion. */
double th_layout_routine_speed(const th_layout *layout, uint32_t instance);

/* The constants of an instance; zeros unless the layout is a street. */
th_walk th_layout_walk(const th_layout *layout, uint32_t instance);

/* The only part of th_layout_place that depends on time, for characters that walk straight: Z of `count` of them, bit
 * for bit. Takes about a nanosecond each, a twentieth of the time. */
void th_layout_walk_to(const th_layout *layout, const th_walk *walks, uint32_t count, double time_s, float *out_z);

/* The constants of the way of an instance; zeros if it walks straight or not at all. */
th_weave th_layout_weave(const th_layout *layout, uint32_t instance);

/* Sets X, Z and heading of a character that weaves, where `z` is Z if it walked straight. */
void th_layout_weave_to(const th_weave *weave, double z, th_instance_transform *out);

/* A sphere that holds all characters at all times; radius above 0. */
th_sphere th_layout_bounds(const th_layout *layout);

/* Of a grid: from its middle to the outermost rows that are full. */
float th_layout_grid_half(const th_layout *layout);

/* Of a plaza: the radius of the area that is free, and of the area with groups. */
float th_layout_plaza_free(const th_layout *layout);
float th_layout_plaza_radius(const th_layout *layout);

/* A sphere around a character at the given time. It holds the whole clip, unless the clip has root motion. */
th_sphere th_layout_sphere(const th_layout *layout, uint32_t instance, double time_s);

/* Spheres that hold a character from time_s on for shown_s, which may be infinite: of a walker, one at each end of its
 * lane. Returns the number of spheres. */
uint32_t th_layout_reach(const th_layout *layout, uint32_t instance, double time_s, double shown_s,
                         th_sphere out[TH_BOUNDS_PARTS]);

/* scene_from_instance: scale, then rotation, then translation. */
th_mat34 th_instance_transform_matrix(const th_instance_transform *transform);

#endif
