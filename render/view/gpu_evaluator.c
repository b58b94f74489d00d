#include <throng/render/gpu_evaluator.h>

#include "chunk.h"
#include "gl/buffer.h"
#include "gl/program.h"

#include <shaders.h>
#include <throng/core/mutant.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* Transforms that an invocation keeps: 64 matrices are 3 kB, a human takes 4. */
#define MOST_SLOTS 64

enum { GROUP = 64, MOST_GROUPS = 65535 }; /* local_size_x; groups that every driver dispatches at once */

enum { PALETTES, PROGRAM, FRAMES, CURSORS, BLOCKS }; /* binding points */

/* What the shader reads of a model, and the program that is compiled for it. */
typedef struct gpu_model {
    GLuint program, words, frames;
    GLint count, first_cursor, first_texel, stride;
} gpu_model;

struct th_gpu_evaluator {
    const th_gl *gl;
    th_palette palette;
    gpu_model *models;
    uint32_t model_count;
};

const char *th_evaluator_name(th_evaluator evaluator)
{
    static const char *const names[TH_EVALUATOR_COUNT] = {"cpu", "gpu", "auto"};
    return names[evaluator];
}

/* ---- programs ---- */

static const char *curve_define(th_interpolation curve)
{
    static const char *const names[TH_INTERPOLATION_COUNT] = {
        [TH_INTERPOLATION_STEP] = "CURVE_STEP",   [TH_INTERPOLATION_NLERP] = "CURVE_NLERP",
        [TH_INTERPOLATION_SLERP] = "CURVE_SLERP", [TH_INTERPOLATION_FAST_SLERP] = "CURVE_FAST_SLERP",
        [TH_INTERPOLATION_CUBIC] = "CURVE_CUBIC",
    };
    assert(names[curve]);
    return names[curve];
}

static const char *palette_define(th_palette palette)
{
    static const char *const names[TH_PALETTE_COUNT] = {"PALETTE_F32", "PALETTE_F16", "PALETTE_QUAT", "PALETTE_QUAT16"};
    return names[palette];
}

static th_result make_program(gpu_model *m, const th_device_program *source, th_palette palette, th_error *err)
{
    char slots[32], turns[32];
    snprintf(slots, sizeof slots, "SLOTS %u", source->slot_count);
    snprintf(turns, sizeof turns, "TURN_STEPS %d.0", TH_TURN_STEPS);
    const bool quats = palette >= TH_PALETTE_QUAT;
    const th_program_desc desc = {
        .name = "pose",
        .compute = {&th_shader_pose_constants_h, &th_shader_pose_glsl,
                    quats ? &th_shader_pose_quats_comp : &th_shader_pose_matrices_comp},
        .defines = {palette_define(palette), curve_define(source->curve),
                    source->keys == TH_KEYS_16 ? "KEYS_16" : "KEYS_32", slots, turns,
                    th_mutant_is(TH_MUTANT_SHADER_CONSTANT) ? "TWICE 2.0000002" : NULL},
    };
    const th_result result = th_program_create(&desc, &m->program, err);
    if (result != TH_OK)
        return result;
    m->count = glGetUniformLocation(m->program, "u_count");
    m->first_cursor = glGetUniformLocation(m->program, "u_first_cursor");
    m->first_texel = glGetUniformLocation(m->program, "u_first_texel");
    m->stride = glGetUniformLocation(m->program, "u_stride");
    return TH_OK;
}

/* ---- models ---- */

static th_result check_size(const th_gl *gl, const char *name, const th_device_program *source, th_error *err)
{
    const th_gl_info *info = th_gl_get_info(gl);
    const size_t words = source->word_count * sizeof *source->words,
                 most = words > source->frames_bytes ? words : source->frames_bytes;
    if (source->slot_count > MOST_SLOTS)
        return th_fail(err, TH_ERR_INPUT, "%s has joints of which %u are waited for at a time, and the shader keeps %d",
                       name, source->slot_count, MOST_SLOTS);
    if (most > info->storage_block_bytes)
        return th_fail(err, TH_ERR_INPUT, "the clips of %s take %.1f MB, and %s can bind %.1f MB", name,
                       (double)most / 1e6, info->renderer, (double)info->storage_block_bytes / 1e6);
    return TH_OK;
}

static th_result upload(gpu_model *m, const th_gl *gl, const char *name, const th_device_program *source, th_error *err)
{
    const size_t words = source->word_count * sizeof *source->words;
    const size_t bytes = words + source->frames_bytes;
    if (th_buffer_make(&m->words, words, source->words, GL_STATIC_DRAW) &&
        th_buffer_make(&m->frames, source->frames_bytes, source->frames, GL_STATIC_DRAW))
        return TH_OK;
    return th_fail(err, TH_ERR_MEMORY, "%s has no memory for the clips of %s, %.1f MB", th_gl_get_info(gl)->renderer,
                   name, (double)bytes / 1e6);
}

