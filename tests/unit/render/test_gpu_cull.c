/* The GPU lists the characters that the CPU lists, at the same levels and in the same order, and poses them as the
 * scalar kernel does; in frames of which neither the calls nor the CPU's work grow with the crowd. Looks inside for the
 * lists. */
#include "fixture_memory.h"
#include "fixture_nightly.h"
#include "fixture_shown.h"
#include "random_model.h"

#include "gl/program.h"
#include "view/crowd_view_parts.h"

#include <anim/device_program.h>
#include <anim/synthetic.h>
#include <criterion/criterion.h>
#include <glad/gl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WIDTH = 160, HEIGHT = 90 };

enum { MODELS = 4, GROUPS = 2 * MODELS * TH_RENDER_MESH_LODS };

static th_model *human, *jolted, *stepped, *bones;

END_BY(th_model_destroy)

static void begin_check(void)
{
    most_bytes = 0;
    maps_nothing = pretend_hardware = false;
}

static void open_with_models(void)
{
    const random_desc still = {.seed = 11, .joint_count = 4, .clip_count = 1, .key_count = 300, .swing_rad = 0.05};
    const random_desc steps = {
        .seed = 7, .joint_count = 9, .clip_count = 3, .key_count = 12, .swing_rad = 1, .steps = 1};
    th_synthetic_desc rig = TH_SYNTHETIC_DEFAULT;
    rig.joints = 12;
    rig.no_mesh = true;
    rig.clips = 2;
    before_check = begin_check;
    human = open_shown();
    jolted = random_model(&still);
    stepped = random_model(&steps);
    cr_assert_eq(th_synthetic_create(&rig, &bones, NULL), TH_OK);
    th_model *const models[] = {jolted, stepped, bones};
    for (int m = 0; m < 3; m++)
        at_end(end_by_th_model_destroy, models[m]);
    /* Joints turn in one place so fast that the clip becomes several stretches. */
    const float s = sinf(0.6F), c = cosf(0.6F);
    for (uint32_t j = 0; j < jolted->clips[0].channel_count; j++) {
        const th_track *track = &jolted->clips[0].channels[j].rotation;
        float *q = (float *)(uintptr_t)(track->values + 4 * (track->key_count / 2));
        const float turned[4] = {q[0] * c + q[3] * s, q[1] * c + q[2] * s, q[2] * c - q[1] * s, q[3] * c - q[0] * s};
        if (track->key_count > 1)
            memcpy(q, turned, sizeof turned);
    }
}

TestSuite(gpu_cull, .init = open_with_models, .fini = close_shown);

/* For bytes: levels, positions and fractions of frames are rounded alike. Another driver may round otherwise. */
static void need_llvmpipe(void)
{
    if (!is_llvmpipe())
        cr_skip_test("nobody knows how %s rounds", __real_th_gl_get_info(gl)->renderer);
}

static th_crowd_view_desc desc_of(th_evaluator evaluator, th_layout_kind layout, uint32_t models)
{
    return (th_crowd_view_desc){
        .models = {human, jolted, bones, stepped},
        .clips = {TH_NO_INDEX, TH_NO_INDEX, TH_NO_INDEX, TH_NO_INDEX},
        .model_count = models,
        .count = 900, /* no multiple of a block */
        .seed = 3,
        .layout = layout,
        .isa = TH_ISA_SCALAR,
        .jobs = {.threads = 2},
        .shadow_pixels = 128,
        .evaluator = evaluator,
        .gpu_mapping = TH_GPU_MAPPING_CHARACTER,
        .yaw_deg = 25,
        .pitch_deg = 18,
        .zoom = 1,
    };
}

static th_crowd_view *create_culled(const th_crowd_view_desc *desc)
{
    show(desc);
    cr_assert_eq(th_crowd_view_get_parts(shown).culling, desc->evaluator, "%s", th_crowd_view_fallback(shown));
    return shown;
}

/* ---- the list ---- */

static uint64_t state = 1;

static float between(double low, double high)
{
    return (float)random_between(&state, low, high);
}

/* Near and far, from above and from within, wide and narrow. */
static th_camera random_camera(const th_crowd_view *v)
{
    const float r = th_layout_bounds(&v->layout).radius;
    const float eye[3] = {between(-1.5, 1.5) * r, between(-0.1, 1) * r, between(-1.5, 1.5) * r};
    const float at[3] = {between(-0.5, 0.5) * r, between(-0.2, 0.2) * r, between(-0.5, 0.5) * r};
    th_camera camera = th_camera_look_at(eye, at);
    camera.fov_y_rad = between(0.1, 2);
    camera.near_z = between(0.1, 2);
    camera.far_z = camera.near_z + between(0.2, 3) * r;
    return camera;
}

