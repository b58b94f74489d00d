/* Frames that the GPU poses: their pictures, what they ask of OpenGL, and when the CPU poses after all. */
#include "fixture_context.h"
#include "fixture_human.h"
#include "fixture_memory.h"

#include <criterion/criterion.h>
#include <glad/gl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <throng/render/crowd_view.h>

TestSuite(gpu_crowd_view, .init = make_human, .fini = free_human);

enum { WIDTH = 160, HEIGHT = 90 };

/* By the linker's --wrap: a renderer of software that passes for a GPU's. */
static bool pretend_hardware;

const th_gl_info *__real_th_gl_get_info(const th_gl *gl);
const th_gl_info *__wrap_th_gl_get_info(const th_gl *gl);

const th_gl_info *__wrap_th_gl_get_info(const th_gl *gl)
{
    static th_gl_info info;
    info = *__real_th_gl_get_info(gl);
    info.software &= !pretend_hardware;
    return &info;
}

static th_crowd_view_desc desc_of(th_evaluator evaluator)
{
    return (th_crowd_view_desc){
        .models = {human},
        .clips = {TH_NO_INDEX},
        .model_count = 1,
        .count = 60,
        .seed = 1,
        .layout = TH_LAYOUT_STREET,
        .fade = {.duration_s = 0.3},
        .isa = TH_ISA_SCALAR,
        .jobs = {.threads = 2},
        .shadow_pixels = 128,
        .evaluator = evaluator,
        .yaw_deg = 25,
        .pitch_deg = 18,
        .zoom = 1,
    };
}

static th_crowd_view *create(th_gl *gl, const th_crowd_view_desc *desc)
{
    th_crowd_view *crowd_view;
    th_error err;
    cr_assert_eq(th_crowd_view_create(desc, gl, &crowd_view, &err), TH_OK, "%s", err.text);
    return crowd_view;
}

static th_target *make_target(void)
{
    th_target *target;
    th_error err;
    const th_target_desc desc = {.width = WIDTH, .height = HEIGHT, .samples = 4};
    cr_assert_eq(th_target_create(&desc, &target, &err), TH_OK, "%s", err.text);
    return target;
}

static void draw(th_crowd_view *crowd_view, const th_target *target, int frame)
{
    const th_camera camera = th_crowd_view_camera(crowd_view, (float)WIDTH / HEIGHT, HUGE_VAL);
    cr_expect(th_crowd_view_frame(crowd_view, frame / 7.0, &camera, target, WIDTH, HEIGHT));
}

/* ---- pictures ---- */

static void shoot(th_gl *gl, const th_crowd_view_desc *desc, uint8_t *rgba)
{
    th_crowd_view *crowd_view = create(gl, desc);
    th_target *target = make_target();
    for (int frame = 0; frame < 2 * TH_RING_SLOTS; frame++)
        draw(crowd_view, target, frame);
    cr_expect_eq(th_crowd_view_evaluator(crowd_view), desc->evaluator);
    th_target_resolve(target);
    th_target_read(target, rgba);
    th_target_destroy(target);
    th_crowd_view_destroy(crowd_view);
}

/* The ways in which a palette gets from the shader that poses to those that draw. */
Test(gpu_crowd_view, draws_the_pictures_of_the_scalar_kernel)
{
    static uint8_t by_cpu[4 * WIDTH * HEIGHT], by_gpu[4 * WIDTH * HEIGHT];
    th_gl *gl = open_llvmpipe();
    for (int way = 0; way < 4 * TH_PALETTE_COUNT; way++) {
        th_crowd_view_desc desc = desc_of(TH_EVALUATOR_CPU);
        desc.palette = (th_palette)(way / 4);
        desc.fetch = way & 1 ? TH_FETCH_STORAGE : TH_FETCH_TEXTURE;
        desc.upload = way & 2 ? TH_RING_PERSISTENT : TH_RING_UNSYNCHRONIZED;
        shoot(gl, &desc, by_cpu);
        desc.evaluator = TH_EVALUATOR_GPU;
        shoot(gl, &desc, by_gpu);
        cr_expect_eq(memcmp(by_cpu, by_gpu, sizeof by_cpu), 0, "way %d", way);
    }
    th_crowd_view_desc desc = desc_of(TH_EVALUATOR_CPU);
    desc.share_hz = 10;
    shoot(gl, &desc, by_cpu);
    desc.evaluator = TH_EVALUATOR_GPU;
    shoot(gl, &desc, by_gpu);
    cr_expect_eq(memcmp(by_cpu, by_gpu, sizeof by_cpu), 0, "shared poses");
    desc.joint_lod = true;
    desc.evaluator = TH_EVALUATOR_CPU;
    shoot(gl, &desc, by_cpu);
    desc.evaluator = TH_EVALUATOR_GPU;
    shoot(gl, &desc, by_gpu);
    cr_expect_eq(memcmp(by_cpu, by_gpu, sizeof by_cpu), 0, "fewer joints");
    close_context(gl);
}

