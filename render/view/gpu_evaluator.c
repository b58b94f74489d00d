#include <render/gpu_evaluator.h>

#include "chunk.h"
#include "gl/program.h"

#include <core/clock.h>
#include <render/gpu_clock.h>
#include <shaders.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* Transforms that an invocation keeps: 64 matrices are 3 kB, a human takes 4. */
#define MOST_SLOTS 64

enum { CHARACTERS = 64, MOST_GROUPS = 65535 }; /* of a work group, as local_size_x; that every driver dispatches */

/* Mappings are measured in turns, after a turn to warm up. The best frame counts. */
enum { TURNS = 6, ENOUGH_NS = 100000000 };
#define MEASURED_BYTES ((size_t)256 << 20) /* of palettes: more characters change no ratio */

enum { PALETTES, PROGRAM, FRAMES, CURSORS, BLOCKS }; /* binding points */

typedef struct pose_program {
    GLuint program;
    GLint count, first_cursor, first_texel, stride;
} pose_program;

/* What the shader reads of a model, and the programs that are compiled for it. */
typedef struct gpu_model {
    char name[64];
    th_keys keys;
    th_interpolation curve;
    uint32_t op_count, slot_count;
    GLuint words, frames;
    pose_program programs[TH_GPU_MAPPING_COUNT];
} gpu_model;

struct th_gpu_evaluator {
    const th_gl *gl;
    th_format palette;
    th_gpu_mapping_choice choice;
    uint32_t model_count;
    gpu_model models[];
};

const char *th_evaluator_name(th_evaluator evaluator)
{
    static const char *const names[TH_EVALUATOR_COUNT] = {"cpu", "gpu", "auto"};
    return names[evaluator];
}

const char *th_gpu_mapping_name(th_gpu_mapping mapping)
{
    static const char *const names[TH_GPU_MAPPING_COUNT] = {"auto", "character", "joint"};
    return names[mapping];
}

/* ---- programs ---- */

static bool is_quat(th_format palette)
{
    return palette == TH_FORMAT_QUAT || palette == TH_FORMAT_QUAT16;
}

static th_result make_program(const th_gpu_evaluator *e, gpu_model *m, th_gpu_mapping mapping, th_error *err)
{
    static const char *const palettes[TH_FORMAT_COUNT] = {"PALETTE_F32", "PALETTE_QUAT", "PALETTE_QUAT16"};
    static const char *const curves[TH_INTERPOLATION_COUNT] = {
        [TH_INTERPOLATION_STEP] = "CURVE_STEP",
        [TH_INTERPOLATION_NLERP] = "CURVE_NLERP",
        [TH_INTERPOLATION_SLERP] = "CURVE_SLERP",
        [TH_INTERPOLATION_CUBIC] = "CURVE_CUBIC",
    };
    char slots[32], ops[32], turns[32];
    assert(curves[m->curve]);
    snprintf(slots, sizeof slots, "SLOTS %u", m->slot_count);
    snprintf(ops, sizeof ops, "OPS %uu", m->op_count);
    snprintf(turns, sizeof turns, "TURN_STEPS %d.0", TH_TURN_STEPS);
    const th_program_desc desc = {
        .name = "pose",
        .compute = {&th_shader_pose_constants_h, &th_shader_pose_glsl,
                    is_quat(e->palette) ? &th_shader_pose_quats_glsl : &th_shader_pose_matrices_glsl,
                    mapping == TH_GPU_MAPPING_JOINT ? &th_shader_pose_joint_comp : &th_shader_pose_character_comp},
        .defines = {palettes[e->palette], curves[m->curve], m->keys == TH_KEYS_16 ? "KEYS_16" : "KEYS_32", slots, ops,
                    turns},
    };
    pose_program *p = &m->programs[mapping];
    const th_result result = th_program_create(&desc, &p->program, err);
    if (result != TH_OK)
        return result;
    p->count = glGetUniformLocation(p->program, "u_count"); /* JOINT has none */
    p->first_cursor = glGetUniformLocation(p->program, "u_first_cursor");
    p->first_texel = glGetUniformLocation(p->program, "u_first_texel");
    p->stride = glGetUniformLocation(p->program, "u_stride");
    return TH_OK;
}

/* ---- models ---- */

