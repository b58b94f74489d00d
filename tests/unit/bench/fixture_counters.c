#include "fixture_counters.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int counters_refused;
uint64_t refused_counter = ~0ull;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    struct perf_event_attr *event = (struct perf_event_attr *)a[0]; // NOLINT(performance-no-int-to-ptr)
    if (number == SYS_perf_event_open) {
        errno = counters_refused ? counters_refused : ENOENT;
        if (counters_refused || (event->type == PERF_TYPE_HARDWARE && event->config == refused_counter))
            return -1;
        const bool is_faults = event->type == PERF_TYPE_HW_CACHE || event->config == PERF_COUNT_HW_INSTRUCTIONS;
        event->type = PERF_TYPE_SOFTWARE;
        /* Not a clock: Linux 6.18 loses counts of two events where one is a clock. */
        event->config = is_faults ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_DUMMY;
    }
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* AddressSanitizer would touch its own beside them. */
__attribute__((no_sanitize("address"))) void touch_pages(size_t pages)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = pages * page;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(memory, MAP_FAILED);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += page)
        *(volatile char *)(memory + i) = 1;
    munmap(memory, bytes);
}
