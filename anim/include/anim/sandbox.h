/* What this machine has to confine the importer with (import.h). throng-import uses all of it before it opens a file,
 * and gives up if that fails; what is missing here, it does without. */
#ifndef THRONG_ANIM_SANDBOX_H
#define THRONG_ANIM_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/* The newest ABI of Landlock that is used: it also confines signals. */
#define TH_LANDLOCK_ABI 6

typedef struct th_sandbox {
    int landlock_abi; /* 0: none. Files from 1, truncating from 3, TCP from 4, devices from 5, signals from 6 on */
    bool seccomp;
    bool sanitized; /* this build has a sanitizer: no limit of memory */
} th_sandbox;

/* Asks the kernel. Any thread. */
th_sandbox th_sandbox_read(void);

/* Says what is missing and what that means, one static text each. Returns their count. */
enum { TH_SANDBOX_MAX_GAPS = 2 };
uint32_t th_sandbox_gaps(const th_sandbox *sandbox, const char *out[TH_SANDBOX_MAX_GAPS]);

#endif
