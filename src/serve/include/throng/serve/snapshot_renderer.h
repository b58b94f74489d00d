/* Where pictures of the crowd are drawn. The server knows no OpenGL, so the program that runs it brings this. */
#ifndef THRONG_SERVE_SNAPSHOT_RENDERER_H
#define THRONG_SERVE_SNAPSHOT_RENDERER_H

#include <throng/anim/crowd.h>
#include <throng/core/api.h>
#include <throng/serve/model_cache.h>

TH_API_BEGIN

/* Who is in the picture. All of it is there until th_snapshot_renderer.clear. */
typedef struct th_snapshot_scene {
    const th_model_cache *model_cache;
    const th_settings *settings; /* its count is that of the instances */
    const th_instance *instances;
} th_snapshot_scene;

/* One thread calls: set_up, then render any number of times, then clear. */
typedef struct th_snapshot_renderer {
    void *ctx;
    /* TH_ERR_ENVIRONMENT: nothing can be drawn here, and why. After an error there is nothing to clear. */
    th_result (*set_up)(void *ctx, const th_snapshot_scene *scene, th_error *err);
    /* The crowd as it is at time_s, as the bytes of a PNG, malloc'd. */
    th_result (*render)(void *ctx, double time_s, uint32_t width, uint32_t height, unsigned char **out,
                        size_t *out_size, th_error *err);
    void (*clear)(void *ctx); /* gives back all memory, and the context */
} th_snapshot_renderer;

TH_API_END

#endif
