/* Takes pictures of the crowd when somebody asks for one, on a thread of its own that never meets the one that ticks:
 * it has the settings, the seed and the crowd's clock from the director, and poses the same characters once more. */
#ifndef TH_SERVE_SIMULATION_SNAPSHOT_SERVICE_H
#define TH_SERVE_SIMULATION_SNAPSHOT_SERVICE_H

#include "simulation_controller.h"

#include <throng/serve/snapshot_renderer.h>

typedef struct th_photographer th_photographer;

/* Pixels. */
enum { TH_PHOTO_LEAST_SIDE = 16, TH_PHOTO_MOST_WIDTH = 1280, TH_PHOTO_MOST_HEIGHT = 720 };

/* So many characters are in a picture at most: the crowd's first, which a grid has in its middle. */
#define TH_PHOTO_CHARACTERS 400u

/* The thread is as nice as the caller. The director and all that the studio points to must outlive it. */
th_result th_photographer_create(const th_studio *studio, th_director *director, uint64_t seed, th_photographer **out,
                                 th_error *err);
void th_photographer_destroy(th_photographer *photographer); /* waits for a picture that is being drawn; NULL is fine */

typedef enum th_photo_answer {
    TH_PHOTO_TAKEN,  /* *out is a recent PNG, shared by all who get it, for th_photo_release */
    TH_PHOTO_LATER,  /* it is being taken: ask again once th_photographer_fd is readable */
    TH_PHOTO_FAILED, /* there is none, and err says why */
} th_photo_answer;

/* Any thread; never waits. After a picture the thread rests for four times the CPU time that it took, and a second at
 * least, whoever asks for which size: it never takes more than a fifth of a CPU. Meanwhile the picture is recent. */
th_photo_answer th_photographer_ask(th_photographer *photographer, uint32_t width, uint32_t height, char **out,
                                    size_t *out_size, th_error *err);
void th_photo_release(void *png); /* any thread */

/* An eventfd, counted up with each picture and each failure. */
int th_photographer_fd(const th_photographer *photographer);

uint64_t th_photographer_cpu_ns(const th_photographer *photographer);

#endif