static th_result make_model(gpu_model *m, const th_gl *gl, const th_compiled_model *compiled, th_palette palette,
                            th_error *err)
{
    const char *name = th_compiled_model_source(compiled)->name;
    th_device_program source;
    th_result result = th_device_program_init(compiled, palette, &source, err);
    if (result != TH_OK)
        return result;
    result = check_size(gl, name, &source, err);
    if (result == TH_OK)
        result = upload(m, gl, name, &source, err);
    if (result == TH_OK)
        result = make_program(m, &source, palette, err);
    th_device_program_fini(&source);
    return result;
}

/* ---- the evaluator ---- */

th_result th_gpu_evaluator_create(const th_gpu_evaluator_desc *desc, th_gpu_evaluator **out, th_error *err)
{
    assert(desc && desc->gl && out && (desc->compiled_models || desc->compiled_model_count == 0));
    assert((unsigned)desc->palette < TH_PALETTE_COUNT);
    *out = NULL;
    th_gpu_evaluator *e = calloc(1, sizeof *e);
    gpu_model *models = calloc((size_t)desc->compiled_model_count + 1, sizeof *models);
    if (!e || !models) {
        free(e);
        free(models);
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u models", desc->compiled_model_count);
    }
    *e = (th_gpu_evaluator){desc->gl, desc->palette, models, desc->compiled_model_count};
    th_result result = TH_OK;
    for (uint32_t m = 0; m < e->model_count && result == TH_OK; m++)
        result = make_model(&models[m], desc->gl, desc->compiled_models[m], desc->palette, err);
    if (result == TH_OK)
        result = th_gl_check((th_gl *)desc->gl, "while clips were uploaded", err);
    if (result != TH_OK) {
        th_gpu_evaluator_destroy(e);
        return result;
    }
    *out = e;
    return TH_OK;
}

void th_gpu_evaluator_destroy(th_gpu_evaluator *evaluator)
{
    if (!evaluator)
        return;
    for (uint32_t m = 0; m < evaluator->model_count; m++) {
        glDeleteBuffers(1, &evaluator->models[m].words);
        glDeleteBuffers(1, &evaluator->models[m].frames);
        glDeleteProgram(evaluator->models[m].program);
    }
    free(evaluator->models);
    free(evaluator);
}

/* ---- a frame ---- */

/* Poses characters of a model whose palettes can be bound at once. first: the first of the chunk, counted over all
 * models, as cursors are. */
static void pose_chunk(const th_gpu_evaluator *e, const gpu_model *m, const th_chunk *chunk, size_t stride,
                       th_ring_binding palettes, th_ring_binding cursors, uint32_t first)
{
    const size_t texel = th_palette_row_bytes(e->palette), alignment = th_gl_get_info(e->gl)->storage_offset_alignment;
    const size_t begin = cursors.offset + first * sizeof(th_device_cursor), lead = begin % alignment;
    assert((palettes.offset + chunk->offset) % alignment == 0);
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, PALETTES, palettes.buffer, (GLintptr)(palettes.offset + chunk->offset),
                      (GLsizeiptr)chunk->bytes);
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, CURSORS, cursors.buffer, (GLintptr)(begin - lead),
                      (GLsizeiptr)(lead + chunk->count * sizeof(th_device_cursor)));
    glUniform1ui(m->count, chunk->count);
    glUniform1ui(m->first_cursor, (GLuint)(lead / sizeof(th_device_cursor)));
    glUniform1ui(m->first_texel, (GLuint)(chunk->lead / texel));
    glUniform1ui(m->stride, (GLuint)(stride / texel));
    glDispatchCompute((chunk->count + GROUP - 1) / GROUP, 1, 1);
}

/* Returns how many characters the model has. */
static uint32_t pose_model(const th_gpu_evaluator *e, const gpu_model *m, th_palette_range range,
                           th_ring_binding palettes, th_ring_binding cursors, uint32_t first)
{
    const th_gl_info *info = th_gl_get_info(e->gl);
    const th_draw all = {.count = range.count, .palette_offset = range.offset, .palette_stride = range.stride};
    if (range.count == 0 || range.stride == 0)
        return range.count;
    const size_t dispatched = MOST_GROUPS * GROUP * range.stride;
    const size_t most = info->storage_block_bytes < dispatched ? info->storage_block_bytes : dispatched;
    glUseProgram(m->program);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, PROGRAM, m->words);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, FRAMES, m->frames);
    for (th_chunk chunk = {0}; th_chunk_next(&all, range.stride, most, info->storage_offset_alignment, &chunk);)
        pose_chunk(e, m, &chunk, range.stride, palettes, cursors, first + chunk.first);
    return range.count;
}

/* What follows sees the palettes. */
static void end_poses(void)
{
    for (GLuint block = 0; block < BLOCKS; block++)
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, block, 0);
    glUseProgram(0);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
}