static th_result make_model(gpu_model *m, const th_gl *gl, const th_compiled_model *compiled, th_format palette,
                            th_error *err)
{
    th_device_program source;
    th_result result = th_device_program_init(compiled, palette, &source, err);
    if (result != TH_OK)
        return result;
    *m = (gpu_model){
        .keys = source.keys, .curve = source.curve, .op_count = source.op_count, .slot_count = source.slot_count};
    snprintf(m->name, sizeof m->name, "%s", th_compiled_model_source(compiled)->name);
    const th_gl_info *info = th_gl_get_info(gl);
    const size_t words = source.word_count * sizeof *source.words,
                 most = words > source.frames_bytes ? words : source.frames_bytes;
    if (most > info->storage_block_bytes)
        result = th_fail(err, TH_ERR_INPUT, "the clips of %s take %.1f MB, and %s can bind %.1f MB", m->name,
                         (double)most / 1e6, info->renderer, (double)info->storage_block_bytes / 1e6);
    else if (!th_buffer_make(&m->words, words, source.words, GL_STATIC_DRAW) ||
             !th_buffer_make(&m->frames, source.frames_bytes, source.frames, GL_STATIC_DRAW))
        result = th_fail(err, TH_ERR_MEMORY, "%s has no memory for the clips of %s, %.1f MB", info->renderer, m->name,
                         (double)(words + source.frames_bytes) / 1e6);
    th_device_program_fini(&source);
    return result;
}

/* ---- a frame ---- */

static uint32_t group_of(th_gpu_mapping mapping)
{
    return mapping == TH_GPU_MAPPING_JOINT ? 1 : CHARACTERS;
}

static const pose_program *use(const gpu_model *m, th_gpu_mapping mapping)
{
    glUseProgram(m->programs[mapping].program);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, PROGRAM, m->words);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, FRAMES, m->frames);
    return &m->programs[mapping];
}

static void bind(GLuint point, th_ring_binding from, size_t bytes)
{
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, point, from.buffer, (GLintptr)from.offset, (GLsizeiptr)bytes);
}

/* In chunks whose palettes can be bound at once. first: the first character of the model, counted over all models, as
 * cursors are. */
static void pose_model(const th_gpu_evaluator *e, const gpu_model *m, th_gpu_mapping mapping, th_palette_range range,
                       th_ring_binding palettes, th_ring_binding cursors, uint32_t first)
{
    const th_gl_info *info = th_gl_get_info(e->gl);
    const th_draw all = {.count = range.count, .palette_offset = range.offset, .palette_stride = range.stride};
    const size_t alignment = info->storage_offset_alignment;
    const uint32_t group = group_of(mapping); /* characters of a work group */
    if (range.count == 0 || range.stride == 0)
        return;
    const size_t dispatched = (size_t)MOST_GROUPS * group * range.stride;
    const size_t most = info->storage_block_bytes < dispatched ? info->storage_block_bytes : dispatched;
    const pose_program *p = use(m, mapping);
    for (th_chunk chunk = {0}; th_chunk_next(&all, range.stride, most, alignment, &chunk);) {
        const size_t begin = cursors.offset + (first + chunk.first) * sizeof(th_device_cursor),
                     lead = begin % alignment;
        assert((palettes.offset + chunk.offset) % alignment == 0);
        bind(PALETTES, (th_ring_binding){palettes.buffer, palettes.offset + chunk.offset}, chunk.bytes);
        bind(CURSORS, (th_ring_binding){cursors.buffer, begin - lead}, lead + chunk.count * sizeof(th_device_cursor));
        glUniform1ui(p->count, chunk.count);
        glUniform1ui(p->first_cursor, (GLuint)(lead / sizeof(th_device_cursor)));
        glUniform1ui(p->first_texel, (GLuint)(chunk.lead / TH_PALETTE_ROW_BYTES));
        glUniform1ui(p->stride, (GLuint)(range.stride / TH_PALETTE_ROW_BYTES));
        glDispatchCompute((chunk.count + group - 1) / group, 1, 1);
    }
}

/* What follows sees the palettes. */
static void end_poses(void)
{
    for (GLuint block = 0; block < BLOCKS; block++)
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, block, 0);
    glUseProgram(0);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
}

