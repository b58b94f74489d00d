#include "live_settings.h"

#include <core/text_format.h>

#include <assert.h>
#include <math.h>
#include <string.h>

#define MOST_CHARACTERS 1000000u
#define USUAL_SHADOW    2048u

static uint32_t clamp(double value, uint32_t most)
{
    return value < 1 ? 1 : value > most ? most : (uint32_t)value;
}

/* Wraps around. */
static uint32_t turn(uint32_t value, bool back, uint32_t count)
{
    return (value + (back ? count - 1 : 1)) % count;
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

/* Changes the weight of the clip that is chosen; the sum of all stays above 0. */
static bool change_weight(th_live_settings *s, bool less, const th_model_set *model_set)
{
    th_blend changed = s->behaviour.blend;
    const uint32_t chosen = choice_of(model_set, s->clip);
    if (chosen == 0)
        return false;
    /* The weights of all clips are 1 at first. That of the chosen one comes first, because there is no room for those
     * of all models. */
    for (uint32_t c = 0; s->behaviour.blend.clip_count == 0 && c < count_choices(model_set); c++) {
        const char *name = name_at(model_set, c > 0 ? c : chosen);
        if (changed.clip_count < TH_BLEND_CLIPS && !find_weight(&changed, name))
            changed.clips[changed.clip_count++] = (th_blend_clip){name, 1};
    }
    th_blend_clip *entry = find_weight(&changed, name_at(model_set, chosen));
    if (!entry)
        return false;
    const double before = entry->weight;
    double sum = 0;
    entry->weight = stepped(before, less, WEIGHT_STEP, MOST_WEIGHT);
    for (uint32_t c = 0; c < changed.clip_count; c++)
        sum += changed.clips[c].weight;
    if (!islessgreater(entry->weight, before) || !(sum > 0))
        return false;
    s->behaviour.blend = changed;
    return true;
}

bool th_live_settings_blend(th_live_settings *s, th_action action, const th_model_set *model_set)
{
    th_blend *blend = &s->behaviour.blend;
    const bool less = action >= TH_ACTION_BACK, had_weights = blend->clip_count > 0;
    if (s->behaviour.kind != TH_BEHAVIOUR_BLEND)
        return false;
    if (action % TH_ACTION_BACK == TH_ACTION_WEIGHT)
        return change_weight(s, less, model_set);
    if (action % TH_ACTION_BACK != TH_ACTION_PACE)
        return false;
    const double before = blend->pace;
    blend->clip_count = 0;
    blend->pace = stepped(before, less, PACE_STEP, MOST_PACE);
    return had_weights || islessgreater(blend->pace, before);
}

/* ---- all ---- */

bool th_live_settings_apply(th_live_settings *s, th_action action, const th_model_set *model_set,
                            const th_live_settings *start)
{
    th_crowd_view_desc *crowd = &s->crowd;
    const uint32_t count = crowd->count, threads = crowd->jobs.threads, shadow = start->crowd.shadow_pixels;
    const bool back = action >= TH_ACTION_BACK;
    uint32_t choice;
    switch (action % TH_ACTION_BACK) {
    case TH_ACTION_MORE:
        crowd->count = clamp(count + (back ? -1 : 1) * fmax(1, floor(count / 10.0)), MOST_CHARACTERS);
        return crowd->count != count;
    case TH_ACTION_DOUBLE:
        crowd->count = clamp(back ? count / 2.0 : 2.0 * count, MOST_CHARACTERS);
        return crowd->count != count;
    case TH_ACTION_THREADS:
        crowd->jobs.threads = clamp(threads + (back ? -1.0 : 1.0), TH_JOBS_MAX_THREADS);
        return crowd->jobs.threads != threads;
    case TH_ACTION_SCHEDULER:
        do /* skips those that this build lacks */
            crowd->jobs.scheduler = (th_scheduler)turn(crowd->jobs.scheduler, back, TH_SCHEDULER_COUNT);
        while (!th_scheduler_available(crowd->jobs.scheduler));
        return true;
    case TH_ACTION_PALETTE:
        crowd->palette = (th_format)turn(crowd->palette, false, TH_FORMAT_COUNT + 1);
        return true;
    case TH_ACTION_INTERPOLATION:
        crowd->compile.interpolation =
            (th_interpolation)turn(crowd->compile.interpolation, back, TH_INTERPOLATION_COUNT);
        return true;
    case TH_ACTION_CLIP: /* clips of the same name in several models are one choice */
        choice = choice_of(model_set, s->clip);
        do
            choice = turn(choice, back, count_choices(model_set));
        while (choice > 0 && choice_of(model_set, name_at(model_set, choice)) != choice);
        s->clip = choice > 0 ? name_at(model_set, choice) : NULL;
        return true;
    case TH_ACTION_BEHAVIOUR:
        s->behaviour.kind = (th_behaviour_kind)turn(s->behaviour.kind, back, TH_BEHAVIOUR_KIND_COUNT);
        return true;
    case TH_ACTION_LAYOUT:
        crowd->layout = (th_layout_kind)turn(crowd->layout, back, TH_LAYOUT_COUNT);
        if (crowd->surroundings)
            th_crowd_view_desc_set_scene(crowd, crowd->layout);
        return true;
    case TH_ACTION_LOOK:
        crowd->look = (th_look)turn(crowd->look, back, TH_LOOK_COUNT);
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
    th_blend blend = s->behaviour.blend;
    const th_blend_clip *entry = find_weight(&blend, s->clip);
    text[0] = '\0';
    th_append(text, size, "%s character%s", th_digits_from(crowd->count).text, th_plural(crowd->count));
    th_append(text, size, ", %u thread%s", crowd->jobs.threads, th_plural(crowd->jobs.threads));
    if (crowd->jobs.scheduler != TH_SCHEDULER_WORK_STEALING)
        th_append(text, size, ", %s", th_scheduler_name(crowd->jobs.scheduler));
    if (crowd->palette != TH_FORMAT_F32 && crowd->palette != TH_FORMAT_AUTO)
        th_append(text, size, ", %s", th_format_name(crowd->palette));
    if (crowd->compile.interpolation != TH_INTERPOLATION_AUTHORED)
        th_append(text, size, ", %s", th_interpolation_name(crowd->compile.interpolation));
    if (s->clip && strcmp(s->clip, "all") != 0)
        th_append(text, size, ", %s", s->clip);
    if (s->behaviour.kind != TH_BEHAVIOUR_NONE)
        th_append(text, size, ", %s", th_behaviour_name(s->behaviour.kind));
    if (s->behaviour.kind == TH_BEHAVIOUR_BLEND && blend.clip_count == 0)
        th_append(text, size, " at %.2g", blend.pace);
    else if (s->behaviour.kind == TH_BEHAVIOUR_BLEND && entry)
        th_append(text, size, ", weight %.3g", entry->weight);
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
