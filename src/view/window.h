/* The window of `throng view`, its events, and the picture drawn for it. All calls on the program's first thread. */
#ifndef TH_VIEW_WINDOW_H
#define TH_VIEW_WINDOW_H

#include "controls.h"

#include <render/gl.h>
#include <render/target.h>

/* What is drawn to. */
typedef struct th_canvas {
    th_target *target;
    uint32_t width, height;
    float density; /* pixels per pixel of an ordinary display */
} th_canvas;

typedef struct th_window {
    th_gl *gl;
    th_controls controls;
    /* Only for window.c: */
    struct GLFWwindow *window; /* the context's */
    uint32_t samples;
    th_canvas canvas;
    struct {
        int x, y, width, height;
    } framed; /* position and size before full screen */
    char title[256];
} th_window;

/* picture: size in screen coordinates, and samples. Waits for the display's refresh. TH_ERR_ENVIRONMENT: no display, or
 * no OpenGL 4.3. */
th_result th_window_open(const th_target_desc *picture, th_window **out, th_error *err);
void th_window_close(th_window *window); /* NULL does nothing */

/* Handles events. wait_s above 0: waits until one arrives or the time is over. */
void th_window_poll(th_window *window, double wait_s);
bool th_window_closing(const th_window *window); /* the user wants to close it */

/* Resizes the picture to the window's size in pixels; its content must then be drawn anew. *out is NULL while the
 * window is minimized or has no area. After an error *out is the old picture, if there is one. */
th_result th_window_fit(th_window *window, const th_canvas **out, th_error *err);

void th_window_set_title(th_window *window, const char *title);
void th_window_set_vsync(th_window *window, bool vsync);
void th_window_toggle_full_screen(th_window *window);

#endif
