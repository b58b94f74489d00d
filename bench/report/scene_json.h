/* What a scene is made of, for the context of a report. */
#ifndef TH_REPORT_SCENE_JSON_H
#define TH_REPORT_SCENE_JSON_H

#include <throng/runtime/scene.h>

#include <jansson.h>

/* NULL when memory is out. scene: of desc, whatever its number of instances; NULL: nobody has compiled it, and which
 * clips play exact is not known. */
json_t *th_scene_json(const th_scene *scene, const th_scene_desc *desc);

#endif