/* room: of palettes, in bytes. Of a model as many characters as there is room for: all, or the first ones at the
 * beginning. */
static void pose(const th_gpu_evaluator *e, th_gpu_mapping mapping, const th_crowd *crowd, th_ring_binding palettes,
                 size_t room, th_ring_binding cursors)
{
    uint32_t first = 0;
    for (uint32_t m = 0; m < e->model_count; m++) {
        const th_palette_range range = th_crowd_palettes(crowd, m);
        th_palette_range fit = range;
        if (range.stride > 0 && range.offset + range.count * range.stride > room) {
            const size_t most = room / range.stride;
            fit =
                (th_palette_range){.stride = range.stride, .count = most < range.count ? (uint32_t)most : range.count};
        }
        pose_model(e, &e->models[m], mapping, fit, palettes, cursors, first);
        first += range.count;
    }
    end_poses();
}

void th_gpu_evaluator_pose(th_gpu_evaluator *evaluator, const th_crowd *crowd, th_ring_binding palettes,
                           th_ring_binding cursors)
{
    assert(evaluator && crowd && th_crowd_format(crowd) == evaluator->palette);
    assert(palettes.offset % TH_CACHE_LINE == 0 && cursors.offset % sizeof(th_device_cursor) == 0);
    pose(evaluator, evaluator->choice.mapping, crowd, palettes, SIZE_MAX, cursors);
}

/* ---- buffers of a crowd ---- */

/* Of palettes of these bytes, and of cursors. */
static bool make_buffers(const th_crowd *crowd, double time_s, size_t bytes, GLuint buffers[2])
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < th_crowd_batch_count(crowd); b++) {
        const uint32_t *instances;
        count += th_crowd_batch_instances(crowd, b, &instances);
    }
    th_device_cursor *cursors = calloc((size_t)count + 1, sizeof *cursors);
    if (!cursors)
        return false;
    th_crowd_cursors(crowd, 0, th_crowd_batch_count(crowd), time_s, cursors);
    const bool ok = th_buffer_make(&buffers[0], bytes, NULL, GL_DYNAMIC_READ) &&
                    th_buffer_make(&buffers[1], count * sizeof *cursors, cursors, GL_STREAM_DRAW);
    free(cursors);
    return ok;
}

static th_result no_palette_memory(const th_gl *gl, size_t bytes, th_error *err)
{
    return th_fail(err, TH_ERR_MEMORY, "%s has no memory for palettes of %.1f MB", th_gl_get_info(gl)->renderer,
                   (double)bytes / 1e6);
}

/* ---- choosing a mapping ---- */

static th_result check_mapping(const th_gpu_evaluator *e, const gpu_model *m, th_gpu_mapping mapping, th_error *err)
{
    const th_gl_info *info = th_gl_get_info(e->gl);
    const size_t transforms = m->op_count * (is_quat(e->palette) ? 8 : 12) * sizeof(float);
    if (mapping == TH_GPU_MAPPING_CHARACTER && m->slot_count > MOST_SLOTS)
        return th_fail(err, TH_ERR_INPUT, "%s has joints of which %u are waited for at a time, and the shader keeps %d",
                       m->name, m->slot_count, MOST_SLOTS);
    if (mapping == TH_GPU_MAPPING_JOINT && transforms > info->shared_memory_bytes)
        return th_fail(err, TH_ERR_INPUT, "%s has %u joints, which share %.1f kB, and a work group of %s has %.1f kB",
                       m->name, m->op_count, (double)transforms / 1e3, info->renderer,
                       (double)info->shared_memory_bytes / 1e3);
    return TH_OK;
}

