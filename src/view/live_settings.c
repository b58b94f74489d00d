#include "live_settings.h"

#include <core/table.h>
#include <core/text_format.h>

#include <assert.h>
#include <math.h>
#include <string.h>

#define MOST_CHARACTERS 1000000u
#define USUAL_SHADOW    2048u

/* ---- one setting ---- */

static uint32_t clamp(double value, uint32_t most)
{
    return value < 1 ? 1 : value > most ? most : (uint32_t)value;
}

static uint32_t adjust_count(uint32_t count, th_action action)
{
    const double tenth = fmax(1, floor(count / 10.0));
    switch (action) {
    case TH_ACTION_DOUBLE:
        return clamp(2.0 * count, MOST_CHARACTERS);
    case TH_ACTION_HALVE:
        return clamp(count / 2.0, MOST_CHARACTERS);
    case TH_ACTION_MORE:
        return clamp(count + tenth, MOST_CHARACTERS);
    default:
        return clamp(count - tenth, MOST_CHARACTERS);
    }
}

/* Wraps around. */
static uint32_t turn(uint32_t value, bool back, uint32_t count)
{
    return (value + (back ? count - 1 : 1)) % count;
}

/* Skips schedulers that this build lacks. */
static th_scheduler turn_scheduler(th_scheduler scheduler, bool back)
{
    do
        scheduler = (th_scheduler)turn(scheduler, back, TH_SCHEDULER_COUNT);
    while (!th_scheduler_available(scheduler));
    return scheduler;
}

/* ---- clips ---- */

/* Choice 0 is a mix of all clips; then come the clips of all models. */
static uint32_t count_choices(const th_model_set *model_set)
{
    uint32_t count = 1;
    for (uint32_t m = 0; m < model_set->count; m++)
        count += model_set->models[m]->clip_count;
    return count;
}

static const char *name_at(const th_model_set *model_set, uint32_t choice)
{
    uint32_t m = 0, clip = choice - 1;
    for (; clip >= model_set->models[m]->clip_count; m++)
        clip -= model_set->models[m]->clip_count;
    return model_set->models[m]->clips[clip].name;
}

/* The first clip of that name; the mix for NULL or an unknown name. */
static uint32_t choice_of(const th_model_set *model_set, const char *name)
{
    th_model_set chosen = *model_set;
    uint32_t choice = 1;
    if (th_model_set_choose_clip(&chosen, name, NULL) != TH_OK)
        return 0;
    for (uint32_t m = 0; m < model_set->count; choice += model_set->models[m]->clip_count, m++)
        if (chosen.clips[m] < model_set->models[m]->clip_count)
            return choice + chosen.clips[m];
    return 0;
}

/* The next or previous clip, wrapping around. Clips of the same name in several models are one choice. */
static const char *turn_clip(const th_model_set *model_set, const char *played, bool back)
{
    uint32_t choice = choice_of(model_set, played);
    do
        choice = turn(choice, back, count_choices(model_set));
    while (choice > 0 && choice_of(model_set, name_at(model_set, choice)) != choice);
    return choice > 0 ? name_at(model_set, choice) : NULL;
}

/* ---- blends ---- */

#define PACE_STEP   0.1
#define MOST_PACE   100.0
#define WEIGHT_STEP 0.25
#define MOST_WEIGHT 10.0

static double stepped(double value, bool less, double step, double most)
{
    return fmin(fmax((round(value / step) + (less ? -1 : 1)) * step, 0), most);
}

/* The entry of a clip; NULL: there is none. */
static th_blend_clip *find_weight(th_blend *blend, const char *clip)
{
    for (uint32_t c = 0; clip && c < blend->clip_count; c++)
        if (strcmp(blend->clips[c].name, clip) == 0)
            return &blend->clips[c];
    return NULL;
}

