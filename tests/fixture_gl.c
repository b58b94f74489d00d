#include "fixture_gl.h"

#include <criterion/criterion.h>
#include <stdlib.h>

th_gl *gl;

void open_headless(void)
{
    const th_gl_desc desc = {.want = TH_GL_HEADLESS, .debug = true};
    th_error err;
    cr_assert_eq(th_gl_create(&desc, &gl, &err), TH_OK, "%s", err.text);
}

void close_checked(void)
{
    th_error err;
    cr_expect_eq(th_gl_check(gl, "at the end", &err), TH_OK, "%s", err.text);
    const char *first;
    cr_expect_eq(th_gl_messages(gl, &first), 0, "%s", first);
    th_gl_destroy(gl);
    gl = NULL;
}

void forget_displays(void)
{
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
}
