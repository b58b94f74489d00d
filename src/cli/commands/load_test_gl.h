/* The stress test's OpenGL renderer: crowds posed and drawn as in `view`. */
#ifndef TH_CLI_LOAD_TEST_GL_H
#define TH_CLI_LOAD_TEST_GL_H

#include "frame_check.h"
#include "picture.h"

#include <bench/stress.h>

typedef struct th_load_test_gl {
    th_crowd_view_desc crowd; /* with the current number of threads */
    th_crowd_behaviour behaviour;
    bool measures_errors; /* on screen, besides */
    th_picture picture;
    /* A view of one character, with the resources that all crowds on as many threads share; NULL: not yet made. */
    th_crowd_view *one;
    th_crowd_view *all;         /* NULL: no crowd */
    th_shown shown;             /* the last frame of `all` */
    bool has_complained;        /* of who poses, */
    th_gpu_mapping gpu_mapping; /* and how */
} th_load_test_gl;

/* Opens a context. crowd: its numbers of characters and threads are ignored; error_every not 0: counts the memory that
 * measuring the error on screen takes. TH_ERR_ENVIRONMENT: there is no OpenGL.
 * Call th_load_test_gl_fini in the end if it returned TH_OK. */
th_result th_load_test_gl_init(th_load_test_gl *test, const th_crowd_view_desc *crowd,
                               const th_crowd_behaviour *behaviour, const th_target_desc *picture, th_error *err);
void th_load_test_gl_fini(th_load_test_gl *test);

th_stress_renderer th_load_test_gl_renderer(th_load_test_gl *test);

#endif
