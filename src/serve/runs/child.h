/* Starts this program as a child process that dies with its parent. */
#ifndef TH_SERVE_RUNS_CHILD_H
#define TH_SERVE_RUNS_CHILD_H

#include <sys/types.h>

typedef struct th_child {
    pid_t pid;     /* also its process group */
    int stderr_fd; /* reads its standard error; non-blocking; the caller closes it */
} th_child;

/* Starts it with these arguments (ends with NULL, the first is the program name), standard output to stdout_fd. It is
 * killed when the calling thread ends, and so also when the program ends. Returns 0 or an errno value. */
int th_child_start(char *const arguments[], int stdout_fd, th_child *out);

#endif
