/* Throng's renderer: crowds drawn with OpenGL 4.3, in a window, off screen, or in a context of the caller's.
 *
 * In this order: a context (th_gl_create), a target of some pixels (th_target_create), a view of a crowd
 * (th_crowd_view_create), a camera (th_crowd_view_camera), frames (th_crowd_view_frame), and th_target_resolve; then
 * th_target_show, th_target_read, or th_target_framebuffer.
 *
 * What throng.h says of spaces, memory and errors holds here. All calls with a context, and with what was made in it,
 * belong to the thread that created the context; with a window it must be the program's first thread. Cameras and
 * frame writers know no OpenGL: any thread, one at a time. */
#ifndef THRONG_RENDER_H
#define THRONG_RENDER_H

#include <throng/throng.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- contexts ----
 *
 * Several contexts may exist at a time; only the newest is current. */

typedef struct th_gl th_gl;
struct GLFWwindow;

typedef enum th_gl_want {
    TH_GL_ANY,      /* a window, or a context without one when there is no display */
    TH_GL_WINDOW,   /* a window, or an error */
    TH_GL_HEADLESS, /* no window, even if there is a display */
} th_gl_want;

/* The address of an OpenGL function, as glfwGetProcAddress and eglGetProcAddress return it. */
typedef void (*th_gl_loader(const char *name))(void);

typedef struct th_gl_desc {
    th_gl_want want;
    uint32_t width, height; /* of the window, in screen coordinates; 0: 1280 and 720 */
    const char *title;      /* of the window, UTF-8; NULL: "Throng" */
    bool vsync;             /* th_gl_swap waits for the display's refresh */
    bool debug;             /* th_gl_check reports what the driver complains of; slower */
    /* Takes the context that is current, in place of all above but `debug`, and leaves it to the caller. Calls change
     * what is bound, the viewport and GL_FRAMEBUFFER_SRGB. Other state has to be that of a new context when they begin,
     * and is so when they end. NULL: opens a context. */
    th_gl_loader *load;
    uint64_t reserved[4]; /* zero: for what comes later */
} th_gl_desc;

typedef enum th_gl_kind {
    TH_GL_KIND_WINDOW,      /* GLFW */
    TH_GL_KIND_DEVICE,      /* EGL on a device */
    TH_GL_KIND_SURFACELESS, /* EGL on a device that Mesa chooses */
    TH_GL_KIND_CURRENT      /* the caller's */
} th_gl_kind;

typedef struct th_gl_info {
    th_gl_kind kind;
    const char *vendor, *renderer, *version; /* as the driver reports them; valid as long as the context */
    bool software;                           /* the driver renders on the CPU */
    bool timer_queries;  /* results are reliable; those of software renderers are not, because they draw later */
    bool buffer_storage; /* ARB_buffer_storage: buffers can stay mapped */
    uint32_t vertex_storage_blocks;    /* most shader storage blocks in a vertex shader; at least 1 */
    uint32_t storage_offset_alignment; /* bytes; alignment of a storage block in its buffer */
    uint64_t storage_block_bytes;      /* size limit of a shader storage block */
    uint32_t shared_memory_bytes;      /* of a work group of a compute shader */
    uint64_t texture_buffer_texels;    /* size limit of a buffer texture */
    uint32_t max_samples;              /* for a th_target */
} th_gl_info;

/* Opens a context and makes it current on the calling thread. Without a window it tries, in this order: EGL on a GPU
 * device, EGL on Mesa's surfaceless platform, EGL on any device. TH_ERR_ENVIRONMENT lists every attempt and why it
 * failed. OpenGL older than 4.3 counts as a failure, and so do vertex shaders that cannot read storage blocks. */
th_result th_gl_create(const th_gl_desc *desc, th_gl **out, th_error *err);

/* All objects made in the context must have been destroyed. */
void th_gl_destroy(th_gl *gl);

const th_gl_info *th_gl_get_info(const th_gl *gl);

/* For input and the title; NULL without a window. The context owns it. */
struct GLFWwindow *th_gl_window(const th_gl *gl);

/* Shows the window's framebuffer. Without a window it only flushes, so that the driver starts on the work so far. */
void th_gl_swap(th_gl *gl);

/* Fails on an OpenGL error, or on a message of a debug context that no earlier call reported. `where` says what was
 * going on and begins the text. TH_ERR_MEMORY when the driver ran out of memory, otherwise TH_ERR_ENVIRONMENT. Waits
 * for the driver. */
th_result th_gl_check(th_gl *gl, const char *where, th_error *err);

