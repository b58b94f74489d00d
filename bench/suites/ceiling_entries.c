/* The ceiling/ entries: how much arithmetic one core does, and how many bytes it moves at each level of the caches. */
#include "measure/memory_bandwidth.h"
#include "registry.h"

#include <anim/ceilings.h>
#include <bench/context.h>
#include <core/cache_line.h>
#include <core/json.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one iteration, so long that the clocks do not matter. */
enum { ROUNDS = 1 << 16, LEAST_BYTES = 1 << 22 };

typedef struct level {
    const char *name;
    uint32_t number; /* of the cache; 0: memory */
} level;

static const level levels[] = {{"l1", 1}, {"l2", 2}, {"l3", 3}, {"memory", 0}};

typedef struct ceiling {
    th_isa isa;
    float *memory;
    size_t count;  /* floats */
    size_t passes; /* over them, of an iteration */
    double amount; /* operations or bytes of an iteration */
    double read;   /* the sum of what an iteration has read, of which each is 1 */
} ceiling;

/* Half of a cache, so that what else is in there has room; for memory four times the largest. 0: there is no such
 * level. */
static size_t bytes_of(const th_context *context, const level *l)
{
    size_t bytes = 0, largest = 0;
    for (uint32_t c = 0; c < context->cache_count; c++) {
        const th_cache *cache = &context->caches[c];
        if (strcmp(cache->type, "Instruction") == 0)
            continue;
        largest = cache->bytes > largest ? cache->bytes : largest;
        bytes = cache->level == l->number ? cache->bytes / 2 : bytes;
    }
    if (l->number == 0)
        bytes = 4 * largest < (size_t)1 << 28 ? 4 * largest : (size_t)1 << 28;
    return bytes / 4096 * 4096;
}

static th_result create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                        th_error *err)
{
    const level *l = entry->variant;
    ceiling *c = calloc(1, sizeof *c);
    th_context context;
    (void)desc, (void)fixture;
    row->time_unit = "us";
    row->threads = 1;
    if (!c)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", entry->name);
    entry->subject = c;
    c->isa = entry->isa;
    if (!l)
        return TH_OK;
    th_context_read(&context);
    const size_t bytes = bytes_of(&context, l);
    if (bytes == 0) {
        th_row_skip(row, "this machine tells of no such cache");
        return TH_OK;
    }
    c->count = bytes / sizeof *c->memory;
    c->passes = 1 + LEAST_BYTES / bytes;
    c->memory = th_huge_page_alloc(bytes);
    if (!c->memory)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", entry->name);
    th_isa_write(c->isa, c->memory, c->count, 1);
    return TH_OK;
}

static void multiply_add(void *subject, uint64_t frame)
{
    ceiling *c = subject;
    (void)frame;
    c->amount = (double)th_isa_multiply_add(c->isa, ROUNDS);
}

static void read_memory(void *subject, uint64_t frame)
{
    ceiling *c = subject;
    (void)frame;
    c->read = th_isa_read(c->isa, c->memory, c->count, c->passes);
    c->amount = (double)(c->passes * c->count * sizeof *c->memory);
}

static void write_memory(void *subject, uint64_t frame)
{
    ceiling *c = subject;
    (void)frame;
    th_isa_write(c->isa, c->memory, c->count, c->passes);
    c->amount = (double)(c->passes * c->count * sizeof *c->memory);
}

static void summarize(const th_entry *entry, const th_row *baseline, th_row *row)
{
    const ceiling *c = entry->subject;
    const double per_s = c->amount / th_samples_stats(&row->cpu_ns).min * 1e9; /* a ceiling: the best that was seen */
    (void)baseline;
    const size_t written = c->count * sizeof *c->memory;
    const double least_ns = (double)written / per_s * 1e9;
    double plain_ns = entry->run == write_memory && least_ns > 0 ? HUGE_VAL : 0;
    for (int again = 0; again < 20 && plain_ns > TH_PLAIN_WRITE_MOST * least_ns; again++) /* it may be disturbed */
        plain_ns = fmin(plain_ns, th_plain_write_ns(c->memory, written, written, false));
    if (plain_ns > TH_PLAIN_WRITE_MOST * least_ns)
        th_row_fail(row, "it claims %.3g GB/s, %.2g times what memset writes: no ceiling", per_s / 1e9,
                    plain_ns / least_ns);
    if (entry->run == read_memory && c->read * sizeof *c->memory != c->amount)
        th_row_fail(row, "it claims to read %.4g bytes, and read %.4g", c->amount, c->read * sizeof *c->memory);
    row->own = json_pack("{s:o}", entry->variant ? "bytes_per_second" : "flops_per_second", th_json_real(per_s));
}

static void destroy(void *subject)
{
    ceiling *c = subject;
    free(c->memory);
    free(c);
}

uint32_t th_ceiling_entries(th_entry *entries)
{
    const th_entry e = {.shape = levels, .create = create, .summarize = summarize, .destroy = destroy};
    uint32_t count = 0;
    for (int isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++) {
        if (!th_isa_available((th_isa)isa))
            continue;
        th_entry *multiply = &entries[count++];
        *multiply = e;
        multiply->isa = (th_isa)isa;
        multiply->run = multiply_add;
        snprintf(multiply->name, sizeof e.name, "ceiling/multiply_add/%s", th_isa_name((th_isa)isa));
    }
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        th_entry *both = &entries[count];
        both[0] = both[1] = e;
        both[0].isa = both[1].isa = th_isa_best();
        both[0].variant = both[1].variant = &levels[l];
        both[0].run = read_memory;
        both[1].run = write_memory;
        snprintf(both[0].name, sizeof e.name, "ceiling/read/%s", levels[l].name);
        snprintf(both[1].name, sizeof e.name, "ceiling/write/%s", levels[l].name);
        count += 2;
    }
    return count;
}
