/* Contexts: which one is opened, what is said about it, and what when none can be. Windows need a display, so those
 * tests are skipped without one; CTest runs them under Xvfb. Some tests bend Mesa by environment variables, or EGL by
 * standing between, for which they have processes of their own. */
#include "fixture_gl.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <glad/egl.h>
#include <glad/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool hide_library, hide_surfaceless, hide_software_mark, hide_storage_blocks;
static th_error err;

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
    return __real_dlopen(hide_library && name && strstr(name, "libEGL") ? "libnowhere.so.1" : name, flags);
}

static const char *no_extensions(EGLDeviceEXT device, EGLint name)
{
    (void)device, (void)name;
    return "";
}

int __real_gladLoadEGL(EGLDisplay display, GLADloadfunc load);
int __wrap_gladLoadEGL(EGLDisplay display, GLADloadfunc load);
int __wrap_gladLoadEGL(EGLDisplay display, GLADloadfunc load)
{
    int version = __real_gladLoadEGL(display, load);
    if (hide_surfaceless)
        GLAD_EGL_MESA_platform_surfaceless = 0;
    if (hide_software_mark)
        eglQueryDeviceStringEXT = no_extensions;
    return version;
}

static void no_storage_blocks(GLenum name, GLint64 *value)
{
    (void)name;
    *value = 0;
}

int __real_gladLoadGL(GLADloadfunc load);
int __wrap_gladLoadGL(GLADloadfunc load);
int __wrap_gladLoadGL(GLADloadfunc load)
{
    int version = __real_gladLoadGL(load);
    if (hide_storage_blocks)
        glad_glGetInteger64v = no_storage_blocks;
    return version;
}

static void open_headless(void)
{
    cr_assert_eq(th_gl_create(&(th_gl_desc){.want = TH_GL_HEADLESS, .debug = true}, &gl, &err), TH_OK, "%s", err.text);
}

static void forget_displays(void)
{
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
}

static void expect_in(const char *text, const char *part)
{
    cr_expect(strstr(text, part), "\"%s\" lacks \"%s\"", text, part);
}

/* Mesa takes its variables from the environment once. Drivers that know nothing of them open a context as ever. */
static void skip_unless_mesa(void)
{
    if (strstr(th_gl_get_info(gl)->version, "Mesa"))
        return;
    th_gl_destroy(gl);
    cr_skip("not Mesa");
}

static void expect_no_context(th_gl_want want, const char *const *parts)
{
    const th_gl_desc desc = {.want = want};
    err = (th_error){0};
    gl = (th_gl *)&gl;
    th_result result = th_gl_create(&desc, &gl, &err);
    if (result == TH_OK)
        skip_unless_mesa();
    cr_assert_eq(result, TH_ERR_ENVIRONMENT);
    cr_expect_null(gl);
    cr_expect_eq(err.code, TH_ERR_ENVIRONMENT);
    for (; *parts; parts++)
        expect_in(err.text, *parts);
}

static void expect_debug_context(bool debug)
{
    GLint flags = 0;
    glGetIntegerv(GL_CONTEXT_FLAGS, &flags);
    cr_expect_eq((flags & GL_CONTEXT_FLAG_DEBUG_BIT) != 0, debug);
}

CHECK(gl, opens_without_a_display)
{
    forget_displays();
    open_headless();
    const th_gl_info *info = th_gl_get_info(gl);
    cr_log_info("%s: %s, %s, %s", th_gl_kind_name(info->kind), info->vendor, info->renderer, info->version);
    cr_expect_neq(info->kind, TH_GL_KIND_WINDOW);
    cr_expect_null(th_gl_window(gl));
    expect_debug_context(true);
    cr_expect_geq(info->vertex_storage_blocks, 1);
    cr_expect_geq(info->storage_block_bytes, 1u << 24); /* what the standard allows at least */
    cr_expect_geq(info->shared_memory_bytes, 1u << 15);
    cr_expect_geq(info->texture_buffer_texels, 1u << 16);
    cr_expect_geq(info->max_samples, 4);
    cr_expect(info->storage_offset_alignment >= 1 && info->storage_offset_alignment <= 256);
    th_gl_swap(gl);
    close_gl();
}

