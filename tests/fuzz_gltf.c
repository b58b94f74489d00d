/* Hostile glTF files: fuzz_gltf RUNS SEED FILE... damages the files and imports them, in this process and without
 * limits of its own; each is also cut off at every byte. All of throng-import is here but its memory: to be run against
 * a build with sanitizers, every array is a block of exactly its size.
 *
 * The importer leaves freeing to the end of its process, so a child does a batch of the work and ends. */
#include "anim/import/gltf_json.h"
#include "anim/import/ipc.h"
#include "anim/import/scene.h"

#include <throng/core/arena.h>
#include <throng/core/random.h>

#include <assimp/cimport.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* NONE, SOME: exit codes of a child that a sanitizer does not use. */
enum { NONE = 40, SOME, BATCH = 500, BATCH_S = 300, MOST_BYTES = 256 << 20 };

static uint64_t seed, drawn;
static jmp_buf end_of_import;
static struct {
    th_arena *arena; /* of the model */
    void *blocks[1 << 20];
    size_t count, bytes;
} memory;

/* ---- what the importer uses ---- */

void *make_array(scene *s, size_t count, size_t size)
{
    memory.arena = s->model->arena;
    if (memory.count == sizeof memory.blocks / sizeof *memory.blocks ||
        (size > 0 && count > (MOST_BYTES - memory.bytes) / size))
        give_up_memory();
    void *block = calloc(count ? count : 1, size ? size : 1);
    memory.bytes += count * size;
    memory.blocks[memory.count++] = block;
    return block;
}

const char *make_string(scene *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = th_arena_vformat(s->model->arena, format, args);
    va_end(args);
    return text;
}

bool has_format(const scene *s, const char *name)
{
    (void)s;
    (void)name;
    return false;
}

/* read_scene() hands on what is wrong with a finished model, which no file should achieve. */
void give_up(th_result code, const char *format, ...)
{
    if (code != TH_ERR_LIMIT && strcmp(format, "%s") == 0)
        abort();
    longjmp(end_of_import, 1);
}

void give_up_memory(void)
{
    longjmp(end_of_import, 1);
}

/* In place of Assimp's, which would guess at what looks like glTF no more. */
const struct aiScene *aiImportFileExWithProperties(const char *path, unsigned flags, struct aiFileIO *io,
                                                   const struct aiPropertyStore *options)
{
    (void)path;
    (void)flags;
    (void)io;
    (void)options;
    return NULL;
}

/* ---- damage ---- */

static size_t below(size_t limit)
{
    return (size_t)(th_random_unit(seed, drawn++) * (double)limit);
}

/* A byte, a bit, a number as buffers have it, a run that moves, a digit, a word of the format. */
static void damage(char *bytes, size_t size)
{
    static const uint32_t numbers[] = {0, 1, 127, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fc00000, 1u << 20};
    static const char *const words[] = {"{",     "}",       "[",    "]",         ",",     "null",
                                        "-1",    "1e30",    "9999", "\"VEC4\"",  "5121",  "5126",
                                        "true,", "4294967", "0.5",  "\"\":[0],", "\"x\"", "\"MAT4\""};
    const size_t at = below(size), left = size - at;
    const uint32_t number = numbers[below(sizeof numbers / sizeof *numbers)];
    const char *word = words[below(sizeof words / sizeof *words)];
    size_t run = below(left < 64 ? left : 64), digit;
    switch (below(6)) {
    case 0:
        bytes[at] = (char)below(256);
        break;
    case 1:
        bytes[at] ^= (char)(1 << below(8));
        break;
    case 2:
        memcpy(bytes + at, &number, left < sizeof number ? left : sizeof number);
        break;
    case 3:
        memmove(bytes + below(size - run), bytes + at, run);
        break;
    case 4:
        for (digit = at; digit < size && (bytes[digit] < '0' || bytes[digit] > '9');)
            digit++;
        if (digit < size)
            bytes[digit] = (char)('0' + below(10));
        break;
    default:
        memcpy(bytes + at, word, left < strlen(word) ? left : strlen(word));
    }
}

/* Returns whether the file can be imported. */
static bool import(int file, const char *path, const char *bytes, size_t size)
{
    volatile bool good = false;
    if (ftruncate(file, (off_t)size) != 0 || pwrite(file, bytes, size, 0) != (ssize_t)size)
        abort();
    if (setjmp(end_of_import) == 0)
        good = read_scene(path)->joint_count > 0;
    while (memory.count > 0)
        free(memory.blocks[--memory.count]);
    memory.bytes = 0;
    th_arena_destroy(memory.arena);
    memory.arena = NULL;
    return good;
}

/* ---- the work ---- */

/* Runs [begin, end): damages for the first `runs`, then cuts. Returns whether some could be imported. */
static bool run_batch(const char *good, size_t size, unsigned long begin, unsigned long end, unsigned long runs)
{
    char path[32], *bad = malloc(size);
    const int file = memfd_create("fuzz_gltf", 0);
    bool imported = false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    alarm(BATCH_S);
    for (unsigned long r = begin; r < end; r++) {
        drawn = (uint64_t)r << 16;
        memcpy(bad, good, size);
        for (size_t d = r < runs ? 1 + below(4) : 0; d > 0; d--)
            damage(bad, size);
        imported |= import(file, path, bad, r < runs ? size : r - runs);
    }
    free(bad);
    return imported;
}

/* Returns whether all went well. */
static bool run_file(const char *path, const char *good, size_t size, unsigned long runs)
{
    unsigned long imported = 0;
    const unsigned long all = runs + size + 1; /* the last cut is the whole file */
    for (unsigned long begin = 0; begin < all; begin += BATCH) {
        const unsigned long end = begin + BATCH < all ? begin + BATCH : all;
        int status;
        const pid_t child = fork();
        if (child == 0)
            _exit(run_batch(good, size, begin, end, runs) ? SOME : NONE);
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
            (WEXITSTATUS(status) != NONE && WEXITSTATUS(status) != SOME)) {
            fprintf(stderr, "fuzz_gltf: %s: a fault in runs %lu to %lu with seed %llu\n", path, begin, end - 1,
                    (unsigned long long)seed);
            return false;
        }
        imported += WEXITSTATUS(status) == SOME;
    }
    printf("%s: %lu damaged and %zu cut; some of %lu batches could be imported\n", path, runs, size, imported);
    return imported > 0;
}

int main(int argc, char **argv)
{
    bool good = true;
    if (argc < 4) {
        fprintf(stderr, "usage: fuzz_gltf RUNS SEED FILE...\n");
        return 2;
    }
    seed = strtoull(argv[2], NULL, 10);
    for (int f = 3; f < argc && good; f++) {
        size_t size;
        char *bytes = th_read_whole_file(argv[f], &size);
        if (!bytes) {
            fprintf(stderr, "fuzz_gltf: cannot read %s\n", argv[f]);
            return 3;
        }
        good = run_file(argv[f], bytes, size, strtoul(argv[1], NULL, 10));
        free(bytes);
    }
    return !good;
}
