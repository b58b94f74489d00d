#include <throng/crowd.h>

/* The n-th number of a stream: a good hash of a counter needs no state, so instance i depends on i alone (G. Steele,
 * D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, 2014). */
static uint64_t random_bits(uint64_t seed, uint64_t n)
{
    uint64_t x = seed + (n + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* In [0, 1). */
static double random_unit(uint64_t seed, uint64_t n)
{
    return (double)(random_bits(seed, n) >> 11) * 0x1p-53;
}

void th_instances_scatter(const th_rig *const *rigs, uint32_t rig_count, uint32_t clip, uint64_t seed, th_instance *out,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const th_model *model = th_rig_model(rigs[i % rig_count]);
        uint64_t own = random_bits(seed, i);
        uint32_t pick = clip;
        if (clip == TH_NO_INDEX && model->clip_count > 0)
            pick = (uint32_t)(random_unit(own, 0) * model->clip_count);
        out[i] = (th_instance){.rig = i % rig_count, .clip = TH_NO_INDEX, .speed = 0.9 + 0.2 * random_unit(own, 1)};
        if (pick < model->clip_count) {
            const th_clip *played = &model->clips[pick];
            out[i].clip = pick;
            out[i].phase_s = random_unit(own, 2) * played->duration_ticks / played->ticks_per_second;
        }
    }
}
