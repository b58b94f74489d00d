/* `throng view` as a person uses it: xdotool presses the keys and moves the mouse, the window's title says what state
 * it is in, and pictures of it show that things happened. Everything is waited for, nothing is timed.
 *
 * In builds with asserts the program ends with an exit code of its own when OpenGL has anything to object; that every
 * run here ends with 0 says that it had not. */
#include "fixture_program.h"
#include "fixture_trace.h"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_FAILURE_STRINGS
#include <stb/stb_image.h>

#include <criterion/criterion.h>

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 120

/* Looks again for as long as the condition is false. By the clock: a look may start a program. */
#define await(condition)                                                                                               \
    for (const time_t end = time(NULL) + PATIENCE_S; !(condition) && time(NULL) < end;)                                \
    usleep(10000)

/* What is faster to start with, and to draw, than the human. */
#define RIG "--model synthetic:joints=20,clips=2 "

static pid_t viewer;
static char window[32], title[256];
static int shots;

/* ---- other programs ---- */

/* The first line that a command prints. */
__attribute__((format(printf, 3, 4))) static bool ask(char *line, size_t size, const char *format, ...)
{
    char command[256];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe);
    line[0] = '\0';
    if (fgets(line, (int)size, pipe))
        line[strcspn(line, "\n")] = '\0';
    return pclose(pipe) == 0;
}

__attribute__((format(printf, 1, 2))) static void xdotool(const char *format, ...)
{
    char arguments[192], line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    cr_assert(ask(line, sizeof line, "xdotool %s 2>&1", arguments), "xdotool %s: %s", arguments, line);
}

static void make_folder_and_display(void)
{
    char line[256];
    make_folder();
    setenv("LP_NUM_THREADS", "0", 1);
    if (!getenv("DISPLAY") || !ask(line, sizeof line, "xdotool getdisplaygeometry 2>&1"))
        cr_skip_test("no display, or no xdotool");
}

static void end_and_remove(void)
{
    if (viewer > 0) {
        kill(viewer, SIGKILL);
        waitpid(viewer, NULL, 0);
    }
    remove_folder();
}

TestSuite(view, .init = make_folder_and_display, .fini = end_and_remove);

/* ---- the viewer ---- */

static void start(const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof command, "exec '%s' view %s >.out 2>.err", TEST_PROGRAM, arguments);
    viewer = fork();
    cr_assert(viewer >= 0);
    if (viewer == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    await(ask(window, sizeof window, "xdotool search --onlyvisible --name '^Throng' 2>/dev/null") && window[0]);
    cr_assert(window[0], "no window");
    xdotool("windowmove %s 0 0 windowfocus --sync %s mousemove 100 80", window, window);
}

static bool title_has(const char *text)
{
    ask(title, sizeof title, "xdotool getwindowname %s", window);
    return strstr(title, text) != NULL;
}

/* Waits until the title has the text, or has it no longer. */
static void await_title(const char *text, bool there)
{
    await(title_has(text) == there);
    cr_assert_eq(strstr(title, text) != NULL, there, "\"%s\" %s in \"%s\"", text, there ? "is not" : "is still", title);
}

static void begin(const char *arguments)
{
    start(arguments);
    await_title("Throng - ", true); /* before that it says nothing */
    await_title("loading", false);
}

/* Presses a key, and waits for what the title says then. */
static void press(const char *key, const char *text)
{
    xdotool("key %s", key);
    await_title(text, true);
}

