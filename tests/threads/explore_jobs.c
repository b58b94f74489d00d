/* The pool under every schedule, or under many (see explore.h):
 *
 *   explore_jobs all BOUND [NAME]        small plans, all schedules with up to BOUND preemptions or mishaps; at night
 *                                        one more
 *   explore_jobs weak BOUND [NAME]       the same, where a load of an older value is a mishap, too
 *   explore_jobs litmus                  whether loads read what C11 allows
 *   explore_jobs orders FILE             which memory orders are needed, against what the file says
 *   explore_jobs random COUNT [SEED]     plans and schedules by chance, from this seed on; at night 50 times as many
 *   explore_jobs replay SEED             one of these again, twice
 *
 * A lost wake-up shows as "nobody can go on". */
#include "explore.h"
#include "explore_calls.h"
#include "explore_litmus.h"
#include "explore_orders.h"
#include "fixture_nightly.h"

#include <throng/throng.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* deeper: than the bound asked for, because the plan is so small; or less deep. */
static const struct small {
    explore_plan plan;
    int deeper;
} smalls[] = {
    {{.name = "late", .threads = 2, .calls = 1, .count = 2}, 1},
    {{.name = "asleep", .threads = 2, .start = EXPLORE_ASLEEP, .calls = 1, .count = 2}, 1},
    {{.name = "spinning", .threads = 2, .spins = true, .start = EXPLORE_SPINNING, .calls = 1, .count = 3}, 1},
    {{.name = "spinner-asleep", .threads = 2, .spins = true, .start = EXPLORE_ASLEEP, .calls = 1, .count = 3}, 1},
    {{.name = "late-again", .threads = 2, .calls = 2, .count = 3}, 1},
    {{.name = "asleep-again", .threads = 2, .start = EXPLORE_ASLEEP, .calls = 2, .count = 2}, 1},
    {{.name = "spinning-again", .threads = 2, .spins = true, .start = EXPLORE_SPINNING, .calls = 2, .count = 2}, 1},
    {{.name = "three", .threads = 3, .start = EXPLORE_ASLEEP, .calls = 1, .count = 3}, 0},
    {{.name = "three-spinning", .threads = 3, .spins = true, .start = EXPLORE_SPINNING, .calls = 1, .count = 3}, 0},
    {{.name = "three-again", .threads = 3, .start = EXPLORE_SPINNING, .spins = true, .calls = 2, .count = 4}, 0},
    {{.name = "four-asleep", .threads = 4, .start = EXPLORE_ASLEEP, .calls = 1, .count = 4}, 0},
    {{.name = "weighted", .threads = 3, .calls = 1, .count = 4, .is_weighted = true}, 0},
    {{.name = "many chunks", .threads = 2, .start = EXPLORE_ASLEEP, .range_max = 3, .calls = 1, .count = 7}, 1},
    {{.name = "group", .threads = 3, .group = 2, .spins = true, .start = EXPLORE_SPINNING, .calls = 1, .count = 4}, 0},
    {{.name = "group-again", .threads = 4, .group = 2, .start = EXPLORE_ASLEEP, .calls = 2, .count = 5}, -1},
    {{.name = "fails", .threads = 2, .start = EXPLORE_ASLEEP, .calls = 2, .count = 3, .fails = 2}, 1},
    {{.name = "nests", .threads = 2, .start = EXPLORE_ASLEEP, .calls = 1, .count = 4, .grain = 2, .nests = true}, 1},
    {{.name = "nests-abroad", .threads = 2, .calls = 1, .count = 2, .nests = true, .other_threads = 2}, 0},
    {{.name = "callers", .threads = 2, .start = EXPLORE_ASLEEP, .callers = 2, .calls = 1, .count = 2}, 0},
    {{.name = "frame", .threads = 2, .spins = true, .start = EXPLORE_SPINNING, .calls = 1, .count = 2, .frames = true},
     1},
    {{.name = "frames", .threads = 3, .spins = true, .start = EXPLORE_ASLEEP, .calls = 2, .count = 2, .frames = true},
     0},
    {{.name = "wraps", .threads = 2, .start = EXPLORE_ASLEEP, .earlier = 100, .calls = 3, .count = 2}, 0},
    {{.name = "wraps-late", .threads = 2, .earlier = 101, .calls = 1, .count = 2}, 0},
    {{.name = "refused", .threads = 4, .refused = 2}, 1},
    {{.name = "end", .threads = 3, .spins = true}, 1},
    {{.name = "end-asleep", .threads = 5, .start = EXPLORE_ASLEEP}, 0},
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t explore_small(const explore_plan *plan, uint32_t bound, bool is_weak)
{
    static explore_all all;
    all.is_weak = is_weak;
    explore_plan own = *plan;
    char what[100];
    snprintf(what, sizeof what, "plan %s with %u preemptions", plan->name, bound);
    const explore_policy policy = explore_all_policy(&all);
    uint64_t schedules = 0;
    explore_all_begin(&all, bound);
    do {
        explore_run(&policy, what, explore_plan_run, &own);
        schedules++;
    } while (explore_all_next(&all));
    return schedules;
}

/* What orders are tried on. */
static bool run_weak(uint32_t try)
{
    enum { PLANS = sizeof smalls / sizeof *smalls, ROUNDS = 40, SEEDS = 50 };
    static explore_chance chance;
    explore_policy policy = explore_chance_policy(&chance);
    explore_plan plan = smalls[try % PLANS].plan;
    policy.lists_sites = explore_lists_sites;
    for (uint32_t s = 0; s < SEEDS && try / PLANS < ROUNDS; s++) {
        explore_chance_begin(&chance, try * SEEDS + s);
        explore_run(&policy, plan.name, explore_plan_run, &plan);
    }
    return try / PLANS < ROUNDS;
}

static int run_all(int bound, const char *name, bool is_weak)
{
    uint64_t sum = 0;
    const double start_s = now_s();
    printf("schedules with up to 0, 1, ... preemptions\n");
    for (uint32_t i = 0; i < sizeof smalls / sizeof *smalls; i++) {
        const explore_plan *plan = &smalls[i].plan;
        if (name && strcmp(name, plan->name) != 0)
            continue;
        const double plan_s = now_s();
        printf("%-16s", plan->name);
        for (int b = 0; b <= (name ? bound : bound + smalls[i].deeper); b++) {
            const uint64_t schedules = explore_small(plan, (uint32_t)b, is_weak);
            printf(" %10llu", (unsigned long long)schedules);
            fflush(stdout);
            sum += schedules;
        }
        printf("  %.2f s\n", now_s() - plan_s);
    }
    printf("%llu schedules in %.1f s\n", (unsigned long long)sum, now_s() - start_s);
    return sum ? 0 : 2;
}

/* ---- by chance ---- */

enum { CHARACTERS = 150 };

typedef struct village {
    th_model *model;
    th_compiled_model *compiled;
    th_crowd *crowd;
    void *palette;
    uint64_t hashes[EXPLORE_FRAMES];
} village;

static void *hash_frames(void *arg)
{
    village *v = arg;
    const explore_plan plan = {.crowd = v->crowd, .palette = v->palette};
    th_jobs *serial;
    th_frame *frame;
    explore_insist(th_jobs_create(&(th_jobs_desc){.scheduler = TH_SCHEDULER_SERIAL}, &serial, NULL) == TH_OK,
                   "no thread");
    explore_insist(th_frame_create(&(th_frame_desc){.crowd = v->crowd, .jobs = serial}, &frame, NULL) == TH_OK,
                   "no frame");
    for (uint32_t n = 0; n < EXPLORE_FRAMES; n++)
        v->hashes[n] = explore_frame_hash(frame, &plan, n);
    explore_insist(v->hashes[0] != v->hashes[1], "the crowd does not move");
    th_frame_destroy(frame);
    th_jobs_destroy(serial);
    return NULL;
}

static void village_init(village *out)
{
    static explore_chance chance;
    const explore_policy policy = explore_chance_policy(&chance);
    explore_insist(th_human_create(&out->model, NULL) == TH_OK, "no human");
    explore_insist(th_compiled_model_create(&(th_compiled_model_desc){.model = out->model}, &out->compiled, NULL) ==
                       TH_OK,
                   "no compiled model");
    const th_compiled_model *const compiled_models[] = {out->compiled};
    const th_crowd_desc desc = {.compiled_models = compiled_models, .compiled_model_count = 1, .capacity = CHARACTERS};
    explore_insist(th_crowd_create(&desc, &out->crowd, NULL) == TH_OK &&
                       th_crowd_scatter(out->crowd, CHARACTERS, TH_NO_INDEX, 1, NULL, NULL) == TH_OK,
                   "no crowd");
    explore_insist(th_palettes_create(out->crowd, &out->palette, NULL) == TH_OK, "no palettes");
    explore_run(&policy, "one thread", hash_frames, out);
}

static void village_fini(village *c)
{
    th_palettes_destroy(c->palette);
    th_crowd_destroy(c->crowd);
    th_compiled_model_destroy(c->compiled);
    th_model_destroy(c->model);
}

static uint32_t draw_threads(uint64_t *random)
{
    const uint32_t most = explore_below(random, 2) ? 4 : explore_below(random, 4) ? 16 : 128;
    return 1 + explore_below(random, most);
}

static bool draw(uint64_t *random, uint32_t one_in)
{
    return explore_below(random, one_in) == 0;
}

static explore_plan draw_plan(uint64_t seed, const village *people)
{
    uint64_t random = (seed + 1) * 0xd1342543de82ef95u | 1;
    explore_random(&random);
    explore_plan plan = {.threads = draw_threads(&random), .spins = draw(&random, 2), .random = seed + 1};
    plan.start = (explore_start)explore_below(&random, 3);
    plan.range_max = draw(&random, 2) ? 0 : 1 + explore_below(&random, 100);
    plan.callers = draw(&random, 2) ? 1 : 1 + explore_below(&random, 3);
    plan.earlier = draw(&random, 8) ? 95 + explore_below(&random, 10) : 0;
    plan.refused = draw(&random, 20) ? 1 + explore_below(&random, plan.threads) : 0;
    plan.calls = explore_below(&random, 6);
    plan.is_weighted = draw(&random, 3);
    plan.nests = draw(&random, 3);
    plan.frames = draw(&random, 2);
    plan.traces = plan.callers == 1 && draw(&random, 4);
    plan.other_threads = plan.nests && draw(&random, 2) ? draw_threads(&random) : 0;
    plan.group = plan.threads <= 32 && plan.other_threads <= 32 ? explore_below(&random, 9) : 0;
    if (!draw(&random, 4)) { /* a short life, quickly tried: the end comes before everybody has settled */
        const bool spins = plan.spins;
        plan = (explore_plan){.threads = 2 + explore_below(&random, 12), .spins = spins, .random = seed + 1};
        plan.calls = explore_below(&random, 2);
    } else if (draw(&random, 8)) {
        plan.crowd = people->crowd;
        plan.palette = people->palette;
        plan.hashes = people->hashes;
    }
    return plan;
}

static explore_result run_seed(uint64_t seed, const village *people)
{
    static explore_chance chance;
    explore_plan plan = draw_plan(seed, people);
    char what[100];
    snprintf(what, sizeof what, "seed %llu, %u threads: explore_jobs replay %llu", (unsigned long long)seed,
             plan.threads, (unsigned long long)seed);
    const explore_policy policy = explore_chance_policy(&chance);
    explore_chance_begin(&chance, seed);
    return explore_run(&policy, what, explore_plan_run, &plan);
}

static explore_result run_twice(uint64_t seed, const village *people)
{
    const explore_result first = run_seed(seed, people), second = run_seed(seed, people);
    explore_insist(first.hash == second.hash && first.steps == second.steps, "seed %llu is not the same twice",
                   (unsigned long long)seed);
    return second;
}

static int run_random(uint64_t count, uint64_t seed)
{
    village people;
    village_init(&people);
    uint64_t seeds = 0, steps = 0;
    for (count *= is_nightly() ? 50 : 1; seeds < count; seeds++)
        steps += (seeds % 16 == 0 ? run_twice : run_seed)(seed + seeds, &people).steps;
    printf("%llu schedules from seed %llu, %llu steps\n", (unsigned long long)seeds, (unsigned long long)seed,
           (unsigned long long)steps);
    village_fini(&people);
    return 0;
}

static int replay(uint64_t seed)
{
    village people;
    village_init(&people);
    const explore_result result = run_twice(seed, &people);
    printf("seed %llu: %llu steps, hash %016llx\n", (unsigned long long)seed, (unsigned long long)result.steps,
           (unsigned long long)result.hash);
    village_fini(&people);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";
    if (strcmp(mode, "all") == 0 || strcmp(mode, "weak") == 0)
        return run_all(atoi(argv[2]) + is_nightly(), argc > 3 ? argv[3] : NULL, mode[0] == 'w');
    if (argc > 1 && strcmp(argv[1], "litmus") == 0)
        return explore_litmus();
    if (strcmp(mode, "orders") == 0)
        return explore_orders(argv[2], run_weak);
    if (strcmp(mode, "random") == 0)
        return run_random(strtoull(argv[2], NULL, 0), argc > 3 ? strtoull(argv[3], NULL, 0) : 1);
    if (strcmp(mode, "replay") == 0)
        return replay(strtoull(argv[2], NULL, 0));
    fprintf(stderr, "explore_jobs all BOUND [NAME] | weak BOUND [NAME] | litmus | orders FILE | random COUNT [SEED] "
                    "| replay SEED\n");
    return 2;
}