/* ---- calls ---- */

/* Calls that wait for the GPU, or read what it wrote. */
enum { FINISH, FLUSH, READ_PIXELS, READ_BUFFER, READ_TEXTURE, READ_QUERY, WAIT, MAP_TO_READ, WATCHED };

static uint32_t calls[WATCHED], dispatches;

static PFNGLFINISHPROC finish;
static PFNGLFLUSHPROC flush;
static PFNGLREADPIXELSPROC read_pixels;
static PFNGLGETBUFFERSUBDATAPROC read_buffer;
static PFNGLGETTEXIMAGEPROC read_texture;
static PFNGLGETQUERYOBJECTUI64VPROC read_query;
static PFNGLCLIENTWAITSYNCPROC wait;
static PFNGLMAPBUFFERRANGEPROC map;
static PFNGLDISPATCHCOMPUTEPROC dispatch;

static void watch_finish(void)
{
    calls[FINISH]++;
    finish();
}

static void watch_flush(void)
{
    calls[FLUSH]++;
    flush();
}

static void watch_read_pixels(GLint x, GLint y, GLsizei width, GLsizei height, GLenum format, GLenum type, void *out)
{
    calls[READ_PIXELS]++;
    read_pixels(x, y, width, height, format, type, out);
}

static void watch_read_buffer(GLenum target, GLintptr offset, GLsizeiptr size, void *out)
{
    calls[READ_BUFFER]++;
    read_buffer(target, offset, size, out);
}

static void watch_read_texture(GLenum target, GLint level, GLenum format, GLenum type, void *out)
{
    calls[READ_TEXTURE]++;
    read_texture(target, level, format, type, out);
}

static void watch_read_query(GLuint id, GLenum name, GLuint64 *out)
{
    calls[READ_QUERY]++;
    read_query(id, name, out);
}

static GLenum watch_wait(GLsync sync, GLbitfield flags, GLuint64 timeout)
{
    calls[WAIT]++;
    return wait(sync, flags, timeout);
}

static void *watch_map(GLenum target, GLintptr offset, GLsizeiptr length, GLbitfield access)
{
    calls[MAP_TO_READ] += (access & GL_MAP_READ_BIT) != 0 || (access & GL_MAP_UNSYNCHRONIZED_BIT) == 0;
    return map(target, offset, length, access);
}

static void watch_dispatch(GLuint x, GLuint y, GLuint z)
{
    dispatches++;
    dispatch(x, y, z);
}

#define WATCH(pointer, kept, by) (kept = pointer, pointer = by)

static void watch(void)
{
    WATCH(glad_glFinish, finish, watch_finish);
    WATCH(glad_glFlush, flush, watch_flush);
    WATCH(glad_glReadPixels, read_pixels, watch_read_pixels);
    WATCH(glad_glGetBufferSubData, read_buffer, watch_read_buffer);
    WATCH(glad_glGetTexImage, read_texture, watch_read_texture);
    WATCH(glad_glGetQueryObjectui64v, read_query, watch_read_query);
    WATCH(glad_glClientWaitSync, wait, watch_wait);
    WATCH(glad_glMapBufferRange, map, watch_map);
    WATCH(glad_glDispatchCompute, dispatch, watch_dispatch);
}

static void unwatch(void)
{
    glad_glFinish = finish;
    glad_glFlush = flush;
    glad_glReadPixels = read_pixels;
    glad_glGetBufferSubData = read_buffer;
    glad_glGetTexImage = read_texture;
    glad_glGetQueryObjectui64v = read_query;
    glad_glClientWaitSync = wait;
    glad_glMapBufferRange = map;
    glad_glDispatchCompute = dispatch;
}

