/* What a shader writes is seen by whoever reads it next only behind glMemoryBarrier with the reader's bit (OpenGL 4.3,
 * 7.12.2). A driver that runs one call after the other never tells, so here calls of whole frames are followed: who
 * writes which buffer, who reads it, and which barriers come between them. */
#include "fixture_shown.h"

#include <core/cache_line.h>
#include <criterion/criterion.h>
#include <glad/gl.h>
#include <render/gpu_evaluator.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256, POINTS = 16, FRAMES = 6 }; /* names of objects, binding points, frames */

/* A part of a buffer. */
typedef struct range {
    GLuint buffer;
    GLintptr begin, end;
} range;

/* What shaders have written; bits of barriers that it still needs; and whether somebody reads it since the last one. */
static struct {
    range range;
    GLbitfield unseen;
    bool is_read;
} written[MOST];
static uint32_t written_count, reads; /* reads of it */

static uint32_t stores[MOST], storages[MOST]; /* [shader or program] bits: points that it writes, and uses */
static bool is_persistent[MOST];              /* [buffer] mapped for reading */
static GLuint program, vertex_array, unit, textures[POINTS], bound[4]; /* bound: to these targets */
static const GLenum targets[] = {GL_DRAW_INDIRECT_BUFFER, GL_DISPATCH_INDIRECT_BUFFER, GL_COPY_WRITE_BUFFER,
                                 GL_COPY_READ_BUFFER};
static range points[POINTS], texture_ranges[MOST], vertex_ranges[MOST][POINTS];

static range part(GLuint buffer, GLintptr begin, GLintptr end)
{
    return (range){buffer, begin, end};
}

static range whole(GLuint buffer)
{
    return part(buffer, 0, INTPTR_MAX);
}

static bool overlap(const range *a, const range *b)
{
    return a->buffer == b->buffer && a->buffer != 0 && a->begin < b->end && b->begin < a->end;
}

static void see(range seen, GLbitfield bit, const char *who)
{
    for (uint32_t w = 0; w < written_count; w++)
        if (overlap(&written[w].range, &seen)) {
            cr_expect_eq(written[w].unseen & bit, 0, "%s reads buffer %u without barrier 0x%x", who, seen.buffer, bit);
            written[w].is_read = true;
            reads++;
        }
}

/* Writing is ordered like reading. */
static void write(range bytes)
{
    uint32_t same = written_count;
    for (uint32_t w = 0; w < written_count; w++)
        if (overlap(&written[w].range, &bytes)) {
            cr_expect(!written[w].is_read, "a shader writes buffer %u, which may still be read", bytes.buffer);
            cr_expect_eq(written[w].unseen & GL_SHADER_STORAGE_BARRIER_BIT, 0, "and two write %u", bytes.buffer);
            if (written[w].range.begin == bytes.begin)
                same = w;
        }
    cr_assert_lt(same, MOST);
    written_count += same == written_count;
    written[same].range = bytes;
    written[same].unseen = GL_ALL_BARRIER_BITS;
}

/* Of the program in use. */
static void use_storages(const char *who)
{
    for (uint32_t point = 0; point < POINTS; point++)
        if (storages[program] >> point & 1 && points[point].buffer) {
            if (stores[program] >> point & 1)
                write(points[point]);
            else
                see(points[point], GL_SHADER_STORAGE_BARRIER_BIT, who);
        }
}

static void draw(const char *who, bool indirect)
{
    if (indirect)
        see(whole(bound[0]), GL_COMMAND_BARRIER_BIT, who);
    for (uint32_t i = 0; i < POINTS; i++) {
        see(vertex_ranges[vertex_array][i], GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT, who);
        see(texture_ranges[textures[i]], GL_TEXTURE_FETCH_BARRIER_BIT, who);
    }
    use_storages(who);
}

/* Which storages a shader writes: those that are not declared readonly. */
static void read_source(GLuint shader, GLsizei count, const GLchar *const *texts)
{
    cr_assert_lt(shader, MOST);
    for (GLsizei i = 0; i < count; i++)
        for (const char *at = texts[i]; (at = strstr(at, "layout(std430, binding = "));) {
            unsigned point;
            cr_assert_eq(sscanf(at, "layout(std430, binding = %u)", &point), 1);
            cr_assert_lt(point, POINTS);
            const char *end = strchr(at, '\n'), *readonly = strstr(at, "readonly");
            storages[shader] |= 1U << point;
            if (!readonly || readonly > end)
                stores[shader] |= 1U << point;
            at = end;
        }
}

