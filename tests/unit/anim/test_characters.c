/* Characters come, go and change what they play, in any order. A crowd that has lived shows the same bytes as one that
 * is built anew with the same characters, and what they play is what a list says that knows nothing of crowds. */
#include "fixture_crowd.h"
#include "fixture_isa.h"
#include "fixture_memory.h"

#include <anim/exact.h>
#include <runtime/frame.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 4, CAPACITY = 83, LAYERS = 3, MASKS = 2, GONE = 64 };

static th_model *models[MODELS];
static th_compiled_model *compiled[MODELS];
static th_mask masks[MODELS][MASKS];
static th_jobs *jobs;
static uint64_t state;
static th_error err;

/* Where it is in a clip: at position_s at since_s, and so fast. */
typedef struct track {
    uint32_t clip;
    double position_s, speed, since_s;
} track;

/* Of a slot. */
typedef struct person {
    th_character id; /* generation 0: nobody is there */
    uint32_t model, generation, layer_count;
    track own, tracks[LAYERS];
    th_character_layer layers[LAYERS]; /* but for what they play */
} person;

static person people[CAPACITY];
static uint32_t population;
static th_character gone[GONE]; /* the last ones */

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
        random_desc desc = {.seed = m, .joint_count = 3 + 5 * m, .clip_count = 1 + m, .key_count = 9, .swing_rad = 0.2};
        models[m] = random_model(&desc);
        for (uint32_t k = 0; k < MASKS; k++) {
            float *weights = calloc(models[m]->joint_count, sizeof *weights);
            th_mask_from_joint(models[m], k + 1, weights);
            masks[m][k] = (th_mask){"some", weights};
        }
        const th_compiled_model_desc how = {.masks = masks[m], .mask_count = MASKS, .sampling = m == 1};
        compiled[m] = make_compiled_as(models[m], how);
    }
    cr_assert_eq(th_jobs_create(&(th_jobs_desc){.threads = 2}, &jobs, NULL), TH_OK);
}

static void free_models(void)
{
    th_jobs_destroy(jobs);
    for (uint32_t m = 0; m < MODELS; m++) {
        th_compiled_model_destroy(compiled[m]);
        th_model_destroy(models[m]);
        for (uint32_t k = 0; k < MASKS; k++)
            free((float *)masks[m][k].weights);
    }
}

TestSuite(characters, .init = make_models, .fini = free_models);

static th_crowd *make_crowd(uint32_t model_count, uint32_t capacity, th_isa isa, th_format format)
{
    th_crowd *crowd;
    const th_crowd_desc desc = {.compiled_models = (const th_compiled_model *const *)compiled,
                                .compiled_model_count = model_count,
                                .capacity = capacity,
                                .max_layers = LAYERS,
                                .isa = isa,
                                .format = format};
    cr_assert_eq(th_crowd_create(&desc, &crowd, &err), TH_OK, "%s", err.text);
    return crowd;
}

static th_play play_of(const track *t)
{
    return (th_play){.clip = t->clip, .phase_s = t->position_s, .speed = t->speed, .at_s = t->since_s};
}

static track random_track(uint32_t model)
{
    const uint32_t clips = models[model]->clip_count, clip = below(clips + 1);
    return (track){clip < clips ? clip : TH_NO_INDEX, between(-9, 9), below(4) ? between(-2, 2) : 0, between(-20, 20)};
}

/* ---- what the list says ---- */

static double position_at(const track *t, double time_s)
{
    return t->position_s + t->speed * (time_s - t->since_s);
}

/* 0 in the rest pose. */
static double ratio_at(const track *t, uint32_t model, double time_s)
{
    const th_clip *clip = t->clip == TH_NO_INDEX ? NULL : &models[model]->clips[t->clip];
    const double loops = clip ? position_at(t, time_s) / (clip->duration_ticks / clip->ticks_per_second) : 0;
    return loops - floor(loops);
}

/* Layers as of th_exact_layers; without any, the clip alone. Returns how many. */
static uint32_t layers_at(const person *p, double time_s, th_layer out[LAYERS])
{
    for (uint32_t i = 0; i < LAYERS; i++) {
        const track *t = p->layer_count > 0 ? &p->tracks[i] : &p->own;
        const th_character_layer *layer = &p->layers[i];
        const bool follows = p->layer_count > 0 && i > 0 && layer->in_step;
        out[i] = (th_layer){.ratio = ratio_at(follows ? &p->tracks[0] : t, p->model, time_s),
                            .weight = p->layer_count > 0 ? layer->weight : 1,
                            .clip = t->clip == TH_NO_INDEX ? TH_REST_CLIP : (uint16_t)t->clip,
                            .mode = p->layer_count > 0 ? layer->mode : TH_LAYER_OVERRIDE,
                            .mask = p->layer_count > 0 ? layer->mask : TH_NO_MASK};
    }
    return p->layer_count > 0 ? p->layer_count : 1;
}

