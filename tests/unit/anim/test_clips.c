/* Inside, since the frames that threads compile are no public data. Clips that are compiled side by side: the same
 * as one after the other, for any number of threads and any budget. */
#include "anim/compile/compiled_data.h"
#include "random_model.h"

#include <runtime/parallel.h>

#include <criterion/criterion.h>

static th_compiled_model *compile(const th_model *model, double effort, th_keys keys, th_parallel_fn *parallel,
                                  void *ctx)
{
    th_error err;
    th_compiled_model *compiled;
    th_compiled_model_desc desc = {
        .model = model, .effort = effort, .keys = keys, .parallel = parallel, .parallel_ctx = ctx};
    cr_assert_eq(th_compiled_model_create(&desc, &compiled, &err), TH_OK);
    return compiled;
}

/* Returns how many clips are compiled. */
static uint32_t check_same(const th_compiled_model *a, const th_compiled_model *b)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c <= a->model->clip_count; c++) {
        const th_clip_report *x = &a->reports[c], *y = &b->reports[c];
        cr_assert_eq(x->compiled, y->compiled, "clip %u: %s, or %s", c, x->reason, y->reason);
        cr_assert_eq(x->bytes, y->bytes, "clip %u: %zu or %zu bytes", c, x->bytes, y->bytes);
        cr_assert_eq(x->max_error, y->max_error);
        cr_assert_str_eq(x->reason, y->reason);
        cr_assert_eq(x->frame_count, y->frame_count);
        if (x->compiled)
            cr_assert_arr_eq(a->compiled_clips[c].keys, b->compiled_clips[c].keys, x->bytes, "clip %u", c);
        count += x->compiled;
    }
    return count;
}

/* The last item first. */
static void run_backwards(uint32_t count, void (*fn)(uint32_t item, void *ctx), void *ctx, void *unused)
{
    (void)unused;
    while (count-- > 0)
        fn(count, ctx);
}

Test(clips, are_the_same_for_any_number_of_threads_and_any_budget)
{
    uint32_t some = 0;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        th_model *model = random_model(&(random_desc){
            .seed = seed, .joint_count = 12, .clip_count = 9, .key_count = 20, .uneven_keys = true, .swing_rad = 1});
        for (double effort = 1; effort > 1e-5; effort /= 8) {
            const th_keys keys = seed % 2 ? TH_KEYS_32 : TH_KEYS_16;
            th_compiled_model *alone = compile(model, effort, keys, NULL, NULL);
            th_compiled_model *backwards = compile(model, effort, keys, run_backwards, NULL);
            const uint32_t compiled = check_same(alone, backwards);
            some += compiled > 0 && compiled <= model->clip_count;
            for (uint32_t threads = 2; threads <= 4; threads += 2) {
                th_jobs_desc jobs = {.threads = threads};
                th_compiled_model *many = compile(model, effort, keys, th_parallel_run, &jobs);
                check_same(alone, many);
                th_compiled_model_destroy(many);
            }
            th_compiled_model_destroy(backwards);
            th_compiled_model_destroy(alone);
        }
        th_model_destroy(model);
    }
    cr_assert_gt(some, 2, "budgets that end among the clips");
}

static void count_items(uint32_t item, void *ctx)
{
    uint32_t *counts = ctx;
    counts[item]++;
}

Test(clips, each_item_runs_once)
{
    for (uint32_t threads = 0; threads <= 3; threads++)
        for (uint32_t count = 0; count < 20; count++) {
            uint32_t counts[20] = {0};
            th_jobs_desc jobs = {.threads = threads};
            th_parallel_run(count, count_items, counts, &jobs);
            for (uint32_t i = 0; i < 20; i++)
                cr_assert_eq(counts[i], i < count);
        }
}