static int finish(void)
{
    int status = 0;
    await(waitpid(viewer, &status, WNOHANG) == viewer);
    cr_assert(WIFEXITED(status) || WIFSIGNALED(status), "it does not end");
    viewer = -1;
    slurp(".out", out, sizeof out);
    slurp(".err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void quit(void)
{
    xdotool("key Escape");
    const int code = finish();
    cr_expect_eq(code, 0, "exit code %d: %s", code, err);
}

/* ---- what is to be seen ---- */

typedef struct picture {
    int width, height;
    uint8_t *rgb;
} picture;

static picture load(const char *path)
{
    picture p;
    int channels;
    p.rgb = stbi_load(path, &p.width, &p.height, &channels, 3);
    cr_assert(p.rgb, "%s", path);
    return p;
}

/* The next screenshot. */
static picture shoot(void)
{
    char path[32];
    snprintf(path, sizeof path, "throng-%04d.png", ++shots);
    xdotool("key F12");
    await(access(path, F_OK) == 0);
    return load(path);
}

static double difference(picture a, picture b)
{
    if (a.width != b.width || a.height != b.height)
        return 1;
    size_t differ = 0, count = (size_t)a.width * (size_t)a.height * 3;
    for (size_t i = 0; i < count; i++)
        differ += a.rgb[i] != b.rgb[i];
    return (double)differ / (double)count;
}

/* Takes a picture, forgets the one before, and says how much of it is different. */
static double shoot_and_compare(picture *last)
{
    const picture now = shoot();
    const double differ = difference(*last, now);
    stbi_image_free(last->rgb);
    *last = now;
    return differ;
}

#define expect_change(last, what) cr_expect_gt(shoot_and_compare(last), 0.001, "%s changes nothing", what)
#define expect_peace(last, what)  cr_expect_eq(shoot_and_compare(last), 0, "%s changes something", what)

/* For as long as it takes: a busy machine draws few frames. */
static void hold(picture *last, const char *key)
{
    double differ = 0;
    xdotool("keydown %s", key);
    for (int k = 0; k < 100 && differ <= 0.001; k++)
        differ = shoot_and_compare(last);
    xdotool("keyup %s", key);
    cr_expect_gt(differ, 0.001, "%s changes nothing", key);
    shoot_and_compare(last); /* where it has come to rest */
}

static const char small[] = RIG "--size 256x160 --count 12 --samples 1 --shadow 128 --scene street";

/* ---- tests ---- */

Test(view, camera_moves_by_mouse_and_keys)
{
    begin(small);
    press("space", "paused");
    xdotool("key Tab"); /* figures change by themselves */
    picture last = shoot();
    expect_peace(&last, "nothing");
    xdotool("mousedown 1 mousemove 140 90 mouseup 1");
    expect_change(&last, "a drag");
    expect_peace(&last, "a drag that has ended");
    xdotool("mousedown 3 mousemove 150 100 mouseup 3");
    expect_change(&last, "the right button");
    xdotool("click 4");
    expect_change(&last, "the wheel");
    hold(&last, "Right");
    hold(&last, "w");
    press("c", ", fly");
    expect_peace(&last, "flying off");
    xdotool("mousedown 1 mousemove 170 100 mouseup 1");
    expect_change(&last, "looking around");
    hold(&last, "s");
    press("n", ", follow");
    expect_change(&last, "following somebody");
    xdotool("key n");
    expect_change(&last, "following another");
    press("f", "paused");
    await_title("follow", false);
    const picture home = load("throng-0001.png");
    shoot_and_compare(&last);
    cr_expect_eq(difference(home, last), 0, "f does not see all again");
    stbi_image_free(home.rgb);
    stbi_image_free(last.rgb);
    quit();
}

Test(view, time_stands_still_steps_and_goes_on)
{
    begin(small);
    xdotool("key Tab");
    press("period", "paused");
    picture last = shoot();
    expect_peace(&last, "nothing");
    for (int k = 0; k < 20; k++)
        xdotool("key period");
    expect_change(&last, "a step");
    for (int k = 0; k < 20; k++)
        xdotool("key comma");
    shoot_and_compare(&last);
    const picture first = load("throng-0001.png");
    cr_expect_eq(difference(first, last), 0, "steps back do not come back");
    stbi_image_free(first.rgb);
    xdotool("key space");
    await_title("paused", false);
    expect_change(&last, "time");
    press("bracketright", ", x2");
    press("bracketleft bracketleft", ", x0.5");
    xdotool("key BackSpace");
    await_title("x0.5", false);
    stbi_image_free(last.rgb);
    quit();
}

Test(view, crowd_and_work_change_while_it_runs)
{
    begin("--size 256x160 --count 12 --samples 1 --shadow 128 --threads 2 --json");
    await_title("12 characters, 2 threads", true);
    press("Page_Up", "24 characters");
    press("plus", "26 characters");
    press("minus minus", "22 characters");
    press("Page_Down", "11 characters");
    press("t", "3 threads");
    press("T T", "1 thread");
    press("t", "2 threads");
    press("j", ", serial");
    press("p", ", quat");
    press("i", ", step");
    press("m", ", idle");
    press("l", ", ring");
    press("k", ", lod");
    press("o", ", no shadows");
    press("v", ", no vsync");
    xdotool("key J p p p I M L K o v"); /* quat16, auto, f32 */
    await_title("shadows", false);
    await(title_has("") && strcmp(title, "Throng - 11 characters, 2 threads") == 0);
    cr_expect_str_eq(title, "Throng - 11 characters, 2 threads");
    press("p", ", quat");
    quit();
    json_t *json = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
    cr_assert(json, "%s", out);
    cr_expect_eq(json_integer_value(json_object_get(json, "characters")), 11);
    cr_expect_eq(json_integer_value(json_object_get(json, "threads")), 2);
    cr_expect_str_eq(json_string_value(json_object_get(json, "palette")), "quat");
    cr_expect_gt(json_integer_value(json_object_get(json, "frames")), 16);
    json_decref(json);
}

Test(view, each_change_is_seen)
{
    static const char *const keys[] = {"Page_Up", "m", "l", "k", "o"};
    begin(small);
    press("space", "paused");
    xdotool("key Tab");
    picture last = shoot();
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        char before[256];
        snprintf(before, sizeof before, "%s", title);
        xdotool("key %s", keys[k]);
        await_title(before, false);
        expect_change(&last, keys[k]);
    }
    expect_peace(&last, "nothing");
    xdotool("key h");
    expect_change(&last, "help");
    expect_peace(&last, "help that stays");
    xdotool("key Escape");
    expect_change(&last, "no more help");
    xdotool("key Tab");
    expect_change(&last, "figures");
    stbi_image_free(last.rgb);
    quit();
}

Test(view, screenshots_overwrite_nothing)
{
    FILE *file = fopen("throng-0001.png", "w");
    fputs("dear to somebody", file);
    fclose(file);
    begin(small);
    shots = 1;
    const picture p = shoot();
    cr_expect(p.width == 256 && p.height == 160);
    stbi_image_free(p.rgb);
    quit();
    cr_expect(strstr(err, "throng-0002.png"), "%s", err);
    slurp("throng-0001.png", out, sizeof out);
    cr_expect_str_eq(out, "dear to somebody");
}

/* The screen as Xvfb writes it to a file, in the format of xwd: 25 numbers, colours, then rows of 4 bytes a pixel. */
static bool is_on_screen(picture p, int rows)
{
    FILE *file = fopen(getenv("TEST_SCREEN"), "rb");
    cr_assert(file, "no %s", getenv("TEST_SCREEN"));
    uint8_t head[100];
    static uint8_t row[4 * 4096];
    uint32_t n[25];
    bool same = fread(head, sizeof head, 1, file) == 1;
    for (int k = 0; k < 25; k++)
        n[k] = (uint32_t)head[4 * k] << 24 | (uint32_t)head[4 * k + 1] << 16 | (uint32_t)head[4 * k + 2] << 8 |
               head[4 * k + 3];
    for (int y = 0; y < rows && same; y++) {
        fseek(file, (long)(n[0] + 12 * n[19] + (uint32_t)y * n[12]), SEEK_SET);
        same = fread(row, 4, (size_t)p.width, file) == (size_t)p.width;
        for (int x = 0; x < p.width && same; x++)
            for (int c = 0; c < 3; c++)
                same = same && row[4 * x + 2 - c] == p.rgb[3 * (y * p.width + x) + c];
    }
    fclose(file);
    return same;
}

Test(view, window_shows_the_picture_at_any_size)
{
    enum { MESSAGE = 40 }; /* lies at the bottom for a while: where the picture is */
    static const int sizes[][2] = {{256, 160}, {400, 300}, {111, 333}, {640, 90}};
    if (!getenv("TEST_SCREEN"))
        cr_skip_test("tests/with_screen.sh lets the screen be read");
    begin(small);
    press("space", "paused");
    xdotool("key Tab mousemove 1500 1100"); /* the cursor is part of the screen */
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        picture p = {0};
        xdotool("windowsize %s %d %d", window, sizes[s][0], sizes[s][1]);
        for (int k = 0; k < PATIENCE_S && (p.width != sizes[s][0] || p.height != sizes[s][1]); k++) {
            stbi_image_free(p.rgb);
            p = shoot();
        }
        cr_assert(p.width == sizes[s][0] && p.height == sizes[s][1], "%d x %d", p.width, p.height);
        await(is_on_screen(p, p.height - MESSAGE));
        cr_expect(is_on_screen(p, p.height - MESSAGE), "%d x %d", p.width, p.height);
        stbi_image_free(p.rgb);
    }
    quit();
}

