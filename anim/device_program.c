/* The words of a program are those of its ops (kernels/pose.h) in the order of the kernel, with two differences.
 *
 * A kernel keeps M of all ops, as it writes palettes row by row. A device has no room for that many, and writes an
 * entry as soon as it is known. So an op lists the entries that are its M, and M is kept only until the last child has
 * read it, in one of a few slots. Ops go depth first: a human takes four slots, a chain of any length one.
 *
 * A device that shares a character's joints out needs them by depth: ops of one level read only those above. Such a
 * device keeps M of all ops, and asks for each entry which result it is. */
#include <anim/device_program.h>

#include "crowd_data.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(th_key_range) == TH_DEVICE_RANGE_WORDS * sizeof(uint32_t), "ranges are copied");

/* What is found out about each op. */
typedef struct op_places {
    uint32_t *last_child; /* 0: none */
    uint32_t *slot_of;    /* NO_SLOT: nobody reads its M later */
    uint32_t *depth;
    uint32_t slot_count, level_count; /* most slots at a time */
} op_places;

/* A last child may take the slot of its parent, which it has read by then. taken: by slot, all false. */
static void find_places(const th_program *program, bool *taken, op_places *p)
{
    for (uint32_t i = 0; i < program->op_count; i++) {
        const uint32_t parent = program->ops[i].parent;
        if (parent != TH_NO_PARENT)
            p->last_child[parent] = i;
        p->depth[i] = parent == TH_NO_PARENT ? 0 : p->depth[parent] + 1;
        p->level_count = p->depth[i] + 1 > p->level_count ? p->depth[i] + 1 : p->level_count;
    }
    for (uint32_t i = 0; i < program->op_count; i++) {
        const uint32_t parent = program->ops[i].parent;
        if (parent != TH_NO_PARENT && p->last_child[parent] == i)
            taken[p->slot_of[parent]] = false;
        p->slot_of[i] = TH_DEVICE_NO_SLOT;
        if (p->last_child[i] == 0)
            continue;
        uint32_t slot = 0;
        while (taken[slot])
            slot++;
        taken[slot] = true;
        p->slot_of[i] = slot;
        p->slot_count = slot + 1 > p->slot_count ? slot + 1 : p->slot_count;
    }
}

/* ---- words ---- */

/* What is written, and where. */
typedef struct writer {
    const th_program *program;
    th_pose_form form;
    const op_places *places;
    uint32_t *words;
    uint32_t product_count, range_count;
    uint32_t products, ranges, outputs, level_words, results; /* at which word they begin */
} writer;

static void put_floats(uint32_t *words, uint32_t at, const float *numbers, size_t count)
{
    memcpy(words + at, numbers, count * sizeof *numbers);
}

static uint32_t *product_words(const writer *w, uint32_t product)
{
    return w->words + w->products + product * TH_DEVICE_PRODUCT_WORDS;
}

/* The range in outputs of a result: M of an op, or a product behind those. */
static uint32_t *output_range(const writer *w, uint32_t result)
{
    const uint32_t ops = w->program->op_count;
    if (result < ops)
        return w->words + TH_DEVICE_HEADER + result * TH_DEVICE_OP_WORDS + TH_DEVICE_OUTPUT;
    return product_words(w, result - ops) + TH_DEVICE_PRODUCT_OUTPUT;
}

static uint32_t result_of(const writer *w, uint32_t entry)
{
    const bool quats = w->form == TH_POSE_QUATS;
    const uint32_t *rows = quats ? w->program->quat->rows : w->program->rows, step = quats ? 2 : 3;
    return rows[step * entry] / TH_ROW_BYTES / step;
}

/* Sorts the palette's entries by the result that they are. */
static void put_outputs(const writer *w)
{
    const uint32_t entries = w->program->entry_count, results = w->program->op_count + w->product_count;
    uint32_t *outputs = w->words + w->outputs, sum = 0;
    for (uint32_t e = 0; e < entries; e++)
        output_range(w, result_of(w, e))[1]++;
    for (uint32_t r = 0; r < results; r++) {
        uint32_t *range = output_range(w, r);
        range[0] = sum;
        sum += range[1];
        range[1] = 0;
    }
    assert(sum == entries);
    for (uint32_t e = 0; e < entries; e++) {
        uint32_t *range = output_range(w, result_of(w, e));
        outputs[range[0] + range[1]++] = e;
        w->words[w->results + e] = result_of(w, e);
    }
}