/* A moment at which no clip begins anew, so that rounding makes no difference. */
static bool is_smooth(const th_layer *layers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (layers[i].clip != TH_REST_CLIP && fabs(layers[i].ratio - 0.5) > 0.5 - 1e-6)
            return false;
    return true;
}

/* The palette is that of the list, in double precision; and so is what the crowd says about layers. */
static void check_pose(const th_crowd *crowd, unsigned char *palettes, const person *p, double time_s)
{
    const th_model *model = models[p->model];
    th_layer layers[LAYERS], said[LAYERS];
    const uint32_t count = layers_at(p, time_s, layers);
    if (!is_smooth(layers, count))
        return;
    cr_assert_eq(th_crowd_layers_at(crowd, p->id.slot, time_s, said), p->layer_count);
    for (uint32_t i = 0; i < p->layer_count; i++) {
        cr_assert_float_eq(said[i].ratio, layers[i].ratio, 1e-8);
        cr_assert(said[i].clip == layers[i].clip && said[i].mode == layers[i].mode && said[i].mask == layers[i].mask);
        cr_assert(!p->layers[i].in_step || said[i].ratio == said[0].ratio || i == 0);
    }
    const crowd_fixture of = {.compiled = compiled[p->model], .crowd = (th_crowd *)crowd, .palette = palettes};
    th_dmat34 *pose = calloc(model->joint_count, sizeof *pose);
    th_exact_layers(model, layers, count, masks[p->model], MASKS, th_compiled_model_interpolation(of.compiled), pose, NULL);
    th_exact_resolve(model, pose, pose);
    const double error = pose_error(&of, p->id.slot, pose),
                 allowed = (1 + 2 * LAYERS) * th_compiled_model_bound(of.compiled);
    cr_assert_leq(error, allowed + 1e-5 * model->size, "slot %u of model %u: off by %g", p->id.slot, p->model, error);
    free(pose);
}

/* ---- the same crowd, built anew ---- */

static const char *palette_of(const th_crowd *crowd, const void *palettes, const th_character_info *info)
{
    const th_palette_range range = th_crowd_palettes(crowd, info->model);
    cr_assert_lt(info->palette, range.count);
    cr_assert_leq(range.offset + range.count * range.stride, th_crowd_palette_bytes(crowd));
    return (const char *)palettes + range.offset + info->palette * range.stride;
}

/* palettes: made for the crowd when nobody was there. */
static void check_crowd(const th_crowd *crowd, th_frame *frame, void *palettes)
{
    const double time_s = between(-50, 50);
    th_crowd *anew = make_crowd(MODELS, CAPACITY, th_crowd_isa(crowd), th_crowd_format(crowd));
    th_character twins[CAPACITY];
    th_character_info one, other;
    th_frame *frame_anew;
    void *expected;
    uint32_t count = 0;
    for (uint32_t k = 0; k < GONE; k++)
        cr_assert_not(th_crowd_get(crowd, gone[k], NULL));
    for (uint32_t i = CAPACITY; i-- > 0;) { /* in another order */
        cr_assert_eq(th_crowd_get(crowd, people[i].id, &one), people[i].id.generation != 0);
        if (people[i].id.generation == 0)
            continue;
        cr_assert(one.model == people[i].model && one.play.clip == people[i].own.clip);
        cr_assert_eq(th_crowd_spawn(anew, one.model, &one.play, &twins[i], &err), TH_OK);
        cr_assert(twins[i].slot == count++ && twins[i].generation == 1);
        cr_assert_eq(th_crowd_set_layers(anew, twins[i], one.layers, one.layer_count, &err), TH_OK);
    }
    cr_assert(count == th_crowd_count(crowd) && count == th_crowd_count(anew));
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = anew, .jobs = jobs}, &frame_anew, &err), TH_OK);
    cr_assert_eq(th_palettes_create(anew, &expected, &err), TH_OK, "%s", err.text);
    th_frame_run(frame, time_s, palettes);
    th_frame_run(frame_anew, time_s, expected);
    for (uint32_t i = 0; i < CAPACITY; i++) {
        if (!th_crowd_get(crowd, people[i].id, &one) || one.palette == TH_NO_INDEX)
            continue;
        th_crowd_get(anew, twins[i], &other);
        cr_assert_arr_eq(palette_of(crowd, palettes, &one), palette_of(anew, expected, &other),
                         th_crowd_palettes(crowd, one.model).stride, "slot %u", i);
        check_pose(crowd, palettes, &people[i], time_s);
    }
    free(expected);
    th_frame_destroy(frame_anew);
    th_crowd_destroy(anew);
}