/* Takes long enough to be caught at it. */
static void write_large_model(const char *path)
{
    FILE *file = fopen(path, "w");
    for (int k = 0; k < 300000; k++)
        fprintf(file, "v %d %d %d\nf -1 -1 -1\n", k % 7, k % 11, k % 13);
    cr_assert_eq(fclose(file), 0);
}

/* The importer stands still, so there will never be a model. */
Test(view, ends_while_models_are_read_and_leaves_nobody_behind)
{
    char child[64] = "", line[64];
    write_large_model("large.obj");
    start("--size 256x160 --model large.obj --import-timeout 80000");
    await(ask(child, sizeof child, "grep -ls '^PPid:[^0-9]*%d$' /proc/[0-9]*/status", (int)viewer) && child[0]);
    cr_assert(child[0], "no importer");
    const pid_t importer = atoi(child + strlen("/proc/"));
    /* Then it has asked to die with whoever waits for it. */
    await(ask(line, sizeof line, "grep -s '^Max file size  *0 ' /proc/%d/limits", (int)importer));
    cr_assert_neq(line[0], '\0');
    kill(importer, SIGSTOP);
    const picture waiting = shoot(); /* the window reacts */
    stbi_image_free(waiting.rgb);
    await_title("loading", true);
    quit();
    cr_expect_eq(out[0], '\0', "%s", out);
    await(!ask(line, sizeof line, "grep -s '^State:' %s", child) || strchr(line, 'Z'));
    cr_expect(line[0] == '\0' || strchr(line, 'Z'), "the importer is still there: %s", line);
}

