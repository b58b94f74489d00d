/* A curve of FBX over the span of a clip: with its keys there, with tangents that the file leaves to be computed, and
 * with what it does beyond its keys. How tangents follow from flags is not published; the formulas for automatic and
 * clamped ones are those that ufbx found by comparison with Autodesk's programs. */
#include "fbx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* of KeyAttrFlags */
enum {
    CONSTANT = 0x2,
    CUBIC = 0x8,
    CONSTANT_NEXT = 0x100, /* of a constant: it has the next key's value */
    TCB = 0x200,           /* tension, continuity, bias */
    USER = 0x400,
    CLAMP = 0x1000,
    TIME_INDEPENDENT = 0x2000,
    CLAMP_PROGRESSIVE = 0x4000,
    WEIGHTED_RIGHT = 0x1000000,
    WEIGHTED_NEXT_LEFT = 0x2000000,
};

#define MOST_KEYS (1u << 20) /* of a curve with its repetitions */
#define THIRD     (1 / 3.0)

enum { LEFT, RIGHT };

/* From a key to the next. */
typedef enum piece_kind { LINE, BEZIER, HOLD, HOLD_NEXT } piece_kind;

/* A key, with what its tangents are: a slope in change per second, and a weight, which is a part of the time to the
 * neighbour. */
typedef struct fbx_key {
    double time, value; /* time: in seconds of the file */
    uint32_t flags;
    float data[3]; /* as stored, see set_tangents */
    piece_kind piece;
    double slope[2], weight[2];
} fbx_key;

typedef struct fbx_keys {
    const fbx *f;
    uint32_t count, room;
    fbx_key *keys;
} fbx_keys;

/* cycles: or keys, of which a cycle has one at least. */
static void check_count(double cycles)
{
    if (cycles > MOST_KEYS)
        give_up(TH_ERR_LIMIT, "an animation curve repeats itself to more than %u keys", MOST_KEYS);
}

static void add_key(fbx_keys *list, fbx_key key)
{
    check_count(list->count + 1.0);
    if (list->count == list->room) {
        fbx_key *grown = make(list->f->s, fbx_key, 2 * list->room + 4);
        if (list->count > 0)
            memcpy(grown, list->keys, list->count * sizeof *grown);
        list->keys = grown;
        list->room = 2 * list->room + 4;
    }
    list->keys[list->count++] = key;
}

/* ---- as stored ---- */

static uint32_t low_bits(double whole)
{
    return fabs(whole) < 0x1p63 ? (uint32_t)(int64_t)whole : 0;
}

/* The numbers of KeyAttrDataFloat are not all floats, which is why text has their bits as whole numbers, from
 * version 7.2 on. */
static uint32_t bits_of(const fbx *f, const fbx_record *record, double stored)
{
    const float number = (float)stored;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return record->values[0].element == '\0' && f->version >= 7200 ? low_bits(stored) : bits;
}

/* Whether a key and the next one are the two sides of a jump. */
static bool is_jump(const fbx_key *key, const fbx_key *next)
{
    return next->time <= nextafter(key->time, HUGE_VAL);
}

/* Flags and data are stored for runs of keys. Two keys of one time are a jump. Damaged curves have no keys. */
static void read_keys(const fbx_record *curve, fbx_keys *out)
{
    scene *s = out->f->s;
    uint32_t count, value_count, flag_count, data_count, run_count, key = 0;
    const fbx_record *data_record = find_fbx_record(curve, NULL, "KeyAttrDataFloat");
    const double *times = read_fbx_numbers(s, find_fbx_record(curve, NULL, "KeyTime"), &count),
                 *values = read_fbx_numbers(s, find_fbx_record(curve, NULL, "KeyValueFloat"), &value_count),
                 *flags = read_fbx_numbers(s, find_fbx_record(curve, NULL, "KeyAttrFlags"), &flag_count),
                 *runs = read_fbx_numbers(s, find_fbx_record(curve, NULL, "KeyAttrRefCount"), &run_count),
                 *data = read_fbx_numbers(s, data_record, &data_count);
    bool good = count > 0 && value_count == count && flag_count == run_count && data_count / 4 >= run_count;
    out->keys = make(s, fbx_key, good ? count : 0);
    out->room = good ? count : 0;
    for (uint32_t r = 0; good && r < run_count; r++) {
        fbx_key k = {.flags = low_bits(flags[r]), .weight = {THIRD, THIRD}};
        for (uint32_t i = 0; i < 3; i++) {
            const uint32_t bits = bits_of(out->f, data_record, data[4 * r + i]);
            memcpy(&k.data[i], &bits, sizeof bits);
            if (i == 2 && k.flags & WEIGHTED_RIGHT) /* four decimals each */
                k.weight[RIGHT] = fmin(1, (bits & 0xffff) / 1e4);
            if (i == 2 && k.flags & WEIGHTED_NEXT_LEFT) /* the next key's, until set_tangents */
                k.weight[LEFT] = fmin(1, (bits >> 16) / 1e4);
        }
        for (double n = 0; good && n < runs[r] && key < count; n++, key++) {
            k.time = times[key] / out->f->ticks_per_second;
            k.value = values[key];
            fbx_key *last = out->count > 0 ? &out->keys[out->count - 1] : NULL;
            const bool repeats = last && k.time == last->time,
                       is_third = repeats && out->count > 1 && is_jump(last - 1, last);
            if (repeats && !is_third)
                last->time = nextafter(k.time, -HUGE_VAL);
            out->count -= is_third;
            good = fabs(k.time) <= LARGEST && fabs(k.value) <= LARGEST && isfinite(k.data[0]) && isfinite(k.data[1]) &&
                   (!last || k.time >= last->time);
            add_key(out, k);
        }
    }
    out->count = good && key == count ? out->count : 0;
    warn(s, WARN_CURVE_DAMAGED, out->count == 0, "curve %lld", (long long)fbx_integer(curve, 0, 0));
}

