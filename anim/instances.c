#include <core/random.h>
#include <throng/anim/crowd.h>

#include <assert.h>

void th_instances_scatter(const th_compiled_model *const *compiled_models, uint32_t compiled_model_count, uint32_t clip,
                          uint64_t seed, th_instance *out, uint32_t count)
{
    assert((out && compiled_models && compiled_model_count > 0) || count == 0);
    for (uint32_t i = 0; i < count; i++) {
        const th_model *model = th_compiled_model_source(compiled_models[i % compiled_model_count]);
        uint64_t own = th_random_bits(seed, i);
        uint32_t pick = clip;
        if (clip == TH_NO_INDEX && model->clip_count > 0)
            pick = (uint32_t)(th_random_unit(own, 0) * model->clip_count);
        out[i] = (th_instance){
            .model = i % compiled_model_count, .clip = TH_NO_INDEX, .speed = 0.9 + 0.2 * th_random_unit(own, 1)};
        if (pick < model->clip_count) {
            const th_clip *played = &model->clips[pick];
            out[i].clip = pick;
            out[i].phase_s = th_random_unit(own, 2) * played->duration_ticks / played->ticks_per_second;
        }
    }
}
