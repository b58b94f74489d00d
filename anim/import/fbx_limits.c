/* Warnings for what an FBX file requests and Assimp 5.2.5 does not support. The importer does not support it either,
 * but warns, because such a file plays wrong. Assimp's scene does not show it, so the file is parsed for it. */
#include "fbx_records.h"
#include "files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI             3.14159265358979323846
#define TICKS_A_SECOND 46186158000.0

/* bits of KeyAttrFlags */
enum { KEY_CONSTANT = 0x2, KEY_CUBIC = 0x8, KEY_USER_TANGENT = 0x400 };

/* How a node inherits its parent's scale: component by component, fully (about the parent's axes), or not at all. */
enum { INHERIT_COMPONENTWISE = 0, INHERIT_FULLY = 1, INHERIT_NO_SCALE = 2 };

typedef enum kind { OTHER, MODEL, CURVE, CURVE_NODE, LAYER, STACK } kind;

/* An object of the file and its connections. */
typedef struct object {
    int64_t id;
    const fbx_record *record;
    kind kind;
    struct object *parent;   /* model: its parent; curve node: its model; layer: its stack */
    struct object *curve[3]; /* curve node: of x, y, z */
    bool moves;              /* curve node: a part of a transform */
    bool turns;              /* curve node: a rotation */
    double noticeable;       /* curve node: half a degree, half a unit of length, or 0.005 of scale */
    bool in_use;             /* layer: has a curve node that moves */
    uint32_t layer_count;    /* stack: layers in use */
    bool scaled;             /* model: a clip changes its scale */
} object;

typedef struct objects {
    scene *s;
    uint32_t count;
    object *all;              /* by id */
    const fbx_record *models; /* default properties of models */
} objects;

/* ---- the objects ---- */

