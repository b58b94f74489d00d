/* The appearances of the embedded human: bodies, hair and clothes, drawn at random from small tables, so that all of
 * them go together. Colours are sRGB; clothes are muted, because the sun of a picture makes them lighter. */
#include "parts.h"

#include <core/arena.h>
#include <core/random.h>

#define APPEARANCES 1024
#define SEED        7 /* of the tables' mixture; any would do */

#define BARE      254 /* with all slack taken in, clothes are skin */
#define LENGTH(a) (sizeof(a) / sizeof *(a))

typedef struct rgb {
    uint8_t r, g, b;
} rgb;

/* clang-format off */
static const rgb SKINS[] = {{212, 164, 136}, {204, 150, 118}, {192, 136, 100}, {186, 130, 94}, {148, 98, 68},
                            {112, 74, 52}, {84, 56, 44}};

static const rgb HAIRS[] = {{30, 26, 26}, {50, 36, 30}, {84, 57, 40}, {132, 100, 66}, {186, 148, 94}, {122, 62, 36}};

static const rgb GREY_HAIRS[] = {{120, 118, 118}, {168, 166, 164}, {208, 206, 202}};

static const rgb IRISES[] = {{38, 25, 20}, {74, 48, 30}, {64, 92, 118}, {78, 92, 66}};

/* Of what is worn above the waist. */
static const rgb TOPS[] = {{216, 206, 186}, {206, 208, 208}, {196, 150, 62}, {170, 84, 54}, {116, 42, 52}, {52, 88, 68},
                           {140, 156, 130}, {50, 112, 116}, {122, 160, 188}, {196, 132, 130}, {148, 134, 172},
                           {204, 108, 86}, {64, 78, 122}, {176, 54, 50}, {132, 138, 144}};

/* Of shirts in open jackets. */
static const rgb INNERS[] = {{204, 200, 194}, {190, 178, 156}, {60, 60, 66}, {150, 172, 190}, {178, 88, 62}};

/* Of jackets and coats. */
static const rgb COATS[] = {{44, 52, 78}, {62, 64, 70}, {98, 96, 66}, {146, 110, 76}, {92, 52, 44}, {72, 96, 128},
                            {50, 70, 62}};

/* Of what is worn below. */
static const rgb BOTTOMS[] = {{46, 56, 84}, {76, 100, 134}, {58, 60, 66}, {40, 40, 46}, {150, 126, 96}, {100, 96, 70},
                              {92, 72, 62}};

static const rgb SKIRTS[] = {{46, 56, 84}, {118, 46, 56}, {62, 96, 80}, {184, 140, 70}, {58, 58, 66}, {160, 92, 78},
                             {110, 104, 140}};

static const rgb SHOES[] = {{214, 212, 206}, {44, 42, 44}, {112, 68, 44}, {60, 70, 98}, {164, 58, 50}, {128, 130, 134}};
static const rgb SOLES[] = {{224, 220, 210}, {60, 54, 52}, {168, 128, 92}};
/* clang-format on */

/* A stream of random numbers. */
typedef struct dice {
    uint64_t seed, thrown;
} dice;

static uint32_t throw_dice(dice *d, size_t sides)
{
    return (uint32_t)(th_random_bits(d->seed, d->thrown++) % sides);
}

static bool chance(dice *d, uint32_t percent)
{
    return throw_dice(d, 100) < percent;
}

#define PICK(d, colors) ((colors)[throw_dice((d), LENGTH(colors))])

static void wear(th_appearance_region *appearance, th_human_region region, rgb color, double tightness)
{
    appearance[region] = (th_appearance_region){{color.r, color.g, color.b}, (uint8_t)(BARE * clamp(tightness, 0, 1))};
}

static rgb mixed(rgb color, rgb with, double part)
{
    return (rgb){(uint8_t)(color.r + part * (with.r - color.r)), (uint8_t)(color.g + part * (with.g - color.g)),
                 (uint8_t)(color.b + part * (with.b - color.b))};
}

/* ---- bodies ---- */

typedef struct person {
    bool is_child, is_old, has_long_hair; /* or a bun */
    double slimness;                      /* from 0, broad, to 1, narrow */
    uint32_t skin;
} person;

static person draw_person(dice *d)
{
    static const double slimness[] = {0, 0.3, 0.5, 0.65, 0.8, 1};
    person p = {.is_child = chance(d, 13), .skin = throw_dice(d, LENGTH(SKINS)), .has_long_hair = chance(d, 45)};
    p.is_old = !p.is_child && chance(d, 18);
    p.slimness = slimness[throw_dice(d, LENGTH(slimness))];
    if (p.is_child)
        p.slimness = clamp(p.slimness, 0.6, 1);
    return p;
}

static float draw_stature(dice *d, const person *p)
{
    const double part = throw_dice(d, 100) / 100.0;
    if (p->is_child)
        return (float)(0.62 + 0.16 * part);
    return (float)((p->has_long_hair ? 0.91 : 0.95) + 0.05 * part - (p->is_old ? 0.02 : 0));
}

