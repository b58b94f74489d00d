/* The token that clients send: from a file, never from the command line, which every user of the machine can read. */
#ifndef TH_SERVE_HTTP_TOKEN_H
#define TH_SERVE_HTTP_TOKEN_H

#include <throng/core/error.h>

#include <stdbool.h>

enum { TH_TOKEN_MIN = 16, TH_TOKEN_MAX = 255 };

typedef struct th_token {
    char text[TH_TOKEN_MAX + 1]; /* "": none is required */
} th_token;

/* path: a file whose first line is the token; NULL: none is required. TH_ERR_INPUT: no such file, or not a valid token:
 * visible ASCII characters, at least 16. Logs a warning if others may read the file. A process that has a token cannot
 * be traced and leaves no core. */
th_result th_token_read(const char *path, th_token *out, th_error *err);

/* Whether "Bearer ..." (NULL: no such header) contains the token. Takes the same time for wrong and right tokens of the
 * same length. */
bool th_token_matches(const th_token *token, const char *authorization);

#endif
