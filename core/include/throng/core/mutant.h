/* Deliberate faults: what a wrong kernel, a tired worker or a lost fence would do. Whoever measures must notice them;
 * tests/mutants.sh runs every command that is concerned with each.
 *
 * Only builds with THRONG_MUTANTS have them: the presets for tests, and `mutants`, which is release with faults.
 * Elsewhere th_mutant_is is false and the faults are not compiled. The environment variable THRONG_MUTANT names the one
 * fault of a process; another name ends the process. */
#ifndef THRONG_CORE_MUTANT_H
#define THRONG_CORE_MUTANT_H

#include <stdbool.h>

typedef enum th_mutant {
    TH_MUTANT_NONE = 0,
    /* Posing: */
    TH_MUTANT_SKIP_FRAMES,     /* odd frames keep the palettes of the frame before */
    TH_MUTANT_SKIP_BATCHES,    /* odd batches are posed in even frames only */
    TH_MUTANT_COPY_NEIGHBOURS, /* odd characters get the palette of the one before */
    TH_MUTANT_TIRED,           /* tired:400 poses no batch after 400 */
    TH_MUTANT_LOOSE_BOUND,     /* clips are compiled with eight times the error bound that is said */
    TH_MUTANT_FLIP_SIGN,       /* one number of a palette has the other sign */
    TH_MUTANT_DROP_BONE,       /* the last bone stays as it is bound */
    TH_MUTANT_SLOW,            /* slow:5 poses 5 % of the batches twice */
    TH_MUTANT_STALL,           /* every 64th frame is posed twelve times */
    /* Scaling: */
    TH_MUTANT_IMBALANCE, /* imbalance:50: beside other workers the caller takes 50 % longer for its chunks */
    TH_MUTANT_SERIAL,    /* serial:300: each frame takes 300 us on the caller alone */
    TH_MUTANT_THROTTLE,  /* throttle:25: several workers take 25 % longer, and so does their core clock */
    /* Drawing: */
    TH_MUTANT_STALE_SLOT,      /* the shader reads the palettes of the frame before */
    TH_MUTANT_LATE_FENCE,      /* palettes are written before the GPU has read the old ones */
    TH_MUTANT_SHADER_CONSTANT, /* a 2 of the shader that poses is its neighbour */
    TH_MUTANT_COUNT,
} th_mutant;

#ifdef TH_MUTANTS

/* Whether this is the process's fault. Any thread. */
bool th_mutant_is(th_mutant mutant);

/* "skip_frames" etc.; NULL: the process has no fault. */
const char *th_mutant_name(void);

/* The number behind the name, 5 for "slow:5"; 0 without one. */
unsigned th_mutant_number(void);

#else

static inline bool th_mutant_is(th_mutant mutant)
{
    (void)mutant;
    return false;
}

static inline unsigned th_mutant_number(void)
{
    return 0;
}

static inline const char *th_mutant_name(void)
{
    return 0;
}

#endif

#endif
