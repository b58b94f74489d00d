/* Where the characters of a crowd stand, and where they have walked to at a given time.
 *
 * Plain data and pure functions, no allocation; any thread, any range. A transform depends on the layout's description,
 * on the instance and on the time, so the same crowd stands the same way on every machine and at every repetition.
 *
 * Scene space: right-handed, Y up, the ground is Y = 0, the middle of the crowd at the origin. A heading turns about Y:
 * 0 leaves a model as it is, looking along +Z as glTF has it; a quarter turn makes it look along +X. */
#ifndef THRONG_RENDER_LAYOUT_H
#define THRONG_RENDER_LAYOUT_H

#include <throng/anim/transform.h>
#include <throng/core/api.h>
#include <throng/core/error.h>

#include <stdbool.h>
#include <stdint.h>

TH_API_BEGIN

typedef enum th_layout_kind {
    TH_LAYOUT_GRID = 0, /* rows and columns, all looking along +Z. They wind outward from the middle: nobody moves
                           when there are more */
    TH_LAYOUT_RING,     /* circles around a free place, all looking at it. Nobody moves when there are more */
    TH_LAYOUT_STREET,   /* lanes along Z, as wide and as long as the number asks for; those on either side keep to
                           their right. Who walks comes in again at one end when he leaves at the other; who does not
                           stands beside the lanes and looks at them. Everyone keeps the speed at which his feet do not
                           slide, so the faster walk through the slower */
    TH_LAYOUT_COUNT,
} th_layout_kind;

/* "grid", "ring", "street"; "unknown" for anything else. */
const char *th_layout_name(th_layout_kind kind);

typedef struct th_sphere {
    float centre[3];
    float radius;
} th_sphere;

/* One way to be there: as a rule a model in one of its clips. Lengths in the model's own units, before `scale`. */
typedef struct th_locomotion {
    th_sphere sphere; /* holds the model while it does this (bounds.h), relative to where it is placed */
    float reach;      /* how far from the Y axis it gets */
    float lowest_y;   /* comes to stand on the ground */
    float scale;      /* scene units in a unit of the model; above 0 */
    float speed;      /* along the ground per second of the clip; 0 stands */
    float facing_rad; /* the direction in which it walks; where it looks, if it stands */
    double loop_s;    /* above 0: the clip itself moves the model, and jumps back after so many seconds of the clip: its
                         duration, to the last bit. 0: it stays in place */
} th_locomotion;

/* One character. */
typedef struct th_instance_motion {
    uint32_t locomotion;
    double phase_s; /* clip seconds at time 0 */
    double speed;   /* clip seconds per second; may be 0 or negative */
} th_instance_motion;

typedef struct th_layout_desc {
    th_layout_kind kind;
    uint64_t seed;
    const th_locomotion *locomotions; /* required; borrowed by the layout, as are the motions */
    uint32_t locomotion_count;
    const th_instance_motion *motions; /* one for each character */
    uint32_t count;                    /* of characters; 0 is fine */
    float spacing;                     /* from one to the next, scene units; 0: so that no two standing ones touch */
    float scale_spread;                /* sizes differ by up to this part, up and down; below 1 */
} th_layout_desc;

typedef struct th_layout {
    th_layout_desc desc; /* with a spacing */
    uint32_t lanes;      /* of a street: an even number */
    float length;        /* of a street */
} th_layout;

typedef struct th_instance_transform {
    float position[3];
    float heading_rad;
    float scale;
} th_instance_transform;

th_layout th_layout_make(const th_layout_desc *desc);

/* Nobody ever moves: placing them once is enough. */
bool th_layout_is_still(const th_layout *layout);

/* Places instances [begin, end): out[0] is that of `begin`. Where the clip itself moves a model, it is placed where
 * that movement begins, a whole loop further each time the clip starts over. */
void th_layout_place(const th_layout *layout, uint32_t begin, uint32_t end, double time_s, th_instance_transform *out);

/* A sphere that holds all characters at all times; of radius above 0. */
th_sphere th_layout_bounds(const th_layout *layout);

/* A sphere that holds a character at a given time, then, if it walks, one at either end of its way. Returns how many.
 */
uint32_t th_layout_reach(const th_layout *layout, uint32_t instance, double time_s, th_sphere out[3]);

/* scene_from_instance: scales, then turns, then moves. */
th_mat34 th_instance_transform_matrix(const th_instance_transform *transform);

TH_API_END

#endif
