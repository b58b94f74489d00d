/* To be preloaded: lets one call of the system fail, or transfer fewer bytes, once. THRONG_CALLS names a file of
 * `site`, all zero, where it records from where the program, its importer and its web server called; THRONG_FAIL says
 * KEY:ERRNO of one of these sites, or KEY:0: fewer bytes. The first process that gets there is the one. Nothing but
 * memory is written, as a process may share that of its parent, or have lost the right to do more.
 *
 * A condition that is interrupted wakes for nothing. What the C library calls for itself is out of reach: what streams
 * read and write, how locks wait, from where malloc() has its memory.
 *
 * THRONG_CLOCK_STEP: seconds that are added to the time of day from its second reading in a process on. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SITES = 1024, MODULES = 3 };

typedef struct site {     /* the first one's key: whether the chosen call has failed */
    _Atomic uint64_t key; /* which module, from 1 on, in the uppermost byte, and where in it; 0: none yet */
    char name[24];
} site;

static const char *const names[MODULES] = {"throng", "throng-import", "libmicrohttpd"};
static site *sites;
static uint64_t chosen;
static int error;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("THRONG_CALLS"), *fail = getenv("THRONG_FAIL");
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *bytes = mmap(NULL, SITES * sizeof(site), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (bytes == MAP_FAILED)
        return;
    if (fail && sscanf(fail, "%" SCNx64 ":%d", &chosen, &error) != 2)
        abort();
    sites = bytes;
}

/* Whether this call is the chosen one. Then errno is set. */
static int is_chosen(const char *name, const void *caller)
{
    uint64_t key = 0;
    Dl_info info;
    for (uint64_t m = 0; sites && dladdr(caller, &info) && m < MODULES; m++) {
        const char *slash = strrchr(info.dli_fname, '/'), *module = slash ? slash + 1 : info.dli_fname;
        if (strcspn(module, ".") == strlen(names[m]) && strstr(module, names[m]) == module)
            key = (m + 1) << 56 | (uintptr_t)((const char *)caller - (const char *)info.dli_fbase);
    }
    for (int i = 1; key && i < SITES; i++) {
        uint64_t known = 0;
        if (atomic_compare_exchange_strong(&sites[i].key, &known, key))
            strncpy(sites[i].name, name, sizeof sites[i].name - 1);
        else if (known != key)
            continue;
        if (key != chosen || atomic_exchange(&sites->key, 1) != 0)
            return 0;
        errno = error;
        return 1;
    }
    return 0;
}

/* Whether that happens to a file: not to what only counts events; only what waits is interrupted; messages are whole.
 */
static int can_happen(int file)
{
    struct stat status;
    int type = SOCK_STREAM;
    getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){sizeof type});
    return fstat(file, &status) == 0 && status.st_mode & S_IFMT && (error || type == SOCK_STREAM) &&
           (error != EINTR || !(fcntl(file, F_GETFL) & O_NONBLOCK));
}

/* Functions of the C library, made anew. All take words, of which six are in registers however many there are: so one
 * form serves for each, and the headers, which know better, must not see it. What returns an int has the rest of the
 * word ignored. */
#define MADE(name, ...)                                                                                                \
    long made_##name(__VA_ARGS__) __asm__(#name);                                                                      \
    long made_##name(__VA_ARGS__)
#define REAL(name, ...)                                                                                                \
    static long (*real)(__VA_ARGS__);                                                                                  \
    if (!real)                                                                                                         \
    *(void **)&real = dlsym(RTLD_NEXT, #name)
#define CALL(name, failed)                                                                                             \
    MADE(name, long a, long b, long c, long d, long e, long f)                                                         \
    {                                                                                                                  \
        REAL(name, long, long, long, long, long, long);                                                                \
        return is_chosen(#name, __builtin_return_address(0)) ? (failed) : real(a, b, c, d, e, f);                      \
    }
#define TRANSFER(name)                                                                                                 \
    MADE(name, long a, long b, long c, long d, long e, long f)                                                         \
    {                                                                                                                  \
        REAL(name, long, long, long, long, long, long);                                                                \
        const int is = is_chosen(#name, __builtin_return_address(0)) && can_happen((int)a);                            \
        errno = is ? error : errno;                                                                                    \
        return is && error ? -1 : real(a, b, is ? (c + 1) / 2 : c, d, e, f);                                           \
    }

MADE(syscall, long number, long a, long b, long c, long d, long e, long f)
{
    REAL(syscall, long, long, long, long, long, long, long);
    char name[24];
    snprintf(name, sizeof name, "syscall %ld", number);
    const int is_wake = number == SYS_futex && b & 1; /* which cannot fail */
    return !is_wake && is_chosen(name, __builtin_return_address(0)) ? -1 : real(number, a, b, c, d, e, f);
}

MADE(epoll_ctl, long epoll, long operation, long file, long event)
{
    REAL(epoll_ctl, long, long, long, long);
    const int is_end = operation == EPOLL_CTL_DEL; /* which cannot fail: libmicrohttpd aborts if it does */
    return !is_end && is_chosen("epoll_ctl", __builtin_return_address(0)) ? -1 : real(epoll, operation, file, event);
}

/* ---- the time of day ---- */

static long step(void)
{
    static atomic_int asked;
    const char *seconds = getenv("THRONG_CLOCK_STEP");
    return seconds && atomic_fetch_add(&asked, 1) > 0 ? strtol(seconds, NULL, 10) : 0;
}

MADE(clock_gettime, long clock, struct timespec *out)
{
    REAL(clock_gettime, long, struct timespec *);
    const long result = real(clock, out);
    out->tv_sec += (int)result == 0 && (int)clock == CLOCK_REALTIME ? step() : 0;
    return result;
}

MADE(time, time_t *out)
{
    REAL(time, time_t *);
    const long now = real(out) + step();
    if (out)
        *out = now;
    return now;
}

/* ---- all others ---- */

/* clang-format off */
TRANSFER(read) TRANSFER(pread) TRANSFER(recv) TRANSFER(write) TRANSFER(send)
CALL(accept4, -1) CALL(bind, -1) CALL(clock_nanosleep, errno) CALL(dup2, -1) CALL(dup3, -1) CALL(epoll_create1, -1)
CALL(epoll_wait, -1) CALL(eventfd, -1) CALL(execvpe, -1) CALL(fchmod, -1) CALL(fcntl, -1)
CALL(fdopen, 0) CALL(fopen, 0) CALL(fsync, -1) CALL(ftruncate, -1) CALL(getrandom, -1) CALL(listen, -1)
CALL(memfd_create, -1) CALL(mkdir, -1) CALL(mkdtemp, 0) CALL(mkostemp, -1) CALL(mkstemps, -1) CALL(mmap, -1)
CALL(nanosleep, -1) CALL(open, -1) CALL(openat, -1) CALL(opendir, 0) CALL(open_memstream, 0) CALL(pipe2, -1)
CALL(poll, -1) CALL(pthread_cond_timedwait, 0) CALL(pthread_cond_wait, 0) CALL(pthread_create, errno) CALL(rename, -1)
CALL(sem_wait, -1) CALL(sendmsg, -1) CALL(socket, -1) CALL(socketpair, -1) CALL(waitid, -1) CALL(waitpid, -1)
CALL(writev, -1) CALL(__openat_2, -1)
CALL(vfork, -1) /* of which -O2 makes a jump, as it must be: the child may not return to here */
CALL(fclose, (real(a, b, c, d, e, f), errno = error, EOF))
CALL(fflush, (real(a, b, c, d, e, f), errno = error, EOF))