/* ---- targets ----
 *
 * What is drawn to: 8-bit sRGB colour with alpha, 32-bit float depth, optional MSAA. The context must be current in
 * which the target was created. */

typedef struct th_target th_target;

typedef struct th_target_desc {
    uint32_t width, height; /* pixels, required */
    uint32_t samples;       /* per pixel; 0 and 1: no antialiasing. The driver may round up */
    uint64_t reserved[4];   /* zero: for what comes later */
} th_target_desc;

/* TH_ERR_ENVIRONMENT: a number is 0 or above the driver's limit, which the text names. TH_ERR_MEMORY. */
th_result th_target_create(const th_target_desc *desc, th_target **out, th_error *err);
void th_target_destroy(th_target *target);

/* Loses the content if the size changes. After an error the target is unchanged. */
th_result th_target_resize(th_target *target, uint32_t width, uint32_t height, th_error *err);

/* Averages the samples in linear light into the resolved picture, which the functions below use. Does nothing without
 * antialiasing. Leaves the target bound. */
void th_target_resolve(const th_target *target);

/* Copies the resolved picture to the whole window, which must exist; th_gl_swap shows it. Leaves the window's
 * framebuffer bound. */
void th_target_show(const th_target *target, const th_gl *gl);

/* OpenGL's name of the framebuffer with the resolved picture, to copy it from; valid until the size changes. */
uint32_t th_target_framebuffer(const th_target *target);

/* Size of the buffer for th_target_read. */
size_t th_target_bytes(const th_target *target);

/* Reads the resolved picture as stored: R, G, B, A per pixel (colours sRGB, alpha linear), no gaps between rows, top
 * row first. Waits until the picture is drawn. Leaves the target bound. */
void th_target_read(const th_target *target, uint8_t *out_rgba);

/* ---- files ----
 *
 * Writes pictures to files: one PNG, numbered PNGs, or a video through ffmpeg. Files are replaced as a whole: the old
 * content stays until a PNG is completely written or a video is closed. */

#define TH_FRAME_WRITER_MAX_SIDE   16384u
#define TH_FRAME_WRITER_MAX_PIXELS (1u << 26)

typedef struct th_frame_writer_desc {
    /* Required. The ending, in any case, chooses the format:
     *   .png                a picture. For several frames the name needs a place for the frame number, which counts
     *                       from 0: %d, or %04d for at least four digits (1 to 9). It may contain no other %
     *   .mp4 .mkv .webm .webp  a video: H.264, H.264, VP9, or a moving picture for a page. If a side is odd, its last
     *                       row or column is duplicated. The name may contain any % */
    const char *path;
    uint32_t width, height; /* pixels, required */
    uint32_t frame_count;   /* frames to come at most, required; a video needs at least one */
    double frames_per_s;    /* of a video; above 0, at most 1000 */
    uint64_t reserved[4];   /* zero: for what comes later */
} th_frame_writer_desc;

typedef struct th_frame_writer th_frame_writer;

/* Checks as much as possible before the first frame. TH_ERR_INPUT: a bad name or number, or the file cannot be written;
 * TH_ERR_LIMIT: the picture is too large; TH_ERR_ENVIRONMENT: no ffmpeg; TH_ERR_MEMORY. */
th_result th_frame_writer_open(const th_frame_writer_desc *desc, th_frame_writer **out, th_error *err);

/* rgba: width * height * 4 bytes, as th_target_read has them. Alpha is ignored. At most
 * th_frame_writer_desc.frame_count calls. After an error only th_frame_writer_abandon is allowed. TH_ERR_INPUT: a PNG
 * cannot be written. TH_ERR_ENVIRONMENT: ffmpeg failed; the text holds its message. TH_ERR_MEMORY. */
th_result th_frame_writer_add(th_frame_writer *writer, const uint8_t *rgba, th_error *err);

/* Finishes the output and frees the writer, even after an error. A video is moved to its place. Errors of
 * th_frame_writer_add. */
th_result th_frame_writer_close(th_frame_writer *writer, th_error *err);

/* Frees the writer and drops an unfinished video; PNGs that were added stay. NULL does nothing. */
void th_frame_writer_abandon(th_frame_writer *writer);

/* Encodes one picture as PNG in memory. The caller frees *out; rgba as for th_frame_writer_add. Each
 * side has 1 to TH_FRAME_WRITER_MAX_SIDE pixels. TH_ERR_MEMORY. */
th_result th_png_encode(const uint8_t *rgba, uint32_t width, uint32_t height, unsigned char **out, size_t *out_size,
                        th_error *err);

