#include <core/suggest.h>

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 63 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static int letter(char c)
{
    return tolower((unsigned char)c);
}

unsigned th_edit_distance(const char *a, const char *b)
{
    assert(a && b);
    size_t m = strlen(a), n = strlen(b);
    if (m > LONGEST || n > LONGEST)
        return (unsigned)(m > n ? m : n);
    unsigned d[LONGEST + 1][LONGEST + 1]; /* d[i][j]: distance from the first i characters of a to the first j of b */
    for (size_t i = 0; i <= m; i++)
        d[i][0] = (unsigned)i;
    for (size_t j = 0; j <= n; j++)
        d[0][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++)
        for (size_t j = 1; j <= n; j++) {
            unsigned replace = d[i - 1][j - 1] + (letter(a[i - 1]) != letter(b[j - 1]));
            d[i][j] = least(replace, least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) && letter(a[i - 2]) == letter(b[j - 1]))
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[m][n];
}

/* Accepts up to 1 + length / 4 errors, at most 3. A prefix of three characters or more counts as one error at most. */
void th_suggestion_consider(th_suggestion *s, const char *candidate)
{
    assert(s && s->typed && candidate);
    size_t length = strlen(s->typed);
    unsigned distance = th_edit_distance(s->typed, candidate);
    bool beginning = length >= 3 && strncasecmp(s->typed, candidate, length) == 0;
    if (beginning)
        distance = least(distance, 1);
    if (!beginning && distance > least(3, 1 + (unsigned)length / 4))
        return;
    if (!s->best || distance < s->distance) {
        s->best = candidate;
        s->distance = distance;
    }
}
