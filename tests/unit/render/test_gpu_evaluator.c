/* The shader that poses against the scalar kernel: the same bytes, padding and all. */
#include "fixture_crowd.h"
#include "fixture_gl.h"
#include "fixture_import.h"
#include "fixture_morph.h"
#include "fixture_nightly.h"

#include <anim/synthetic.h>
#include <core/cache_line.h>
#include <criterion/criterion.h>
#include <glad/gl.h>
#include <render/gpu_evaluator.h>
#include <throng/throng.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 50 };

static const th_interpolation curves[] = {TH_INTERPOLATION_STEP, TH_INTERPOLATION_NLERP, TH_INTERPOLATION_SLERP,
                                          TH_INTERPOLATION_CUBIC};
enum { NLERP = 1, CURVES = sizeof curves / sizeof *curves };

static th_gl_info real;
static th_error err;

static void begin_check(void)
{
    *(th_gl_info *)th_gl_get_info(gl) = real;
}

static void open_all(void)
{
    open_gl();
    real = *th_gl_get_info(gl);
    before_check = begin_check;
}

TestSuite(gpu_evaluator, .init = open_all, .fini = close_gl);

END_BY(th_model_destroy)
END_BY(th_compiled_model_destroy)
END_BY(th_crowd_destroy)
END_BY(th_gpu_evaluator_destroy)

/* A driver that computes as IEEE 754 says. */
static void need_exact(void)
{
    const char *renderer = th_gl_get_info(gl)->renderer;
    if (!is_llvmpipe() && !strstr(renderer, "softpipe"))
        cr_skip_test("nobody knows how %s rounds", renderer);
}

/* ---- crowds ---- */

static const th_model *make_human(void)
{
    th_model *human;
    cr_assert_eq(th_human_create(&human, NULL), TH_OK);
    return at_end(end_by_th_model_destroy, human);
}

static const th_compiled_model *compile(const th_model *model, th_sampling sampling)
{
    return at_end(end_by_th_compiled_model_destroy, make_compiled(model, sampling));
}

static th_crowd *create_crowd(const th_compiled_model *const *compiled, uint32_t model_count, const th_spawn *instances,
                              uint32_t count, th_format format)
{
    const th_crowd_desc as = {.isa = TH_ISA_SCALAR, .format = format};
    return at_end(end_by_th_crowd_destroy, crowd_of(compiled, model_count, instances, count, as));
}

static th_gpu_evaluator *create_evaluator(const th_gpu_evaluator_desc *desc)
{
    th_gpu_evaluator *evaluator;
    cr_assert_eq(th_gpu_evaluator_create(desc, &evaluator, &err), TH_OK, "%s", err.text);
    return at_end(end_by_th_gpu_evaluator_destroy, evaluator);
}

/* Clips that play exact have no frames: their characters stand. */
static void settle(const th_compiled_model *compiled, th_spawn *instances, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (instances[i].clip != TH_NO_INDEX && !th_compiled_model_clip_report(compiled, instances[i].clip)->compiled)
            instances[i].clip = TH_NO_INDEX;
}

static th_crowd *make_crowd(const th_compiled_model *compiled, th_format palette, uint32_t count, uint64_t seed)
{
    th_spawn *instances = borrow(count * sizeof *instances);
    th_spawns_scatter(&compiled, 1, TH_NO_INDEX, seed, instances, count);
    for (uint32_t i = 3; i < count; i += 7)
        instances[i].clip = TH_NO_INDEX; /* some in the rest pose */
    settle(compiled, instances, count);
    return create_crowd(&compiled, 1, instances, count, palette);
}

static void *pose_by_kernel(const th_crowd *crowd, double time_s)
{
    void *palette = th_cache_line_alloc(th_crowd_palette_bytes(crowd) + 64);
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd) + 64);
    memset(palette, 0xa5, th_crowd_palette_bytes(crowd));
    th_crowd_pose(crowd, 0, th_crowd_batch_count(crowd), time_s, palette, scratch);
    free(scratch);
    return palette;
}

