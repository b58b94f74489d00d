#include <serve/settings.h>

#include <core/json.h>
#include <core/text_format.h>

#include <assert.h>
#include <math.h>
#include <string.h>

_Static_assert((int)TH_SETTINGS_CLIPS <= (int)TH_BLEND_CLIPS, "a blend has room for all weights");

json_t *th_settings_json(const th_settings *s)
{
    json_t *models = json_array(), *clips = json_object();
    for (uint32_t m = 0; m < s->model_count; m++)
        models = th_json_append(models, th_json_text(s->models[m]));
    for (uint32_t c = 0; c < s->clip_count; c++)
        if (json_object_set_new(clips, s->clips[c].name, json_real(s->clips[c].weight)) != 0) {
            json_decref(clips);
            clips = NULL;
        }
    return json_pack("{s:i, s:i, s:o, s:b, s:o, s:o, s:s, s:s, s:o}", "count", (int)s->count, "threads",
                     (int)s->threads, "rate_hz", th_json_real(s->rate_hz), "paused", s->paused, "models", models,
                     "clips", clips, "interpolation", th_interpolation_name(s->interpolation), "behaviour",
                     th_behaviour_name(s->behaviour), "pace", th_json_real(s->pace));
}

/* ---- a patch ---- */

static th_result read_whole(const char *name, const json_t *value, uint32_t most, uint32_t *out, th_error *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < 1)
        return th_fail(err, TH_ERR_INPUT, "%s is a whole number from 1 to %u", name, most);
    if (json_integer_value(value) > (json_int_t)most)
        return th_fail(err, TH_ERR_LIMIT, "%s is limited to %u here", name, most);
    *out = (uint32_t)json_integer_value(value);
    return TH_OK;
}

static th_result read_name(const char *what, const char *text, char out[TH_SETTINGS_NAME], th_error *err)
{
    const size_t length = text ? strlen(text) : 0;
    if (length == 0 || length >= TH_SETTINGS_NAME)
        return th_fail(err, TH_ERR_INPUT, "a name in %s has 1 to %d bytes", what, TH_SETTINGS_NAME - 1);
    memcpy(out, text, length + 1);
    return TH_OK;
}