static void bind(GLenum target, GLuint buffer)
{
    cr_assert_lt(buffer, MOST);
    for (uint32_t t = 0; t < sizeof targets / sizeof *targets; t++)
        if (targets[t] == target)
            bound[t] = buffer;
}

static void bind_point(GLenum target, GLuint point, range bytes)
{
    if (target == GL_SHADER_STORAGE_BUFFER)
        points[point] = bytes;
}

static void pass_barrier(GLbitfield bits)
{
    for (uint32_t w = 0; w < written_count; w++) {
        written[w].unseen &= ~bits;
        written[w].is_read &= (bits & GL_SHADER_STORAGE_BARRIER_BIT) == 0;
    }
}

/* When this point is reached, what is mapped for good is read. */
static void fence(void)
{
    for (GLuint b = 0; b < MOST; b++)
        if (is_persistent[b])
            see(whole(b), GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT, "who maps");
}

/* Each call that is followed: its name, parameters, arguments, and what it does besides. */
#define CALLS(X)                                                                                                       \
    X(AttachShader, (GLuint a, GLuint b), (a, b), (stores[a] |= stores[b], storages[a] |= storages[b]))                \
    X(ShaderSource, (GLuint a, GLsizei b, const GLchar *const *c, const GLint *d), (a, b, c, d), read_source(a, b, c)) \
    X(UseProgram, (GLuint a), (a), program = a)                                                                        \
    X(BindBuffer, (GLenum a, GLuint b), (a, b), bind(a, b))                                                            \
    X(BindBufferBase, (GLenum a, GLuint b, GLuint c), (a, b, c), bind_point(a, b, whole(c)))                           \
    X(BindBufferRange, (GLenum a, GLuint b, GLuint c, GLintptr d, GLsizeiptr e), (a, b, c, d, e),                      \
      bind_point(a, b, part(c, d, d + e)))                                                                             \
    X(BindVertexArray, (GLuint a), (a), vertex_array = a)                                                              \
    X(BindVertexBuffer, (GLuint a, GLuint b, GLintptr c, GLsizei d), (a, b, c, d),                                     \
      vertex_ranges[vertex_array][a] = part(b, c, c + 1))                                                              \
    X(ActiveTexture, (GLenum a), (a), unit = a - GL_TEXTURE0)                                                          \
    X(BindTexture, (GLenum a, GLuint b), (a, b), a == GL_TEXTURE_BUFFER ? textures[unit] = b : 0)                      \
    X(TexBuffer, (GLenum a, GLenum b, GLuint c), (a, b, c), texture_ranges[textures[unit]] = whole(c))                 \
    X(TexBufferRange, (GLenum a, GLenum b, GLuint c, GLintptr d, GLsizeiptr e), (a, b, c, d, e),                       \
      texture_ranges[textures[unit]] = part(c, d, d + e))                                                              \
    X(BufferStorage, (GLenum a, GLsizeiptr b, const void *c, GLbitfield d), (a, b, c, d),                              \
      is_persistent[bound[2]] = d & GL_MAP_READ_BIT)                                                                   \
    X(GetBufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, void *d), (a, b, c, d),                                   \
      see(whole(bound[3]), GL_BUFFER_UPDATE_BARRIER_BIT, "who asks"))                                                  \
    X(DispatchCompute, (GLuint a, GLuint b, GLuint c), (a, b, c), use_storages("dispatch"))                            \
    X(DispatchComputeIndirect, (GLintptr a), (a),                                                                      \
      (see(whole(bound[1]), GL_COMMAND_BARRIER_BIT, "dispatch"), use_storages("dispatch")))                            \
    X(DrawArrays, (GLenum a, GLint b, GLsizei c), (a, b, c), draw("draw", false))                                      \
    X(DrawArraysInstanced, (GLenum a, GLint b, GLsizei c, GLsizei d), (a, b, c, d), draw("draw", false))               \
    X(DrawElementsInstancedBaseVertex, (GLenum a, GLsizei b, GLenum c, const void *d, GLsizei e, GLint f),             \
      (a, b, c, d, e, f), draw("draw", false))                                                                         \
    X(MultiDrawArraysIndirect, (GLenum a, const void *b, GLsizei c, GLsizei d), (a, b, c, d), draw("draw", true))      \
    X(MultiDrawElementsIndirect, (GLenum a, GLenum b, const void *c, GLsizei d, GLsizei e), (a, b, c, d, e),           \
      draw("draw", true))                                                                                              \
    X(MemoryBarrier, (GLbitfield a), (a), pass_barrier(a))