/* ---- cameras ----
 *
 * A perspective camera: plain data and pure functions. It looks along the -Z of its own space. One description serves
 * orbiting and flying: a target, and the eye at a distance from it. th_camera_orbit moves the eye around the target,
 * th_camera_turn the target around the eye, th_camera_move both. */

typedef struct th_camera {
    float target[3];
    float distance;  /* from the target to the eye; above 0 */
    float yaw_rad;   /* of the eye around the target: 0 is on the +Z side, a quarter turn on the +X side */
    float pitch_rad; /* of the eye above the target, from -pi/2 to pi/2; a quarter turn is straight above */
    float fov_y_rad; /* vertical field of view; above 0, below pi */
    float near_z;    /* nothing nearer than this along the view direction is drawn; above 0 */
    float far_z;     /* nothing farther than this is drawn; above near_z */
} th_camera;

/* Looks from `eye` to `target`, which must differ. Field of view 40 degrees, near 0.1, far 1000. */
th_camera th_camera_look_at(const float eye[3], const float target[3]);

/* Adds the angles. More yaw is counter-clockwise seen from above; more pitch looks further down. Pitch stops at
 * straight up and straight down. Yaw is kept within one turn, so that it keeps its precision. */
void th_camera_orbit(th_camera *camera, float yaw_rad, float pitch_rad);
void th_camera_turn(th_camera *camera, float yaw_rad, float pitch_rad);

/* Along the camera's own axes; scene units. */
void th_camera_move(th_camera *camera, float right, float up, float forward);

/* Multiplies the distance from the target by `factor`, which is above 0. */
void th_camera_zoom(th_camera *camera, float factor);

void th_camera_eye(const th_camera *camera, float out[3]);

/* To OpenGL's clip space, -w to w on all three axes: 4x4 for column vectors, column-major, as OpenGL takes it. aspect:
 * the picture's width divided by its height. */
void th_camera_clip(const th_camera *camera, float aspect, float out_clip_from_scene[16]);

/* ---- crowds ----
 *
 * A crowd view: a crowd and everything needed to draw it, with threads of its own. A frame places the characters, culls
 * those out of sight, poses only the others, straight into memory that the GPU reads, all on the workers, and draws
 * them. That memory grows with the number of visible characters. Or the GPU does all of this, in memory for all
 * characters. */

/* Where characters stand. The ground is Y = 0, the middle of the crowd is the origin. */
typedef enum th_layout_kind {
    TH_LAYOUT_GRID = 0, /* rows and columns, all looking along +Z. They wind outward from the middle, so more characters
                           move none of the others */
    TH_LAYOUT_RING,     /* circles around a free area, all looking at it. More characters move none of the others */
    TH_LAYOUT_STREET,   /* lanes along Z, as wide and long as the count requires; walkers keep to their right. A walker
                           that leaves at one end enters at the other. A character that does not walk stands beside
                           the lanes and looks at them. Everyone walks at the speed at which the feet do not slide, so
                           faster walkers pass through slower ones */
    TH_LAYOUT_PLAZA,    /* groups of up to five who look at each other, around a free area. More characters move none
                           of the others */
    TH_LAYOUT_STADIUM,  /* rows of seats around a pitch, one above the other, all looking at it; as many rows as the
                           count requires. Neighbours are closer than the spacing */
    TH_LAYOUT_COUNT,
} th_layout_kind;

/* How characters are coloured. */
typedef enum th_look {
    TH_LOOK_NATURAL = 0, /* materials, and a tint for each character */
    TH_LOOK_LOD,         /* levels of detail, from white through yellow, red and blue to dark */
    TH_LOOK_SKELETON,    /* bones as lines */
    TH_LOOK_WORKERS,     /* a colour per worker thread: the one that posed the character in this frame */
    TH_LOOK_ERROR,       /* the error on screen of each character, measured in every frame */
    TH_LOOK_COUNT,
} th_look;

/* How palettes come to the GPU. */
typedef enum th_ring_upload {
    TH_RING_AUTO = 0,       /* COPIED on a GPU, PERSISTENT without; UNSYNCHRONIZED if the driver supports neither */
    TH_RING_PERSISTENT,     /* mapped once (ARB_buffer_storage) */
    TH_RING_UNSYNCHRONIZED, /* mapped each frame, without waiting for the GPU; fences do that */
    TH_RING_COPIED,         /* as PERSISTENT, and copied to memory of the GPU before it is read there */
    TH_RING_UPLOAD_COUNT,
} th_ring_upload;