/* One of the names of an enum, in its order. */
static th_result read_choice(const char *name, const json_t *value, const char *(*name_of)(uint32_t), uint32_t count,
                             uint32_t *out, th_error *err)
{
    char all[160] = "";
    const char *text = json_string_value(value);
    for (uint32_t i = 0; i < count; i++) {
        if (text && strcmp(text, name_of(i)) == 0) {
            *out = i;
            return TH_OK;
        }
        th_append(all, sizeof all, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", name_of(i));
    }
    return th_fail(err, TH_ERR_INPUT, "%s is %s", name, all);
}

static th_result read_member(th_settings *s, const char *name, json_t *value, const th_limits *limits, th_error *err)
{
    const double number = json_number_value(value);
    th_result result = TH_OK;
    if (strcmp(name, "count") == 0)
        return read_whole(name, value, limits->max_count, &s->count, err);
    if (strcmp(name, "threads") == 0)
        return read_whole(name, value, limits->max_threads, &s->threads, err);
    if (strcmp(name, "models") == 0) {
        const size_t count = json_array_size(value);
        if (count == 0)
            return th_fail(err, TH_ERR_INPUT, "models is an array of at least one name");
        if (count > TH_SETTINGS_MODELS)
            return th_fail(err, TH_ERR_LIMIT, "models are limited to %d", TH_SETTINGS_MODELS);
        for (size_t m = 0; m < count && result == TH_OK; m++) {
            const json_t *model = json_array_get(value, m);
            if (!json_is_string(model))
                return th_fail(err, TH_ERR_INPUT, "models is an array of names");
            result = read_name("models", json_string_value(model), s->models[m], err);
        }
        s->model_count = (uint32_t)count;
        return result;
    }
    if (strcmp(name, "clips") == 0) {
        const char *clip;
        json_t *weight;
        if (!json_is_object(value))
            return th_fail(err, TH_ERR_INPUT, "clips is an object of weights by name; {} mixes all");
        if (json_object_size(value) > TH_SETTINGS_CLIPS)
            return th_fail(err, TH_ERR_LIMIT, "clips are limited to %d", TH_SETTINGS_CLIPS);
        s->clip_count = 0;
        json_object_foreach(value, clip, weight)
        {
            th_clip_weight *entry = &s->clips[s->clip_count];
            result = read_name("clips", clip, entry->name, err);
            if (result != TH_OK)
                return result;
            entry->weight = json_number_value(weight);
            if (!json_is_number(weight) || !(entry->weight >= 0 && entry->weight <= 1e6))
                return th_fail(err, TH_ERR_INPUT, "the weight of clip \"%s\" is a number from 0 to 1000000", clip);
            s->clip_count += entry->weight > 0;
        }
        if (s->clip_count == 0 && json_object_size(value) > 0)
            return th_fail(err, TH_ERR_INPUT, "at least one clip needs a weight above 0");
        return TH_OK;
    }
    if (strcmp(name, "paused") == 0) {
        s->paused = json_is_true(value);
        return json_is_boolean(value) ? TH_OK : th_fail(err, TH_ERR_INPUT, "paused is true or false");
    }
    if (strcmp(name, "rate_hz") == 0) {
        const bool in_range = number >= TH_SETTINGS_MIN_RATE_HZ && number <= TH_SETTINGS_MAX_RATE_HZ;
        s->rate_hz = number;
        if (json_is_number(value) && (number == 0 || in_range))
            return TH_OK;
        return th_fail(err, TH_ERR_INPUT, "rate_hz is a number from %g to %g, or 0 for as fast as possible",
                       TH_SETTINGS_MIN_RATE_HZ, TH_SETTINGS_MAX_RATE_HZ);
    }
    if (strcmp(name, "pace") == 0) {
        s->pace = number;
        if (json_is_number(value) && number >= 0 && number <= TH_SETTINGS_MAX_PACE)
            return TH_OK;
        return th_fail(err, TH_ERR_INPUT, "pace is a number from 0 to %g", TH_SETTINGS_MAX_PACE);
    }
    if (strcmp(name, "interpolation") == 0)
        return read_choice(name, value, th_interpolation_name, TH_INTERPOLATION_COUNT, &s->interpolation, err);
    if (strcmp(name, "behaviour") == 0)
        return read_choice(name, value, th_behaviour_name, TH_BEHAVIOUR_KIND_COUNT, &s->behaviour, err);
    return th_fail(err, TH_ERR_INPUT, "there is no setting \"%.64s\"", name);
}

th_result th_settings_patch(th_settings *settings, const json_t *patch, const th_limits *limits, th_error *err)
{
    assert(settings && patch && limits);
    th_settings patched = *settings;
    const char *name;
    json_t *value;
    if (!json_is_object(patch))
        return th_fail(err, TH_ERR_INPUT, "settings are a JSON object");
    json_object_foreach((json_t *)patch, name, value)
    {
        th_result result = read_member(&patched, name, value, limits, err);
        if (result != TH_OK)
            return result;
    }
    *settings = patched;
    return TH_OK;
}

/* ---- what they mean for the crowd ---- */

static bool same_clips(const th_settings *a, const th_settings *b)
{
    bool same = a->clip_count == b->clip_count;
    for (uint32_t c = 0; same && c < a->clip_count; c++)
        same =
            strcmp(a->clips[c].name, b->clips[c].name) == 0 && !islessgreater(a->clips[c].weight, b->clips[c].weight);
    return same;
}

th_blend th_settings_blend(const th_settings *settings)
{
    assert(settings);
    th_blend blend = {.pace = settings->pace, .clip_count = settings->clip_count};
    for (uint32_t c = 0; c < settings->clip_count; c++)
        blend.clips[c] = (th_blend_clip){settings->clips[c].name, settings->clips[c].weight};
    return blend;
}

bool th_settings_same_blend(const th_settings *a, const th_settings *b)
{
    assert(a && b);
    return same_clips(a, b) && !islessgreater(a->pace, b->pace);
}

bool th_settings_same_crowd(const th_settings *a, const th_settings *b)
{
    bool same = a->count == b->count && a->threads == b->threads && a->interpolation == b->interpolation &&
                a->behaviour == b->behaviour && a->model_count == b->model_count;
    for (uint32_t m = 0; same && m < a->model_count; m++)
        same = strcmp(a->models[m], b->models[m]) == 0;
    return same && (a->behaviour == TH_BEHAVIOUR_BLEND || same_clips(a, b));
}