/* ---- tangents ---- */

static double slope_between(const fbx_key *a, const fbx_key *b)
{
    return (b->value - a->value) / (b->time - a->time);
}

/* What a bias beyond 500 % adds to a slope. */
static double strong_bias(double bias, double sign)
{
    const double beyond = fabs(bias) / 100 - 5;
    return beyond > 0 ? copysign(40 * beyond * beyond, sign) : 0;
}

/* The slope of a key at an end of its curve, towards its only neighbour. */
static double end_slope(const fbx_key *a, const fbx_key *b, const fbx_key *key, double bias)
{
    if (key->flags & CLAMP_PROGRESSIVE || (key->flags & CLAMP && a->value == b->value))
        return 0;
    return slope_between(a, b) + (key->flags & TIME_INDEPENDENT ? 0 : strong_bias(bias, bias > 0 ? 1 : -1));
}

/* The slope of a key between two others. */
static double auto_slope(const fbx_key *key, double bias)
{
    const fbx_key *before = key - 1, *after = key + 1;
    if (key->flags & CLAMP && (before->value == key->value || after->value == key->value))
        return 0;
    const double left = slope_between(before, key), right = slope_between(key, after);
    double slope = slope_between(before, after);
    if (!(key->flags & TIME_INDEPENDENT)) {
        const double part = (key->time - before->time) / (after->time - before->time);
        slope = (slope + left * (1 - part) + right * part) / 2;
        const double share = fabs(bias) / 100, aim = (bias > 0 ? right : left) - slope;
        if (share > 1e-4)
            slope += aim * share + strong_bias(bias, fabs(aim) > 1e-5 ? aim : bias > 0 ? 1 : -1);
    }
    if (key->flags & CLAMP_PROGRESSIVE) { /* neither handle leads beyond the neighbour's value */
        const double sign = slope >= 0 ? 1 : -1;
        const double most_left = key->weight[LEFT] > 0 ? sign * left / key->weight[LEFT] : 0,
                     most_right = key->weight[RIGHT] > 0 ? sign * right / key->weight[RIGHT] : 0;
        slope = sign * fmin(fabs(slope), fmin(fmax(0, most_left), fmax(0, most_right)));
    }
    return slope;
}

/* D. Kochanek, R. Bartels, Interpolating Splines with Local Tension, Continuity, and Bias Control, 1984. */
static void set_tcb(fbx_key *key, const fbx_key *before, const fbx_key *after)
{
    const double left = before ? slope_between(before, key) : 0, right = after ? slope_between(key, after) : 0;
    const double t = (double)key->data[0], c = (double)key->data[1], b = (double)key->data[2],
                 part = (before && after ? 0.5 : 1) * (1 - t);
    key->slope[LEFT] = part * ((1 + b) * (1 - c) * left + (1 - b) * (1 + c) * right);
    key->slope[RIGHT] = part * ((1 + b) * (1 + c) * left + (1 - b) * (1 - c) * right);
}

