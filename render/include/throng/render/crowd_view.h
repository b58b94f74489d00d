/* A crowd and all it takes to draw it.
 *
 * A frame places the characters, picks those that the camera sees, has workers pose just these, straight into memory
 * that the GPU reads, and draws them. The context's thread calls; workers are the show's own. */
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

/* What a picture is to show. */
typedef enum th_look {
    TH_LOOK_NATURAL = 0, /* materials, and a tint for each character */
    TH_LOOK_LOD,         /* white, yellow, orange and red: levels of detail */
    TH_LOOK_SKELETON,    /* bones as lines */
    TH_LOOK_WORKERS,     /* a colour for each worker thread: who posed whom in this frame */
    TH_LOOK_COUNT,
} th_look;

/* "natural", "lod", "skeleton", "workers". */
const char *th_look_name(th_look look);

enum { TH_SHOW_MAX_MODELS = 64 };

/* Zero is not a default: all of it says something. */
typedef struct th_show_desc {
    const th_model *models[TH_SHOW_MAX_MODELS]; /* borrowed: must outlive the show */
    uint32_t clips[TH_SHOW_MAX_MODELS];         /* as th_scene_desc */
    uint32_t model_count;
    th_rig_desc rig;              /* how models are compiled; its model is not looked at */
    const th_rig *const *rigs;    /* for each model, so compiled already, borrowed; NULL: none are */
    const th_instance *instances; /* as many as `count`, read by th_show_prepare; NULL: dealt by the seed */
    uint32_t count;               /* characters */
    uint64_t seed;
    th_layout_kind layout;
    th_look look;
    th_isa isa;
    th_palette palette;
    th_jobs_desc jobs; /* of the workers */
    th_ring_upload upload;
    th_fetch fetch;
    uint32_t shadow_pixels;                   /* as th_painter_desc */
    double start_s, yaw_deg, pitch_deg, zoom; /* for th_show_camera */
} th_show_desc;

typedef struct th_show th_show;

/* Of the last frame. */
typedef struct th_show_stats {
    uint32_t posed;                        /* characters evaluated: those drawn, and casters of shadows out of sight */
    uint32_t posed_by_lod[TH_FIGURE_LODS]; /* of these */
    uint32_t shown;                        /* characters drawn in the picture */
    uint32_t by_lod[TH_FIGURE_LODS];       /* of these */
    uint64_t place_ns;                     /* placing, culling, sorting */
    uint64_t wait_ns;                      /* for the GPU to be done with the slot */
    uint64_t pose_ns;                      /* until the last palette was written */
    uint64_t draw_ns;                      /* telling the driver; a software renderer draws later */
} th_show_stats;

th_result th_show_create(const th_show_desc *desc, th_gl *gl, th_show **out, th_error *err);
void th_show_destroy(th_show *show); /* NULL does nothing */

/* ---- changing ----
 *
 * A show never changes; another one takes its place, and has the parts that the change does not concern from it:
 *
 *     th_show_prepare   on any thread, while the base goes on drawing: all that takes long
 *     th_show_complete  between two frames: threads, and what OpenGL keeps
 *     th_show_retire    the one that is left, or the new one where something failed
 *
 * Either may draw a frame until one is retired. */

/* base: NULL has nothing to share; else it must not be retired meanwhile. */
th_result th_show_prepare(const th_show_desc *desc, const th_show *base, th_show **out, th_error *err);
th_result th_show_complete(th_show *show, th_gl *gl, th_error *err);
void th_show_retire(th_show *show, const th_show *heir); /* destroys what is not the heir's as well */

/* ---- drawing ---- */

/* One that sees the whole crowd, from where the desc says; in the middle is who is there at its start. Asks
 * for every character: not for each frame. */
th_camera th_show_camera(const th_show *show, float aspect);

/* Fits near and far to the ground and all that stands on it. */
void th_show_fit_depth(const th_show *show, th_camera *camera);

/* From now on the stages of a frame are spans of the tracer (NULL: of none), and its figures counters. */
void th_show_trace(th_show *show, th_tracer *tracer);

/* False, and nothing is drawn, when the driver lost what was written twice in a row. */
bool th_show_frame(th_show *show, double time_s, const th_camera *camera, const th_target *target, uint32_t width,
                   uint32_t height);

/* The same up to drawing. False when the driver lost what was written. */
bool th_show_pose(th_show *show, double time_s, const th_camera *camera, uint32_t width, uint32_t height);

/* What was last posed, drawn again with palettes that are in place. The last TH_RING_SLOTS frames must have been the
 * same. */
void th_show_again(th_show *show, const th_target *target);

th_show_stats th_show_get_stats(const th_show *show);
const th_scene *th_show_scene(const th_show *show);
const th_painter *th_show_painter(const th_show *show);
const th_ring *th_show_ring(const th_show *show);
const th_crowd *th_show_crowd(const th_show *show);
th_jobs *th_show_jobs(const th_show *show);

/* ---- one of them ---- */

/* The middle of a character, as it moves. */
typedef struct th_character {
    float centre[3];
    float way_rad; /* where it goes: 0 is along +Z, a quarter turn along +X */
    float height;
} th_character;

th_character th_show_character(const th_show *show, uint32_t instance, double time_s);

/* The next one behind `instance`, or before it, that walks; where nobody does, the next of all. Goes round. */
uint32_t th_show_walker(const th_show *show, uint32_t instance, bool before);

TH_API_END

#endif
