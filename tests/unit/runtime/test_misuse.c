/* What functions of throng.h and render.h do with arguments that these forbid: a build with asserts ends the program,
 * and a release refuses them, and neither reads outside. Here th_misused is stood in for, so that any build shows both.
 * This prints the table of docs/reference/misuse.md. */
#include "fixture_document.h"
#include "fixture_human.h"
#include "fixture_misuse.h"

#include <core/cache_line.h>
#include <throng/render.h>
#include <throng/throng.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wdouble-promotion" /* NAN and INFINITY are floats */

#define PAGE TEST_DATA "/../../docs/reference/misuse.md"

static FILE *page;
static bool is_release; /* as one behaves */

#ifndef NDEBUG
bool __real_th_misused(const char *condition, const char *file, unsigned line, const char *function);
bool __wrap_th_misused(const char *condition, const char *file, unsigned line, const char *function);

bool __wrap_th_misused(const char *condition, const char *file, unsigned line, const char *function)
{
    return is_release ? false : __real_th_misused(condition, file, line, function);
}
#endif

#define ROW(call, release, try, holds)                                                                                 \
    do {                                                                                                               \
        if (tries(call)) {                                                                                             \
            try;                                                                                                       \
            _exit(0);                                                                                                  \
        }                                                                                                              \
        is_release = true;                                                                                             \
        cr_expect((holds) && is_untouched(), "%s", call);                                                              \
        is_release = false;                                                                                            \
        fprintf(page, "| `%s` | %s |\n", call, release);                                                               \
    } while (0)