/* Of all models. Where the desc leaves it open, one is enough, and without a crowd the first one is taken. */
static th_result find_usable(const th_gpu_evaluator *e, const th_gpu_evaluator_desc *desc,
                             bool usable[TH_GPU_MAPPING_COUNT], th_error *err)
{
    bool any = false;
    uint32_t count = 0;
    for (uint32_t m = 0; m < e->model_count && desc->crowd; m++)
        count += th_crowd_palettes(desc->crowd, m).count;
    for (th_gpu_mapping mapping = TH_GPU_MAPPING_CHARACTER; mapping < TH_GPU_MAPPING_COUNT; mapping++) {
        usable[mapping] = desc->mapping == mapping || (desc->mapping == TH_GPU_MAPPING_AUTO && (!any || desc->crowd));
        if (usable[mapping] && mapping == TH_GPU_MAPPING_JOINT && count > MOST_GROUPS) {
            /* More are the other mapping's: a crowd of that size fills any GPU. */
            th_fail(err, TH_ERR_INPUT, "%u characters take a work group each, and a GPU takes %d", count, MOST_GROUPS);
            usable[mapping] = false;
        }
        for (uint32_t m = 0; m < e->model_count && usable[mapping]; m++)
            usable[mapping] = check_mapping(e, &e->models[m], mapping, err) == TH_OK;
        any |= usable[mapping];
    }
    return any ? TH_OK : TH_ERR_INPUT;
}

static void release_programs(th_gpu_evaluator *e, th_gpu_mapping mapping)
{
    for (uint32_t m = 0; m < e->model_count; m++) {
        glDeleteProgram(e->models[m].programs[mapping].program);
        e->models[m].programs[mapping].program = 0;
    }
}

static th_result measure_mappings(th_gpu_evaluator *e, const th_crowd *crowd, th_error *err)
{
    const size_t all = th_crowd_palette_bytes(crowd), bytes = all < MEASURED_BYTES ? all : MEASURED_BYTES;
    uint64_t *best = e->choice.ns, spent = 0;
    GLuint buffers[2] = {0};
    th_gpu_clock *clock;
    th_result result = th_gpu_clock_create(e->gl, &clock, err);
    if (result != TH_OK)
        return result;
    if (!make_buffers(crowd, 0, bytes, buffers))
        result = no_palette_memory(e->gl, bytes, err);
    for (int turn = 0; turn < TURNS && (turn < 2 || spent < ENOUGH_NS) && result == TH_OK; turn++)
        for (th_gpu_mapping mapping = TH_GPU_MAPPING_CHARACTER; mapping < TH_GPU_MAPPING_COUNT; mapping++) {
            /* Poses a frame and waits for it. */
            const uint64_t begin = th_clock_ns();
            th_gpu_clock_begin(clock);
            pose(e, mapping, crowd, (th_ring_binding){buffers[0], 0}, bytes, (th_ring_binding){buffers[1], 0});
            th_gpu_clock_end(clock);
            glFinish();
            uint64_t ns = th_clock_ns() - begin, gpu_ns;
            if (th_gpu_clock_read(clock, &gpu_ns))
                ns = gpu_ns;
            spent += ns;
            if (turn == 1 || (turn > 1 && ns < best[mapping]))
                best[mapping] = ns;
        }
    if (result == TH_OK) {
        e->choice.by_gpu_clock = th_gl_get_info(e->gl)->timer_queries;
        e->choice.mapping = best[TH_GPU_MAPPING_JOINT] < best[TH_GPU_MAPPING_CHARACTER] ? TH_GPU_MAPPING_JOINT
                                                                                        : TH_GPU_MAPPING_CHARACTER;
    }
    glDeleteBuffers(2, buffers);
    th_gpu_clock_destroy(clock);
    return result;
}

static th_result choose_mapping(th_gpu_evaluator *e, const th_gpu_evaluator_desc *desc, th_error *err)
{
    bool usable[TH_GPU_MAPPING_COUNT] = {0};
    th_result result = find_usable(e, desc, usable, err);
    for (th_gpu_mapping mapping = TH_GPU_MAPPING_CHARACTER; mapping < TH_GPU_MAPPING_COUNT; mapping++)
        for (uint32_t m = 0; m < e->model_count && usable[mapping] && result == TH_OK; m++)
            result = make_program(e, &e->models[m], mapping, err);
    if (result != TH_OK)
        return result;
    e->choice.mapping = usable[TH_GPU_MAPPING_CHARACTER] ? TH_GPU_MAPPING_CHARACTER : TH_GPU_MAPPING_JOINT;
    if (usable[TH_GPU_MAPPING_CHARACTER] && usable[TH_GPU_MAPPING_JOINT])
        result = measure_mappings(e, desc->crowd, err);
    for (th_gpu_mapping mapping = TH_GPU_MAPPING_CHARACTER; mapping < TH_GPU_MAPPING_COUNT; mapping++)
        if (mapping != e->choice.mapping)
            release_programs(e, mapping);
    return result;
}