/* Bytes that differ, the palettes' paddings included. */
static size_t differences(th_gpu_evaluator *evaluator, const th_crowd *crowd, double time_s)
{
    const size_t bytes = th_crowd_palette_bytes(crowd);
    unsigned char *wanted = pose_by_kernel(crowd, time_s), *got = th_cache_line_alloc(bytes + 64);
    memset(got, 0x5a, bytes);
    cr_assert_eq(th_gpu_evaluator_read(evaluator, crowd, time_s, got, &err), TH_OK, "%s", err.text);
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += wanted[i] != got[i];
    cr_expect(count > 0 || th_crowd_hash(crowd, wanted) == th_crowd_hash(crowd, got));
    free(wanted);
    free(got);
    return count;
}

/* At so many times, the beginning and one long before it among them. */
static size_t posed_wrong(const th_compiled_model *compiled, th_format palette, th_gpu_mapping mapping, uint32_t times)
{
    const th_gpu_evaluator_desc desc = {
        .gl = gl, .compiled_models = &compiled, .compiled_model_count = 1, .palette = palette, .mapping = mapping};
    th_gpu_evaluator *evaluator = create_evaluator(&desc);
    const th_crowd *crowd = make_crowd(compiled, palette, COUNT, 7);
    cr_expect_eq(th_gpu_evaluator_choice(evaluator).mapping, mapping);
    cr_assert_eq(th_crowd_check_device(crowd, NULL, &err), TH_OK, "%s", err.text);
    size_t wrong = differences(evaluator, crowd, 0) + differences(evaluator, crowd, -1234.567);
    uint64_t state = 99;
    for (uint32_t i = 2; i < times; i++)
        wrong += differences(evaluator, crowd, random_between(&state, -100, 3600));
    return wrong;
}

enum { FEW = 2, MANY = 50 }; /* times */

/* How a model is compiled and posed. */
typedef struct options {
    th_interpolation curve;
    th_keys keys;
    th_format palette;
    th_gpu_mapping mapping;
} options;

/* Drivers take half a second to compile a shader, and there is one for each of these: so curves meet all palettes, and
 * any other two options each other, in CURVES * TH_FORMAT_COUNT of them. */
static options options_of(int curve, th_format palette)
{
    return (options){curves[curve], (th_keys)((curve + (int)palette) % 2), palette,
                     (curve + (int)palette / 2) % 2 ? TH_GPU_MAPPING_JOINT : TH_GPU_MAPPING_CHARACTER};
}

/* As the options say, at night in every format that the model can have and with both mappings; single precision at so
 * many times. False: the model cannot have the palette. */
static bool check_model(const th_model *model, options o, uint32_t times)
{
    const th_compiled_model *compiled =
        at_end(end_by_th_compiled_model_destroy,
               make_compiled_as(model, (th_compiled_model_desc){.interpolation = o.curve, .keys = o.keys}));
    const bool can = !th_compiled_model_obstacle(compiled, o.palette);
    for (th_format palette = 0; palette < TH_FORMAT_COUNT && can; palette++)
        for (th_gpu_mapping mapping = TH_GPU_MAPPING_CHARACTER; mapping < TH_GPU_MAPPING_COUNT; mapping++) {
            if (is_nightly() ? th_compiled_model_obstacle(compiled, palette) != NULL
                             : palette != o.palette || mapping != o.mapping)
                continue;
            const size_t wrong = posed_wrong(compiled, palette, mapping, palette == TH_FORMAT_F32 ? times : FEW);
            cr_expect_eq(wrong, 0, "%s, %s, %s-bit keys, %s, %s: %zu bytes differ", model->name,
                         th_interpolation_name(o.curve), o.keys == TH_KEYS_16 ? "16" : "32", th_format_name(palette),
                         th_gpu_mapping_name(mapping), wrong);
        }
    return can;
}

/* ---- the same bytes ---- */

/* Scaled, mirrored and doubly bound joints, chains, stars, half turns. Only some models can have palettes of
 * quaternions: they wait for the next that can. */
