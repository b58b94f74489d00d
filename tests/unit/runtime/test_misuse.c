/* What functions of throng.h do with arguments that it forbids: a build with asserts ends the program, and a release
 * refuses them, and neither reads outside. Here th_misused is stood in for, so that any build shows both.
 * docs/reference/misuse.md is what this prints. */
#include "fixture_document.h"
#include "fixture_human.h"

#include <throng/throng.h>

#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Whether this is a child, which makes the call. The parent sees it end. */
static bool tries(const char *call)
{
#ifndef NDEBUG
    int status;
    const pid_t child = fork();
    if (child == 0) {
        cr_assert(freopen("/dev/null", "w", stderr));
        return true;
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s: status %d", call, status);
#endif
    (void)call;
    return false;
}

#define ROW(call, release, try, holds)                                                                                 \
    do {                                                                                                               \
        if (tries(call)) {                                                                                             \
            try;                                                                                                       \
            _exit(0);                                                                                                  \
        }                                                                                                              \
        is_release = true;                                                                                             \
        cr_expect(holds, "%s", call);                                                                                  \
        is_release = false;                                                                                            \
        fprintf(page, "| `%s` | %s |\n", call, release);                                                               \
    } while (0)

/* Rows: what a call returns, or that it writes nothing. */
#define USAGE(...)                                                                                                     \
    ROW(#__VA_ARGS__, "`TH_ERR_USAGE`", (void)(__VA_ARGS__), (__VA_ARGS__) == TH_ERR_USAGE && err.code == TH_ERR_USAGE)
#define RETURNS(value, ...) ROW(#__VA_ARGS__, "`" #value "`", (void)(__VA_ARGS__), (__VA_ARGS__) == (value))
#define NOTHING(...)        ROW(#__VA_ARGS__, "nothing", (void)(__VA_ARGS__), ((__VA_ARGS__), is_untouched()))

static th_error err;
static const th_model *model;
static th_model by_hand; /* as a program fills one in */
static th_model *made;
static th_compiled_model *compiled, *out;
static th_dmat34 *pose;
static float *weights;
static size_t size; /* of each */

static bool is_untouched(void)
{
    bool is = true;
    for (size_t i = 0; i < size; i++)
        is &= ((const unsigned char *)pose)[i] == 0x5a && ((const unsigned char *)weights)[i] == 0x5a;
    return is;
}

static void models(void)
{
    USAGE(th_model_create(NULL, &made, &err));
    USAGE(th_model_create(model, NULL, &err));
    RETURNS(TH_NO_INDEX, th_model_find_joint(&by_hand, "root"));
    RETURNS(TH_NO_INDEX, th_model_find_joint(model, NULL));
    RETURNS(TH_NO_INDEX, th_model_find_clip(&by_hand, "walk"));
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
    const th_mask heavy = {"heavy", weights}, none = {"none", NULL};
    weights[model->joint_count - 1] = 2;
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
    memset(weights, 0x5a, size);
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

static void make_all(void)
{
    make_human();
    model = human;
    by_hand = *human;
    by_hand.arena = NULL;
    cr_assert_eq(th_compiled_model_create(&(th_compiled_model_desc){.model = model, .sampling = TH_SAMPLING_EXACT},
                                          &compiled, NULL),
                 TH_OK);
    size = model->joint_count * sizeof *pose;
    pose = malloc(size);
    weights = malloc(size);
    cr_assert(pose && weights);
    memset(pose, 0x5a, size);
    memset(weights, 0x5a, size);
}

static void free_all(void)
{
    free(pose);
    free(weights);
    th_compiled_model_destroy(compiled);
    free_human();
}

TestSuite(misuse, .init = make_all, .fini = free_all);

Test(misuse, is_caught_in_debug_and_refused_in_release)
{
    char *text = NULL;
    size_t length;
    page = open_memstream(&text, &length);
    fputs(
        "# Misuse\n\n"
        "What a release does with arguments that `throng.h` forbids: it returns this, with the reason in `err`, and "
        "has\n"
        "neither read nor changed anything. Builds with asserts, and `libthrong_debug`, end the program there, as a "
        "failed\n"
        "assert does. A test makes these calls in both, and writes this page.\n\n"
        "`by_hand` is a model that a program has filled in and not given to `th_model_create`. `COMPILE` stands for\n"
        "`th_compiled_model_create` with such a desc, `LAYER` for `th_exact_layers` with one such layer and no mask,\n"
        "`none` is a mask without weights, and `heavy` has one of 2.\n\n"
        "| call | what it returns |\n|---|---|\n",
        page);
    models();
    compiled_models();
    reference();
    fclose(page);
    check_text(TEST_DATA "/../../docs/reference/misuse.md", text);
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
