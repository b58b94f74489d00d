#include "synthetic_text.h"

#include <cli/option.h>

#include <core/suggest.h>

#include <stddef.h>
#include <string.h>

static const char *const shapes[] = {"tree", "chain", "star", NULL};
static const char *const off_on[] = {"off", "on", NULL};
static const char *const on_off[] = {"on", "off", NULL};

_Static_assert(sizeof shapes / sizeof *shapes == TH_SYNTHETIC_SHAPE_COUNT + 1, "a name for each shape");

#define PREFIX    TH_SYNTHETIC_NAME ":"
#define AT(field) offsetof(th_synthetic_desc, field)

/* clang-format off */
static const th_option keys[] = {
    {.name = "shape", .prefix = PREFIX, .parse = th_parse_choice, .offset = AT(shape), .choices = shapes,
     .help = "tree (branching limbs, as of a body), chain, or star (all joints on one root)"},
    {.name = "joints", .prefix = PREFIX, .parse = th_parse_whole, .offset = AT(joints), .low = 1, .high = TH_SYNTHETIC_MAX_JOINTS,
     .help = "number of joints; each is a bone (one palette entry)"},
    {.name = "depth", .prefix = PREFIX, .parse = th_parse_whole, .offset = AT(depth), .low = 1, .high = TH_SYNTHETIC_MAX_JOINTS,
     .help = "joints from the root of a tree to its farthest tip (default: 12 or all)"},
    {.name = "clips", .prefix = PREFIX, .parse = th_parse_whole, .offset = AT(clips), .low = 1, .high = TH_SYNTHETIC_MAX_CLIPS,
     .help = "number of clips; each moves differently"},
    {.name = "keys", .prefix = PREFIX, .parse = th_parse_whole, .offset = AT(keys), .low = TH_SYNTHETIC_MIN_KEYS, .high = TH_SYNTHETIC_MAX_KEYS,
     .help = "keys per moving track; the last equals the first"},
    {.name = "rate", .prefix = PREFIX, .parse = th_parse_whole, .offset = AT(rate), .low = 1, .high = TH_SYNTHETIC_MAX_RATE,
     .help = "keys per second; a clip lasts (keys - 1) / rate seconds"},
    {.name = "moving", .prefix = PREFIX, .parse = th_parse_whole, .offset = AT(moving), .low = 0, .high = 100,
     .help = "percentage of joints that rotate, spread evenly"},
    {.name = "scale", .prefix = PREFIX, .parse = th_parse_second, .offset = AT(moving_scale), .choices = off_on,
     .help = "on: moving joints also scale, which takes another path in the kernels"},
    {.name = "mesh", .prefix = PREFIX, .parse = th_parse_second, .offset = AT(no_mesh), .choices = on_off,
     .help = "on: the model has a mesh to draw"},
    {.name = "weights", .prefix = PREFIX, .parse = th_parse_whole, .offset = AT(weights), .low = 0, .high = TH_SYNTHETIC_MAX_WEIGHTS,
     .help = "number of morph targets; clips move all of their weights"},
    {.name = "seed", .prefix = PREFIX, .parse = th_parse_seed, .offset = AT(seed),
     .help = "random seed for branching and motion"},
};
/* clang-format on */
enum { KEY_COUNT = sizeof keys / sizeof *keys };

bool th_synthetic_named(const char *text)
{
    const size_t length = strlen(TH_SYNTHETIC_NAME);
    return strncmp(text, TH_SYNTHETIC_NAME, length) == 0 && (text[length] == '\0' || text[length] == ':');
}

/* ---- reading ---- */

static th_result refuse_unknown(const char *name, th_error *err)
{
    th_suggestion s = {.typed = name};
    for (int i = 0; i < KEY_COUNT; i++)
        th_suggestion_consider(&s, keys[i].name);
    if (s.best)
        return th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME " has no key \"%s\"; did you mean %s?", name, s.best);
    return th_fail(err, TH_ERR_INPUT,
                   TH_SYNTHETIC_NAME " has no key \"%s\"; `throng help " TH_SYNTHETIC_NAME "` lists them", name);
}

