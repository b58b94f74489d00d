/* throng-import /proc/self/fd/FOLDER/NAME [MEMORY_BYTES [CPU_SECONDS [outside]]] <FILE
 *
 * Reads one model file and writes it to standard output as an archive (archive.h), or the reason why it cannot. Not
 * meant for users: th_import starts it, and throng.h says why it is a separate program.
 *
 * From its first look at the file on it may read that file and its folder, compute, and answer. Layers that do not rely
 * on each other see to it: limits, closed descriptors, Landlock for files, TCP and signals, and a list of the system
 * calls that reading and computing take. A call that is not on the list fails with EPERM, as for a user without the
 * right, so that a library that only tries something goes on. th_sandbox (anim/sandbox.h) says what of it the
 * kernel has. */
#include "importer.h"

#include "files.h"
#include "scene.h"

#include <anim/archive.h>
#include <anim/sandbox.h>

#include <core/arena.h>
#include <core/file.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- memory ---- */

void *make_array(scene *s, size_t count, size_t size)
{
    void *memory = th_arena_alloc(s->model->arena, count, size);
    if (!memory)
        give_up_memory();
    return memory;
}

const char *make_string(scene *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = th_arena_vformat(s->model->arena, format, args);
    va_end(args);
    if (!text)
        give_up_memory();
    return text;
}

/* ---- the answer ---- */

enum { ANSWER = STDERR_FILENO + 1, MODEL, FOLDER, SPARE };

/* _exit, so that no code of Assimp runs any more. */
static _Noreturn void send(const uint8_t *bytes, size_t size)
{
    assert(bytes && size > 0);
    while (size > 0) {
        ssize_t sent = write(ANSWER, bytes, size);
        if (sent < 0 && errno != EINTR)
            _exit(1);
        if (sent > 0) {
            bytes += sent;
            size -= (size_t)sent;
        }
    }
    _exit(0);
}

void give_up(th_result code, const char *format, ...)
{
    assert(code != TH_OK);
    th_error error = {.code = code};
    va_list args;
    va_start(args, format);
    vsnprintf(error.text, sizeof error.text, format, args);
    va_end(args);

    /* The text may quote the file or Assimp: it becomes one line without a full stop. */
    char *end = error.text;
    for (char *c = error.text; *c; c++) {
        if ((unsigned char)*c < ' ')
            *c = ' ';
        if (*c != ' ' && *c != '.')
            end = c + 1;
    }
    if (end > error.text)
        *end = '\0';

    size_t size;
    uint8_t *bytes = th_archive_write_error(&error, &size);
    if (!bytes)
        _exit(1);
    send(bytes, size);
}

void give_up_memory(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    give_up(TH_ERR_LIMIT, "the model needs more memory than the importer may use (%.0f MB)",
            (double)limit.rlim_cur / 1e6);
}

/* ---- confinement ---- */

/* What this process is confined to. */
typedef struct confines {
    bool allow_outside;    /* files outside of the model's folder may be read, too */
    uint64_t memory_bytes; /* 0: no limit; not limited in builds with sanitizers, which reserve terabytes */
    uint64_t cpu_s;        /* 0: no limit */
} confines;

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

static _Noreturn void give_up_confining(const char *what, int error)
{
    give_up(TH_ERR_ENVIRONMENT, "the importer cannot confine itself (%s: %s)", what, strerrordesc_np(error));
}

/* Everything that the ABI knows is forbidden, but reading in the model's folder. The model is open. */
static void confine_files(const confines *c, int abi)
{
    enum { BIND_AND_CONNECT = 3, ABSTRACT_SOCKETS_AND_SIGNALS = 3 };
    /* linux/landlock.h, of the kernel that this is built on, may be older than the kernel that it runs on. */
    const struct {
        uint64_t files, tcp, scopes;
    } rights = {((uint64_t)1 << (abi >= 5   ? 16
                                 : abi >= 3 ? 15
                                 : abi >= 2 ? 14
                                            : 13)) -
                    1,
                BIND_AND_CONNECT, ABSTRACT_SOCKETS_AND_SIGNALS};
    const size_t size = sizeof(uint64_t) * (abi >= 6 ? 3 : abi >= 4 ? 2 : 1);
    const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rights, size, 0);
    const struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
        .parent_fd = c->allow_outside ? open("/", O_PATH | O_CLOEXEC) : FOLDER,
    };
    if (ruleset < 0 || rule.parent_fd < 0 ||
        syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0 ||
        syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        give_up_confining("Landlock", errno);
    close(ruleset);
    if (rule.parent_fd != FOLDER)
        close(rule.parent_fd);
}

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