static void draw_head(dice *d, const person *p, th_appearance_region *appearance)
{
    const rgb skin = SKINS[p->skin], white = {226, 224, 220}, red = {150, 40, 40};
    const bool is_dark = p->skin >= LENGTH(SKINS) / 2;
    rgb hair = HAIRS[throw_dice(d, is_dark ? 2 : LENGTH(HAIRS))];
    if (p->is_old)
        hair = PICK(d, GREY_HAIRS);
    wear(appearance, REGION_SKIN, skin, 0);
    wear(appearance, REGION_LIPS, mixed(skin, red, 0.4), 0);
    wear(appearance, REGION_EYE, white, 0);
    wear(appearance, REGION_IRIS, IRISES[throw_dice(d, is_dark ? 2 : LENGTH(IRISES))], 0);
    wear(appearance, REGION_BROW, mixed(hair, (rgb){30, 26, 26}, 0.3), 0);
    wear(appearance, REGION_HAIR, hair, 0);
    if (p->has_long_hair)
        wear(appearance, chance(d, 65) ? REGION_LONG_HAIR : REGION_BUN, hair, 0);
}

/* ---- clothes ---- */

/* A closed top. Its parts are as tight as each other: they continue each other. */
static void wear_top(th_appearance_region *appearance, rgb color, double tightness)
{
    static const th_human_region parts[] = {REGION_TORSO, REGION_FRONT, REGION_UPPER_ARM};
    for (size_t i = 0; i < LENGTH(parts); i++)
        wear(appearance, parts[i], color, tightness);
}

static void wear_short_top(th_appearance_region *appearance, const person *p, rgb color)
{
    wear_top(appearance, color, p->slimness);
    wear(appearance, REGION_COLLAR, SKINS[p->skin], 1);
    wear(appearance, REGION_FOREARM, SKINS[p->skin], 1);
}

static void wear_long_top(th_appearance_region *appearance, const person *p, rgb color)
{
    wear_top(appearance, color, p->slimness);
    wear(appearance, REGION_COLLAR, color, p->slimness);
    wear(appearance, REGION_FOREARM, color, p->slimness);
}

/* Over bare legs or tights. */
static void wear_skirt(dice *d, th_appearance_region *appearance, const person *p, rgb color)
{
    const rgb legs = chance(d, 40) ? (rgb){52, 48, 54} : SKINS[p->skin];
    wear(appearance, REGION_SKIRT, color, p->slimness);
    wear(appearance, REGION_THIGH, legs, 1);
    wear(appearance, REGION_SHIN, legs, 1);
}

static void draw_clothes(dice *d, const person *p, th_appearance_region *appearance)
{
    const rgb skin = SKINS[p->skin];
    wear(appearance, REGION_SHOE, PICK(d, SHOES), 0);
    wear(appearance, REGION_SOLE, PICK(d, SOLES), 0);
    if (p->has_long_hair && chance(d, 22)) { /* a dress */
        const rgb color = PICK(d, SKIRTS);
        (chance(d, 60) ? wear_short_top : wear_long_top)(appearance, p, color);
        wear_skirt(d, appearance, p, color);
        return;
    }
    const uint32_t top = throw_dice(d, p->is_old ? 8 : 10);
    if (top < 3) {
        wear_long_top(appearance, p, PICK(d, TOPS));
    } else if (top < 6) { /* an open jacket */
        const double loose = 0.6 * p->slimness;
        wear_top(appearance, PICK(d, COATS), loose);
        appearance[REGION_FOREARM] = appearance[REGION_TORSO];
        wear(appearance, REGION_FRONT, PICK(d, INNERS), loose + 0.3);
        wear(appearance, REGION_COLLAR, skin, 1);
    } else if (top < 8) {
        wear_short_top(appearance, p, PICK(d, TOPS));
    } else {
        const rgb color = PICK(d, TOPS);
        wear_long_top(appearance, p, color);
        wear(appearance, REGION_HOOD, color, 0);
    }
    if (p->has_long_hair && chance(d, 30)) {
        wear_skirt(d, appearance, p, PICK(d, SKIRTS));
    } else if (!p->is_old && chance(d, p->is_child ? 45 : 18)) { /* shorts */
        wear(appearance, REGION_HIPS, PICK(d, BOTTOMS), 0.6 * p->slimness);
        appearance[REGION_THIGH] = appearance[REGION_HIPS];
        wear(appearance, REGION_SHIN, skin, 1);
    } else {
        static const th_human_region trousers[] = {REGION_HIPS, REGION_THIGH, REGION_SHIN};
        const rgb color = PICK(d, BOTTOMS);
        const double tightness = p->slimness + (1 - p->slimness) * 0.25 * throw_dice(d, 3);
        for (size_t i = 0; i < LENGTH(trousers); i++)
            wear(appearance, trousers[i], color, tightness);
    }
}

/* ---- the model ---- */

bool th_human_add_appearances(th_model *model)
{
    th_appearance_region *regions =
        th_arena_new(model->arena, th_appearance_region, (size_t)APPEARANCES * REGION_COUNT);
    float *statures = th_arena_new(model->arena, float, APPEARANCES);
    if (!regions || !statures)
        return false;
    for (uint32_t i = 0; i < APPEARANCES; i++) {
        dice d = {th_random_bits(SEED, i), 0};
        th_appearance_region *appearance = regions + (size_t)i * REGION_COUNT;
        for (uint32_t r = 0; r < REGION_COUNT; r++)
            appearance[r].tightness = TH_APPEARANCE_NOT_WORN;
        const person p = draw_person(&d);
        statures[i] = draw_stature(&d, &p);
        draw_head(&d, &p, appearance);
        draw_clothes(&d, &p, appearance);
    }
    model->appearances = (th_appearances){APPEARANCES, REGION_COUNT, (float)TH_HUMAN_SLACK, regions, statures};
    return true;
}
