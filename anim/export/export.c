/* Nodes come first, in the order of the joints, so that a joint's index is its node's. A common root, if several trees
 * need one, and a node for each mesh follow. There is one bufferView for each image, each skin, the vertices and the
 * indices of each mesh, and each clip.
 *
 * Section numbers in this folder refer to the glTF 2.0 specification. */
#include <throng/anim/export.h>

#include "clip.h"
#include "glb.h"
#include "mesh.h"
#include "skin.h"

#include <throng/core/arena.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* Text files print about four digits of a matrix, which shears it slightly. Below that, numbers of magnitude 1 computed
 * from floats differ by rounding. */
#define SHEAR_TOLERANCE 1e-4
#define UNIT_TOLERANCE  5e-7

typedef struct exporter {
    const th_model *model;
    th_arena *arena;  /* scratch */
    th_trs *rest;     /* by joint */
    uint32_t *images; /* by texture: its image, or TH_NO_INDEX */
    uint32_t *nodes;  /* by mesh: its node, or TH_NO_INDEX */
    th_skins skins;
    th_glb glb;
} exporter;

/* ---- nodes ---- */

/* Nodes have translation, rotation and scale. A node matrix must decompose into these as well (section 3.5.2), so it
 * could represent no more. */
static th_result split_rest(exporter *e, th_error *err)
{
    assert(e->rest);
    for (uint32_t j = 0; j < e->model->joint_count; j++) {
        th_dmat34 linear = th_dmat34_from(e->model->joints[j].rest);
        double translation[3];
        for (int i = 0; i < 3; i++) {
            translation[i] = linear.m[4 * i + 3];
            linear.m[4 * i + 3] = 0; /* so that a large translation does not hide shear */
        }
        th_trs *rest = &e->rest[j];
        if (th_dmat34_decompose(&linear, rest) > SHEAR_TOLERANCE)
            return th_fail(err, TH_ERR_INPUT, "joint %s has a sheared rest transform, which glTF cannot hold",
                           e->model->joints[j].name);
        for (int i = 0; i < 3; i++) {
            rest->translation[i] = translation[i];
            if (fabs(rest->scale[i] - 1) <= UNIT_TOLERANCE)
                rest->scale[i] = 1;
        }
    }
    return TH_OK;
}

