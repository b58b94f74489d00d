/* What a crowd is made of. characters.c sets who plays what, crowd.c who is posed, pose.c computes poses;
 * device_program.c, sharing.c and work.c read it. Private to anim. */
#ifndef TH_ANIM_CROWD_DATA_H
#define TH_ANIM_CROWD_DATA_H

#include "compile/compiled_data.h"

#include <anim/crowd.h>
#include <anim/playback.h>

#include <assert.h>

/* Characters of a batch. The last batch of a model may have up to 15 more, which saves lanes. */
#define BATCH     16u
#define MAX_BATCH (2 * BATCH - 1)

/* What a frame reads of a character. */
typedef struct crowd_character {
    const th_compiled_clip *compiled_clip;
    th_playback playback; /* 0 for a single pose */
} crowd_character;

/* What is kept of a character besides. */
typedef struct crowd_life {
    th_play play;
    uint32_t generation; /* of this or the next character in the slot */
    uint32_t layer_count;
} crowd_life;

/* The active characters of one compiled model. Their batches and palettes are contiguous. */
typedef struct crowd_model {
    const th_compiled_model *compiled;
    uint32_t first, count; /* of th_crowd.active */
    bool plays_exact;      /* some clips play exact */
    uint8_t *obstacles;    /* [clip] to layers: bits by mode; NULL: nobody has layers */
    uint32_t first_batch, batch_count;
    size_t palette_offset, palette_stride, palette_bytes; /* stride: as th_palette_stride */
    size_t scratch_bytes;                                 /* without the palette of a character that plays exact */
} crowd_model;

struct th_crowd {
    th_isa isa;
    th_format format;
    th_writes writes; /* as requested */
    bool streamed;    /* resolved for the active characters */
    bool prefetches;  /* prefetches lines that are not streamed before writing them */
    const th_kernels *kernels;
    th_arena *arena; /* holds all of this */
    crowd_model *models;
    uint32_t model_count;
    crowd_life *lives;          /* [slot], as all that is by instance, which is the slot of a character */
    th_character_layer *layers; /* [slot][max_layers] */
    uint32_t max_layers;
    crowd_character *characters; /* [instance] */
    crowd_character *active;     /* [place] in the order of palettes, so that a batch reads neighbours */
    uint32_t *instance_of;       /* [place] */
    uint32_t *place_of;          /* [instance]; undefined for inactive ones; of free slots: the next free one */
    uint32_t *model_of;          /* [instance] its own; TH_NO_INDEX: the slot is free */
    uint32_t *posed_in;          /* [instance] the model in which it is posed; undefined for inactive ones */
    uint32_t capacity, count;    /* of slots, and of characters */
    uint32_t free_slot, free_count;
    uint32_t active_count, batch_count;
    uint32_t changes;       /* of who is posed where */
    bool is_whole;          /* all characters are active, each in its own model */
    bool is_fixed;          /* nobody is added or removed */
    uint32_t socket_stride; /* most sockets of a model */
    size_t palette_bytes, scratch_bytes;
    size_t largest_stride; /* of palettes */
};

/* Sets the offsets of models whose active characters are counted. */
void th_crowd_place_models(th_crowd *crowd);

/* Poses a character in a model, at a place in the order of palettes. */
void th_crowd_activate(th_crowd *crowd, uint32_t model, uint32_t place, uint32_t slot);

/* Makes a slot the next to be taken, by another generation. */
void th_crowd_leave(th_crowd *crowd, uint32_t slot);

/* Whether a character has a place of its own. */
static inline bool is_active(const th_crowd *crowd, uint32_t slot)
{
    return crowd->place_of[slot] < crowd->active_count && crowd->instance_of[crowd->place_of[slot]] == slot;
}

/* The model's clips, then its rest pose. */
static inline uint32_t clip_count(const crowd_model *model)
{
    return model->compiled->model->clip_count + 1;
}

/* Offset of the palette of the active character at a place. */
static inline size_t palette_offset(const crowd_model *model, uint32_t place)
{
    assert(place - model->first < model->count); /* the instance is active */
    return model->palette_offset + (place - model->first) * model->palette_stride;
}

/* The active characters [first, first + count), of one model. */
typedef struct batch {
    const crowd_model *model;
    uint32_t index; /* among the model's */
    uint32_t first, count;
} batch;

/* model: that of this batch or of an earlier one. */
static inline batch batch_at(const crowd_model *model, uint32_t index)
{
    while (index - model->first_batch >= model->batch_count)
        model++;
    const uint32_t within = index - model->first_batch, before = within * BATCH;
    const bool last = within + 1 == model->batch_count;
    assert(within < model->batch_count && model->count - before >= (last ? 1 : BATCH));
    assert(!last || model->count - before <= MAX_BATCH);
    return (batch){model, within, model->first + before, last ? model->count - before : BATCH};
}

#endif
