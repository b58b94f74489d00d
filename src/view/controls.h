/* Translates keys and mouse to actions and movements. Pure: it uses no window.
 *
 * Commands are characters, so they follow the keyboard layout. The movement keys W, A, S, D, Q and E are positions on
 * the keyboard. So none of these letters is a command. */
#ifndef TH_VIEW_CONTROLS_H
#define TH_VIEW_CONTROLS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum th_action {
    TH_ACTION_NONE = 0,
    TH_ACTION_QUIT, /* or close the help */
    TH_ACTION_HELP,
    TH_ACTION_HUD, /* show or hide the HUD */
    TH_ACTION_FULL_SCREEN,
    TH_ACTION_SCREENSHOT,
    TH_ACTION_VSYNC,
    /* camera */
    TH_ACTION_CAMERA, /* orbit, fly, follow */
    TH_ACTION_SEE_ALL,
    TH_ACTION_FOLLOW, /* the next walking character */
    /* time */
    TH_ACTION_PAUSE,
    TH_ACTION_STEP,
    TH_ACTION_RATE, /* faster */
    TH_ACTION_REAL_TIME,
    /* settings of the crowd view, the next or more of each: live_settings.h */
    TH_ACTION_MORE,
    TH_ACTION_DOUBLE,
    TH_ACTION_THREADS,
    TH_ACTION_SCHEDULER,
    TH_ACTION_PALETTE,
    TH_ACTION_INTERPOLATION,
    TH_ACTION_CLIP,
    TH_ACTION_BEHAVIOUR,
    TH_ACTION_PACE,
    TH_ACTION_WEIGHT,
    TH_ACTION_LAYOUT,
    TH_ACTION_LOOK,
    TH_ACTION_SHADOWS,
    TH_ACTION_COUNT,
    TH_ACTION_BACK = 64, /* above all, and added to one of those: the previous, less or slower */
} th_action;

/* A line of the help, and the keys that it tells of. */
typedef struct th_binding {
    const char *keys; /* as shown in the help; NULL: the text is a heading */
    const char *text;
    th_action action;
    int does[3];  /* ASCII characters, or GLFW's keys of none: the action, the same back, another key for it; 0: none */
    bool repeats; /* while its key is held down; a switch must not, because it would flicker */
} th_binding;

/* Ends with a row whose text is NULL. */
extern const th_binding th_bindings[];

/* Movement since the last th_controls_take. */
typedef struct th_motion {
    float turn[2];  /* dragged with the left button: right and down, in window heights */
    float pan[2];   /* dragged with another button, or with shift */
    float wheel;    /* notches; positive away from the user */
    float walk[3];  /* movement keys held down: right, up, forward, from -1 to 1 */
    float swing[2]; /* arrow keys held down: right, up */
    bool fast;      /* shift */
} th_motion;

enum { TH_CONTROLS_QUEUE = 64, TH_CONTROLS_HOTSPOTS = 16 };

/* A rectangle that does something when it is clicked, in the cursor's unit. */
typedef struct th_hotspot {
    float x, y, width, height;
    th_action action;
} th_hotspot;

typedef struct th_hotspots {
    th_hotspot spots[TH_CONTROLS_HOTSPOTS];
    uint32_t count;
} th_hotspots;

bool th_hotspot_has(const th_hotspot *spot, const double cursor[2]);

typedef struct th_controls {
    th_action queue[TH_CONTROLS_QUEUE]; /* a ring buffer; what does not fit is dropped */
    uint32_t first, count;
    double cursor[2];
    uint32_t buttons; /* held down, one bit each */
    uint32_t held;    /* movement keys and shift, one bit each */
    bool placed;      /* the cursor's position is known */
    bool pans;        /* the current drag pans; otherwise it turns */
    bool repeats;     /* the next character event comes from a key held down */
    th_motion motion;
    th_hotspots hotspots; /* a click on one is its action, and no drag */
} th_controls;

/* Events with GLFW's constants. height: of the window, in the cursor's unit, which is pixels. */
void th_controls_key(th_controls *controls, int key, int action, int mods);
void th_controls_char(th_controls *controls, uint32_t codepoint);
void th_controls_button(th_controls *controls, int button, int action, int mods);
void th_controls_cursor(th_controls *controls, double x, double y, double height);
void th_controls_scroll(th_controls *controls, double notches);
void th_controls_release(th_controls *controls); /* the window lost the keyboard focus: no key is held */

/* Removes and returns the oldest action; TH_ACTION_NONE if there is none. */
th_action th_controls_next(th_controls *controls);

th_motion th_controls_take(th_controls *controls);

#endif