th_gpu_mapping_choice th_gpu_evaluator_choice(const th_gpu_evaluator *evaluator)
{
    assert(evaluator);
    return evaluator->choice;
}

void th_gpu_mapping_text(const th_gpu_mapping_choice *choice, char *out, size_t size)
{
    assert(choice && out && size > 0);
    const th_gpu_mapping other =
        choice->mapping == TH_GPU_MAPPING_JOINT ? TH_GPU_MAPPING_CHARACTER : TH_GPU_MAPPING_JOINT;
    out[0] = '\0';
    if (choice->ns[other] > 0)
        snprintf(out, size, "an invocation a %s: %.2f ms a frame instead of %.2f, %s",
                 th_gpu_mapping_name(choice->mapping), (double)choice->ns[choice->mapping] / 1e6,
                 (double)choice->ns[other] / 1e6, choice->by_gpu_clock ? "by the GPU's clock" : "in wall time");
}

/* ---- the evaluator ---- */

th_result th_gpu_evaluator_create(const th_gpu_evaluator_desc *desc, th_gpu_evaluator **out, th_error *err)
{
    assert(desc && desc->gl && out && (desc->compiled_models || desc->compiled_model_count == 0));
    assert((unsigned)desc->palette < TH_FORMAT_COUNT && (unsigned)desc->mapping < TH_GPU_MAPPING_COUNT);
    *out = NULL;
    th_gpu_evaluator *e = calloc(1, sizeof *e + desc->compiled_model_count * sizeof *e->models);
    if (!e)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u models", desc->compiled_model_count);
    e->gl = desc->gl;
    e->palette = desc->palette;
    e->model_count = desc->compiled_model_count;
    th_result result = TH_OK;
    for (uint32_t m = 0; m < e->model_count && result == TH_OK; m++)
        result = make_model(&e->models[m], desc->gl, desc->compiled_models[m], desc->palette, err);
    if (result == TH_OK)
        result = choose_mapping(e, desc, err);
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
    }
    for (th_gpu_mapping mapping = TH_GPU_MAPPING_CHARACTER; mapping < TH_GPU_MAPPING_COUNT; mapping++)
        release_programs(evaluator, mapping);
    free(evaluator);
}

/* ---- counted by the GPU ---- */

uint32_t th_gpu_evaluator_group_size(const th_gpu_evaluator *evaluator)
{
    assert(evaluator);
    return group_of(evaluator->choice.mapping);
}

/* Whole work groups run, so up to a group of characters behind those counted is posed in vain. */
void th_gpu_evaluator_pose_counted(th_gpu_evaluator *evaluator, const th_gpu_pose *poses, uint32_t count)
{
    assert(evaluator && (poses || count == 0));
    for (uint32_t p = 0; p < count; p++) {
        assert(poses[p].model < evaluator->model_count && poses[p].most > 0);
        glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, poses[p].groups.buffer);
        const th_gpu_pose *pose = &poses[p];
        const pose_program *with = use(&evaluator->models[pose->model], evaluator->choice.mapping);
        bind(PALETTES, pose->palettes, pose->most * pose->stride);
        bind(CURSORS, pose->cursors, pose->most * sizeof(th_device_cursor));
        glUniform1ui(with->count, pose->most);
        glUniform1ui(with->first_cursor, 0);
        glUniform1ui(with->first_texel, 0);
        glUniform1ui(with->stride, (GLuint)(pose->stride / TH_PALETTE_ROW_BYTES));
        glDispatchComputeIndirect((GLintptr)pose->groups.offset);
    }
    glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, 0);
    end_poses();
}

/* ---- reading back ---- */

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
    if (make_buffers(crowd, time_s, bytes, buffers)) {
        th_gpu_evaluator_pose(evaluator, crowd, (th_ring_binding){buffers[0], 0}, (th_ring_binding){buffers[1], 0});
        th_gpu_read_buffer((th_ring_binding){buffers[0], 0}, bytes, out);
        result = th_gl_check((th_gl *)evaluator->gl, "while the GPU posed a crowd", err);
    } else {
        result = no_palette_memory(evaluator->gl, bytes, err);
    }
    glDeleteBuffers(2, buffers);
    return result;
}
