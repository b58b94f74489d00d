/* Contexts in a window of GLFW, or without one by EGL. libEGL is loaded at run time, so everything that does not draw
 * also runs without it. */
#include <render/gl.h>

#include "gl_backend.h"

#include <core/text_format.h>

#include <glad/egl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <assert.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* GLFW is global to the program; the last window terminates it. */
static uint32_t window_count;

/* eglTerminate ends a display for all of its contexts, so only the last context on the display may call it. This list
 * finds the others. */
static th_gl *living;

static GLADloadfunc get_proc; /* of EGL */

enum { MAX_DEVICES = 16 };

const char *th_gl_kind_name(th_gl_kind kind)
{
    static const char *const names[] = {"window", "EGL device", "EGL surfaceless", "the caller's"};
    return names[kind];
}

/* The attempts that failed, and why. Truncated when full. */
typedef struct tries {
    char text[960];
} tries;

/* Returns false. */
__attribute__((format(printf, 3, 4))) static bool failed(tries *tried, const char *way, const char *format, ...)
{
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    th_append(tried->text, sizeof tried->text, "%s%s: %s", tried->text[0] ? "; " : "", way, why);
    return false;
}

static uint32_t limit(GLenum what)
{
    GLint64 value = 0;
    glGetInteger64v(what, &value);
    return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* Loads OpenGL for the current context and fills gl->info except the kind. Fails when the context lacks a required
 * feature. */
static bool load_gl(th_gl *gl, GLADloadfunc load, const char *way, tries *tried)
{
    static const char *const software[] = {"llvmpipe", "softpipe", "swrast", "software", "swiftshader", "lavapipe"};
    const int version = gladLoadGL(load);
    if (version < GLAD_MAKE_VERSION(4, 3)) {
        const char *renderer = version ? (const char *)glGetString(GL_RENDERER) : "the driver";
        return failed(tried, way, "%s has OpenGL %d.%d, and 4.3 is needed", renderer, GLAD_VERSION_MAJOR(version),
                      GLAD_VERSION_MINOR(version));
    }
    th_gl_info *info = &gl->info;
    info->vendor = (const char *)glGetString(GL_VENDOR);
    info->renderer = (const char *)glGetString(GL_RENDERER);
    info->version = (const char *)glGetString(GL_VERSION);
    info->software = false;
    for (size_t i = 0; i < sizeof software / sizeof *software; i++)
        info->software |= strcasestr(info->renderer, software[i]) != NULL;
    info->timer_queries = !info->software;
    info->buffer_storage = GLAD_GL_ARB_buffer_storage;
    info->vertex_storage_blocks = limit(GL_MAX_VERTEX_SHADER_STORAGE_BLOCKS);
    info->storage_offset_alignment = limit(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT);
    info->storage_block_bytes = limit(GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
    info->shared_memory_bytes = limit(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
    info->texture_buffer_texels = limit(GL_MAX_TEXTURE_BUFFER_SIZE);
    info->max_samples = limit(GL_MAX_SAMPLES);
    if (info->vertex_storage_blocks == 0)
        return failed(tried, way, "vertex shaders cannot read storage blocks, where palettes lie, with %s",
                      info->renderer);
    return true;
}

/* ---- with a window ---- */

static const char *last_error(void)
{
    const char *text = NULL;
    glfwGetError(&text);
    return text ? text : "GLFW does not say why";
}

/* The window shows finished pictures only, so it needs no depth, stencil or samples. */
static GLFWwindow *create_window(const th_gl_desc *desc, int major, int minor)
{
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, major);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, minor);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_DEBUG_CONTEXT, desc->debug);
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    return glfwCreateWindow(desc->width ? (int)desc->width : 1280, desc->height ? (int)desc->height : 720,
                            desc->title ? desc->title : "Throng", NULL, NULL);
}

