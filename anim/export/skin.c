#include "skin.h"

#include <assert.h>
#include <string.h>

/* Marks with 1 the bones for which the mesh has weights, with 0 the others. Returns the number marked. */
static uint32_t mark_binds(const th_mesh *mesh, uint32_t bone_count, uint32_t *marks)
{
    uint32_t count = 0;
    memset(marks, 0, bone_count * sizeof *marks);
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
            if (mesh->vertices[v].weight[k] > 0)
                marks[mesh->vertices[v].bone[k]] = 1;
    for (uint32_t b = 0; b < bone_count; b++)
        count += marks[b];
    return count;
}

static th_result list_binds(th_skins *skins, uint32_t m, th_arena *arena, th_error *err)
{
    const th_model *model = skins->model;
    th_skin *skin = &skins->of_mesh[m];
    uint32_t count = mark_binds(&model->meshes[m], model->bone_count, skins->place);
    skin->bones = th_arena_new(arena, uint32_t, count);
    if (!skin->bones)
        return th_fail(err, TH_ERR_MEMORY, "out of memory");
    for (uint32_t b = 0; b < model->bone_count; b++) {
        if (!skins->place[b])
            continue;
        uint32_t joint = model->bones[b].joint;
        if (skin->count > 0 && model->bones[skin->bones[skin->count - 1]].joint == joint)
            return th_fail(err, TH_ERR_INPUT, "mesh %s is bound to joint %s in two ways, which glTF cannot hold",
                           model->meshes[m].name, model->joints[joint].name);
        skin->bones[skin->count++] = b;
    }
    return TH_OK;
}

th_result th_skins_init(th_skins *skins, const th_model *model, th_arena *arena, th_error *err)
{
    assert(skins && model && arena);
    *skins = (th_skins){
        .model = model,
        .of_mesh = th_arena_new(arena, th_skin, model->mesh_count),
        .place = th_arena_new(arena, uint32_t, model->bone_count),
    };
    if (!skins->of_mesh || !skins->place)
        return th_fail(err, TH_ERR_MEMORY, "out of memory");
    th_result result = TH_OK;
    for (uint32_t m = 0; result == TH_OK && m < model->mesh_count; m++)
        if (model->meshes[m].index_count > 0)
            result = list_binds(skins, m, arena, err);
    return result;
}

static uint32_t put_skin(const th_model *model, const th_skin *skin, th_glb *glb)
{
    assert(skin->count > 0);
    json_t *joints = json_array();
    th_glb_accessor matrices = {
        .view = th_glb_begin_view(glb, 0, TH_GLB_PLAIN),
        .start = glb->byte_count,
        .component = TH_GLB_F32,
        .type = "MAT4",
        .count = skin->count,
    };
    for (uint32_t i = 0; i < skin->count; i++) {
        const th_bone *bone = &model->bones[skin->bones[i]];
        const float *m = bone->inverse_bind.m;
        float columns[16] = {m[0], m[4], m[8], 0, m[1], m[5], m[9], 0, m[2], m[6], m[10], 0, m[3], m[7], m[11], 1};
        th_glb_put(glb, columns, sizeof columns);
        th_glb_append(glb, joints, json_integer(bone->joint));
    }
    th_glb_end_view(glb);
    json_int_t accessor = (json_int_t)th_glb_add_accessor(glb, &matrices);
    return th_glb_add(glb, "skins", json_pack("{s:I, s:o}", "inverseBindMatrices", accessor, "joints", joints));
}

static const th_skin *find_equal(const th_skins *skins, uint32_t mesh)
{
    const th_skin *skin = &skins->of_mesh[mesh], *other = skins->of_mesh;
    while (other != skin &&
           (other->count != skin->count || memcmp(other->bones, skin->bones, skin->count * sizeof *skin->bones) != 0))
        other++;
    return other;
}

const th_skin *th_skins_add(th_skins *skins, uint32_t mesh, th_glb *glb)
{
    assert(skins && glb && mesh < skins->model->mesh_count);
    assert(skins->of_mesh[mesh].count > 0); /* it has triangles */
    th_skin *skin = &skins->of_mesh[mesh];
    const th_skin *equal = find_equal(skins, mesh);
    skin->index = equal == skin ? put_skin(skins->model, skin, glb) : equal->index;
    for (uint32_t i = 0; i < skin->count; i++)
        skins->place[skin->bones[i]] = i;
    return skin;
}
