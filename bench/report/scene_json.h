/* The scene of a report's context, as JSON. */
#ifndef TH_REPORT_SCENE_JSON_H
#define TH_REPORT_SCENE_JSON_H

#include <throng/runtime/scene.h>

#include <jansson.h>

/* NULL when memory is out. scene: made from desc, with any number of instances; NULL when it was not compiled: then it
 * is unknown which clips play exact. */
json_t *th_scene_json(const th_scene *scene, const th_scene_desc *desc);

#endif
