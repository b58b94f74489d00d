#include "layer_text.h"

#include <cli/option.h>

#include <anim/clip_choice.h>
#include <core/suggest.h>
#include <throng/anim/exact.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the keys say, apart from the clip. */
typedef struct wishes {
    double weight, time_s;
    th_layer_mode mode;
    const char *joint;
} wishes;

static const char *const modes[] = {"override", "add", "add-rest", NULL};
_Static_assert(sizeof modes / sizeof *modes == TH_LAYER_MODE_COUNT + 1, "a name for each mode");

#define PREFIX    "--layer "
#define AT(field) offsetof(wishes, field)

static const th_option keys[] = {
    {.name = "weight", .prefix = PREFIX, .parse = th_parse_real, .offset = AT(weight), .low = 0, .high = 1},
    {.name = "time", .prefix = PREFIX, .parse = th_parse_real, .offset = AT(time_s), .low = -1e9, .high = 1e9},
    {.name = "mode", .prefix = PREFIX, .parse = th_parse_choice, .offset = AT(mode), .choices = modes},
    {.name = "mask", .prefix = PREFIX, .parse = th_parse_text, .offset = AT(joint), .argument = "a joint's name"},
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

/* "weight=0.5" */
static th_result read_key(char *item, wishes *out, th_error *err)
{
    char *equals = strchr(item, '=');
    if (!equals)
        return th_fail(err, TH_ERR_USAGE, PREFIX "takes CLIP,KEY=VALUE,..., not \"%s\" after the clip", item);
    *equals = '\0';
    th_suggestion s = {.typed = item};
    for (int i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, item) == 0) {
            const th_result result = keys[i].parse(&keys[i], equals + 1, (char *)out + keys[i].offset, err);
            const th_error why = *err; /* the parsers do not know that they read an option of a command */
            return result == TH_OK ? TH_OK : th_fail(err, TH_ERR_USAGE, "%s", why.text);
        }
        th_suggestion_consider(&s, keys[i].name);
    }
    if (s.best)
        return th_fail(err, TH_ERR_USAGE, PREFIX "has no key \"%s\"; did you mean %s?", item, s.best);
    return th_fail(err, TH_ERR_USAGE, PREFIX "has no key \"%s\": its keys are weight, time, mode and mask", item);
}

static th_result set_mask(const th_model *model, const char *name, th_layer_list *out, th_error *err)
{
    const uint32_t joint = th_model_find_joint(model, name);
    if (joint == TH_NO_INDEX)
        return th_fail(err, TH_ERR_USAGE, PREFIX "mask: no joint \"%s\"; `throng inspect` lists a model's joints",
                       name);
    float *weights = calloc(model->joint_count, sizeof *weights);
    if (!weights)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a mask of %u joints", model->joint_count);
    th_mask_from_joint(model, joint, weights);
    out->layers[out->count].mask = (uint8_t)out->mask_count;
    out->masks[out->mask_count++] = (th_mask){model->joints[joint].name, weights};
    return TH_OK;
}

static th_result add_layer(const th_model *model, uint32_t clip, const wishes *w, th_layer_list *out, th_error *err)
{
    const uint32_t k = out->count;
    const th_clip *c = &model->clips[clip];
    const char *obstacle = w->mode == TH_LAYER_OVERRIDE ? NULL : th_layer_add_obstacle(model, clip, w->mode);
    if (obstacle)
        return th_fail(err, TH_ERR_INPUT, PREFIX "%s cannot be added: it starts from a scale of 0 at joint %s", c->name,
                       obstacle);
    const double ticks = th_clip_ticks(c, w->time_s);
    out->layers[k] = (th_layer){.ratio = c->duration_ticks > 0 ? ticks / c->duration_ticks : 0,
                                .weight = (float)w->weight,
                                .clip = (uint16_t)clip,
                                .mode = (uint8_t)w->mode,
                                .mask = TH_NO_MASK};
    out->times_s[k] = w->time_s;
    const th_result result = w->joint ? set_mask(model, w->joint, out, err) : TH_OK;
    out->count++;
    return result;
}

static th_result read_layer(const th_model *model, const char *text, double time_s, th_layer_list *out, th_error *err)
{
    char words[512], *next;
    wishes w = {.weight = 1, .time_s = time_s};
    if (snprintf(words, sizeof words, "%s", text) >= (int)sizeof words)
        return th_fail(err, TH_ERR_USAGE, PREFIX "CLIP,KEY=VALUE,... longer than %zu letters", sizeof words - 1);
    if ((next = strchr(words, ',')))
        *next++ = '\0';
    const uint32_t clip = th_clip_find(model, words);
    if (clip == TH_NO_INDEX)
        return th_clip_not_found(words, (th_model *const[]){(th_model *)model}, 1, err);
    th_result result = TH_OK;
    for (char *item = next; item && result == TH_OK; item = next) {
        if ((next = strchr(item, ',')))
            *next++ = '\0';
        result = read_key(item, &w, err);
    }
    return result == TH_OK ? add_layer(model, clip, &w, out, err) : result;
}

th_result th_layer_list_init(const th_model *model, const char *const *texts, uint32_t count, double time_s,
                             th_layer_list *out, th_error *err)
{
    *out = (th_layer_list){.count = 0};
    if (count > TH_MAX_LAYERS)
        return th_fail(err, TH_ERR_USAGE, PREFIX "can be given %u times", TH_MAX_LAYERS);
    th_result result = TH_OK;
    for (uint32_t i = 0; i < count && result == TH_OK; i++)
        result = read_layer(model, texts[i], time_s, out, err);
    return result;
}

void th_layer_list_fini(th_layer_list *list)
{
    for (uint32_t i = 0; i < list->mask_count; i++)
        free((float *)list->masks[i].weights);
}