static int compare_objects(const void *a, const void *b)
{
    const object *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static kind kind_of(const fbx_record *record)
{
    static const struct {
        const char *name;
        kind kind;
    } kinds[] = {{"Model", MODEL},
                 {"AnimationCurve", CURVE},
                 {"AnimationCurveNode", CURVE_NODE},
                 {"AnimationLayer", LAYER},
                 {"AnimationStack", STACK}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (record->name_size == strlen(kinds[k].name) && memcmp(record->name, kinds[k].name, record->name_size) == 0)
            return kinds[k].kind;
    return OTHER;
}

static object *find_object(const objects *o, int64_t id)
{
    return bsearch(&(object){.id = id}, o->all, o->count, sizeof *o->all, compare_objects);
}

/* The name without its class: text has "Model::Hips", binary "Hips\0\1Model". */
static const char *name_of(scene *s, const object *o)
{
    const fbx_value *value = o->record->value_count > 1 ? &o->record->values[1] : NULL;
    if (!value || value->type != FBX_TEXT)
        return "unnamed";
    size_t size = strnlen(value->text, value->size), from = 0;
    for (size_t i = 0; size == value->size && from == 0 && i + 1 < size; i++)
        if (value->text[i] == ':' && value->text[i + 1] == ':')
            from = i + 2;
    return from == size ? "unnamed" : make_string(s, "%.*s", (int)(size - from), value->text + from);
}

static objects list_objects(scene *s, const fbx_record *root)
{
    objects o = {.s = s};
    const fbx_record *inside = find_fbx_record(root, NULL, "Objects");
    for (const fbx_record *r = inside ? inside->first : NULL; r; r = r->next)
        o.count++;
    o.all = make(s, object, o.count);
    o.count = 0;
    for (const fbx_record *r = inside ? inside->first : NULL; r; r = r->next)
        o.all[o.count++] = (object){.id = fbx_integer(r, 0, 0), .record = r, .kind = kind_of(r)};
    qsort(o.all, o.count, sizeof *o.all, compare_objects);

    const fbx_record *definitions = find_fbx_record(root, NULL, "Definitions"), *type = NULL;
    while ((type = find_fbx_record(definitions, type, "ObjectType")) && !is_fbx_text(type, 0, "Model"))
        ;
    o.models = find_fbx_record(type, NULL, "PropertyTemplate");
    return o;
}

/* ---- connections ---- */

static void connect_curve(object *curve, object *node, const fbx_record *connection)
{
    static const char *const parts[3] = {"d|X", "d|Y", "d|Z"};
    for (int i = 0; i < 3; i++)
        if (is_fbx_text(connection, 3, parts[i]))
            node->curve[i] = curve;
}

static void connect_curve_node(object *node, object *model, const fbx_record *connection)
{
    bool scale = is_fbx_text(connection, 3, "Lcl Scaling");
    node->parent = model;
    node->turns = is_fbx_text(connection, 3, "Lcl Rotation");
    node->noticeable = scale ? 0.005 : 0.5;
    node->moves = scale || node->turns || is_fbx_text(connection, 3, "Lcl Translation");
    model->scaled |= scale;
}

static void connect_objects(const objects *o, const fbx_record *root)
{
    const fbx_record *inside = find_fbx_record(root, NULL, "Connections");
    for (const fbx_record *c = NULL; (c = find_fbx_record(inside, c, "C"));) {
        object *from = find_object(o, fbx_integer(c, 1, 0)), *to = find_object(o, fbx_integer(c, 2, 0));
        if (!from || !to)
            continue;
        if (from->kind == CURVE && to->kind == CURVE_NODE)
            connect_curve(from, to, c);
        else if (from->kind == CURVE_NODE && to->kind == MODEL)
            connect_curve_node(from, to, c);
        else if ((from->kind == MODEL && to->kind == MODEL) || (from->kind == LAYER && to->kind == STACK))
            from->parent = to;
    }
    /* Second pass: now it is known which curve nodes move something. */
    for (const fbx_record *c = NULL; (c = find_fbx_record(inside, c, "C"));) {
        const object *from = find_object(o, fbx_integer(c, 1, 0));
        object *layer = find_object(o, fbx_integer(c, 2, 0));
        if (!from || !layer || from->kind != CURVE_NODE || layer->kind != LAYER || !from->moves || layer->in_use)
            continue;
        layer->in_use = from->curve[0] || from->curve[1] || from->curve[2];
        if (layer->in_use && layer->parent)
            layer->parent->layer_count++;
    }
}

/* ---- properties of models ---- */

/* Returns the record P ("name", type, ...) of a property. Its values start at index 4. */
static const fbx_record *find_property(const objects *o, const object *model, const char *name)
{
    const fbx_record *sources[] = {model->record, o->models}, *p = NULL;
    for (int i = 0; i < 2 && !p; i++) {
        const fbx_record *list = find_fbx_record(sources[i], NULL, "Properties70");
        while ((p = find_fbx_record(list, p, "P")) && !is_fbx_text(p, 0, name))
            ;
    }
    return p;
}

static void read_vector(const objects *o, const object *model, const char *name, double otherwise, double out[3])
{
    const fbx_record *p = find_property(o, model, name);
    for (uint32_t i = 0; i < 3; i++)
        out[i] = fbx_number(p, 4 + i, otherwise);
}

static bool differs(const double v[3], double from)
{
    return fabs(v[0] - from) > 1e-4 || fabs(v[1] - from) > 1e-4 || fabs(v[2] - from) > 1e-4;
}

/* ---- warnings ---- */

/* Names the object only if there is something to warn of: few files have it, and all have thousands of objects. */
static void warn_if(const objects *o, bool wrong, warning_kind warning, const object *where)
{
    if (wrong)
        warn(o->s, warning, 1, "%s", name_of(o->s, where));
}

static void check_scale_inheritance(const objects *o, const object *model)
{
    const object *parent = model->parent;
    if (!parent || parent->kind != MODEL)
        return;
    double scale[3];
    read_vector(o, parent, "Lcl Scaling", 1, scale);
    bool unequal = fabs(scale[1] - scale[0]) > 1e-4 || fabs(scale[2] - scale[0]) > 1e-4;
    int64_t mode = fbx_integer(find_property(o, model, "InheritType"), 4, INHERIT_COMPONENTWISE);
    bool wrong = (mode == INHERIT_NO_SCALE && (parent->scaled || differs(scale, 1))) ||
                 (mode == INHERIT_COMPONENTWISE && (parent->scaled || unequal));
    warn_if(o, wrong, WARN_SCALE_INHERITED, model);
}

static void check_rotation(const objects *o, const object *model)
{
    double before[3], after[3], geometric[3];
    read_vector(o, model, "PreRotation", 0, before);
    read_vector(o, model, "PostRotation", 0, after);
    read_vector(o, model, "GeometricRotation", 0, geometric);
    bool ordered = fbx_integer(find_property(o, model, "RotationOrder"), 4, 0) != 0;
    bool active = fbx_integer(find_property(o, model, "RotationActive"), 4, 0) != 0;
    bool ignored = !active && (ordered || differs(before, 0) || differs(after, 0));
    warn_if(o, ignored, WARN_ROTATION_INACTIVE, model);
    warn_if(o, ordered && differs(geometric, 0), WARN_ROTATION_ORDER, model);
}

static bool extrapolates(const object *curve, const char *side)
{
    const fbx_record *type = find_fbx_record(find_fbx_record(curve->record, NULL, side), NULL, "Type");
    return type && fbx_integer(type, 0, 'C') != 'C';
}

/* Expands the flags to one per key: FLAGS holds for COUNT keys each. NULL if the counts do not add up. */
static const uint16_t *read_modes(const objects *o, const object *curve, uint32_t key_count)
{
    uint32_t flag_count, run_count, key = 0;
    const double *flags = read_fbx_numbers(o->s, find_fbx_record(curve->record, NULL, "KeyAttrFlags"), &flag_count);
    const double *runs = read_fbx_numbers(o->s, find_fbx_record(curve->record, NULL, "KeyAttrRefCount"), &run_count);
    uint16_t *modes = make(o->s, uint16_t, key_count);
    for (uint32_t r = 0; r < run_count && r < flag_count; r++)
        for (double k = 0; k < runs[r] && key < key_count; k++)
            modes[key++] = (uint16_t)((uint32_t)(int64_t)flags[r] & 0xffff);
    return key == key_count ? modes : NULL;
}

/* Estimates how far the curve departs from the straight line between keys k and k + 1. A smooth curve through its
 * neighbours departs by an eighth of its second difference. User tangents may do anything. */
static double bend(const double *times, const double *values, const uint16_t *modes, uint32_t count, uint32_t k)
{
    double step = fabs(values[k + 1] - values[k]), most = 0;
    if (!(modes[k] & KEY_CUBIC))
        return 0;
    if (modes[k] & KEY_USER_TANGENT)
        return times[k + 1] - times[k] > TICKS_A_SECOND / 20 ? step / 4 : step / 16;
    for (uint32_t m = k > 0 ? k : 1; m <= k + 1 && m + 1 < count; m++) {
        double before = (values[m] - values[m - 1]) / (times[m] - times[m - 1]),
               after = (values[m + 1] - values[m]) / (times[m + 1] - times[m]);
        most = fmax(most, fabs(after - before) * (times[k + 1] - times[k]) / 8);
    }
    return most;
}

/* Finds out what a curve does between and beyond its keys. */
static void check_curve(const objects *o, const object *node, const object *curve)
{
    uint32_t count, value_count;
    const double *times = read_fbx_numbers(o->s, find_fbx_record(curve->record, NULL, "KeyTime"), &count);
    const double *values = read_fbx_numbers(o->s, find_fbx_record(curve->record, NULL, "KeyValueFloat"), &value_count);
    const uint16_t *modes = read_modes(o, curve, count);
    if (!times || !values || !modes || value_count != count)
        return;
    bool steps = false, bends = false;
    for (uint32_t k = 0; k + 1 < count; k++) {
        steps |= (modes[k] & KEY_CONSTANT) && values[k + 1] != values[k];
        bends |= bend(times, values, modes, count, k) > node->noticeable;
    }
    bool beyond = extrapolates(curve, "Pre-Extrapolation") || extrapolates(curve, "Post-Extrapolation");
    warn_if(o, steps, WARN_CURVE_STEPS, node->parent);
    warn_if(o, bends, WARN_CURVE_BENDS, node->parent);
    warn_if(o, beyond, WARN_CURVE_BEYOND, node->parent);
}

/* The keys of an angle, in degrees. */
typedef struct angle {
    double still; /* without keys */
    const double *times, *values;
    uint32_t count, next; /* next: the first key after the time that was asked for last */
} angle;

/* Linear between keys. Times must ascend from call to call. */
static double angle_at(angle *a, double time)
{
    while (a->next < a->count && a->times[a->next] <= time)
        a->next++;
    if (a->count == 0)
        return a->still;
    if (a->next == 0 || a->next == a->count)
        return a->values[a->next == 0 ? 0 : a->count - 1];
    const double *t = a->times + a->next, *v = a->values + a->next;
    return v[-1] + (v[0] - v[-1]) * (time - t[-1]) / (t[0] - t[-1]);
}

/* The order is that of the axes that FBX turns about, the first one first. */
static void quat_from_angles(const double degrees[3], int64_t order, double out[4])
{
    static const uint8_t axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};
    const double whole[4] = {0, 0, 0, 1};
    memcpy(out, whole, sizeof whole);
    for (int i = 0; i < 3; i++) {
        const uint8_t axis = axes[order >= 0 && order < 6 ? order : 0][i];
        double turn[4] = {0, 0, 0, cos(degrees[axis] * PI / 360)}, product[4];
        turn[axis] = sin(degrees[axis] * PI / 360);
        th_quat_mul(turn, out, product);
        memcpy(out, product, sizeof product);
    }
}

/* Half-way, in degrees, how far angles that run evenly lead from the way that a quaternion takes. */
static double detour(const double a[3], const double b[3], int64_t order)
{
    double half[3], from[4], to[4], middle[4], sign, dot = 0, way[4], length = 0;
    for (int i = 0; i < 3; i++)
        half[i] = (a[i] + b[i]) / 2;
    quat_from_angles(a, order, from);
    quat_from_angles(b, order, to);
    quat_from_angles(half, order, middle);
    for (int i = 0; i < 4; i++)
        dot += from[i] * to[i];
    sign = dot < 0 ? -1 : 1;
    dot = 0;
    for (int i = 0; i < 4; i++) {
        way[i] = from[i] + sign * to[i];
        length += way[i] * way[i];
        dot += way[i] * middle[i];
    }
    return length > 0 ? 360 / PI * acos(fmin(fabs(dot) / sqrt(length), 1)) : 180;
}

static double next_time(const angle angles[3])
{
    double time = HUGE_VAL;
    for (int i = 0; i < 3; i++)
        if (angles[i].next < angles[i].count)
            time = fmin(time, angles[i].times[angles[i].next]);
    return time;
}

/* False if a curve is damaged. */
static bool read_angles(const objects *o, const object *node, angle out[3])
{
    double still[3];
    read_vector(o, node->parent, "Lcl Rotation", 0, still);
    for (int i = 0; i < 3; i++) {
        out[i] = (angle){.still = still[i]};
        if (!node->curve[i])
            continue;
        const fbx_record *curve = node->curve[i]->record;
        uint32_t count;
        out[i].times = read_fbx_numbers(o->s, find_fbx_record(curve, NULL, "KeyTime"), &out[i].count);
        out[i].values = read_fbx_numbers(o->s, find_fbx_record(curve, NULL, "KeyValueFloat"), &count);
        if (!out[i].times || !out[i].values || count != out[i].count)
            return false;
    }
    return true;
}

/* A rotation is played by quaternions, from key to key of any of its angles. So it is right at keys, but in between the
 * angles may have led another way. */
static void check_turns(const objects *o, const object *node)
{
    angle angles[3];
    double before[3], now[3], most = 0;
    const int64_t order = fbx_integer(find_property(o, node->parent, "RotationOrder"), 4, 0);
    if (!read_angles(o, node, angles))
        return;
    for (double time = next_time(angles), start = time; time < HUGE_VAL; time = next_time(angles)) {
        for (int i = 0; i < 3; i++)
            now[i] = angle_at(&angles[i], time);
        if (time > start)
            most = fmax(most, detour(before, now, order));
        memcpy(before, now, sizeof before);
    }
    warn_if(o, most > node->noticeable, WARN_CURVE_DETOUR, node->parent);
}

static void check_skin(const objects *o, const object *deformer)
{
    const fbx_record *type = find_fbx_record(deformer->record, NULL, "SkinningType");
    warn_if(o, is_fbx_text(type, 0, "DualQuaternion") || is_fbx_text(type, 0, "Blend"), WARN_SKIN_DUAL, deformer);
}

void read_fbx(scene *s)
{
    size_t size = 0;
    const char *file = has_format(s, "Autodesk FBX") ? th_read_whole_file(s->path, &size) : NULL;
    s->fbx = file ? parse_fbx_records(s, file, size) : NULL;
}

void say_fbx_limits(scene *s)
{
    const fbx_record *root = s->fbx;
    if (!root)
        return;
    const objects o = list_objects(s, root);
    connect_objects(&o, root);
    for (const object *each = o.all; each < o.all + o.count; each++) {
        if (each->kind == MODEL) {
            check_scale_inheritance(&o, each);
            check_rotation(&o, each);
        } else if (each->kind == CURVE_NODE && each->moves) {
            for (int i = 0; i < 3; i++)
                if (each->curve[i])
                    check_curve(&o, each, each->curve[i]);
            if (each->turns)
                check_turns(&o, each);
        } else if (each->kind == STACK) {
            warn_if(&o, each->layer_count > 1, WARN_CLIP_LAYERS, each);
        } else if (each->kind == OTHER) {
            check_skin(&o, each);
        }
    }
}