/* What the list of a frame has to be: how many of each draw list, and where each character stands and is in its clip.
 */
typedef struct listing {
    uint32_t counts[GROUPS], listed, shadow_only;
    th_gpu_instance *instances; /* in the order of the list; palette: 0 */
    th_device_cursor *cursors;
} listing;

static listing new_listing(uint32_t count)
{
    return (listing){.instances = borrow(count * sizeof(th_gpu_instance)),
                     .cursors = borrow(count * sizeof(th_device_cursor))};
}

/* By the kernels' crowd and the CPU's cull. */
static void list_by_cpu(th_crowd_view *v, double time_s, const th_gpu_cull_frame *frame, listing *out)
{
    const uint32_t count = v->scene->instance_count, blocks = v->cull->block_count;
    if (v->walks)
        th_layout_walk_to(&v->layout, v->walks, count, time_s, v->cull->z);
    th_cull_classify(v->cull, frame->visible, frame->light, 0, blocks);
    th_cull_sum(v->cull);
    th_cull_scatter(v->cull, 0, blocks);
    const th_draw_list *lists = v->cull->draw_lists;
    const uint32_t *list = v->cull->list;
    out->shadow_only = 0;
    for (uint32_t g = 0; g < v->cull->draw_list_count; g++) {
        out->counts[g] = lists[g].count;
        out->shadow_only += lists[g].shadow_only ? lists[g].count : 0;
    }
    out->listed = v->cull->listed;
    for (uint32_t k = 0; k < out->listed; k++) {
        out->instances[k] = v->gpu_instances[list[k]];
        out->instances[k].position[2] = v->cull->z[list[k]];
    }
    th_crowd_set_active(v->crowd, list, out->listed);
    th_crowd_cursors(v->crowd, 0, th_crowd_batch_count(v->crowd), time_s, out->cursors);
}

static void read_buffer(GLuint buffer, size_t offset, size_t bytes, void *out)
{
    th_gpu_read_buffer((th_ring_binding){buffer, offset}, bytes, out);
}

static void list_by_gpu(th_crowd_view *v, const th_gpu_cull_frame *frame, listing *out)
{
    GLuint constants;
    char block[4096];
    cr_assert_leq(th_gpu_cull_frame_bytes(v->gpu_cull), sizeof block);
    th_gpu_cull_write(v->gpu_cull, frame, block);
    glGenBuffers(1, &constants);
    glBindBuffer(GL_COPY_WRITE_BUFFER, constants);
    glBufferData(GL_COPY_WRITE_BUFFER, sizeof block, block, GL_STREAM_DRAW);
    th_gpu_cull_run(v->gpu_cull, (th_ring_binding){constants, 0});
    memcpy(out->counts, th_gpu_cull_counts(v->gpu_cull), v->cull->draw_list_count * sizeof *out->counts);
    const th_gpu_cull_list list = th_gpu_cull_get_list(v->gpu_cull);
    const uint32_t of_model = 2 * TH_RENDER_MESH_LODS;
    out->listed = 0;
    for (uint32_t m = 0; m < v->desc.model_count; m++) {
        uint32_t count = 0;
        for (uint32_t g = m * of_model; g < (m + 1) * of_model; g++)
            count += out->counts[g];
        read_buffer(list.instances, out->listed * sizeof *out->instances, count * sizeof *out->instances,
                    out->instances + out->listed);
        read_buffer(list.cursors, list.first_cursors[m] * sizeof *out->cursors, count * sizeof *out->cursors,
                    out->cursors + out->listed);
        const uint32_t chunk = th_gpu_cull_draws(v->gpu_cull, v->draw_models)->meshes[m].chunk;
        for (uint32_t k = 0; k < count; k++) { /* palettes are numbered from 0 in each chunk */
            cr_assert_eq(out->instances[out->listed + k].palette, k % chunk);
            out->instances[out->listed + k].palette = 0;
        }
        out->listed += count;
    }
    glDeleteBuffers(1, &constants);
}

