/* A frame on anybody's threads, into anybody's memory: the bytes are those that the crowd poses batch by batch. */
#include "fixture_crowd.h"
#include "fixture_human.h"
#include "fixture_jobs.h"
#include "fixture_memory.h"
#include "fixture_tasks.h"

#include <core/cache_line.h>
#include <runtime/frame.h>

#include <criterion/criterion.h>
#include <string.h>

enum { COUNT = 203 };

/* A crowd, whose palettes are those that are wanted, and palettes with a line before and behind them that belong to
 * somebody else. */
static crowd_fixture s;
static unsigned char *memory, *palettes;

static void make_crowd(th_format format)
{
    make_human();
    crowd_fixture_init_with(&s, human, (th_compiled_model_desc){0}, COUNT, (th_crowd_desc){.format = format});
    memory = th_cache_line_alloc(s.palette_bytes + 2 * TH_CACHE_LINE);
    cr_assert(memory);
    memset(memory, GUARD, s.palette_bytes + 2 * TH_CACHE_LINE);
    palettes = memory + TH_CACHE_LINE;
}

static void free_crowd(void)
{
    free(memory);
    crowd_fixture_fini(&s);
    free_human();
}

/* What a call is to write: at this time, the first so many characters, in these batches. Nothing of it is there yet. */
static void want(double time_s, uint32_t active, uint32_t begin, uint32_t end)
{
    uint32_t shown[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        shown[i] = i;
    th_crowd_set_active(s.crowd, shown, active);
    memset(s.palette, GUARD, s.palette_bytes);
    memset(palettes, GUARD, s.palette_bytes);
    for (uint32_t b = begin; b < end && b < th_crowd_batch_count(s.crowd); b++)
        th_crowd_pose(s.crowd, b, b + 1, time_s, s.palette, s.scratch);
}

static void expect_wanted(const char *how, uint32_t threads)
{
    cr_expect_eq(memcmp(palettes, s.palette, s.palette_bytes), 0, "%s %u", how, threads);
    for (uint32_t i = 0; i < TH_CACHE_LINE; i++)
        cr_assert(memory[i] == GUARD && palettes[s.palette_bytes + i] == GUARD, "%s %u wrote beside palettes", how,
                  threads);
}

static void pose_by_hand(uint32_t begin, uint32_t end, uint32_t worker, void *frame)
{
    th_frame_batches(frame, begin, end, worker);
}

/* Everybody, some and nobody. by_hand: the ranges are those of this task system. */
static void check_frame(const char *how, th_frame_desc desc, task_system *by_hand)
{
    static const uint32_t active[] = {COUNT, COUNT / 2, 0, COUNT};
    th_frame *frame;
    desc.crowd = s.crowd;
    cr_assert_eq(th_frame_create(&desc, &frame, NULL), TH_OK);
    const uint32_t threads = desc.jobs ? th_jobs_threads(desc.jobs) : desc.threads;
    for (uint32_t n = 0; n < 4; n++) {
        want(n + 0.25, active[n], 0, UINT32_MAX);
        const size_t before = allocations;
        if (by_hand) {
            const uint32_t count = th_frame_begin(frame, n + 0.25, palettes);
            cr_expect_eq(count, th_crowd_batch_count(s.crowd));
            void *handle = enqueue_tasks(pose_by_hand, count, 1, frame, by_hand);
            if (handle)
                finish_tasks(handle, by_hand);
            th_frame_end(frame);
        } else {
            th_frame_run(frame, n + 0.25, palettes);
        }
        cr_expect_eq(allocations, before, "%s %u allocates", how, threads);
        expect_wanted(how, threads);
    }
    th_frame_destroy(frame);
}

static void check_ways(void)
{
    cr_assert_gt(allocations, 0, "nobody is counting");
    check_frame("on the calling thread", (th_frame_desc){.threads = 0}, NULL);
    for (uint32_t threads = 1; threads <= TASK_WORKERS; threads++) {
        th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, threads);
        check_frame("on a pool of", (th_frame_desc){.jobs = jobs}, NULL);
        th_jobs_destroy(jobs);
        for (int at_once = 0; at_once < 2; at_once++) {
            task_system system = {.workers = threads, .at_once = at_once};
            const th_tasks tasks = {enqueue_tasks, finish_tasks, &system};
            check_frame("with tasks of", (th_frame_desc){.tasks = tasks, .threads = threads}, NULL);
            cr_expect_eq(system.enqueued, 3, "not without batches");
            cr_expect_eq(system.finished, at_once ? 0 : 3);
            check_frame("by hand on", (th_frame_desc){.threads = threads}, &system);
        }
    }
}

Test(frame, poses_the_same_on_all_threads_in_each_format)
{
    for (int format = TH_FORMAT_F32; format <= TH_FORMAT_QUAT16; format++) {
        make_crowd((th_format)format);
        for (int writes = TH_WRITES_CACHED; writes <= TH_WRITES_STREAMED; writes++) {
            th_crowd_set_writes(s.crowd, (th_writes)writes);
            check_ways();
        }
        free_crowd();
    }
}

/* Palettes in rows of a mapped buffer, say, in which others have theirs: each begins on another line. */
Test(frame, poses_the_batches_it_is_asked_for_into_memory_at_any_line)
{
    make_crowd(TH_FORMAT_QUAT);
    th_frame *frame;
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = s.crowd}, &frame, NULL), TH_OK);
    want(1, COUNT, 1, 3);
    th_frame_begin(frame, 1, palettes);
    th_frame_batches(frame, 1, 3, 0);
    th_frame_end(frame);
    expect_wanted("batches 1 and 2 on", 1);

    unsigned char *buffer = th_cache_line_alloc(s.palette_bytes + 4096);
    want(2, COUNT, 0, UINT32_MAX);
    for (size_t at = 0; at <= 4096; at += TH_CACHE_LINE) {
        th_frame_run(frame, 2, buffer + at);
        cr_expect_eq(memcmp(buffer + at, s.palette, s.palette_bytes), 0, "%zu", at);
    }
    free(buffer);
    th_frame_destroy(frame);
    free_crowd();
}
