/* What only the project uses of crowd views. */
#ifndef THRONG_RENDER_CROWD_VIEW_H
#define THRONG_RENDER_CROWD_VIEW_H

#include <anim/behaviour.h>
#include <render/crowd_renderer.h>
#include <render/cull.h>
#include <render/gpu_evaluator.h>
#include <render/hud.h>
#include <runtime/scene.h>
#include <runtime/tracer.h>

/* "natural", "lod", "skeleton", "workers", "error". */
const char *th_look_name(th_look look);

/* px: sorted by the function. */
th_screen_error_stats th_screen_error_stats_of(float *px, uint32_t count);

static inline bool th_budget_is_set(const th_budget_desc *budget)
{
    return budget->ms > 0 || budget->bones > 0;
}

/* What characters play, where clips and seed of the desc do not say it. Those with a behaviour never share a pose. */
typedef struct th_crowd_behaviour {
    th_behaviour_kind kind;
    th_blend blend;            /* valid if the kind is BLEND; one that is shared with a base goes on as it is */
    const th_spawn *instances; /* [count] read by th_crowd_view_prepare; NULL: as clips and seed say */
} th_crowd_behaviour;

/* The most frames for which any pose is held; at least 1. The ring has as many slots more, less one. */
uint32_t th_crowd_view_most_hold(const th_crowd_view_desc *desc);

/* What characters are posed and drawn as: their own model, or a joint level of it. */
typedef struct th_posed_model {
    const th_model *model;
    uint32_t of;    /* index of their own */
    uint32_t level; /* the finest with these joints */
} th_posed_model;

/* What one is made of, and how it works: all of it once it is complete; scene, crowd and palette once it is prepared.
 * All pointers are borrowed. */
typedef struct th_crowd_view_parts {
    const th_scene *scene;
    const th_render_mesh *const *meshes; /* [scene->compiled_model_count] of the models themselves, with warnings */
    const th_crowd *crowd;
    const th_crowd_renderer *renderer;
    const th_posed_model *posed_models; /* [mesh of the renderer] */
    const th_compiled_model *const *compiled_models;
    th_jobs *jobs;
    th_format palette; /* these are resolved: not AUTO */
    th_fetch fetch;
    th_ring_upload upload;
    size_t ring_bytes;
    th_evaluator evaluator, culling;   /* who poses, and who culls: CPU or GPU */
    th_gpu_mapping_choice gpu_mapping; /* how the GPU does that; zero where the CPU poses */
    const th_behaviour *behaviour;     /* NULL: none */
    /* The errors of the visible characters in the last frame that was measured: stats.error.count of them, ascending */
    const float *errors;
} th_crowd_view_parts;

/* Resolves TH_FORMAT_AUTO for a software renderer: F32, because there the vertex shader takes most of a frame, and
 * quaternions cost it more than they save. For a GPU it stays AUTO. */
th_format th_palette_for(th_format palette, const th_gl *gl);

/* th_crowd_view_create with a behaviour, which may be NULL, and with parts of a base, which may be NULL (below). */
th_result th_crowd_view_build(const th_crowd_view_desc *desc, const th_crowd_behaviour *behaviour,
                              const th_crowd_view *base, th_gl *gl, th_crowd_view **out, th_error *err);

/* ---- changing ----
 *
 * But for its blend a crowd view never changes. To change a setting, build another one, which shares the parts that the
 * change does not affect:
 *
 *     th_crowd_view_prepare   on any thread, while the base goes on drawing: all slow work
 *     th_crowd_view_complete  between two frames: threads and OpenGL objects
 *     th_crowd_view_release   the old one, or the new one when something failed
 *
 * Both may draw frames until one of them is released. */

/* base: may be NULL; of the same models; must not be released before the new one is complete. */
th_result th_crowd_view_prepare(const th_crowd_view_desc *desc, const th_crowd_behaviour *behaviour,
                                const th_crowd_view *base, th_crowd_view **out, th_error *err);
th_result th_crowd_view_complete(th_crowd_view *crowd_view, th_gl *gl, th_error *err);
void th_crowd_view_release(th_crowd_view *crowd_view,
                           const th_crowd_view *successor); /* keeps the parts that the successor shares */

/* ---- drawing ---- */

/* Draws what the colours of its look mean in the last frame, if they mean something: from x to the right, above
 * `bottom`. Between th_hud_begin and th_hud_end. Returns its height. */
float th_crowd_view_legend(const th_crowd_view *crowd_view, th_hud *hud, float x, float bottom);

/* From now on records the stages of a frame as spans and its statistics as counters. NULL: stops recording. */
void th_crowd_view_trace(th_crowd_view *crowd_view, th_tracer *tracer);

/* Goes over to another blend, from time_s on, between two frames: th_behaviour_set_blend. A crowd view that shares the
 * behaviour, whose desc has the same behaviour, layout, count and seed, goes over, too. */
void th_crowd_view_set_blend(th_crowd_view *crowd_view, const th_blend *blend, double time_s);

/* The blends of another crowd of the same models: th_behaviour_restore_blend. [model_count] */
void th_crowd_view_restore_blends(th_crowd_view *crowd_view, const th_blend_state *states);

/* th_crowd_view_frame without drawing, of a picture of width * height pixels; the GPU may still be posing, so with the
 * GPU evaluator fewer than TH_RING_SLOTS such calls may follow each other. False when the driver lost the written data
 * or has no memory.
 */
bool th_crowd_view_pose(th_crowd_view *crowd_view, double time_s, const th_camera *camera, uint32_t width,
                        uint32_t height);

/* Draws the last posed frame again, with palettes that are already in the ring. The last TH_RING_SLOTS frames must have
 * been the same. Not with poses that are held. */
void th_crowd_view_redraw(th_crowd_view *crowd_view, const th_target *target);

/* Draws what th_crowd_view_pose has posed. */
void th_crowd_view_draw(th_crowd_view *crowd_view, const th_target *target);

th_crowd_view_parts th_crowd_view_get_parts(const th_crowd_view *crowd_view);

/* As th_crowd_view_camera of a zoom that is not 0, which is 1 if it is. */
th_camera th_crowd_view_see_all(const th_crowd_view *crowd_view, float aspect, double shown_s);

/* Where a character stands, and a sphere around what it plays, at any heading: from the layout, whatever was drawn. */
void th_crowd_view_place(const th_crowd_view *crowd_view, uint32_t instance, double time_s, th_instance_transform *at,
                         th_sphere *sphere);

/* The sun of the last picture. False: no shadows. */
bool th_crowd_view_light(const th_crowd_view *crowd_view, th_cull_light *out);

/* ---- following a character ---- */

/* The middle of a moving character. */
typedef struct th_follow_target {
    float centre[3];
    float heading_rad; /* direction of movement: 0 is along +Z, a quarter turn along +X */
    float height;
} th_follow_target;

th_follow_target th_crowd_view_follow_target(const th_crowd_view *crowd_view, uint32_t instance, double time_s);

/* The next walking character after `instance`, or before it; if none walks, the next character. Wraps around. */
uint32_t th_crowd_view_next_walker(const th_crowd_view *crowd_view, uint32_t instance, bool before);

#endif
