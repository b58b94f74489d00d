#include "mesh.h"

#include <assert.h>
#include <math.h>

typedef struct influences {
    uint16_t joint[TH_MAX_INFLUENCES]; /* indices into the skin; 0 where the weight is 0 */
    float weight[TH_MAX_INFLUENCES];   /* for different joints; sum 1 up to float rounding */
} influences;

static influences gather(const th_vertex *vertex, const uint32_t *skin_place)
{
    uint32_t joint[TH_MAX_INFLUENCES] = {0}, count = 0;
    double weight[TH_MAX_INFLUENCES] = {0}, sum = 0;
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
        uint32_t i = 0, j = skin_place[vertex->bone[k]];
        if (!(vertex->weight[k] > 0))
            continue;
        while (i < count && joint[i] != j)
            i++;
        count += i == count;
        joint[i] = j;
        weight[i] += (double)vertex->weight[k];
        sum += (double)vertex->weight[k];
    }

    influences out = {0};
    double left = 1;
    for (uint32_t i = 1; i < count; i++) {
        out.weight[i] = (float)(weight[i] / sum);
        out.joint[i] = out.weight[i] > 0 ? (uint16_t)joint[i] : 0;
        left -= (double)out.weight[i];
    }
    out.weight[0] = (float)left; /* the largest weight absorbs the rounding error */
    out.joint[0] = (uint16_t)joint[0];
    return out;
}

/* glTF requires unit length. A normal too short to have a direction becomes straight up. */
static void unit_normal(const float normal[3], float out[3])
{
    double x = (double)normal[0], y = (double)normal[1], z = (double)normal[2];
    double length = sqrt(x * x + y * y + z * z);
    bool usable = length > 1e-12;
    out[0] = usable ? (float)(x / length) : 0;
    out[1] = usable ? (float)(y / length) : 1;
    out[2] = usable ? (float)(z / length) : 0;
}

/* In the order of the attributes in add_vertices. */
static void put_vertex(th_glb *glb, const th_vertex *vertex, const uint32_t *skin_place, bool narrow, uint32_t sets)
{
    influences in = gather(vertex, skin_place);
    uint8_t joint8[TH_MAX_INFLUENCES];
    float normal[3];
    unit_normal(vertex->normal, normal);
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
        joint8[k] = (uint8_t)in.joint[k];
    th_glb_put(glb, vertex->position, sizeof vertex->position);
    th_glb_put(glb, normal, sizeof normal);
    th_glb_put(glb, vertex->uv, sizeof vertex->uv);
    th_glb_put(glb, vertex->color, sizeof vertex->color);
    for (uint32_t k = 0; k < 4 * sets; k += 4) {
        th_glb_put(glb, narrow ? (const void *)(joint8 + k) : in.joint + k, narrow ? 4 : 8);
        th_glb_put(glb, in.weight + k, 16);
    }
}

static void box(const th_mesh *mesh, double min[3], double max[3])
{
    for (int i = 0; i < 3; i++) {
        min[i] = HUGE_VAL;
        max[i] = -HUGE_VAL;
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            min[i] = fmin(min[i], (double)mesh->vertices[v].position[i]);
            max[i] = fmax(max[i], (double)mesh->vertices[v].position[i]);
        }
    }
}

static bool needs_two_sets(const th_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        if (mesh->vertices[v].weight[4] > 0)
            return true;
    return false;
}

/* Returns the primitive's attributes, interleaved in one bufferView, which suits GPUs. */
static json_t *add_vertices(th_glb *glb, const th_mesh *mesh, const uint32_t *skin_place, bool narrow)
{
    const struct {
        const char *name, *type;
        int component;
        uint32_t bytes;
    } attributes[] = {
        {"POSITION", "VEC3", TH_GLB_F32, 12},
        {"NORMAL", "VEC3", TH_GLB_F32, 12},
        {"TEXCOORD_0", "VEC2", TH_GLB_F32, 8},
        {"COLOR_0", "VEC4", TH_GLB_U8, 4},
        {"JOINTS_0", "VEC4", narrow ? TH_GLB_U8 : TH_GLB_U16, narrow ? 4 : 8},
        {"WEIGHTS_0", "VEC4", TH_GLB_F32, 16},
        {"JOINTS_1", "VEC4", narrow ? TH_GLB_U8 : TH_GLB_U16, narrow ? 4 : 8},
        {"WEIGHTS_1", "VEC4", TH_GLB_F32, 16},
    };
    enum { POSITION = 0, COLOR = 3, ALL = sizeof attributes / sizeof *attributes };
    const uint32_t sets = needs_two_sets(mesh) ? 2 : 1;
    const int count = sets == 2 ? ALL : ALL - 2;
    uint32_t stride = 0;
    for (int i = 0; i < count; i++)
        stride += attributes[i].bytes;
    uint32_t view = th_glb_begin_view(glb, stride, TH_GLB_VERTICES);
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        put_vertex(glb, &mesh->vertices[v], skin_place, narrow, sets);
    th_glb_end_view(glb);

    double min[3], max[3];
    box(mesh, min, max);
    json_t *list = json_object();
    size_t start = glb->view_start;
    for (int i = 0; i < count; i++) {
        th_glb_accessor accessor = {
            .view = view,
            .start = start,
            .component = attributes[i].component,
            .type = attributes[i].type,
            .count = mesh->vertex_count,
            .normalized = i == COLOR,
            .min = i == POSITION ? min : NULL,
            .max = i == POSITION ? max : NULL,
            .extent = 3,
        };
        th_glb_set(glb, list, attributes[i].name, json_integer(th_glb_add_accessor(glb, &accessor)));
        start += attributes[i].bytes;
    }
    return list;
}

