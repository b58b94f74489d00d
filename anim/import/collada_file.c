/* The XML of a Collada file. Source of what curves are: Khronos, COLLADA 1.4.1 Specification, 2008, "Curve
 * Interpolation". */
#include "collada.h"

#include <libxml/hash.h>
#include <libxml/parser.h>
#include <libxml/xmlschemastypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NUMBERS (1u << 28)
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
        if (end == from || (*end && !strchr(BLANKS, *end)) || !(fabs(number) <= LARGEST))
            break;
        numbers[(*count)++] = number;
    }
    xmlFree(text);
    return numbers;
}

/* ---- the file, and what Assimp is given ---- */

void walk(scene *s, xmlNode *node, void (*visit)(scene *s, xmlNode *node))
{
    for (xmlNode *next; node; node = next) {
        next = node->next;
        visit(s, node);
        walk(s, node->children, visit);
    }
}

static void note_id(scene *s, xmlNode *node)
{
    const char *id = read_attribute(node, "id");
    if (*id)
        xmlHashAddEntry(s->collada->ids, (const xmlChar *)id, node);
}

/* Aims a skin or an instance at the mesh or the skin below morph controllers. */
static void skip_morphs(scene *s, xmlNode *node, const char *attribute)
{
    const char *given = read_attribute(node, attribute), *url = given;
    const xmlNode *morph;
    for (int chain = 0; chain < 8 && (morph = find_inside(find_id(s->collada, url), "morph")); chain++)
        url = read_attribute(morph, "source");
    if (url == given)
        return;
    warn(s, WARN_MORPH_CONTROLLER, 1, "mesh %s", read_name(s, url + (*url == '#')));
    xmlSetProp(node, (const xmlChar *)attribute, (const xmlChar *)url);
}

/* A skew of no angle does nothing. */
static void take_out_skew(scene *s, xmlNode *node)
{
    uint32_t count;
    const double *numbers = read_numbers(s, node, 1, &count);
    if (count == 0 || numbers[0] != 0)
        give_up(TH_ERR_INPUT, "node %.200s has a skew, which cannot be read", read_attribute(node->parent, "id"));
    xmlUnlinkNode(node);
}

static void check_weights(const xmlNode *node)
{
    const xmlNode *counts = find_inside(node, "vcount"), *v = counts;
    while (v && !is_element(v, "v"))
        v = v->next;
    if (!v && strtol(read_attribute(node, "count"), NULL, 10) != 0)
        give_up(TH_ERR_INPUT, "skin of %.200s has vertex_weights without vcount, or v behind it",
                read_attribute(node->parent, "source"));
}

static void check_primitives(scene *s, xmlNode *node)
{
    const bool empty = !find_inside(node, "p");
    warn(s, WARN_MESH_EMPTY, empty, "mesh %s", read_name(s, read_attribute(node->parent->parent, "id")));
    if (empty)
        xmlUnlinkNode(node);
}

static void trim(xmlNode *text)
{
    xmlChar *trimmed = xmlSchemaCollapseString(text->content);
    if (trimmed)
        xmlNodeSetContent(text, trimmed);
    xmlFree(trimmed);
}

/* Takes clips out, and takes out, changes or adds what Assimp 5.2.5 crashes on, refuses or misreads. It takes blanks
 * before a number for 0, and a skin without a bind_shape_matrix for one with zeros. */
static void mend(scene *s, xmlNode *node)
{
    const bool is_skin = is_element(node, "skin");
    if (is_element(node, "library_animations") || is_element(node, "library_animation_clips")) {
        xmlUnlinkNode(node);
        xmlAddChild(s->collada->animations, node);
    }
    if (is_skin && !find_inside(node, "bind_shape_matrix"))
        xmlNewTextChild(node, NULL, (const xmlChar *)"bind_shape_matrix",
                        (const xmlChar *)"1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1");
    if (is_skin || is_element(node, "instance_controller"))
        skip_morphs(s, node, is_skin ? "source" : "url");
    else if (is_element(node, "controller") && find_inside(node, "morph"))
        xmlUnlinkNode(node);
    else if (is_element(node, "skew"))
        take_out_skew(s, node);
    else if (is_element(node, "vertex_weights"))
        check_weights(node);
    else if (is_element(node->parent, "mesh") && find_inside(node, "input") && !is_element(node, "vertices"))
        check_primitives(s, node);
    else if (node->type == XML_TEXT_NODE && !node->prev && !node->next)
        trim(node);
}

