/* The steps are those of cull.c (shaders/cull.glsl). A block is a work group. Sums over blocks take the place of atomic
 * counters, so that the list has an order, that of the CPU. */
#include "crowd_view_parts.h"

#include "cull_test.h"
#include "gl/program.h"
#include "tint.h"
#include "upload.h"

#include <anim/device_program.h>
#include <core/arena.h>
#include <shaders.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LODS = TH_RENDER_MESH_LODS,
    MODEL_LISTS = 2 * LODS, /* draw lists */
    BLOCK = 256,            /* instances; as in cull.glsl */
    MOST_BLOCKS = 65535,    /* work groups that every driver dispatches at once */
    ALIGNMENT = 256,        /* the largest that a driver may ask for */
    CHUNK_STEP = 64,        /* characters: their palettes and cursors are whole units of the alignment */
    COMMAND_WORDS = sizeof(th_indirect_command) / sizeof(uint32_t),
    DISPATCH_WORDS = 3,
};

/* ---- what the shaders read ---- */

/* Model of cull.glsl. */
typedef struct block_model {
    uint32_t first_cursor, chunk, shadow_lod, group_size, first_dispatch, chunk_count, unused[2];
} block_model;

/* Frame of cull.glsl, without the models. */
typedef struct frame_block {
    float planes[TH_CULL_PLANES][4];
    float pushes[TH_CULL_PLANES];
    float limits[12];
    float eye[3], ground;
    double time_s, length;
    uint32_t plane_count, instance_count, block_count, tints_levels;
    uint32_t tints[12];
} frame_block;

_Static_assert(sizeof(frame_block) % 16 == 0 && sizeof(block_model) % 16 == 0, "as std140 has them");
_Static_assert(LODS <= 12 && TH_CULL_MAX_LODS - 1 <= 12, "vectors of four");

/* One of Spheres of cull_count.comp: what is tested of an instance besides X and Z of its position. */
typedef struct block_sphere {
    float y, radius;
    uint32_t first_list, unused;
} block_sphere;

/* Part of cull_draw.comp: one of what is drawn of a mesh. */
typedef struct draw_part {
    uint32_t model, first_command, has_indices, unused;
    uint32_t levels[LODS][2];
} draw_part;

/* ---- the object ---- */

enum step { COUNT, SUM, DRAW, LIST, STEPS };

/* All buffers. Those of the GPU alone are one each, because it runs one frame after the other. */
enum buffer {
    INSTANCES,
    SPHERES,
    WALKS,
    PLAYBACKS,
    CLIPS,
    PARTS,
    FOUND,
    COUNTS,
    TOTALS,
    LISTS,
    DISPATCHES,
    COMMANDS,
    LISTED,
    CURSORS,
    PALETTES,
    COUNTED, /* one for each slot of the ring */
    BUFFERS = COUNTED + TH_RING_SLOTS,
};

struct th_gpu_cull {
    th_arena *arena; /* holds this */
    const th_gl *gl;
    th_gpu_evaluator *evaluator;
    const th_cull *cull;
    uint32_t instance_count, block_count, model_count, list_count, part_count;
    size_t palette_bytes, bytes;
    double street_length;
    bool walks;
    GLuint programs[STEPS];
    GLuint buffers[BUFFERS];
    block_model *models;
    uint32_t *first_cursors;
    th_indirect_mesh *meshes;
    th_indirect indirect;
    th_gpu_pose *poses; /* of all chunks */
    uint32_t pose_count;
    draw_part *parts;
    const uint32_t *mapped[TH_RING_SLOTS]; /* NULL: counts are read by a call, into `counts` */
    uint32_t *counts;
    uint64_t runs;
};

/* ---- sizes ---- */

