#include <throng/core/mutant.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[TH_MUTANT_COUNT] = {
    [TH_MUTANT_SKIP_FRAMES] = "skip_frames",
    [TH_MUTANT_SKIP_BATCHES] = "skip_batches",
    [TH_MUTANT_COPY_NEIGHBOURS] = "copy_neighbours",
    [TH_MUTANT_TIRED] = "tired",
    [TH_MUTANT_LOOSE_BOUND] = "loose_bound",
    [TH_MUTANT_FLIP_SIGN] = "flip_sign",
    [TH_MUTANT_DROP_BONE] = "drop_bone",
    [TH_MUTANT_SLOW] = "slow",
    [TH_MUTANT_STALL] = "stall",
    [TH_MUTANT_IMBALANCE] = "imbalance",
    [TH_MUTANT_SERIAL] = "serial",
    [TH_MUTANT_THROTTLE] = "throttle",
    [TH_MUTANT_STALE_SLOT] = "stale_slot",
    [TH_MUTANT_LATE_FENCE] = "late_fence",
    [TH_MUTANT_SHADER_CONSTANT] = "shader_constant",
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static th_mutant chosen;
static unsigned number;

static void choose(void)
{
    const char *text = getenv("THRONG_MUTANT");
    if (!text || !text[0])
        return;
    const size_t length = strcspn(text, ":");
    for (int m = 1; m < TH_MUTANT_COUNT; m++)
        if (strlen(names[m]) == length && strncmp(names[m], text, length) == 0)
            chosen = (th_mutant)m;
    if (chosen == TH_MUTANT_NONE) {
        fprintf(stderr, "THRONG_MUTANT: no fault is called %s\n", text);
        exit(2);
    }
    number = text[length] ? (unsigned)strtoul(text + length + 1, NULL, 10) : 0;
}

bool th_mutant_is(th_mutant mutant)
{
    pthread_once(&once, choose);
    return chosen == mutant;
}

const char *th_mutant_name(void)
{
    pthread_once(&once, choose);
    return names[chosen];
}

unsigned th_mutant_number(void)
{
    pthread_once(&once, choose);
    return number;
}
