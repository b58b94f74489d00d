/* Inside, since a window's events are made up. Keys and mouse: every action can be reached, and hands move what they
 * grab. */
#include "src/view/controls.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <criterion/criterion.h>
#include <string.h>

static th_controls controls;

static void clear(void)
{
    controls = (th_controls){0};
}

TestSuite(controls, .init = clear);

static th_action typed(char letter)
{
    th_controls_char(&controls, (uint32_t)letter);
    return th_controls_next(&controls);
}

static th_action pressed(int key, int mods)
{
    th_controls_key(&controls, key, GLFW_PRESS, mods);
    th_controls_key(&controls, key, GLFW_RELEASE, mods);
    return th_controls_next(&controls);
}

Test(controls, reach_every_action)
{
    static const th_action both_ways[] = {
        TH_ACTION_FOLLOW,        TH_ACTION_STEP, TH_ACTION_RATE,      TH_ACTION_MORE,  TH_ACTION_DOUBLE,
        TH_ACTION_THREADS,       TH_ACTION_PACE, TH_ACTION_SCHEDULER, TH_ACTION_CLIP,  TH_ACTION_BEHAVIOUR,
        TH_ACTION_INTERPOLATION, TH_ACTION_LOOK, TH_ACTION_WEIGHT,    TH_ACTION_LAYOUT};
    bool reached[2 * TH_ACTION_BACK] = {true};
    for (int c = 0; c < 0x300; c++) {
        th_controls_char(&controls, (uint32_t)c);
        reached[th_controls_next(&controls)] = true;
    }
    for (int key = GLFW_KEY_SPACE; key <= GLFW_KEY_LAST; key++)
        reached[pressed(key, 0)] = true;
    for (int a = 0; a < TH_ACTION_COUNT; a++)
        cr_expect(reached[a], "action %d", a);
    for (size_t a = 0; a < sizeof both_ways / sizeof *both_ways; a++)
        cr_expect(reached[both_ways[a] + TH_ACTION_BACK], "action %d back", (int)both_ways[a]);
}

