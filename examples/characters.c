/* characters: one walks, begins to wave, and carries something in its right hand; another comes and goes. */
#include <throng/throng.h>

#include <stdio.h>
#include <stdlib.h>

static th_error err;
static void check(th_result result)
{
    if (result == TH_OK)
        return;
    fprintf(stderr, "characters: %s\n", err.text);
    exit(4);
}

int main(void)
{
    /* What is to be known of a model later is declared here: masks for layers, sockets for what is carried. */
    th_model *model;
    th_compiled_model *compiled;
    check(th_human_create(&model, &err));
    const uint32_t walk = th_model_find_clip(model, "walk"), wave = th_model_find_clip(model, "wave");
    const uint32_t hand = th_model_find_joint(model, "hand_r");
    float *arms = calloc(model->joint_count, sizeof *arms);
    th_mask_from_joint(model, th_model_find_joint(model, "spine_02"), arms);
    const th_compiled_model_desc how = {
        .model = model, .masks = &(th_mask){"arms", arms}, .mask_count = 1, .sockets = &hand, .socket_count = 1};
    check(th_compiled_model_create(&how, &compiled, &err));
    const th_compiled_model *models[] = {compiled};
    th_crowd *crowd;
    const th_crowd_desc room = {.compiled_models = models, .compiled_model_count = 1, .capacity = 100, .max_layers = 2};
    check(th_crowd_create(&room, &crowd, &err));
    th_frame *frame; /* on this thread */
    void *palettes;
    check(th_frame_create(&(th_frame_desc){.crowd = crowd}, &frame, &err));
    check(th_palettes_create(crowd, &palettes, &err));
    th_character one, other;
    check(th_crowd_spawn(crowd, 0, &(th_play){.clip = walk, .speed = 1}, &one, &err));
    for (int f = 0; f < 120; f++) {
        const double now_s = f / 60.0;
        if (f == 30)
            check(th_crowd_spawn(crowd, 0, &(th_play){.clip = walk, .speed = 1.1, .at_s = now_s}, &other, &err));
        if (f == 90)
            check(th_crowd_remove(crowd, other, &err));
        const th_character_layer layers[] = {
            {.play = {.clip = walk, .speed = 1}, .weight = 1, .mask = TH_NO_MASK},
            {.play = {.clip = wave, .speed = 1}, .weight = f < 60 ? (float)f / 60 : 1, .mask = 0}};
        check(th_crowd_set_layers(crowd, one, layers, 2, &err)); /* a cross-fade: other weights in each frame */
        th_frame_run(frame, now_s, palettes);
    }
    const float *at = th_frame_sockets(frame, one); /* a matrix; its last column is the place */
    printf("%u is left, its hand is at %g %g %g\n", th_crowd_count(crowd), (double)at[3], (double)at[7],
           (double)at[11]);
    th_palettes_destroy(palettes);
    th_frame_destroy(frame);
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
    th_model_destroy(model);
    free(arms);
}
