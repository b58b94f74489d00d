/* The program from outside, in a folder of its own. */
#ifndef FIXTURE_PROGRAM_H
#define FIXTURE_PROGRAM_H

#include <jansson.h>
#include <stddef.h>

extern char out[1 << 20], err[1 << 14]; /* of the last run */

/* For .init and .fini of a suite; it runs in the folder. */
void make_folder(void);
void remove_folder(void);

void need_opengl(void); /* else the test is skipped; then `out` is of a picture */

/* All of a text file; cut to fit. */
void slurp(const char *path, char *text, size_t size);

/* Runs `throng ARGUMENTS` by the shell; redirections in the arguments come first. Returns the exit code. */
int throng(const char *arguments);

/* That exit code, and that on standard error. */
void expect(int code, const char *arguments, const char *message);

/* The one document on standard output. */
json_t *document(const char *arguments);

#endif