CHECK(gpu_evaluator_exactly, writes_the_bytes_of_the_scalar_kernel_for_random_models)
{
    for (th_format palette = 0; palette < TH_FORMAT_COUNT; palette++)
        for (uint32_t n = palette, c = 0; c < CURVES; n++) {
            const random_desc desc = variety(n);
            c += check_model(at_end(end_by_th_model_destroy, random_model(&desc)), options_of((int)c, palette), FEW);
            cr_assert_lt(n, 100);
        }
}

/* The human, morph weights, files, and synthetic rigs, one of which changes its scale. */
CHECK(gpu_evaluator_exactly, writes_the_bytes_of_the_scalar_kernel_for_real_and_synthetic_models)
{
    static const th_format palettes[TH_SYNTHETIC_SHAPE_COUNT] = {TH_FORMAT_QUAT, TH_FORMAT_F32, TH_FORMAT_QUAT16};
    const random_desc morphed = {.seed = 5, .joint_count = 9, .clip_count = 1, .key_count = 8, .swing_rad = 0.2};
    for (th_format palette = 0; palette < TH_FORMAT_COUNT; palette++) {
        options o = options_of(NLERP, palette);
        o.keys = TH_KEYS_32;
        cr_expect(check_model(make_human(), o, MANY));
    }
    for (int c = NLERP; c < CURVES; c++)
        cr_expect(
            check_model(at_end(end_by_th_model_destroy, morph_model(&morphed, 30)), options_of(c, TH_FORMAT_F32), FEW));
    for (th_synthetic_shape shape = 0; shape < TH_SYNTHETIC_SHAPE_COUNT; shape++) {
        th_synthetic_desc desc = TH_SYNTHETIC_DEFAULT;
        th_model *model;
        desc.shape = shape;
        desc.joints = 150;
        desc.moving_scale = palettes[shape] == TH_FORMAT_F32;
        cr_assert_eq(th_synthetic_create(&desc, &model, NULL), TH_OK);
        cr_expect(
            check_model(at_end(end_by_th_model_destroy, model), options_of((int)shape + 1, palettes[shape]), MANY));
    }
}

CHECK(gpu_evaluator_exactly, writes_the_bytes_of_the_scalar_kernel_for_files)
{
    static const char *const files[] = {"BVH/Boxing_Toes.bvh", "X/Testwuson.X"};
    options o = {TH_INTERPOLATION_AUTHORED, TH_KEYS_32, TH_FORMAT_F32, TH_GPU_MAPPING_CHARACTER};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        o.mapping = f == 0 ? TH_GPU_MAPPING_CHARACTER : TH_GPU_MAPPING_JOINT;
        cr_expect(check_model(at_end(end_by_th_model_destroy, import_good(testmodel(files[f]))), o, MANY));
    }
}

/* Two models, some characters not posed, others in another order: palettes and cursors are found as a frame needs them.
 */
CHECK(gpu_evaluator_exactly, poses_the_active_characters_of_several_models)
{
    enum { ALL = 300, ACTIVE = 130 };
    const random_desc small = variety(5);
    th_spawn instances[ALL];
    uint32_t active[ACTIVE];
    const th_compiled_model *compiled[] = {
        compile(at_end(end_by_th_model_destroy, random_model(&small)), TH_SAMPLING_COMPILED),
        compile(make_human(), TH_SAMPLING_COMPILED)};
    th_spawns_scatter(compiled, 2, TH_NO_INDEX, 3, instances, ALL);
    for (uint32_t i = 0; i < ALL; i++)
        settle(compiled[instances[i].model], &instances[i], 1);
    for (uint32_t i = 0; i < ACTIVE; i++)
        active[i] = (i * 7 + 3) % ALL;
    th_crowd *crowd = create_crowd(compiled, 2, instances, ALL, TH_FORMAT_F32);
    th_crowd_set_active(crowd, active, ACTIVE);
    const void *wanted = at_end(free, pose_by_kernel(crowd, 3.25));
    for (th_gpu_mapping mapping = TH_GPU_MAPPING_CHARACTER; mapping < TH_GPU_MAPPING_COUNT; mapping++) {
        const th_gpu_evaluator_desc evaluator_desc = {gl, compiled, 2, TH_FORMAT_F32, mapping, crowd};
        void *got = borrow(th_crowd_palette_bytes(crowd));
        cr_assert_eq(th_gpu_evaluator_read(create_evaluator(&evaluator_desc), crowd, 3.25, got, &err), TH_OK, "%s",
                     err.text);
        cr_expect_eq(memcmp(wanted, got, th_crowd_palette_bytes(crowd)), 0, "%s", th_gpu_mapping_name(mapping));
    }
}

