#include "share_text.h"

#include <math.h>
#include <stdio.h>

th_share_text th_share_text_of(const th_estimate *share)
{
    th_share_text t;
    const int digits = 100 * fabs(share->value) < 9.95;
    if (!isfinite(share->value))
        snprintf(t.text, sizeof t.text, "-");
    else if (isfinite(share->low) && isfinite(share->high))
        snprintf(t.text, sizeof t.text, "%.*f %% [%.*f, %.*f]", digits, 100 * share->value, digits, 100 * share->low,
                 digits, 100 * share->high);
    else
        snprintf(t.text, sizeof t.text, "%.*f %% [no interval]", digits, 100 * share->value);
    return t;
}
