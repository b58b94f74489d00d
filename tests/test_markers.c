/* The regions of a build with THRONG_LIKWID: frame.c and markers.c are compiled against a header that tells us of every
 * call (likwid/likwid-marker.h). Between two chunks no thread is in a region, and each chunk is in that of its stage.
 */
#include "fixture_human.h"
#include "likwid/likwid-marker.h"

#include <throng/runtime/frame.h>
#include <throng/runtime/scene.h>

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 640, BATCHES = COUNT / 16, THREADS = 3, FRAMES = 4, MOST_CALLS = 16 + 6 * FRAMES * BATCHES };

static th_error error;
static th_jobs *jobs;
static th_scene *scene;
static th_crowd *crowd;
static void *palette;

/* ---- what was called ---- */

typedef struct call {
    likwid_call what;
    char region[16];
    pthread_t thread;
} call;

static call calls[MOST_CALLS];
static uint32_t call_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A chunk takes a while, so that all workers get some. */
void likwid_called(likwid_call what, const char *region)
{
    pthread_mutex_lock(&lock);
    if (call_count == MOST_CALLS)
        abort();
    call *c = &calls[call_count++];
    *c = (call){.what = what, .thread = pthread_self()};
    strncpy(c->region, region ? region : "", sizeof c->region - 1);
    pthread_mutex_unlock(&lock);
    if (what == START)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void (*at_exit)(void);

int __wrap_atexit(void (*fn)(void));
int __wrap_atexit(void (*fn)(void))
{
    at_exit = fn;
    return 0;
}

static uint32_t count_of(likwid_call what, const char *region)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < call_count; i++)
        count += calls[i].what == what && (!region || strcmp(calls[i].region, region) == 0);
    return count;
}

/* A thread makes itself known, once. Then it is in one region at a time and leaves the one that it is in; in the end it
 * is in none. Returns its chunks. */
static uint32_t check_thread(pthread_t thread)
{
    const call *inside = NULL;
    uint32_t introductions = 0, chunks = 0;
    for (uint32_t i = 0; i < call_count; i++) {
        const call *c = &calls[i];
        if (!pthread_equal(c->thread, thread))
            continue;
        introductions += c->what == THREADINIT;
        if (c->what == START) {
            cr_assert_eq(introductions, 1);
            cr_assert_null(inside, "in %s while still in %s", c->region, inside->region);
            inside = c;
        }
        if (c->what == STOP) {
            cr_assert_not_null(inside, "leaves %s, but is in none", c->region);
            cr_assert_str_eq(c->region, inside->region);
            inside = NULL;
            chunks++;
        }
    }
    cr_assert_null(inside, "stays in %s", inside->region);
    cr_assert_eq(introductions, 1);
    return chunks;
}

/* All threads together; returns how many of them had chunks. */
static uint32_t check_threads(uint32_t chunks)
{
    uint32_t threads = 0, sum = 0;
    for (uint32_t i = 0; i < call_count; i++)
        if (calls[i].what == THREADINIT) {
            sum += check_thread(calls[i].thread);
            threads++;
        }
    cr_expect_eq(sum, chunks);
    return threads;
}

/* ---- frames ---- */

static void make(void)
{
    make_human();
    const th_model *models[] = {human};
    const th_scene_desc desc = {.models = models, .model_count = 1, .instance_count = COUNT, .seed = 1};
    cr_assert_eq(th_threads_create(&(th_jobs_desc){.threads = THREADS}, &jobs, &error), TH_OK, "%s", error.text);
    cr_assert_eq(th_scene_create(&desc, &scene, &error), TH_OK, "%s", error.text);
    cr_assert_eq(th_scene_crowd(scene, TH_ISA_AUTO, TH_PALETTE_F32, &crowd, &error), TH_OK, "%s", error.text);
    cr_assert_eq(th_palette_create(crowd, &palette, &error), TH_OK, "%s", error.text);
}

static void destroy(void)
{
    free(palette);
    th_crowd_destroy(crowd);
    th_scene_destroy(scene);
    th_jobs_destroy(jobs);
    free_human();
}

TestSuite(markers, .init = make, .fini = destroy);

static th_frame *make_frame(th_stages stages)
{
    th_frame *frame;
    const th_frame_desc desc = {.crowd = crowd, .jobs = jobs, .grain = 1, .stages = stages};
    cr_assert_eq(th_frame_create(&desc, &frame, &error), TH_OK, "%s", error.text);
    return frame;
}

static void animate(th_frame *frame)
{
    for (uint32_t f = 0; f < FRAMES; f++)
        th_frame_animate(frame, f / TH_FRAME_RATE, palette);
}

Test(markers, each_worker_is_in_the_region_of_its_chunk_and_in_no_other)
{
    th_frame *frame = make_frame(TH_STAGES_FUSED);
    cr_expect(call_count == 1 && calls[0].what == INIT && pthread_equal(calls[0].thread, pthread_self()));
    animate(frame);
    cr_expect_gt(check_threads(FRAMES * BATCHES), 1); /* on a busy machine a worker may come late to all frames */
    cr_expect_eq(count_of(START, "pose"), FRAMES * BATCHES);
    cr_expect_eq(count_of(START, NULL), FRAMES * BATCHES);
    cr_expect_eq(count_of(INIT, NULL), 1);
    th_frame_destroy(frame);
}

Test(markers, stages_have_regions_of_their_own)
{
    th_frame *frame = make_frame(TH_STAGES_SEPARATE);
    animate(frame);
    cr_expect_eq(check_threads(2 * FRAMES * BATCHES), THREADS);
    cr_expect_eq(count_of(START, "sample"), FRAMES * BATCHES);
    cr_expect_eq(count_of(START, "resolve"), FRAMES * BATCHES);
    cr_expect_eq(count_of(START, "pose"), 0);
    th_frame_destroy(frame);
}

/* What is observed otherwise has no markers, which would be counted with it. */
static void ignore(void *ctx, uint32_t worker, th_frame_stage stage)
{
    (void)ctx, (void)worker, (void)stage;
}

Test(markers, make_way_for_an_observer)
{
    th_frame *frame = make_frame(TH_STAGES_FUSED);
    th_frame_observe(frame, &(th_frame_observer){ignore, ignore, NULL});
    animate(frame);
    cr_expect_eq(count_of(START, NULL), 0);
    th_frame_observe(frame, NULL);
    animate(frame);
    cr_expect_eq(count_of(START, NULL), FRAMES * BATCHES);
    th_frame_destroy(frame);
}

Test(markers, are_opened_once_and_closed_when_the_program_ends)
{
    th_frame *first = make_frame(TH_STAGES_FUSED), *second = make_frame(TH_STAGES_SEPARATE);
    animate(first);
    animate(second);
    cr_expect_eq(count_of(INIT, NULL), 1);
    cr_expect_eq(count_of(CLOSE, NULL), 0);
    th_frame_destroy(second);
    th_frame_destroy(first);
    cr_expect_eq(count_of(CLOSE, NULL), 0);
    cr_assert_not_null(at_exit);
    at_exit();
    cr_expect_eq(count_of(CLOSE, NULL), 1);
    cr_expect_eq(calls[call_count - 1].what, CLOSE);
}
