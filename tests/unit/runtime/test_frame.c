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

enum { COUNT = 203, LINES = 65, BESIDE = LINES * TH_CACHE_LINE };

/* A crowd, whose palettes are those that are wanted; and memory of a mapped buffer, say, in which others have theirs,
 * too: palettes begin on any of its lines but the first. */
static crowd_fixture s;
static unsigned char *memory, *palettes;

static void make_crowd(th_format format)
{
    make_human();
    crowd_fixture_init_with(&s, human, (th_compiled_model_desc){0}, COUNT, (th_crowd_desc){.format = format});
    memory = th_cache_line_alloc(s.palette_bytes + BESIDE);
    cr_assert(memory);
}

static void free_crowd(void)
{
    free(memory);
    crowd_fixture_fini(&s);
    free_human();
}

/* Makes the first `active` characters those to pose, poses the batches [begin, end) as wanted, and clears `memory`, to
 * which the call under test is to write the same. */
static void want(double time_s, uint32_t active, uint32_t begin, uint32_t end)
{
    static uint32_t line;
    uint32_t shown[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        shown[i] = i;
    th_crowd_set_active(s.crowd, shown, active);
    palettes = memory + TH_CACHE_LINE * (1 + line++ % (LINES - 1));
    memset(s.palette, GUARD, s.palette_bytes);
    memset(memory, GUARD, s.palette_bytes + BESIDE);
    for (uint32_t b = begin; b < end && b < th_crowd_batch_count(s.crowd); b++)
        th_crowd_pose(s.crowd, b, b + 1, time_s, s.palette, s.scratch);
}

static void expect_wanted(const char *how, uint32_t threads)
{
    cr_expect_eq(memcmp(palettes, s.palette, s.palette_bytes), 0, "%s %u", how, threads);
    for (unsigned char *at = memory; at < memory + BESIDE; at++)
        cr_assert_eq(at < palettes ? *at : at[s.palette_bytes], GUARD, "%s %u wrote beside palettes", how, threads);
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

Test(frame, poses_the_batches_it_is_asked_for)
{
    make_crowd(TH_FORMAT_QUAT);
    th_frame *frame;
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = s.crowd}, &frame, NULL), TH_OK);
    want(1, COUNT, 1, 3);
    th_frame_begin(frame, 1, palettes);
    th_frame_batches(frame, 1, 3, 0);
    th_frame_end(frame);
    expect_wanted("batches 1 and 2 on", 1);
    th_frame_destroy(frame);
    free_crowd();
}