static void confine_calls(const th_sandbox *kernel)
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
    /* Sanitizers wait for locks, look at the stack of signal handlers, and write to a pipe to see what memory is there.
     * What they find is said without names of functions, because programs that look those up cannot be started. */
    static const int calls_of_sanitizers[] = {SCMP_SYS(sigaltstack), SCMP_SYS(sched_yield), SCMP_SYS(pipe),
                                              SCMP_SYS(pipe2)};
    /* Allowed with some arguments: opening to read, memory that is not executable, reading flags and limits, and ending
     * itself by a signal, as abort does. */
    const struct {
        int call;
        unsigned count;
        struct scmp_arg_cmp arguments[2];
    } calls_by_argument[] = {{SCMP_SYS(openat), 1, {SCMP_A2(SCMP_CMP_MASKED_EQ, WRITES, 0)}},
                             {SCMP_SYS(mmap), 1, {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
                             {SCMP_SYS(mprotect), 1, {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
                             {SCMP_SYS(fcntl), 1, {SCMP_A1(SCMP_CMP_EQ, F_GETFL, 0)}},
                             {SCMP_SYS(prlimit64), 2, {SCMP_A0(SCMP_CMP_EQ, 0, 0), SCMP_A2(SCMP_CMP_EQ, 0, 0)}},
                             {SCMP_SYS(tgkill), 1, {SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0)}}};

    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int result = filter ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < sizeof calls / sizeof *calls; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
    for (size_t i = 0; result == 0 && i < sizeof calls_by_argument / sizeof *calls_by_argument; i++)
        result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, calls_by_argument[i].call, calls_by_argument[i].count,
                                        calls_by_argument[i].arguments);
    for (size_t i = 0; result == 0 && kernel->sanitized && i < sizeof calls_of_sanitizers / sizeof(int); i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls_of_sanitizers[i], 0);
    /* It takes its flags where a filter cannot see them, so it needs Landlock, from ABI 3 on, to keep it from writing.
     * Without it, th_open_beneath walks to a file folder by folder. */
    if (result == 0 && kernel->landlock_abi >= 3)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat2), 0);
    if (result == 0)
        result = seccomp_load(filter);
    if (result != 0)
        give_up_confining("seccomp", result < 0 ? -result : EINVAL);
    seccomp_release(filter);
}

/* Confines this process, which has one thread, for the rest of its life. Gives up if that fails though the kernel has
 * what it takes. */
static void confine(const confines *c)
{
    const th_sandbox kernel = th_sandbox_read();
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_NPROC, 0, 0);
    limit(RLIMIT_FSIZE, 0, 0); /* no file can be written; pipes do not count */
    signal(SIGXFSZ, SIG_IGN);  /* the write fails instead */
    if (c->cpu_s > 0)
        limit(RLIMIT_CPU, c->cpu_s, 1); /* the soft limit sends SIGXCPU, which names the cause; the hard one does not */
    if (c->memory_bytes > 0 && !kernel.sanitized)
        limit(RLIMIT_AS, c->memory_bytes, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        give_up_confining("no_new_privs", errno);
    if (kernel.landlock_abi > 0)
        confine_files(c, kernel.landlock_abi);
    if (kernel.seccomp)
        confine_calls(&kernel);
}

int main(int argc, char **argv)
{
    int folder;
    char path[PATH_MAX];
    const char *name = argc < 2 ? NULL : th_path_in_folder(argv[1], &folder);
    if (!name || snprintf(path, sizeof path, TH_PATH_IN_FOLDER, FOLDER, name) >= (int)sizeof path ||
        isatty(STDOUT_FILENO))
        return 2;
    /* Standard output is for the answer; what Assimp prints there is discarded. No other file stays open but standard
     * error. */
    if ((folder = fcntl(folder, F_DUPFD, SPARE)) < 0 || dup3(folder, FOLDER, O_CLOEXEC) < 0 ||
        dup3(STDOUT_FILENO, ANSWER, O_CLOEXEC) < 0 || dup3(STDIN_FILENO, MODEL, O_CLOEXEC) < 0 ||
        close_range(SPARE, ~0U, 0) != 0)
        _exit(1);
    take_files(MODEL, FOLDER);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        _exit(1);
    close(nowhere);

    const confines c = {.memory_bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 0,
                        .cpu_s = argc > 3 ? strtoull(argv[3], NULL, 10) : 0,
                        .allow_outside = argc > 4};
    confine(&c);
    if (c.allow_outside)
        allow_files_outside();
    const th_model *model = read_scene(path);
    size_t size;
    uint8_t *bytes = th_archive_write(model, &size);
    if (!bytes)
        give_up_memory();
    send(bytes, size);
}