/* This and those below: on success the context is current and `gl` is complete; on failure nothing is left behind. */
static bool open_window(th_gl *gl, const th_gl_desc *desc, tries *tried)
{
    if (!glfwInit())
        return failed(tried, "window", "%s", last_error());
    gl->window = create_window(desc, 4, 3);
    const char *why = gl->window ? "" : last_error();
    if (!gl->window)
        gl->window = create_window(desc, 3, 2); /* lets load_gl report the version */
    if (gl->window) {
        glfwMakeContextCurrent(gl->window);
        if (load_gl(gl, glfwGetProcAddress, "window", tried)) {
            window_count++;
            glfwSwapInterval(desc->vsync ? 1 : 0);
            gl->info.kind = TH_GL_KIND_WINDOW;
            return true;
        }
        glfwDestroyWindow(gl->window);
        gl->window = NULL;
    } else {
        failed(tried, "window", "%s", why);
    }
    if (window_count == 0)
        glfwTerminate();
    return false;
}

/* ---- without a window ----
 *
 * glad keeps EGL's extensions and functions in globals. It loads them twice: once without a display, to list devices,
 * and once for the chosen display, whose version determines the functions. */

static const char *error_name(EGLint error)
{
    static const char *const names[] = {"EGL_SUCCESS",       "EGL_NOT_INITIALIZED",     "EGL_BAD_ACCESS",
                                        "EGL_BAD_ALLOC",     "EGL_BAD_ATTRIBUTE",       "EGL_BAD_CONFIG",
                                        "EGL_BAD_CONTEXT",   "EGL_BAD_CURRENT_SURFACE", "EGL_BAD_DISPLAY",
                                        "EGL_BAD_MATCH",     "EGL_BAD_NATIVE_PIXMAP",   "EGL_BAD_NATIVE_WINDOW",
                                        "EGL_BAD_PARAMETER", "EGL_BAD_SURFACE",         "EGL_CONTEXT_LOST"};
    EGLint i = error - EGL_SUCCESS;
    return i >= 0 && i < (EGLint)(sizeof names / sizeof *names) ? names[i] : "an unknown error";
}

/* The library stays loaded until the process ends: some drivers crash when they are unloaded. */
static bool load_client(const char *way, tries *tried)
{
    if (!get_proc) {
        void *library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "eglGetProcAddress") : NULL;
        if (!symbol)
            return failed(tried, way, "%s", dlerror());
        memcpy(&get_proc, &symbol, sizeof get_proc);
    }
    if (!gladLoadEGL(EGL_NO_DISPLAY, get_proc) || !GLAD_EGL_EXT_platform_base)
        return failed(tried, way, "EGL lacks EGL_EXT_platform_base, as it does when no driver is installed");
    return true;
}

static EGLContext create_context(EGLDisplay display, bool debug, EGLint major, EGLint minor)
{
    static const EGLint config_attributes[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(display, config_attributes, &config, 1, &count))
        return EGL_NO_CONTEXT;
    if (count == 0) /* eglCreateContext will report the error */
        config = NULL;
    /* clang-format off */
    const EGLint attributes[] = {
        EGL_CONTEXT_MAJOR_VERSION_KHR, major,
        EGL_CONTEXT_MINOR_VERSION_KHR, minor,
        EGL_CONTEXT_OPENGL_PROFILE_MASK_KHR, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT_KHR,
        EGL_CONTEXT_FLAGS_KHR, debug ? EGL_CONTEXT_OPENGL_DEBUG_BIT_KHR : 0,
        EGL_NONE};
    /* clang-format on */
    return eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
}