/* Returns how many are listed who only cast a shadow. */
static uint32_t compare_lists(th_crowd_view *v, double time_s, bool has_light, listing *by_cpu, listing *by_gpu)
{
    const th_camera camera = random_camera(v);
    const th_draw_model models[MODELS] = {0};
    th_cull_view seen = {.pixels = th_camera_pixels(&camera, between(50, 2000))};
    th_camera_frustum(&camera, 1.6F, &seen.frustum);
    th_camera_eye(&camera, seen.eye);
    for (int n = 0; n < TH_RENDER_MESH_LODS - 1; n++)
        seen.lod_px[n] = 300 / (float)(n * n + 1);
    th_view view = {.to_sun = {0.46F, 0.62F, 0.64F}, .shadow_radius = th_layout_bounds(&v->layout).radius};
    th_cull_light light = {.to_light = {0.46F, 0.62F, 0.64F}, .ground = between(-1, 0.5)};
    cr_assert(th_crowd_renderer_shadow_frustum(v->renderer, &view, &light.map));
    const th_gpu_cull_frame frame = {time_s, &seen, has_light ? &light : NULL, models, false};
    list_by_cpu(v, time_s, &frame, by_cpu);
    list_by_gpu(v, &frame, by_gpu);
    cr_assert_eq(memcmp(by_cpu->counts, by_gpu->counts, v->cull->draw_list_count * sizeof *by_cpu->counts), 0);
    cr_assert_eq(by_cpu->listed, by_gpu->listed);
    const size_t instances = by_cpu->listed * sizeof *by_cpu->instances,
                 cursors = by_cpu->listed * sizeof *by_cpu->cursors;
    cr_assert_eq(memcmp(by_cpu->instances, by_gpu->instances, instances), 0);
    cr_assert_eq(memcmp(by_cpu->cursors, by_gpu->cursors, cursors), 0);
    return by_cpu->shadow_only;
}

/* Characters of all comparisons. */
static uint64_t compared, listed, shadow_only;

static void compare_cameras(const th_crowd_view_desc *desc, int cameras)
{
    th_crowd_view *v = create_culled(desc);
    listing by_cpu = new_listing(desc->count), by_gpu = new_listing(desc->count);
    for (int n = 0; n < cameras; n++) {
        shadow_only += compare_lists(v, n == 0 ? 0 : random_between(&state, -50, 500), n % 5 > 0, &by_cpu, &by_gpu);
        listed += by_cpu.listed;
    }
    compared += (uint64_t)cameras * desc->count;
}

/* Few of them in all layouts; and so many blocks that sums over them take several rounds. */
CHECK(gpu_cull_exactly, lists_whom_the_cpu_lists)
{
    for (th_layout_kind layout = 0; layout < TH_LAYOUT_COUNT; layout++)
        for (uint32_t models = 1; models <= MODELS; models += MODELS - 1) {
            const th_crowd_view_desc desc = desc_of(TH_EVALUATOR_GPU, layout, models);
            compare_cameras(&desc, (layout == TH_LAYOUT_STREET ? 25 : 10) * (is_nightly() ? 8 : 1));
        }
    cr_expect(listed > compared / 10 && listed < compared / 10 * 9 && shadow_only > compared / 100,
              "%llu, %llu of %llu", (unsigned long long)listed, (unsigned long long)shadow_only,
              (unsigned long long)compared);
    th_crowd_view_desc many = desc_of(TH_EVALUATOR_GPU, TH_LAYOUT_STREET, 1);
    many.models[0] = bones;
    many.count = 70000;
    compare_cameras(&many, 3);
}

/* What the cursors of these tests depend on. */
CHECK(gpu_cull, plays_clips_of_all_kinds)
{
    const th_crowd_view_desc desc = desc_of(TH_EVALUATOR_GPU, TH_LAYOUT_STREET, MODELS);
    const th_crowd_view *v = create_culled(&desc);
    th_device_clip *clips = borrow(th_crowd_device_clip_count(v->crowd) * sizeof *clips);
    th_device_playback *playbacks = borrow(desc.count * sizeof *playbacks);
    uint32_t holding = 0, stretched = 0, looped = 0;
    th_crowd_device_clips(v->crowd, clips);
    th_crowd_device_playbacks(v->crowd, playbacks);
    for (uint32_t i = 0; i < desc.count; i++) {
        holding += clips[playbacks[i].clip].is_stepped;
        stretched += clips[playbacks[i].clip].seeks_stretch;
        looped += v->walks[i].playback.speed != 0;
    }
    cr_expect(holding > 10 && stretched > 10 && looped > 10, "%u, %u, %u", holding, stretched, looped);
}

/* ---- pictures ---- */

/* Nearer from frame to frame, so that some characters are out of sight. */
static void draw(const th_target *target, int frame)
{
    th_camera camera = th_crowd_view_camera(shown, (float)WIDTH / HEIGHT, HUGE_VAL);
    th_camera_zoom(&camera, 1 / (1 + (float)frame / 4));
    th_crowd_view_fit_depth(shown, &camera);
    cr_expect(th_crowd_view_frame(shown, frame / 7.0, &camera, target));
}

