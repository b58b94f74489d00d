/* The part of the sandbox that callers of the importer see. */
#include <anim/sandbox.h>

#include <assert.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

th_sandbox th_sandbox_read(void)
{
    const unsigned action = SECCOMP_RET_ERRNO;
    const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return (th_sandbox){.landlock_abi = abi > 0 ? (int)abi : 0,
                        .seccomp = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0,
                        .sanitized = SANITIZED};
}

uint32_t th_sandbox_gaps(const th_sandbox *sandbox, const char *out[TH_SANDBOX_MAX_GAPS])
{
    assert(sandbox && out);
    uint32_t count = 0;
    if (sandbox->landlock_abi == 0)
        out[count++] =
            "this kernel has no Landlock: a file that takes over the importer can read every file that you can";
    else if (sandbox->landlock_abi < TH_LANDLOCK_ABI)
        out[count++] =
            "this kernel has an old Landlock: only the list of system calls keeps the importer from TCP and signals";
    if (!sandbox->seccomp)
        out[count++] = "this kernel has no seccomp filters: the importer can make every system call";
    return count;
}