/* ---- choosing a mapping ---- */

/* Which one depends on the machine; that what is said is what was measured does not. */
CHECK(gpu_evaluator_exactly, takes_the_mapping_that_was_faster)
{
    const th_compiled_model *compiled = compile(make_human(), TH_SAMPLING_COMPILED);
    const th_crowd *crowd = make_crowd(compiled, TH_FORMAT_F32, COUNT, 7);
    th_gpu_evaluator_desc desc = {
        .gl = gl, .compiled_models = &compiled, .compiled_model_count = 1, .palette = TH_FORMAT_F32, .crowd = crowd};
    th_gpu_evaluator *evaluator = create_evaluator(&desc);
    th_gpu_mapping_choice choice = th_gpu_evaluator_choice(evaluator);
    const uint64_t character_ns = choice.ns[TH_GPU_MAPPING_CHARACTER], joint_ns = choice.ns[TH_GPU_MAPPING_JOINT];
    cr_expect(character_ns > 0 && joint_ns > 0);
    cr_expect_eq(choice.mapping, joint_ns < character_ns ? TH_GPU_MAPPING_JOINT : TH_GPU_MAPPING_CHARACTER);
    cr_expect_not(choice.by_gpu_clock, "a software renderer's is not trusted");
    cr_expect_eq(differences(evaluator, crowd, 1.5), 0);
    desc.crowd = NULL;
    choice = th_gpu_evaluator_choice(create_evaluator(&desc));
    cr_expect_eq(choice.mapping, TH_GPU_MAPPING_CHARACTER, "nothing to measure");
    cr_expect_eq(choice.ns[TH_GPU_MAPPING_CHARACTER] + choice.ns[TH_GPU_MAPPING_JOINT], 0);
}

/* ---- what cannot be posed ---- */

/* Every joint of a chain has one more child, which comes after all below it: all of them are waited for. */
static const th_model *model_that_waits(uint32_t depth)
{
    const random_desc desc = {
        .seed = 1, .joint_count = 2 * depth, .shape = RANDOM_CHAIN, .clip_count = 1, .key_count = 4, .swing_rad = 0.1};
    th_model *model = at_end(end_by_th_model_destroy, random_model(&desc));
    for (uint32_t j = depth; j < 2 * depth; j++)
        ((th_joint *)model->joints)[j].parent = 2 * depth - 1 - j;
    return model;
}

static void expect_failure(const th_gpu_evaluator_desc *desc, th_result wanted, const char *text)
{
    th_gpu_evaluator *evaluator;
    err.text[0] = '\0';
    cr_expect_eq(th_gpu_evaluator_create(desc, &evaluator, &err), wanted, "%s", th_gpu_mapping_name(desc->mapping));
    cr_expect(strstr(err.text, text), "%s: %s", th_gpu_mapping_name(desc->mapping), err.text);
    cr_expect_null(evaluator);
}

/* A skeleton with too many joints; clips that the driver cannot bind; as many work groups as need not be dispatched at
 * once. */