/* How the characters of a model are divided into chunks, each of which can be posed, and drawn, at once. */
static th_result make_mesh(th_gpu_cull *c, const th_crowd_view *v, uint32_t m, th_error *err)
{
    const th_gl_info *info = th_gl_get_info(c->gl);
    const th_palette_range range = th_crowd_palettes(v->crowd, m);
    const size_t drawn = th_crowd_renderer_most_shared_bytes(v->renderer), posed = info->storage_block_bytes;
    const uint32_t group_size = th_gpu_evaluator_group_size(c->evaluator);
    th_indirect_mesh *mesh = &c->meshes[m];
    *mesh = (th_indirect_mesh){.most = range.count, .palette_offset = c->palette_bytes, .palette_stride = range.stride};
    c->models[m] = (block_model){.first_cursor = c->first_cursors[m], .chunk = 1, .group_size = group_size};
    if (range.count == 0 || range.stride == 0)
        return TH_OK;
    const size_t most = (drawn < posed ? drawn : posed) / range.stride, dispatched = (size_t)MOST_BLOCKS * group_size;
    mesh->chunk = (uint32_t)(most < dispatched ? most : dispatched) / CHUNK_STEP * CHUNK_STEP;
    if (mesh->chunk == 0)
        return th_fail(err, TH_ERR_INPUT, "%d palettes of model %u take %.1f MB, and %s can bind %.1f MB", CHUNK_STEP,
                       m, (double)(CHUNK_STEP * range.stride) / 1e6, info->renderer,
                       (double)(drawn < posed ? drawn : posed) / 1e6);
    mesh->chunk_count = (range.count + mesh->chunk - 1) / mesh->chunk;
    c->palette_bytes += (range.count * range.stride + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    c->models[m].chunk = mesh->chunk;
    c->models[m].first_dispatch = c->pose_count;
    c->models[m].chunk_count = mesh->chunk_count;
    c->pose_count += mesh->chunk_count;
    return TH_OK;
}

/* What each step binds at once, besides palettes. */
static th_result check_size(const th_gpu_cull *c, th_error *err)
{
    const th_gl_info *info = th_gl_get_info(c->gl);
    const uint64_t instances = (uint64_t)c->instance_count * sizeof(th_gpu_instance),
                   counts = (uint64_t)c->block_count * c->list_count * sizeof(uint32_t),
                   most = instances > counts ? instances : counts;
    if (most > info->storage_block_bytes || c->block_count > MOST_BLOCKS)
        return th_fail(err, TH_ERR_INPUT, "%u characters take %.1f MB, and %s can bind %.1f MB", c->instance_count,
                       (double)most / 1e6, info->renderer, (double)info->storage_block_bytes / 1e6);
    return TH_OK;
}

/* What is drawn of each mesh, and its commands. Returns the number of commands. */
static uint32_t make_parts(th_gpu_cull *c, const th_crowd_renderer *renderer)
{
    uint32_t command = 0;
    draw_part *out = c->parts;
    for (uint32_t m = 0; m < c->model_count; m++) {
        const th_upload *upload = th_crowd_renderer_upload(renderer, m);
        c->meshes[m].first_command = command;
        for (uint32_t p = 0; p < TH_INDIRECT_PARTS + upload->part_count; p++, out++) {
            *out = (draw_part){.model = m, .first_command = command};
            command += c->meshes[m].chunk_count * TH_INDIRECT_COMMANDS;
            if (p >= TH_INDIRECT_PARTS) {
                const th_upload_part *part = &upload->parts[p - TH_INDIRECT_PARTS];
                out->has_indices = true;
                for (uint32_t l = 0; l < LODS; l++) {
                    const th_render_mesh_lod *level = &part->lods[th_upload_level(upload, l)];
                    out->levels[l][0] = level->first_index;
                    out->levels[l][1] = level->index_count;
                }
            } else { /* squares have four corners, and skeletons the ends of their lines */
                for (uint32_t l = 0; l < LODS; l++)
                    out->levels[l][1] = p == TH_INDIRECT_CONTACTS ? 4 : upload->line_end_count;
            }
        }
    }
    return command;
}

/* ---- buffers ---- */

static bool make_buffer(th_gpu_cull *c, enum buffer which, size_t bytes, const void *data)
{
    c->bytes += bytes;
    return th_buffer_make(&c->buffers[which], bytes, data, data ? GL_STATIC_DRAW : GL_DYNAMIC_COPY);
}

/* Counts for the CPU. */
static bool make_counted(th_gpu_cull *c, uint32_t slot)
{
    const GLbitfield flags = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    const GLsizeiptr bytes = (GLsizeiptr)(c->list_count * sizeof(uint32_t));
    if (!th_gl_get_info(c->gl)->buffer_storage)
        return make_buffer(c, COUNTED + slot, (size_t)bytes, NULL);
    glGenBuffers(1, &c->buffers[COUNTED + slot]);
    glBindBuffer(GL_COPY_WRITE_BUFFER, c->buffers[COUNTED + slot]);
    glBufferStorage(GL_COPY_WRITE_BUFFER, bytes, NULL, flags);
    c->mapped[slot] = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, bytes, flags);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    while (!c->mapped[slot] && glGetError() != GL_NO_ERROR) /* the caller may go on with the CPU */
        ;
    return c->mapped[slot] != NULL;
}

