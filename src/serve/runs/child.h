/* This program once more, as a child process that dies with its parent. */
#ifndef TH_SERVE_RUNS_CHILD_H
#define TH_SERVE_RUNS_CHILD_H

#include <sys/types.h>

typedef struct th_child {
    pid_t pid;     /* also its process group's */
    int stderr_fd; /* reads what it says; never blocks; the caller closes it */
} th_child;

/* Starts it with these arguments (ending with NULL, the first its name), standard output going to stdout_fd. It is
 * killed when the calling *thread* ends, as well when the whole program is. Returns 0 or an errno value. */
int th_child_start(char *const arguments[], int stdout_fd, th_child *out);

#endif
