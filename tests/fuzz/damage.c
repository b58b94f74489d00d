/* A target without libFuzzer, for any compiler: fuzz_NAME RUNS SEED FOLDER... runs each file of the folders whole,
 * damaged RUNS times, and cut off at every byte, or at RUNS of them. To be run against a build with sanitizers. */
#include "fuzz.h"

#include <core/random.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUN_S = 60 };

static uint64_t seed, drawn;

static size_t below(size_t limit)
{
    return (size_t)(th_random_unit(seed, drawn++) * (double)limit);
}

/* A byte, a bit, a number as files have it, a run that moves, a digit, a word of a format. */
static void damage(uint8_t *bytes, size_t size)
{
    static const uint64_t numbers[] = {0,          1,          127,        0x7fffffff, 0x80000000,
                                       0xffffffff, UINT64_MAX, 0x7fc00000, INT64_MAX,  1u << 20};
    static const char *const words[] = {"{",    "}",        "[",      "]",       ",",    ":",    "\"",  "\n",
                                        "null", "-1",       "1e30",   "9999",    "0.5",  "true", "*",   ";",
                                        "5121", "\"VEC4\"", "a: \"b", "\":[0],", "--",   "=",    "P: ", "0x",
                                        "5126", "\"MAT4\"", "nan",    "%s%n",    "1e-9", "../",  "C: ", "*99999999 {"};
    const size_t at = below(size), left = size - at, run = below(left < 64 ? left : 64);
    const uint64_t number = numbers[below(sizeof numbers / sizeof *numbers)];
    const char *word = words[below(sizeof words / sizeof *words)];
    size_t digit = at;
    switch (below(6)) {
    case 0:
        bytes[at] = (uint8_t)below(256);
        break;
    case 1:
        bytes[at] ^= (uint8_t)(1 << below(8));
        break;
    case 2:
        memcpy(bytes + at, &number, left < 4 ? left : below(2) && left >= 8 ? 8 : 4);
        break;
    case 3:
        memmove(bytes + below(size - run), bytes + at, run);
        break;
    case 4:
        while (digit < size && (bytes[digit] < '0' || bytes[digit] > '9'))
            digit++;
        if (digit < size)
            bytes[digit] = (uint8_t)('0' + below(10));
        break;
    default:
        memcpy(bytes + at, word, left < strlen(word) ? left : strlen(word));
    }
}

/* Run 0 is the file, then come the damaged ones, then the cuts. */
static void run_one(const uint8_t *good, size_t size, size_t run, size_t damaged)
{
    const size_t used = run <= damaged ? size : (run - damaged - 1) * (size / damaged + 1);
    uint8_t *exact = malloc(used ? used : 1);
    memcpy(exact, good, used);
    drawn = (uint64_t)run << 16;
    for (size_t d = run > 0 && run <= damaged && size > 0 ? 1 + below(4) : 0; d > 0; d--)
        damage(exact, size);
    LLVMFuzzerTestOneInput(exact, used);
    free(exact);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0)
        exit(3);
    *size = (size_t)status.st_size;
    uint8_t *bytes = malloc(*size ? *size : 1);
    if (fread(bytes, 1, *size, file) != *size)
        exit(3);
    fclose(file);
    return bytes;
}

/* A child does the work, so that the number of the run in which it died is known. */
static void run_file(const char *path, size_t damaged)
{
    size_t *run = mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), size;
    uint8_t *good = read_file(path, &size);
    const size_t cuts = size / (size / damaged + 1);
    const pid_t child = fork();
    int status = 1;
    if (child == 0) {
        for (*run = 0; *run <= damaged + cuts; ++*run) {
            alarm(RUN_S);
            run_one(good, size, *run, damaged);
        }
        free(good);
        exit(0); /* which looks for leaks */
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s: a fault in run %zu with seed %llu\n", path, *run, (unsigned long long)seed);
        exit(1);
    }
    printf("%s: %zu damaged, %zu cut\n", path, damaged, cuts);
    fflush(stdout);
    free(good);
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    int files = 0;
    if (argc < 4 || strtoul(argv[1], NULL, 10) == 0)
        return 2;
    seed = strtoull(argv[2], NULL, 10);
    for (int f = 3; f < argc; f++) {
        struct dirent **entries;
        const int count = scandir(argv[f], &entries, is_file, alphasort);
        for (int e = 0; e < count; e++, files++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[f], entries[e]->d_name);
            run_file(path, strtoul(argv[1], NULL, 10));
            free(entries[e]);
        }
        free(entries);
    }
    return files > 0 ? 0 : 3;
}
