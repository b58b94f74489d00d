/* `throng demo` from outside: a film of all scenes with a card at its end, and what goes wrong. */
#include "fixture_program.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILM "demo --frames 8 --fps 20 --size 96x54 --samples 1 --shadow 64 --count 60 --threads 2"

/* No OpenGL at all is no failure of the program's. */
static void make_folder_and_try(void)
{
    make_folder();
    need_opengl();
}

TestSuite(demo, .init = make_folder_and_try, .fini = remove_folder);

static size_t read_file(const char *name, char *into, size_t size)
{
    FILE *file = fopen(name, "rb");
    cr_assert_neq(file, NULL, "%s", name);
    const size_t bytes = fread(into, 1, size, file);
    fclose(file);
    return bytes;
}

/* Twice, and the crowd is the same; the card has times. */
Test(demo, films_the_scenes_and_states_its_figures)
{
    static const char *const members[] = {"bones_per_s", "characters", "cpu",      "frame_ms", "frames",
                                          "out",         "renderer",   "software", "seconds",  "threads"};
    static char first[1 << 16], second[1 << 16];
    json_t *d = document(FILM " --out a%d.png --json");
    for (size_t m = 0; m < sizeof members / sizeof *members; m++)
        cr_expect(json_object_get(d, members[m]), "%s", members[m]);
    cr_expect_eq(json_object_size(d), sizeof members / sizeof *members);
    cr_expect_eq(json_integer_value(json_object_get(d, "characters")), 60);
    cr_expect_eq(json_integer_value(json_object_get(d, "threads")), 2);
    cr_expect_gt(json_real_value(json_object_get(d, "bones_per_s")), 0);
    const json_t *ms = json_object_get(d, "frame_ms");
    cr_expect_geq(json_real_value(json_object_get(ms, "p99")), json_real_value(json_object_get(ms, "p50")));
    cr_expect_gt(json_real_value(json_object_get(ms, "p50")), 0);
    json_decref(d);
    cr_expect_eq(access("a7.png", F_OK), 0, "0.4 s of 20 frames are 8");
    cr_expect_neq(access("a8.png", F_OK), 0);
    expect(0, FILM " --out b%d.png", "");
    cr_expect(strstr(out, "characters  60\n") && strstr(out, "bones a second\n"), "%s", out);
    for (int frame = 0; frame < 5; frame++) {
        char a[32], b[32];
        snprintf(a, sizeof a, "a%d.png", frame);
        snprintf(b, sizeof b, "b%d.png", frame);
        const size_t size = read_file(a, first, sizeof first);
        cr_expect(size == read_file(b, second, sizeof second) && memcmp(first, second, size) == 0, "frame %d", frame);
    }
}

Test(demo, without_a_display_it_names_the_film)
{
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    cr_expect_eq(throng("demo"), 4);
    cr_expect(strstr(err, "; --out demo.mp4 writes a film instead\n"), "%s", err);
}