/* A key's flags and data tell the piece that follows it: the right side of the key and the left side of the next. */
static void set_tangents(fbx_keys *list)
{
    double left_weight = THIRD, left_slope = 0; /* from the key before */
    for (uint32_t i = 0; i < list->count; i++) {
        fbx_key *key = &list->keys[i];
        const fbx_key *before = i > 0 && !is_jump(key - 1, key) ? key - 1 : NULL,
                      *after = i + 1 < list->count && !is_jump(key, key + 1) ? key + 1 : NULL;
        const bool cubic = key->flags & CUBIC && !(key->flags & CONSTANT);
        double next_weight = cubic && !(key->flags & TCB) ? key->weight[LEFT] : THIRD;
        double next_slope = cubic && !(key->flags & TCB) ? (double)key->data[1] : 0;
        key->weight[LEFT] = left_weight;
        key->slope[LEFT] = left_slope;
        key->weight[RIGHT] = cubic ? key->weight[RIGHT] : THIRD;
        key->slope[RIGHT] = cubic ? (double)key->data[0] : 0;
        key->piece = cubic ? BEZIER : !(key->flags & CONSTANT) ? LINE : key->flags & CONSTANT_NEXT ? HOLD_NEXT : HOLD;
        if (!after && i + 1 < list->count)
            key->piece = HOLD;
        if (key->piece == LINE && after)
            key->slope[RIGHT] = next_slope = slope_between(key, after);
        if (cubic && key->flags & TCB) {
            set_tcb(key, before, after);
        } else if (cubic && !(key->flags & USER)) { /* automatic, with a bias for each side in place of the slope */
            const double bias[2] = {-key->slope[LEFT], key->slope[RIGHT]};
            const bool one = fabs(bias[RIGHT] - bias[LEFT]) <= 1e-4;
            for (int side = LEFT; side <= RIGHT; side++)
                key->slope[side] = before && after ? auto_slope(key, bias[one ? RIGHT : side])
                                   : before        ? end_slope(before, key, key, bias[LEFT])
                                   : after         ? end_slope(key, after, key, bias[RIGHT])
                                                   : 0;
        }
        left_weight = next_weight;
        left_slope = next_slope;
    }
}

/* ---- beyond the keys ---- */

/* Appends a key that may lie where the last one does: then both are one if they agree, and a jump if not. */
static void join_key(fbx_keys *list, fbx_key key)
{
    fbx_key *last = list->count > 0 ? &list->keys[list->count - 1] : NULL;
    if (last && !(key.time > last->time)) {
        if (last->value == key.value) {
            key.slope[LEFT] = last->slope[LEFT];
            key.weight[LEFT] = last->weight[LEFT];
            list->count--;
        } else {
            last->time = nextafter(last->time, -HUGE_VAL);
            last->piece = HOLD;
        }
    }
    add_key(list, key);
}

/* The key at the same place of a mirrored curve. */
static fbx_key mirror(const fbx_keys *keys, uint32_t i)
{
    const piece_kind before = i > 0 ? keys->keys[i - 1].piece : LINE;
    fbx_key key = keys->keys[i];
    key.time = keys->keys[0].time + keys->keys[keys->count - 1].time - key.time;
    key.slope[LEFT] = -keys->keys[i].slope[RIGHT];
    key.slope[RIGHT] = -keys->keys[i].slope[LEFT];
    key.weight[LEFT] = keys->keys[i].weight[RIGHT];
    key.weight[RIGHT] = keys->keys[i].weight[LEFT];
    key.piece = before == HOLD ? HOLD_NEXT : before == HOLD_NEXT ? HOLD : before;
    return key;
}

/* Appends all keys once more, `cycle` lengths later. */
static void add_cycle(const fbx_keys *keys, double cycle, char mode, fbx_keys *out)
{
    const fbx_key *first = keys->keys, *last = first + keys->count - 1;
    const bool mirrored = mode == 'M' && fmod(fabs(cycle), 2) == 1;
    for (uint32_t i = 0; i < keys->count; i++) {
        fbx_key key = mirrored ? mirror(keys, keys->count - 1 - i) : keys->keys[i];
        key.time += cycle * (last->time - first->time);
        key.value += mode == 'A' ? cycle * (last->value - first->value) : 0;
        join_key(out, key);
    }
}

/* How often the curve is repeated until it reaches `time`, which is as much beyond its keys. mode: C constant, K
 * straight on, R repeated, A repeated from where it ends, M there and back. */
static double cycles_until(const fbx_record *curve, const char *side, double beyond, double length, char *mode)
{
    const fbx_record *inside = find_fbx_record(curve, NULL, side);
    const double most = fbx_number(find_fbx_record(inside, NULL, "Repetition"), 0, -1);
    *mode = (char)fbx_integer(find_fbx_record(inside, NULL, "Type"), 0, 'C');
    if (!(beyond > 0) || !strchr("RAM", *mode) || *mode == '\0')
        return 0;
    const double all = ceil(beyond / length), cycles = most >= 0 ? fmin(most, all) : all;
    check_count(cycles); /* whose keys may all be at one time, and become one */
    return cycles;
}

/* The key where a curve that goes straight on ends. side: of the key at the end of the curve. */
static fbx_key straight_on(const fbx_key *end, int side, double time)
{
    return (fbx_key){.time = time, .value = end->value + end->slope[side] * (time - end->time), .piece = LINE};
}