static void put_levels(const writer *w)
{
    const op_places *p = w->places;
    const uint32_t ops = w->program->op_count;
    uint32_t *begins = w->words + w->level_words, at = w->level_words + p->level_count + 1;
    for (uint32_t i = 0; i < ops; i++)
        begins[p->depth[i]]++;
    for (uint32_t level = 0; level < p->level_count; level++)
        begins[level] = at += begins[level];
    begins[p->level_count] = at;
    for (uint32_t i = ops; i-- > 0;)
        w->words[--begins[p->depth[i]]] = i;
    assert(at == w->results);
}

_Static_assert(sizeof(th_quat_product) == 8 * sizeof(float), "rotation, step and scale follow each other");

static void put_ops(const writer *w)
{
    const th_program *program = w->program;
    const uint32_t key_bytes = (uint32_t)th_keys_bytes(program->keys);
    for (uint32_t i = 0; i < program->op_count; i++) {
        uint32_t *words = w->words + TH_DEVICE_HEADER + i * TH_DEVICE_OP_WORDS;
        const uint32_t parent = program->ops[i].parent;
        if (w->form == TH_POSE_QUATS) {
            const th_quat_op *op = &program->quat->ops[i];
            words[TH_DEVICE_FLAGS] = op->flags;
            words[TH_DEVICE_KEY] = op->key / key_bytes;
            words[TH_DEVICE_TRANSLATION_KEY] = op->translation_key / key_bytes;
            words[TH_DEVICE_PRODUCT] = op->product;
            words[TH_DEVICE_PRODUCT_COUNT] = op->product_count;
            put_floats(words, TH_DEVICE_ROTATION, op->rotation, 4);
            put_floats(words, TH_DEVICE_STEP, op->step, 3);
            put_floats(words, TH_DEVICE_PARENT_SCALE, &op->parent_scale, 1);
            put_floats(words, TH_DEVICE_SCALE, &op->scale, 1);
        } else {
            const th_joint_op *op = &program->ops[i];
            words[TH_DEVICE_FLAGS] = op->flags;
            words[TH_DEVICE_KEY] = op->key / key_bytes;
            words[TH_DEVICE_PRODUCT] = op->product;
            words[TH_DEVICE_PRODUCT_COUNT] = op->product_count;
            put_floats(words, TH_DEVICE_LOCAL, op->local, 12);
            put_floats(words, TH_DEVICE_OFFSET, op->offset, 3);
        }
        words[TH_DEVICE_PARENT_SLOT] = parent == TH_NO_PARENT ? TH_DEVICE_NO_SLOT : w->places->slot_of[parent];
        words[TH_DEVICE_SLOT] = w->places->slot_of[i];
        words[TH_DEVICE_PARENT] = parent == TH_NO_PARENT ? 0 : parent;
        for (uint32_t p = 0; p < words[TH_DEVICE_PRODUCT_COUNT]; p++)
            product_words(w, words[TH_DEVICE_PRODUCT] + p)[TH_DEVICE_PRODUCT_OP] = i;
    }
    for (uint32_t p = 0; p < w->product_count; p++)
        if (w->form == TH_POSE_QUATS)
            put_floats(product_words(w, p), TH_DEVICE_PRODUCT_NUMBERS, program->quat->products[p].rotation, 8);
        else
            put_floats(product_words(w, p), TH_DEVICE_PRODUCT_NUMBERS, program->products[p], 12);
}

