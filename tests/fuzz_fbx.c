/* Hostile FBX files: fuzz_fbx RUNS SEED FILE... damages the files in memory and has the importer's own reader of them
 * look for what it looks for; each is also cut off at every byte. No Assimp and no process: fast, and to be run against
 * a build with sanitizers. Every damaged file lies in a block of exactly its size. */
#include "anim/import/fbx_records.h"
#include "anim/import/gltf_json.h"
#include "anim/import/ipc.h"

#include <throng/core/arena.h>
#include <throng/core/random.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *file;
static size_t file_size;
static uint64_t seed, drawn, said;

/* ---- what the reader uses of the importer ---- */

void *make_array(scene *s, size_t count, size_t size)
{
    void *memory = th_arena_alloc(s->model->arena, count, size);
    if (!memory)
        give_up_memory();
    return memory;
}

const char *make_string(scene *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = th_arena_vformat(s->model->arena, format, args);
    va_end(args);
    return text;
}

void warn(scene *s, warning_kind kind, uint64_t count, const char *where, ...)
{
    (void)s;
    (void)kind;
    (void)where;
    said += count;
}

bool has_format(const scene *s, const char *name)
{
    (void)s;
    (void)name;
    return true;
}

char *th_read_whole_file(const char *path, size_t *out_size)
{
    (void)path;
    *out_size = file_size;
    return (char *)file;
}

void give_up_memory(void)
{
    fprintf(stderr, "fuzz_fbx: out of memory (seed %llu, after %llu numbers)\n", (unsigned long long)seed,
            (unsigned long long)drawn);
    exit(1);
}

/* ---- damage ---- */

static size_t below(size_t limit)
{
    return (size_t)(th_random_unit(seed, drawn++) * (double)limit);
}

/* A byte, a number as files have it, a run that moves, a word of the format. */
static void damage(char *bytes, size_t size)
{
    static const uint64_t numbers[] = {0,          1,          2,          127,       0x7fffffff,
                                       0x80000000, 0xffffffff, UINT64_MAX, INT64_MAX, 1u << 20};
    static const char *const words[] = {"{",   "}",   ":",          "*",  "\"", ";", "*9999999999 {",
                                        "a: ", "P: ", "C: \"OO\",", ",,", "\n"};
    size_t at = below(size), left = size - at;
    uint64_t number = numbers[below(sizeof numbers / sizeof *numbers)];
    const char *word = words[below(sizeof words / sizeof *words)];
    switch (below(5)) {
    case 0:
        bytes[at] = (char)below(256);
        break;
    case 1:
        bytes[at] ^= (char)(1 << below(8));
        break;
    case 2:
        memcpy(bytes + at, &number, left < 4 ? left : below(2) && left >= 8 ? 8 : 4);
        break;
    case 3:
        left = below(left < 64 ? left : 64);
        memmove(bytes + below(size - left), bytes + at, left);
        break;
    default:
        memcpy(bytes + at, word, left < strlen(word) ? left : strlen(word));
    }
}

static void read_damaged(const char *bytes, size_t size)
{
    th_arena *arena = th_arena_create();
    th_model model = {.arena = arena};
    scene s = {.model = &model, .path = ""};
    char *exact = malloc(size ? size : 1);
    if (!arena || !exact)
        give_up_memory();
    memcpy(exact, bytes, size);
    file = exact;
    file_size = size;
    read_fbx(&s);
    say_fbx_limits(&s);
    free(exact);
    th_arena_destroy(arena);
}

static char *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    long length = in && fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
    char *bytes = length > 0 ? malloc((size_t)length) : NULL;
    if (!bytes) {
        fprintf(stderr, "fuzz_fbx: cannot read %s\n", path);
        exit(3);
    }
    rewind(in);
    *size = fread(bytes, 1, (size_t)length, in);
    fclose(in);
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: fuzz_fbx RUNS SEED FILE...\n");
        return 2;
    }
    const unsigned long runs = strtoul(argv[1], NULL, 10);
    seed = strtoull(argv[2], NULL, 10);
    for (int f = 3; f < argc; f++) {
        size_t size;
        char *good = read_file(argv[f], &size), *bad = malloc(size);
        if (!bad)
            give_up_memory();
        said = 0;
        read_damaged(good, size);
        const uint64_t said_of_good = said;
        for (unsigned long r = 0; r < runs; r++) {
            memcpy(bad, good, size);
            for (size_t d = 1 + below(4); d > 0; d--)
                damage(bad, size);
            read_damaged(bad, size);
        }
        for (size_t cut = 0; cut < size && cut < 20000; cut++)
            read_damaged(good, cut);
        printf("%s: %lu damaged, %llu warnings of the good one\n", argv[f], runs, (unsigned long long)said_of_good);
        free(good);
        free(bad);
    }
}
