/* A crowd and everything needed to draw it.
 *
 * A frame places the characters, culls those out of sight, poses only the others, straight into memory that the GPU
 * reads, all on the workers, and draws them. That memory grows with the number of visible characters. Or the GPU does
 * all of this, in memory for all characters. All calls on the context's thread unless a function says otherwise. The
 * crowd view owns its workers. */
#ifndef THRONG_RENDER_CROWD_VIEW_H
#define THRONG_RENDER_CROWD_VIEW_H

#include <anim/joint_lod.h>
#include <render/camera.h>
#include <render/crowd_renderer.h>
#include <render/gl.h>
#include <render/gpu_evaluator.h>
#include <render/layout.h>
#include <render/render_mesh.h>
#include <runtime/scene.h>
#include <runtime/tracer.h>

/* How characters are coloured. */
typedef enum th_look {
    TH_LOOK_NATURAL = 0, /* materials, and a tint for each character */
    TH_LOOK_LOD,         /* levels of detail, from white through yellow, red and blue to dark */
    TH_LOOK_SKELETON,    /* bones as lines */
    TH_LOOK_WORKERS,     /* a colour per worker thread: the one that posed the character in this frame */
    TH_LOOK_ERROR,       /* the error on screen of each character, measured in every frame */
    TH_LOOK_COUNT,
} th_look;

/* "natural", "lod", "skeleton", "workers", "error". */
const char *th_look_name(th_look look);

/* The error of a picture as people see it: for each visible character the largest distance in pixels between its skin
 * as drawn and as its compiled model puts it at its own time, in f32 (th_skin_error_px). Not what compiling a clip
 * costs, which is bounded in millimetres (th_compiled_model_desc.bound_m). Percentiles are nearest ranks: values of
 * characters. */
typedef struct th_screen_error_stats {
    uint32_t count; /* characters; 0: nothing was measured, or nobody is visible, and the rest is 0 too */
    float p50, p99, max;
} th_screen_error_stats;

/* px: sorted by the function. */
th_screen_error_stats th_screen_error_stats_of(float *px, uint32_t count);

enum { TH_CROWD_VIEW_MAX_MODELS = 64 };

/* How much time, or how many bones, posing may take in a frame (animation_budget.h). */
typedef struct th_budget_desc {
    double ms;
    uint64_t bones; /* not 0: instead of `ms` */
} th_budget_desc;

static inline bool th_budget_is_set(const th_budget_desc *budget)
{
    return budget->ms > 0 || budget->bones > 0;
}

/* Zero is not a default for any field. */
typedef struct th_crowd_view_desc {
    const th_model *models[TH_CROWD_VIEW_MAX_MODELS]; /* borrowed: must outlive the crowd_view */
    uint32_t clips[TH_CROWD_VIEW_MAX_MODELS];         /* as in th_scene_desc */
    uint32_t model_count;                             /* at least 1 */
    th_compiled_model_desc compile;                   /* how to compile models; its `model` is ignored */
    const th_compiled_model *const *compiled_models;  /* [model] borrowed; NULL: prepare compiles them */
    const th_spawn *instances; /* [count] read by th_crowd_view_prepare; NULL: generated from the seed */
    uint32_t count;            /* characters; at least 1. More than TH_GPU_INSTANCE_PALETTES: TH_ERR_LIMIT */
    uint64_t seed;
    th_layout_kind layout;
    bool surroundings; /* draws what stands and lies around the crowd of the layout. The two are a scene */
    th_behaviour_kind behaviour;
    th_blend blend; /* valid if the behaviour is BLEND; one that is shared with a base goes on as it is */
    th_look look;
    th_isa isa;
    th_format palette; /* AUTO: as th_palette_for says, in th_crowd_view_create; as in a crowd, in prepare */
    th_jobs_desc jobs; /* for the worker threads */
    th_ring_upload upload;
    th_fetch fetch;
    th_evaluator evaluator;
    th_gpu_mapping gpu_mapping; /* AUTO: measured in th_crowd_view_complete */
    uint32_t shadow_pixels;     /* as in th_crowd_renderer_desc */
    /* Poses and draws characters at coarse levels of detail with fewer joints and bones (joint_lod.h): at each level
     * with the joint level of the same error limit. The error of the mesh adds to that. */
    bool joint_lod;
    double share_hz;  /* steps per second in which poses are shared (sharing.h); 0: never */
    uint32_t far_lod; /* the finest level of detail whose characters share or hold their pose. Those with a behaviour
                         never share */
    /* Characters far away who do not share are posed anew in every hold-th frame (pose_plan.h), and stand until then
     * where they stood. 0 or 1: everyone in each frame; at most TH_POSE_MAX_HOLD. The ring has hold - 1 slots more. */
    uint32_t hold;
    th_budget_desc budget; /* zero: none. Otherwise it decides about joints, sharing and holding, and the four above say
                              nothing */
    double start_s, yaw_deg, pitch_deg, zoom; /* for th_crowd_view_camera; zoom above 0 */
    uint32_t error_every; /* measures the error on screen in every n-th frame, from the first on; 0: never. Such a frame
                             is posed twice, and more; others cost nothing */
} th_crowd_view_desc;