static bool put_words(const th_program *program, th_pose_form form, const op_places *places, th_device_program *out)
{
    writer w = {.program = program, .form = form, .places = places};
    const size_t key_bytes = th_keys_bytes(program->keys);
    w.product_count = form == TH_POSE_QUATS ? program->quat->product_count : program->product_count;
    w.range_count = program->keys == TH_KEYS_16 ? (uint32_t)(program->frame_bytes / key_bytes) : 0;
    w.products = TH_DEVICE_HEADER + program->op_count * TH_DEVICE_OP_WORDS;
    w.ranges = w.products + w.product_count * TH_DEVICE_PRODUCT_WORDS;
    w.outputs = w.ranges + w.range_count * TH_DEVICE_RANGE_WORDS;
    w.level_words = w.outputs + program->entry_count;
    w.results = w.level_words + places->level_count + 1 + program->op_count;
    out->word_count = (size_t)w.results + program->entry_count;
    out->words = w.words = calloc(out->word_count, sizeof *out->words);
    if (!w.words)
        return false;
    w.words[TH_DEVICE_OP_COUNT] = program->op_count;
    w.words[TH_DEVICE_FRAME_KEYS] = (uint32_t)(program->frame_bytes / key_bytes);
    w.words[TH_DEVICE_ENTRY_COUNT] = program->entry_count;
    w.words[TH_DEVICE_PRODUCTS] = w.products;
    w.words[TH_DEVICE_RANGES] = w.ranges;
    w.words[TH_DEVICE_OUTPUTS] = w.outputs;
    w.words[TH_DEVICE_LEVEL_COUNT] = places->level_count;
    w.words[TH_DEVICE_LEVELS] = w.level_words;
    w.words[TH_DEVICE_RESULTS] = w.results;
    if (form == TH_POSE_QUATS)
        put_floats(w.words, TH_DEVICE_PLACE_STEPS, &program->quat->steps, 1);
    put_ops(&w);
    put_outputs(&w);
    put_levels(&w);
    if (w.range_count > 0)
        memcpy(w.words + w.ranges, program->ranges, w.range_count * sizeof *program->ranges);
    return true;
}

/* ---- frames ---- */

static size_t clip_bytes(const th_compiled_model *compiled, const th_compiled_clip *clip)
{
    return clip->keys ? th_frames_count(&compiled->program, clip->interval_count) * compiled->program.frame_bytes : 0;
}

static bool copy_frames(const th_compiled_model *compiled, th_device_program *out)
{
    out->frame_bytes = compiled->program.frame_bytes;
    for (uint32_t c = 0; c <= compiled->model->clip_count; c++)
        out->frames_bytes += clip_bytes(compiled, &compiled->compiled_clips[c]);
    char *to = out->frames = malloc(out->frames_bytes + 1);
    for (uint32_t c = 0; to && c <= compiled->model->clip_count; c++) {
        const th_compiled_clip *clip = &compiled->compiled_clips[c];
        const size_t bytes = clip_bytes(compiled, clip);
        assert(to == (char *)out->frames + clip->first_frame * out->frame_bytes);
        if (bytes > 0)
            memcpy(to, clip->keys, bytes);
        to += bytes;
    }
    return to != NULL;
}

th_result th_device_program_init(const th_compiled_model *compiled, th_format palette, th_device_program *out,
                                 th_error *err)
{
    assert(compiled && out && (unsigned)palette < TH_FORMAT_COUNT);
    assert(!th_compiled_model_obstacle(compiled, palette));
    const th_program *program = &compiled->program;
    *out = (th_device_program){.keys = program->keys, .curve = program->curve};
    const size_t ops = program->op_count;
    th_arena *arena = th_arena_create();
    op_places places = {.last_child = th_arena_new(arena, uint32_t, ops),
                        .slot_of = th_arena_new(arena, uint32_t, ops),
                        .depth = th_arena_new(arena, uint32_t, ops)};
    bool *taken = th_arena_new(arena, bool, ops), ok = !th_arena_failed(arena);
    if (ok)
        find_places(program, taken, &places);
    ok = ok && put_words(program, th_pose_form_of(palette), &places, out) && copy_frames(compiled, out);
    out->slot_count = places.slot_count > 0 ? places.slot_count : 1;
    out->op_count = program->op_count > 0 ? program->op_count : 1;
    th_arena_destroy(arena);
    if (ok)
        return TH_OK;
    th_device_program_fini(out);
    return th_fail(err, TH_ERR_MEMORY, "%s: out of memory for a copy of its clips", compiled->model->name);
}