/* ---- at random ---- */

static void come(th_crowd *crowd)
{
    person p = {.model = below(MODELS)};
    p.own = random_track(p.model);
    const th_play play = play_of(&p.own);
    const th_result result = th_crowd_spawn(crowd, p.model, &play, &p.id, &err);
    cr_assert_eq(result, population < CAPACITY ? TH_OK : TH_ERR_LIMIT);
    if (result != TH_OK) {
        cr_assert_eq(p.id.generation, 0);
        return;
    }
    person *there = &people[p.id.slot];
    cr_assert(there->id.generation == 0 && p.id.generation > there->generation, "an id that somebody had");
    p.generation = p.id.generation;
    *there = p;
    population++;
}

static void go(th_crowd *crowd, person *p)
{
    th_crowd_remove(crowd, p->id, NULL);
    cr_assert_not(th_crowd_get(crowd, p->id, NULL));
    cr_assert_not(th_crowd_get(crowd, (th_character){p->id.slot, p->generation + 1}, NULL), "of whom comes next");
    gone[--population % GONE] = p->id;
    p->id = (th_character){0};
}

static void set_layers(th_crowd *crowd, person *p)
{
    th_character_layer layers[LAYERS];
    p->layer_count = below(LAYERS + 1);
    for (uint32_t i = 0; i < p->layer_count; i++) {
        p->tracks[i] = random_track(p->model);
        p->layers[i] = layers[i] = (th_character_layer){.play = play_of(&p->tracks[i]),
                                                        .weight = (float)between(0, 1),
                                                        .mode = (uint8_t)below(TH_LAYER_MODE_COUNT),
                                                        .mask = below(2) ? TH_NO_MASK : (uint8_t)below(MASKS),
                                                        .in_step = below(2)};
    }
    cr_assert_eq(th_crowd_set_layers(crowd, p->id, layers, p->layer_count, &err), TH_OK, "%s", err.text);
}

/* Some are active, as in a picture that does not show all. */
static void show_some(th_crowd *crowd)
{
    uint32_t shown[CAPACITY], count = 0;
    for (uint32_t i = 0; i < CAPACITY; i++)
        if (people[i].id.generation != 0 && below(2))
            shown[count++] = i;
    th_crowd_set_active(crowd, shown, count);
}

static void change(th_crowd *crowd, person *p)
{
    track *t = p->layer_count > 0 ? &p->tracks[0] : &p->own;
    const double at_s = between(-20, 20);
    switch (below(5)) {
    case 0: {
        p->own = random_track(p->model);
        p->layer_count = 0;
        const th_play play = play_of(&p->own);
        cr_assert_eq(th_crowd_play(crowd, p->id, &play, &err), TH_OK, "%s", err.text);
        break;
    }
    case 1:
        t->position_s = between(-9, 9);
        t->since_s = at_s;
        th_crowd_seek(crowd, p->id, t->position_s, at_s, NULL);
        break;
    case 2:
        t->position_s = position_at(t, at_s);
        t->since_s = at_s;
        t->speed = below(3) ? between(-2, 2) : 0;
        th_crowd_set_speed(crowd, p->id, t->speed, at_s, NULL);
        break;
    default:
        set_layers(crowd, p);
    }
}

/* Nothing allocates but what checks. */
static void live(th_isa isa, th_format format, uint32_t steps)
{
    th_crowd *crowd = make_crowd(MODELS, CAPACITY, isa, format);
    th_frame *frame;
    void *palettes;
    cr_assert_eq(th_palettes_create(crowd, &palettes, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = crowd, .jobs = jobs}, &frame, &err), TH_OK);
    memset(people, 0, sizeof people);
    memset(gone, 0, sizeof gone);
    population = 0;
    size_t before = allocations;
    cr_assert_gt(before, 0, "nobody is counting");
    for (uint32_t step = 0; step < steps; step++) {
        person *p = &people[below(CAPACITY)];
        const bool fills = step / 1000 % 2 == 0;
        if (below(6) < (fills ? 2 : 1))
            come(crowd);
        else if (p->id.generation != 0 && below(6) < (fills ? 1 : 3))
            go(crowd, p);
        else if (p->id.generation != 0)
            change(crowd, p);
        else if (below(8) == 0)
            show_some(crowd);
        if (step % 499 == 0 || step + 1 == steps) {
            cr_assert_eq(allocations, before);
            check_crowd(crowd, frame, palettes);
            before = allocations;
        }
    }
    free(palettes);
    th_frame_destroy(frame);
    th_crowd_destroy(crowd);
}

