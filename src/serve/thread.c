#include "thread.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void th_thread_lower_priority(void)
{
    const id_t self = (id_t)gettid(); /* on Linux a thread, unlike POSIX */
    setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + TH_THREAD_NICE);
}

uint64_t th_thread_cpu_ns(pthread_t thread)
{
    clockid_t clock;
    struct timespec time;
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
