/* Materials while they are built: materials.c reads those of Assimp, gltf/gltf_materials.c those of glTF. */
#ifndef TH_ANIM_IMPORT_MATERIALS_H
#define TH_ANIM_IMPORT_MATERIALS_H

#include "scene.h"

/* Returns the index of the texture with this picture and sampler, which is read and added if it is new. */
uint32_t find_texture(scene *s, th_texture *textures, const char *name, th_sampler sampler);

/* Of a material that has its name. is_textured: what glows is in a texture. */
void set_base_color(scene *s, const float rgba[4], th_material *out);
void set_emissive(scene *s, const float rgb[3], bool is_textured, th_material *out);

/* For a glTF file. (gltf/gltf_materials.c) */
uint32_t count_gltf_materials(const scene *s);
void read_gltf_materials(scene *s, th_texture *textures, th_material *out);

#endif