/* What never changes, and what the GPU writes; cursors that nobody has written yet are of the first frame. */
static bool make_buffers(th_gpu_cull *c, const th_crowd_view *v, uint32_t command_count)
{
    const size_t word = sizeof(uint32_t), count = c->instance_count, lists = c->list_count,
                 clip_count = th_crowd_device_clip_count(v->crowd);
    th_arena *memory = th_arena_create();
    block_sphere *spheres = th_arena_new(memory, block_sphere, count);
    th_device_playback *playbacks = th_arena_new(memory, th_device_playback, count);
    th_device_clip *clips = th_arena_new(memory, th_device_clip, clip_count);
    bool ok = !th_arena_failed(memory);
    if (ok) {
        for (uint32_t i = 0; i < count; i++)
            spheres[i] = (block_sphere){c->cull->y[i], c->cull->radius[i], c->cull->first_list[i], 0};
        th_crowd_device_playbacks(v->crowd, playbacks);
        th_crowd_device_clips(v->crowd, clips);
    }
    ok = ok && make_buffer(c, INSTANCES, count * sizeof *v->gpu_instances, v->gpu_instances) &&
         make_buffer(c, SPHERES, count * sizeof *spheres, spheres) &&
         make_buffer(c, WALKS, v->walks ? count * sizeof *v->walks : 0, v->walks) &&
         make_buffer(c, PLAYBACKS, count * sizeof *playbacks, playbacks) &&
         make_buffer(c, CLIPS, clip_count * sizeof *clips, clips) &&
         make_buffer(c, PARTS, c->part_count * sizeof *c->parts, c->parts) &&
         make_buffer(c, FOUND, count * 2 * word, NULL) && make_buffer(c, COUNTS, lists * c->block_count * word, NULL) &&
         make_buffer(c, TOTALS, lists * word, NULL) && make_buffer(c, LISTS, lists * 2 * word, NULL) &&
         make_buffer(c, DISPATCHES, c->pose_count * DISPATCH_WORDS * word, NULL) &&
         make_buffer(c, COMMANDS, command_count * sizeof(th_indirect_command), NULL) &&
         make_buffer(c, LISTED, count * sizeof(th_gpu_instance), NULL) &&
         make_buffer(c, PALETTES, c->palette_bytes, NULL) &&
         make_buffer(c, CURSORS, (c->first_cursors[c->model_count] + 1) * sizeof(th_device_cursor), NULL);
    th_arena_destroy(memory);
    if (ok) {
        glBindBuffer(GL_COPY_WRITE_BUFFER, c->buffers[CURSORS]);
        glClearBufferData(GL_COPY_WRITE_BUFFER, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, NULL);
        glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    }
    for (uint32_t slot = 0; slot < TH_RING_SLOTS && ok; slot++)
        ok = make_counted(c, slot);
    return ok;
}

/* ---- programs ---- */

static th_result make_program(th_gpu_cull *c, enum step step, th_error *err)
{
    static const th_shader *const shaders[STEPS] = {&th_shader_cull_count_comp, &th_shader_cull_sum_comp,
                                                    &th_shader_cull_draw_comp, &th_shader_cull_list_comp};
    char models[32], lists[32], lods[32], slack[32], commands[32], stretches[32];
    snprintf(models, sizeof models, "MODELS %uu", c->model_count);
    snprintf(lists, sizeof lists, "LISTS %uu", c->list_count);
    snprintf(lods, sizeof lods, "LODS %du", LODS);
    snprintf(slack, sizeof slack, "SLACK %.9g", (double)TH_CULL_SLACK);
    snprintf(commands, sizeof commands, "COMMANDS %du", TH_INDIRECT_COMMANDS);
    snprintf(stretches, sizeof stretches, "STRETCHES %du", TH_DEVICE_STRETCHES);
    const th_program_desc desc = {
        .name = "cull",
        .compute = {&th_shader_cull_glsl, shaders[step]},
        .defines = {models, lists, lods, slack, commands, stretches, c->walks ? "WALKS" : NULL},
    };
    return th_program_create(&desc, &c->programs[step], err);
}

/* ---- creating ---- */