/* Statistics are those of the last frame. */
static uint8_t *shoot(const th_crowd_view_desc *desc, th_crowd_view_stats *stats)
{
    show(desc);
    const th_target *target = make_target(WIDTH, HEIGHT, 4);
    for (int frame = 0; frame <= TH_RING_SLOTS; frame++)
        draw(target, 2 * frame);
    cr_expect_eq(th_crowd_view_get_parts(shown).evaluator, desc->evaluator);
    th_crowd_view_await_stats(shown);
    *stats = th_crowd_view_get_stats(shown);
    return read_target(target);
}

/* desc: for the CPU. */
static void compare_pictures(th_crowd_view_desc desc, const char *what)
{
    th_crowd_view_stats cpu, gpu;
    const uint8_t *by_cpu = shoot(&desc, &cpu);
    desc.evaluator = TH_EVALUATOR_GPU;
    const uint8_t *by_gpu = shoot(&desc, &gpu);
    cr_expect(cpu.listed == gpu.listed && cpu.visible == gpu.visible && cpu.bones == gpu.bones, "%s", what);
    cr_expect(cpu.evaluated == gpu.evaluated && cpu.shared == gpu.shared, "%s", what);
    cr_expect_eq(cpu.palette_bytes, gpu.palette_bytes, "%s", what);
    cr_expect_arr_eq(cpu.listed_by_lod, gpu.listed_by_lod, sizeof cpu.listed_by_lod, "%s", what);
    cr_expect_arr_eq(cpu.visible_by_lod, gpu.visible_by_lod, sizeof cpu.visible_by_lod, "%s", what);
    cr_expect_arr_eq(cpu.listed_by_joint_level, gpu.listed_by_joint_level, sizeof cpu.listed_by_joint_level, "%s",
                     what);
    cr_expect(cpu.visible > 0 && cpu.visible < cpu.listed + (desc.shadow_pixels == 0) && cpu.listed < desc.count,
              "%s: %u, %u", what, cpu.visible, cpu.listed);
    cr_expect_eq(memcmp(by_cpu, by_gpu, 4 * WIDTH * HEIGHT), 0, "%s", what);
}

/* Models with and without a mesh, layouts, and what is drawn of the characters. */
CHECK(gpu_cull_exactly, draws_the_pictures_of_the_cpu)
{
    for (th_layout_kind layout = 0; layout < TH_LAYOUT_COUNT; layout++) {
        th_crowd_view_desc desc = desc_of(TH_EVALUATOR_CPU, layout, MODELS);
        desc.count = 150;
        desc.look = (th_look)((uint32_t)layout % (TH_LOOK_SKELETON + 1));
        compare_pictures(desc, th_look_name(desc.look));
    }
    th_crowd_view_desc desc = desc_of(TH_EVALUATOR_CPU, TH_LAYOUT_STREET, MODELS);
    desc.count = 150;
    desc.shadow_pixels = 0;
    desc.fetch = TH_FETCH_STORAGE;
    compare_pictures(desc, "without shadows");
}

/* The ways in which a palette gets from the shader that poses to those that draw: each palette with each fetch, upload
 * and mapping, and these with each other. Where poses are shared or have fewer joints the CPU culls. */
CHECK(gpu_cull_exactly, draws_the_pictures_of_the_scalar_kernel)
{
    th_crowd_view_desc desc = desc_of(TH_EVALUATOR_CPU, TH_LAYOUT_STREET, 1);
    desc.count = 60;
    for (int way = 0; way < 2 * TH_FORMAT_COUNT; way++) {
        const int palette = way / 2, fetch = way % 2;
        desc.palette = (th_format)palette;
        desc.fetch = fetch ? TH_FETCH_STORAGE : TH_FETCH_TEXTURE;
        desc.upload = (fetch + palette) % 2 ? TH_RING_PERSISTENT : TH_RING_UNSYNCHRONIZED;
        desc.gpu_mapping = (fetch + palette / 2) % 2 ? TH_GPU_MAPPING_CHARACTER : TH_GPU_MAPPING_JOINT;
        compare_pictures(desc, th_format_name(desc.palette));
    }
    desc = desc_of(TH_EVALUATOR_CPU, TH_LAYOUT_STREET, 1);
    desc.count = 60;
    desc.share_hz = 10;
    compare_pictures(desc, "shared poses");
    desc.joint_lod = true;
    compare_pictures(desc, "fewer joints");
}