static bool is_zero(const double v[3])
{
    return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

static void add_joint(exporter *e, uint32_t index)
{
    const th_joint *joint = &e->model->joints[index];
    const th_trs *rest = &e->rest[index];
    json_t *node = json_pack("{s:o}", "name", th_glb_text(joint->name));
    if (!is_zero(rest->translation))
        th_glb_set(&e->glb, node, "translation", th_glb_numbers(rest->translation, 3));
    if (!is_zero(rest->rotation))
        th_glb_set(&e->glb, node, "rotation", th_glb_numbers(rest->rotation, 4));
    if (rest->scale[0] != 1 || rest->scale[1] != 1 || rest->scale[2] != 1)
        th_glb_set(&e->glb, node, "scale", th_glb_numbers(rest->scale, 3));
    th_glb_add(&e->glb, "nodes", node);
}

static void add_child(exporter *e, json_t *parent, uint32_t child)
{
    json_t *children = json_object_get(parent, "children");
    if (!children) {
        children = json_array();
        th_glb_set(&e->glb, parent, "children", children);
    }
    th_glb_append(&e->glb, children, json_integer(child));
}

/* Clips and bones find a joint by name, so no other node may have it. */
static json_t *free_name(exporter *e, const char *name)
{
    while (name && th_model_find_joint(e->model, name) != TH_NO_INDEX)
        name = th_arena_format(e->arena, "%s-node", name);
    return name ? th_glb_text(name) : NULL;
}

/* The joints of a skin need a common root (section 3.7.3.1), which a model with several trees lacks. Takes the list of
 * their roots and returns the list of the new root. */
static json_t *join_trees(exporter *e, json_t *roots)
{
    json_t *node = json_pack("{s:o, s:o}", "name", free_name(e, "root"), "children", roots);
    return json_pack("[I]", (json_int_t)th_glb_add(&e->glb, "nodes", node));
}

/* Returns the list of the scene's roots. */
static json_t *add_joints(exporter *e)
{
    json_t *roots = json_array();
    for (uint32_t j = 0; j < e->model->joint_count; j++) {
        add_joint(e, j);
        uint32_t parent = e->model->joints[j].parent;
        if (parent == TH_NO_INDEX)
            th_glb_append(&e->glb, roots, json_integer(j));
        else
            add_child(e, json_array_get(json_object_get(e->glb.document, "nodes"), parent), j);
    }
    bool joined = json_array_size(roots) == 1 || e->model->mesh_count == 0;
    return joined ? roots : join_trees(e, roots);
}

/* ---- materials ---- */

/* The two image types of glTF (section 3.8.2), by their signatures. */
static const char *mime_type(const th_texture *texture)
{
    static const struct {
        const char *type;
        size_t size;
        uint8_t bytes[8];
    } signatures[] = {
        {"image/png", 8, {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}},
        {"image/jpeg", 3, {0xff, 0xd8, 0xff}},
    };
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (texture->byte_count > signatures[i].size &&
            memcmp(texture->bytes, signatures[i].bytes, signatures[i].size) == 0)
            return signatures[i].type;
    return NULL;
}

/* Adds an image and a texture of the same index, because th_texture has no sampler settings. */
static uint32_t add_image(exporter *e, const th_texture *texture)
{
    const char *type = mime_type(texture);
    if (!type)
        return TH_NO_INDEX;
    uint32_t view = th_glb_begin_view(&e->glb, 0, TH_GLB_PLAIN);
    th_glb_put(&e->glb, texture->bytes, texture->byte_count);
    th_glb_end_view(&e->glb);
    uint32_t image = th_glb_add(&e->glb, "images",
                                json_pack("{s:o, s:s, s:I}", "name", th_glb_text(texture->name), "mimeType", type,
                                          "bufferView", (json_int_t)view));
    th_glb_add(&e->glb, "textures", json_pack("{s:I}", "source", (json_int_t)image));
    return image;
}

static void add_alpha(exporter *e, const th_material *material, json_t *json)
{
    if (material->alpha == TH_ALPHA_OPAQUE)
        return;
    const bool mask = material->alpha == TH_ALPHA_MASK;
    th_glb_set(&e->glb, json, "alphaMode", json_string(mask ? "MASK" : "BLEND"));
    if (mask)
        th_glb_set(&e->glb, json, "alphaCutoff", json_real((double)material->alpha_cutoff));
}

static void add_material(exporter *e, const th_material *material)
{
    double color[4];
    for (int i = 0; i < 4; i++)
        color[i] = fmin(fmax((double)material->base_color[i], 0), 1);
    json_t *look = json_pack("{s:o, s:i}", "baseColorFactor", th_glb_numbers(color, 4), "metallicFactor", 0);
    uint32_t image = material->texture == TH_NO_INDEX ? TH_NO_INDEX : e->images[material->texture];
    if (image != TH_NO_INDEX)
        th_glb_set(&e->glb, look, "baseColorTexture", json_pack("{s:I}", "index", (json_int_t)image));
    json_t *json = json_pack("{s:o, s:o}", "name", th_glb_text(material->name), "pbrMetallicRoughness", look);
    add_alpha(e, material, json);
    if (material->double_sided)
        th_glb_set(&e->glb, json, "doubleSided", json_true());
    double light[3];
    for (int i = 0; i < 3; i++)
        light[i] = fmin((double)material->emissive[i], 1);
    if (!is_zero(light))
        th_glb_set(&e->glb, json, "emissiveFactor", th_glb_numbers(light, 3));
    th_glb_add(&e->glb, "materials", json);
}

/* ---- meshes ---- */

/* Adds the mesh and a node for it, which is a root of the scene, because a skinned mesh ignores its node's
 * transform. */
static void add_mesh(exporter *e, uint32_t index, json_t *roots)
{
    assert(index < e->model->mesh_count);
    const th_mesh *mesh = &e->model->meshes[index];
    e->nodes[index] = TH_NO_INDEX;
    if (mesh->index_count == 0)
        return; /* glTF has no mesh without triangles, and it would be invisible */
    const th_skin *skin = th_skins_add(&e->skins, index, &e->glb);
    json_int_t added = (json_int_t)th_export_mesh(e->model, mesh, &e->skins, skin, &e->glb);
    json_t *node =
        json_pack("{s:o, s:I, s:I}", "name", free_name(e, mesh->name), "mesh", added, "skin", (json_int_t)skin->index);
    e->nodes[index] = th_glb_add(&e->glb, "nodes", node);
    th_glb_append(&e->glb, roots, json_integer(e->nodes[index]));
}

/* ---- the whole file ---- */

static void add_everything(exporter *e)
{
    const th_model *model = e->model;
    for (uint32_t t = 0; t < model->texture_count; t++)
        e->images[t] = add_image(e, &model->textures[t]);
    for (uint32_t m = 0; m < model->material_count; m++)
        add_material(e, &model->materials[m]);
    json_t *roots = add_joints(e);
    for (uint32_t m = 0; m < model->mesh_count; m++)
        add_mesh(e, m, roots);
    th_glb_set(&e->glb, e->glb.document, "scene", json_integer(0));
    th_glb_add(&e->glb, "scenes", json_pack("{s:o, s:o}", "name", th_glb_text(model->name), "nodes", roots));
    const th_export_nodes nodes = {model, e->rest, e->nodes};
    for (uint32_t c = 0; c < model->clip_count; c++)
        th_export_clip(&e->glb, &model->clips[c], &nodes);
}

static th_result prepare(exporter *e, th_error *err)
{
    const th_model *model = e->model;
    e->arena = th_arena_create();
    if (e->arena) {
        e->rest = th_arena_new(e->arena, th_trs, model->joint_count);
        e->images = th_arena_new(e->arena, uint32_t, model->texture_count);
        e->nodes = th_arena_new(e->arena, uint32_t, model->mesh_count);
    }
    if (!e->rest || !e->images || !e->nodes)
        return th_fail(err, TH_ERR_MEMORY, "out of memory");
    th_result result = split_rest(e, err);
    return result == TH_OK ? th_skins_init(&e->skins, model, e->arena, err) : result;
}

static th_result export_model(const th_model *model, const char *path, th_error *err)
{
    exporter e = {.model = model};
    th_error why;
    th_result result = prepare(&e, &why);
    if (result == TH_OK) {
        th_glb_init(&e.glb);
        add_everything(&e);
        result = th_glb_write(&e.glb, path, err);
        th_glb_fini(&e.glb);
    } else {
        th_fail(err, result, "cannot write %s: %s: %s", path, model->name, why.text);
    }
    th_arena_destroy(e.arena);
    return result;
}

th_result th_export_glb(const th_model *model, const char *path, th_error *err)
{
    assert(model && path);
    th_model *dressed = NULL;
    th_result result = model->appearances.count > 0 ? th_model_dress(model, 0, &dressed, err) : TH_OK;
    if (result == TH_OK)
        result = export_model(dressed ? dressed : model, path, err);
    th_model_free(dressed);
    return result;
}
