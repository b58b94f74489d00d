/* Entries that a program brings into the bench, by two that only count what is done with them. */
#include "fixture_human.h"

#include <bench/bench.h>

#include <criterion/criterion.h>
#include <string.h>

/* What is done with a benchmark, in letters. */
typedef struct diary {
    char text[64];
    uint32_t runs; /* since the repetition began */
} diary;

typedef struct house {
    diary good, bad;
} house;

static th_error err;

TestSuite(external_benchmarks, .init = make_human, .fini = free_human);

static void note(void *ctx, char what)
{
    diary *d = ctx;
    const size_t length = strlen(d->text);
    if (length + 1 < sizeof d->text && (length == 0 || d->text[length - 1] != what))
        d->text[length] = what;
}

static th_result create(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out, th_error *e)
{
    house *h = ctx;
    diary *d = *out = benchmark->what ? &h->bad : &h->good;
    note(d, 'c');
    row->threads = 1;
    row->characters = row->bones = 1;
    return benchmark->what ? th_fail(e, TH_ERR_ENVIRONMENT, "there is no stage") : TH_OK;
}

static void before(void *ctx)
{
    note(ctx, 'b');
    ((diary *)ctx)->runs = 0;
}

static void run(void *ctx, uint64_t frame)
{
    (void)frame;
    note(ctx, 'r');
    ((diary *)ctx)->runs++;
}

static void after(void *ctx)
{
    note(ctx, ((diary *)ctx)->runs == 3 ? 'a' : '?');
}

static void summarize(void *ctx, const th_row *baseline, th_row *row)
{
    note(ctx, baseline == row ? 's' : '?');
    row->own = json_pack("{s:i}", "visible", 42);
}

static void destroy(void *ctx)
{
    note(ctx, 'd');
}

#define ALL .create = create, .before = before, .run = run, .after = after, .summarize = summarize, .destroy = destroy

static const th_external_benchmark entries[] = {
    {.name = "frame/good", .shape = "one", .is_baseline = true, ALL},
    {.name = "frame/bad", .shape = "other", .what = "bad", ALL},
};

static json_t *describe(void *ctx)
{
    (void)ctx;
    return json_pack("{s:i, s:s}", "width", 7, "renderer", "a hand");
}

static th_external_benchmarks benchmarks_of(house *h)
{
    return (th_external_benchmarks){entries, 2, h, describe};
}

static th_report report_of(house *h, const char *filter)
{
    th_report report;
    const th_external_benchmarks external = benchmarks_of(h);
    const th_bench_desc desc = {
        .scene = {.models = (const th_model *const[]){human}, .model_count = 1, .instance_count = 5},
        .threads = 1,
        .measure = {.repetitions = 2, .iterations = 3},
        .filter = filter,
        .external = &external,
    };
    cr_assert_eq(th_bench_run(&desc, &report, &err), TH_OK, "%s", err.text);
    return report;
}

Test(external_benchmarks, come_last_in_the_list_and_are_filtered)
{
    const th_external_benchmarks external = benchmarks_of(NULL);
    const th_bench_names all = th_bench_list(NULL, &external), own = th_bench_list(NULL, NULL);
    cr_assert_eq(all.count, own.count + 2);
    cr_expect_str_eq(all.names[own.count], "frame/good");
    cr_expect_str_eq(all.names[own.count + 1], "frame/bad");
    const th_bench_names bad = th_bench_list("frame/b", &external);
    cr_expect(bad.count == 1 && strcmp(bad.names[0], "frame/bad") == 0);
}

Test(external_benchmarks, are_measured_like_others)
{
    house h = {0};
    th_report report = report_of(&h, "^(frame/good|limit/write_cached)");
    cr_assert_eq(report.row_count, 2);
    cr_expect_str_eq(h.good.text, "crbrabrasd"); /* first to find out how many iterations */
    cr_expect_eq(report.rows[1].real_ns.count, 2);
    cr_expect_eq(report.rows[1].iterations, 3);
    cr_expect_eq(json_integer_value(json_object_get(report.picture, "width")), 7);
    th_report_fini(&report);
}

Test(external_benchmarks, that_cannot_are_left_out_with_a_reason)
{
    house h = {0};
    th_report report = report_of(&h, "^frame/");
    const th_row *bad = &report.rows[1];
    cr_assert_eq(report.row_count, 2);
    cr_expect_str_eq(h.bad.text, "cd");
    cr_expect(bad->skipped && bad->real_ns.count == 0 && strcmp(bad->failure, "there is no stage") == 0);
    cr_expect_eq(th_report_skipped(&report), bad);
    cr_expect_null(th_report_failure(&report));
    cr_expect_not_null(report.picture);
    th_report_fini(&report);
}
