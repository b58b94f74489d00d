/* The secret that clients show: from a file or an environment variable, never from the command line, which every user
 * of the machine can read. */
#ifndef TH_SERVE_HTTP_TOKEN_H
#define TH_SERVE_HTTP_TOKEN_H

#include <throng/core/error.h>

#include <stdbool.h>

#define TH_TOKEN_VARIABLE "THRONG_TOKEN"

enum { TH_TOKEN_MIN = 16, TH_TOKEN_MAX = 255 };

typedef struct th_token {
    char text[TH_TOKEN_MAX + 1]; /* "": none is asked for */
} th_token;

/* path: a file whose first line is the token; NULL: the environment variable, if that is set. The variable is taken out
 * of the environment, so that no child process inherits it. TH_ERR_INPUT: no such file, or no fit token: visible ASCII
 * characters, at least 16. Logs a warning when others may read the file. */
th_result th_token_read(const char *path, th_token *out, th_error *err);

/* Whether "Bearer ..." (NULL: no such header) shows the token. Takes as long for a wrong one as for the right one of
 * the same length. */
bool th_token_matches(const th_token *token, const char *authorization);

#endif
