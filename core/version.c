#include <throng/throng.h>

uint32_t th_version(void)
{
    return TH_VERSION;
}