/* Sets layout, surroundings, and the camera's angles and zoom to those of a scene. */
void th_crowd_view_desc_set_scene(th_crowd_view_desc *desc, th_layout_kind kind);

/* The most frames for which any pose is held; at least 1. The ring has as many slots more, less one. */
uint32_t th_crowd_view_most_hold(const th_crowd_view_desc *desc);

typedef struct th_crowd_view th_crowd_view;

/* About the last frame. Where the GPU culls, numbers of characters, bones and palette bytes are those of the frame
 * TH_RING_SLOTS before, or 0, until th_crowd_view_await_stats; and cull_ns and pose_ns are the CPU's. */
typedef struct th_crowd_view_stats {
    uint32_t listed; /* characters drawn: the visible ones, and those out of sight with a visible shadow */
    uint32_t listed_by_lod[TH_RENDER_MESH_LODS]; /* the same by level of detail */
    uint32_t
        listed_by_joint_level[TH_LOD_LEVELS]; /* the same by joint level; levels that repeat another count as that */
    uint32_t visible;                         /* characters drawn in the picture */
    uint32_t visible_by_lod[TH_RENDER_MESH_LODS]; /* the same by level of detail */
    uint32_t evaluated;                           /* palettes; without sharing as many as are listed */
    uint32_t shared;                              /* listed characters beyond that, who read the palette of others */
    uint32_t held;                                /* and those who read one of their own of a frame before */
    uint32_t apart;       /* listed characters that are far, but have a behaviour, and so a palette of their own */
    uint64_t bones;       /* evaluated */
    size_t palette_bytes; /* evaluated, with padding */
    uint64_t cull_ns;     /* placing, culling, sorting, and planning who is posed */
    uint64_t wait_ns;     /* until the GPU was done with the ring slot */
    double tolerance_px;  /* of the budget; 0: each is posed by itself in full, or there is no budget */
    uint64_t evaluate_ns; /* part of pose_ns: evaluating palettes */
    uint64_t pose_ns;     /* posing, and writing where the listed characters stand */
    uint64_t draw_ns;     /* issuing GL commands; a software renderer draws later */
    uint64_t error_ns;    /* measuring the error on screen; in none of the others */
    th_screen_error_stats error; /* of the last frame that was measured */
} th_crowd_view_stats;

/* What one is made of, and how it works: all of it once it is complete; scene, crowd and palette once it is prepared.
 * All pointers are borrowed. */
typedef struct th_crowd_view_parts {
    const th_scene *scene;
    const th_render_mesh *const *meshes; /* [scene->compiled_model_count] of the models themselves, with warnings */
    const th_crowd *crowd;
    th_jobs *jobs;
    th_format palette; /* these are resolved: not AUTO */
    th_fetch fetch;
    th_ring_upload upload;
    size_t ring_bytes;
    th_evaluator evaluator, culling;   /* who poses, and who culls: CPU or GPU */
    th_gpu_mapping_choice gpu_mapping; /* how the GPU does that; zero where the CPU poses */
    /* That the CPU poses, or culls, although the desc asks for the GPU, or for AUTO on a GPU, and why: a sentence
     * without a full stop; "": it does not. */
    const char *fallback;
    /* The errors of the visible characters in the last frame that was measured: stats.error.count of them, ascending */
    const float *errors;
} th_crowd_view_parts;