Test(controls, are_those_of_the_help)
{
    static const struct {
        const char *letters; /* the second one: back */
        th_action action;
    } cases[] = {{"c", TH_ACTION_CAMERA},        {"nN", TH_ACTION_FOLLOW},    {"f", TH_ACTION_SEE_ALL},
                 {" ", TH_ACTION_PAUSE},         {".,", TH_ACTION_STEP},      {"][", TH_ACTION_RATE},
                 {"+-", TH_ACTION_MORE},         {"m", TH_ACTION_CLIP},       {"l", TH_ACTION_LAYOUT},
                 {"tT", TH_ACTION_THREADS},      {"j", TH_ACTION_SCHEDULER},  {"p", TH_ACTION_PALETTE},
                 {"i", TH_ACTION_INTERPOLATION}, {"k", TH_ACTION_LOOK},       {"o", TH_ACTION_SHADOWS},
                 {"v", TH_ACTION_VSYNC},         {"x", TH_ACTION_SCREENSHOT}, {"h", TH_ACTION_HELP},
                 {"gG", TH_ACTION_PACE},         {"uU", TH_ACTION_WEIGHT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (const char *letter = cases[i].letters; *letter; letter++) {
            bool told = *letter == ' ';
            const int back = letter > cases[i].letters ? TH_ACTION_BACK : 0;
            cr_expect_eq((int)typed(*letter), (int)cases[i].action + back, "%c", *letter);
            for (const th_binding *row = th_bindings; row->text; row++)
                for (const char *at = row->keys; at && *at; at++)
                    told = told || (*at == *letter && (at == row->keys || at[-1] == ' ') && strchr(" ,", at[1]));
            cr_expect(told, "the help has no %c", *letter);
        }
    cr_expect_eq(pressed(GLFW_KEY_F12, 0), TH_ACTION_SCREENSHOT);
    cr_expect_eq(pressed(GLFW_KEY_ESCAPE, 0), TH_ACTION_QUIT);
    cr_expect_eq(pressed(GLFW_KEY_Q, GLFW_MOD_CONTROL), TH_ACTION_QUIT);
    cr_expect_eq(pressed(GLFW_KEY_Q, 0), TH_ACTION_NONE);
}

Test(controls, letters_that_move_are_no_commands)
{
    for (const char *c = "wasdqeWASDQE"; *c; c++)
        cr_expect_eq(typed(*c), TH_ACTION_NONE, "%c", *c);
}

Test(controls, a_key_held_down_repeats_only_what_is_wanted_again)
{
    th_controls_key(&controls, GLFW_KEY_P, GLFW_PRESS, 0);
    cr_expect_eq(typed('p'), TH_ACTION_PALETTE);
    th_controls_key(&controls, GLFW_KEY_P, GLFW_REPEAT, 0);
    cr_expect_eq(typed('p'), TH_ACTION_NONE, "a switch flickers");
    th_controls_key(&controls, GLFW_KEY_EQUAL, GLFW_REPEAT, 0);
    static const th_action wanted[] = {TH_ACTION_MORE, TH_ACTION_MORE + TH_ACTION_BACK, TH_ACTION_STEP,
                                       TH_ACTION_STEP + TH_ACTION_BACK};
    for (int k = 0; k < 4; k++)
        cr_expect_eq(typed("+-.,"[k]), wanted[k], "%c", "+-.,"[k]);
    th_controls_key(&controls, GLFW_KEY_PAGE_DOWN, GLFW_REPEAT, 0);
    cr_expect_eq(th_controls_next(&controls), TH_ACTION_DOUBLE + TH_ACTION_BACK);
    th_controls_key(&controls, GLFW_KEY_F11, GLFW_REPEAT, 0);
    cr_expect_eq(th_controls_next(&controls), TH_ACTION_NONE);
    th_controls_key(&controls, GLFW_KEY_PAGE_UP, GLFW_REPEAT, 0);
    cr_expect_eq(th_controls_next(&controls), TH_ACTION_DOUBLE);
    th_controls_key(&controls, GLFW_KEY_P, GLFW_PRESS, 0);
    cr_expect_eq(typed('p'), TH_ACTION_PALETTE);
}

Test(controls, actions_come_in_order_and_too_many_are_lost)
{
    for (uint32_t k = 0; k < TH_CONTROLS_QUEUE + 9; k++)
        th_controls_char(&controls, k % 2 ? 'p' : 'o');
    for (uint32_t k = 0; k < TH_CONTROLS_QUEUE; k++)
        cr_expect_eq(th_controls_next(&controls), k % 2 ? TH_ACTION_PALETTE : TH_ACTION_SHADOWS, "%u", k);
    cr_expect_eq(th_controls_next(&controls), TH_ACTION_NONE);
}

static th_motion dragged(int button, int mods)
{
    th_controls_button(&controls, button, GLFW_PRESS, mods);
    th_controls_cursor(&controls, 130, 80, 200);
    th_controls_cursor(&controls, 150, 100, 200);
    th_controls_button(&controls, button, GLFW_RELEASE, 0);
    th_controls_cursor(&controls, 100, 100, 200);
    return th_controls_take(&controls);
}

Test(controls, a_drag_turns_or_moves_by_parts_of_the_window)
{
    th_controls_cursor(&controls, 100, 100, 200);
    th_motion motion = dragged(GLFW_MOUSE_BUTTON_LEFT, 0);
    cr_expect_float_eq(motion.turn[0], 0.25F, 1e-6F);
    cr_expect_float_eq(motion.turn[1], 0, 1e-6F);
    cr_expect_eq(motion.pan[0], 0);
    motion = dragged(GLFW_MOUSE_BUTTON_RIGHT, 0);
    cr_expect_float_eq(motion.pan[0], 0.25F, 1e-6F);
    cr_expect_eq(motion.turn[0], 0);
    motion = dragged(GLFW_MOUSE_BUTTON_LEFT, GLFW_MOD_SHIFT);
    cr_expect_float_eq(motion.pan[0], 0.25F, 1e-6F);
    motion = th_controls_take(&controls);
    cr_expect_eq(motion.pan[0], 0, "taken once");
}

Test(controls, a_drag_does_not_begin_with_a_jump)
{
    th_controls_button(&controls, GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0);
    th_controls_cursor(&controls, 500, 400, 600);
    cr_expect_eq(th_controls_take(&controls).turn[0], 0);
}

Test(controls, held_keys_move_until_they_are_released)
{
    th_controls_key(&controls, GLFW_KEY_W, GLFW_PRESS, 0);
    th_controls_key(&controls, GLFW_KEY_A, GLFW_PRESS, 0);
    th_controls_key(&controls, GLFW_KEY_LEFT_SHIFT, GLFW_PRESS, 0);
    th_motion motion = th_controls_take(&controls);
    cr_expect(motion.walk[2] == 1 && motion.walk[0] == -1 && motion.walk[1] == 0 && motion.fast);
    cr_expect_eq(th_controls_take(&controls).walk[2], 1, "still held");
    th_controls_key(&controls, GLFW_KEY_S, GLFW_PRESS, GLFW_MOD_SHIFT);
    cr_expect_eq(th_controls_take(&controls).walk[2], 0, "both ways");
    th_controls_key(&controls, GLFW_KEY_W, GLFW_RELEASE, GLFW_MOD_SHIFT);
    th_controls_key(&controls, GLFW_KEY_LEFT_SHIFT, GLFW_RELEASE, GLFW_MOD_SHIFT);
    motion = th_controls_take(&controls);
    cr_expect(motion.walk[2] == -1 && !motion.fast);
    th_controls_key(&controls, GLFW_KEY_UP, GLFW_PRESS, 0);
    cr_expect_eq(th_controls_take(&controls).swing[1], 1);
    th_controls_release(&controls);
    motion = th_controls_take(&controls);
    cr_expect(motion.walk[0] == 0 && motion.walk[2] == 0 && motion.swing[1] == 0, "the keyboard is somebody else's");
}

Test(controls, the_wheel_adds_up)
{
    th_controls_scroll(&controls, 1);
    th_controls_scroll(&controls, 0.5);
    cr_expect_eq(th_controls_take(&controls).wheel, 1.5F);
    cr_expect_eq(th_controls_take(&controls).wheel, 0);
}

Test(controls, a_click_on_a_hotspot_is_its_action_and_no_drag)
{
    controls.hotspots =
        (th_hotspots){.spots = {{10, 20, 30, 10, TH_ACTION_PAUSE}, {40, 20, 30, 10, TH_ACTION_HELP}}, .count = 2};
    static const struct {
        double x, y;
        th_action action;
    } clicks[] = {{10, 20, TH_ACTION_PAUSE}, {39.9, 29.9, TH_ACTION_PAUSE}, {40, 25, TH_ACTION_HELP},
                  {9.9, 25, TH_ACTION_NONE}, {20, 30, TH_ACTION_NONE},      {70, 25, TH_ACTION_NONE}};
    for (size_t i = 0; i < sizeof clicks / sizeof *clicks; i++) {
        th_controls_cursor(&controls, clicks[i].x, clicks[i].y, 100);
        th_controls_button(&controls, GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0);
        th_controls_cursor(&controls, clicks[i].x + 50, clicks[i].y, 100);
        th_controls_button(&controls, GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
        cr_expect_eq(th_controls_next(&controls), clicks[i].action, "click %zu", i);
        const float turned = clicks[i].action == TH_ACTION_NONE ? 0.5F : 0;
        const th_motion motion = th_controls_take(&controls);
        cr_expect_float_eq(motion.turn[0], turned, 1e-6, "click %zu", i);
    }
    th_controls_cursor(&controls, 20, 25, 100);
    th_controls_button(&controls, GLFW_MOUSE_BUTTON_RIGHT, GLFW_PRESS, 0);
    cr_expect_eq(th_controls_next(&controls), TH_ACTION_NONE, "other buttons pan");
}
