#include "controls.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <stddef.h>

const th_binding th_bindings[] = {
    {NULL, "Camera"},
    {"drag", "orbit the target; flying: look around"},
    {"right drag, shift drag", "pan"},
    {"wheel", "zoom; flying: change the speed"},
    {"W A S D  Q E", "move, down and up; shift: faster"},
    {"arrows", "turn the camera"},
    {"c", "camera mode: orbit, fly, follow"},
    {"n N", "follow the next, previous walking character"},
    {"f, Home", "show the whole crowd"},
    {NULL, "Time"},
    {"Space", "pause"},
    {". ,", "step 1/60 s forward, back"},
    {"[ ]  Backspace", "slower, faster; normal speed"},
    {NULL, "Crowd"},
    {"PgUp PgDn", "double, halve the crowd"},
    {"+ -", "10 % more, fewer characters"},
    {"m M", "next, previous clip, or a mix of all"},
    {"b B", "behaviour: none, fade, graph, blend"},
    {"g G", "blend: faster, slower pace"},
    {"u U", "blend: more, less weight of the clip"},
    {"l L", "layout, or scene if there is one"},
    {NULL, "Threads"},
    {"t T", "one thread more, fewer"},
    {"j J", "scheduler"},
    {"i I", "interpolation"},
    {"p", "palette format: f32, quat, quat16, auto"},
    {NULL, "Picture"},
    {"k K", "look: natural, lod, skeleton, workers, error"},
    {"o", "shadows"},
    {"v", "vsync on, off"},
    {"F11", "full screen"},
    {"F12, x", "screenshot"},
    {"Tab", "statistics and buttons on, off"},
    {"F1, h", "this help"},
    {"Esc, Ctrl+Q", "quit"},
    {NULL, NULL},
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

/* Repeats while its key is held down. An on/off switch must not, because it would flicker. */
static bool repeatable(th_action action)
{
    switch (action) {
    case TH_ACTION_MORE:
    case TH_ACTION_FEWER:
    case TH_ACTION_DOUBLE:
    case TH_ACTION_HALVE:
    case TH_ACTION_STEP:
    case TH_ACTION_STEP_BACK:
    case TH_ACTION_FASTER_PACE:
    case TH_ACTION_SLOWER_PACE:
    case TH_ACTION_MORE_WEIGHT:
    case TH_ACTION_LESS_WEIGHT:
        return true;
    default:
        return false;
    }
}

void th_controls_char(th_controls *c, uint32_t codepoint)
{
    static const uint8_t actions[128] = {
        ['h'] = TH_ACTION_HELP,
        ['x'] = TH_ACTION_SCREENSHOT,
        ['v'] = TH_ACTION_VSYNC,
        ['c'] = TH_ACTION_CAMERA,
        ['f'] = TH_ACTION_SEE_ALL,
        ['n'] = TH_ACTION_FOLLOW_NEXT,
        ['N'] = TH_ACTION_FOLLOW_PREVIOUS,
        [' '] = TH_ACTION_PAUSE,
        ['.'] = TH_ACTION_STEP,
        [','] = TH_ACTION_STEP_BACK,
        ['['] = TH_ACTION_SLOWER,
        [']'] = TH_ACTION_FASTER,
        ['+'] = TH_ACTION_MORE,
        ['='] = TH_ACTION_MORE, /* '+' without shift on many keyboards */
        ['-'] = TH_ACTION_FEWER,
        ['t'] = TH_ACTION_MORE_THREADS,
        ['T'] = TH_ACTION_FEWER_THREADS,
        ['j'] = TH_ACTION_NEXT_SCHEDULER,
        ['J'] = TH_ACTION_PREVIOUS_SCHEDULER,
        ['p'] = TH_ACTION_PALETTE,
        ['i'] = TH_ACTION_NEXT_INTERPOLATION,
        ['I'] = TH_ACTION_PREVIOUS_INTERPOLATION,
        ['m'] = TH_ACTION_NEXT_CLIP,
        ['M'] = TH_ACTION_PREVIOUS_CLIP,
        ['b'] = TH_ACTION_NEXT_BEHAVIOUR,
        ['B'] = TH_ACTION_PREVIOUS_BEHAVIOUR,
        ['g'] = TH_ACTION_FASTER_PACE,
        ['G'] = TH_ACTION_SLOWER_PACE,
        ['u'] = TH_ACTION_MORE_WEIGHT,
        ['U'] = TH_ACTION_LESS_WEIGHT,
        ['l'] = TH_ACTION_NEXT_LAYOUT,
        ['L'] = TH_ACTION_PREVIOUS_LAYOUT,
        ['k'] = TH_ACTION_NEXT_LOOK,
        ['K'] = TH_ACTION_PREVIOUS_LOOK,
        ['o'] = TH_ACTION_SHADOWS,
    };
    const th_action meant = codepoint < sizeof actions ? (th_action)actions[codepoint] : TH_ACTION_NONE;
    if (!c->repeats || repeatable(meant))
        push(c, meant);
}

static th_action action_of(int key, int mods)
{
    switch (key) {
    case GLFW_KEY_ESCAPE:
        return TH_ACTION_QUIT;
    case GLFW_KEY_Q:
        return mods & GLFW_MOD_CONTROL ? TH_ACTION_QUIT : TH_ACTION_NONE;
    case GLFW_KEY_F1:
        return TH_ACTION_HELP;
    case GLFW_KEY_F11:
        return TH_ACTION_FULL_SCREEN;
    case GLFW_KEY_F12:
        return TH_ACTION_SCREENSHOT;
    case GLFW_KEY_TAB:
        return TH_ACTION_HUD;
    case GLFW_KEY_HOME:
        return TH_ACTION_SEE_ALL;
    case GLFW_KEY_BACKSPACE:
        return TH_ACTION_REAL_TIME;
    case GLFW_KEY_PAGE_UP:
        return TH_ACTION_DOUBLE;
    case GLFW_KEY_PAGE_DOWN:
        return TH_ACTION_HALVE;
    default:
        return TH_ACTION_NONE;
    }
}

/* ---- moving ---- */

/* Two keys for each axis of `walk`, then of `swing`: the positive one, then the negative one. Then shift. */
static const int moving_keys[] = {
    GLFW_KEY_D,     GLFW_KEY_A,    GLFW_KEY_E,  GLFW_KEY_Q,    GLFW_KEY_W,          GLFW_KEY_S,
    GLFW_KEY_RIGHT, GLFW_KEY_LEFT, GLFW_KEY_UP, GLFW_KEY_DOWN, GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT,
};

static void hold(th_controls *c, int key, bool down)
{
    for (uint32_t k = 0; k < sizeof moving_keys / sizeof *moving_keys; k++)
        if (moving_keys[k] == key)
            c->held = down ? c->held | 1u << k : c->held & ~(1u << k);
}

void th_controls_key(th_controls *c, int key, int action, int mods)
{
    c->repeats = action == GLFW_REPEAT;
    hold(c, key, action != GLFW_RELEASE && !(mods & GLFW_MOD_CONTROL));
    const th_action meant = action == GLFW_RELEASE ? TH_ACTION_NONE : action_of(key, mods);
    if (!c->repeats || repeatable(meant))
        push(c, meant);
}

bool th_hotspot_has(const th_hotspot *s, const double cursor[2])
{
    const double right = cursor[0] - (double)s->x, down = cursor[1] - (double)s->y;
    return right >= 0 && right < (double)s->width && down >= 0 && down < (double)s->height;
}

/* Whether the left button was pressed on a hotspot. */
static bool click(th_controls *c, int button, int action)
{
    const th_hotspots *h = &c->hotspots;
    for (uint32_t s = 0; s < h->count; s++)
        if (c->placed && button == GLFW_MOUSE_BUTTON_LEFT && action == GLFW_PRESS &&
            th_hotspot_has(&h->spots[s], c->cursor)) {
            push(c, h->spots[s].action);
            return true;
        }
    return false;
}

void th_controls_button(th_controls *c, int button, int action, int mods)
{
    if (click(c, button, action))
        return;
    c->buttons = action == GLFW_PRESS ? c->buttons | 1u << button : c->buttons & ~(1u << button);
    if (action == GLFW_PRESS)
        c->pans = button != GLFW_MOUSE_BUTTON_LEFT || (mods & GLFW_MOD_SHIFT);
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
