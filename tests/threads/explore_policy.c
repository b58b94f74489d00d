#include "explore.h"

/* ---- all ---- */

static uint32_t choose_next(void *ctx, const explore_choice *choice)
{
    explore_all *all = ctx;
    if (choice->question == EXPLORE_WAKE)
        return 0;
    const uint32_t options = all->used < all->bound ? choice->count : choice->free;
    if (options == 1)
        return 0;
    explore_insist(options < 256 && all->depth < sizeof all->decisions / sizeof *all->decisions,
                   "too much to choose from");
    struct explore_decision *decision = &all->decisions[all->depth++];
    if (all->depth > all->known) {
        *decision = (struct explore_decision){.options = (uint8_t)options};
        all->known = all->depth;
    }
    explore_insist(decision->options == options, "another run than before");
    all->used += decision->chosen >= choice->free;
    return decision->chosen;
}

explore_policy explore_all_policy(explore_all *all)
{
    return (explore_policy){.choose = choose_next, .ctx = all, .is_weak = all->is_weak};
}

void explore_all_begin(explore_all *all, uint32_t bound)
{
    all->bound = bound;
    all->used = all->depth = all->known = 0;
}

bool explore_all_next(explore_all *all)
{
    all->used = all->depth = 0;
    while (all->known > 0) {
        struct explore_decision *last = &all->decisions[all->known - 1];
        if (++last->chosen < last->options)
            return true;
        all->known--;
    }
    return false;
}

/* ---- by chance ---- */

uint64_t explore_random(uint64_t *state) /* xorshift64*; Vigna, 2016 */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

uint32_t explore_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)((explore_random(state) >> 32) * limit >> 32);
}

static bool happens(explore_chance *chance, uint32_t one_in)
{
    return one_in > 0 && explore_below(&chance->random, one_in) == 0;
}

static uint32_t priority(explore_chance *chance, uint32_t fiber)
{
    if (chance->priority[fiber] == 0)
        chance->priority[fiber] = (1u << 31) + explore_below(&chance->random, 1u << 30);
    return chance->priority[fiber];
}

static uint32_t choose_highest(explore_chance *chance, const explore_choice *choice)
{
    if (chance->next_change-- == 0) {
        chance->next_change = explore_below(&chance->random, 2 * chance->patience);
        chance->priority[choice->fibers[0]] = chance->lowest--;
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < choice->ready; i++)
        if (priority(chance, choice->fibers[i]) > priority(chance, choice->fibers[best]))
            best = i;
    return best;
}

static uint32_t choose_who(explore_chance *chance, const explore_choice *choice)
{
    const uint32_t awake = choice->ready + choice->idle;
    if (choice->count > awake && happens(chance, chance->signal))
        return awake + explore_below(&chance->random, choice->count - awake);
    if (choice->idle > 0 && (choice->ready == 0 || happens(chance, chance->time)))
        return choice->ready + explore_below(&chance->random, choice->idle);
    if (chance->way == EXPLORE_PRIORITIES)
        return choose_highest(chance, choice);
    if (chance->way == EXPLORE_STICKY && choice->free == 1 && !happens(chance, chance->patience))
        return 0;
    return explore_below(&chance->random, choice->ready);
}

static uint32_t choose_by_chance(void *ctx, const explore_choice *choice)
{
    explore_chance *chance = ctx;
    switch (choice->question) {
    case EXPLORE_WHO:
        return choose_who(chance, choice);
    case EXPLORE_WEAK:
        return happens(chance, chance->weak);
    case EXPLORE_STALE:
        return happens(chance, chance->stale) ? explore_below(&chance->random, choice->count) : 0;
    default:
        return explore_below(&chance->random, choice->count);
    }
}

explore_policy explore_chance_policy(explore_chance *chance)
{
    return (explore_policy){.choose = choose_by_chance, .ctx = chance, .is_weak = true, .stops_at_clocks = true};
}

void explore_chance_begin(explore_chance *chance, uint64_t seed)
{
    static const uint32_t patiences[] = {4, 16, 64, 256, 1024}, times[] = {4, 64, 1024, 0};
    static const uint32_t weaks[] = {2, 16, 256, 0}, stales[] = {2, 8, 64, 0}, signals[] = {64, 1024, 0, 0};
    *chance = (explore_chance){.random = (seed + 1) * 0x9e3779b97f4a7c15u | 1, .lowest = 1u << 30};
    chance->way = explore_below(&chance->random, 3);
    chance->patience = patiences[explore_below(&chance->random, 5)];
    chance->time = times[explore_below(&chance->random, 4)];
    chance->weak = weaks[explore_below(&chance->random, 4)];
    chance->stale = stales[explore_below(&chance->random, 4)];
    chance->signal = signals[explore_below(&chance->random, 4)];
}