CHECK(gpu_evaluator, refuses_what_cannot_be_posed)
{
    static const char *const whys[TH_GPU_MAPPING_COUNT] = {[TH_GPU_MAPPING_CHARACTER] =
                                                               " are waited for at a time, and the shader keeps 64",
                                                           [TH_GPU_MAPPING_JOINT] = " kB, and a work group of ",
                                                           [TH_GPU_MAPPING_AUTO] = " has 16.0 kB"};
    th_gl_info *info = (th_gl_info *)th_gl_get_info(gl);
    const th_compiled_model *deep = compile(model_that_waits(400), TH_SAMPLING_COMPILED),
                            *human = compile(make_human(), TH_SAMPLING_COMPILED);
    th_gpu_evaluator_desc desc = {.gl = gl, .compiled_models = &deep, .compiled_model_count = 1};
    info->shared_memory_bytes = 16000;
    for (desc.mapping = 0; desc.mapping < TH_GPU_MAPPING_COUNT; desc.mapping++)
        expect_failure(&desc, TH_ERR_INPUT, whys[desc.mapping]);
    *info = real;
    desc.compiled_models = &human;
    desc.mapping = TH_GPU_MAPPING_AUTO;
    info->storage_block_bytes = 1 << 16;
    expect_failure(&desc, TH_ERR_INPUT, "the clips of human take ");
    *info = real;
    desc.crowd = make_crowd(human, TH_FORMAT_F32, 65536, 7);
    cr_expect_eq(th_gpu_evaluator_choice(create_evaluator(&desc)).mapping, TH_GPU_MAPPING_CHARACTER);
    desc.mapping = TH_GPU_MAPPING_JOINT;
    expect_failure(&desc, TH_ERR_INPUT, "65536 characters take a work group each, and a GPU takes 65535");
}

/* What one mapping cannot pose the other may, and nothing is measured. */
CHECK(gpu_evaluator_exactly, takes_the_mapping_that_a_skeleton_allows)
{
    const th_model *const models[] = {model_that_waits(140), make_human()};
    th_gl_info *info = (th_gl_info *)th_gl_get_info(gl);
    const uint32_t shared[] = {info->shared_memory_bytes, 51 * 48};
    const th_gpu_mapping wanted[] = {TH_GPU_MAPPING_JOINT, TH_GPU_MAPPING_CHARACTER};
    for (int i = 0; i < 2; i++) {
        const th_compiled_model *compiled = compile(models[i], TH_SAMPLING_COMPILED);
        const th_crowd *crowd = make_crowd(compiled, TH_FORMAT_F32, COUNT, 7);
        const th_gpu_evaluator_desc desc = {
            .gl = gl, .compiled_models = &compiled, .compiled_model_count = 1, .crowd = i == 0 ? NULL : crowd};
        info->shared_memory_bytes = shared[i];
        th_gpu_evaluator *evaluator = create_evaluator(&desc);
        const th_gpu_mapping_choice choice = th_gpu_evaluator_choice(evaluator);
        cr_expect_eq(choice.mapping, wanted[i]);
        cr_expect_eq(choice.ns[wanted[i]], 0);
        cr_expect_eq(differences(evaluator, crowd, 1.5), 0);
    }
}

/* As with the smallest limit that a driver may have: palettes are bound in pieces. */
CHECK(gpu_evaluator_exactly, binds_palettes_in_pieces)
{
    const random_desc desc = variety(2);
    const th_compiled_model *compiled =
        compile(at_end(end_by_th_model_destroy, random_model(&desc)), TH_SAMPLING_COMPILED);
    ((th_gl_info *)th_gl_get_info(gl))->storage_block_bytes = 20000;
    for (th_gpu_mapping mapping = TH_GPU_MAPPING_CHARACTER; mapping < TH_GPU_MAPPING_COUNT; mapping++)
        cr_expect_eq(posed_wrong(compiled, TH_FORMAT_F32, mapping, FEW), 0);
}

/* Only if characters may be posed in the model, as in a joint level; one of the crowd that nobody got has no frames
 * here, and is in nobody's way. */
