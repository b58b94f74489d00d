/* Parses numbers from the command line. */
#ifndef TH_CLI_PARSE_NUMBER_H
#define TH_CLI_PARSE_NUMBER_H

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Accepts digits only. strtoull would accept spaces, signs and trailing garbage. */
static inline bool th_read_whole(const char *text, double low, double high, uint64_t *out)
{
    if (!isdigit((unsigned char)text[0]) || text[strspn(text, "0123456789")] != '\0')
        return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0 && (double)*out >= low && (double)*out <= high;
}

#endif
