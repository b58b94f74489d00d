#include <core/subprocess.h>

#include <core/file.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t count_of(const char *const *words)
{
    size_t count = 0;
    while (words && words[count])
        count++;
    return count;
}

/* Without the caller's variables that are replaced: programs differ in which of two they take. */
static const char **make_environment(const char *const *variables, bool only)
{
    const size_t more = count_of(variables);
    size_t count = more + (only ? 0 : count_of((const char *const *)environ));
    const char **environment = malloc((count + 1) * sizeof *environment);
    if (!environment)
        return NULL;
    count = 0;
    for (size_t i = 0; i < more; i++)
        environment[count++] = variables[i];
    for (char **own = environ; !only && *own; own++) {
        bool is_replaced = false;
        for (size_t i = 0; i < more; i++)
            is_replaced |= strncmp(variables[i], *own, strcspn(variables[i], "=") + 1) == 0;
        if (!is_replaced)
            environment[count++] = *own;
    }
    environment[count] = NULL;
    return environment;
}

/* The folders that arguments name, in order. */
typedef struct folders {
    int count, numbers[16];
} folders;

static folders find_folders(const char *const *arguments)
{
    folders found = {0};
    for (; *arguments; arguments++) {
        const char *path = strstr(*arguments, "/proc/self/fd/");
        int at = found.count, folder;
        struct stat status;
        if (!path || !th_path_in_folder(path, &folder) || folder <= STDERR_FILENO || at == 16 ||
            fstat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
            continue;
        for (; at > 0 && found.numbers[at - 1] > folder; at--)
            found.numbers[at] = found.numbers[at - 1];
        found.numbers[at] = folder;
        found.count++;
    }
    return found;
}

/* The child first copies the files beyond all numbers that it will use, so that none replaces another. */
static bool set_files(const int *files, const folders *kept)
{
    int copies[TH_SUBPROCESS_FILES];
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0)
        return false;
    for (int i = 0; i < TH_SUBPROCESS_FILES; i++)
        if ((copies[i] = fcntl(files[i] < 0 ? null_fd : files[i], F_DUPFD_CLOEXEC, TH_SUBPROCESS_FILES)) < 0)
            return false;
    for (int i = 0; i < TH_SUBPROCESS_FILES; i++)
        if (dup2(copies[i], i) < 0)
            return false;
    unsigned first = TH_SUBPROCESS_FILES;
    for (int i = 0; i < kept->count; i++) {
        const unsigned folder = (unsigned)kept->numbers[i];
        if (folder > first && close_range(first, folder - 1, 0) != 0)
            return false;
        fcntl((int)folder, F_SETFD, 0);
        first = folder + 1;
    }
    return close_range(first, ~0U, 0) == 0;
}

/* Runs between vfork and exec, in the caller's memory: system calls only. */
static _Noreturn void become(const th_subprocess_desc *d, const char *const *environment, const folders *kept,
                             pid_t parent, volatile int *error)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && set_files(d->files, kept)) {
        sigset_t none;
        for (int s = 1; s < NSIG; s++)
            signal(s, SIG_DFL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvpe(d->program, (char *const *)d->arguments, (char *const *)environment);
    }
    *error = errno;
    _exit(127);
}

/* vfork instead of fork: copying the page tables of a large crowd takes milliseconds, and every page written afterwards
 * would be copied. posix_spawn cannot make the child die with its parent. */
static pid_t start(const th_subprocess_desc *d, const char *const *environment, volatile int *error)
{
    const folders kept = find_folders(d->arguments);
    const pid_t parent = getpid(), pid = vfork();
    if (pid == 0)
        become(d, environment, &kept, parent, error);
    if (pid < 0)
        *error = errno;
    return pid;
}

/* Signals are blocked meanwhile, because a handler in the child would run in the caller's memory. */
int th_subprocess_start(const th_subprocess_desc *desc, pid_t *out)
{
    assert(desc && desc->program && desc->arguments && desc->arguments[0] && out);
    volatile int error = 0;
    sigset_t all, before;
    const char **environment = make_environment(desc->variables, desc->only_variables);
    if (!environment)
        return ENOMEM;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = start(desc, environment, &error);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(environment);
    if (pid > 0 && error)
        th_subprocess_wait(pid);
    *out = error ? -1 : pid;
    return error;
}

int th_subprocess_wait(pid_t pid)
{
    assert(pid > 0);
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

int th_subprocess_kill(pid_t pid)
{
    assert(pid > 0);
    kill(pid, SIGKILL); /* not yet waited for, so the id still belongs to it */
    return th_subprocess_wait(pid);
}