void th_gpu_evaluator_pose(th_gpu_evaluator *evaluator, const th_crowd *crowd, th_ring_binding palettes,
                           th_ring_binding cursors)
{
    assert(evaluator && crowd && th_crowd_palette(crowd) == evaluator->palette);
    assert(palettes.offset % TH_CACHE_LINE == 0 && cursors.offset % sizeof(th_device_cursor) == 0);
    uint32_t first = 0;
    for (uint32_t m = 0; m < evaluator->model_count; m++)
        first += pose_model(evaluator, &evaluator->models[m], th_crowd_palettes(crowd, m), palettes, cursors, first);
    end_poses();
}

uint32_t th_gpu_evaluator_group_size(const th_gpu_evaluator *evaluator, uint32_t model)
{
    assert(evaluator && model < evaluator->model_count);
    (void)model;
    return GROUP;
}

static void pose_counted(const gpu_model *m, const th_gpu_pose *pose, size_t texel)
{
    glUseProgram(m->program);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, PROGRAM, m->words);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, FRAMES, m->frames);
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, PALETTES, pose->palettes.buffer, (GLintptr)pose->palettes.offset,
                      (GLsizeiptr)(pose->most * pose->stride));
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, CURSORS, pose->cursors.buffer, (GLintptr)pose->cursors.offset,
                      (GLsizeiptr)(pose->most * sizeof(th_device_cursor)));
    glUniform1ui(m->count, pose->most);
    glUniform1ui(m->first_cursor, 0);
    glUniform1ui(m->first_texel, 0);
    glUniform1ui(m->stride, (GLuint)(pose->stride / texel));
    glDispatchComputeIndirect((GLintptr)pose->groups.offset);
}

/* Whole work groups run, so up to a group of characters behind those counted is posed in vain. */
void th_gpu_evaluator_pose_counted(th_gpu_evaluator *evaluator, const th_gpu_pose *poses, uint32_t count)
{
    assert(evaluator && (poses || count == 0));
    for (uint32_t p = 0; p < count; p++) {
        assert(poses[p].model < evaluator->model_count && poses[p].most > 0);
        glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, poses[p].groups.buffer);
        pose_counted(&evaluator->models[poses[p].model], &poses[p], th_palette_row_bytes(evaluator->palette));
    }
    glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, 0);
    end_poses();
}

/* ---- reading back ---- */

/* Returns NULL if out of memory. */
static th_device_cursor *seek(const th_crowd *crowd, double time_s, uint32_t *out_count)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < th_crowd_batch_count(crowd); b++) {
        const uint32_t *instances;
        count += th_crowd_batch_instances(crowd, b, &instances);
    }
    *out_count = count;
    th_device_cursor *cursors = calloc((size_t)count + 1, sizeof *cursors);
    if (cursors)
        th_crowd_seek(crowd, 0, th_crowd_batch_count(crowd), time_s, cursors);
    return cursors;
}

static bool make_buffers(const th_crowd *crowd, double time_s, GLuint buffers[2])
{
    uint32_t count;
    th_device_cursor *cursors = seek(crowd, time_s, &count);
    const bool ok = cursors && th_buffer_make(&buffers[0], th_crowd_palette_bytes(crowd), NULL, GL_DYNAMIC_READ) &&
                    th_buffer_make(&buffers[1], count * sizeof *cursors, cursors, GL_STREAM_DRAW);
    free(cursors);
    return ok;
}

void th_gpu_read_buffer(th_ring_binding from, size_t bytes, void *out)
{
    glBindBuffer(GL_COPY_READ_BUFFER, from.buffer);
    glGetBufferSubData(GL_COPY_READ_BUFFER, (GLintptr)from.offset, (GLsizeiptr)bytes, out);
    glBindBuffer(GL_COPY_READ_BUFFER, 0);
}

th_result th_gpu_evaluator_read(th_gpu_evaluator *evaluator, const th_crowd *crowd, double time_s, void *out,
                                th_error *err)
{
    assert(evaluator && crowd && out);
    const size_t bytes = th_crowd_palette_bytes(crowd);
    GLuint buffers[2] = {0};
    th_result result = TH_OK;
    if (make_buffers(crowd, time_s, buffers)) {
        th_gpu_evaluator_pose(evaluator, crowd, (th_ring_binding){buffers[0], 0}, (th_ring_binding){buffers[1], 0});
        th_gpu_read_buffer((th_ring_binding){buffers[0], 0}, bytes, out);
        result = th_gl_check((th_gl *)evaluator->gl, "while the GPU posed a crowd", err);
    } else {
        result = th_fail(err, TH_ERR_MEMORY, "%s has no memory for palettes of %.1f MB",
                         th_gl_get_info(evaluator->gl)->renderer, (double)bytes / 1e6);
    }
    glDeleteBuffers(2, buffers);
    return result;
}