/* Rows: what a call returns, or nothing. It changes nothing. */
#define USAGE(...)                                                                                                     \
    ROW(#__VA_ARGS__, "`TH_ERR_USAGE`", (void)(__VA_ARGS__), (__VA_ARGS__) == TH_ERR_USAGE && err.code == TH_ERR_USAGE)
#define NAMES(field, ...)                                                                                              \
    ROW(#__VA_ARGS__, "`TH_ERR_USAGE`", (void)(__VA_ARGS__), (__VA_ARGS__) == TH_ERR_USAGE && strstr(err.text, field))
#define RETURNS(value, ...) ROW(#__VA_ARGS__, "`" #value "`", (void)(__VA_ARGS__), (__VA_ARGS__) == (value))
#define NOTHING(...)        ROW(#__VA_ARGS__, "nothing", (void)(__VA_ARGS__), ((__VA_ARGS__), true))

static th_error err;
static const th_model *model;
static th_model by_hand; /* as a program fills one in */
static th_model *made;
static th_compiled_model *compiled, *out;
static th_crowd *crowd, *another;
static th_character who, gone; /* the one is in the crowd */
static const th_play walk = {.phase_s = 0.5, .speed = 1};
static th_jobs *jobs, *pool;
static th_frame *frame, *begun, *made_frame;
static th_dmat34 *pose; /* each of these as large as a pose */
static float *weights;
static char *palettes;
static size_t size; /* of all */

static bool is_untouched(void)
{
    th_character_info info;
    bool is = th_crowd_count(crowd) == 1 && th_crowd_get(crowd, who, &info) && info.layer_count == 0 &&
              info.play.clip == 0 && info.play.phase_s == 0.5 && info.play.speed == 1 && info.play.at_s == 0;
    for (size_t i = 0; i < size; i++)
        is &= ((const char *)pose)[i] == 0x5a;
    return is;
}

static void models(void)
{
    USAGE(th_model_create(NULL, &made, &err));
    USAGE(th_model_create(model, NULL, &err));
    RETURNS(TH_NO_INDEX, th_model_find_joint(NULL, "root"));
    RETURNS(TH_NO_INDEX, th_model_find_joint(model, NULL));
    RETURNS(TH_NO_INDEX, th_model_find_clip(NULL, "walk"));
    USAGE(th_model_attach_clips(model, &by_hand, &made, &err));
    USAGE(th_model_attach_clips(model, model, NULL, &err));
    USAGE(th_import(&(th_import_desc){.path = NULL}, &made, &err));
    USAGE(th_import(&(th_import_desc){.path = "a.glb"}, NULL, &err));
    USAGE(th_import(&(th_import_desc){.path = "a.glb", .timeout_s = -1}, &made, &err));
    USAGE(th_import(&(th_import_desc){.path = "a.glb", .timeout_s = (double)NAN}, &made, &err));
    USAGE(th_import(&(th_import_desc){.path = "a.glb", .reserved = {1}}, &made, &err));
    USAGE(th_human_create(NULL, &err));
}

#define COMPILE(...) th_compiled_model_create(&(th_compiled_model_desc){__VA_ARGS__}, &out, &err)

static void compiled_models(void)
{
    const uint32_t clip_count = model->clip_count;
    float *two = calloc(model->joint_count, sizeof *two);
    const th_mask heavy = {"heavy", two}, none = {"none", NULL};
    two[model->joint_count - 1] = 2;
    USAGE(th_compiled_model_create(NULL, &out, &err));
    USAGE(th_compiled_model_create(&(th_compiled_model_desc){.model = model}, NULL, &err));
    USAGE(COMPILE(.model = &by_hand));
    USAGE(COMPILE(.model = model, .sampling = (th_sampling)2));
    USAGE(COMPILE(.model = model, .interpolation = TH_INTERPOLATION_COUNT));
    USAGE(COMPILE(.model = model, .keys = (th_keys)-1));
    USAGE(COMPILE(.model = model, .bound_m = -0.001));
    USAGE(COMPILE(.model = model, .bound_m = (double)NAN));
    USAGE(COMPILE(.model = model, .bound_m = HUGE_VAL));
    USAGE(COMPILE(.model = model, .effort = (double)NAN));
    USAGE(COMPILE(.model = model, .masks = NULL, .mask_count = 1));
    USAGE(COMPILE(.model = model, .masks = &none, .mask_count = 1));
    USAGE(COMPILE(.model = model, .masks = &heavy, .mask_count = 1));
    USAGE(COMPILE(.model = model, .masks = &heavy, .mask_count = TH_MAX_MASKS + 1));
    USAGE(COMPILE(.model = model, .reserved = {[3] = 1}));
    RETURNS(0, th_compiled_model_bound(NULL));
    RETURNS(NULL, th_compiled_model_clip_report(compiled, clip_count));
    ROW("th_compiled_model_obstacle(compiled, TH_FORMAT_COUNT)", "a reason",
        (void)th_compiled_model_obstacle(compiled, TH_FORMAT_COUNT),
        th_compiled_model_obstacle(compiled, TH_FORMAT_COUNT) != NULL);
    free(two);
}

#define CROWD(...)      th_crowd_create(&(th_crowd_desc){__VA_ARGS__}, &another, &err)
#define SPAWN(...)      th_crowd_spawn(crowd, 0, &(th_play){__VA_ARGS__}, NULL, &err)
#define SET_LAYERS(...) th_crowd_set_layers(crowd, who, (th_character_layer[2]){{__VA_ARGS__}}, 1, &err)

static void crowds(void)
{
    const uint32_t clip_count = model->clip_count;
    const th_compiled_model *const no_model = NULL;
    const th_character_layer layers[2] = {{.mask = TH_NO_MASK}, {.mask = TH_NO_MASK}};
    USAGE(th_crowd_create(NULL, &another, &err));
    USAGE(th_crowd_create(&(th_crowd_desc){.capacity = 0}, NULL, &err));
    NAMES("th_crowd_desc.compiled_model_count", CROWD(.capacity = 1));
    NAMES("th_crowd_desc.compiled_models", CROWD(.compiled_model_count = 1));
    NAMES("th_crowd_desc.compiled_models", CROWD(.compiled_models = &no_model, .compiled_model_count = 1));
    NAMES("th_crowd_desc.max_layers", CROWD(.max_layers = TH_MAX_LAYERS + 1));
    NAMES("th_crowd_desc.isa", CROWD(.isa = TH_ISA_COUNT));
    NAMES("th_crowd_desc.format", CROWD(.format = TH_FORMAT_AUTO + 1));
    NAMES("th_crowd_desc.writes", CROWD(.writes = TH_WRITES_COUNT));
    NAMES("th_crowd_desc.reserved", CROWD(.reserved = {[3] = 1}));
    USAGE(th_crowd_spawn(NULL, 0, &walk, NULL, &err));
    USAGE(th_crowd_spawn(crowd, 1, &walk, NULL, &err));
    USAGE(th_crowd_spawn(crowd, 0, NULL, NULL, &err));
    USAGE(SPAWN(.clip = clip_count));
    USAGE(SPAWN(.phase_s = NAN));
    USAGE(SPAWN(.speed = -INFINITY));
    USAGE(SPAWN(.at_s = NAN));
    USAGE(th_crowd_scatter(NULL, 1, TH_NO_INDEX, 1, NULL, &err));
    USAGE(th_crowd_remove(crowd, gone, &err));
    USAGE(th_crowd_remove(crowd, (th_character){UINT32_MAX, 1}, &err));
    USAGE(th_crowd_play(crowd, gone, &walk, &err));
    USAGE(th_crowd_play(crowd, who, NULL, &err));
    USAGE(th_crowd_play(crowd, who, &(th_play){.clip = clip_count}, &err));
    USAGE(th_crowd_play(crowd, who, &(th_play){.speed = NAN}, &err));
    USAGE(th_crowd_seek(crowd, gone, 0, 0, &err));
    USAGE(th_crowd_seek(crowd, who, NAN, 0, &err));
    USAGE(th_crowd_seek(crowd, who, 0, INFINITY, &err));
    USAGE(th_crowd_set_speed(crowd, gone, 1, 0, &err));
    USAGE(th_crowd_set_speed(crowd, who, NAN, 0, &err));
    USAGE(th_crowd_set_speed(crowd, who, 1, INFINITY, &err));
    USAGE(th_crowd_set_layers(crowd, gone, layers, 1, &err));
    USAGE(th_crowd_set_layers(crowd, who, layers, 2, &err));
    USAGE(th_crowd_set_layers(crowd, who, NULL, 1, &err));
    USAGE(SET_LAYERS(.play.clip = clip_count, .mask = TH_NO_MASK));
    USAGE(SET_LAYERS(.play.at_s = NAN, .mask = TH_NO_MASK));
    USAGE(SET_LAYERS(.weight = NAN, .mask = TH_NO_MASK));
    USAGE(SET_LAYERS(.weight = 1.5F, .mask = TH_NO_MASK));
    USAGE(SET_LAYERS(.mode = TH_LAYER_MODE_COUNT, .mask = TH_NO_MASK));
    USAGE(SET_LAYERS(.mask = 0));
    RETURNS(false, th_crowd_get(NULL, who, NULL));
    RETURNS(0, th_crowd_count(NULL));
    RETURNS(TH_ISA_AUTO, th_crowd_isa(NULL));
    RETURNS(0, th_crowd_palette_bytes(NULL));
    RETURNS(0, th_crowd_palettes(crowd, 1).stride);
    RETURNS(0, th_crowd_hash(crowd, NULL));
}

#define FRAME(...) th_frame_create(&(th_frame_desc){.crowd = crowd, __VA_ARGS__}, &made_frame, &err)

/* On one batch and two threads. */
static void frames(void)
{
    th_tasks tasks = {.ctx = NULL};
    void *memory;
    tasks.enqueue = (__typeof__(tasks.enqueue))abort; /* nobody calls them */
    tasks.finish = (__typeof__(tasks.finish))abort;
    USAGE(th_jobs_create(NULL, &pool, &err));
    USAGE(th_jobs_create(&(th_jobs_desc){.threads = 1}, NULL, &err));
    USAGE(th_jobs_create(&(th_jobs_desc){.reserved = {[3] = 1}}, &pool, &err));
    RETURNS(0, th_jobs_threads(NULL));
    RETURNS(EINVAL, th_jobs_run(NULL, &(th_job){.count = 1}));
    RETURNS(EINVAL, th_jobs_run(jobs, &(th_job){.fn = NULL}));
    NOTHING(th_jobs_frame_begin(NULL));
    NOTHING(th_jobs_frame_end(NULL));
    USAGE(th_frame_create(NULL, &made_frame, &err));
    USAGE(th_frame_create(&(th_frame_desc){.crowd = crowd}, NULL, &err));
    USAGE(th_frame_create(&(th_frame_desc){.jobs = jobs}, &made_frame, &err));
    USAGE(FRAME(.jobs = jobs, .tasks = tasks));
    USAGE(FRAME(.jobs = jobs, .threads = 1));
    USAGE(FRAME(.tasks = tasks));
    USAGE(FRAME(.tasks.enqueue = tasks.enqueue, .threads = 1));
    USAGE(FRAME(.tasks.finish = tasks.finish, .threads = 1));
    USAGE(FRAME(.threads = TH_JOBS_MAX_THREADS + 1));
    USAGE(FRAME(.reserved = {[3] = 1}));
    RETURNS(0, th_frame_begin(NULL, 0, palettes));
    RETURNS(0, th_frame_begin(frame, NAN, palettes));
    RETURNS(0, th_frame_begin(frame, INFINITY, palettes));
    RETURNS(0, th_frame_begin(frame, 0, NULL));
    RETURNS(0, th_frame_begin(begun, 0, palettes));
    RETURNS(TH_ERR_USAGE, th_frame_run(frame, 0, palettes + 32));
    RETURNS(TH_ERR_USAGE, th_frame_run(begun, 0, palettes));
    NOTHING(th_frame_batches(frame, 0, 1, 0));
    NOTHING(th_frame_batches(begun, 0, 2, 0));
    NOTHING(th_frame_batches(begun, 1, 0, 0));
    NOTHING(th_frame_batches(begun, UINT32_MAX, UINT32_MAX, 0));
    NOTHING(th_frame_batches(begun, 0, 1, 2));
    cr_assert_eq(th_crowd_remove(crowd, who, &err), TH_OK);
    cr_assert_eq(th_crowd_spawn(crowd, 0, &walk, &who, &err), TH_OK);
    NOTHING(th_frame_batches(begun, 0, 1, 0)); /* the crowd is another since begin */
    NOTHING(th_frame_end(frame));
    NOTHING(th_frame_end(NULL));
    RETURNS(NULL, th_frame_sockets(NULL, who));
    USAGE(th_palettes_create(NULL, &memory, &err));
    USAGE(th_palettes_create(crowd, NULL, &err));
}

#define LAYER(...) th_exact_layers(model, &(th_layer){__VA_ARGS__}, 1, NULL, 0, TH_INTERPOLATION_AUTHORED, pose, NULL)

static void reference(void)
{
    const uint32_t joint_count = model->joint_count, clip_count = model->clip_count;
    RETURNS(0, th_clip_ticks(NULL, 1));
    RETURNS(0, th_clip_ticks(&(th_clip){.ticks_per_second = (double)NAN}, 1));
    NOTHING(th_exact_pose(&by_hand, NULL, 0, TH_INTERPOLATION_AUTHORED, pose));
    NOTHING(th_exact_pose(model, model->clips, 0, TH_INTERPOLATION_COUNT, pose));
    NOTHING(th_exact_palette(model, pose, pose));
    NOTHING(LAYER(.clip = (uint16_t)clip_count, .mask = TH_NO_MASK));
    NOTHING(LAYER(.mask = 0));
    NOTHING(LAYER(.mode = TH_LAYER_MODE_COUNT, .mask = TH_NO_MASK));
    NOTHING(LAYER(.weight = NAN, .mask = TH_NO_MASK));
    NOTHING(LAYER(.ratio = 1.5, .mask = TH_NO_MASK));
    NOTHING(th_exact_layers(model, NULL, 1, NULL, 0, TH_INTERPOLATION_AUTHORED, pose, NULL));
    NOTHING(th_exact_layers(model, NULL, 0, NULL, 1, TH_INTERPOLATION_AUTHORED, pose, NULL));
    NOTHING(th_mask_from_joint(model, joint_count, weights));
    RETURNS(NULL, th_layer_add_obstacle(model, clip_count, TH_LAYER_ADD));
    RETURNS(NULL, th_layer_add_obstacle(model, 0, TH_LAYER_OVERRIDE));
    RETURNS(0, th_model_palette_base(model, model->bone_count).step);
    NOTHING(th_palette_read(TH_FORMAT_COUNT, pose, NULL, weights));
    NOTHING(th_palette_read(TH_FORMAT_QUAT, pose, NULL, weights));
}

#define CREATE_VIEW(...) th_crowd_view_create(&(th_crowd_view_desc){__VA_ARGS__}, gl, &view, &err)
#define OF_HUMANS        .models = {human}, .model_count = 1, .count = 1
#define FIELD(field, ...)                                                                                              \
    ROW("CREATE_VIEW(" #__VA_ARGS__ ")", "`TH_ERR_USAGE`", (void)CREATE_VIEW(__VA_ARGS__),                             \
        CREATE_VIEW(__VA_ARGS__) == TH_ERR_USAGE && strstr(err.text, "th_crowd_view_desc." field))

static void views(void)
{
    th_crowd_view *view;
    th_gl *gl = (th_gl *)&view; /* so far none is looked at */
    th_frame_writer *writer;
    th_target *target = (th_target *)&view;
    const th_camera camera = th_camera_look_at((const float[]){0, 1, 5}, (const float[]){0, 0, 0}), flat = {0};
    unsigned char *png;
    FIELD("model_count", .count = 1);
    FIELD("model_count", .model_count = TH_CROWD_VIEW_MAX_MODELS + 1, .count = 1);
    FIELD("models", .model_count = 1, .count = 1);
    FIELD("models", OF_HUMANS, .compiled_models = (const th_compiled_model *const[]){NULL});
    FIELD("count", .models = {human}, .model_count = 1);
    FIELD("compile", OF_HUMANS, .compile.interpolation = TH_INTERPOLATION_COUNT);
    FIELD("isa", OF_HUMANS, .isa = TH_ISA_COUNT);
    FIELD("isa or palette", OF_HUMANS, .palette = (th_format)-1);
    FIELD("layout", OF_HUMANS, .layout = TH_LAYOUT_COUNT);
    FIELD("look", OF_HUMANS, .look = TH_LOOK_COUNT);
    FIELD("upload", OF_HUMANS, .upload = TH_RING_UPLOAD_COUNT);
    FIELD("upload or fetch", OF_HUMANS, .fetch = TH_FETCH_COUNT);
    FIELD("evaluator", OF_HUMANS, .evaluator = TH_EVALUATOR_COUNT);
    FIELD("gpu_mapping", OF_HUMANS, .gpu_mapping = TH_GPU_MAPPING_COUNT);
    FIELD("hold", OF_HUMANS, .hold = TH_CROWD_VIEW_MAX_HOLD + 1);
    FIELD("share_hz", OF_HUMANS, .share_hz = -1);
    FIELD("share_hz, budget", OF_HUMANS, .budget.ms = -1);
    FIELD("share_hz, budget, start_s", OF_HUMANS, .start_s = NAN);
    FIELD("share_hz, budget, start_s, yaw_deg, pitch_deg or zoom", OF_HUMANS, .zoom = INFINITY);
    FIELD("reserved", OF_HUMANS, .reserved = {[3] = 1});
    USAGE(th_crowd_view_create(&(th_crowd_view_desc){OF_HUMANS}, NULL, &view, &err));
    RETURNS(false, th_crowd_view_frame(NULL, 0, &camera, target));
    RETURNS(0, th_crowd_view_camera(NULL, 1, 0).distance);
    USAGE(th_gl_create(&(th_gl_desc){.want = TH_GL_HEADLESS + 1}, &gl, &err));
    USAGE(th_target_create(&(th_target_desc){.reserved = {[3] = 1}}, &target, &err));
    USAGE(th_frame_writer_open(&(th_frame_writer_desc){.path = NULL}, &writer, &err));
    USAGE(th_png_encode(NULL, 1, 1, &png, &(size_t){0}, &err));
    NOTHING(th_camera_clip(&camera, NAN, weights));
    NOTHING(th_camera_clip(&flat, 1, weights));
}

static void make_all(void)
{
    make_human();
    model = human;
    by_hand = *human;
    by_hand.arena = NULL;
    cr_assert_eq(th_compiled_model_create(&(th_compiled_model_desc){.model = model, .sampling = TH_SAMPLING_EXACT},
                                          &compiled, NULL),
                 TH_OK);
    const th_crowd_desc desc = {.compiled_models = (const th_compiled_model *const *)&compiled,
                                .compiled_model_count = 1,
                                .capacity = 3,
                                .max_layers = 1};
    cr_assert_eq(th_crowd_create(&desc, &crowd, NULL), TH_OK);
    cr_assert_eq(th_crowd_spawn(crowd, 0, &walk, &who, NULL), TH_OK);
    cr_assert_eq(th_crowd_spawn(crowd, 0, &walk, &gone, NULL), TH_OK);
    th_crowd_remove(crowd, gone, NULL);
    const size_t part = th_cache_line_round(model->joint_count * sizeof *pose);
    cr_assert_leq(th_crowd_palettes(crowd, 0).stride, part);
    size = 3 * part;
    pose = th_cache_line_alloc(size);
    cr_assert(pose);
    memset(pose, 0x5a, size);
    weights = (float *)((char *)pose + part);
    palettes = (char *)pose + 2 * part;
    cr_assert_eq(th_jobs_create(&(th_jobs_desc){.scheduler = TH_SCHEDULER_SERIAL}, &jobs, NULL), TH_OK);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = crowd}, &frame, NULL), TH_OK);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = crowd, .threads = 2}, &begun, NULL), TH_OK);
    cr_assert_eq(th_frame_begin(begun, 0, palettes), 1);
}