/* NULL if it is not Collada. */
static xmlDoc *parse(const scene *s)
{
    const int options = XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
    const size_t size = s->byte_count;
    if (size > INT32_MAX || !memmem(s->bytes, size < 4096 ? size : 4096, "<COLLADA", 8) ||
        !strchr("<\xef" BLANKS, s->bytes[0]))
        return NULL;
    if (memmem(s->bytes, size, "<!ENTITY", 8))
        give_up(TH_ERR_INPUT, "declares XML entities, which are not read");
    xmlDoc *document = xmlReadMemory(s->bytes, (int)size, NULL, NULL, options);
    if (!document) /* old programs do not name their encoding */
        document = xmlReadMemory(s->bytes, (int)size, NULL, "ISO-8859-1", options);
    const xmlError *error = xmlGetLastError();
    if (!document)
        give_up(TH_ERR_INPUT, "is not XML (line %d: %s)", error ? error->line : 0, error ? error->message : "");
    return is_element(xmlDocGetRootElement(document), "COLLADA") ? document : NULL;
}

void read_collada(scene *s)
{
    xmlDoc *document = parse(s);
    if (!document)
        return;
    free(s->bytes);
    struct collada *c = s->collada = make(s, struct collada, 1);
    xmlChar *bytes = NULL;
    int size = 0;
    *c = (struct collada){xmlHashCreate(0), xmlDocGetRootElement(document),
                          xmlNewDocNode(document, NULL, (const xmlChar *)"animations", NULL), NULL};
    if (!c->ids || !c->animations)
        give_up_memory();
    walk(s, c->root, note_id);
    walk(s, c->root, mend);
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
    const unsigned long number = strtoul(text, NULL, 10);
    return *text && number < MOST_NUMBERS ? (uint32_t)number : otherwise;
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
    const bool good = *count > 0 && *width > 0 && offset + (uint64_t)*count * *width <= found;
    return good ? numbers + offset : NULL;
}

/* By key, the first letter of what follows: LINEAR, STEP, BEZIER or HERMITE; '?' is not known and goes straight. */
static const char *read_kinds(scene *s, const xmlNode *source, uint32_t count)
{
    xmlNode *array = find_inside(source, "Name_array");
    char *content = array ? (char *)xmlNodeGetContent(array) : NULL, *kinds = make(s, char, count);
    const char *text = content ? content : "";
    for (uint32_t k = 0; k < count; k++) {
        text += strspn(text, BLANKS);
        kinds[k] = strchr("LSBH", *text) && strncmp(text, "BSPLINE", 7) != 0 ? *text : '?';
        text += strcspn(text, BLANKS);
    }
    xmlFree(content);
    return kinds;
}

/* What the file says. */
typedef struct sampler {
    uint32_t count, width;
    const double *times, *values;
    const char *kinds;
    const double *tangents[2]; /* by key, of the piece that follows it and of that before; NULL: none */
    uint32_t tangent_widths[2];
    bool is_straight; /* where it should bend */
} sampler;

/* Reads both or none. */
static void read_tangents(scene *s, const xmlNode *node, sampler *m)
{
    static const char *const inputs[] = {"OUT_TANGENT", "IN_TANGENT"};
    const double *found[2];
    for (int side = 0; side < 2; side++) {
        uint32_t count, *width = &m->tangent_widths[side];
        found[side] = read_source(s, find_input(s, node, inputs[side]), &count, width);
        if (!found[side] || count < m->count || (*width != m->width && *width != 2 * m->width))
            return;
    }
    memcpy(m->tangents, found, sizeof found);
}

/* From a key to the next. A tangent is a time and a value, or a value alone, a third of the piece away; Hermite's lead
 * three times as far and begin at the key. */
