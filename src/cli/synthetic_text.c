#include "synthetic_text.h"

#include "parse_number.h"

#include <throng/core/suggest.h>

#include <math.h>
#include <stddef.h>

typedef enum kind {
    NUMBER, /* uint32_t */
    SEED,   /* uint64_t, any */
    CHOICE, /* an enum: index into `choices` */
    SWITCH, /* a bool: true for the second choice */
} kind;

typedef struct key {
    const char *name;
    const char *help;
    kind kind;
    size_t offset; /* in th_synthetic_desc */
    uint32_t low, high;
    const char *const *choices; /* at most three */
} key;

static const char *const shapes[] = {"tree", "chain", "star", NULL};
static const char *const off_on[] = {"off", "on", NULL};
static const char *const on_off[] = {"on", "off", NULL};

_Static_assert(sizeof shapes / sizeof *shapes == TH_SYNTHETIC_SHAPE_COUNT + 1, "a name for each shape");

#define AT(field) offsetof(th_synthetic_desc, field)

/* clang-format off */
static const key keys[] = {
    {"shape", "tree (branching limbs, as of a body), chain, or star (all joints on one root)", CHOICE, AT(shape), .choices = shapes},
    {"joints", "number of joints; each is a bone (one palette entry)", NUMBER, AT(joints), .low = 1, .high = TH_SYNTHETIC_MAX_JOINTS},
    {"depth", "joints from the root of a tree to its farthest tip (default: 12 or all)", NUMBER, AT(depth), .low = 1, .high = TH_SYNTHETIC_MAX_JOINTS},
    {"clips", "number of clips; each moves differently", NUMBER, AT(clips), .low = 1, .high = TH_SYNTHETIC_MAX_CLIPS},
    {"keys", "keys per moving track; the last equals the first", NUMBER, AT(keys), .low = TH_SYNTHETIC_MIN_KEYS, .high = TH_SYNTHETIC_MAX_KEYS},
    {"rate", "keys per second; a clip lasts (keys - 1) / rate seconds", NUMBER, AT(rate), .low = 1, .high = TH_SYNTHETIC_MAX_RATE},
    {"moving", "percentage of joints that rotate, spread evenly", NUMBER, AT(moving), .low = 0, .high = 100},
    {"scale", "on: moving joints also scale, which takes another path in the kernels", SWITCH, AT(moving_scale), .choices = off_on},
    {"mesh", "on: the model has a mesh to draw", SWITCH, AT(no_mesh), .choices = on_off},
    {"seed", "random seed for branching and motion", SEED, .offset = AT(seed)},
};
/* clang-format on */
enum { KEY_COUNT = sizeof keys / sizeof *keys };

bool th_synthetic_named(const char *text)
{
    const size_t length = strlen(TH_SYNTHETIC_NAME);
    return strncmp(text, TH_SYNTHETIC_NAME, length) == 0 && (text[length] == '\0' || text[length] == ':');
}

/* ---- reading ---- */

static void describe(const key *k, char *text, size_t size)
{
    if (k->kind == SEED)
        snprintf(text, size, "a whole number from 0 to %llu", (unsigned long long)UINT64_MAX);
    else if (k->kind == NUMBER)
        snprintf(text, size, "a whole number from %u to %u", k->low, k->high);
    else if (k->choices[2])
        snprintf(text, size, "%s, %s or %s", k->choices[0], k->choices[1], k->choices[2]);
    else
        snprintf(text, size, "%s or %s", k->choices[0], k->choices[1]);
}

static bool refuse(const key *k, const char *value, th_error *err)
{
    char wanted[96];
    describe(k, wanted, sizeof wanted);
    th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME ":%s takes %s, not \"%s\"", k->name, wanted, value);
    return false;
}

static bool refuse_unknown(const char *name, th_error *err)
{
    th_suggestion s = {.typed = name};
    for (int i = 0; i < KEY_COUNT; i++)
        th_suggestion_consider(&s, keys[i].name);
    if (s.best)
        th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME " has no key \"%s\"; did you mean %s?", name, s.best);
    else
        th_fail(err, TH_ERR_INPUT,
                TH_SYNTHETIC_NAME " has no key \"%s\"; `throng help " TH_SYNTHETIC_NAME "` lists them", name);
    return false;
}

static bool read_choice(const key *k, const char *text, void *value)
{
    for (unsigned i = 0; k->choices[i]; i++)
        if (strcmp(k->choices[i], text) == 0) {
            if (k->kind == SWITCH)
                *(bool *)value = i == 1;
            else
                *(unsigned *)value = i;
            return true;
        }
    return false;
}

