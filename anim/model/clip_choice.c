#include <anim/clip_choice.h>
#include <core/suggest.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

uint32_t th_clip_find(const th_model *model, const char *text)
{
    assert(model && text);
    const uint32_t clip = th_model_find_clip(model, text);
    if (clip != TH_NO_INDEX || text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return clip;
    const unsigned long number = strtoul(text, NULL, 10);
    return number < model->clip_count ? (uint32_t)number : TH_NO_INDEX;
}

th_result th_clip_not_found(const char *text, th_model *const *models, uint32_t count, th_error *err)
{
    assert(text && (models || count == 0));
    th_suggestion s = {.typed = text};
    uint32_t clips = 0;
    for (uint32_t m = 0; m < count; m++) {
        clips += models[m]->clip_count;
        for (uint32_t c = 0; c < models[m]->clip_count; c++)
            th_suggestion_consider(&s, models[m]->clips[c].name);
    }
    if (s.best)
        return th_fail(err, TH_ERR_USAGE, "no clip \"%s\"; did you mean \"%s\"?", text, s.best);
    if (clips == 0)
        return th_fail(err, TH_ERR_USAGE, "no clip \"%s\": there is no clip at all", text);
    return th_fail(err, TH_ERR_USAGE, "no clip \"%s\"; `throng inspect` lists a model's clips", text);
}