CHECK(gl, goes_without_a_window_where_there_is_no_display)
{
    forget_displays();
    cr_assert_eq(th_gl_create(&(th_gl_desc){.debug = true}, &gl, &err), TH_OK, "%s", err.text);
    cr_expect_neq(th_gl_get_info(gl)->kind, TH_GL_KIND_WINDOW);
    close_gl();
}

CHECK(gl, a_window_needs_a_display)
{
    forget_displays();
    expect_no_context(TH_GL_WINDOW, (const char *[]){"no window with OpenGL 4.3", "DISPLAY", NULL});
}

CHECK(gl, tells_software_from_a_gpu)
{
    open_headless();
    const th_gl_info *info = th_gl_get_info(gl);
    if (strstr(info->renderer, "llvmpipe")) {
        cr_expect(info->software);
        cr_expect_eq(info->kind, TH_GL_KIND_SURFACELESS);
    }
    cr_expect_eq(info->timer_queries, !info->software);
    close_gl();
}

CHECK(gl, two_contexts_on_one_display_go_their_own_ways)
{
    open_headless();
    th_gl *first = gl;
    open_headless();
    th_gl_destroy(first);
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    cr_expect(glIsBuffer(buffer));
    glDeleteBuffers(1, &buffer);
    cr_expect(eglQueryString(eglGetCurrentDisplay(), EGL_VERSION), "the display went with the first");
    close_gl();
    cr_expect_eq(eglGetCurrentContext(), EGL_NO_CONTEXT);
    open_headless();
    close_gl();
}

Test(gl, says_that_opengl_is_too_old)
{
    setenv("MESA_GL_VERSION_OVERRIDE", "4.2", 1);
    forget_displays();
    expect_no_context(TH_GL_ANY, (const char *[]){"no OpenGL 4.3: window: ", "not a GPU; ", "EGL device 0: ",
                                                  "EGL surfaceless: ", "has OpenGL 4.2, and 4.3 is needed", NULL});
}

Test(gl, says_that_opengl_is_far_too_old)
{
    setenv("MESA_GL_VERSION_OVERRIDE", "2.1", 1);
    expect_no_context(TH_GL_HEADLESS, (const char *[]){"EGL surfaceless: no context: EGL_", NULL});
}

static void expect_buffer_storage(bool wanted)
{
    open_headless();
    skip_unless_mesa();
    cr_expect_eq(th_gl_get_info(gl)->buffer_storage, wanted);
    close_gl();
}

CHECK(gl, sees_that_buffers_can_stay_mapped)
{
    expect_buffer_storage(true);
}

/* Mesa reads once in a process what it should hide. */
Test(gl, sees_that_buffers_cannot_stay_mapped)
{
    setenv("MESA_EXTENSION_OVERRIDE", "-GL_ARB_buffer_storage", 1);
    expect_buffer_storage(false);
}

CHECK(gl, needs_storage_blocks_in_vertex_shaders)
{
    hide_storage_blocks = true;
    expect_no_context(TH_GL_HEADLESS, (const char *[]){"EGL surfaceless: ", "vertex shaders cannot read", NULL});
}

Test(gl, says_that_there_is_no_egl)
{
    forget_displays();
    hide_library = true;
    expect_no_context(TH_GL_ANY, (const char *[]){"window: ", "EGL device: lib", "EGL surfaceless: lib",
                                                  "cannot open shared object", NULL});
}

Test(gl, says_that_egl_has_no_driver)
{
    setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/nowhere.json", 1);
    expect_no_context(TH_GL_HEADLESS,
                      (const char *[]){"EGL device: ", "EGL surfaceless: ", "no driver is installed", NULL});
}

CHECK(gl, takes_a_software_device_last)
{
    hide_surfaceless = true;
    open_headless();
    skip_unless_mesa();
    cr_expect_eq(th_gl_get_info(gl)->kind, TH_GL_KIND_DEVICE);
    close_gl();
}