static fbx_keys extend(const fbx_keys *keys, const fbx_record *curve, fbx_span span)
{
    const fbx_key *first = keys->keys, *last = first + keys->count - 1;
    const double length = last->time - first->time;
    char before, after;
    if (!(length > 0))
        return *keys;
    const double early = cycles_until(curve, "Pre-Extrapolation", first->time - span.begin, length, &before),
                 late = cycles_until(curve, "Post-Extrapolation", span.end - last->time, length, &after);
    fbx_keys out = {.f = keys->f};
    if (before == 'K' && span.begin < first->time)
        add_key(&out, straight_on(first, RIGHT, span.begin));
    for (double cycle = -early; cycle < 0; cycle++)
        add_cycle(keys, cycle, before, &out);
    add_cycle(keys, 0, 'R', &out);
    for (double cycle = 1; cycle <= late; cycle++)
        add_cycle(keys, cycle, after, &out);
    if (after == 'K' && span.end > last->time) {
        out.keys[out.count - 1].piece = LINE;
        add_key(&out, straight_on(last, LEFT, span.end));
    }
    return out;
}

/* ---- as the model has it ---- */

static float to_float(double number)
{
    return (float)fmin(fmax(number, -LARGEST), LARGEST);
}

static th_curve_piece piece_between(const fbx_key *a, const fbx_key *b, double scale)
{
    const double length = b->time - a->time, line = a->piece == LINE ? slope_between(a, b) : 0;
    const double right = a->piece == LINE ? THIRD : a->weight[RIGHT], left = a->piece == LINE ? THIRD : b->weight[LEFT];
    const double leave = a->value + (a->piece == LINE ? line : a->slope[RIGHT]) * right * length,
                 arrive = b->value - (a->piece == LINE ? line : b->slope[LEFT]) * left * length;
    return (th_curve_piece){.holds = a->piece == HOLD,
                            .leave_time = (float)right,
                            .arrive_time = left == THIRD ? (float)(2 / 3.0) : (float)(1 - left),
                            .leave_value = to_float(scale * leave),
                            .arrive_value = to_float(scale * arrive)};
}

th_curve read_fbx_curve(const fbx *f, const fbx_object *object, fbx_span span, double scale, double still)
{
    fbx_keys keys = {.f = f};
    if (object)
        read_keys(object->record, &keys);
    if (keys.count == 0)
        add_key(&keys, (fbx_key){.time = span.begin, .value = still});
    set_tangents(&keys);
    if (object)
        keys = extend(&keys, object->record, span);

    /* What reaches into the span. A piece that has the next key's value becomes a key that holds, right after. */
    uint32_t begin = 0, end = keys.count;
    while (begin + 1 < keys.count && keys.keys[begin + 1].time <= span.begin)
        begin++;
    while (end > begin + 1 && keys.keys[end - 2].time >= span.end)
        end--;
    fbx_keys kept = {.f = f};
    for (uint32_t i = begin; i < end; i++) {
        const fbx_key *key = &keys.keys[i];
        add_key(&kept, *key);
        if (key->piece == HOLD_NEXT && i + 1 < end) {
            kept.keys[kept.count - 1].piece = HOLD;
            add_key(&kept, (fbx_key){.time = nextafter(key->time, HUGE_VAL), .value = key[1].value, .piece = HOLD});
        }
    }
    double *times = make(f->s, double, kept.count);
    float *values = make(f->s, float, kept.count);
    th_curve_piece *pieces = make(f->s, th_curve_piece, kept.count);
    for (uint32_t i = 0; i < kept.count; i++) {
        times[i] = (kept.keys[i].time - span.begin) * f->frames_per_second;
        if (i > 0 && !(times[i] > times[i - 1])) { /* the two sides of a jump, rounded */
            if (i == 1 || nextafter(times[i], -HUGE_VAL) > times[i - 2])
                times[i - 1] = nextafter(times[i], -HUGE_VAL);
            else
                times[i] = nextafter(times[i - 1], HUGE_VAL);
        }
        values[i] = to_float(scale * kept.keys[i].value);
        if (i + 1 < kept.count)
            pieces[i] = piece_between(&kept.keys[i], &kept.keys[i + 1], scale);
    }
    return (th_curve){kept.count, times, values, kept.count > 1 ? pieces : NULL};
}

bool is_still(const th_curve *curve)
{
    const double value = (double)curve->values[0], most = fmax(1e-7, 1e-6 * fabs(value));
    for (uint32_t k = 1; k < curve->key_count; k++) {
        const th_curve_piece *piece = &curve->pieces[k - 1];
        if (!(fabs((double)curve->values[k] - value) <= most) ||
            (!piece->holds &&
             !(fabs((double)piece->leave_value - value) <= most && fabs((double)piece->arrive_value - value) <= most)))
            return false;
    }
    return true;
}
