/* Inside, since the colours are only drawn. Who posed whom: what a frame remembers of its workers, and the colours
 * that a picture gives them. */
#include "fixture_human.h"
#include "fixture_jobs.h"
#include "render/view/tint.h"

#include <runtime/frame.h>
#include <runtime/scene.h>

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 635 /* the last batch is longer */, MOST_BATCHES = COUNT / 16, THREADS = 3 };
enum { SLOW_NS = 300000 };

TestSuite(workers, .init = make_human, .fini = free_human);

/* ---- the frame remembers ---- */

/* Between the frame and the crowd, by the linker's --wrap: who really came by. Each is slow, so that all get some. */
static pthread_t posers[MOST_BATCHES];

__typeof__(th_crowd_pose_layers) __real_th_crowd_pose_layers, __wrap_th_crowd_pose_layers;
void __wrap_th_crowd_pose_layers(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s,
                                 const th_crowd_layers *layers, void *palette, float *sockets, void *scratch)
{
    for (uint32_t b = begin; b < end; b++)
        posers[b] = pthread_self();
    nanosleep(&(struct timespec){.tv_nsec = SLOW_NS}, NULL);
    __real_th_crowd_pose_layers(crowd, begin, end, time_s, layers, palette, sockets, scratch);
}

/* Where the last worker begins in the last call, and the items of that call. */
static uint32_t last_begin, last_count;

__typeof__(th_jobs_run) __real_th_jobs_run, __wrap_th_jobs_run;
int __wrap_th_jobs_run(th_jobs *jobs, const th_job *job)
{
    const uint32_t threads = th_jobs_threads(jobs);
    last_begin = job->partition && threads > 1 ? job->partition[threads - 2] : 0;
    last_count = job->count;
    return __real_th_jobs_run(jobs, job);
}

/* The same worker is the same thread, and another worker another one. Returns how many there were. */
static uint32_t check_workers(const th_frame *frame, const uint32_t *shown, uint32_t count)
{
    pthread_t thread_of[THREADS];
    bool known[THREADS] = {false};
    uint32_t workers = 0;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t last = count / 16 - 1, batch = k / 16 < last ? k / 16 : last;
        const uint32_t worker = th_frame_worker(frame, shown[k]);
        cr_assert_lt(worker, THREADS);
        if (!known[worker]) {
            known[worker] = true;
            thread_of[worker] = posers[batch];
            workers++;
        }
        cr_assert(pthread_equal(thread_of[worker], posers[batch]), "character %u", shown[k]);
    }
    for (uint32_t a = 0; a < THREADS; a++)
        for (uint32_t b = 0; b < a; b++)
            cr_expect(!known[a] || !known[b] || !pthread_equal(thread_of[a], thread_of[b]), "%u and %u", a, b);
    cr_expect(!known[0] || pthread_equal(thread_of[0], pthread_self()), "the caller is worker 0");
    return workers;
}

/* Everybody, until so many workers pose, and then every other character from the last to the first. */
static void check_frames(th_crowd *crowd, th_jobs *jobs, uint32_t fewest)
{
    th_frame *frame;
    void *palette;
    uint32_t shown[COUNT];
    const th_frame_desc desc = {.crowd = crowd, .jobs = jobs, .grain = 1};
    cr_assert_eq(th_frame_create(&desc, &frame, NULL), TH_OK);
    cr_assert_eq(th_palettes_create(crowd, &palette, NULL), TH_OK);
    for (uint32_t i = 0; i < COUNT; i++)
        shown[i] = i;
    uint32_t workers = 0;
    for (int tries = 0; workers < fewest && tries < 100000; tries++) { /* others may have the CPUs */
        th_frame_run(frame, 0, palette);
        workers = check_workers(frame, shown, COUNT);
    }
    for (uint32_t i = 0; i < COUNT / 2; i++)
        shown[i] = COUNT - 1 - 2 * i;
    th_crowd_set_active(crowd, shown, COUNT / 2 - 5);
    th_frame_run(frame, 1, palette);
    check_workers(frame, shown, COUNT / 2 - 5);
    cr_expect(last_count == (COUNT / 2 - 5) / 16 && last_begin < last_count, "the last worker begins at %u of %u",
              last_begin, last_count);
    th_crowd_set_active(crowd, NULL, COUNT);
    th_palettes_destroy(palette);
    th_frame_destroy(frame);
    cr_expect(fewest == 1 ? workers == 1 : workers > 1, "%u workers", workers);
}

Test(workers, are_those_that_posed_in_this_frame)
{
    th_scene *scene;
    th_crowd *crowd;
    const th_scene_desc desc = {.models = (const th_model *const[]){human}, .model_count = 1, .instance_count = COUNT};
    cr_assert_eq(th_scene_create(&desc, &scene, NULL), TH_OK);
    cr_assert_eq(th_scene_crowd(scene, TH_ISA_AUTO, TH_FORMAT_F32, &crowd, NULL), TH_OK);
    for (EACH_SCHEDULER(s)) {
        th_jobs *jobs = create_jobs(s, THREADS);
        check_frames(crowd, jobs, s == TH_SCHEDULER_SERIAL ? 1 : 2);
        th_jobs_destroy(jobs);
    }
    th_crowd_destroy(crowd);
    th_scene_destroy(scene);
}

/* ---- colours ---- */

static int difference(th_tint a, th_tint b)
{
    int sum = 0;
    for (int k = 0; k < 3; k++)
        sum += abs(a.rgba[k] - b.rgba[k]);
    return sum;
}

Test(workers, have_colours_of_their_own)
{
    for (uint32_t a = 0; a < TH_JOBS_MAX_THREADS; a++) {
        cr_expect_eq(th_tint_worker(a).rgba[3], 255);
        for (uint32_t b = 0; b < a; b++) {
            const int least = a < 8 ? 80 : a < 32 ? 20 : 1;
            cr_expect_geq(difference(th_tint_worker(a), th_tint_worker(b)), least, "%u and %u", a, b);
        }
    }
}