CHECK(gl, takes_no_software_for_a_gpu)
{
    open_headless();
    const bool software = th_gl_get_info(gl)->software;
    close_gl();
    if (!software)
        cr_skip("there is a GPU");
    hide_software_mark = true;
    open_headless();
    cr_expect_eq(th_gl_get_info(gl)->kind, TH_GL_KIND_SURFACELESS);
    close_gl();
    hide_surfaceless = true;
    open_headless();
    cr_expect_eq(th_gl_get_info(gl)->kind, TH_GL_KIND_DEVICE);
    close_gl();
}

CHECK(gl, lists_a_device_once)
{
    hide_software_mark = hide_surfaceless = hide_storage_blocks = true;
    cr_assert_eq(th_gl_create(&(th_gl_desc){.want = TH_GL_HEADLESS}, &gl, &err), TH_ERR_ENVIRONMENT);
    const char *device = strstr(err.text, "EGL device 0: ");
    cr_assert(device, "%s", err.text);
    cr_expect_null(strstr(device + 1, "EGL device 0: "), "%s", err.text);
}

static void insert(GLenum type, GLenum severity, const char *text)
{
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, type, 1, severity, -1, text);
}

CHECK(gl, counts_messages_and_keeps_the_first)
{
    open_headless();
    const char *first = "";
    cr_expect_eq(th_gl_messages(gl, &first), 0);
    cr_expect_null(first);
    glEnable(GL_TRIANGLES); /* no such thing to enable */
    insert(GL_DEBUG_TYPE_PORTABILITY, GL_DEBUG_SEVERITY_LOW, "second");
    cr_expect_eq(th_gl_messages(gl, &first), 2);
    expect_in(first, "glEnable");
    insert(GL_DEBUG_TYPE_ERROR, GL_DEBUG_SEVERITY_HIGH, "third");
    cr_expect_eq(th_gl_messages(gl, &first), 3);
    expect_in(first, "glEnable");
    th_gl_destroy(gl);
}

CHECK(gl, does_not_count_notifications_and_advice)
{
    open_headless();
    insert(GL_DEBUG_TYPE_OTHER, GL_DEBUG_SEVERITY_NOTIFICATION, "by the way");
    insert(GL_DEBUG_TYPE_PERFORMANCE, GL_DEBUG_SEVERITY_HIGH, "slow");
    close_gl();
}

CHECK(gl, fails_once_for_each_message)
{
    open_headless();
    cr_expect_eq(th_gl_check(gl, "before", &err), TH_OK);
    insert(GL_DEBUG_TYPE_ERROR, GL_DEBUG_SEVERITY_HIGH, "one\nmessage \n");
    cr_expect_eq(th_gl_check(gl, "now", &err), TH_ERR_ENVIRONMENT);
    cr_expect_str_eq(err.text, "now: one message");
    cr_expect_eq(th_gl_check(gl, "after", &err), TH_OK);
    insert(GL_DEBUG_TYPE_ERROR, GL_DEBUG_SEVERITY_HIGH, "another");
    cr_expect_eq(th_gl_messages(gl, NULL), 2);
    cr_expect_eq(th_gl_check(gl, "later", &err), TH_ERR_ENVIRONMENT);
    cr_expect_str_eq(err.text, "later: another");
    th_gl_destroy(gl);
}

static PFNGLGETINTEGERVPROC get_integer;

static void lengthen(GLenum name, GLint *value)
{
    get_integer(name, value);
    if (name == GL_DEBUG_NEXT_LOGGED_MESSAGE_LENGTH && *value > 0)
        *value += 70000;
}

/* Mesa has none that do not fit. */
CHECK(gl, takes_messages_of_any_length)
{
    open_headless();
    get_integer = glad_glGetIntegerv;
    glad_glGetIntegerv = lengthen;
    insert(GL_DEBUG_TYPE_ERROR, GL_DEBUG_SEVERITY_HIGH, "long");
    insert(GL_DEBUG_TYPE_ERROR, GL_DEBUG_SEVERITY_HIGH, "and on");
    const char *first;
    cr_expect_eq(th_gl_messages(gl, &first), 2);
    cr_expect_str_eq(first, "a message of 70005 bytes");
    th_gl_destroy(gl);
}

