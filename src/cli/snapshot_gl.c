#include "snapshot_gl.h"

#include <throng/core/build_checks.h>
#include <throng/render/crowd_view.h>
#include <throng/render/frame_writer.h>

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct th_snapshot_gl {
    th_crowd_view_desc crowd;
    th_target_desc size; /* of the target */
    th_gl *gl;
    th_target *target;
    th_crowd_view *crowd_view;
    uint8_t *pixels;
};

/* Mesa's software renderer would use all CPUs with threads of its own, whose time would count as the crowd's. */
th_result th_snapshot_gl_create(const th_crowd_view_desc *crowd, uint32_t samples, th_snapshot_gl **out, th_error *err)
{
    th_snapshot_gl *p = *out = calloc(1, sizeof *p);
    if (!p)
        return th_fail(err, TH_ERR_MEMORY, "no memory for pictures");
    setenv("LP_NUM_THREADS", "0", 0);
    p->crowd = *crowd;
    p->size.samples = samples;
    return TH_OK;
}

static void clear(void *ctx)
{
    th_snapshot_gl *p = ctx;
    free(p->pixels);
    th_crowd_view_destroy(p->crowd_view);
    th_target_destroy(p->target);
    th_gl_destroy(p->gl);
    p->pixels = NULL;
    p->crowd_view = NULL;
    p->target = NULL;
    p->gl = NULL;
}

/* Drivers compile shaders to machine code, and end the process if memory must not become executable (systemd's
 * MemoryDenyWriteExecute). So this is checked first. */
static th_result may_compile(th_error *err)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    const bool may = mprotect(page, size, PROT_READ | PROT_EXEC) == 0;
    munmap(page, size);
    return may ? TH_OK
               : th_fail(
                     err, TH_ERR_ENVIRONMENT,
                     "memory must not be made executable here, as with systemd's MemoryDenyWriteExecute; drivers of "
                     "OpenGL need that");
}

static th_result set_up(void *ctx, const th_snapshot_scene *crowd, th_error *err)
{
    th_snapshot_gl *p = ctx;
    const th_model_cache *model_cache = crowd->model_cache;
    const th_gl_desc gl = {.want = TH_GL_HEADLESS, .debug = TH_BUILD_CHECKS};
    th_crowd_view_desc *desc = &p->crowd;
    desc->count = crowd->settings->count;
    desc->compile.interpolation = crowd->settings->interpolation;
    desc->model_count = model_cache->count;
    desc->compiled_models = model_cache->compiled_models;
    desc->instances = crowd->instances;
    for (uint32_t m = 0; m < model_cache->count; m++) {
        desc->models[m] = model_cache->models[m];
        desc->clips[m] = TH_NO_INDEX;
    }
    th_result result = may_compile(err);
    if (result == TH_OK)
        result = th_gl_create(&gl, &p->gl, err);
    if (result == TH_OK)
        result = th_crowd_view_create(desc, p->gl, &p->crowd_view, err);
    if (result != TH_OK)
        clear(p);
    return result;
}

static th_result make_target(th_snapshot_gl *p, uint32_t width, uint32_t height, th_error *err)
{
    const th_target_desc size = {width, height, p->size.samples};
    th_result result =
        p->target ? th_target_resize(p->target, width, height, err) : th_target_create(&size, &p->target, err);
    if (result != TH_OK)
        return result;
    p->size = size;
    free(p->pixels);
    p->pixels = malloc(th_target_bytes(p->target));
    return p->pixels ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
}

static th_result render(void *ctx, double time_s, uint32_t width, uint32_t height, unsigned char **out,
                        size_t *out_size, th_error *err)
{
    th_snapshot_gl *p = ctx;
    const bool same = p->size.width == width && p->size.height == height;
    th_result result = same && p->pixels ? TH_OK : make_target(p, width, height, err);
    if (result != TH_OK)
        return result;
    const th_camera camera = th_crowd_view_camera(p->crowd_view, (float)width / (float)height, HUGE_VAL);
    if (!th_crowd_view_frame(p->crowd_view, time_s, &camera, p->target, width, height))
        return th_fail(err, TH_ERR_ENVIRONMENT, "the driver lost the palettes of a picture");
    th_target_resolve(p->target);
    th_target_read(p->target, p->pixels);
    result = th_gl_check(p->gl, "while a picture was drawn", err);
    return result == TH_OK ? th_png_encode(p->pixels, width, height, out, out_size, err) : result;
}

void th_snapshot_gl_destroy(th_snapshot_gl *p)
{
    free(p);
}

th_snapshot_renderer th_snapshot_gl_renderer(th_snapshot_gl *p)
{
    return (th_snapshot_renderer){p, set_up, render, clear};
}
