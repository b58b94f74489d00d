/* Starts other programs.
 *
 * A subprocess gets the signal handling of a fresh program, a process group of its own, so that Ctrl-C in a terminal
 * reaches only the caller, and no open files but those it is given and the folders that its arguments name
 * (TH_PATH_IN_FOLDER). It is killed when the thread that started it ends,
 * and so also when the caller's process ends, however that happens. */
#ifndef THRONG_CORE_SUBPROCESS_H
#define THRONG_CORE_SUBPROCESS_H

#include <stdbool.h>
#include <sys/types.h>

enum { TH_SUBPROCESS_FILES = 3 };

typedef struct th_subprocess_desc {
    const char *program;          /* a path, or a name without slash to look up in PATH; required */
    const char *const *arguments; /* ends with NULL; the first is the program's name; required */
    const char *const
        *variables;      /* "NAME=value", ends with NULL: in addition to the caller's environment; may be NULL */
    bool only_variables; /* leave the caller's environment out */
    int files[TH_SUBPROCESS_FILES]; /* become its standard input, output and error; -1: /dev/null */
} th_subprocess_desc;

/* Sets *out to its process id, which is also its process group. Returns 0 or an errno value, among them that of a
 * program that cannot be executed. Any thread. */
int th_subprocess_start(const th_subprocess_desc *desc, pid_t *out);

/* Waits until it ends, and returns its status as waitpid; -1 and errno if the status is lost. */
int th_subprocess_wait(pid_t pid);

/* Kills it in any state and waits for its end. Call only before a wait has returned. Returns as th_subprocess_wait. */
int th_subprocess_kill(pid_t pid);

#endif