th_result th_gpu_cull_create(const th_crowd_view *v, const th_gl *gl, th_gpu_cull **out, th_error *err)
{
    assert(v && gl && v->renderer && v->evaluator && v->cull && v->gpu_instances && out);
    assert(th_crowd_capacity(v->crowd) > 0);
    *out = NULL;
    const uint32_t count = th_crowd_capacity(v->crowd), models = th_crowd_model_count(v->crowd);
    th_arena *arena = th_arena_create();
    th_gpu_cull *c = th_arena_new(arena, th_gpu_cull, 1);
    if (c)
        *c = (th_gpu_cull){
            .arena = arena,
            .gl = gl,
            .evaluator = v->evaluator,
            .cull = v->cull,
            .instance_count = count,
            .block_count = (count + BLOCK - 1) / BLOCK,
            .model_count = models,
            .list_count = models * MODEL_LISTS,
            .street_length = (double)v->layout.length,
            .walks = v->walks != NULL,
            .models = th_arena_new(arena, block_model, models),
            .first_cursors = th_arena_new(arena, uint32_t, (size_t)models + 1),
            .meshes = th_arena_new(arena, th_indirect_mesh, models),
            .counts = th_arena_new(arena, uint32_t, (size_t)models * MODEL_LISTS),
        };
    if (th_arena_failed(arena)) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "no memory to list characters");
    }
    th_result result = check_size(c, err);
    for (uint32_t m = 0; m < models && result == TH_OK; m++) {
        const uint32_t cursors = (th_crowd_palettes(v->crowd, m).count + CHUNK_STEP - 1) / CHUNK_STEP * CHUNK_STEP;
        c->first_cursors[m + 1] = c->first_cursors[m] + cursors;
        c->part_count += th_crowd_renderer_upload(v->renderer, m)->part_count + TH_INDIRECT_PARTS;
        result = make_mesh(c, v, m, err);
    }
    if (result == TH_OK) {
        c->parts = th_arena_new(arena, draw_part, c->part_count);
        c->poses = th_arena_new(arena, th_gpu_pose, c->pose_count);
        if (th_arena_failed(arena))
            result = th_fail(err, TH_ERR_MEMORY, "no memory to list %u characters", count);
        else if (!make_buffers(c, v, make_parts(c, v->renderer)))
            result =
                th_fail(err, TH_ERR_MEMORY, "%s has no memory to list %u characters and to pose all of them, %.1f MB",
                        th_gl_get_info(c->gl)->renderer, count, (double)c->bytes / 1e6);
    }
    for (enum step step = 0; step < STEPS && result == TH_OK; step++)
        result = make_program(c, step, err);
    if (result == TH_OK)
        result = th_gl_check((th_gl *)c->gl, "while a crowd was uploaded", err);
    if (result != TH_OK) {
        th_gpu_cull_destroy(c);
        return result;
    }

    /* All chunks, for the evaluator. */
    th_gpu_pose *pose = c->poses;
    for (uint32_t m = 0; m < models; m++) {
        const th_indirect_mesh *mesh = &c->meshes[m];
        for (uint32_t k = 0; k < mesh->chunk_count; k++, pose++) {
            const size_t first = (size_t)k * mesh->chunk;
            *pose = (th_gpu_pose){
                .model = m,
                .most = th_indirect_chunk(mesh, k),
                .stride = mesh->palette_stride,
                .palettes = {c->buffers[PALETTES], mesh->palette_offset + first * mesh->palette_stride},
                .cursors = {c->buffers[CURSORS], (c->first_cursors[m] + first) * sizeof(th_device_cursor)},
                .groups = {c->buffers[DISPATCHES], (size_t)(pose - c->poses) * DISPATCH_WORDS * sizeof(uint32_t)},
            };
        }
    }
    c->indirect = (th_indirect){c->buffers[COMMANDS], c->buffers[LISTED], c->buffers[PALETTES], c->meshes};
    *out = c;
    return TH_OK;
}

void th_gpu_cull_destroy(th_gpu_cull *c)
{
    if (!c)
        return;
    glDeleteBuffers(BUFFERS, c->buffers);
    for (enum step step = 0; step < STEPS; step++)
        glDeleteProgram(c->programs[step]);
    th_arena_destroy(c->arena);
}

/* ---- a frame ---- */

size_t th_gpu_cull_frame_bytes(const th_gpu_cull *c)
{
    assert(c);
    return sizeof(frame_block) + c->model_count * sizeof(block_model);
}

