#include <anim/synthetic_text.h>

#include <core/suggest.h>
#include <core/text_format.h>

#include <stdio.h>
#include <string.h>

static const char *const shapes[] = {"tree", "chain", "star", NULL};
static const char *const off_on[] = {"off", "on", NULL};
static const char *const on_off[] = {"on", "off", NULL};

_Static_assert(sizeof shapes / sizeof *shapes == TH_SYNTHETIC_SHAPE_COUNT + 1, "a name for each shape");

#define PREFIX    TH_SYNTHETIC_NAME ":"
#define AT(field) .offset = offsetof(th_synthetic_desc, field), .size = sizeof(((th_synthetic_desc *)NULL)->field)

/* clang-format off */
const th_synthetic_key th_synthetic_keys[] = {
    {.name = "shape", AT(shape), .words = shapes,
     .help = "tree (branching limbs, as of a body), chain, or star (all joints on one root)"},
    {.name = "joints", AT(joints), .low = 1, .high = TH_SYNTHETIC_MAX_JOINTS,
     .help = "number of joints; each is a bone (one palette entry)"},
    {.name = "depth", AT(depth), .low = 1, .high = TH_SYNTHETIC_MAX_JOINTS,
     .help = "joints from the root of a tree to its farthest tip (default: 12 or all)"},
    {.name = "clips", AT(clips), .low = 1, .high = TH_SYNTHETIC_MAX_CLIPS,
     .help = "number of clips; each moves differently"},
    {.name = "keys", AT(keys), .low = TH_SYNTHETIC_MIN_KEYS, .high = TH_SYNTHETIC_MAX_KEYS,
     .help = "keys per moving track; the last equals the first"},
    {.name = "rate", AT(rate), .low = 1, .high = TH_SYNTHETIC_MAX_RATE,
     .help = "keys per second; a clip lasts (keys - 1) / rate seconds"},
    {.name = "moving", AT(moving), .low = 0, .high = 100,
     .help = "percentage of joints that rotate, spread evenly"},
    {.name = "scale", AT(moving_scale), .words = off_on,
     .help = "on: moving joints also scale, which takes another path in the kernels"},
    {.name = "mesh", AT(no_mesh), .words = on_off,
     .help = "on: the model has a mesh to draw"},
    {.name = "weights", AT(weights), .low = 0, .high = TH_SYNTHETIC_MAX_WEIGHTS,
     .help = "number of morph targets; clips move all of their weights"},
    {.name = "seed", AT(seed), .high = UINT64_MAX,
     .help = "random seed for branching and motion"},
    {0},
};
/* clang-format on */

bool th_synthetic_named(const char *text)
{
    const size_t length = strlen(TH_SYNTHETIC_NAME);
    return strncmp(text, TH_SYNTHETIC_NAME, length) == 0 && (text[length] == '\0' || text[length] == ':');
}

/* Reads the value of a key into its field. */
static th_result read_value(const th_synthetic_key *key, const char *text, th_synthetic_desc *desc, th_error *err)
{
    void *field = (char *)desc + key->offset;
    uint64_t number = 0;
    if (key->words) {
        th_suggestion s = {.typed = text};
        char words[160] = "";
        for (; key->words[number] && strcmp(key->words[number], text) != 0; number++) {
            th_suggestion_consider(&s, key->words[number]);
            th_append(words, sizeof words, "%s%s",
                      number == 0              ? ""
                      : key->words[number + 1] ? ", "
                                               : " or ",
                      key->words[number]);
        }
        if (!key->words[number])
            return th_fail(err, TH_ERR_INPUT, PREFIX "%s takes %s, not \"%s\"%s%s%s", key->name, words, text,
                           s.best ? "; did you mean " : "", s.best ? s.best : "", s.best ? "?" : "");
    } else if (!th_read_whole(text, (double)key->low, (double)key->high, &number)) {
        return th_fail(err, TH_ERR_INPUT, PREFIX "%s takes a whole number from %llu to %llu, not \"%s\"", key->name,
                       (unsigned long long)key->low, (unsigned long long)key->high, text);
    }
    if (key->size == sizeof(bool))
        *(bool *)field = number == 1;
    else if (key->size == sizeof(uint32_t))
        *(uint32_t *)field = (uint32_t)number;
    else
        *(uint64_t *)field = number;
    return TH_OK;
}

th_result th_synthetic_parse(const char *text, th_synthetic_desc *out, th_error *err)
{
    char words[512], *next;
    uint32_t given = 0; /* a bit for each key */
    *out = TH_SYNTHETIC_DEFAULT;
    out->name = text;
    const char *list = text + strlen(TH_SYNTHETIC_NAME);
    if (snprintf(words, sizeof words, "%s", *list ? list + 1 : list) >= (int)sizeof words)
        return th_fail(err, TH_ERR_INPUT, PREFIX " KEY=VALUE,... longer than %zu letters", sizeof words - 1);
    for (char *item = *list ? words : NULL; item; item = next) { /* "joints=8" */
        if ((next = strchr(item, ',')))
            *next++ = '\0';
        char *equals = strchr(item, '=');
        if (!equals)
            return th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME " takes KEY=VALUE,..., not \"%s\"", item);
        *equals = '\0';
        th_suggestion s = {.typed = item};
        const th_synthetic_key *key = th_synthetic_keys;
        for (; key->name && strcmp(key->name, item) != 0; key++)
            th_suggestion_consider(&s, key->name);
        if (!key->name && s.best)
            return th_fail(err, TH_ERR_INPUT, TH_SYNTHETIC_NAME " has no key \"%s\"; did you mean %s?", item, s.best);
        if (!key->name)
            return th_fail(err, TH_ERR_INPUT,
                           TH_SYNTHETIC_NAME " has no key \"%s\"; `throng help " TH_SYNTHETIC_NAME "` lists them",
                           item);
        const uint32_t bit = 1u << (key - th_synthetic_keys);
        if (given & bit)
            return th_fail(err, TH_ERR_INPUT, PREFIX "%s is given twice", item);
        given |= bit;
        const th_result result = read_value(key, equals + 1, out, err);
        if (result != TH_OK)
            return result;
    }

    const uint32_t least = out->joints == 1 ? 1 : 2;
    if (out->depth > 0 && out->shape != TH_SYNTHETIC_TREE)
        return th_fail(err, TH_ERR_INPUT, PREFIX "depth is for shape=tree: of a %s of %u joints it is %u",
                       shapes[out->shape], out->joints,
                       th_synthetic_depth(&(th_synthetic_desc){.shape = out->shape, .joints = out->joints}));
    if (out->depth > 0 && (out->depth < least || out->depth > out->joints))
        return th_fail(err, TH_ERR_INPUT, PREFIX "depth of a tree of %u joints takes %u to %u, not %u", out->joints,
                       least, out->joints, out->depth);
    if (th_synthetic_work(out) > TH_SYNTHETIC_MAX_WORK)
        return th_fail(err, TH_ERR_INPUT, PREFIX " (joints + weights) * clips * keys is %llu; the limit is %u",
                       (unsigned long long)th_synthetic_work(out), TH_SYNTHETIC_MAX_WORK);
    return TH_OK;
}
