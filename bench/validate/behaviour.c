/* Behaviours against what anim/behaviour.h says of them: a routine is drawn, so no second one can be computed, but how
 * its clips run, and how one goes over to another, is the same for all. */
#include <bench/validate.h>

#include <anim/behaviour.h>

#include <math.h>

/* Instances that are followed, how long, and in which steps; what a part of a step may be off. */
enum { FOLLOWED = 16, SAMPLES = 4800 };
#define STEP_S (1 / 240.0)
#define OFF    0.01

/* Weights of single precision are too coarse near 0 and 1, where they hardly change. */
#define LEAST_WEIGHT 0.05F

typedef struct moment {
    th_layer layers[TH_BEHAVIOUR_LAYERS];
    uint32_t count;
} moment;

/* The part of a transition that has passed where the new clip has this weight: th_fade_weight the other way round. */
static double passed_at(float weight)
{
    return 0.5 - sin(asin(1 - 2 * (double)weight) / 3);
}

static bool walks(const th_compiled_model *compiled, uint32_t clip)
{
    const th_repertoire *r = th_compiled_model_repertoire(compiled);
    for (uint32_t g = 0; r && g < r->gait_count; g++)
        if (r->gaits[g].clip == clip)
            return true;
    return false;
}

static bool plays_the_same(const moment *a, const moment *b)
{
    for (uint32_t k = 0; k < a->count && a->count == b->count; k++)
        if (a->layers[k].clip != b->layers[k].clip || a->layers[k].mask != b->layers[k].mask)
            return false;
    return a->count == b->count;
}

static bool cross_fades(const th_compiled_model *compiled, const moment *m)
{
    return m->count == 2 && m->layers[1].mask == TH_NO_MASK && !walks(compiled, m->layers[0].clip) &&
           !walks(compiled, m->layers[1].clip);
}

/* A cross-fade begins and ends with hardly any of the other clip. fading: the moment of the two that has it. */
static bool is_cut(const th_compiled_model *compiled, const moment *fading, const moment *settled)
{
    float stays = 0;
    for (uint32_t k = 0; k < fading->count; k++)
        stays += fading->layers[k].clip == settled->layers[0].clip ? fading->layers[k].weight : 0;
    return settled->count == 1 && cross_fades(compiled, fading) && stays < 1 - LEAST_WEIGHT;
}

/* What is wrong between two moments that are `step_s` of the instance's time apart; NULL: nothing. *fades: counts
 * cross- fades that go on. */
static const char *compare_moments(const th_compiled_model *compiled, const moment *a, const moment *b, double step_s,
                                   bool blends, uint32_t *fades)
{
    const th_model *model = th_compiled_model_source(compiled);
    double sum = 0;
    for (uint32_t k = 0; k < b->count; k++)
        sum += b->layers[k].mask == TH_NO_MASK ? (double)b->layers[k].weight : 0;
    const bool gestures = b->layers[b->count - 1].mask != TH_NO_MASK;
    if (!gestures && !(fabs(sum - 1) < 1e-5))
        return "weights that do not sum to 1";
    if (!plays_the_same(a, b))
        return a->count == 1 && b->count == 1                                  ? "another clip at once"
               : !blends && (is_cut(compiled, a, b) || is_cut(compiled, b, a)) ? "a cross-fade that is cut short"
                                                                               : NULL;
    const bool is_fade = !blends && cross_fades(compiled, b), steps = !blends && !gestures && b->count == 2 && !is_fade;
    for (uint32_t k = 0; k < b->count && !steps && !blends; k++) {
        const th_clip *clip = &model->clips[b->layers[k].clip];
        const double length_s = clip->duration_ticks / clip->ticks_per_second;
        const double by = b->layers[k].ratio - a->layers[k].ratio, ran_s = (by - floor(by)) * length_s;
        if (length_s > 0 && step_s < length_s && fabs(ran_s - step_s) > OFF * step_s)
            return "a clip at another speed";
    }
    if (!is_fade || fminf(a->layers[1].weight, b->layers[1].weight) < LEAST_WEIGHT ||
        fmaxf(a->layers[1].weight, b->layers[1].weight) > 1 - LEAST_WEIGHT)
        return NULL;
    const double passed = passed_at(b->layers[1].weight) - passed_at(a->layers[1].weight);
    ++*fades;
    return fabs(passed * TH_FADE_S - step_s) > OFF * step_s ? "a cross-fade of another length" : NULL;
}

void th_validate_behaviour(const th_scene *scene, th_behaviour_kind kind, double time_s, th_row *row)
{
    uint32_t fades = 0, chosen = 0;
    for (uint32_t n = 0; n < FOLLOWED && scene->instance_count > 0 && !row->failure[0]; n++) {
        const uint32_t i = (uint32_t)(th_draws_next(&row->draws) % scene->instance_count);
        const th_spawn *spawn = &scene->instances[i];
        moment moments[2];
        const char *wrong = NULL;
        for (uint32_t k = 0; k <= SAMPLES && !wrong; k++) {
            moment *now = &moments[k % 2];
            now->count = th_behaviour_layers(scene->behaviour, i, time_s + k * STEP_S / spawn->speed, now->layers);
            if (now->count == 0) /* plays its own clip */
                break;
            chosen += k == 0;
            if (k > 0)
                wrong = compare_moments(scene->compiled_models[spawn->model], &moments[(k + 1) % 2], now, STEP_S,
                                        kind == TH_BEHAVIOUR_BLEND, &fades);
            if (wrong)
                th_row_fail(row, "character %u plays %s at %g s (THRONG_CHECK_SEED=%llu follows the same)", i, wrong,
                            time_s + k * STEP_S / spawn->speed, (unsigned long long)row->draws.seed);
        }
    }
    if (kind == TH_BEHAVIOUR_FADE && chosen > 0 && fades == 0 && !row->failure[0])
        th_row_fail(row, "no character goes over to another clip within %g s", SAMPLES * STEP_S);
}
