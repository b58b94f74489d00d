/* What the server and its picture process say to each other, over a socket that is the process's standard input.
 *
 * Drivers, decoders of images and the preparation of meshes run in a process of their own: what crashes, hangs or needs
 * too much memory there costs a picture and not the crowd. It gets a scene once and computes meshes and poses itself,
 * as both are deterministic; so a request is a time and a size, and no palettes are shared with the ticks. Another
 * crowd gets another process. Both sides are the same program, so structs travel as they are. */
#ifndef THRONG_SERVE_SNAPSHOT_IPC_H
#define THRONG_SERVE_SNAPSHOT_IPC_H

#include <anim/crowd.h>
#include <serve/settings.h>
#include <throng/render.h>

#define TH_SNAPSHOT_COMMAND "serve-pictures" /* in no help: the first argument of the process */

/* The maximum number of characters in a snapshot: the first of the crowd, which are in the middle of the grid. */
enum { TH_SNAPSHOT_CHARACTERS = 400 };

/* Sent first; the models follow as archives. */
typedef struct th_snapshot_scene {
    th_compiled_model_desc compile; /* its model is NULL */
    th_isa isa;
    th_format palette;
    uint64_t seed;
    th_settings settings; /* for the behaviour and what it blends */
    th_layout_kind layout;
    uint32_t model_count; /* at most TH_SETTINGS_MODELS */
    uint32_t count;       /* of instances */
    th_spawn instances[TH_SNAPSHOT_CHARACTERS];
} th_snapshot_scene;

/* Then any number of these, each after the answer to the one before. */
typedef struct th_snapshot_request {
    double time_s;
    uint32_t width, height;                    /* pixels */
    th_blend_state blends[TH_SETTINGS_MODELS]; /* zeros: nothing is blended */
} th_snapshot_request;

/* The bytes of a PNG follow, or the text of an error. After an error the process ends. */
typedef struct th_snapshot_answer {
    th_result result;
    uint64_t size;
} th_snapshot_answer;

/* Sends or receives all of it; false if the other side is gone or too slow. */
bool th_snapshot_send(int socket, const void *bytes, size_t size);
bool th_snapshot_receive(int socket, void *out, size_t size);

#endif