/* The clip that is chosen comes first, because there is no room for those of all models. */
static void weigh_all(th_blend *blend, const th_model_set *model_set, const char *clip)
{
    blend->clips[blend->clip_count++] = (th_blend_clip){clip, 1};
    for (uint32_t choice = 1; choice < count_choices(model_set) && blend->clip_count < TH_BLEND_CLIPS; choice++)
        if (!find_weight(blend, name_at(model_set, choice)))
            blend->clips[blend->clip_count++] = (th_blend_clip){name_at(model_set, choice), 1};
}

static double sum_of_weights(const th_blend *blend)
{
    double sum = 0;
    for (uint32_t c = 0; c < blend->clip_count; c++)
        sum += blend->clips[c].weight;
    return sum;
}

static bool change_weight(th_live_settings *s, bool less, const th_model_set *model_set)
{
    th_blend changed = s->crowd.blend;
    const uint32_t choice = choice_of(model_set, s->clip);
    if (choice == 0)
        return false;
    if (changed.clip_count == 0)
        weigh_all(&changed, model_set, name_at(model_set, choice));
    th_blend_clip *entry = find_weight(&changed, name_at(model_set, choice));
    const double before = entry ? entry->weight : 0;
    if (!entry)
        return false;
    entry->weight = stepped(before, less, WEIGHT_STEP, MOST_WEIGHT);
    if (!islessgreater(entry->weight, before) || !(sum_of_weights(&changed) > 0))
        return false;
    s->crowd.blend = changed;
    return true;
}

static bool change_pace(th_blend *blend, bool less)
{
    const double before = blend->pace;
    const bool had_weights = blend->clip_count > 0;
    blend->clip_count = 0;
    blend->pace = stepped(before, less, PACE_STEP, MOST_PACE);
    return had_weights || islessgreater(blend->pace, before);
}

bool th_live_settings_blend(th_live_settings *s, th_action action, const th_model_set *model_set)
{
    if (s->crowd.behaviour != TH_BEHAVIOUR_BLEND)
        return false;
    if (action == TH_ACTION_FASTER_PACE || action == TH_ACTION_SLOWER_PACE)
        return change_pace(&s->crowd.blend, action == TH_ACTION_SLOWER_PACE);
    if (action == TH_ACTION_MORE_WEIGHT || action == TH_ACTION_LESS_WEIGHT)
        return change_weight(s, action == TH_ACTION_LESS_WEIGHT, model_set);
    return false;
}

/* What is blended: the pace, or the weight of the chosen clip. */
static void describe_blend(const th_live_settings *s, char *text, size_t size)
{
    th_blend blend = s->crowd.blend;
    const th_blend_clip *entry = find_weight(&blend, s->clip);
    if (blend.clip_count == 0)
        th_append(text, size, " at %.2g", blend.pace);
    else if (entry)
        th_append(text, size, ", weight %.3g", entry->weight);
}

/* ---- all ---- */

