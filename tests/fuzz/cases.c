#include "cases.h"

#include <core/random.h>

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof *(list)))

struct made made;
bool case_taken;
char case_refusal[1024];

static th_draws dice, harm;   /* what a case is; what becomes of it */
static size_t places, harmed; /* so far; the one to damage */

static uint32_t draw(th_draws *draws, uint32_t limit)
{
    return (uint32_t)((th_draws_next(draws) >> 32) * limit >> 32);
}

uint32_t below(uint32_t limit)
{
    return draw(&dice, limit);
}

bool one_in(uint32_t count)
{
    return below(count) == 0;
}

double between(double low, double high)
{
    return low + (high - low) * 0x1p-32 * (double)below(UINT32_MAX);
}

void write_bytes(const void *bytes, size_t size)
{
    if (size > sizeof *made.bytes - made.size[made.part])
        abort(); /* a case has outgrown its room */
    memcpy(made.bytes[made.part] + made.size[made.part], bytes, size);
    made.size[made.part] += size;
}

void print(const char *format, ...)
{
    char text[20000];
    va_list args;
    va_start(args, format);
    write_bytes(text, (size_t)vsnprintf(text, sizeof text, format, args));
    va_end(args);
}

/* ---- places ---- */

static bool is_harmed(void)
{
    return places++ == harmed;
}

/* The number, or what arithmetic goes wrong with: off by one, or among these, of which the later ones are not whole. */
static double maybe_other(double number, bool whole)
{
    static const double others[] = {
        0,          -1,          1,       255,  65535,   65536,   0x7fffffff, 0x80000000,  0xffffffff,
        0xfffffffc, 0x100000000, 1 << 28, 1e12, 0x1p+62, 0x1p+63, -0x1p+63,   -0.0,        0.5,
        1e-45,      1e-310,      1e-285,  1e38, -1e38,   1e300,   -1e300,     (double)NAN, (double)INFINITY};
    const uint32_t which = is_harmed() ? draw(&harm, (whole ? 16 : COUNT(others)) + 4) : 3;
    return which == 3 ? number : which > 3 ? others[which - 4] : which == 2 ? -number : which ? number + 1 : number - 1;
}

void write_number(double number, char kind)
{
    const bool is_real = kind == 'f' || kind == 'd';
    const double used = maybe_other(number, !is_real);
    const uint64_t whole = is_real ? 0 : used < 0 ? (uint64_t)(int64_t)used : (uint64_t)used;
    if (is_real)
        write_bytes(kind == 'd' ? (const void *)&used : &(float){(float)used}, kind == 'd' ? 8 : 4);
    else
        write_bytes(&whole, (size_t)(kind - '0'));
}

void print_number(double number)
{
    const double used = maybe_other(number, false);
    print(used == floor(used) && fabs(used) < 0x1p+64 ? "%.0f" : "%.9g", used);
}

void print_word(const char *word)
{
    static const char *const others[] = {"",         "-1", "nan", "1e999", "0x10", "%s%n", "../../x",
                                         "\xff\xfe", "--", "=",   "{",     "\"",   ":"};
    static char text[8192];
    const uint32_t which = is_harmed() ? draw(&harm, 3 + COUNT(others)) : UINT32_MAX;
    if (which == 0) /* long; half; twice */
        snprintf(text, sizeof text, "%08000d", 0);
    else if (which < 3)
        snprintf(text, sizeof text, "%.*s%s", (int)strlen(word) / 2, word, which == 2 ? word : "");
    print("%s", which == UINT32_MAX ? word : which < 3 ? text : others[which - 3]);
}

void make_from_file(void)
{
    static uint8_t bytes[sizeof *made.bytes];
    glob_t files;
    char word[16];
    FILE *file = glob(TEST_SEEDS "/*", 0, NULL, &files) == 0
                     ? fopen(files.gl_pathv[below((uint32_t)files.gl_pathc)], "rb")
                     : NULL;
    if (!file)
        abort(); /* seeds.py writes them */
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    for (size_t at = 0, length; at < size; at += length) {
        uint32_t number = 0;
        for (length = 0; length < 9 && at + length < size && bytes[at] != '0' && isdigit(bytes[at + length]); length++)
            word[length] = (char)bytes[at + length];
        word[length] = '\0';
        if (length > 0) {
            print_number(atof(word));
            continue;
        }
        length = bytes[at] < 32 && size - at >= 4 && one_in(4) ? 4 : 1;
        memcpy(&number, bytes + at, length);
        write_number(number, (char)('0' + length));
    }
    fclose(file);
    globfree(&files);
    case_taken = true; /* some are there because they are refused */
}

