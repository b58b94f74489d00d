/* Inside, since the race is between threads that HTTP does not show. A crowd that is changed all the time while
 * others read it: stress_tick_loop [REQUESTS [SEED]]. Counters never go back, a seqlock never shows halves of two
 * moments, the time series is in order. For ThreadSanitizer as well. */
#include "fixture_nightly.h"
#include "src/serve/process.h"
#include "src/serve/simulation/simulation_controller.h"

#include <core/random.h>
#include <serve/model_registry.h>
#include <throng/throng.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READERS = 3 };

static th_controller *controller;
static atomic_bool stopped;

static void insist(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "stress_tick_loop: %s\n", what);
    exit(1);
}

static th_result load(void *ctx, const char *path, uint64_t most_bytes, th_model **out, th_error *err)
{
    (void)ctx;
    (void)most_bytes;
    return strcmp(path, TH_HUMAN_NAME) == 0 ? th_human_create(out, err) : th_fail(err, TH_ERR_INPUT, "no %s", path);
}

/* Crowds have 16 characters each, so all that is counted goes together. */
static void check_state(th_tick_loop_state *before)
{
    const th_tick_loop_state now = th_tick_loop_read(controller->tick_loop);
    insist(now.ticks >= before->ticks && now.missed >= before->missed && now.crowd_s >= before->crowd_s &&
               now.now_ns >= before->now_ns,
           "a counter goes back");
    insist(now.characters == 16 * now.ticks, "a seqlock shows two moments at once");
    *before = now;
}

static void check_durations(th_histogram *before, th_histogram *now)
{
    th_histogram_read(&controller->tick_loop->durations, now);
    for (uint32_t b = 0; b < TH_HISTOGRAM_BUCKETS; b++)
        insist(now->counts[b] >= before->counts[b], "a bucket goes back");
    *before = *now;
}

static void check_time_series(th_second *seconds)
{
    const uint32_t count = th_time_series_read(&controller->tick_loop->time_series, seconds, 100);
    for (uint32_t s = 1; s < count; s++)
        insist(seconds[s].end_s > seconds[s - 1].end_s, "seconds are out of order");
}

static void check_cpu(uint64_t *before_ns)
{
    const uint64_t now_ns = th_controller_cpu_ns(controller);
    insist(now_ns >= *before_ns, "the controller's CPU time goes back");
    *before_ns = now_ns;
}

static void *read_all(void *arg)
{
    th_tick_loop_state before = {0};
    uint64_t cpu_ns = 0;
    th_histogram *histograms = calloc(2, sizeof *histograms);
    th_second *seconds = calloc(100, sizeof *seconds);
    (void)arg;
    insist(histograms && seconds, "no memory");
    while (!atomic_load(&stopped)) {
        check_state(&before);
        check_cpu(&cpu_ns);
        check_durations(&histograms[0], &histograms[1]);
        check_time_series(seconds);
        json_decref(th_controller_models_json(controller));
        usleep(200); /* or nothing else gets done on a small machine */
    }
    free(histograms);
    free(seconds);
    return NULL;
}

static void change_settings(uint64_t seed, uint64_t n)
{
    static const double rates[] = {0, 20, 200, 1000};
    th_settings s = th_controller_read(controller).requested;
    const uint64_t bits = th_random_bits(seed, n);
    s.threads = 1 + (uint32_t)(bits % 3);
    s.rate_hz = rates[bits >> 8 & 3];
    s.paused = (bits >> 16 & 7) == 0;
    s.interpolation = (bits >> 24 & 3) == 0 ? TH_INTERPOLATION_SLERP : TH_INTERPOLATION_AUTHORED;
    s.behaviour = (bits >> 28 & 7) == 0 ? TH_BEHAVIOUR_FADE : TH_BEHAVIOUR_NONE;
    s.clip_count = bits >> 32 & 1;
    s.clips[0] = (th_clip_weight){.name = "walk", .weight = 1};
    if ((bits >> 40 & 7) == 0)
        strcpy(s.clips[0].name, "none such");
    th_controller_request(controller, &s);
    th_controller_hold(controller, (bits >> 48 & 15) == 0);
}

int main(int argc, char **argv)
{
    const uint64_t least = argc > 1 ? strtoull(argv[1], NULL, 10) : is_nightly() ? 2000 : 100;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    static const th_model_registry registry = {.files = {TH_HUMAN_NAME}, .file_count = 1};
    static th_memory_budget memory = TH_MEMORY_BUDGET(1 << 30);
    const th_controller_desc desc = {.model_cache = {.registry = &registry, .memory = &memory, .load = load},
                                     .simulation = {.memory = &memory}};
    const th_settings first = {.count = 16, .threads = 1, .rate_hz = 100, .models = {TH_HUMAN_NAME}, .model_count = 1};
    pthread_t readers[READERS];
    printf("seed %llu\n", (unsigned long long)seed);
    insist(th_controller_create(&desc, &first, &controller, NULL) == TH_OK, "no controller");
    for (int r = 0; r < READERS; r++)
        insist(pthread_create(&readers[r], NULL, read_all, NULL) == 0, "no thread");
    uint64_t requests = 0;
    for (; requests < least || th_controller_read(controller).done == 0; requests++) {
        change_settings(seed, requests);
        usleep((useconds_t)(th_random_bits(seed + 1, requests) % 10000));
    }
    atomic_store(&stopped, true);
    for (int r = 0; r < READERS; r++)
        pthread_join(readers[r], NULL);
    const th_controller_state state = th_controller_read(controller);
    printf("%llu requests, %llu changes made, %llu failed\n", (unsigned long long)requests,
           (unsigned long long)state.done, (unsigned long long)state.failed);
    th_controller_destroy(controller);
    return 0;
}