/* Resolves TH_FORMAT_AUTO for a software renderer: F32, because there the vertex shader takes most of a frame, and
 * quaternions cost it more than they save. For a GPU it stays AUTO. */
th_format th_palette_for(th_format palette, const th_gl *gl);

th_result th_crowd_view_create(const th_crowd_view_desc *desc, th_gl *gl, th_crowd_view **out, th_error *err);
void th_crowd_view_destroy(th_crowd_view *crowd_view); /* NULL does nothing */

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
th_result th_crowd_view_prepare(const th_crowd_view_desc *desc, const th_crowd_view *base, th_crowd_view **out,
                                th_error *err);
th_result th_crowd_view_complete(th_crowd_view *crowd_view, th_gl *gl, th_error *err);
void th_crowd_view_release(th_crowd_view *crowd_view,
                           const th_crowd_view *successor); /* keeps the parts that the successor shares */

/* ---- drawing ---- */

/* With surroundings: a camera with the desc's angles that the scene fills, whatever its crowd, nearer by the zoom.
 * Without: a camera with the desc's angles and zoom, centred on the crowd at its start time. It sees the whole crowd
 * from then on for shown_s, which may be 0 or infinite: a clip that carries its character away is followed no farther.
 * Visits every character, so it is too slow for every frame. */
th_camera th_crowd_view_camera(const th_crowd_view *crowd_view, float aspect, double shown_s);

/* Sets near and far to enclose the ground and everything on it. */
void th_crowd_view_fit_depth(const th_crowd_view *crowd_view, th_camera *camera);

/* Whether frames do not depend on those before: the tolerance of the budget stays what it is, and no pose is held. */
void th_crowd_view_be_repeatable(th_crowd_view *crowd_view, bool is_repeatable);

/* From now on records the stages of a frame as spans and its statistics as counters. NULL: stops recording. */
void th_crowd_view_trace(th_crowd_view *crowd_view, th_tracer *tracer);

/* Goes over to another blend, from time_s on, between two frames: th_behaviour_set_blend. A crowd view that shares the
 * behaviour, whose desc has the same behaviour, layout, count and seed, goes over, too. */
void th_crowd_view_set_blend(th_crowd_view *crowd_view, const th_blend *blend, double time_s);

/* The blends of another crowd of the same models: th_behaviour_restore_blend. [model_count] */
void th_crowd_view_restore_blends(th_crowd_view *crowd_view, const th_blend_state *states);

/* The picture has width * height pixels, neither 0. Returns false and draws nothing when the driver lost the written
 * data twice in a row, or has no memory for the palettes of those that are visible. */
bool th_crowd_view_frame(th_crowd_view *crowd_view, double time_s, const th_camera *camera, const th_target *target,
                         uint32_t width, uint32_t height);

/* The same without drawing; the GPU may still be posing, so with the GPU evaluator fewer than TH_RING_SLOTS such calls
 * may follow each other. False when the driver lost the written data or has no memory.
 */
bool th_crowd_view_pose(th_crowd_view *crowd_view, double time_s, const th_camera *camera, uint32_t width,
                        uint32_t height);

/* Draws the last posed frame again, with palettes that are already in the ring. The last TH_RING_SLOTS frames must have
 * been the same. Not with poses that are held. */
void th_crowd_view_redraw(th_crowd_view *crowd_view, const th_target *target);

th_crowd_view_stats th_crowd_view_get_stats(const th_crowd_view *crowd_view);

/* Waits for the GPU where it culls, so that all statistics are about the last frame. */
void th_crowd_view_await_stats(th_crowd_view *crowd_view);

th_crowd_view_parts th_crowd_view_get_parts(const th_crowd_view *crowd_view);

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
