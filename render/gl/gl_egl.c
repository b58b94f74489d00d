/* Contexts without a window. libEGL is loaded at run time, so everything that does not draw also runs without it.
 *
 * glad keeps EGL's extensions and functions in globals. It loads them twice: once without a display, to list devices,
 * and once for the chosen display, whose version determines the functions. */
#include "gl_backend.h"

#include <dlfcn.h>
#include <glad/egl.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEVICES = 16 };

/* eglTerminate ends a display for all of its contexts, so only the last context on the display may call it. This list
 * finds the others. */
static th_gl *living;

static GLADloadfunc get_proc;

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
static bool load_client(const char *way, th_gl_tried *tried)
{
    if (!get_proc) {
        void *library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "eglGetProcAddress") : NULL;
        if (!symbol) {
            th_gl_failed(tried, way, "%s", dlerror());
            return false;
        }
        memcpy(&get_proc, &symbol, sizeof get_proc);
    }
    if (!gladLoadEGL(EGL_NO_DISPLAY, get_proc) || !GLAD_EGL_EXT_platform_base) {
        th_gl_failed(tried, way, "EGL lacks EGL_EXT_platform_base, as it does when no driver is installed");
        return false;
    }
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

static bool make_current(th_gl *gl, const th_gl_desc *desc, const char *way, th_gl_tried *tried)
{
    gladLoadEGL(gl->egl_display, get_proc);
    if (!GLAD_EGL_KHR_create_context || !GLAD_EGL_KHR_surfaceless_context) {
        th_gl_failed(tried, way, "EGL lacks %s",
                     GLAD_EGL_KHR_create_context ? "EGL_KHR_surfaceless_context" : "EGL_KHR_create_context");
        return false;
    }
    gl->egl_context = create_context(gl->egl_display, desc->debug, 4, 3);
    if (!gl->egl_context) {
        const char *why = error_name(eglGetError());
        gl->egl_context = create_context(gl->egl_display, desc->debug, 3, 2); /* lets th_gl_load report the version */
        if (!gl->egl_context) {
            th_gl_failed(tried, way, "no context: %s", why);
            return false;
        }
    }
    if (!eglMakeCurrent(gl->egl_display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl->egl_context)) {
        th_gl_failed(tried, way, "eglMakeCurrent: %s", error_name(eglGetError()));
        return false;
    }
    return th_gl_load(gl, get_proc, way, tried);
}

void th_gl_close_egl(th_gl *gl)
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
                         th_gl_tried *tried)
{
    gl->egl_display = eglGetPlatformDisplayEXT(platform, native, NULL);
    if (!gl->egl_display || !eglInitialize(gl->egl_display, NULL, NULL)) {
        th_gl_failed(tried, way, "no display: %s", error_name(eglGetError()));
        return false;
    }
    if (!make_current(gl, desc, way, tried)) {
        th_gl_close_egl(gl);
        return false;
    }
    gl->next = living;
    living = gl;
    return true;
}

bool th_gl_open_surfaceless(th_gl *gl, const th_gl_desc *desc, th_gl_tried *tried)
{
    const char *way = th_gl_kind_name(TH_GL_KIND_SURFACELESS);
    if (!load_client(way, tried))
        return false;
    if (!GLAD_EGL_MESA_platform_surfaceless) {
        th_gl_failed(tried, way, "EGL lacks EGL_MESA_platform_surfaceless");
        return false;
    }
    gl->info.kind = TH_GL_KIND_SURFACELESS;
    return open_display(gl, desc, EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, way, tried);
}

/* Mesa marks its software device with an extension that glad's registry lacks. */
static bool is_marked_software(EGLDeviceEXT device)
{
    const char *extensions = eglQueryDeviceStringEXT(device, EGL_EXTENSIONS);
    return extensions && strstr(extensions, "EGL_MESA_device_software");
}

static bool open_gpu(th_gl *gl, const th_gl_desc *desc, EGLDeviceEXT device, const char *way, th_gl_tried *tried)
{
    if (is_marked_software(device)) {
        th_gl_failed(tried, way, "not a GPU");
        return false;
    }
    if (!open_display(gl, desc, EGL_PLATFORM_DEVICE_EXT, device, way, tried))
        return false;
    if (gl->info.software) {
        th_gl_failed(tried, way, "drawn by %s, not by a GPU", gl->info.renderer);
        th_gl_close_egl(gl);
        return false;
    }
    return true;
}

static EGLint list_devices(EGLDeviceEXT devices[MAX_DEVICES], const char *way, th_gl_tried *tried)
{
    if (!load_client(way, tried))
        return 0;
    EGLint count = 0;
    const bool lists = GLAD_EGL_EXT_device_base || (GLAD_EGL_EXT_device_enumeration && GLAD_EGL_EXT_device_query);
    if (!lists || !GLAD_EGL_EXT_platform_device || !eglQueryDevicesEXT(MAX_DEVICES, devices, &count) || count == 0) {
        th_gl_failed(tried, way, "EGL lists no devices");
        return 0;
    }
    return count;
}

bool th_gl_open_devices(th_gl *gl, const th_gl_desc *desc, bool gpus, th_gl_tried *tried)
{
    const char *kind = th_gl_kind_name(TH_GL_KIND_DEVICE);
    th_gl_tried again = {0};
    EGLDeviceEXT devices[MAX_DEVICES];
    EGLint count = list_devices(devices, kind, gpus ? tried : &again);
    gl->info.kind = TH_GL_KIND_DEVICE;
    for (EGLint i = 0; i < count; i++) {
        char way[32];
        snprintf(way, sizeof way, "%s %d", kind, i);
        if (gpus && open_gpu(gl, desc, devices[i], way, tried))
            return true;
        if (gpus)
            continue;
        /* The list already says why it was rejected as a GPU, unless it is marked. */
        th_gl_tried *told = is_marked_software(devices[i]) ? tried : &again;
        if (open_display(gl, desc, EGL_PLATFORM_DEVICE_EXT, devices[i], way, told))
            return true;
    }
    return false;
}
