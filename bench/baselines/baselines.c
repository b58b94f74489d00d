#include "baselines.h"

void th_baselines_register(void)
{
#ifdef _OPENMP
    th_openmp_register();
#endif
}