__attribute__((weak)) void make_case(void)
{
    make_from_file();
}

/* ---- JSON ---- */

/* What may stand in place of any value. */
static const char *other_json(void)
{
    static char deep[4001];
    static const char *const others[] = {deep, "null", "true", "-1",   "0",     "0.5",   "\"\"",    "\"-1\"",      "[]",
                                         "{}", "[[]]", "1e9",  "1e39", "1e300", "1e999", "[0,0,0]", "\"\\u0000\"", ""};
    memset(deep, '[', 2000);
    memset(deep + 2000, ']', 2000);
    return others[draw(&harm, COUNT(others))];
}

/* Damage of a key: another one, twice, or another one with this value after it with another value. */
static void add_key(int length, const char *key)
{
    const uint32_t fault = is_harmed() ? 1 + draw(&harm, 3) : 0;
    if (fault > 1)
        print("\"%.*s\":%s,", length, key, other_json());
    print("\"%.*s%s\":", length, key, fault % 2 ? "x" : "");
}

void json(const char *template, ...)
{
    va_list args;
    va_start(args, template);
    for (const char *at = template; *at;) {
        const char *word = at;
        while (isalnum((unsigned char)*at) || (*at && strchr("_.-/", *at)))
            at++;
        const int length = (int)(at - word);
        const size_t size = made.size[made.part];
        at += length == 0;
        if (*word == ' ' || *word == ',')
            continue;
        const bool closes = *word == '}' || *word == ']', opens = *word == '{' || *word == '[';
        if (!closes && size > 0 && !strchr("{[:,", made.bytes[made.part][size - 1]))
            print(",");
        if (length > 0 && *at == ':') {
            add_key(length, word);
            at++;
            continue;
        }
        const char *text = *word == '$' ? va_arg(args, const char *) : NULL;
        const double number = *word == '#' ? va_arg(args, uint32_t) : *word == '~' ? va_arg(args, double) : 0;
        if (closes)
            write_bytes(word, !is_harmed());
        else if (is_harmed())
            print("%s%s", !opens ? "" : *word == '[' ? "[" : "{\"x\":", other_json());
        else if (text) {
            print("\"");
            print_word(text);
            print("\"");
        } else if (length > 0 || opens)
            print("%.*s", opens ? 1 : length, word); /* true, or a number */
        else
            print_number(number);
    }
    va_end(args);
}

/* ---- a case ---- */

/* Eight cases in a row are damaged copies of one, whose places are counted once. */
const uint8_t *case_bytes(uint64_t seed, uint64_t number, bool whole, size_t *size)
{
    static uint64_t counted;
    static size_t count;
    const uint64_t own = th_random_bits(seed, number / 8);
    for (int pass = whole || own != counted ? 0 : 1; pass < (whole ? 1 : 2); pass++) {
        dice = (th_draws){own, 0};
        harm = (th_draws){th_random_bits(~seed, number), 0};
        harmed = pass == 0 ? SIZE_MAX : draw(&harm, (uint32_t)(count + count / 16 + 1));
        places = made.part = 0;
        memset(made.size, 0, sizeof made.size);
        make_case();
        count = pass == 0 ? places : count;
        counted = own;
    }
    *size = !whole && harmed >= count ? draw(&harm, (uint32_t)made.size[0]) : made.size[0]; /* or cut off */
    return made.bytes[0];
}

#ifdef FUZZ_STEERED /* libFuzzer goes on from cases */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t fresh = SIZE_MAX;
    const uint8_t *bytes = seed % 4 ? data : case_bytes(1, seed, seed % 16 == 0, &fresh);
    if (fresh > most)
        return LLVMFuzzerMutate(data, size, most);
    memcpy(data, bytes, fresh);
    return fresh;
}
#endif