void th_gpu_cull_write(const th_gpu_cull *c, const th_gpu_cull_frame *frame, void *out)
{
    assert(c && frame && frame->visible && frame->models && out);
    const th_cull_test test = th_cull_test_of(c->cull, frame->visible, frame->light);
    frame_block block = {.time_s = frame->time_s,
                         .length = c->street_length,
                         .instance_count = c->instance_count,
                         .block_count = c->block_count,
                         .tints_levels = frame->tints_levels,
                         .ground = test.ground,
                         .plane_count = (uint32_t)test.plane_count};
    memcpy(block.planes, test.plane, sizeof test.plane);
    memcpy(block.pushes, test.push, sizeof test.push);
    memcpy(block.limits, test.limit2, sizeof test.limit2);
    memcpy(block.eye, test.eye, sizeof test.eye);
    for (uint32_t lod = 0; lod < LODS; lod++)
        memcpy(&block.tints[lod], th_tint_lod(lod).rgba, sizeof block.tints[lod]);
    memcpy(out, &block, sizeof block);
    block_model *models = (block_model *)((char *)out + sizeof block);
    for (uint32_t m = 0; m < c->model_count; m++) {
        block_model model = c->models[m];
        model.shadow_lod = frame->models[m].shadow_lod;
        models[m] = model;
    }
}

/* Runs a step on buffers in the order of its bindings. The next one sees what it writes. */
static void run(const th_gpu_cull *c, enum step step, uint32_t groups, const enum buffer *buffers, uint32_t count)
{
    for (uint32_t b = 0; b < count; b++)
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, b, c->buffers[buffers[b]]);
    glUseProgram(c->programs[step]);
    glDispatchCompute(groups, 1, 1);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
}

#define RUN(c, step, groups, ...)                                                                                      \
    run(c, step, groups, (const enum buffer[]){__VA_ARGS__},                                                           \
        sizeof((const enum buffer[]){__VA_ARGS__}) / sizeof(enum buffer))

/* The barrier behind COUNT makes writes wait for the draws of the frame before, too. */
void th_gpu_cull_run(th_gpu_cull *c, th_ring_binding frame)
{
    assert(c);
    const enum buffer counted = COUNTED + (enum buffer)(c->runs++ % TH_RING_SLOTS);
    glBindBufferRange(GL_UNIFORM_BUFFER, 0, frame.buffer, (GLintptr)frame.offset,
                      (GLsizeiptr)th_gpu_cull_frame_bytes(c));
    RUN(c, COUNT, c->block_count, INSTANCES, SPHERES, WALKS, FOUND, COUNTS);
    RUN(c, SUM, c->list_count, COUNTS, TOTALS);
    RUN(c, DRAW, c->part_count, TOTALS, PARTS, LISTS, counted, DISPATCHES, COMMANDS);
    RUN(c, LIST, c->block_count, INSTANCES, FOUND, COUNTS, LISTS, PLAYBACKS, CLIPS, LISTED, CURSORS);
    for (GLuint point = 0; point < 8; point++)
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, point, 0);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, 0);
    glUseProgram(0);
    glMemoryBarrier(GL_COMMAND_BARRIER_BIT | GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT |
                    (c->mapped[0] ? GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT : 0));
}

void th_gpu_cull_pose(const th_gpu_cull *c)
{
    assert(c);
    th_gpu_evaluator_pose_counted(c->evaluator, c->poses, c->pose_count);
}

const th_indirect *th_gpu_cull_draws(th_gpu_cull *c, const th_draw_model *models)
{
    assert(c && models);
    for (uint32_t m = 0; m < c->model_count; m++) {
        c->meshes[m].shadow_lod = models[m].shadow_lod;
        c->meshes[m].footprint = models[m].footprint;
    }
    return &c->indirect;
}

/* ---- counts ---- */

static const uint32_t *counts_of(th_gpu_cull *c, uint64_t run)
{
    const uint32_t slot = (uint32_t)(run % TH_RING_SLOTS);
    if (c->mapped[slot])
        return c->mapped[slot];
    th_gpu_read_buffer((th_ring_binding){c->buffers[COUNTED + slot], 0}, c->list_count * sizeof *c->counts, c->counts);
    return c->counts;
}

const uint32_t *th_gpu_cull_old_counts(th_gpu_cull *c)
{
    assert(c);
    return c->runs < TH_RING_SLOTS ? NULL : counts_of(c, c->runs - TH_RING_SLOTS);
}

const uint32_t *th_gpu_cull_counts(th_gpu_cull *c)
{
    assert(c);
    if (c->runs == 0)
        return NULL;
    glFinish();
    return counts_of(c, c->runs - 1);
}

th_gpu_cull_list th_gpu_cull_get_list(const th_gpu_cull *c)
{
    assert(c);
    return (th_gpu_cull_list){c->buffers[LISTED], c->buffers[CURSORS], c->first_cursors};
}
