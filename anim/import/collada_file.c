/* The XML of a Collada file. Source of what curves are: Khronos, COLLADA 1.4.1 Specification, 2008, "Curve
 * Interpolation". */
#include "collada.h"

#include "files.h"

#include <libxml/hash.h>
#include <libxml/parser.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NUMBERS (1u << 28)
#define MOST         1e18 /* numbers beyond it are taken for damage */
#define BLANKS       " \t\r\n"

/* ---- elements ---- */

bool is_element(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

xmlNode *find_inside(const xmlNode *node, const char *name)
{
    xmlNode *child = node ? node->children : NULL;
    while (child && !is_element(child, name))
        child = child->next;
    return child;
}

const char *read_attribute(const xmlNode *node, const char *name)
{
    const xmlAttr *attribute = node ? xmlHasProp(node, (const xmlChar *)name) : NULL;
    const xmlNode *text = attribute ? attribute->children : NULL;
    return text && text->content ? (const char *)text->content : "";
}

xmlNode *find_id(const struct collada *c, const char *id)
{
    return xmlHashLookup(c->ids, (const xmlChar *)id + (*id == '#'));
}

double *read_numbers(scene *s, xmlNode *node, uint32_t most, uint32_t *count)
{
    char *text = (char *)xmlNodeGetContent(node), *end = text;
    const size_t room = text ? strlen(text) / 2 + 1 : 0; /* a digit and a blank each */
    double *numbers = make(s, double, most < room ? most : room);
    for (*count = 0; text && *count < most;) {
        char *from = end;
        const double number = strtod(from, &end);
        if (end == from || (*end && !strchr(BLANKS, *end)))
            break;
        numbers[(*count)++] = number;
    }
    xmlFree(text);
    return numbers;
}

/* ---- the file, and what Assimp is given ---- */

/* What a controller stands for: the mesh or the skin below morph controllers, or itself. */
static const char *find_morphed(const struct collada *c, const char *url)
{
    const xmlNode *morph;
    for (int chain = 0; chain < 8 && (morph = find_inside(find_id(c, url), "morph")); chain++)
        url = read_attribute(morph, "source");
    return url;
}

/* Notes ids, or, with all of them, takes out what Assimp 5.2.5 crashes on or refuses: skews, and morph controllers, in
 * whose place it is given what they morph. */
static void prepare(scene *s, xmlNode *node, bool ids)
{
    for (xmlNode *next; node; node = next) {
        next = node->next;
        const bool is_skin = is_element(node, "skin"),
                   is_morph = is_element(node, "controller") && find_inside(node, "morph");
        const char *id = read_attribute(node, "id"), *name = is_skin ? "source" : "url",
                   *url = read_attribute(node, name);
        if (ids && *id)
            xmlHashAddEntry(s->collada->ids, (const xmlChar *)id, node);
        prepare(s, node->children, ids);
        if (!ids && (is_skin || is_element(node, "instance_controller"))) {
            const char *morphed = find_morphed(s->collada, url);
            warn(s, WARN_MORPH_CONTROLLER, url != morphed, "mesh %s", read_name(s, morphed + (*morphed == '#')));
            if (url != morphed)
                xmlSetProp(node, (const xmlChar *)name, (const xmlChar *)make_string(s, "%s", morphed));
        }
        if (!ids && is_element(node, "skew")) {
            uint32_t count;
            const double *numbers = read_numbers(s, node, 1, &count);
            if (count == 0 || numbers[0] != 0)
                give_up(TH_ERR_INPUT, "node %.200s has a skew, which cannot be read",
                        read_attribute(node->parent, "id"));
        }
        if (!ids && (is_element(node, "skew") || is_morph))
            xmlUnlinkNode(node);
    }
}

/* NULL if it is not Collada. */
static xmlDoc *parse(scene *s)
{
    const int options = XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
    static const char *const encodings[] = {NULL, "ISO-8859-1"}; /* old programs do not name theirs */
    size_t size = 0;
    char *bytes = th_read_whole_file(s->path, &size);
    xmlDoc *document = NULL;
    const bool known = bytes && strchr("<\xef" BLANKS, bytes[0]) && size < INT32_MAX &&
                       memmem(bytes, size < 4096 ? size : 4096, "<COLLADA", 8);
    if (known && memmem(bytes, size, "<!ENTITY", 8))
        give_up(TH_ERR_INPUT, "declares XML entities, which are not read");
    for (int e = 0; e < 2 && bytes && size < INT32_MAX && !document && (known || e == 0); e++)
        document = xmlReadMemory(bytes, (int)size, NULL, encodings[e], options);
    const xmlError *error = xmlGetLastError();
    if (known && !document)
        give_up(TH_ERR_INPUT, "is not XML (line %d: %s)", error ? error->line : 0, error ? error->message : "");
    free(bytes);
    const xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
    return root && is_element(root, "COLLADA") ? document : NULL;
}

void read_collada(scene *s)
{
    xmlDoc *document = parse(s);
    if (!document)
        return;
    struct collada *c = s->collada = make(s, struct collada, 1);
    xmlChar *bytes = NULL;
    int size = 0;
    *c = (struct collada){xmlHashCreate(0), xmlDocGetRootElement(document),
                          xmlNewDocNode(document, NULL, (const xmlChar *)"animations", NULL), NULL};
    if (!c->ids || !c->animations)
        give_up_memory();
    prepare(s, c->root, true);
    prepare(s, c->root, false);
    for (xmlNode *next, *node = c->root->children; node; node = next) {
        next = node->next;
        if (is_element(node, "library_animations") || is_element(node, "library_animation_clips")) {
            xmlUnlinkNode(node);
            xmlAddChild(c->animations, node);
        }
    }
    xmlDocDumpMemoryEnc(document, &bytes, &size, "UTF-8");
    if (!bytes)
        give_up_memory();
    s->bytes = (char *)bytes;
    s->byte_count = (size_t)size;
}

/* ---- samplers ---- */

static xmlNode *find_input(scene *s, const xmlNode *node, const char *semantic)
{
    for (const xmlNode *e = node->children; e; e = e->next)
        if (is_element(e, "input") && strcmp(read_attribute(e, "semantic"), semantic) == 0)
            return find_id(s->collada, read_attribute(e, "source"));
    return NULL;
}

static uint32_t read_count(const xmlNode *node, const char *name, uint32_t otherwise)
{
    const char *text = read_attribute(node, name);
    const double number = strtod(text, NULL);
    return *text && number >= 0 && number < MOST_NUMBERS ? (uint32_t)number : otherwise;
}

/* Numbers of a source, as its accessor takes them from an array; NULL if they are not all there. */
static const double *read_source(scene *s, const xmlNode *source, uint32_t *count, uint32_t *width)
{
    const xmlNode *accessor = find_inside(find_inside(source, "technique_common"), "accessor");
    xmlNode *array = find_id(s->collada, read_attribute(accessor, "source"));
    uint32_t found = 0;
    const double *numbers = array ? read_numbers(s, array, MOST_NUMBERS, &found) : NULL;
    const uint32_t offset = read_count(accessor, "offset", 0);
    *count = read_count(accessor, "count", 0);
    *width = read_count(accessor, "stride", *count > 0 ? found / *count : 1); /* missing: 1, or forgotten */
    if (*count == 0 || *width == 0 || offset + (uint64_t)*count * *width > found)
        return NULL;
    for (uint32_t i = 0; i < *count * *width; i++)
        if (!(fabs(numbers[offset + i]) <= MOST))
            return NULL;
    return numbers + offset;
}

/* By first letters. Returns false if some are not known, which go straight. */
static bool read_kinds(scene *s, const xmlNode *source, sampler *m)
{
    xmlNode *array = find_inside(source, "Name_array");
    char *content = array ? (char *)xmlNodeGetContent(array) : NULL, *kinds = make(s, char, m->count);
    const char *text = content ? content : "";
    bool known = true;
    for (uint32_t k = 0; k < m->count; k++) {
        text += strspn(text, BLANKS);
        kinds[k] = strchr("LSBH", *text) && strncmp(text, "BSPLINE", 7) != 0 ? *text : '?';
        known &= kinds[k] != '?' || k + 1 == m->count;
        text += strcspn(text, BLANKS);
    }
    xmlFree(content);
    m->kinds = kinds;
    return known;
}

/* The inner points on one side of the keys: 0 before, 1 behind. Tangents without a time share it evenly. */
static const double *read_points(scene *s, const xmlNode *source, const sampler *m, uint32_t side)
{
    uint32_t count, width;
    const double *in = read_source(s, source, &count, &width);
    const bool has_time = width == 2 * m->width;
    if (!in || count < m->count || !(has_time || width == m->width))
        return NULL;
    double *out = make(s, double, 2 * (size_t)m->count * m->width);
    for (uint32_t k = 0; k < m->count; k++) {
        const uint32_t begin = k - (side == 0 && k > 0), end = begin + (begin + 1 < m->count);
        const bool relative = m->kinds[begin] == 'H'; /* and three times as far */
        const double third = (side ? 1 : -1) * (m->times[end] - m->times[begin]) / 3, factor = side ? 1 / 3. : -1 / 3.;
        for (uint32_t i = 0; i < m->width; i++) {
            const double *tangent = in + (size_t)k * width + (has_time ? 2 * i : i),
                         value = m->values[(size_t)k * m->width + i];
            double *point = out + 2 * ((size_t)k * m->width + i);
            point[0] = !has_time ? m->times[k] + third : relative ? m->times[k] + factor * tangent[0] : tangent[0];
            point[0] = fmin(fmax(point[0], m->times[begin]), m->times[end]);
            point[1] = relative ? value + factor * tangent[has_time] : tangent[has_time];
        }
    }
    return out;
}

double split_matrix(const double numbers[16], const double like[3], th_trs *out)
{
    th_dmat34 matrix;
    memcpy(matrix.m, numbers, sizeof matrix.m);
    const double shear = th_dmat34_decompose_like(&matrix, like, out);
    return th_quat_normalize(out->rotation) ? shear : 1;
}

/* Gives keys whose scale is 0, so that they have no rotation, that of the nearest key which has one. */
static const th_trs *split_matrices(scene *s, const sampler *m, const char *where)
{
    th_trs *all = make(s, th_trs, m->count);
    double like[3] = {1, 1, 1}, worst = 0;
    uint32_t *good = make(s, uint32_t, m->count), count = 0; /* keys with a rotation */
    for (uint32_t k = 0; k < m->count; k++) {
        worst = fmax(worst, split_matrix(m->values + 16 * (size_t)k, like, &all[k]));
        if (all[k].scale[0] != 0 && all[k].scale[1] != 0 && all[k].scale[2] != 0) {
            memcpy(like, all[k].scale, sizeof like);
            good[count++] = k;
        }
    }
    warn(s, WARN_CLIP_SHEARED, worst > 1e-4, "%s", where);
    for (uint32_t k = 0, g = 0; k < m->count && count > 0; k++) {
        while (g + 1 < count && fabs(m->times[good[g + 1]] - m->times[k]) < fabs(m->times[good[g]] - m->times[k]))
            g++;
        if (all[k].scale[0] == 0 || all[k].scale[1] == 0 || all[k].scale[2] == 0)
            memcpy(all[k].rotation, all[good[g]].rotation, sizeof all[k].rotation);
    }
    return all;
}

const sampler *read_sampler(scene *s, const xmlNode *node, const char *where)
{
    sampler *m = make(s, sampler, 1);
    uint32_t count, one;
    m->times = read_source(s, find_input(s, node, "INPUT"), &count, &one);
    m->values = read_source(s, find_input(s, node, "OUTPUT"), &m->count, &m->width);
    bool good = m->times && m->values && count == m->count && one == 1, bends = false;
    for (uint32_t k = 1; good && k < count; k++)
        good = m->times[k] >= m->times[k - 1];
    warn(s, WARN_CURVE_DAMAGED, !good, "%s", where);
    if (!good)
        return NULL;
    bool known = read_kinds(s, find_input(s, node, "INTERPOLATION"), m);
    for (uint32_t k = 0; k + 1 < m->count; k++)
        bends |= m->kinds[k] == 'B' || m->kinds[k] == 'H';
    if (bends && m->width < 16) {
        m->in = read_points(s, find_input(s, node, "IN_TANGENT"), m, 0);
        m->out = read_points(s, find_input(s, node, "OUT_TANGENT"), m, 1);
    }
    if (m->width == 16)
        m->transforms = split_matrices(s, m, where);
    warn(s, WARN_CURVE_STRAIGHT, !known || (bends && !(m->in && m->out)), "%s", where);
    return m;
}

/* How many keys are at or before the time, or before it. */
static uint32_t count_keys(const sampler *m, double time, bool before)
{
    uint32_t low = 0, high = m->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->times[middle] < time || (!before && m->times[middle] == time))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double cubic_at(const double p[4], double u)
{
    const double r = 1 - u;
    return r * r * r * p[0] + 3 * r * u * (r * p[1] + u * p[2]) + u * u * u * p[3];
}

/* On a Bezier curve of time and value. */
static double bezier_at(const double times[4], const double values[4], double time)
{
    double low = 0, high = 1;
    for (int i = 0; i < 54; i++) {
        const double middle = (low + high) / 2;
        *(cubic_at(times, middle) < time ? &low : &high) = middle;
    }
    return cubic_at(values, (low + high) / 2);
}

double sampler_at(const sampler *m, uint32_t number, double time, bool before)
{
    const uint32_t keys = count_keys(m, time, before), k = keys > 0 ? keys - 1 : 0;
    const size_t at = (size_t)k * m->width + number, next = at + m->width;
    if (keys == 0 || keys == m->count || m->kinds[k] == 'S')
        return m->values[at];
    const double *t = m->times + k;
    if ((m->kinds[k] != 'B' && m->kinds[k] != 'H') || !m->in || !m->out)
        return m->values[at] + (m->values[next] - m->values[at]) * ((time - t[0]) / (t[1] - t[0]));
    return bezier_at((double[]){t[0], m->out[2 * at], m->in[2 * next], t[1]},
                     (double[]){m->values[at], m->out[2 * at + 1], m->in[2 * next + 1], m->values[next]}, time);
}

void transform_at(const sampler *m, double time, bool before, th_trs *out)
{
    const uint32_t keys = count_keys(m, time, before), k = keys > 0 ? keys - 1 : 0;
    *out = m->transforms[k];
    if (keys == 0 || keys == m->count || m->kinds[k] == 'S')
        return;
    const th_trs *next = &m->transforms[k + 1];
    const double t = (time - m->times[k]) / (m->times[k + 1] - m->times[k]);
    const th_quat_arc arc = th_quat_arc_between(out->rotation, next->rotation);
    th_quat_arc_at(&arc, t, out->rotation);
    for (int i = 0; i < 3; i++) {
        out->translation[i] += (next->translation[i] - out->translation[i]) * t;
        out->scale[i] += (next->scale[i] - out->scale[i]) * t;
    }
}