static bool make_current(th_gl *gl, const th_gl_desc *desc, const char *way, tries *tried)
{
    gladLoadEGL(gl->egl_display, get_proc);
    if (!GLAD_EGL_KHR_create_context || !GLAD_EGL_KHR_surfaceless_context)
        return failed(tried, way, "EGL lacks %s",
                      GLAD_EGL_KHR_create_context ? "EGL_KHR_surfaceless_context" : "EGL_KHR_create_context");
    gl->egl_context = create_context(gl->egl_display, desc->debug, 4, 3);
    if (!gl->egl_context) {
        const char *why = error_name(eglGetError());
        gl->egl_context = create_context(gl->egl_display, desc->debug, 3, 2); /* lets load_gl report the version */
        if (!gl->egl_context)
            return failed(tried, way, "no context: %s", why);
    }
    if (!eglMakeCurrent(gl->egl_display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl->egl_context))
        return failed(tried, way, "eglMakeCurrent: %s", error_name(eglGetError()));
    return load_gl(gl, get_proc, way, tried);
}

static void close_egl(th_gl *gl)
{
    th_gl **at = &living;
    while (*at && *at != gl)
        at = &(*at)->next;
    if (*at)
        *at = gl->next;

    if (gl->egl_context) {
        if (eglGetCurrentContext() == gl->egl_context)
            eglMakeCurrent(gl->egl_display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(gl->egl_display, gl->egl_context);
    }
    const th_gl *other = living;
    while (other && other->egl_display != gl->egl_display)
        other = other->next;
    if (!other)
        eglTerminate(gl->egl_display);
    gl->egl_display = gl->egl_context = NULL;
}

static bool open_display(th_gl *gl, const th_gl_desc *desc, EGLenum platform, void *native, const char *way,
                         tries *tried)
{
    gl->egl_display = eglGetPlatformDisplayEXT(platform, native, NULL);
    if (!gl->egl_display || !eglInitialize(gl->egl_display, NULL, NULL))
        return failed(tried, way, "no display: %s", error_name(eglGetError()));
    if (!make_current(gl, desc, way, tried)) {
        close_egl(gl);
        return false;
    }
    gl->next = living;
    living = gl;
    return true;
}

static bool open_surfaceless(th_gl *gl, const th_gl_desc *desc, tries *tried)
{
    const char *way = th_gl_kind_name(TH_GL_KIND_SURFACELESS);
    if (!load_client(way, tried))
        return false;
    if (!GLAD_EGL_MESA_platform_surfaceless)
        return failed(tried, way, "EGL lacks EGL_MESA_platform_surfaceless");
    gl->info.kind = TH_GL_KIND_SURFACELESS;
    return open_display(gl, desc, EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, way, tried);
}

/* gpus: only devices that are not software renderers. */
static bool open_devices(th_gl *gl, const th_gl_desc *desc, bool gpus, tries *tried)
{
    const char *kind = th_gl_kind_name(TH_GL_KIND_DEVICE);
    tries again = {0};
    EGLDeviceEXT devices[MAX_DEVICES];
    EGLint count = 0;
    gl->info.kind = TH_GL_KIND_DEVICE;
    if (!load_client(kind, gpus ? tried : &again))
        return false;
    const bool lists = GLAD_EGL_EXT_device_base || (GLAD_EGL_EXT_device_enumeration && GLAD_EGL_EXT_device_query);
    if (!lists || !GLAD_EGL_EXT_platform_device || !eglQueryDevicesEXT(MAX_DEVICES, devices, &count) || count == 0)
        return failed(gpus ? tried : &again, kind, "EGL lists no devices");
    for (EGLint i = 0; i < count; i++) {
        /* Mesa marks its software device with an extension that glad's registry lacks. */
        const char *extensions = eglQueryDeviceStringEXT(devices[i], EGL_EXTENSIONS);
        const bool is_marked = extensions && strstr(extensions, "EGL_MESA_device_software");
        char way[32];
        snprintf(way, sizeof way, "%s %d", kind, i);
        if (gpus && is_marked) {
            failed(tried, way, "not a GPU");
            continue;
        }
        /* The list already says why it was rejected as a GPU, unless it is marked. */
        if (!open_display(gl, desc, EGL_PLATFORM_DEVICE_EXT, devices[i], way, gpus || is_marked ? tried : &again))
            continue;
        if (!gpus || !gl->info.software)
            return true;
        failed(tried, way, "drawn by %s, not by a GPU", gl->info.renderer);
        close_egl(gl);
    }
    return false;
}

/* ---- a context ---- */

th_result th_gl_create(const th_gl_desc *desc, th_gl **out_gl, th_error *err)
{
    if (!TH_VALID(out_gl && desc && (unsigned)desc->want <= TH_GL_HEADLESS && desc->width <= INT32_MAX &&
                  desc->height <= INT32_MAX && th_reserved_is_zero(desc->reserved)))
        return th_fail(err, TH_ERR_USAGE, "a context has a desc that is not valid");
    *out_gl = NULL;
    th_gl *gl = calloc(1, sizeof *gl);
    if (!gl)
        return th_fail(err, TH_ERR_MEMORY, "no memory for an OpenGL context");

    tries tried = {0};
    gl->info.kind = TH_GL_KIND_CURRENT;
    bool is_open = desc->load ? load_gl(gl, desc->load, "the current context", &tried)
                              : desc->want != TH_GL_HEADLESS && open_window(gl, desc, &tried);
    if (!is_open && !desc->load && desc->want != TH_GL_WINDOW)
        is_open = open_devices(gl, desc, true, &tried) || open_surfaceless(gl, desc, &tried) ||
                  open_devices(gl, desc, false, &tried);
    if (!is_open) {
        free(gl);
        return th_fail(err, TH_ERR_ENVIRONMENT, "%s: %s",
                       desc->want == TH_GL_WINDOW ? "no window with OpenGL 4.3" : "no OpenGL 4.3", tried.text);
    }
    gl->debug = desc->debug;
    if (gl->debug) { /* without notifications and performance hints */
        glEnable(GL_DEBUG_OUTPUT);
        glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, GL_TRUE);
        glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DEBUG_SEVERITY_NOTIFICATION, 0, NULL, GL_FALSE);
        glDebugMessageControl(GL_DONT_CARE, GL_DEBUG_TYPE_PERFORMANCE, GL_DONT_CARE, 0, NULL, GL_FALSE);
        /* NVIDIA tells where it puts each buffer, and advises. */
        glDebugMessageControl(GL_DONT_CARE, GL_DEBUG_TYPE_OTHER, GL_DONT_CARE, 0, NULL, GL_FALSE);
    }
    *out_gl = gl;
    return TH_OK;
}

