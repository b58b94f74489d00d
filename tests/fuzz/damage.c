/* A target without libFuzzer, for any compiler: fuzz_NAME CASES SEED makes cases and calls it with them. One in 16 is
 * whole, and must be taken. To be run against a build with sanitizers. */
#include "cases.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CASE_S = 60, CASES_KB = 1 << 20, WHOLE = 16 };

/* Aborts if a whole one is refused. Returns whether it was taken. */
static bool run_case(uint64_t seed, size_t number)
{
    size_t size;
    case_taken = false;
    const uint8_t *bytes = case_bytes(seed, number, number % WHOLE == 0, &size);
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    alarm(CASE_S);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    if (number % WHOLE == 0 && !case_taken) {
        fprintf(stderr, "a whole case is refused: %s\n", case_refusal);
        abort();
    }
    return case_taken;
}

/* A child does the work, so that the number of the case at which it died is known. That becomes a file, for a debugger,
 * libFuzzer or throng. */
int main(int argc, char **argv)
{
    const size_t count = argc >= 3 ? strtoul(argv[1], NULL, 10) : 0;
    const uint64_t seed = count > 0 ? strtoull(argv[2], NULL, 10) : 0;
    struct {
        size_t number, taken;
    } *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct rusage usage = {0};
    int status = 1;
    if (count == 0 || at == MAP_FAILED)
        return 2;
    const pid_t child = fork();
    if (child == 0) {
        for (; at->number < count && usage.ru_maxrss < CASES_KB; at->number++) {
            at->taken += run_case(seed, at->number);
            getrusage(RUSAGE_SELF, &usage);
        }
        exit(usage.ru_maxrss < CASES_KB ? 0 : 4); /* which looks for leaks */
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        size_t size;
        const uint8_t *bytes = case_bytes(seed, at->number, at->number % WHOLE == 0, &size);
        FILE *file = fopen("found", "wb");
        fprintf(stderr, "status %x at case %zu of seed %s, which is in the file found\n", (unsigned)status, at->number,
                argv[2]);
        return !file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0 || 1;
    }
    printf("%zu cases, of which %zu were taken\n", count, at->taken);
    return 0;
}