Test(characters, come_and_go_and_change_what_they_play)
{
    live(TH_ISA_AUTO, TH_FORMAT_F32, 100000);
    for (EACH_ISA(isa))
        for (th_format format = TH_FORMAT_F32; format < TH_FORMAT_COUNT; format++)
            live(isa, format, 5000);
}

/* ---- one by one ---- */

Test(characters, fill_slots_in_order_and_the_crowd_to_its_capacity)
{
    th_crowd *crowd = make_crowd(2, 5, TH_ISA_AUTO, TH_FORMAT_F32);
    const th_play play = {.speed = 1};
    th_character id;
    cr_expect_eq(th_crowd_scatter(crowd, 6, TH_NO_INDEX, 1, NULL, &err), TH_ERR_LIMIT);
    for (uint32_t i = 0; i < 5; i++) {
        cr_assert_eq(th_crowd_count(crowd), i);
        cr_assert_eq(th_crowd_spawn(crowd, i % 2, &play, &id, NULL), TH_OK);
        cr_expect(id.slot == i && id.generation == 1);
    }
    cr_expect_eq(th_crowd_spawn(crowd, 0, &play, NULL, &err), TH_ERR_LIMIT);
    cr_expect_str_eq(err.text, "the crowd has room for 5 characters, of whom 5 are there");
    th_crowd_remove(crowd, (th_character){2, 1}, NULL);
    cr_expect_eq(th_crowd_scatter(crowd, 2, TH_NO_INDEX, 1, NULL, &err), TH_ERR_LIMIT);
    cr_expect_eq(th_crowd_count(crowd), 4);
    cr_expect_eq(th_crowd_spawn(crowd, 1, &play, &id, NULL), TH_OK);
    cr_expect(id.slot == 2 && id.generation == 2);
    th_crowd_destroy(crowd);
}

Test(characters, of_a_list_are_those_at_random)
{
    th_spawn list[CAPACITY];
    th_crowd *crowd = make_crowd(MODELS, CAPACITY, TH_ISA_AUTO, TH_FORMAT_F32);
    th_spawns_scatter((const th_compiled_model *const *)compiled, MODELS, TH_NO_INDEX, 7, list, CAPACITY);
    cr_assert_eq(th_crowd_scatter(crowd, CAPACITY, TH_NO_INDEX, 7, NULL, &err), TH_OK);
    for (uint32_t i = 0; i < CAPACITY; i++) {
        th_character_info info;
        cr_assert(th_crowd_get(crowd, (th_character){i, 1}, &info));
        cr_expect(info.model == list[i].model && info.play.clip == list[i].clip && info.play.at_s == 0);
        cr_expect(info.play.phase_s == list[i].phase_s && info.play.speed == list[i].speed);
        cr_expect_eq(info.palette, i / MODELS);
    }
    th_crowd_destroy(crowd);
}

/* Stretched to nothing at its beginning, of which nothing is a multiple. */
Test(characters, add_no_clip_that_cannot_be_added)
{
    static const double times[] = {0, 1};
    static const float scales[] = {0, 0, 0, 1, 1, 1};
    th_channel *channel = (th_channel *)models[0]->clips[0].channels;
    channel->scale = (th_track){2, times, scales, NULL, false};
    channel->curves = NULL;
    th_crowd *crowd = make_crowd(1, 1, TH_ISA_AUTO, TH_FORMAT_F32);
    cr_assert_eq(th_crowd_scatter(crowd, 1, 0, 1, NULL, &err), TH_OK);
    th_character_layer layer = {.weight = 1, .mask = TH_NO_MASK, .mode = TH_LAYER_ADD};
    cr_expect_eq(th_crowd_set_layers(crowd, (th_character){0, 1}, &layer, 1, &err), TH_ERR_INPUT);
    cr_expect(strstr(err.text, models[0]->clips[0].name), "%s", err.text);
    layer.mode = TH_LAYER_OVERRIDE;
    cr_expect_eq(th_crowd_set_layers(crowd, (th_character){0, 1}, &layer, 1, &err), TH_OK);
    th_crowd_destroy(crowd);
}
