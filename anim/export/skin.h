/* The joints that each mesh follows, as glTF skins. */
#ifndef TH_ANIM_EXPORT_SKIN_H
#define TH_ANIM_EXPORT_SKIN_H

#include "glb.h"

#include <throng/anim/model.h>
#include <throng/core/arena.h>

/* The bones of a mesh, ascending, and the skin that lists their joints in this order. */
typedef struct th_skin {
    uint32_t *bones;
    uint32_t count;
    uint32_t index; /* set by th_skins_add */
} th_skin;

typedef struct th_skins {
    const th_model *model;
    th_skin *of_mesh;
    uint32_t *place; /* by bone: its position in the most recently added skin, if it is in it */
} th_skins;

/* Finds the bones of each mesh with triangles. TH_ERR_INPUT if a mesh follows a joint by two bones: a skin lists a
 * joint once (section 3.7.3), and a second skin would not help, because a vertex may follow both. */
th_result th_skins_init(th_skins *skins, const th_model *model, th_arena *arena, th_error *err);

/* Adds the skin of a mesh, or finds that of an earlier mesh with the same bones, and sets `place` for it. Call with
 * ascending meshes. */
const th_skin *th_skins_add(th_skins *skins, uint32_t mesh, th_glb *glb);

#endif
