/* Layers that do not rely on each other: limits, closed descriptors, Landlock for files, TCP and signals, and a list of
 * the system calls that reading and computing take. A call that is not on the list fails with EPERM, as for a user
 * without the right, so that a library that only tries something goes on. */
#include "sandbox.h"

#include "files.h"
#include "ipc.h"

#include <throng/anim/sandbox.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- limits ---- */

/* Sets the hard limit to `slack` above the soft one, both within the limits of this process. */
static void limit(__rlimit_resource_t resource, rlim_t soft, rlim_t slack)
{
    struct rlimit present;
    rlim_t hard = soft + slack;
    if (getrlimit(resource, &present) == 0 && present.rlim_max < hard) {
        hard = present.rlim_max;
        soft = hard > slack ? hard - slack : hard;
    }
    setrlimit(resource, &(struct rlimit){soft, hard});
}

static void set_limits(const sandbox_desc *d)
{
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_NPROC, 0, 0);
    limit(RLIMIT_FSIZE, 0, 0); /* no file can be written; pipes do not count */
    signal(SIGXFSZ, SIG_IGN);  /* the write fails instead */
    if (d->cpu_s > 0)
        limit(RLIMIT_CPU, d->cpu_s, 1); /* the soft limit sends SIGXCPU, which names the cause; the hard one does not */
    if (d->memory_bytes > 0 && !th_sandbox_read().sanitized)
        limit(RLIMIT_AS, d->memory_bytes, 0);
}

static _Noreturn void give_up_confining(const char *what, int error)
{
    give_up(TH_ERR_ENVIRONMENT, "the importer cannot confine itself (%s: %s)", what, strerrordesc_np(error));
}

/* ---- files, TCP, signals ---- */

/* linux/landlock.h, of the kernel that this is built on, may be older than the kernel that it runs on. */
struct ruleset {
    uint64_t files, tcp, scopes;
};

/* How many rights of files each ABI knows: bits from 0 on. */
static uint64_t file_rights(int abi)
{
    const int count = abi >= 5 ? 16 : abi >= 3 ? 15 : abi >= 2 ? 14 : 13;
    return ((uint64_t)1 << count) - 1;
}

static int allow_reading(int ruleset, const char *path)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
                                              .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0)
        return errno == ENOENT ? 0 : -1; /* then there is nothing to read */
    const long result = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return (int)result;
}

/* Everything that the ABI knows is forbidden, but reading the model, which may be a link to elsewhere, and its folder.
 */
static void confine_files(const sandbox_desc *d, int abi)
{
    enum { BIND_AND_CONNECT = 3, ABSTRACT_SOCKETS_AND_SIGNALS = 3 };
    const struct ruleset rights = {file_rights(abi), BIND_AND_CONNECT, ABSTRACT_SOCKETS_AND_SIGNALS};
    const size_t size = sizeof(uint64_t) * (abi >= 6 ? 3 : abi >= 4 ? 2 : 1);
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", folder_length(d->path), d->path);
    const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rights, size, 0);
    if (ruleset < 0 || allow_reading(ruleset, d->path) < 0 ||
        allow_reading(ruleset, d->allow_outside ? "/" : folder) < 0 ||
        syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        give_up_confining("Landlock", errno);
    close(ruleset);
}

/* ---- system calls ---- */

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

static int add_calls(scmp_filter_ctx filter, bool openat2)
{
    static const int calls[] = {SCMP_SYS(read),
                                SCMP_SYS(write),
                                SCMP_SYS(close),
                                SCMP_SYS(lseek),
                                SCMP_SYS(fstat),
                                SCMP_SYS(newfstatat),
                                SCMP_SYS(brk),
                                SCMP_SYS(munmap),
                                SCMP_SYS(mremap),
                                SCMP_SYS(madvise),
                                SCMP_SYS(futex),
                                SCMP_SYS(getrandom),
                                SCMP_SYS(sysinfo),
                                SCMP_SYS(getpid),
                                SCMP_SYS(gettid),
                                SCMP_SYS(clock_gettime),
                                SCMP_SYS(exit),
                                SCMP_SYS(exit_group),
                                SCMP_SYS(rt_sigprocmask),
                                SCMP_SYS(rt_sigaction),
                                SCMP_SYS(rt_sigreturn),
                                SCMP_SYS(restart_syscall)};
    int result = openat2 ? seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat2), 0) : 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        result |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
    return result;
}

/* Calls that are allowed with some arguments: opening to read, memory that is not executable, reading flags and limits,
 * and ending itself by a signal, as abort does. */
static int add_calls_by_argument(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, WRITES, 0)) |
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) |
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) |
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, F_GETFL, 0)) |
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0(SCMP_CMP_EQ, 0, 0),
                            SCMP_A2(SCMP_CMP_EQ, 0, 0)) |
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                            SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
}

/* They wait for locks, look at the stack of signal handlers, and write to a pipe to see what memory is there. What they
 * find is said without names of functions, because programs that look those up cannot be started. */
static int add_calls_of_sanitizers(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sigaltstack), 0) |
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sched_yield), 0) |
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(pipe), 0) |
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(pipe2), 0);
}

/* openat2 takes its flags where a filter cannot see them, so it needs Landlock, from ABI 3 on, to keep it from writing.
 * Without it, files.c walks to a file folder by folder. */
static void confine_calls(const th_sandbox *kernel)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int result = filter ? add_calls(filter, kernel->landlock_abi >= 3) | add_calls_by_argument(filter) : -ENOMEM;
    if (result == 0 && kernel->sanitized)
        result = add_calls_of_sanitizers(filter);
    if (result == 0)
        result = seccomp_load(filter);
    if (result != 0)
        give_up_confining("seccomp", result < 0 ? -result : EINVAL);
    seccomp_release(filter);
}

void sandbox_enter(const sandbox_desc *desc)
{
    const th_sandbox kernel = th_sandbox_read();
    set_limits(desc);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        give_up_confining("no_new_privs", errno);
    if (kernel.landlock_abi > 0)
        confine_files(desc, kernel.landlock_abi);
    if (kernel.seccomp)
        confine_calls(&kernel);
}
