/* Renders snapshots of the crowd. The server does not know OpenGL, so the program that runs it provides this. */
#ifndef THRONG_SERVE_SNAPSHOT_RENDERER_H
#define THRONG_SERVE_SNAPSHOT_RENDERER_H

#include <throng/anim/crowd.h>
#include <throng/core/api.h>
#include <throng/serve/model_cache.h>

TH_API_BEGIN

/* The content of a snapshot. Valid until th_snapshot_renderer.clear. */
typedef struct th_snapshot_scene {
    const th_model_cache *model_cache;
    const th_settings *settings; /* with the number of instances as its count */
    const th_instance *instances;
} th_snapshot_scene;

/* One thread calls set_up, then render any number of times, then clear. */
typedef struct th_snapshot_renderer {
    void *ctx;
    /* TH_ERR_ENVIRONMENT: rendering is impossible here; err says why. After an error do not call clear. */
    th_result (*set_up)(void *ctx, const th_snapshot_scene *scene, th_error *err);
    /* Renders the crowd at time_s; returns a PNG, malloc'd. */
    th_result (*render)(void *ctx, double time_s, uint32_t width, uint32_t height, unsigned char **out,
                        size_t *out_size, th_error *err);
    void (*clear)(void *ctx); /* frees all memory and the context */
} th_snapshot_renderer;

TH_API_END

#endif
