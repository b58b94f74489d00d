#include "isa.h"

#include <assert.h>

/* Whether the processor has a feature and the operating system saves its registers. glibc is asked where it answers,
 * so that GLIBC_TUNABLES hides a feature from the kernels and from libm alike; gcc's run-time support otherwise. */
#ifdef TH_HAVE_X86
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#ifdef CPU_FEATURE_ACTIVE /* glibc 2.33 has the header without it */
#define HAS(glibc_name, gcc_name) CPU_FEATURE_ACTIVE(glibc_name)
#else
#define HAS(glibc_name, gcc_name) __builtin_cpu_supports(gcc_name)
#endif
#endif

static const char *const names[TH_ISA_COUNT] = {"auto", "scalar", "sse4", "avx2", "avx512", "neon"};

/* Whether this build includes the kernel. */
static const th_kernels *const kernels[TH_ISA_COUNT] = {
    [TH_ISA_SCALAR] = &th_kernels_scalar,
#ifdef TH_HAVE_X86
    [TH_ISA_SSE4] = &th_kernels_sse4,
    [TH_ISA_AVX2] = &th_kernels_avx2,
    [TH_ISA_AVX512] = &th_kernels_avx512,
#elif defined(TH_HAVE_ARM64)
    [TH_ISA_NEON] = &th_kernels_neon,
#endif
};

const char *th_isa_name(th_isa isa)
{
    return (unsigned)isa < TH_ISA_COUNT ? names[isa] : "unknown";
}

bool th_isa_available(th_isa isa)
{
    switch (isa) {
    case TH_ISA_AUTO:
    case TH_ISA_SCALAR:
        return true;
#ifdef TH_HAVE_X86
    case TH_ISA_SSE4:
        return HAS(SSE4_1, "sse4.1");
    case TH_ISA_AVX2:
        return HAS(AVX2, "avx2") && HAS(FMA, "fma");
    case TH_ISA_AVX512:
        return HAS(AVX512F, "avx512f") && HAS(AVX512BW, "avx512bw") && HAS(FMA, "fma");
#elif defined(TH_HAVE_ARM64)
    case TH_ISA_NEON: /* part of the base instruction set of 64-bit ARM */
        return true;
#endif
    default:
        return false;
    }
}

/* Each is faster than the one before, except AVX-512: on AMD's Zen 5 it takes three quarters of AVX2's time, while on
 * Intel, with two ports for 512 bits and three for 256, it depends on the crowd (docs/notes/kernels.md). */
th_isa th_isa_best(void)
{
#ifdef TH_HAVE_X86
    int best = __builtin_cpu_is("amd") ? TH_ISA_AVX512 : TH_ISA_AVX2;
#else
    int best = TH_ISA_NEON;
#endif
    while (!th_isa_available((th_isa)best))
        best--;
    return (th_isa)best;
}

const th_kernels *th_isa_kernels(th_isa isa)
{
    assert(isa != TH_ISA_AUTO && th_isa_available(isa));
    assert(kernels[isa]);
    return kernels[isa];
}

uint64_t th_isa_multiply_add(th_isa isa, uint32_t rounds)
{
    return th_isa_kernels(isa)->multiply_add(rounds);
}

double th_isa_read(th_isa isa, const float *at, size_t count, size_t times)
{
    assert(at && (uintptr_t)at % TH_CACHE_LINE == 0 && count % (8 * TH_MAX_WIDTH) == 0);
    double sum = 0;
    for (const th_kernels *k = th_isa_kernels(isa); times > 0; times--)
        sum += k->read(at, count);
    return sum;
}

void th_isa_write(th_isa isa, float *at, size_t count, size_t times)
{
    assert(at && (uintptr_t)at % TH_CACHE_LINE == 0 && count % (TH_CACHE_LINE / sizeof *at) == 0);
    for (const th_kernels *k = th_isa_kernels(isa); times > 0; times--)
        k->fill[0](at, count, (float)times);
}

/* Stores retire in order, so a store that misses delays those of the next poses. On a Xeon with AMX prefetching saves 5
 * to 20 % if palettes are in the third-level cache. On AMD's Zen 3 it was slower. */
bool th_isa_prefetches(void)
{
#ifdef TH_HAVE_X86
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

/* A constant of the processor, not a part of its last-level cache: how much of that a core gets no one says. On a
 * virtual machine sysconf gave 256 MiB where a core reaches 32, and other machines used most of those. Measured
 * (docs/notes/kernels.md): on AMD's Zen 3 and Zen 5 every format gains from 4 MiB on at the latest; a Xeon, which
 * prefetches, loses a fifth at 6 MB. */
size_t th_stream_bytes(void)
{
    return (size_t)(th_isa_prefetches() ? 8 : 4) << 20;
}
