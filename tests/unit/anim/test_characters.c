/* Characters come, go and change what they play, in any order. A crowd that has lived shows the same bytes as one that
 * is built anew with the same characters, whoever is active, and what they play is what a list says that knows nothing
 * of crowds. So do the matrices of their sockets. */
#include "fixture_crowd.h"
#include "fixture_isa.h"
#include "fixture_memory.h"

#include <anim/exact.h>
#include <runtime/frame.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MODELS = 4, BARE = 2 /* has no sockets */, CAPACITY = 500, LAYERS = 3, MASKS = 2, MOST_JOINTS = 18 };

static th_model *models[MODELS];
static th_compiled_model *compiled[MODELS];
static float weights[MODELS][MASKS][MOST_JOINTS];
static th_mask masks[MODELS][MASKS];
static uint64_t state;
static th_error err;

/* Of a slot: who is there, or was. */
typedef struct person {
    th_character id;
    bool is_here, is_posed; /* by a frame, with these sockets */
    th_mat34 sockets[MOST_JOINTS];
    uint32_t model, layer_count;
    th_play own;
    th_character_layer layers[LAYERS];
} person;

static person people[CAPACITY];

typedef struct stage {
    th_crowd *crowd;
    th_frame *frame;
    void *palettes;
} stage;

static double between(double low, double high)
{
    return random_between(&state, low, high);
}

static uint32_t below(uint32_t count)
{
    return (uint32_t)between(0, count);
}

static void make_models(void)
{
    state = 5;
    for (uint32_t m = 0; m < MODELS; m++) {
        models[m] = random_model(
            &(random_desc){.seed = m, .joint_count = 3 + 5 * m, .clip_count = 1 + m, .key_count = 9, .swing_rad = 0.2});
        for (uint32_t k = 0; k < MASKS; k++) {
            th_mask_from_joint(models[m], k + 1, weights[m][k]);
            masks[m][k] = (th_mask){"some", weights[m][k]};
        }
        uint32_t joints[MOST_JOINTS + 1];
        const th_compiled_model_desc how = {.masks = masks[m],
                                            .mask_count = MASKS,
                                            .sampling = m == 1,
                                            .sockets = joints,
                                            .socket_count = m == BARE ? 0 : some_joints(models[m], m, joints)};
        compiled[m] = make_compiled_as(models[m], how);
    }
}

static void free_models(void)
{
    for (uint32_t m = 0; m < MODELS; m++) {
        th_compiled_model_destroy(compiled[m]);
        th_model_destroy(models[m]);
    }
}

TestSuite(characters, .init = make_models, .fini = free_models);

/* A frame and palettes from before anybody comes. */
static stage make_stage(th_isa isa, th_format format)
{
    stage s;
    const th_crowd_desc desc = {.compiled_models = (const th_compiled_model *const *)compiled,
                                .compiled_model_count = MODELS,
                                .capacity = CAPACITY,
                                .max_layers = LAYERS,
                                .isa = isa,
                                .format = format,
                                .writes = (th_writes)below(TH_WRITES_COUNT)};
    cr_assert_eq(th_crowd_create(&desc, &s.crowd, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = s.crowd}, &s.frame, &err), TH_OK);
    cr_assert_eq(th_palettes_create(s.crowd, &s.palettes, &err), TH_OK, "%s", err.text);
    return s;
}

static void free_stage(const stage *s)
{
    th_palettes_destroy(s->palettes);
    th_frame_destroy(s->frame);
    th_crowd_destroy(s->crowd);
}

/* Any number of batches a call. */
static void run(const stage *s, double time_s)
{
    const uint32_t count = th_frame_begin(s->frame, time_s, s->palettes), step = 1 + below(below(2) ? 4 : 99);
    for (uint32_t b = 0; b < count; b += step)
        th_frame_batches(s->frame, b, b + step < count ? b + step : count, 0);
    th_frame_end(s->frame);
}

static double position_at(const th_play *play, double time_s)
{
    return play->phase_s + play->speed * (time_s - play->at_s);
}

/* The palette is that of the list, in double precision; and so is what the crowd says about layers. Not where a clip
 * begins anew, so that rounding makes a difference. */
