/* Where pictures of the crowd are drawn. The server knows no OpenGL, so the program that runs it brings this. */
#ifndef THRONG_SERVE_SNAPSHOT_RENDERER_H
#define THRONG_SERVE_SNAPSHOT_RENDERER_H

#include <throng/anim/crowd.h>
#include <throng/core/api.h>
#include <throng/serve/model_cache.h>

TH_API_BEGIN

/* Who is in the picture. All of it is there until th_studio.clear. */
typedef struct th_studio_cast {
    const th_company *company;
    const th_settings *settings; /* its count is that of the instances */
    const th_instance *instances;
} th_studio_cast;

/* One thread calls: set_up, then shoot any number of times, then clear. */
typedef struct th_studio {
    void *ctx;
    /* TH_ERR_ENVIRONMENT: nothing can be drawn here, and why. After an error there is nothing to clear. */
    th_result (*set_up)(void *ctx, const th_studio_cast *cast, th_error *err);
    /* The crowd as it is at time_s, as the bytes of a PNG, malloc'd. */
    th_result (*shoot)(void *ctx, double time_s, uint32_t width, uint32_t height, unsigned char **out, size_t *out_size,
                       th_error *err);
    void (*clear)(void *ctx); /* gives back all memory, and the context */
} th_studio;

TH_API_END

#endif
