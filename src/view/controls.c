#include "controls.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <stddef.h>

const th_binding th_bindings[] = {
    {.text = "Camera"},
    {.keys = "drag", .text = "orbit the target; flying: look around"},
    {.keys = "right drag, shift drag", .text = "pan"},
    {.keys = "wheel", .text = "zoom; flying: change the speed"},
    {.keys = "W A S D  Q E", .text = "move, down and up; shift: faster"},
    {.keys = "arrows", .text = "turn the camera"},
    {"c", "camera mode: orbit, fly, follow", TH_ACTION_CAMERA, {'c'}, false},
    {"n N", "follow the next, previous walking character", TH_ACTION_FOLLOW, {'n', 'N'}, false},
    {"f, Home", "show the whole crowd", TH_ACTION_SEE_ALL, {'f', 0, GLFW_KEY_HOME}, false},
    {.text = "Time"},
    {"Space", "pause", TH_ACTION_PAUSE, {' '}, false},
    {". ,", "step 1/60 s forward, back", TH_ACTION_STEP, {'.', ','}, true},
    {"[ ]  Backspace", "slower, faster; normal speed", TH_ACTION_RATE, {']', '['}, false},
    {.text = "Crowd"},
    {"PgUp PgDn", "double, halve the crowd", TH_ACTION_DOUBLE, {GLFW_KEY_PAGE_UP, GLFW_KEY_PAGE_DOWN}, true},
    {"+ -", "10 % more, fewer characters", TH_ACTION_MORE, {'+', '-', '='}, true}, /* '=' is '+' without shift */
    {"m M", "next, previous clip, or a mix of all", TH_ACTION_CLIP, {'m', 'M'}, false},
    {"b B", "behaviour: none, fade, graph, blend", TH_ACTION_BEHAVIOUR, {'b', 'B'}, false},
    {"g G", "blend: faster, slower pace", TH_ACTION_PACE, {'g', 'G'}, true},
    {"u U", "blend: more, less weight of the clip", TH_ACTION_WEIGHT, {'u', 'U'}, true},
    {"l L", "layout, or scene if there is one", TH_ACTION_LAYOUT, {'l', 'L'}, false},
    {.text = "Threads"},
    {"t T", "one thread more, fewer", TH_ACTION_THREADS, {'t', 'T'}, false},
    {"j J", "scheduler", TH_ACTION_SCHEDULER, {'j', 'J'}, false},
    {"i I", "interpolation", TH_ACTION_INTERPOLATION, {'i', 'I'}, false},
    {"p", "palette format: f32, quat, quat16, auto", TH_ACTION_PALETTE, {'p'}, false},
    {.text = "Picture"},
    {"k K", "look: natural, lod, skeleton, workers, error", TH_ACTION_LOOK, {'k', 'K'}, false},
    {"o", "shadows", TH_ACTION_SHADOWS, {'o'}, false},
    {"v", "vsync on, off", TH_ACTION_VSYNC, {'v'}, false},
    {"F11", "full screen", TH_ACTION_FULL_SCREEN, {GLFW_KEY_F11}, false},
    {"F12, x", "screenshot", TH_ACTION_SCREENSHOT, {GLFW_KEY_F12, 0, 'x'}, false},
    {"Tab", "statistics and buttons on, off", TH_ACTION_HUD, {GLFW_KEY_TAB}, false},
    {"F1, h", "this help", TH_ACTION_HELP, {GLFW_KEY_F1, 0, 'h'}, false},
    {"Esc, Ctrl+Q", "quit", TH_ACTION_QUIT, {GLFW_KEY_ESCAPE}, false},
    {.text = NULL},
};

/* ---- actions ---- */

static void push(th_controls *c, th_action action)
{
    if (action != TH_ACTION_NONE && c->count < TH_CONTROLS_QUEUE)
        c->queue[(c->first + c->count++) % TH_CONTROLS_QUEUE] = action;
}

th_action th_controls_next(th_controls *c)
{
    if (c->count == 0)
        return TH_ACTION_NONE;
    const th_action action = c->queue[c->first];
    c->first = (c->first + 1) % TH_CONTROLS_QUEUE;
    c->count--;
    return action;
}