#define FOLLOWED(name, parameters, arguments, what)                                                                    \
    static __typeof__(glad_gl##name) real_##name;                                                                      \
    static void follow_##name parameters                                                                               \
    {                                                                                                                  \
        (void)(what);                                                                                                  \
        real_##name arguments;                                                                                         \
    }
CALLS(FOLLOWED)

static PFNGLFENCESYNCPROC real_fence;

static GLsync follow_fence(GLenum condition, GLbitfield flags)
{
    fence();
    return real_fence(condition, flags);
}

static th_model *human;

static void follow(void)
{
#define FOLLOW(name, parameters, arguments, what) real_##name = glad_gl##name, glad_gl##name = follow_##name;
    human = open_shown();
    CALLS(FOLLOW)
    real_fence = glad_glFenceSync, glad_glFenceSync = follow_fence;
}

TestSuite(barriers, .init = follow, .fini = close_shown);

/* Frames of walking people with shadows that the GPU poses. sharing: so the CPU culls. */
static void draw_frames(th_fetch fetch, th_gpu_mapping mapping, bool sharing)
{
    th_error err;
    const th_crowd_view_desc desc = {
        .models = {human},
        .clips = {TH_NO_INDEX},
        .model_count = 1,
        .count = 300,
        .layout = TH_LAYOUT_STREET,
        .surroundings = true,
        .share_hz = sharing ? 10 : 0,
        .isa = TH_ISA_SCALAR,
        .jobs = {.threads = 1},
        .shadow_pixels = 64,
        .evaluator = TH_EVALUATOR_GPU,
        .fetch = fetch,
        .gpu_mapping = mapping,
        .zoom = 1,
    };
    show(&desc);
    const th_crowd_view_parts parts = th_crowd_view_get_parts(shown);
    cr_assert_eq(parts.evaluator, TH_EVALUATOR_GPU, "%s", th_crowd_view_fallback(shown));
    cr_assert_eq(parts.culling, sharing ? TH_EVALUATOR_CPU : TH_EVALUATOR_GPU, "%s", th_crowd_view_fallback(shown));
    const th_target *target = make_target(64, 36, 1);
    const th_camera camera = th_camera_look_at((float[]){0, 3, 40}, (float[]){0, 0, 0});
    for (int frame = 0; frame < FRAMES; frame++)
        th_crowd_view_frame(shown, frame, &camera, target);
    th_crowd_view_await_stats(shown);
    cr_expect_gt(th_crowd_view_get_stats(shown).visible, 0);

    /* And palettes that are read back. */
    const th_gpu_evaluator_desc read = {.gl = gl,
                                        .compiled_models = parts.scene->compiled_models,
                                        .compiled_model_count = 1,
                                        .palette = parts.palette,
                                        .mapping = mapping};
    th_gpu_evaluator *evaluator;
    cr_assert_eq(th_gpu_evaluator_create(&read, &evaluator, &err), TH_OK, "%s", err.text);
    void *palettes = th_cache_line_alloc(th_crowd_palette_bytes(parts.crowd));
    cr_assert_eq(th_gpu_evaluator_read(evaluator, parts.crowd, 1, palettes, &err), TH_OK, "%s", err.text);
    free(palettes);
    th_gpu_evaluator_destroy(evaluator);
    cr_expect_geq(reads, FRAMES * (sharing ? 1 : 10), "%u", reads);
}

Test(barriers, are_there_for_storage)
{
    draw_frames(TH_FETCH_STORAGE, TH_GPU_MAPPING_CHARACTER, false);
}

Test(barriers, are_there_for_textures)
{
    draw_frames(TH_FETCH_TEXTURE, TH_GPU_MAPPING_JOINT, false);
}

Test(barriers, are_there_where_the_cpu_culls)
{
    draw_frames(TH_FETCH_STORAGE, TH_GPU_MAPPING_JOINT, true);
}

Test(barriers, are_there_for_textures_where_the_cpu_culls)
{
    draw_frames(TH_FETCH_TEXTURE, TH_GPU_MAPPING_CHARACTER, true);
}

Test(barriers, are_there_where_counts_are_asked_for)
{
    maps_nothing = true;
    draw_frames(TH_FETCH_STORAGE, TH_GPU_MAPPING_CHARACTER, false);
}
