#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static char progress[] = "THRONG_PROGRESS=1"; /* otherwise the child prints progress only to terminals */

/* The parent's environment and the variable for progress. */
static char **make_environment(void)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **copy = malloc((count + 2) * sizeof *copy);
    if (copy) {
        memcpy(copy, environ, count * sizeof *copy);
        copy[count] = progress;
        copy[count + 1] = NULL;
    }
    return copy;
}

/* Runs between vfork and exec, in the parent's memory: system calls only. */
static void become(char *const arguments[], char *const environment[], int stdout_fd, int stderr_fd, int null_fd)
{
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (dup2(null_fd, STDIN_FILENO) < 0 || dup2(stdout_fd, STDOUT_FILENO) < 0 || dup2(stderr_fd, STDERR_FILENO) < 0)
        _exit(127);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve("/proc/self/exe", arguments, environment);
    _exit(127);
}

/* vfork instead of fork: copying the page tables of a large crowd would interrupt its ticks, and every page written
 * afterwards would be copied. posix_spawn cannot make the child die with its parent. */
static pid_t spawn(char *const arguments[], char *const environment[], int stdout_fd, int stderr_fd, int null_fd)
{
    const pid_t pid = vfork();
    if (pid == 0)
        become(arguments, environment, stdout_fd, stderr_fd, null_fd);
    return pid;
}

int th_child_start(char *const arguments[], int stdout_fd, th_child *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    char **environment = make_environment();
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    *out = (th_child){.pid = -1, .stderr_fd = ends[0]};
    if (environment && null_fd >= 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        out->pid = spawn(arguments, environment, stdout_fd, ends[1], null_fd);
    const int error = out->pid > 0 ? 0 : errno;
    free(environment);
    close(ends[1]);
    if (null_fd >= 0)
        close(null_fd);
    if (error)
        close(ends[0]);
    return error;
}