static void check_pose(const stage *s, const person *p, double time_s)
{
    const th_model *model = models[p->model];
    const th_character_layer alone = {.play = p->own, .weight = 1, .mask = TH_NO_MASK};
    const th_character_layer *list = p->layer_count > 0 ? p->layers : &alone;
    const uint32_t count = p->layer_count > 0 ? p->layer_count : 1;
    th_layer layers[LAYERS], said[LAYERS];
    th_dmat34 pose[MOST_JOINTS];
    cr_assert_eq(th_crowd_layers_at(s->crowd, p->id.slot, time_s, said), p->layer_count);
    for (uint32_t i = 0; i < count; i++) {
        const th_character_layer *l = &list[i];
        const th_play *play = &list[l->in_step ? 0 : i].play;
        const th_clip *clip = play->clip == TH_NO_INDEX ? NULL : &model->clips[play->clip];
        const double ratio = clip ? th_clip_ticks(clip, position_at(play, time_s)) / clip->duration_ticks : 0;
        layers[i] = (th_layer){ratio, l->weight, (uint16_t)l->play.clip, l->mode, l->mask};
        if (clip && fabs(ratio - 0.5) > 0.5 - 1e-6)
            return;
        cr_assert(p->layer_count == 0 || fabs(said[i].ratio - ratio) < 1e-8);
    }
    const float *sockets = th_frame_sockets(s->frame, p->id);
    const size_t before = (size_t)p->id.slot * th_crowd_socket_stride(s->crowd) * 12; /* others' */
    const crowd_fixture of = {.compiled = compiled[p->model],
                              .crowd = s->crowd,
                              .palette = s->palettes,
                              .sockets = sockets ? (float *)sockets - before : NULL};
    th_exact_layers(model, layers, count, masks[p->model], MASKS, th_compiled_model_interpolation(of.compiled), pose,
                    NULL);
    th_exact_resolve(model, pose, pose);
    cr_assert_leq(pose_error(&of, p->id.slot, pose),
                  (1 + 2 * LAYERS) * th_compiled_model_bound(of.compiled) + 1e-5 * model->size);
}

/* They are of the last frame that has posed somebody. anew: the same person's. */
static void check_sockets(const stage *s, person *p, bool is_shown, const float *anew)
{
    const float *sockets = th_frame_sockets(s->frame, p->id);
    uint32_t count;
    th_compiled_model_sockets(compiled[p->model], &count);
    p->is_posed |= is_shown;
    if (is_shown && count > 0)
        memcpy(p->sockets, anew, count * sizeof *p->sockets);
    cr_assert_eq(sockets != NULL, p->is_here && p->is_posed && count > 0);
    if (sockets)
        cr_assert_arr_eq(sockets, p->sockets, count * sizeof *p->sockets);
}

/* The layer that shows one clip as it is; NULL: none. */
static const th_character_layer *alone_of(const th_character_info *info)
{
    const th_character_layer *alone = NULL;
    uint32_t count = 0;
    for (const th_character_layer *l = info->layers; l < info->layers + info->layer_count; l++)
        if (l->weight > 0) {
            alone = l;
            count++;
        }
    const bool is_whole = count == 1 && alone->weight >= 1 && alone->mode == TH_LAYER_OVERRIDE;
    return is_whole && alone->mask == TH_NO_MASK && !alone->in_step ? alone : NULL;
}

/* Against the list, and against the same crowd built anew, where a clip that is shown as it is needs no layers. */
static void check_stage(const stage *s)
{
    const double time_s = between(-50, 50);
    const stage anew = make_stage(th_crowd_isa(s->crowd), th_crowd_format(s->crowd));
    th_character twins[CAPACITY] = {{0}};
    th_character_info info;
    for (uint32_t i = CAPACITY; i-- > 0;) { /* in another order */
        const person *p = &people[i];
        cr_assert_eq(th_crowd_get(s->crowd, p->id, &info), p->is_here);
        cr_assert_not(th_crowd_get(s->crowd, (th_character){i, p->id.generation - 1}, NULL), "who left");
        cr_assert_not(th_crowd_get(s->crowd, (th_character){i, p->id.generation + 1}, NULL), "who comes next");
        if (!p->is_here)
            continue;
        cr_assert(info.model == p->model && info.play.clip == p->own.clip && info.layer_count == p->layer_count);
        const th_character_layer *alone = alone_of(&info);
        const th_play *play = alone ? &alone->play : &info.play;
        cr_assert_eq(th_crowd_spawn(anew.crowd, info.model, play, &twins[i], &err), TH_OK);
        cr_assert_eq(th_crowd_set_layers(anew.crowd, twins[i], info.layers, alone ? 0 : info.layer_count, &err), TH_OK);
    }
    run(s, time_s);
    run(&anew, time_s);
    for (person *p = people; p < people + CAPACITY; p++) {
        const bool is_shown = th_crowd_get(s->crowd, p->id, &info) && info.palette != TH_NO_INDEX;
        check_sockets(s, p, is_shown, th_frame_sockets(anew.frame, twins[p->id.slot]));
        if (!is_shown)
            continue;
        const th_palette_range range = th_crowd_palettes(s->crowd, p->model);
        const size_t at = range.offset + info.palette * range.stride;
        cr_assert(info.palette < range.count && at + range.stride <= th_crowd_palette_bytes(s->crowd));
        cr_assert_eq(at, th_crowd_palette_offset(s->crowd, p->id.slot));
        cr_assert_arr_eq((char *)s->palettes + at,
                         (char *)anew.palettes + th_crowd_palette_offset(anew.crowd, twins[p->id.slot].slot),
                         range.stride);
        check_pose(s, p, time_s);
    }
    cr_assert_eq(th_crowd_count(s->crowd), th_crowd_count(anew.crowd));
    free_stage(&anew);
}