/* "joints=8". given: a bit for each key. */
static th_result read_item(char *item, uint32_t *given, th_synthetic_desc *desc, th_error *err)
{
    char *equals = strchr(item, '=');
    if (!equals)
        return th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME " takes KEY=VALUE,..., not \"%s\"", item);
    *equals = '\0';
    for (int i = 0; i < KEY_COUNT; i++)
        if (strcmp(keys[i].name, item) == 0) {
            if (*given & 1u << i)
                return th_fail(err, TH_ERR_INPUT, PREFIX "%s is given twice", item);
            *given |= 1u << i;
            return keys[i].parse(&keys[i], equals + 1, (char *)desc + keys[i].offset, err);
        }
    return refuse_unknown(item, err);
}

/* ---- consistency ---- */

static th_result check_depth(const th_synthetic_desc *d, th_error *err)
{
    const uint32_t least = d->joints == 1 ? 1 : 2;
    if (d->depth == 0)
        return TH_OK;
    if (d->shape != TH_SYNTHETIC_TREE)
        return th_fail(err, TH_ERR_INPUT, PREFIX "depth is for shape=tree: of a %s of %u joints it is %u",
                       shapes[d->shape], d->joints,
                       th_synthetic_depth(&(th_synthetic_desc){.shape = d->shape, .joints = d->joints}));
    if (d->depth < least || d->depth > d->joints)
        return th_fail(err, TH_ERR_INPUT, PREFIX "depth of a tree of %u joints takes %u to %u, not %u", d->joints,
                       least, d->joints, d->depth);
    return TH_OK;
}

static th_result check_work(const th_synthetic_desc *d, th_error *err)
{
    const uint64_t work = th_synthetic_work(d);
    if (work <= TH_SYNTHETIC_MAX_WORK)
        return TH_OK;
    return th_fail(err, TH_ERR_INPUT, PREFIX " (joints + weights) * clips * keys is %llu; the limit is %u",
                   (unsigned long long)work, TH_SYNTHETIC_MAX_WORK);
}

th_result th_synthetic_parse(const char *text, th_synthetic_desc *out, th_error *err)
{
    char words[512];
    uint32_t given = 0;
    th_result result = TH_OK;
    *out = TH_SYNTHETIC_DEFAULT;
    out->name = text;
    const char *list = text + strlen(TH_SYNTHETIC_NAME);
    if (snprintf(words, sizeof words, "%s", *list ? list + 1 : list) >= (int)sizeof words)
        return th_fail(err, TH_ERR_INPUT, PREFIX " KEY=VALUE,... longer than %zu letters", sizeof words - 1);
    for (char *item = words; *list && item && result == TH_OK;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma++ = '\0';
        result = read_item(item, &given, out, err);
        item = comma;
    }
    if (result == TH_OK)
        result = check_depth(out, err);
    return result == TH_OK ? check_work(out, err) : result;
}

/* ---- help ---- */

/* Prints a key with its default, as in "joints=64". */
static void print_key(const th_option *k, const th_synthetic_desc *usual, FILE *file)
{
    const void *value = (const char *)usual + k->offset;
    char head[64];
    if (k->choices)
        snprintf(head, sizeof head, "%s=%s", k->name, k->choices[0]);
    else if (k->parse == th_parse_seed)
        snprintf(head, sizeof head, "%s=%llu", k->name, (unsigned long long)*(const uint64_t *)value);
    else if (*(const uint32_t *)value == 0)
        snprintf(head, sizeof head, "%s", k->name);
    else
        snprintf(head, sizeof head, "%s=%u", k->name, *(const uint32_t *)value);
    fprintf(file, "  %-14s%s", head, k->help);
    if (k->parse == th_parse_whole)
        fprintf(file, "; %.0f to %.0f", k->low, k->high);
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
    fprintf(file, "\n(joints + weights) * clips * keys may be at most %u.\n", TH_SYNTHETIC_MAX_WORK);
}
