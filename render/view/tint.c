#include "tint.h"

#include <render/render_mesh.h>

#include <assert.h>
#include <math.h>

th_tint th_tint_instance(uint32_t instance)
{
    const uint32_t hash = (instance + 1) * 2654435761u;
    th_tint tint = {{0, 0, 0, 150}};
    for (int k = 0; k < 3; k++)
        tint.rgba[k] = (uint8_t)(200 + (hash >> (8 * k + 4)) % 56);
    return tint;
}

th_tint th_tint_lod(uint32_t lod)
{
    assert(lod < TH_RENDER_MESH_LODS);
    static const th_tint levels[] = {{{255, 255, 255, 255}}, {{255, 240, 150, 255}}, {{250, 205, 60, 255}},
                                     {{240, 130, 40, 255}},  {{220, 50, 50, 255}},   {{185, 40, 125, 255}},
                                     {{115, 45, 165, 255}},  {{45, 75, 195, 255}},   {{30, 120, 120, 255}},
                                     {{20, 40, 50, 255}}};
    _Static_assert(sizeof levels / sizeof *levels == TH_RENDER_MESH_LODS, "a colour for each level");
    return levels[lod];
}

th_tint th_tint_worker(uint32_t worker)
{
    static const th_tint okabe_ito[] = {{{230, 159, 0, 255}},   {{86, 180, 233, 255}}, {{0, 158, 115, 255}},
                                        {{240, 228, 66, 255}},  {{0, 114, 178, 255}},  {{213, 94, 0, 255}},
                                        {{204, 121, 167, 255}}, {{200, 200, 200, 255}}};
    const uint32_t count = sizeof okabe_ito / sizeof *okabe_ito;
    if (worker < count)
        return okabe_ito[worker];
    /* Golden ratio steps around the hue circle, so that near numbers get different hues; alternates light and dark. */
    const uint32_t step = worker - count;
    const double hue = fmod(step * 0.618033988749895, 1), value = step % 2 ? 0.55 : 0.95, saturation = 0.7;
    th_tint tint = {{0, 0, 0, 255}};
    for (int k = 0; k < 3; k++) {
        const double away = fabs(fmod(hue * 6 + 6 - 2 * k, 6) - 3); /* distance from the hue without this channel */
        const double part = fmin(fmax(away - 1, 0), 1);
        tint.rgba[k] = (uint8_t)lrint(255 * value * (1 - saturation + saturation * part));
    }
    return tint;
}

/* An octave from colour to colour. The lightness (L* of CIE 1976) of the colours rises by about 10 a step; the hue
 * leaps from green to yellow at half a pixel. */
th_tint th_tint_error(float px)
{
    static const float first_px = 1 / 32.0F;
    static const th_tint colors[] = {{{45, 10, 80, 255}},    {{55, 45, 130, 255}},   {{45, 90, 150, 255}},
                                     {{20, 130, 140, 255}},  {{50, 165, 90, 255}},   {{250, 190, 40, 255}},
                                     {{255, 220, 100, 255}}, {{255, 240, 180, 255}}, {{255, 255, 255, 255}}};
    const uint32_t last = sizeof colors / sizeof *colors - 1;
    uint32_t step = 0;
    for (float from = first_px; step < last && px >= from; from *= 2)
        step++;
    return colors[step];
}
