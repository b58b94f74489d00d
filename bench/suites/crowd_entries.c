/* The crowd/, play/ and clips/ entries, on the best kernel: how many characters there are, what they play, and when. */
#include "pose_benchmark.h"

#include <stdio.h>

/* ---- crowd ---- */

static const uint32_t counts[] = {1, 8, 100, 1000, 10000};

static void with_count(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)fixture;
    const uint32_t *count = entry->variant;
    desc->instance_count = *count;
}

/* ---- play ---- */

/* A random time within an hour, by hashing the frame (G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number
 * Generators, 2014). */
static double random_time(uint64_t frame)
{
    uint64_t x = (frame + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return 3600 * (double)(x >> 11) * 0x1p-53;
}

static th_result create_random(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                               th_error *err)
{
    (void)desc;
    const th_result result = th_pose_benchmark_init(entry, fixture, row, err);
    if (result != TH_OK)
        return result;
    th_pose_benchmark *p = entry->subject;
    p->time_s = random_time;
    return th_pose_benchmark_validate(entry, fixture, row, err);
}

/* ---- clips ---- */

static void with_first_clip(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry;
    desc->clips = fixture->first_clips;
}

static void with_all_clips(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry, (void)fixture;
    desc->clips = NULL;
}

/* ---- the entries ---- */

static const char play[] = "play", clips[] = "clips";

static const th_entry others[] = {
    {"play/forward", .shape = play, .set_scene = th_pose_benchmark_keep_scene, .create = th_pose_benchmark_create},
    {"play/random", .shape = play, .set_scene = th_pose_benchmark_keep_scene, .create = create_random},
    {"clips/one", .shape = clips, .set_scene = with_first_clip, .create = th_pose_benchmark_create},
    {"clips/all", .shape = clips, .set_scene = with_all_clips, .create = th_pose_benchmark_create},
};

uint32_t th_crowd_entries(th_entry *entries)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        th_entry *e = &entries[count++];
        *e = (th_entry){
            .shape = counts, .variant = &counts[i], .set_scene = with_count, .create = th_pose_benchmark_create};
        snprintf(e->name, sizeof e->name, "crowd/%u", counts[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        entries[count++] = others[i];
    for (uint32_t i = 0; i < count; i++) {
        entries[i].before = th_pose_benchmark_begin;
        entries[i].run = th_pose_benchmark_run;
        entries[i].destroy = th_pose_benchmark_destroy;
    }
    return count;
}
