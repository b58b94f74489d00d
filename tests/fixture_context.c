#include "fixture_context.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

th_gl *open_context(void)
{
    th_gl *gl;
    th_error err;
    const th_gl_desc desc = {.want = TH_GL_HEADLESS, .debug = true};
    if (th_gl_create(&desc, &gl, &err) != TH_OK)
        cr_skip_test("no OpenGL here: %s", err.text);
    return gl;
}

void close_context(th_gl *gl)
{
    th_error err;
    const char *first;
    cr_expect_eq(th_gl_check(gl, "at the end", &err), TH_OK, "%s", err.text);
    cr_expect_eq(th_gl_messages(gl, &first), 0, "%s", first);
    th_gl_destroy(gl);
}

th_gl *open_llvmpipe(void)
{
    th_gl *gl = open_context();
    if (!is_llvmpipe(gl))
        cr_skip_test("the stored pictures are those of llvmpipe, and this is %s", th_gl_get_info(gl)->renderer);
    return gl;
}

bool is_llvmpipe(const th_gl *gl)
{
    return strstr(th_gl_get_info(gl)->renderer, "llvmpipe") != NULL;
}
