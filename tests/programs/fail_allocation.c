/* To be preloaded: lets one allocation of the program fail, the one with the number THRONG_FAIL_ALLOCATION. Allocations
 * of libraries do not count. When the program ends it says how many there were. */
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static uintptr_t text_begin, text_end; /* of the program */
static long wanted;
static atomic_long seen;

static int find_text(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            text_begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            text_end = text_begin + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the program comes first; no others */
}

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("THRONG_FAIL_ALLOCATION");
    wanted = number ? strtol(number, NULL, 10) : 0;
    dl_iterate_phdr(find_text, NULL);
}

__attribute__((destructor)) static void end(void)
{
    if (text_end)
        fprintf(stderr, "allocations: %ld\n", (long)seen);
}

static int fails(const void *caller)
{
    const uintptr_t address = (uintptr_t)caller;
    if (address < text_begin || address >= text_end || ++seen != wanted)
        return 0;
    errno = ENOMEM;
    return 1;
}

#define FAILS fails(__builtin_return_address(0))

void *malloc(size_t size)
{
    return FAILS ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return FAILS ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return FAILS ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return FAILS ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    *out = FAILS ? NULL : __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}