CHECK(gl, names_errors_without_a_debug_context)
{
    cr_assert_eq(th_gl_create(&(th_gl_desc){.want = TH_GL_HEADLESS}, &gl, &err), TH_OK, "%s", err.text);
    expect_debug_context(false);
    glEnable(GL_TRIANGLES);
    glBindFramebuffer(GL_FRAMEBUFFER, 77);
    cr_expect_eq(th_gl_check(gl, "enabling", &err), TH_ERR_ENVIRONMENT);
    cr_expect_str_eq(err.text, "enabling: GL_INVALID_ENUM");
    cr_expect_eq(th_gl_check(gl, "after", &err), TH_OK);
    cr_expect_eq(th_gl_messages(gl, NULL), 0);
    th_gl_destroy(gl);
}

static void begin_check(void)
{
    hide_library = hide_surfaceless = hide_software_mark = hide_storage_blocks = false;
    err = (th_error){0};
}

/* Of which nothing ends with ours. */
CHECK(gl, draws_in_a_context_of_the_caller)
{
    open_headless();
    th_gl *theirs = gl;
    cr_assert_eq(th_gl_create(&(th_gl_desc){.load = eglGetProcAddress, .debug = true}, &gl, &err), TH_OK);
    cr_expect_eq(th_gl_get_info(gl)->kind, TH_GL_KIND_CURRENT);
    cr_expect_str_eq(th_gl_get_info(gl)->renderer, th_gl_get_info(theirs)->renderer);
    cr_expect_null(th_gl_window(gl));
    th_target *target = make_target(16, 16, 4);
    th_target_bind(target);
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    cr_expect_arr_eq(read_target(target), ((uint8_t[]){255, 0, 0, 255}), 4);
    end_all();
    cr_expect_eq(th_gl_check(gl, "in a context of the caller", &err), TH_OK, "%s", err.text);
    th_gl_destroy(gl);
    cr_expect_eq(eglGetError(), EGL_SUCCESS);
    cr_expect(eglGetCurrentContext() && glGetString(GL_VERSION));
    th_gl_destroy(theirs);
    cr_expect_eq(th_gl_create(&(th_gl_desc){.load = eglGetProcAddress}, &gl, &err), TH_ERR_ENVIRONMENT);
    expect_in(err.text, "the current context");
}

/* What another driver may skip comes last. */
Test(gl, checks)
{
    before_check = begin_check;
    run_checks("gl");
}

static void skip_without_display(void)
{
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
        cr_skip("no display; xvfb-run gives one");
}

TestSuite(gl_window, .init = skip_without_display);

static void open_window(const th_gl_desc *desc)
{
    cr_assert_eq(th_gl_create(desc, &gl, &err), TH_OK, "%s", err.text);
    cr_expect_eq(th_gl_get_info(gl)->kind, TH_GL_KIND_WINDOW);
    cr_assert(th_gl_window(gl));
}

CHECK(gl_window, opens_where_there_is_a_display)
{
    open_window(&(th_gl_desc){.width = 64, .height = 48, .title = "A test", .debug = true});
    expect_debug_context(true);
    th_gl_swap(gl);
    close_gl();
    open_window(&(th_gl_desc){.want = TH_GL_WINDOW, .vsync = true, .debug = true});
    GLint viewport[4];
    glGetIntegerv(GL_VIEWPORT, viewport);
    cr_expect_eq(viewport[2], 1280);
    cr_expect_eq(viewport[3], 720);
    th_gl_swap(gl);
    close_gl();
}

CHECK(gl_window, stays_away_when_not_wanted)
{
    open_headless();
    cr_expect_neq(th_gl_get_info(gl)->kind, TH_GL_KIND_WINDOW);
    close_gl();
}

CHECK(gl_window, outlives_another)
{
    open_window(&(th_gl_desc){.debug = true});
    th_gl *first = gl;
    open_window(&(th_gl_desc){.debug = true});
    th_gl_destroy(first);
    th_gl_swap(gl);
    close_gl();
}

Test(gl_window, says_that_opengl_is_too_old)
{
    setenv("MESA_GL_VERSION_OVERRIDE", "4.2", 1);
    expect_no_context(TH_GL_WINDOW, (const char *[]){"window: ", "has OpenGL 4.2, and 4.3 is needed", NULL});
}

Test(gl_window, checks)
{
    run_checks("gl_window");
}