/* Counts the calls of frames, the first of which make the ring as large as they need. */
static void trace_frames(th_gl *gl, const th_crowd_view_desc *desc)
{
    enum { FIRST = 4, FRAMES = 10 };
    th_crowd_view *crowd_view = create(gl, desc);
    th_target *target = make_target();
    for (int frame = 0; frame < FIRST; frame++)
        draw(crowd_view, target, 0);
    memset(calls, 0, sizeof calls);
    dispatches = 0;
    watch();
    for (int frame = 0; frame < FRAMES; frame++)
        draw(crowd_view, target, 0);
    unwatch();
    cr_expect_eq(dispatches, desc->evaluator == TH_EVALUATOR_GPU ? 4 * FRAMES : 0, "the steps of culling");
    cr_expect_eq(calls[WAIT], FRAMES, "for the slot's last reader, as ever");
    calls[WAIT] = 0;
    for (int call = 0; call < WATCHED; call++)
        cr_expect_eq(calls[call], 0, "call %d: %u", call, calls[call]);
    th_target_destroy(target);
    th_crowd_view_destroy(crowd_view);
}

/* Nothing is read back, and nothing is waited for but the fence of the slot, which frames of the CPU await, too. */
Test(gpu_crowd_view, neither_reads_back_nor_waits)
{
    th_gl *gl = open_context();
    for (th_ring_upload upload = TH_RING_PERSISTENT; upload <= TH_RING_UNSYNCHRONIZED; upload++)
        for (th_evaluator evaluator = TH_EVALUATOR_CPU; evaluator <= TH_EVALUATOR_GPU; evaluator++) {
            th_crowd_view_desc desc = desc_of(evaluator);
            desc.upload = upload;
            trace_frames(gl, &desc);
        }
    close_context(gl);
}

Test(gpu_crowd_view, allocates_nothing_in_a_frame)
{
    th_gl *gl = open_context();
    const th_crowd_view_desc desc = desc_of(TH_EVALUATOR_GPU);
    th_crowd_view *crowd_view = create(gl, &desc);
    th_target *target = make_target();
    size_t before = 0;
    for (int frame = 0; frame < 8; frame++) {
        before = frame == 3 ? allocations : before;
        draw(crowd_view, target, frame);
    }
    cr_expect_eq(allocations, before);
    th_target_destroy(target);
    th_crowd_view_destroy(crowd_view);
    close_context(gl);
}

/* ---- who poses ---- */

static void expect_evaluator(th_gl *gl, const th_crowd_view_desc *desc, th_evaluator evaluator, const char *why)
{
    th_crowd_view *crowd_view = create(gl, desc);
    th_target *target = make_target();
    cr_expect_eq(th_crowd_view_evaluator(crowd_view), evaluator, "%s", why);
    cr_expect_eq(th_crowd_view_fallback(crowd_view)[0] == '\0', why[0] == '\0');
    cr_expect(strstr(th_crowd_view_fallback(crowd_view), why), "%s", th_crowd_view_fallback(crowd_view));
    draw(crowd_view, target, 1);
    th_target_destroy(target);
    th_crowd_view_destroy(crowd_view);
}

Test(gpu_crowd_view, falls_back_and_says_why)
{
    th_gl *gl = open_context();
    th_crowd_view_desc desc = desc_of(TH_EVALUATOR_GPU);
    expect_evaluator(gl, &desc, TH_EVALUATOR_GPU, "");
    desc.behaviour = TH_BEHAVIOUR_FADE;
    expect_evaluator(gl, &desc, TH_EVALUATOR_CPU, "the characters have a behaviour, which blends clips");
    desc = desc_of(TH_EVALUATOR_GPU);
    desc.compile.sampling = TH_SAMPLING_EXACT;
    expect_evaluator(gl, &desc, TH_EVALUATOR_CPU, "human plays ");
    desc = desc_of(TH_EVALUATOR_GPU);
    desc.look = TH_LOOK_WORKERS;
    expect_evaluator(gl, &desc, TH_EVALUATOR_CPU, "--look workers shows which thread posed");
    close_context(gl);
}

Test(gpu_crowd_view, takes_the_gpu_by_itself_where_there_is_one)
{
    th_gl *gl = open_context();
    const th_crowd_view_desc desc = desc_of(TH_EVALUATOR_AUTO);
    if (__real_th_gl_get_info(gl)->software)
        expect_evaluator(gl, &desc, TH_EVALUATOR_CPU, "");
    pretend_hardware = true;
    expect_evaluator(gl, &desc, TH_EVALUATOR_GPU, "");
    close_context(gl);
}