static void free_all(void)
{
    th_frame_end(begun);
    th_frame_destroy(begun);
    th_frame_destroy(frame);
    th_jobs_destroy(jobs);
    th_crowd_destroy(crowd);
    free(pose);
    th_compiled_model_destroy(compiled);
    free_human();
}

TestSuite(misuse, .init = make_all, .fini = free_all);

/* The page as it is, as far as its table. */
static void print_introduction(void)
{
    FILE *stored = fopen(PAGE, "r");
    cr_assert(stored);
    for (char line[256] = ""; strncmp(line, "|---", 4) != 0 && fgets(line, sizeof line, stored);)
        fputs(line, page);
    fclose(stored);
}

Test(misuse, is_caught_in_debug_and_refused_in_release)
{
    char *text = NULL;
    size_t length;
    page = open_memstream(&text, &length);
    print_introduction();
    models();
    compiled_models();
    crowds();
    frames();
    reference();
    views();
    fclose(page);
    check_text(PAGE, text);
    free(text);
}

/* No assert either: these take any number. */
Test(misuse, names_and_times_may_be_anything)
{
    static const int odd[] = {-1, INT_MIN, 99, INT_MAX};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        cr_expect_str_eq(th_interpolation_name((th_interpolation)odd[i]), "unknown");
        cr_expect_str_eq(th_format_name((th_format)odd[i]), "unknown");
        cr_expect_str_eq(th_layer_mode_name((th_layer_mode)odd[i]), "unknown");
        cr_expect_str_eq(th_isa_name((th_isa)odd[i]), "unknown");
        cr_expect_not(th_isa_available((th_isa)odd[i]));
    }
    static const double times[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, 1e300, -1e300};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const double ticks = th_clip_ticks(model->clips, times[i]);
        cr_expect(ticks >= 0 && ticks < model->clips->duration_ticks);
        for (int mode = 0; mode < TH_INTERPOLATION_COUNT; mode++)
            th_exact_pose(model, model->clips, times[i], (th_interpolation)mode, pose);
    }
}