static th_play random_play(uint32_t model)
{
    const uint32_t clips = models[model]->clip_count, clip = below(clips + 1);
    return (th_play){clip < clips ? clip : TH_NO_INDEX, between(-9, 9), below(4) ? between(-2, 2) : 0,
                     between(-20, 20)};
}

static void change(th_crowd *crowd, person *p)
{
    th_play *play = p->layer_count > 0 ? &p->layers[0].play : &p->own;
    const double at_s = between(-20, 20);
    switch (below(5)) {
    case 0:
        p->own = random_play(p->model);
        p->layer_count = 0;
        cr_assert_eq(th_crowd_play(crowd, p->id, &p->own, &err), TH_OK, "%s", err.text);
        break;
    case 1:
        *play = (th_play){play->clip, between(-9, 9), play->speed, at_s};
        th_crowd_seek(crowd, p->id, play->phase_s, at_s, NULL);
        break;
    case 2:
        *play = (th_play){play->clip, position_at(play, at_s), below(3) ? between(-2, 2) : 0, at_s};
        th_crowd_set_speed(crowd, p->id, play->speed, at_s, NULL);
        break;
    default:
        p->layer_count = below(LAYERS + 1);
        for (uint32_t i = 0; i < p->layer_count; i++)
            p->layers[i] = (th_character_layer){.play = random_play(p->model),
                                                .weight = (float)fmin(fmax(between(-0.5, 1.5), 0), 1),
                                                .mode = (uint8_t)below(TH_LAYER_MODE_COUNT),
                                                .mask = below(2) ? TH_NO_MASK : (uint8_t)below(MASKS),
                                                .in_step = below(2)};
        cr_assert_eq(th_crowd_set_layers(crowd, p->id, p->layers, p->layer_count, &err), TH_OK, "%s", err.text);
    }
}

/* Most are of one model, in more batches than are sorted together. */
static void come(th_crowd *crowd)
{
    const uint32_t model = below(3) ? 0 : below(MODELS), count = th_crowd_count(crowd);
    const th_play play = random_play(model);
    const person *other = &people[below(CAPACITY)];
    th_character_info info;
    th_character id;
    cr_assert_eq(th_crowd_spawn(crowd, model, &play, &id, &err), count < CAPACITY ? TH_OK : TH_ERR_LIMIT);
    if (count == CAPACITY)
        return;
    cr_assert(!people[id.slot].is_here && id.generation > people[id.slot].id.generation, "an id that somebody had");
    cr_assert(!th_crowd_get(crowd, other->id, &info) || info.palette != TH_NO_INDEX, "not all are active again");
    people[id.slot] = (person){.id = id, .is_here = true, .model = model, .own = play};
}

/* In any order, as in a picture that does not show all; at once or in parts, the last part first. Palettes lie one
 * model after the other, in that order. */
static void show_some(th_crowd *crowd)
{
    uint32_t shown[CAPACITY] = {0}, sorted[CAPACITY], counts[MODELS] = {0}, count = 0, left = 0;
    const uint32_t part = below(9); /* from nobody to all */
    size_t offset = 0;
    for (uint32_t i = 0; i < CAPACITY; i++) {
        if (!people[i].is_here || below(8) >= part)
            continue;
        const uint32_t at = below(++count);
        shown[count - 1] = shown[at];
        shown[at] = i;
    }
    for (uint32_t m = 0; m < MODELS; m++)
        for (uint32_t k = 0; k < count; k++)
            if (people[shown[k]].model == m) {
                sorted[left++] = shown[k];
                counts[m]++;
            }
    const bool in_parts = below(2);
    if (in_parts)
        th_crowd_set_active_counts(crowd, counts);
    else
        th_crowd_set_active(crowd, shown, count);
    for (uint32_t first; in_parts && left > 0; left = first) {
        first = left > 7 ? left - 7 : 0;
        th_crowd_set_active_range(crowd, first, sorted + first, left - first);
    }
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t model = people[sorted[k]].model;
        const th_palette_range range = th_crowd_palettes(crowd, model);
        cr_assert(range.count == counts[model] && th_crowd_palette_offset(crowd, sorted[k]) == offset);
        offset += range.stride;
    }
}

