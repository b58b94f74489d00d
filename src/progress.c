#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void show(void *ctx, uint32_t done, uint32_t total)
{
    (void)ctx;
    if (done < total)
        fprintf(stderr, "\r%3u %% of %u frames", 100 * done / total, total);
    else
        fputs("\r\033[K", stderr); /* leave no trace */
    fflush(stderr);
}

bool th_progress_wanted(void)
{
    return isatty(STDERR_FILENO) || getenv("THRONG_PROGRESS");
}

th_progress_fn *th_progress(void)
{
    return th_progress_wanted() ? show : NULL;
}