/* What OpenGL promises at least, and so little that the characters are several chunks. */
CHECK(gpu_cull_exactly, draws_them_where_the_driver_binds_little)
{
    const uint64_t limits[] = {16 << 20, 400000};
    for (size_t n = 0; n < sizeof limits / sizeof *limits; n++) {
        th_crowd_view_desc desc = desc_of(TH_EVALUATOR_CPU, TH_LAYOUT_STREET, 2);
        desc.count = 400;
        desc.fetch = TH_FETCH_STORAGE;
        desc.gpu_mapping = n == 0 ? TH_GPU_MAPPING_CHARACTER : TH_GPU_MAPPING_JOINT;
        most_bytes = limits[n];
        compare_pictures(desc, n == 0 ? "16 MB" : "chunks");
    }
}

static void hide_buffer_storage(void)
{
    setenv("MESA_EXTENSION_OVERRIDE", "-GL_ARB_buffer_storage", 1);
    open_with_models();
}

TestSuite(gpu_cull_unmapped, .init = hide_buffer_storage, .fini = close_shown);

Test(gpu_cull_unmapped, draws_them_where_the_driver_keeps_nothing_mapped)
{
    need_llvmpipe();
    cr_assert_not(__real_th_gl_get_info(gl)->buffer_storage);
    th_crowd_view_desc desc = desc_of(TH_EVALUATOR_CPU, TH_LAYOUT_STREET, 2);
    desc.count = 150;
    compare_pictures(desc, "unsynchronized");
}

/* Those of three frames before. */
CHECK(gpu_cull, counts_without_waiting)
{
    const th_crowd_view_desc desc = desc_of(TH_EVALUATOR_GPU, TH_LAYOUT_GRID, 2);
    create_culled(&desc);
    const th_target *target = make_target(WIDTH, HEIGHT, 4);
    draw(target, 0);
    cr_expect_eq(th_crowd_view_get_stats(shown).visible, 0);
    th_crowd_view_await_stats(shown);
    const uint32_t far = th_crowd_view_get_stats(shown).visible;
    for (int frame = 1; frame < TH_RING_SLOTS; frame++)
        draw(target, 9);
    th_crowd_view_await_stats(shown);
    const uint32_t near = th_crowd_view_get_stats(shown).visible;
    cr_expect(near > 0 && near < far, "%u, %u", near, far);
    draw(target, 9);
    cr_expect_eq(th_crowd_view_get_stats(shown).visible, far);
    draw(target, 9);
    cr_expect_eq(th_crowd_view_get_stats(shown).visible, near);
}

/* ---- a frame's calls, and its work ---- */

/* Every call that a frame may make: its name, parameters and arguments. */
#define CALLS(X)                                                                                                       \
    X(ActiveTexture, (GLenum a), (a))                                                                                  \
    X(BlendFuncSeparate, (GLenum a, GLenum b, GLenum c, GLenum d), (a, b, c, d))                                       \
    X(BindBuffer, (GLenum a, GLuint b), (a, b))                                                                        \
    X(BindBufferBase, (GLenum a, GLuint b, GLuint c), (a, b, c))                                                       \
    X(BindBufferRange, (GLenum a, GLuint b, GLuint c, GLintptr d, GLsizeiptr e), (a, b, c, d, e))                      \
    X(BindFramebuffer, (GLenum a, GLuint b), (a, b))                                                                   \
    X(BindTexture, (GLenum a, GLuint b), (a, b))                                                                       \
    X(BindVertexArray, (GLuint a), (a))                                                                                \
    X(BindVertexBuffer, (GLuint a, GLuint b, GLintptr c, GLsizei d), (a, b, c, d))                                     \
    X(DispatchCompute, (GLuint a, GLuint b, GLuint c), (a, b, c))                                                      \
    X(DispatchComputeIndirect, (GLintptr a), (a))                                                                      \
    X(DrawArrays, (GLenum a, GLint b, GLsizei c), (a, b, c))                                                           \
    X(DrawArraysInstanced, (GLenum a, GLint b, GLsizei c, GLsizei d), (a, b, c, d))                                    \
    X(DrawElementsInstancedBaseVertex, (GLenum a, GLsizei b, GLenum c, const void *d, GLsizei e, GLint f),             \
      (a, b, c, d, e, f))                                                                                              \
    X(MemoryBarrier, (GLbitfield a), (a))                                                                              \
    X(MultiDrawArraysIndirect, (GLenum a, const void *b, GLsizei c, GLsizei d), (a, b, c, d))                          \
    X(MultiDrawElementsIndirect, (GLenum a, GLenum b, const void *c, GLsizei d, GLsizei e), (a, b, c, d, e))           \
    X(TexBufferRange, (GLenum a, GLenum b, GLuint c, GLintptr d, GLsizeiptr e), (a, b, c, d, e))                       \
    X(Uniform1f, (GLint a, GLfloat b), (a, b))                                                                         \
    X(Uniform1i, (GLint a, GLint b), (a, b))                                                                           \
    X(Uniform1ui, (GLint a, GLuint b), (a, b))                                                                         \
    X(Uniform3fv, (GLint a, GLsizei b, const GLfloat *c), (a, b, c))                                                   \
    X(Uniform4fv, (GLint a, GLsizei b, const GLfloat *c), (a, b, c))                                                   \
    X(UniformMatrix4fv, (GLint a, GLsizei b, GLboolean c, const GLfloat *d), (a, b, c, d))                             \
    X(UseProgram, (GLuint a), (a))