void th_device_program_fini(th_device_program *program)
{
    free(program->words);
    free(program->frames);
    *program = (th_device_program){0};
}

/* ---- crowds ---- */

void th_crowd_cursors(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, th_device_cursor *out)
{
    assert(crowd && begin <= end && end <= crowd->batch_count && (out || begin == end));
    batch b = {.model = crowd->models};
    for (uint32_t k = begin; k < end; k++) {
        b = batch_at(b.model, k);
        for (uint32_t i = b.first; i < b.first + b.count; i++) {
            const crowd_character *character = &crowd->active[i];
            th_device_cursor cursor;
            cursor.frame = character->compiled_clip->first_frame +
                           th_compiled_clip_interval(character->compiled_clip,
                                                     th_playback_ratio(character->playback, time_s), &cursor.alpha);
            out[i] = cursor; /* one whole store: the memory may be write-combined */
        }
    }
}

_Static_assert(sizeof(th_device_stretch) == sizeof(th_stretch) && TH_DEVICE_STRETCHES == TH_MAX_STRETCHES,
               "stretches are copied");

uint32_t th_crowd_device_clip_count(const th_crowd *crowd)
{
    assert(crowd);
    uint32_t count = 0;
    for (uint32_t m = 0; m < crowd->model_count; m++)
        count += clip_count(&crowd->models[m]);
    return count;
}

void th_crowd_device_clips(const th_crowd *crowd, th_device_clip *out)
{
    assert(crowd && (out || crowd->model_count == 0));
    for (uint32_t m = 0; m < crowd->model_count; m++)
        for (uint32_t c = 0; c < clip_count(&crowd->models[m]); c++) {
            const th_compiled_clip *clip = &crowd->models[m].compiled->compiled_clips[c];
            *out = (th_device_clip){
                .first_frame = clip->first_frame, .is_stepped = clip->is_stepped, .seeks_stretch = clip->seeks_stretch};
            memcpy(out++->stretches, clip->stretches, sizeof clip->stretches);
        }
}

void th_crowd_device_playbacks(const th_crowd *crowd, th_device_playback *out)
{
    assert(crowd && (out || crowd->capacity == 0));
    for (uint32_t i = 0; i < crowd->capacity; i++) {
        if (crowd->model_of[i] == TH_NO_INDEX)
            continue;
        const crowd_character *character = &crowd->characters[i];
        const crowd_model *own = &crowd->models[crowd->model_of[i]];
        uint32_t clip = (uint32_t)(character->compiled_clip - own->compiled->compiled_clips);
        for (const crowd_model *model = crowd->models; model < own; model++)
            clip += clip_count(model);
        out[i] = (th_device_playback){character->playback.phase, character->playback.speed, clip, 0};
    }
}

/* Of the clips of a model only those count that are played by an instance which may be posed in it. */
th_result th_crowd_check_device(const th_crowd *crowd, const uint32_t *of, th_error *err)
{
    assert(crowd);
    for (uint32_t m = 0; m < crowd->model_count; m++) {
        const th_compiled_model *compiled = crowd->models[m].compiled;
        const uint32_t own = of ? of[m] : m;
        assert(own < crowd->model_count && clip_count(&crowd->models[own]) == clip_count(&crowd->models[m]));
        for (uint32_t i = 0; crowd->models[m].plays_exact && i < crowd->capacity; i++) {
            const th_compiled_clip *clips = crowd->models[own].compiled->compiled_clips;
            if (crowd->model_of[i] != own)
                continue;
            const th_compiled_clip *clip = &compiled->compiled_clips[crowd->characters[i].compiled_clip - clips];
            if (!clip->keys)
                return th_fail(err, TH_ERR_INPUT, "%s plays %s from its authored keys", compiled->model->name,
                               clip->clip ? clip->clip->name : "its rest pose");
        }
    }
    return TH_OK;
}
