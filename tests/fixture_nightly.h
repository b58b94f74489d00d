/* Tests of which more finds more, if rarely, do more of the same at night: THRONG_TEST_NIGHTLY=yes. */
#ifndef FIXTURE_NIGHTLY_H
#define FIXTURE_NIGHTLY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool is_nightly(void)
{
    const char *nightly = getenv("THRONG_TEST_NIGHTLY");
    return nightly && strcmp(nightly, "yes") == 0;
}

#endif
