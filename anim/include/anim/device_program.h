/* Compiled models and crowds for an evaluator that is not one of the kernels, such as a compute shader. It gets what
 * kernels read, once: the program of a model as words, and the keys of its clips. And in each frame a cursor for each
 * character: where its time is among the keys. With them it does what th_crowd_pose does. */
#ifndef THRONG_ANIM_DEVICE_PROGRAM_H
#define THRONG_ANIM_DEVICE_PROGRAM_H

#include <anim/crowd.h>

typedef struct th_device_program {
    th_keys keys;
    th_interpolation curve; /* between frames; never AUTHORED */
    uint32_t op_count;      /* joints that it computes transforms of; at least 1 */
    uint32_t slot_count;    /* transforms that are kept for later children at a time, depth first; at least 1 */
    uint32_t *words;        /* layout: anim/kernels/pose_constants.h */
    size_t word_count;
    void *frames; /* of all clips, then of the rest pose, as in the compiled model; without those that play exact */
    size_t frame_bytes, frames_bytes; /* of one and of all */
} th_device_program;

/* For palettes of this format, which the model can have. TH_ERR_MEMORY. After an error it is empty. */
th_result th_device_program_init(const th_compiled_model *compiled, th_format palette, th_device_program *out,
                                 th_error *err);
void th_device_program_fini(th_device_program *program);

/* Where a character is: between a frame, as an index into th_device_program.frames, and the next one. CUBIC: `frame` is
 * the one before that. */
typedef struct th_device_cursor {
    uint32_t frame;
    float alpha; /* 0 at the frame, 1 at the next one */
} th_device_cursor;

/* Fills in the cursors of the characters of batches [begin, end). out: of all active characters, in the order of
 * palettes; each is written once. Threads: as th_crowd_pose. */
void th_crowd_cursors(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, th_device_cursor *out);

/* What th_crowd_cursors reads, for a device that does the same (shaders/cull_list.comp). Stretches begin where the one
 * before ends, in clip lengths; `rate` is intervals per clip length. */
enum { TH_DEVICE_STRETCHES = 16 };

typedef struct th_device_stretch {
    double begin, rate;
    uint32_t first_frame, last_frame;
} th_device_stretch;

typedef struct th_device_clip {
    uint32_t first_frame, is_stepped, seeks_stretch, unused;
    th_device_stretch stretches[TH_DEVICE_STRETCHES];
} th_device_clip;

typedef struct th_device_playback {
    double phase, speed; /* th_playback */
    uint32_t clip, unused;
} th_device_playback;

/* The clips of all compiled models, and what each instance plays, in its own model. out: th_crowd_device_clip_count of
 * them, and th_crowd_capacity. */
uint32_t th_crowd_device_clip_count(const th_crowd *crowd);
void th_crowd_device_clips(const th_crowd *crowd, th_device_clip *out);
void th_crowd_device_playbacks(const th_crowd *crowd, th_device_playback *out);

/* Fails with TH_ERR_INPUT, and says why, if an instance plays a clip that a device cannot: one that is played from
 * authored keys has no frames. of: for each compiled model the one whose instances may be posed in it
 * (th_crowd_set_active_in), as of a joint level; itself where there is no other. NULL: each is posed in its own. Clips
 * and models that no instance plays may be anything. */
th_result th_crowd_check_device(const th_crowd *crowd, const uint32_t *of, th_error *err);

#endif