bool th_live_settings_apply(th_live_settings *s, th_action action, const th_model_set *model_set,
                            const th_live_settings *start)
{
    th_crowd_view_desc *crowd = &s->crowd;
    const uint32_t count = crowd->count, threads = crowd->jobs.threads, shadow = start->crowd.shadow_pixels;
    switch (action) {
    case TH_ACTION_MORE:
    case TH_ACTION_FEWER:
    case TH_ACTION_DOUBLE:
    case TH_ACTION_HALVE:
        crowd->count = adjust_count(count, action);
        return crowd->count != count;
    case TH_ACTION_MORE_THREADS:
    case TH_ACTION_FEWER_THREADS:
        crowd->jobs.threads = clamp(threads + (action == TH_ACTION_MORE_THREADS ? 1.0 : -1.0), TH_JOBS_MAX_THREADS);
        return crowd->jobs.threads != threads;
    case TH_ACTION_NEXT_SCHEDULER:
    case TH_ACTION_PREVIOUS_SCHEDULER:
        crowd->jobs.scheduler = turn_scheduler(crowd->jobs.scheduler, action == TH_ACTION_PREVIOUS_SCHEDULER);
        return true;
    case TH_ACTION_PALETTE:
        crowd->palette = (th_palette)turn(crowd->palette, false, TH_PALETTE_COUNT + 1);
        return true;
    case TH_ACTION_NEXT_INTERPOLATION:
    case TH_ACTION_PREVIOUS_INTERPOLATION:
        crowd->compile.interpolation = (th_interpolation)turn(
            crowd->compile.interpolation, action == TH_ACTION_PREVIOUS_INTERPOLATION, TH_INTERPOLATION_COUNT);
        return true;
    case TH_ACTION_NEXT_CLIP:
    case TH_ACTION_PREVIOUS_CLIP:
        s->clip = turn_clip(model_set, s->clip, action == TH_ACTION_PREVIOUS_CLIP);
        return true;
    case TH_ACTION_NEXT_BEHAVIOUR:
    case TH_ACTION_PREVIOUS_BEHAVIOUR:
        crowd->behaviour =
            (th_behaviour_kind)turn(crowd->behaviour, action == TH_ACTION_PREVIOUS_BEHAVIOUR, TH_BEHAVIOUR_KIND_COUNT);
        return true;
    case TH_ACTION_NEXT_LAYOUT:
    case TH_ACTION_PREVIOUS_LAYOUT:
        crowd->layout = (th_layout_kind)turn(crowd->layout, action == TH_ACTION_PREVIOUS_LAYOUT, TH_LAYOUT_COUNT);
        if (crowd->surroundings)
            th_crowd_view_desc_set_scene(crowd, crowd->layout);
        return true;
    case TH_ACTION_NEXT_LOOK:
    case TH_ACTION_PREVIOUS_LOOK:
        crowd->look = (th_look)turn(crowd->look, action == TH_ACTION_PREVIOUS_LOOK, TH_LOOK_COUNT);
        return true;
    case TH_ACTION_SHADOWS:
        crowd->shadow_pixels = crowd->shadow_pixels ? 0 : shadow ? shadow : USUAL_SHADOW;
        return true;
    default:
        return false;
    }
}

/* ---- description ---- */

void th_live_settings_describe(const th_live_settings *s, char *text, size_t size)
{
    assert(text && size > 0);
    const th_crowd_view_desc *crowd = &s->crowd;
    text[0] = '\0';
    th_append(text, size, "%s character%s", th_digits_from(crowd->count).text, th_plural(crowd->count));
    th_append(text, size, ", %u thread%s", crowd->jobs.threads, th_plural(crowd->jobs.threads));
    if (crowd->jobs.scheduler != TH_SCHEDULER_WORK_STEALING)
        th_append(text, size, ", %s", th_scheduler_name(crowd->jobs.scheduler));
    if (crowd->palette != TH_PALETTE_F32 && crowd->palette != TH_PALETTE_AUTO)
        th_append(text, size, ", %s", th_palette_name(crowd->palette));
    if (crowd->compile.interpolation != TH_INTERPOLATION_AUTHORED)
        th_append(text, size, ", %s", th_interpolation_name(crowd->compile.interpolation));
    if (s->clip && strcmp(s->clip, "all") != 0)
        th_append(text, size, ", %s", s->clip);
    if (crowd->behaviour != TH_BEHAVIOUR_NONE)
        th_append(text, size, ", %s", th_behaviour_name(crowd->behaviour));
    if (crowd->behaviour == TH_BEHAVIOUR_BLEND)
        describe_blend(s, text, size);
    if (crowd->layout != TH_LAYOUT_GRID)
        th_append(text, size, ", %s", th_layout_name(crowd->layout));
    if (crowd->look != TH_LOOK_NATURAL)
        th_append(text, size, ", %s", th_look_name(crowd->look));
    if (crowd->shadow_pixels == 0)
        th_append(text, size, ", no shadows");
    if (crowd->joint_lod)
        th_append(text, size, ", joint levels of detail");
    if (crowd->share_hz > 0)
        th_append(text, size, ", poses shared at %g Hz", crowd->share_hz);
    if (crowd->hold > 1)
        th_append(text, size, ", poses held for %u frames", crowd->hold);
}