Test(view, ends_when_the_window_is_closed_or_the_frames_are_over)
{
    begin(small);
    xdotool("key ctrl+q");
    cr_expect_eq(finish(), 0, "%s", err);
    cr_expect(strstr(out, " a second"), "%s", out);
    json_t *json = document("view " RIG "--size 256x160 --count 5 --samples 1 --shadow 0 --frames 3 --json");
    cr_expect_eq(json_integer_value(json_object_get(json, "frames")), 3);
    cr_expect_eq(json_integer_value(json_object_get(json, "characters")), 5);
    cr_expect_eq(json_object_size(json_object_get(json, "frame_ms")), 3);
    cr_expect(json_is_string(json_object_get(json, "renderer")));
    json_decref(json);
}

Test(view, buttons_do_what_keys_do_and_help_closes_after_its_last_page)
{
    begin(small);
    xdotool("mousemove 240 152 click 1"); /* the last button is in the corner */
    await_title("paused", true);
    xdotool("click 1");
    await_title("paused", false);
    press("space", "paused");
    xdotool("mousemove 100 60 key Tab");
    picture last = shoot();
    int pages = 0;
    for (xdotool("key F1"); shoot_and_compare(&last) > 0.001 && pages < 20; pages++) {
        const picture first = load("throng-0001.png");
        const bool closed = difference(first, last) == 0;
        stbi_image_free(first.rgb);
        if (closed)
            break;
        xdotool("key F1");
    }
    cr_expect(pages > 1 && pages < 10, "%d pages in a small window", pages);
    stbi_image_free(last.rgb);
    quit();
}

Test(view, an_interrupt_ends_it_with_a_summary)
{
    static const int signals[][2] = {{SIGINT, 130}, {SIGTERM, 143}};
    for (int i = 0; i < 2; i++) {
        begin(small);
        kill(viewer, signals[i][0]);
        cr_expect_eq(finish(), signals[i][1], "%s", err);
        cr_expect(strstr(out, " a second"), "%s", out);
        cr_expect_str_eq(err, "");
    }
}

Test(view, leaves_a_trace_of_its_frames)
{
    static const char *const stages[] = {"wait", "cull", "pose", "draw"};
    static char text[1 << 20];
    expect(0, "view " RIG "--size 256x160 --count 40 --samples 1 --frames 3 --trace t.json", "");
    slurp("t.json", text, sizeof text);
    json_t *trace = trace_read(text);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(sum_spans(trace, "throng view", "stage", stages[i]).count, 3, "%s", stages[i]);
    const size_t frames = sum_spans(trace, NULL, "frame", NULL).count;
    cr_expect_geq(frames, 3, "and those that say that a model is read");
    cr_expect_eq(sum_spans(trace, NULL, "stage", "hud").count, frames);
    cr_expect_eq(sum_spans(trace, NULL, "stage", "swap").count, frames);
    cr_expect_gt(sum_spans(trace, NULL, "chunk", "pose").count, 0);
    json_decref(trace);
}

Test(view, unusable_models_are_said)
{
    expect(3, "view --model missing.glb", "missing.glb");
    expect(2, "view --clip fish", "no clip \"fish\"");
}

Test(view_alone, without_a_display_there_is_one_clear_error, .init = make_folder, .fini = remove_folder)
{
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    expect(4, "view", "no window");
    cr_expect_eq(strchr(err, '\n'), err + strlen(err) - 1, "%s", err);
}

/* ---- the demo ---- */

Test(view, the_demo_plays_in_a_window_and_ends_by_itself)
{
    expect(0, "demo --frames 30 --size 256x160 --count 40 --samples 1 --shadow 64", "");
    cr_expect(strncmp(out, "characters  40\n", 15) == 0 && strstr(out, "\nmachine     "), "%s", out);
}
