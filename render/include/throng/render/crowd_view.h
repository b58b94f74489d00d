/* A crowd and all it takes to draw it.
 *
 * A frame places the characters, picks those that the camera sees, has workers pose just these, straight into memory
 * that the GPU reads, and draws them. The context's thread calls; workers are the crowd_view's own. */
#ifndef THRONG_RENDER_CROWD_VIEW_H
#define THRONG_RENDER_CROWD_VIEW_H

#include <throng/core/api.h>
#include <throng/render/camera.h>
#include <throng/render/crowd_renderer.h>
#include <throng/render/gl.h>
#include <throng/render/layout.h>
#include <throng/render/render_mesh.h>
#include <throng/runtime/scene.h>
#include <throng/runtime/tracer.h>

TH_API_BEGIN

/* How characters are coloured. */
typedef enum th_look {
    TH_LOOK_NATURAL = 0, /* materials, and a tint for each character */
    TH_LOOK_LOD,         /* white, yellow, orange and red: levels of detail */
    TH_LOOK_SKELETON,    /* bones as lines */
    TH_LOOK_WORKERS,     /* a colour for each worker thread: who posed whom in this frame */
    TH_LOOK_COUNT,
} th_look;

/* "natural", "lod", "skeleton", "workers". */
const char *th_look_name(th_look look);

enum { TH_CROWD_VIEW_MAX_MODELS = 64 };

/* Zero is not a default: all of it says something. */
typedef struct th_crowd_view_desc {
    const th_model *models[TH_CROWD_VIEW_MAX_MODELS]; /* borrowed: must outlive the crowd_view */
    uint32_t clips[TH_CROWD_VIEW_MAX_MODELS];         /* as th_scene_desc */
    uint32_t model_count;
    th_compiled_model_desc compile;                  /* how models are compiled; its model is not looked at */
    const th_compiled_model *const *compiled_models; /* for each model, so compiled already, borrowed; NULL: none are */
    const th_instance *instances; /* as many as `count`, read by th_crowd_view_prepare; NULL: dealt by the seed */
    uint32_t count;               /* characters */
    uint64_t seed;
    th_layout_kind layout;
    th_look look;
    th_isa isa;
    th_palette palette;
    th_jobs_desc jobs; /* of the workers */
    th_ring_upload upload;
    th_fetch fetch;
    uint32_t shadow_pixels;                   /* as th_crowd_renderer_desc */
    double start_s, yaw_deg, pitch_deg, zoom; /* for th_crowd_view_camera */
} th_crowd_view_desc;

typedef struct th_crowd_view th_crowd_view;

/* Of the last frame. */
typedef struct th_crowd_view_stats {
    uint32_t posed; /* characters evaluated: those drawn, and casters of shadows out of sight */
    uint32_t posed_by_lod[TH_RENDER_MESH_LODS];   /* of these */
    uint32_t visible;                             /* characters drawn in the picture */
    uint32_t visible_by_lod[TH_RENDER_MESH_LODS]; /* of these */
    uint64_t cull_ns;                             /* placing, culling, sorting */
    uint64_t wait_ns;                             /* for the GPU to be done with the slot */
    uint64_t pose_ns;                             /* until the last palette was written */
    uint64_t draw_ns;                             /* telling the driver; a software renderer draws later */
} th_crowd_view_stats;

th_result th_crowd_view_create(const th_crowd_view_desc *desc, th_gl *gl, th_crowd_view **out, th_error *err);
void th_crowd_view_destroy(th_crowd_view *crowd_view); /* NULL does nothing */

/* ---- changing ----
 *
 * A crowd_view never changes; another one takes its place, and has the parts that the change does not concern from it:
 *
 *     th_crowd_view_prepare   on any thread, while the base goes on drawing: all that takes long
 *     th_crowd_view_complete  between two frames: threads, and what OpenGL keeps
 *     th_crowd_view_release    the one that is left, or the new one where something failed
 *
 * Either may draw a frame until one is retired. */

/* base: NULL has nothing to share; else it must not be retired meanwhile. */
th_result th_crowd_view_prepare(const th_crowd_view_desc *desc, const th_crowd_view *base, th_crowd_view **out,
                                th_error *err);
th_result th_crowd_view_complete(th_crowd_view *crowd_view, th_gl *gl, th_error *err);
void th_crowd_view_release(th_crowd_view *crowd_view,
                           const th_crowd_view *successor); /* destroys what is not the successor's as well */

/* ---- drawing ---- */

/* One that sees the whole crowd, from where the desc says; in the middle is who is there at its start. Asks
 * for every character: not for each frame. */
th_camera th_crowd_view_camera(const th_crowd_view *crowd_view, float aspect);

/* Fits near and far to the ground and all that stands on it. */
void th_crowd_view_fit_depth(const th_crowd_view *crowd_view, th_camera *camera);

/* From now on the stages of a frame are spans of the tracer (NULL: of none), and its figures counters. */
void th_crowd_view_trace(th_crowd_view *crowd_view, th_tracer *tracer);

/* False, and nothing is drawn, when the driver lost what was written twice in a row. */
bool th_crowd_view_frame(th_crowd_view *crowd_view, double time_s, const th_camera *camera, const th_target *target,
                         uint32_t width, uint32_t height);

/* The same up to drawing. False when the driver lost what was written. */
bool th_crowd_view_pose(th_crowd_view *crowd_view, double time_s, const th_camera *camera, uint32_t width,
                        uint32_t height);

/* What was last posed, drawn again with palettes that are in place. The last TH_RING_SLOTS frames must have been the
 * same. */
void th_crowd_view_redraw(th_crowd_view *crowd_view, const th_target *target);

th_crowd_view_stats th_crowd_view_get_stats(const th_crowd_view *crowd_view);
const th_scene *th_crowd_view_scene(const th_crowd_view *crowd_view);
const th_crowd_renderer *th_crowd_view_renderer(const th_crowd_view *crowd_view);
const th_ring *th_crowd_view_ring(const th_crowd_view *crowd_view);
const th_crowd *th_crowd_view_crowd(const th_crowd_view *crowd_view);
th_jobs *th_crowd_view_jobs(const th_crowd_view *crowd_view);

/* ---- one of them ---- */

/* The middle of a character, as it moves. */
typedef struct th_follow_target {
    float centre[3];
    float heading_rad; /* where it goes: 0 is along +Z, a quarter turn along +X */
    float height;
} th_follow_target;

th_follow_target th_crowd_view_follow_target(const th_crowd_view *crowd_view, uint32_t instance, double time_s);

/* The next one behind `instance`, or before it, that walks; where nobody does, the next of all. Goes round. */
uint32_t th_crowd_view_next_walker(const th_crowd_view *crowd_view, uint32_t instance, bool before);

TH_API_END

#endif
