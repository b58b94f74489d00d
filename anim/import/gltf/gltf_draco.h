/* KHR_draco_mesh_compression: the C side of gltf_draco.cpp. */
#ifndef TH_ANIM_IMPORT_GLTF_DRACO_H
#define TH_ANIM_IMPORT_GLTF_DRACO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gltf_draco gltf_draco;

#ifdef TH_HAVE_DRACO

/* Decodes a mesh, which lives as long as the process. NULL if that fails. */
gltf_draco *gltf_draco_decode(const uint8_t *bytes, size_t size);

size_t gltf_draco_vertices(const gltf_draco *d);
size_t gltf_draco_triangles(const gltf_draco *d);
void gltf_draco_indices(const gltf_draco *d, uint32_t *out);

/* Numbers of an element; 0: no such attribute. */
uint32_t gltf_draco_width(const gltf_draco *d, uint32_t attribute);

/* normalized: integers stand for -1 to 1 or 0 to 1, as the accessor says. */
bool gltf_draco_floats(const gltf_draco *d, uint32_t attribute, bool normalized, float *out);
bool gltf_draco_integers(const gltf_draco *d, uint32_t attribute, uint32_t *out);
#else /* built without Draco: there is never a mesh, so nothing is asked of one */
#define gltf_draco_decode(bytes, size)            ((void)(bytes), (void)(size), (gltf_draco *)NULL)
#define gltf_draco_vertices(d)                    ((void)(d), (size_t)0)
#define gltf_draco_triangles(d)                   ((void)(d), (size_t)0)
#define gltf_draco_indices(d, out)                ((void)(d), (void)(out))
#define gltf_draco_width(d, id)                   ((void)(d), (void)(id), 0U)
#define gltf_draco_floats(d, id, normalized, out) ((void)(d), (void)(normalized), (void)(out), false)
#define gltf_draco_integers(d, id, out)           ((void)(d), (void)(out), false)
#endif

#ifdef __cplusplus
}
#endif

#endif