/* Nothing allocates but what checks. */
static void live(th_isa isa, th_format format, uint32_t steps)
{
    const stage s = make_stage(isa, format);
    memset(people, 0, sizeof people);
    size_t before = allocations;
    cr_assert_gt(before, 0, "nobody is counting");
    for (uint32_t step = 0; step < steps; step++) {
        person *p = &people[below(CAPACITY)];
        const bool fills = step / 4000 % 2 == 0;
        if (below(6) < (fills ? 2 : 1)) {
            come(s.crowd);
        } else if (p->is_here && below(6) < (fills ? 1 : 3)) {
            th_crowd_remove(s.crowd, p->id, NULL);
            p->is_here = false;
        } else if (p->is_here) {
            change(s.crowd, p);
        } else if (below(8) == 0) {
            show_some(s.crowd);
        }
        if (step % 499 == 0 || step + 1 == steps) {
            if (below(2))
                show_some(s.crowd);
            cr_assert_eq(allocations, before);
            check_stage(&s);
            before = allocations;
        }
    }
    free_stage(&s);
}

Test(characters, come_and_go_and_change_what_they_play)
{
    live(TH_ISA_AUTO, TH_FORMAT_F32, 100000);
    for (EACH_ISA(isa))
        for (th_format format = TH_FORMAT_F32; format < TH_FORMAT_COUNT; format++)
            live(isa, format, 5000);
}

/* More of them begin with the same. A clip that a model lacks is its rest pose. */
Test(characters, at_random_are_as_many_as_there_is_room_for)
{
    const stage s = make_stage(TH_ISA_AUTO, TH_FORMAT_F32);
    const th_compiled_model *const *of = (const th_compiled_model *const *)compiled;
    uint32_t clips[MODELS] = {0};
    th_spawn list[10], asked[10];
    th_character_info info;
    th_character ids[CAPACITY], id = {1, 1};
    th_spawns_scatter(of, MODELS, TH_NO_INDEX, 7, list, 10);
    th_spawns_scatter(of, MODELS, 1, 7, asked, 10);
    cr_assert_eq(th_crowd_scatter(s.crowd, CAPACITY, TH_NO_INDEX, 7, ids, &err), TH_OK);
    for (uint32_t i = 0; i < CAPACITY; i++) {
        cr_assert(ids[i].slot == i && th_crowd_get(s.crowd, ids[i], &info));
        cr_expect(info.model == i % MODELS && info.palette == i / MODELS && info.play.at_s == 0);
        cr_expect(info.play.speed >= 0.9 && info.play.speed <= 1.1);
        clips[info.model] |= 1u << info.play.clip;
        if (i >= 10)
            continue;
        cr_expect(list[i].model == info.model && list[i].clip == info.play.clip);
        cr_expect(list[i].phase_s == info.play.phase_s && list[i].speed == info.play.speed);
        cr_expect_eq(asked[i].clip, info.model > 0 ? 1 : TH_NO_INDEX);
    }
    for (uint32_t m = 0; m < MODELS; m++)
        cr_expect_eq(clips[m], (1u << models[m]->clip_count) - 1, "a mix plays every clip");
    cr_expect(th_crowd_spawn(s.crowd, info.model, &info.play, &id, &err) == TH_ERR_LIMIT && id.generation == 0);
    cr_expect_str_eq(err.text, "the crowd has room for 500 characters, of whom 500 are there");
    th_crowd_remove(s.crowd, ids[2], NULL);
    cr_expect_eq(th_crowd_scatter(s.crowd, 2, TH_NO_INDEX, 7, NULL, &err), TH_ERR_LIMIT);
    cr_expect_eq(th_crowd_count(s.crowd), CAPACITY - 1);
    free_stage(&s);
}

/* Stretched to nothing at its beginning, of which nothing is a multiple. */
Test(characters, add_no_clip_that_cannot_be_added)
{
    static const double times[] = {0, 1};
    static const float scales[] = {0, 0, 0, 1, 1, 1};
    ((th_channel *)models[0]->clips[0].channels)->scale = (th_track){2, times, scales, NULL, false};
    const stage s = make_stage(TH_ISA_AUTO, TH_FORMAT_F32);
    cr_assert_eq(th_crowd_scatter(s.crowd, 1, 0, 1, NULL, &err), TH_OK);
    th_character_layer layer = {.weight = 1, .mask = TH_NO_MASK, .mode = TH_LAYER_ADD};
    cr_expect_eq(th_crowd_set_layers(s.crowd, (th_character){0, 1}, &layer, 1, &err), TH_ERR_INPUT);
    cr_expect(strstr(err.text, models[0]->clips[0].name), "%s", err.text);
    layer.mode = TH_LAYER_OVERRIDE;
    cr_expect_eq(th_crowd_set_layers(s.crowd, (th_character){0, 1}, &layer, 1, &err), TH_OK);
    free_stage(&s);
}
