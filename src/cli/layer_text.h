/* Parses --layer CLIP[,KEY=VALUE]...: what `throng pose` blends. */
#ifndef TH_CLI_LAYER_TEXT_H
#define TH_CLI_LAYER_TEXT_H

#include <throng/anim/layer.h>

/* Up to TH_MAX_LAYERS layers and their masks. A mask has the name of its first joint. */
typedef struct th_layer_list {
    th_layer layers[TH_MAX_LAYERS];
    double times_s[TH_MAX_LAYERS];
    th_mask masks[TH_MAX_LAYERS];
    uint32_t count, mask_count;
} th_layer_list;

/* texts: count of them. time_s: of layers that name no time. On failure err names the layer, the key and what it takes.
 * The caller frees *out with th_layer_list_fini, even then. */
th_result th_layer_list_init(const th_model *model, const char *const *texts, uint32_t count, double time_s,
                             th_layer_list *out, th_error *err);
void th_layer_list_fini(th_layer_list *list);

#endif
