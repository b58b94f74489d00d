/* throng-import FILE [MEMORY_BYTES [CPU_SECONDS]]
 *
 * Reads one model file and writes it to standard output as an archive (archive.h). Not meant for users:
 * th_import starts it, and throng/anim/import.h says why it is a separate program. */
#include "ipc.h"
#include "scene.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sanitizers reserve terabytes of address space. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

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

/* Limits this process, so that a hostile file can waste this much at most and affect only its own answer. */
static void confine(rlim_t memory_bytes, rlim_t cpu_s)
{
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_FSIZE, 0, 0); /* no file can be written; pipes do not count */
    signal(SIGXFSZ, SIG_IGN);  /* the write fails instead */
    if (cpu_s > 0)
        limit(RLIMIT_CPU, cpu_s, 1); /* the soft limit sends SIGXCPU, which names the cause; the hard one does not */
    if (memory_bytes > 0 && !SANITIZED)
        limit(RLIMIT_AS, memory_bytes, 0);
}

int main(int argc, char **argv)
{
    if (argc < 2 || isatty(STDOUT_FILENO))
        return 2;
    ipc_open();
    confine(argc > 2 ? strtoull(argv[2], NULL, 10) : 0, argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
    ipc_send_model(read_scene(argv[1]));
}