/* Two bytes per index if that is enough; 65535 would restart the primitive (section 3.7.2.1). */
static uint32_t add_indices(th_glb *glb, const th_mesh *mesh)
{
    const bool narrow = mesh->vertex_count <= UINT16_MAX;
    th_glb_accessor accessor = {
        .view = th_glb_begin_view(glb, 0, TH_GLB_INDICES),
        .start = glb->byte_count,
        .component = narrow ? TH_GLB_U16 : TH_GLB_U32,
        .type = "SCALAR",
        .count = mesh->index_count,
    };
    for (uint32_t i = 0; i < mesh->index_count; i++) {
        uint16_t index16 = (uint16_t)mesh->indices[i];
        th_glb_put(glb, narrow ? (const void *)&index16 : &mesh->indices[i], narrow ? 2 : 4);
    }
    th_glb_end_view(glb);
    return th_glb_add_accessor(glb, &accessor);
}

static json_t *add_deltas(th_glb *glb, const th_mesh *mesh, const th_morph_target *target, bool normals)
{
    double min[3] = {0}, max[3] = {0};
    th_glb_accessor accessor = {.view = th_glb_begin_view(glb, 0, TH_GLB_VERTICES),
                                .start = glb->byte_count,
                                .component = TH_GLB_F32,
                                .type = "VEC3",
                                .count = mesh->vertex_count,
                                .min = min,
                                .max = max,
                                .extent = 3};
    static const float still[3];
    uint32_t d = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const th_morph_delta *delta =
            d < target->delta_count && target->deltas[d].vertex == v ? &target->deltas[d++] : NULL;
        const float *numbers = !delta ? still : normals ? delta->normal : delta->position;
        th_glb_put(glb, numbers, sizeof still);
        for (int i = 0; i < 3; i++) {
            min[i] = v > 0 ? fmin(min[i], (double)numbers[i]) : (double)numbers[i];
            max[i] = v > 0 ? fmax(max[i], (double)numbers[i]) : (double)numbers[i];
        }
    }
    th_glb_end_view(glb);
    return json_integer(th_glb_add_accessor(glb, &accessor));
}

/* Targets of the primitive, and their weights at rest and names in the mesh. */
static void add_targets(th_glb *glb, const th_model *model, const th_mesh *mesh, json_t *primitive, json_t *out)
{
    json_t *targets = json_array(), *weights = json_array(), *names = json_array();
    for (uint32_t t = 0; t < mesh->target_count; t++) {
        const th_weight *weight = &model->weights[mesh->targets[t].weight];
        json_t *positions = add_deltas(glb, mesh, &mesh->targets[t], false),
               *normals = add_deltas(glb, mesh, &mesh->targets[t], true);
        th_glb_append(glb, targets, json_pack("{s:o, s:o}", "POSITION", positions, "NORMAL", normals));
        th_glb_append(glb, weights, json_real((double)weight->rest));
        th_glb_append(glb, names, th_glb_text(weight->name));
    }
    th_glb_set(glb, primitive, "targets", targets);
    th_glb_set(glb, out, "weights", weights);
    th_glb_set(glb, out, "extras", json_pack("{s:o}", "targetNames", names));
}

uint32_t th_export_mesh(const th_model *model, const th_mesh *mesh, const th_skins *skins, const th_skin *skin,
                        th_glb *glb)
{
    assert(mesh && skins && skin && glb);
    assert(mesh->index_count > 0 && mesh->index_count % 3 == 0 && skin->count > 0);
    json_t *attributes = add_vertices(glb, mesh, skins->place, skin->count <= UINT8_MAX + 1);
    json_int_t indices = (json_int_t)add_indices(glb, mesh);
    json_t *primitive = json_pack("{s:o, s:I, s:I}", "attributes", attributes, "indices", indices, "material",
                                  (json_int_t)mesh->material);
    json_t *out = json_pack("{s:o, s:[O]}", "name", th_glb_text(mesh->name), "primitives", primitive);
    if (mesh->target_count > 0)
        add_targets(glb, model, mesh, primitive, out);
    json_decref(primitive);
    return th_glb_add(glb, "meshes", out);
}
