/* Linked into every program that draws, under AddressSanitizer only. Drivers keep memory in their own globals. Once a
 * driver is unloaded, the leak checker reports that memory and cannot name its owner (Mesa 22.3: 240 bytes of
 * swrast_dri.so). So dlclose does nothing. Other leaks are still reported. */
#include <dlfcn.h>

/* Visible, or drivers would find the C library's. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