static bool read_number(const key *k, const char *text, void *value)
{
    uint64_t number;
    if (k->kind == SEED)
        return th_read_whole(text, 0, HUGE_VAL, value);
    if (!th_read_whole(text, k->low, k->high, &number))
        return false;
    *(uint32_t *)value = (uint32_t)number;
    return true;
}

static bool read_value(const key *k, const char *text, th_synthetic_desc *desc, th_error *err)
{
    void *value = (char *)desc + k->offset;
    const bool read = k->choices ? read_choice(k, text, value) : read_number(k, text, value);
    return read || refuse(k, text, err);
}

/* "joints=8". given: a bit for each key. */
static bool read_item(char *item, uint32_t *given, th_synthetic_desc *desc, th_error *err)
{
    char *equals = strchr(item, '=');
    if (!equals) {
        th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME " takes KEY=VALUE,..., not \"%s\"", item);
        return false;
    }
    *equals = '\0';
    for (int i = 0; i < KEY_COUNT; i++)
        if (strcmp(keys[i].name, item) == 0) {
            if (*given & 1u << i) {
                th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME ":%s is given twice", item);
                return false;
            }
            *given |= 1u << i;
            return read_value(&keys[i], equals + 1, desc, err);
        }
    return refuse_unknown(item, err);
}

/* ---- consistency ---- */

static bool check_depth(const th_synthetic_desc *d, th_error *err)
{
    if (d->depth == 0)
        return true;
    const uint32_t least = d->joints == 1 ? 1 : 2;
    if (d->shape != TH_SYNTHETIC_TREE)
        th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME ":depth is for shape=tree: of a %s of %u joints it is %u",
                shapes[d->shape], d->joints,
                th_synthetic_depth(&(th_synthetic_desc){.shape = d->shape, .joints = d->joints}));
    else if (d->depth < least || d->depth > d->joints)
        th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME ":depth of a tree of %u joints takes %u to %u, not %u", d->joints,
                least, d->joints, d->depth);
    else
        return true;
    return false;
}

static bool check_work(const th_synthetic_desc *d, th_error *err)
{
    const uint64_t work = (uint64_t)d->joints * d->clips * d->keys;
    if (work <= TH_SYNTHETIC_MAX_WORK)
        return true;
    th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME ": joints * clips * keys is %llu; the limit is %u",
            (unsigned long long)work, TH_SYNTHETIC_MAX_WORK);
    return false;
}

bool th_synthetic_parse(const char *text, th_synthetic_desc *out, th_error *err)
{
    char words[512];
    uint32_t given = 0;
    *out = TH_SYNTHETIC_DEFAULT;
    out->name = text;
    const char *list = text + strlen(TH_SYNTHETIC_NAME);
    if (snprintf(words, sizeof words, "%s", *list ? list + 1 : list) >= (int)sizeof words) {
        th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME ": KEY=VALUE,... longer than %zu letters", sizeof words - 1);
        return false;
    }
    for (char *item = words; *list && item;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma++ = '\0';
        if (!read_item(item, &given, out, err))
            return false;
        item = comma;
    }
    return check_depth(out, err) && check_work(out, err);
}

/* ---- help ---- */

/* Prints a key with its default, as in "joints=64". */
static void print_key(const key *k, const th_synthetic_desc *usual, FILE *file)
{
    const void *value = (const char *)usual + k->offset;
    char head[64];
    if (k->choices)
        snprintf(head, sizeof head, "%s=%s", k->name, k->choices[0]);
    else if (k->kind == SEED)
        snprintf(head, sizeof head, "%s=%llu", k->name, (unsigned long long)*(const uint64_t *)value);
    else if (*(const uint32_t *)value == 0)
        snprintf(head, sizeof head, "%s", k->name);
    else
        snprintf(head, sizeof head, "%s=%u", k->name, *(const uint32_t *)value);
    fprintf(file, "  %-14s%s", head, k->help);
    if (k->kind == NUMBER)
        fprintf(file, "; %u to %u", k->low, k->high);
    fputc('\n', file);
}

void th_help_synthetic(FILE *file)
{
    fputs("throng --model synthetic:KEY=VALUE,...: a generated model, instead of a file\n\n"
          "Measures how the cost of a pose depends on one quantity while the others stay the same, as in\n\n"
          "  throng bench --filter '^pose/|^limit/' --model synthetic:shape=star,joints=200\n\n"
          "The same text gives the same model on every machine. Keys and defaults:\n\n",
          file);
    for (int i = 0; i < KEY_COUNT; i++)
        print_key(&keys[i], &TH_SYNTHETIC_DEFAULT, file);
    fprintf(file, "\njoints * clips * keys may be at most %u.\n", TH_SYNTHETIC_MAX_WORK);
}
