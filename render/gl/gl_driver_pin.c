/* Part of every program that draws, under AddressSanitizer only. Drivers hold memory by variables of their own, and
 * once they are unloaded the leak checker sees memory that nobody holds, and cannot even say whose it was (Mesa 22.3:
 * 240 bytes of swrast_dri.so). So nothing is unloaded; what leaks nevertheless is reported as always. */
#include <dlfcn.h>

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
