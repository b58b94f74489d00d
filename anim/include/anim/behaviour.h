/* Behaviour: what the instances of a crowd play, as a pure function of time.
 *
 * With FADE and GRAPH they play one clip after the other. A model gets TH_ROUTINES routines from a seed. A routine is a
 * closed sequence of clips with transitions between them; an instance follows one of them, from a time of its own on.
 * So nothing depends on the frames before, on threads or on other instances, and any time costs the same.
 *
 * In a transition the weight of the new clip rises from 0 to 1, and that of the old one falls from 1 to 0. Where one of
 * them walks, it is where their poses resemble each other most, and how far it carries the character is measured on the
 * blended poses, so that the foot on the ground stays where it is. Gaits keep their phases in step.
 *
 * With BLEND all play the same blend of clips, each at its own speed and from a phase of its own on. */
#ifndef THRONG_ANIM_BEHAVIOUR_H
#define THRONG_ANIM_BEHAVIOUR_H

#include <anim/crowd.h>
#include <anim/repertoire.h>

typedef enum th_behaviour_kind {
    TH_BEHAVIOUR_NONE = 0, /* each instance plays its own clip */
    TH_BEHAVIOUR_FADE,     /* all clips of the model in random order, in place */
    TH_BEHAVIOUR_GRAPH,    /* its repertoire: stands, walks, changes its gait, gestures. A model that neither stands nor
                              walks in any clip behaves as with NONE */
    TH_BEHAVIOUR_BLEND,    /* everyone the same blend of clips, which may change at any time (th_blend). A model of a
                              single clip behaves as with NONE */
    TH_BEHAVIOUR_KIND_COUNT,
} th_behaviour_kind;

const char *th_behaviour_name(th_behaviour_kind kind); /* "none", "fade", "graph", "blend" */

/* Whether models need a repertoire for it. */
static inline bool th_behaviour_needs_repertoire(th_behaviour_kind kind)
{
    return kind == TH_BEHAVIOUR_GRAPH || kind == TH_BEHAVIOUR_BLEND;
}

/* Length of a cross-fade, in which the old clip runs on; changes of gait take a step instead, as starts and stops do.
 */
#define TH_FADE_S 0.3

/* Weight of the new clip when a part x of the transition has passed: 3 x^2 - 2 x^3, from 0 to 1. */
float th_fade_weight(double part);

/* ---- blend ---- */

#define TH_BLEND_CLIPS 16u

typedef struct th_blend_clip {
    const char *name; /* of a clip; borrowed */
    double weight;    /* 0 or more */
} th_blend_clip;

/* What BLEND plays. Without weights, models that walk blend their gaits, with phases in step, so that their feet move
 * at the pace: the two whose speeds are the next ones; beyond the fastest gait this one plays faster, below the slowest
 * that one plays slower. Below a twentieth of it they blend it with their idle clip. Other models blend all clips
 * equally. With weights, each model blends those of its clips that have one; if there are more than TH_MAX_LAYERS, the
 * largest; if none, it behaves as with NONE. */
typedef struct th_blend {
    double pace; /* over the ground, model units per second; 0 or more */
    th_blend_clip clips[TH_BLEND_CLIPS];
    uint32_t clip_count; /* 0: the pace counts */
} th_blend;

#define TH_DEFAULT_PACE 1.4

/* ---- routines ---- */

#define TH_ROUTINES 64u

typedef struct th_routines_desc {
    const th_compiled_model *compiled; /* required; borrowed; with a repertoire if the kind needs it */
    th_behaviour_kind kind;
    uint64_t seed;
    uint64_t max_bytes; /* 0: no limit */
} th_routines_desc;

/* Immutable: any number of threads may read it. */
typedef struct th_routines th_routines;

/* *out is NULL if there is nothing to choose from: a single clip, or none that stands or walks. Blends the model some
 * hundred times for each pair of clips with a gait. TH_ERR_LIMIT: they might take more than max_bytes; TH_ERR_MEMORY.
 * The caller frees *out with th_routines_destroy. */