_Static_assert((int)TH_ACTION_COUNT <= (int)TH_ACTION_BACK, "an action and its direction are one number");

/* What the key or character means. */
static void command(th_controls *c, int key)
{
    for (const th_binding *row = th_bindings; row->text; row++) {
        const bool is_back = key == row->does[1];
        if ((is_back || key == row->does[0] || key == row->does[2]) && (row->repeats || !c->repeats))
            push(c, (th_action)(row->action + (is_back ? TH_ACTION_BACK : 0)));
    }
}

void th_controls_char(th_controls *c, uint32_t codepoint)
{
    if (codepoint > 0 && codepoint < 128) /* beyond ASCII lie GLFW's numbers of keys */
        command(c, (int)codepoint);
}

/* ---- moving ---- */

/* Two keys for each axis of `walk`, then of `swing`: the positive one, then the negative one. Then shift. */
static const int moving_keys[] = {
    GLFW_KEY_D,     GLFW_KEY_A,    GLFW_KEY_E,  GLFW_KEY_Q,    GLFW_KEY_W,          GLFW_KEY_S,
    GLFW_KEY_RIGHT, GLFW_KEY_LEFT, GLFW_KEY_UP, GLFW_KEY_DOWN, GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT,
};

void th_controls_key(th_controls *c, int key, int action, int mods)
{
    const bool is_down = action != GLFW_RELEASE, with_control = mods & GLFW_MOD_CONTROL;
    c->repeats = action == GLFW_REPEAT;
    for (uint32_t k = 0; k < sizeof moving_keys / sizeof *moving_keys; k++)
        if (moving_keys[k] == key)
            c->held = is_down && !with_control ? c->held | 1u << k : c->held & ~(1u << k);
    if (is_down && key >= GLFW_KEY_ESCAPE)
        command(c, key);
    if (action == GLFW_PRESS && key == GLFW_KEY_BACKSPACE)
        push(c, TH_ACTION_REAL_TIME);
    if (action == GLFW_PRESS && key == GLFW_KEY_Q && with_control)
        push(c, TH_ACTION_QUIT);
}

bool th_hotspot_has(const th_hotspot *s, const double cursor[2])
{
    const double right = cursor[0] - (double)s->x, down = cursor[1] - (double)s->y;
    return right >= 0 && right < (double)s->width && down >= 0 && down < (double)s->height;
}

void th_controls_button(th_controls *c, int button, int action, int mods)
{
    const bool is_press = action == GLFW_PRESS, is_left = button == GLFW_MOUSE_BUTTON_LEFT;
    for (uint32_t s = 0; s < c->hotspots.count; s++)
        if (c->placed && is_left && is_press && th_hotspot_has(&c->hotspots.spots[s], c->cursor)) {
            push(c, c->hotspots.spots[s].action);
            return;
        }
    c->buttons = is_press ? c->buttons | 1u << button : c->buttons & ~(1u << button);
    if (is_press)
        c->pans = !is_left || (mods & GLFW_MOD_SHIFT);
}

void th_controls_cursor(th_controls *c, double x, double y, double height)
{
    float *drag = c->pans ? c->motion.pan : c->motion.turn;
    if (c->buttons != 0 && c->placed) {
        drag[0] += (float)((x - c->cursor[0]) / height);
        drag[1] += (float)((y - c->cursor[1]) / height);
    }
    c->cursor[0] = x;
    c->cursor[1] = y;
    c->placed = true;
}

void th_controls_scroll(th_controls *c, double notches)
{
    c->motion.wheel += (float)notches;
}

void th_controls_release(th_controls *c)
{
    c->buttons = c->held = 0;
}

static float axis(const th_controls *c, uint32_t pair)
{
    return (float)(c->held >> 2 * pair & 1) - (float)(c->held >> (2 * pair + 1) & 1);
}

th_motion th_controls_take(th_controls *c)
{
    th_motion motion = c->motion;
    for (uint32_t k = 0; k < 3; k++)
        motion.walk[k] = axis(c, k);
    for (uint32_t k = 0; k < 2; k++)
        motion.swing[k] = axis(c, 3 + k);
    motion.fast = c->held >> 10 != 0;
    c->motion = (th_motion){0};
    return motion;
}
