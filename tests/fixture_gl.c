#include "fixture_gl.h"

#include <criterion/criterion.h>
#include <string.h>

th_gl *gl;

END_BY(th_target_destroy)

void open_gl(void)
{
    const th_gl_desc desc = {.want = TH_GL_HEADLESS, .debug = true};
    th_error err;
    if (th_gl_create(&desc, &gl, &err) != TH_OK)
        cr_skip_test("no OpenGL here: %s", err.text);
}

void open_llvmpipe(void)
{
    open_gl();
    if (!is_llvmpipe())
        cr_skip_test("the stored pictures are those of llvmpipe, and this is %s", th_gl_get_info(gl)->renderer);
}

void close_gl(void)
{
    th_error err;
    const char *first;
    end_all();
    if (!gl) /* the test was skipped */
        return;
    cr_expect_eq(th_gl_check(gl, "at the end", &err), TH_OK, "%s", err.text);
    cr_expect_eq(th_gl_messages(gl, &first), 0, "%s", first);
    th_gl_destroy(gl);
    gl = NULL;
}

bool is_llvmpipe(void)
{
    return strstr(th_gl_get_info(gl)->renderer, "llvmpipe") != NULL;
}

th_target *make_target(uint32_t width, uint32_t height, uint32_t samples)
{
    th_target *target;
    th_error err;
    const th_target_desc desc = {.width = width, .height = height, .samples = samples};
    cr_assert_eq(th_target_create(&desc, &target, &err), TH_OK, "%s", err.text);
    return at_end(end_by_th_target_destroy, target);
}

uint8_t *read_target(const th_target *target)
{
    uint8_t *rgba = borrow(th_target_bytes(target));
    th_target_resolve(target);
    th_target_read(target, rgba);
    return rgba;
}
