/* Inside, since it takes the place of the importer's process. throng-import leaves freeing to the end of its
 * process. Here every allocation goes through --wrap into a list, which is freed after each file, and every array is
 * a block of exactly its size. */
#include "importer.h"

#include "cases.h"

#include "anim/import/files.h"
#include "anim/import/importer.h"
#include "anim/import/scene.h"

#include <core/arena.h>

#include <fcntl.h>
#include <jansson.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)16 << 20)

typedef struct block {
    struct block *next, **link;
    size_t size;
    void *memory; /* what was allocated for it */
} block;

static jmp_buf end_of_import;
static bool is_running;
static block *blocks;
static size_t bytes;

/* ---- memory ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_realloc(void *old, size_t size);
__attribute__((visibility("default"))) const char *__asan_default_options(void);
void __wrap_free(void *memory);

/* alignment: at least that of malloc. */
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    const size_t head = alignment > sizeof(block) ? alignment : sizeof(block);
    if (!is_running)
        return __real_aligned_alloc(alignment, size);
    if (size >= MOST_BYTES - bytes)
        return NULL;
    uint8_t *memory = alignment > sizeof(block) ? memalign(alignment, head + size) : __real_malloc(head + size);
    if (!memory)
        return NULL;
    block *b = (block *)(memory + head) - 1;
    *b = (block){.next = blocks, .link = &blocks, .size = size, .memory = memory};
    if (blocks)
        blocks->link = &b->next;
    blocks = b;
    bytes += size;
    return b + 1;
}

void *__wrap_malloc(size_t size)
{
    return is_running ? __wrap_aligned_alloc(sizeof(block), size) : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    if (!is_running)
        return __real_calloc(count, size);
    void *memory = size == 0 || count <= MOST_BYTES / size ? __wrap_malloc(count * size) : NULL;
    return memory ? memset(memory, 0, count * size) : NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
    if (!is_running)
        return __real_realloc(old, size);
    void *memory = __wrap_malloc(size);
    if (memory && old) {
        const size_t kept = ((block *)old - 1)->size;
        memcpy(memory, old, kept < size ? kept : size);
        __wrap_free(old);
    }
    return memory;
}

void __wrap_free(void *memory)
{
    if (!is_running || !memory) {
        __real_free(memory);
        return;
    }
    block *b = (block *)memory - 1;
    *b->link = b->next;
    if (b->next)
        b->next->link = b->link;
    bytes -= b->size;
    __real_free(b->memory);
}

/* The C library's own allocations, those of tsearch(), are not in the list. */
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static void *allocate_json(size_t size)
{
    return __wrap_malloc(size);
}

static void free_json(void *memory)
{
    __wrap_free(memory);
}

/* ---- what the importer uses ---- */

void *make_array(scene *s, size_t count, size_t size)
{
    (void)s;
    void *memory = __wrap_calloc(count ? count : 1, size ? size : 1);
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
    if (!text)
        give_up_memory();
    return text;
}

/* finish_scene() hands on what is wrong with a finished model, which no file should achieve, but for numbers that
 * overflow where matrices are multiplied. */
void give_up(th_result code, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(case_refusal, sizeof case_refusal, "%s", text);
    if (code != TH_ERR_LIMIT && strcmp(format, "%s") == 0 && !strstr(text, "not finite")) {
        fprintf(stderr, "a finished model is wrong: %s\n", text);
        abort();
    }
    longjmp(end_of_import, 1);
}

void give_up_memory(void)
{
    longjmp(end_of_import, 1);
}

/* ---- a file ---- */

static void import(const uint8_t *data, size_t size, bool (*fn)(scene *s))
{
    struct aiNode root = {0};
    const struct aiScene ai = {.mRootNode = &root};
    th_model model = {.name = "fuzz", .arena = th_arena_create()};
    scene s = {.ai = &ai, .model = &model, .path = "fuzz", .bytes = malloc(size), .byte_count = size};
    if (!model.arena || !s.bytes)
        give_up_memory();
    memcpy(s.bytes, data, size);
    case_taken |= fn(&s);
}

void importer_run(const uint8_t *data, size_t size, bool (*fn)(scene *s))
{
    static int folder = -1;
    json_set_alloc_funcs(allocate_json, free_json);
    if (folder < 0)
        take_files(-1, folder = open(TEST_BESIDE, O_PATH | O_CLOEXEC));
    is_running = true;
    if (setjmp(end_of_import) == 0)
        import(data, size, fn);
    while (blocks)
        __wrap_free(blocks + 1);
    is_running = false;
}
