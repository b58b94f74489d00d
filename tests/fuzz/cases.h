/* Cases that are valid by construction, made at random from a number, then damaged in one place. make_case writes one
 * with these functions, which know what can be wrong at each place. It is called twice, and must do the same both
 * times: places are counted, then one of them is damaged. */
#ifndef FUZZ_CASES_H
#define FUZZ_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void make_case(void); /* of each target; make_from_file if it has none */
void make_gltf(void);
void make_fbx(void);
void make_from_file(void); /* a seed, of which each number and each of the other bytes is a place */

/* What the target did with a case: it sets case_taken. */
extern bool case_taken;
extern char case_refusal[1024];

/* What is written: parts, of which the first becomes the case. */
extern struct made {
    uint32_t part; /* that is written to */
    size_t size[5];
    uint8_t bytes[5][1 << 18];
} made;

/* Makes and damages a case, or leaves it whole. It lasts until the next call. */
const uint8_t *case_bytes(uint64_t seed, uint64_t number, bool whole, size_t *size);

uint32_t below(uint32_t limit);
bool one_in(uint32_t count);
double between(double low, double high);

/* No places. */
void write_bytes(const void *bytes, size_t size);
__attribute__((format(printf, 1, 2))) void print(const char *format, ...);

/* Places. kind: an integer of 1, 2, 4 or 8 bytes, or f or d, little-endian. */
void write_number(double number, char kind);
void print_number(double number);
void print_word(const char *word);

/* JSON, or a piece of it, whose keys, values and brackets are places. Commas come by themselves, words need no quotes:
 * {asset:{version:$}, scene:0, weights:[#~]}. $ is a const char *, # a uint32_t, ~ a double. */
void json(const char *template, ...);

#endif