static th_curve_piece read_piece(sampler *m, uint32_t k, uint32_t number)
{
    const double *t = m->times + k, *v = m->values + (size_t)k * m->width + number, ends[2] = {v[0], v[m->width]};
    const bool leads = m->kinds[k] == 'H', bends = leads || m->kinds[k] == 'B';
    m->is_straight |= m->kinds[k] == '?' || (bends && !m->tangents[0]);
    double times[2] = {1 / 3., 2 / 3.}, values[2];
    for (uint32_t side = 0; side < 2; side++) {
        const double third = side ? -1 / 3. : 1 / 3.;
        values[side] = ends[side] + third * (ends[1] - ends[0]);
        if (!bends || !m->tangents[0])
            continue;
        const uint32_t each = m->tangent_widths[side] / m->width; /* 2: with a time */
        const double *tangent = m->tangents[side] + (size_t)(k + side) * m->tangent_widths[side] + each * number;
        values[side] = leads ? ends[side] + third * tangent[each - 1] : tangent[each - 1];
        if (each == 2)
            times[side] = ((leads ? t[side] + third * tangent[0] : tangent[0]) - t[0]) / (t[1] - t[0]);
    }
    return (th_curve_piece){.holds = m->kinds[k] == 'S' || t[0] == t[1],
                            .leave_time = (float)fmin(fmax(times[0], 0), 1),
                            .arrive_time = (float)fmin(fmax(times[1], 0), 1),
                            .leave_value = (float)values[0],
                            .arrive_value = (float)values[1]};
}

/* Row by row. A scale of 0 has no rotation, and that of *trs stays. Returns how much of the matrix is shear. */
static double split_matrix(const double numbers[16], th_trs *trs)
{
    th_dmat34 matrix;
    th_trs split;
    memcpy(matrix.m, numbers, sizeof matrix.m);
    const double shear = th_dmat34_decompose_like(&matrix, trs->scale, &split), *q = split.rotation, *p = trs->rotation;
    const bool flat = split.scale[0] == 0 || split.scale[1] == 0 || split.scale[2] == 0,
               opposite = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3] < 0;
    for (int i = 0; i < 4; i++)
        trs->rotation[i] = flat ? p[i] : opposite ? -q[i] : q[i];
    memcpy(trs->translation, split.translation, sizeof split.translation);
    memcpy(trs->scale, split.scale, sizeof split.scale);
    return shear;
}

/* Makes matrices the numbers of th_trs. Keys without a rotation have that of the one before; at the start, that of the
 * first key which has one. */
static void split_matrices(scene *s, sampler *m, const char *where)
{
    th_trs *all = make(s, th_trs, m->count), trs = TH_TRS_IDENTITY;
    double worst = 0;
    for (uint32_t k = m->count; k-- > 0;)
        split_matrix(m->values + 16 * (size_t)k, &trs);
    for (uint32_t k = 0; k < m->count; k++) {
        worst = fmax(worst, split_matrix(m->values + 16 * (size_t)k, &trs));
        all[k] = trs;
    }
    warn(s, WARN_CLIP_SHEARED, worst > 1e-4, "%s", where);
    m->values = (const double *)all;
    m->width = sizeof *all / sizeof *m->values;
}

/* Whether the file says how the curve goes on before or behind its keys, other than holding. */
static bool goes_on(const xmlNode *node, const char *name)
{
    const char *rule = read_attribute(node, name);
    return *rule && strcmp(rule, "UNDEFINED") != 0 && strcmp(rule, "CONSTANT") != 0;
}

const th_curve *read_sampler(scene *s, const xmlNode *node, const char *where, uint32_t *width)
{
    sampler m = {0};
    uint32_t count, one;
    m.times = read_source(s, find_input(s, node, "INPUT"), &count, &one);
    m.values = read_source(s, find_input(s, node, "OUTPUT"), &m.count, &m.width);
    bool good = m.times && m.values && count == m.count && one == 1;
    for (uint32_t k = 1; good && k < count; k++)
        good = m.times[k] >= m.times[k - 1];
    warn(s, WARN_CURVE_DAMAGED, !good, "%s", where);
    if (!good)
        return NULL;
    *width = m.width;
    m.kinds = read_kinds(s, find_input(s, node, "INTERPOLATION"), count);
    if (m.width == 16)
        split_matrices(s, &m, where);
    else
        read_tangents(s, node, &m);
    warn(s, WARN_CURVE_BEYOND, goes_on(node, "pre_behavior") || goes_on(node, "post_behavior"), "%s", where);
    th_curve *curves = make(s, th_curve, m.width);
    for (uint32_t i = 0; i < m.width; i++) {
        float *values = make(s, float, count);
        th_curve_piece *pieces = make(s, th_curve_piece, count);
        for (uint32_t k = 0; k < count; k++)
            values[k] = (float)m.values[(size_t)k * m.width + i];
        for (uint32_t k = 0; k + 1 < count; k++)
            pieces[k] = read_piece(&m, k, i);
        curves[i] = (th_curve){count, m.times, values, pieces};
    }
    warn(s, WARN_CURVE_STRAIGHT, m.is_straight, "%s", where);
    return curves;
}
