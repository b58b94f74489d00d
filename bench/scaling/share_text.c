#include "share_text.h"

#include <math.h>
#include <stdio.h>

/* Two figures of each, so that a wide interval takes no more room than a narrow one. */
static int digits_of(double share)
{
    return 100 * fabs(share) < 9.95;
}

th_share_text th_share_text_of(const th_estimate *share)
{
    th_share_text t;
    const int digits = digits_of(share->value);
    if (!isfinite(share->value))
        snprintf(t.text, sizeof t.text, "-");
    else if (isfinite(share->low) && isfinite(share->high))
        snprintf(t.text, sizeof t.text, "%.*f %% [%.*f, %.*f]", digits, 100 * share->value, digits_of(share->low),
                 100 * share->low, digits_of(share->high), 100 * share->high);
    else
        snprintf(t.text, sizeof t.text, "%.*f %% [no interval]", digits, 100 * share->value);
    return t;
}