/* How the vertex shader reads palettes. The choice does not change the picture. */
typedef enum th_fetch {
    TH_FETCH_AUTO = 0, /* TEXTURE for software renderers, which read storage blocks slowly; otherwise STORAGE */
    TH_FETCH_STORAGE,  /* a shader storage block */
    TH_FETCH_TEXTURE,  /* a buffer texture on the same memory */
    TH_FETCH_COUNT,
} th_fetch;

/* Who turns keys into palettes. */
typedef enum th_evaluator {
    TH_EVALUATOR_CPU = 0, /* the kernels, on all workers */
    TH_EVALUATOR_GPU,     /* the shader; the kernels where it cannot */
    TH_EVALUATOR_AUTO,    /* the CPU where the driver renders on the CPU, otherwise the GPU */
    TH_EVALUATOR_COUNT,
} th_evaluator;

/* How the GPU shares out that work among invocations of the shader. The bytes are the same. */
typedef enum th_gpu_mapping {
    TH_GPU_MAPPING_AUTO = 0,  /* the faster one, as measured on the crowd at hand */
    TH_GPU_MAPPING_CHARACTER, /* an invocation a character, 64 in a work group */
    TH_GPU_MAPPING_JOINT,     /* a work group of 32 a character, an invocation for a joint at a time */
    TH_GPU_MAPPING_COUNT,
} th_gpu_mapping;

/* How much time, or how many bones, posing may take in a frame. */
typedef struct th_budget_desc {
    double ms;
    uint64_t bones; /* not 0: instead of `ms` */
} th_budget_desc;

#define TH_RENDER_MESH_LODS      10 /* levels of detail, 0 the finest */
#define TH_CROWD_VIEW_MAX_MODELS 64u
#define TH_CROWD_VIEW_MAX_HOLD   8u
#define TH_CROWD_VIEW_MAX_COUNT  (1u << 22)

typedef struct th_crowd_view_desc {
    const th_model *models[TH_CROWD_VIEW_MAX_MODELS]; /* borrowed: must outlive the crowd view */
    uint32_t clips[TH_CROWD_VIEW_MAX_MODELS];         /* of each model: what all play; TH_NO_INDEX: a mix of those in
                                                         which nobody dies, sits or lies, and that are no poses */
    uint32_t model_count;                             /* required */
    th_compiled_model_desc compile;                   /* how to compile models; its `model` is ignored */
    const th_compiled_model *const *compiled_models;  /* [model] borrowed, in place of `models`; NULL: none */
    uint32_t count; /* characters, required; models in turn; more than TH_CROWD_VIEW_MAX_COUNT: TH_ERR_LIMIT */
    uint64_t seed;  /* of their phases, speeds, and clips in a mix */
    th_layout_kind layout;
    bool surroundings; /* draws what stands and lies around the crowd of the layout. The two are a scene */
    th_look look;
    th_isa isa;
    th_format palette; /* AUTO: F32 for a software renderer, whose vertex shader takes most of a frame; else as in a
                          crowd */
    th_jobs_desc jobs; /* for the worker threads */
    th_ring_upload upload;
    th_fetch fetch;
    th_evaluator evaluator;
    th_gpu_mapping gpu_mapping;
    uint32_t shadow_pixels; /* width and height of the shadow map; 0: no shadows */
    /* Poses and draws characters at coarse levels of detail with fewer joints and bones: at each level with as few as
     * the same error limit allows. The error of the mesh adds to that. */
    bool joint_lod;
    double share_hz;  /* steps per second: far characters within the same one of a clip share a pose; 0: never */
    uint32_t far_lod; /* the finest level of detail whose characters share or hold their pose */
    /* Characters far away who do not share are posed anew in every hold-th frame, and stand until then where they
     * stood. 0 or 1: everyone in each frame; at most TH_CROWD_VIEW_MAX_HOLD. */
    uint32_t hold;
    th_budget_desc budget; /* zero: none. Otherwise it decides about joints, sharing and holding, and the four above say
                              nothing */
    double start_s, yaw_deg, pitch_deg, zoom; /* for th_crowd_view_camera */
    uint32_t error_every; /* measures the error on screen in every n-th frame, from the first on; 0: never. Such a frame
                             is posed twice, and more; others cost nothing */
    uint64_t reserved[4]; /* zero: for what comes later */
} th_crowd_view_desc;

/* Sets layout, surroundings, and the camera's angles and zoom to those of a scene. */
void th_crowd_view_desc_set_scene(th_crowd_view_desc *desc, th_layout_kind kind);

typedef struct th_crowd_view th_crowd_view;

/* Compiles what is not compiled, and takes seconds for large models. Errors: those of compiling models, of crowds and
 * of threads; TH_ERR_ENVIRONMENT where a shader does not compile, or a shadow map, an image or a palette exceeds the
 * driver's limits. */
