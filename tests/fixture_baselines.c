/* Linked to, registers OpenMP's schedulers before main. */
#include <bench/baselines.h>

__attribute__((constructor)) static void register_baselines(void)
{
    th_baselines_register();
}
