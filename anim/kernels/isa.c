#include <throng/crowd.h>

const char *th_isa_name(th_isa isa)
{
    static const char *const names[TH_ISA_COUNT] = {"auto", "scalar", "avx2"};
    return (unsigned)isa < TH_ISA_COUNT ? names[isa] : "unknown";
}

bool th_isa_available(th_isa isa)
{
    switch (isa) {
    case TH_ISA_AUTO:
    case TH_ISA_SCALAR:
        return true;
    case TH_ISA_AVX2:
#ifdef TH_HAVE_AVX2
        /* The compiler's run-time support asks XGETBV as well: the operating system must save the registers. */
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
        return false;
#endif
    case TH_ISA_COUNT:
        break;
    }
    return false;
}

th_isa th_isa_best(void)
{
    return th_isa_available(TH_ISA_AVX2) ? TH_ISA_AVX2 : TH_ISA_SCALAR;
}
