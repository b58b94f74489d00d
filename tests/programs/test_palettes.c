/* The palettes and errors of this version against those that are stored: a change of either shows in a commit.
 *
 * Palettes are stored by arithmetic, not by machine: kernels that fuse multiply-add write one set of bytes, those that
 * do not another. What computes in double precision (exact, tutorial) uses the C library, which rounds differently from
 * CPU to CPU: of it only errors are stored. THRONG_GOLDEN_UPDATE=1 stores all anew. */
#include "fixture_program.h"

#include <criterion/criterion.h>
#include <throng/anim/crowd.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

typedef struct entry {
    char name[64]; /* of a bench entry, with "fused" or "plain" for the instruction set */
    char hash[24]; /* of the palettes, or "-" */
    double error, error_vs_source;
    bool seen; /* on this machine */
} entry;

TestSuite(palettes, .init = make_folder, .fini = remove_folder);

static const char *arithmetic_of(const char *isa)
{
    static const char *const of[][2] = {
        {"scalar", "plain"}, {"sse4", "plain"}, {"avx2", "fused"}, {"avx512", "fused"}, {"neon", "fused"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(isa, of[i][0]) == 0)
            return of[i][1];
    return NULL;
}

/* pose/avx2/f32 is pose/fused/f32. */
static entry entry_of(const json_t *row)
{
    entry e = {.error = json_real_value(json_object_get(row, "max_error")),
               .error_vs_source = json_real_value(json_object_get(row, "error_vs_source"))};
    char name[64], *part = NULL;
    bool by_kernel = false;
    snprintf(name, sizeof name, "%s", json_string_value(json_object_get(row, "name")));
    for (char *word = strtok_r(name, "/", &part); word; word = strtok_r(NULL, "/", &part)) {
        const char *arithmetic = arithmetic_of(word);
        by_kernel |= arithmetic != NULL;
        const size_t length = strlen(e.name);
        snprintf(e.name + length, sizeof e.name - length, "%s%s", length ? "/" : "", arithmetic ? arithmetic : word);
    }
    snprintf(e.hash, sizeof e.hash, "%s", by_kernel ? json_string_value(json_object_get(row, "palette_hash")) : "-");
    return e;
}

static entry *find(entry *entries, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    return NULL;
}

static size_t read_stored(entry entries[MOST])
{
    FILE *file = fopen(TEST_GOLDEN "/palettes.txt", "r");
    cr_assert(file, "%s", TEST_GOLDEN "/palettes.txt");
    size_t count = 0;
    for (entry e = {0}; fscanf(file, "%63s %23s %lf %lf", e.name, e.hash, &e.error, &e.error_vs_source) == 4;) {
        cr_assert(count < MOST);
        entries[count++] = e;
    }
    fclose(file);
    return count;
}

static void store(const json_t *rows)
{
    cr_assert(th_isa_available(TH_ISA_AVX2) || th_isa_available(TH_ISA_NEON), "not stored: no kernel here fuses");
    entry entries[MOST];
    size_t count = 0, i;
    json_t *row;
    FILE *file = fopen(TEST_GOLDEN "/palettes.txt", "w");
    cr_assert(file, "%s", TEST_GOLDEN "/palettes.txt");
    json_array_foreach(rows, i, row)
    {
        const entry e = entry_of(row);
        if (find(entries, count, e.name))
            continue;
        cr_assert(count < MOST);
        entries[count++] = e;
        fprintf(file, "%s %s %.6g %.6g\n", e.name, e.hash, e.error, e.error_vs_source);
    }
    cr_assert_eq(fclose(file), 0);
}

static bool near(double now, double stored)
{
    return fabs(now - stored) <= 0.01 * stored;
}

Test(palettes, are_those_that_are_stored)
{
    json_t *found = document("bench --dry-run --filter '^(pose|interp)/' --count 100 --json");
    const json_t *rows = json_object_get(found, "benchmarks");
    if (getenv("THRONG_GOLDEN_UPDATE"))
        store(rows);
    entry stored[MOST];
    const size_t count = read_stored(stored);
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const entry now = entry_of(row);
        const char *name = json_string_value(json_object_get(row, "name"));
        entry *then = find(stored, count, now.name);
        cr_expect(then, "%s: %s is not stored", name, now.name);
        if (!then)
            continue;
        then->seen = true;
        cr_expect_str_eq(now.hash, then->hash, "%s: palettes %s, stored %s", name, now.hash, then->hash);
        cr_expect(near(now.error, then->error), "%s: error %g, stored %g", name, now.error, then->error);
        cr_expect(near(now.error_vs_source, then->error_vs_source), "%s: error against the source %g, stored %g", name,
                  now.error_vs_source, then->error_vs_source);
    }
    const bool fuses = th_isa_available(TH_ISA_AVX2) || th_isa_available(TH_ISA_NEON);
    for (i = 0; i < count; i++)
        cr_expect(stored[i].seen || (!fuses && strstr(stored[i].name, "fused")),
                  "%s is stored, but nothing computes it", stored[i].name);
    json_decref(found);
}