th_result th_crowd_view_create(const th_crowd_view_desc *desc, th_gl *gl, th_crowd_view **out, th_error *err);
void th_crowd_view_destroy(th_crowd_view *crowd_view);

/* That the CPU poses, or culls, although the desc asks for the GPU, or for AUTO on a GPU, and why: a sentence without a
 * full stop; "": it does not. */
const char *th_crowd_view_fallback(const th_crowd_view *crowd_view);

/* With surroundings: a camera with the desc's angles that the scene fills, whatever its crowd, nearer by the zoom.
 * Without, and of zoom 0: above the heads at that corner of a grid from which the angles look, so that the crowd goes
 * on beyond the picture. Such a grid, and scenes, are closer and looser than a grid of another zoom, in which nobody
 * can touch a neighbour. Otherwise, of fewer than 36, or looking down at 40 degrees and more: centred on the crowd at
 * its start time, nearer by the zoom. It sees the whole crowd from then on for shown_s, which may be 0 or infinite: a
 * clip that carries its character away is followed no farther. Visits every character, so it is too slow for every
 * frame. */
th_camera th_crowd_view_camera(const th_crowd_view *crowd_view, float aspect, double shown_s);

/* Sets near and far to enclose the ground and everything on it: for a camera that was moved. */
void th_crowd_view_fit_depth(const th_crowd_view *crowd_view, th_camera *camera);

/* Draws the crowd at a time. Returns false and draws nothing when the driver lost the written data twice in a row, or
 * has no memory for the palettes of those that are visible. */
bool th_crowd_view_frame(th_crowd_view *crowd_view, double time_s, const th_camera *camera, const th_target *target);

/* The error of a picture as people see it: for each visible character the largest distance in pixels between its skin
 * as drawn and as its compiled model puts it at its own time, in f32. Not what compiling a clip costs, which is bounded
 * in millimetres (th_compiled_model_desc.bound_m). Percentiles are nearest ranks: values of characters. */
typedef struct th_screen_error_stats {
    uint32_t count; /* characters; 0: nothing was measured, or nobody is visible, and the rest is 0 too */
    float p50, p99, max;
} th_screen_error_stats;

/* About the last frame. Where the GPU culls, numbers of characters, bones and palette bytes are those three frames
 * before, or 0, until th_crowd_view_await_stats; and cull_ns and pose_ns are the CPU's. */
typedef struct th_crowd_view_stats {
    uint32_t listed; /* characters drawn: the visible ones, and those out of sight with a visible shadow */
    uint32_t listed_by_lod[TH_RENDER_MESH_LODS]; /* the same by level of detail */
    /* The same by level of detail of the joints; levels that repeat another count as that. */
    uint32_t listed_by_joint_level[TH_RENDER_MESH_LODS];
    uint32_t visible;                             /* characters drawn in the picture */
    uint32_t visible_by_lod[TH_RENDER_MESH_LODS]; /* the same by level of detail */
    uint64_t triangles, finest_triangles;         /* of those: as they are drawn, and at level 0 */
    uint32_t draw_calls;                          /* of the picture and its shadow map */
    uint32_t evaluated;                           /* palettes; without sharing as many as are listed */
    uint32_t shared;                              /* listed characters beyond that, who read the palette of others */
    uint32_t held;                                /* listed characters who show their palette of an earlier frame */
    uint32_t apart;       /* listed characters that are far, but have a behaviour, and so a palette of their own */
    uint64_t bones;       /* evaluated */
    size_t palette_bytes; /* evaluated, with padding */
    uint64_t cull_ns;     /* placing, culling, sorting, and planning who is posed */
    uint64_t wait_ns;     /* until the GPU was done with the memory for palettes */
    double tolerance_px;  /* of the budget, the largest of the frames whose poses may be shown; 0: each is posed by
                             itself in full, or there is no budget */
    uint64_t evaluate_ns; /* part of pose_ns: evaluating palettes */
    uint64_t pose_ns;     /* posing, and writing where the listed characters stand */
    uint64_t draw_ns;     /* issuing GL commands; a software renderer draws later */
    uint64_t error_ns;    /* measuring the error on screen; in none of the others */
    th_screen_error_stats error; /* of the last frame that was measured */
} th_crowd_view_stats;

th_crowd_view_stats th_crowd_view_get_stats(const th_crowd_view *crowd_view);

/* Waits for the GPU where it culls, so that all statistics are about the last frame. */
void th_crowd_view_await_stats(th_crowd_view *crowd_view);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