th_result th_routines_create(const th_routines_desc *desc, th_routines **out, th_error *err);
void th_routines_destroy(th_routines *routines); /* NULL is allowed */

typedef struct th_routines_extent {
    size_t bytes;
    /* Mean over the ground, the same for all routines: three quarters of the slowest gait, or that gait if no clip
     * stands. Of a blend with gaits 1, per second of th_behaviour_walk_time. 0: they stay in place. */
    double speed;
    double deviation; /* the farthest that one is from where that speed leads; of a blend a hundredth of the size */
} th_routines_extent;

th_routines_extent th_routines_get_extent(const th_routines *routines);

/* ---- behaviour ---- */

#define TH_BEHAVIOUR_LAYERS TH_MAX_LAYERS

/* What instances play at most; at most TH_BEHAVIOUR_LAYERS. */
uint32_t th_behaviour_most_layers(th_behaviour_kind kind);

typedef struct th_behaviour_desc {
    const th_routines *const *routines; /* by compiled model; borrowed; an element may be NULL: as with NONE */
    const th_spawn *instances;          /* not needed after creation; their speeds apply to routines */
    uint32_t instance_count;
    uint64_t seed;
    th_blend blend; /* valid if there are routines of the kind BLEND */
} th_behaviour_desc;

/* Any number of threads may read it. Only th_behaviour_set_blend changes it. */
typedef struct th_behaviour th_behaviour;

/* The only error is TH_ERR_MEMORY. The caller frees *out with th_behaviour_destroy. */
th_result th_behaviour_create(const th_behaviour_desc *desc, th_behaviour **out, th_error *err);
void th_behaviour_destroy(th_behaviour *behaviour); /* NULL is allowed */
size_t th_behaviour_bytes(const th_behaviour *behaviour);

/* Goes over to another blend, from time_s on, in TH_FADE_S. Phases go on: what anybody plays at
 * time_s, and how far anybody has walked by then, stays as it was. A function of all changes and their times, and of
 * nothing else. No thread may read the behaviour meanwhile. Other kinds: does nothing. Never allocates. */
void th_behaviour_set_blend(th_behaviour *behaviour, const th_blend *blend, double time_s);

/* What is carried on of the blend of a model: of this program only, and to be copied as it is. */
typedef struct th_blend_state {
    uint64_t words[48];
} th_blend_state;

/* So that another behaviour plays the same: of the same models, kind and seed. Of a model that blends nothing, saves
 * zeros. Restoring does nothing if the state cannot be one of the model. */
void th_behaviour_save_blend(const th_behaviour *behaviour, uint32_t model, th_blend_state *out);
void th_behaviour_restore_blend(th_behaviour *behaviour, uint32_t model, const th_blend_state *state);

/* The largest number of layers of an instance. */
uint32_t th_behaviour_layer_stride(const th_behaviour *behaviour);

/* What an instance plays. Returns the number of layers; 0: its own clip. Never allocates. */
uint32_t th_behaviour_layers(const th_behaviour *behaviour, uint32_t instance, double time_s,
                             th_layer out[TH_BEHAVIOUR_LAYERS]);

/* How far the instance has walked since a moment of its own, in scene units. */
double th_behaviour_travel(const th_behaviour *behaviour, uint32_t instance, double time_s);

/* The time at which somebody who always keeps the speed of the routines would be where the instance is, but for what it
 * has strayed: time_s, and for a blend the distance that an instance of speed 1 has walked. */
double th_behaviour_walk_time(const th_behaviour *behaviour, uint32_t instance, double time_s);

/* th_behaviour_travel without the mean speed of the routines: how far it is ahead of where that leads. */
double th_behaviour_strayed(const th_behaviour *behaviour, uint32_t instance, double time_s);

#endif