void th_gl_destroy(th_gl *gl)
{
    if (!gl)
        return;
    if (gl->window) {
        glfwDestroyWindow(gl->window);
        if (--window_count == 0)
            glfwTerminate();
    } else if (gl->info.kind != TH_GL_KIND_CURRENT) {
        close_egl(gl);
    }
    free(gl);
}

const th_gl_info *th_gl_get_info(const th_gl *gl)
{
    return TH_VALID(gl) ? &gl->info : NULL;
}

struct GLFWwindow *th_gl_window(const th_gl *gl)
{
    return TH_VALID(gl) ? gl->window : NULL;
}

void th_gl_swap(th_gl *gl)
{
    if (!TH_VALID(gl))
        return;
    if (gl->window)
        glfwSwapBuffers(gl->window);
    else
        glFlush();
}

th_gl_point *th_gl_point_now(th_gl *gl)
{
    assert(gl);
    (void)gl;
    return (th_gl_point *)glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

bool th_gl_passed(th_gl *gl, th_gl_point *point, uint64_t timeout_ns)
{
    assert(gl && point);
    (void)gl;
    const GLenum status = glClientWaitSync((GLsync)point, 0, timeout_ns);
    glDeleteSync((GLsync)point);
    return status == GL_ALREADY_SIGNALED || status == GL_CONDITION_SATISFIED;
}

void th_gl_finish(th_gl *gl)
{
    assert(gl);
    (void)gl;
    glFinish();
}

/* As if all of it were behind a picture in which nothing was drawn. */
uint32_t th_gl_discard_begin(void)
{
    GLuint nothing;
    glGenQueries(1, &nothing);
    glBeginQuery(GL_ANY_SAMPLES_PASSED, nothing);
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    glBeginConditionalRender(nothing, GL_QUERY_WAIT);
    return nothing;
}

void th_gl_discard_end(uint32_t nothing)
{
    glEndConditionalRender();
    glDeleteQueries(1, &nothing);
}

/* ---- errors and messages ----
 *
 * Messages are polled from the driver's log instead of delivered by a callback. So they arrive on this thread, and a
 * driver may keep working on a thread of its own. The log holds at least one message (Mesa: ten); later ones are
 * dropped. */

/* Of OpenGL 4.5, but drivers report it to older contexts, too. */
#define CONTEXT_LOST 0x0507

const char *th_gl_error_name(GLenum error)
{
    switch (error) {
    case GL_INVALID_ENUM:
        return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE:
        return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION:
        return "GL_INVALID_OPERATION";
    case GL_INVALID_FRAMEBUFFER_OPERATION:
        return "GL_INVALID_FRAMEBUFFER_OPERATION";
    case GL_OUT_OF_MEMORY:
        return "GL_OUT_OF_MEMORY";
    case CONTEXT_LOST:
        return "the context is lost (GL_CONTEXT_LOST): the driver was reset, or the GPU is gone";
    default:
        return "an unknown OpenGL error";
    }
}

static void keep_line(char *line, size_t capacity, const char *text)
{
    assert(capacity > 0);
    const size_t fits = strnlen(text, capacity - 1);
    memcpy(line, text, fits);
    line[fits] = '\0';
    for (char *c = line; *c; c++) {
        if (*c == '\n')
            *c = ' ';
    }
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = '\0';
}

/* Removes them from the log, the oldest first. A message that does not fit would stay in the log for ever, so its text
 * is dropped. */
static void take_messages(th_gl *gl)
{
    char text[4096];
    while (gl->debug) {
        GLint length = 0;
        glGetIntegerv(GL_DEBUG_NEXT_LOGGED_MESSAGE_LENGTH, &length);
        const bool fits = length <= (GLint)sizeof text;
        if (!fits)
            snprintf(text, sizeof text, "a message of %d bytes", length);
        if (glGetDebugMessageLog(1, fits ? sizeof text : 0, NULL, NULL, NULL, NULL, NULL, fits ? text : NULL) == 0)
            return;
        if (gl->messages == 0)
            keep_line(gl->first, sizeof gl->first, text);
        if (gl->messages == gl->checked)
            keep_line(gl->unchecked, sizeof gl->unchecked, text);
        gl->messages++;
    }
}

uint32_t th_gl_messages(th_gl *gl, const char **out_first)
{
    assert(gl);
    take_messages(gl);
    if (out_first)
        *out_first = gl->messages ? gl->first : NULL;
    return gl->messages;
}

/* Of the errors the oldest is told. The driver may have a flag per kind of error, so all are cleared. The loop is
 * bounded because a lost context reports errors without end. */
th_result th_gl_check(th_gl *gl, const char *where, th_error *err)
{
    if (!TH_VALID(gl && where))
        return th_fail(err, TH_ERR_USAGE, "no context to check");
    const GLenum error = glGetError();
    for (int i = 0; i < 16 && error && glGetError(); i++)
        ;
    take_messages(gl);
    assert(gl->messages >= gl->checked);
    bool told = gl->messages > gl->checked;
    gl->checked = gl->messages;
    if (error == GL_NO_ERROR && !told)
        return TH_OK;
    return th_fail(err, error == GL_OUT_OF_MEMORY ? TH_ERR_MEMORY : TH_ERR_ENVIRONMENT, "%s: %s%s%s", where,
                   error ? th_gl_error_name(error) : "", error && told ? ": " : "", told ? gl->unchecked : "");
}
