/* Frames that the GPU poses: their pictures, and when the CPU poses after all. */
#include "fixture_coarse_human.h"
#include "fixture_context.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <throng/render/crowd_view.h>

static th_model *human;

static void make_human(void)
{
    human = create_coarse_human();
}

static void free_human(void)
{
    th_model_free(human);
}

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

/* desc: for the CPU. */
static void compare_pictures(th_gl *gl, th_crowd_view_desc desc, const char *what)
{
    static uint8_t by_cpu[4 * WIDTH * HEIGHT], by_gpu[4 * WIDTH * HEIGHT];
    shoot(gl, &desc, by_cpu);
    desc.evaluator = TH_EVALUATOR_GPU;
    shoot(gl, &desc, by_gpu);
    cr_expect_eq(memcmp(by_cpu, by_gpu, sizeof by_cpu), 0, "%s", what);
}

/* The ways in which a palette gets from the shader that poses to those that draw: each palette with each fetch, upload
 * and mapping, and these with each other. */
Test(gpu_crowd_view, draws_the_pictures_of_the_scalar_kernel)
{
    th_gl *gl = open_llvmpipe();
    th_crowd_view_desc desc;
    for (int way = 0; way < 2 * TH_PALETTE_COUNT; way++) {
        const int palette = way / 2, fetch = way % 2;
        desc = desc_of(TH_EVALUATOR_CPU);
        desc.palette = (th_palette)palette;
        desc.fetch = fetch ? TH_FETCH_STORAGE : TH_FETCH_TEXTURE;
        desc.upload = (fetch + palette) % 2 ? TH_RING_PERSISTENT : TH_RING_UNSYNCHRONIZED;
        desc.gpu_mapping = (fetch + palette / 2) % 2 ? TH_GPU_MAPPING_CHARACTER : TH_GPU_MAPPING_JOINT;
        compare_pictures(gl, desc, th_palette_name(desc.palette));
    }
    desc = desc_of(TH_EVALUATOR_CPU);
    desc.share_hz = 10;
    compare_pictures(gl, desc, "shared poses");
    desc.joint_lod = true;
    compare_pictures(gl, desc, "fewer joints");
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