/* Those that wait for the GPU, or read what it wrote. */
#define FORBIDDEN(X)                                                                                                   \
    X(Finish, (void), ())                                                                                              \
    X(Flush, (void), ())                                                                                               \
    X(GetBufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, void *d), (a, b, c, d))                                   \
    X(GetQueryObjectui64v, (GLuint a, GLenum b, GLuint64 * c), (a, b, c))                                              \
    X(GetTexImage, (GLenum a, GLint b, GLenum c, GLenum d, void *e), (a, b, c, d, e))                                  \
    X(ReadPixels, (GLint a, GLint b, GLsizei c, GLsizei d, GLenum e, GLenum f, void *g), (a, b, c, d, e, f, g))        \
    X(WaitSync, (GLsync a, GLbitfield b, GLuint64 c), (a, b, c))

static uint32_t calls, forbidden, waits, reading_maps;

#define COUNTED_AS(counter, name, parameters, arguments)                                                               \
    static __typeof__(glad_gl##name) real_##name;                                                                      \
    static void count_##name parameters                                                                                \
    {                                                                                                                  \
        counter++;                                                                                                     \
        real_##name arguments;                                                                                         \
    }
#define COUNTED(name, parameters, arguments) COUNTED_AS(calls, name, parameters, arguments)
#define WATCHED(name, parameters, arguments) COUNTED_AS(forbidden, name, parameters, arguments)
CALLS(COUNTED)
FORBIDDEN(WATCHED)

static PFNGLCLIENTWAITSYNCPROC real_wait;
static PFNGLMAPBUFFERRANGEPROC real_map;

static GLenum count_wait(GLsync sync, GLbitfield flags, GLuint64 timeout)
{
    waits++;
    return real_wait(sync, flags, timeout);
}

static void *count_map(GLenum target, GLintptr offset, GLsizeiptr length, GLbitfield access)
{
    reading_maps += (access & GL_MAP_READ_BIT) != 0 || (access & GL_MAP_UNSYNCHRONIZED_BIT) == 0;
    return real_map(target, offset, length, access);
}

#define WATCH(name, parameters, arguments)   real_##name = glad_gl##name, glad_gl##name = count_##name;
#define UNWATCH(name, parameters, arguments) glad_gl##name = real_##name;

static void watch(void)
{
    calls = forbidden = waits = reading_maps = 0;
    CALLS(WATCH)
    FORBIDDEN(WATCH)
    real_wait = glad_glClientWaitSync, glad_glClientWaitSync = count_wait;
    real_map = glad_glMapBufferRange, glad_glMapBufferRange = count_map;
}

static void unwatch(void)
{
    CALLS(UNWATCH)
    FORBIDDEN(UNWATCH)
    glad_glClientWaitSync = real_wait;
    glad_glMapBufferRange = real_map;
}

/* By the linker's --wrap: jobs that are given to the workers. */
static uint32_t jobs_run;

int __real_th_jobs_run(th_jobs *jobs, const th_job *job);
int __wrap_th_jobs_run(th_jobs *jobs, const th_job *job);

int __wrap_th_jobs_run(th_jobs *jobs, const th_job *job)
{
    jobs_run++;
    return __real_th_jobs_run(jobs, job);
}

/* Makes the whole pages of an array inaccessible, or accessible again. */
static void protect(void *array, size_t bytes, int access)
{
    const uintptr_t page = 4096, begin = ((uintptr_t)array + page - 1) / page * page,
                    end = ((uintptr_t)array + bytes) / page * page;
    if (begin < end)
        cr_assert_eq(mprotect((void *)begin, end - begin, access), 0);
}

/* What there is of each character. A frame that looks at it ends the test. */
static void protect_characters(const th_crowd_view *v, int access)
{
    const size_t count = v->scene->instance_count;
    protect((void *)(uintptr_t)v->scene->instances, count * sizeof *v->scene->instances, access);
    protect(v->motions, count * sizeof *v->motions, access);
    protect(v->walks, count * sizeof *v->walks, access);
    protect(v->gpu_instances, count * sizeof *v->gpu_instances, access);
    protect(v->cull->z, count * sizeof(float), access);
}

/* Returns the calls of a frame. */
static uint32_t trace_frames(th_evaluator evaluator, uint32_t count)
{
    enum { FRAMES = 6 };
    const bool by_gpu = evaluator == TH_EVALUATOR_GPU;
    th_crowd_view_desc desc = desc_of(evaluator, TH_LAYOUT_STREET, 2);
    desc.models[0] = bones; /* palettes of many humans are more than one chunk */
    desc.count = count;
    th_crowd_view *v = create_culled(&desc);
    const th_target *target = make_target(WIDTH, HEIGHT, 4);
    const th_camera camera = th_camera_look_at((float[]){0, 3, 40}, (float[]){0, 0, 0});
    for (int frame = 0; frame < TH_RING_SLOTS + 1; frame++)
        th_crowd_view_frame(v, frame, &camera, target);
    cr_expect(th_crowd_view_get_stats(v).visible > 20);
    jobs_run = 0;
    if (by_gpu)
        protect_characters(v, PROT_NONE);
    const size_t before = allocations;
    watch();
    for (int frame = 0; frame < FRAMES; frame++)
        th_crowd_view_frame(v, frame, &camera, target);
    unwatch();
    cr_expect_eq(allocations, before);
    protect_characters(v, PROT_READ | PROT_WRITE);
    cr_expect_eq(jobs_run > 0, !by_gpu);
    cr_expect_eq(waits, FRAMES, "for the slot's last reader, as ever");
    cr_expect_eq(forbidden, by_gpu && maps_nothing ? FRAMES : 0, "%u", forbidden);
    cr_expect_eq(reading_maps, 0);
    return calls / FRAMES;
}

/* Nothing is read back, and nothing is waited for but the fence of the slot. No call, no job and no access to memory
 * depends on the number of characters. */
CHECK(gpu_cull, does_the_same_for_any_number_of_characters)
{
    const uint32_t few = trace_frames(TH_EVALUATOR_GPU, 1000), many = trace_frames(TH_EVALUATOR_GPU, 30000);
    cr_expect_eq(few, many, "%u, %u", few, many);
    cr_expect(few > 50 && few < 500, "%u", few);
}

/* Where counts cannot stay mapped they are read by a call, of a buffer that the GPU is done with. Nor do frames of the
 * CPU read or wait for more. */
CHECK(gpu_cull, reads_nothing_but_old_counts_where_the_driver_keeps_nothing_mapped)
{
    trace_frames(TH_EVALUATOR_CPU, 1000);
    maps_nothing = true;
    trace_frames(TH_EVALUATOR_CPU, 1000);
    trace_frames(TH_EVALUATOR_GPU, 1000);
}

/* ---- when it cannot ---- */

static void expect_cpu(const th_crowd_view_desc *desc, const char *why)
{
    show(desc);
    const th_crowd_view_parts parts = th_crowd_view_get_parts(shown);
    cr_expect_eq(parts.evaluator, TH_EVALUATOR_GPU);
    cr_expect_eq(parts.culling, TH_EVALUATOR_CPU);
    cr_expect_eq(strncmp(th_crowd_view_fallback(shown), "the CPU culls, not the GPU: ", 28), 0);
    cr_expect(strstr(th_crowd_view_fallback(shown), why), "%s", th_crowd_view_fallback(shown));
    th_crowd_view_await_stats(shown);
}

CHECK(gpu_cull, leaves_to_the_cpu_what_it_cannot_do_and_says_why)
{
    const th_crowd_view_desc usual = desc_of(TH_EVALUATOR_GPU, TH_LAYOUT_GRID, 1);
    th_crowd_view_desc shared = usual, held = usual, levels = usual, measured = usual, many = usual;
    shared.share_hz = 10;
    expect_cpu(&shared, "characters share poses (--share)");
    held.hold = 3;
    expect_cpu(&held, "poses are held");
    levels.joint_lod = true;
    expect_cpu(&levels, "levels of detail have joints of their own");
    measured.error_every = 9;
    expect_cpu(&measured, "the error on screen is measured in some frames");
    many.models[0] = bones;
    most_bytes = 32000;
    expect_cpu(&many, "64 palettes of model 0 take 0.0 MB");
    many.count = 5000;
    most_bytes = 120000;
    expect_cpu(&many, "5000 characters take 0.2 MB");
}

static void expect_evaluator(const th_crowd_view_desc *desc, th_evaluator evaluator, const char *why)
{
    show(desc);
    const th_crowd_view_parts parts = th_crowd_view_get_parts(shown);
    cr_expect_eq(parts.evaluator, evaluator, "%s", why);
    cr_expect_eq(th_crowd_view_fallback(shown)[0] == '\0', why[0] == '\0');
    cr_expect(strstr(th_crowd_view_fallback(shown), why), "%s", th_crowd_view_fallback(shown));
    draw(make_target(WIDTH, HEIGHT, 4), 1);
}

/* Which takes the GPU by itself where there is one. */
CHECK(gpu_cull, leaves_to_the_kernels_what_it_cannot_pose_and_says_why)
{
    th_crowd_view_desc usual = desc_of(TH_EVALUATOR_GPU, TH_LAYOUT_STREET, 1);
    usual.count = 60;
    th_crowd_view_desc exact = usual, looks = usual, by_itself = usual;
    expect_evaluator(&usual, TH_EVALUATOR_GPU, "");
    shown_behaviour.kind = TH_BEHAVIOUR_FADE;
    expect_evaluator(&usual, TH_EVALUATOR_CPU, "the characters have a behaviour, which blends clips");
    shown_behaviour.kind = TH_BEHAVIOUR_NONE;
    exact.compile.sampling = TH_SAMPLING_EXACT;
    expect_evaluator(&exact, TH_EVALUATOR_CPU, "human plays ");
    looks.look = TH_LOOK_WORKERS;
    expect_evaluator(&looks, TH_EVALUATOR_CPU, "--look workers shows which thread posed");
    by_itself.evaluator = TH_EVALUATOR_AUTO;
    if (__real_th_gl_get_info(gl)->software)
        expect_evaluator(&by_itself, TH_EVALUATOR_CPU, "");
    pretend_hardware = true;
    expect_evaluator(&by_itself, TH_EVALUATOR_GPU, "");
}

/* By the linker's --wrap: a shader that lacks a constant. */
static bool breaks_shader;

th_result __real_th_program_create(const th_program_desc *desc, GLuint *out_program, th_error *err);
th_result __wrap_th_program_create(const th_program_desc *desc, GLuint *out_program, th_error *err);

th_result __wrap_th_program_create(const th_program_desc *desc, GLuint *out_program, th_error *err)
{
    th_program_desc broken = *desc;
    if (breaks_shader && strcmp(desc->name, "cull") == 0)
        broken.defines[0] = "NOTHING";
    return __real_th_program_create(&broken, out_program, err);
}

/* A GPU without memory for a buffer of this size. */
static PFNGLGETBUFFERPARAMETERI64VPROC get_buffer;

static void lack_memory(GLenum target, GLenum name, GLint64 *out)
{
    get_buffer(target, name, out);
    *out = *out > 2000000 ? 0 : *out;
}

static void expect_error(th_result wanted, const char *why)
{
    th_crowd_view_desc desc = desc_of(TH_EVALUATOR_GPU, TH_LAYOUT_GRID, 1);
    th_crowd_view *none;
    th_error err;
    cr_expect_eq(th_crowd_view_create(&desc, gl, &none, &err), wanted);
    cr_expect_null(none);
    cr_expect(strstr(err.text, why), "%s", err.text);
}

Test(gpu_cull, says_that_the_driver_does_not_compile_the_shader)
{
    breaks_shader = true;
    expect_error(TH_ERR_ENVIRONMENT, "program cull, compute shader: cull.glsl, line ");
    th_gl_destroy(gl); /* its driver has complained */
    gl = NULL;
}

CHECK(gpu_cull, says_that_the_gpu_has_no_memory)
{
    get_buffer = glad_glGetBufferParameteri64v;
    glad_glGetBufferParameteri64v = lack_memory;
    expect_error(TH_ERR_MEMORY, " has no memory to list 900 characters and to pose all of them, ");
    glad_glGetBufferParameteri64v = get_buffer;
}

Test(gpu_cull, checks)
{
    run_checks("gpu_cull");
    need_llvmpipe();
    run_checks("gpu_cull_exactly");
}