CHECK(gpu_evaluator_exactly, says_which_clip_is_played_from_authored_keys)
{
    static const char why[] = "human plays walk from its authored keys";
    const th_model *human = make_human();
    const th_compiled_model *both[] = {compile(human, TH_SAMPLING_COMPILED), compile(human, TH_SAMPLING_EXACT)};
    const th_spawn instance = {.clip = 1, .speed = 1};
    const uint32_t apart[] = {0, 1}, level[] = {0, 0};
    const th_crowd *exact = create_crowd(&both[1], 1, &instance, 1, TH_FORMAT_F32);
    cr_expect_eq(th_crowd_check_device(exact, NULL, &err), TH_ERR_INPUT);
    cr_expect_str_eq(err.text, why);
    const th_crowd *levels = create_crowd(both, 2, &instance, 1, TH_FORMAT_F32);
    cr_expect_eq(th_crowd_check_device(levels, NULL, &err), TH_OK);
    cr_expect_eq(th_crowd_check_device(levels, apart, &err), TH_OK);
    cr_expect_eq(th_crowd_check_device(levels, level, &err), TH_ERR_INPUT);
    cr_expect_str_eq(err.text, why);
    const th_gpu_evaluator_desc gpu = {
        .gl = gl, .compiled_models = both, .compiled_model_count = 2, .mapping = TH_GPU_MAPPING_CHARACTER};
    th_spawn instances[COUNT];
    th_spawns_scatter(both, 1, TH_NO_INDEX, 3, instances, COUNT);
    cr_expect_eq(differences(create_evaluator(&gpu), create_crowd(both, 2, instances, COUNT, TH_FORMAT_F32), 1.5), 0);
}

/* ---- what goes wrong ---- */

static PFNGLGETSHADERIVPROC get_shader;
static PFNGLGETBUFFERPARAMETERI64VPROC get_buffer;
static PFNGLGETERRORPROC get_error;
static uint32_t lost_errors, buffers_left;

static void fail_to_compile(GLuint shader, GLenum name, GLint *out)
{
    get_shader(shader, name, out);
    if (name == GL_COMPILE_STATUS)
        *out = GL_FALSE;
}

static void be_out_of_memory(GLenum target, GLenum name, GLint64 *out)
{
    get_buffer(target, name, out);
    if (buffers_left == 0)
        *out = 0;
    else
        buffers_left--;
}

static GLenum be_lost(void)
{
    const GLenum error = get_error();
    if (lost_errors == 0)
        return error;
    lost_errors--;
    return 0x0507;
}

/* The driver does not compile the shader; has no memory for clips, or for the frames that are measured; its context is
 * lost. AUTO is measured. */
CHECK(gpu_evaluator, says_what_goes_wrong_in_the_driver)
{
    const th_compiled_model *compiled = compile(make_human(), TH_SAMPLING_COMPILED);
    th_gpu_evaluator_desc desc = {.gl = gl,
                                  .compiled_models = &compiled,
                                  .compiled_model_count = 1,
                                  .crowd = make_crowd(compiled, TH_FORMAT_F32, COUNT, 7)};
    get_shader = glad_glGetShaderiv;
    get_buffer = glad_glGetBufferParameteri64v;
    get_error = glad_glGetError;
    for (desc.mapping = 0; desc.mapping < TH_GPU_MAPPING_COUNT; desc.mapping++) {
        glad_glGetShaderiv = fail_to_compile;
        expect_failure(&desc, TH_ERR_ENVIRONMENT, "program pose, compute shader: ");
        glad_glGetShaderiv = get_shader;
        glad_glGetBufferParameteri64v = be_out_of_memory;
        buffers_left = 0;
        expect_failure(&desc, TH_ERR_MEMORY, " has no memory for the clips of human, ");
        glad_glGetBufferParameteri64v = get_buffer;
        glad_glGetError = be_lost;
        lost_errors = 100;
        expect_failure(&desc, TH_ERR_ENVIRONMENT, "GL_CONTEXT_LOST");
        glad_glGetError = get_error;
    }
    desc.mapping = TH_GPU_MAPPING_AUTO;
    glad_glGetBufferParameteri64v = be_out_of_memory;
    buffers_left = 2;
    expect_failure(&desc, TH_ERR_MEMORY, " has no memory for palettes of 0.1 MB");
    glad_glGetBufferParameteri64v = get_buffer;
}

Test(gpu_evaluator, checks)
{
    run_checks("gpu_evaluator");
    need_exact();
    run_checks("gpu_evaluator_exactly");
}
