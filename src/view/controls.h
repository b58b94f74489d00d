/* What keys and mouse mean: events in, actions and movements out. Pure; the window is somebody else's.
 *
 * A letter is a command by what is written on the key, whatever the keyboard's layout; W, A, S, D, Q and E, which move,
 * are places on the keyboard. So none of these letters is a command. */
#ifndef TH_VIEW_CONTROLS_H
#define TH_VIEW_CONTROLS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum th_action {
    TH_ACTION_NONE = 0,
    TH_ACTION_QUIT, /* or leave the help */
    TH_ACTION_HELP,
    TH_ACTION_HUD, /* the HUD, on and off */
    TH_ACTION_FULL_SCREEN,
    TH_ACTION_SCREENSHOT,
    TH_ACTION_VSYNC,
    /* camera */
    TH_ACTION_CAMERA, /* orbit, fly, follow */
    TH_ACTION_SEE_ALL,
    TH_ACTION_FOLLOW_NEXT,
    TH_ACTION_FOLLOW_PREVIOUS,
    /* time */
    TH_ACTION_PAUSE,
    TH_ACTION_STEP,
    TH_ACTION_STEP_BACK,
    TH_ACTION_SLOWER,
    TH_ACTION_FASTER,
    TH_ACTION_REAL_TIME,
    /* what the show is made of: live_settings.h. */
    TH_ACTION_MORE,
    TH_ACTION_FEWER,
    TH_ACTION_DOUBLE,
    TH_ACTION_HALVE,
    TH_ACTION_MORE_THREADS,
    TH_ACTION_FEWER_THREADS,
    TH_ACTION_NEXT_SCHEDULER,
    TH_ACTION_PREVIOUS_SCHEDULER,
    TH_ACTION_PALETTE,
    TH_ACTION_NEXT_INTERPOLATION,
    TH_ACTION_PREVIOUS_INTERPOLATION,
    TH_ACTION_NEXT_CLIP,
    TH_ACTION_PREVIOUS_CLIP,
    TH_ACTION_NEXT_LAYOUT,
    TH_ACTION_PREVIOUS_LAYOUT,
    TH_ACTION_NEXT_LOOK,
    TH_ACTION_PREVIOUS_LOOK,
    TH_ACTION_SHADOWS,
    TH_ACTION_COUNT,
} th_action;

/* What a key does, in the order of the help. */
typedef struct th_binding {
    const char *keys; /* as the help shows them; NULL: the text is a heading */
    const char *text;
} th_binding;

/* Ends with a row without a text. */
extern const th_binding th_bindings[];

/* Movement since the last th_controls_take. */
typedef struct th_motion {
    float turn[2];  /* dragged with the left button: right and down, in heights of the window */
    float pan[2];   /* dragged with another, or with shift */
    float wheel;    /* notches, away from the hand */
    float walk[3];  /* keys held down: right, up, forward, from -1 to 1 */
    float swing[2]; /* arrow keys held down: right, up */
    bool fast;      /* shift */
} th_motion;

enum { TH_CONTROLS_QUEUE = 64 };

typedef struct th_controls {
    th_action queue[TH_CONTROLS_QUEUE]; /* a ring; what does not fit is lost */
    uint32_t first, count;
    double cursor[2];
    uint32_t buttons; /* held, a bit each */
    uint32_t held;    /* moving keys and shift, a bit each */
    bool placed;      /* the cursor has been seen */
    bool pans;        /* the drag under way moves; else it turns */
    bool repeats;     /* the character to come is one of a key held down */
    th_motion motion;
} th_controls;

/* Events as GLFW gives them, with its numbers. height: of the window, in the cursor's unit. */
void th_controls_key(th_controls *controls, int key, int action, int mods);
void th_controls_char(th_controls *controls, uint32_t codepoint);
void th_controls_button(th_controls *controls, int button, int action, int mods);
void th_controls_cursor(th_controls *controls, double x, double y, double height);
void th_controls_scroll(th_controls *controls, double notches);
void th_controls_release(th_controls *controls); /* the window has lost the keyboard: nothing is held */

/* The oldest action that nobody took, or TH_ACTION_NONE. */
th_action th_controls_next(th_controls *controls);

th_motion th_controls_take(th_controls *controls);

#endif
