/* The picture process of `throng serve`, confined before it reads anything. */
#include <cli/options.h>

#include <anim/archive.h>
#include <core/build_checks.h>
#include <render/crowd_view.h>
#include <render/frame_writer.h>
#include <serve/log.h>
#include <serve/snapshot_ipc.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SERVER STDIN_FILENO /* a socket */

typedef struct renderer {
    th_crowd_view_desc crowd;
    th_target_desc size; /* of the target */
    th_snapshot_scene scene;
    th_model *models[TH_SETTINGS_MODELS];
    th_gl *gl;
    th_target *target;
    th_crowd_view *crowd_view;
    uint8_t *pixels;
} renderer;

/* ---- confinement ---- */

static void allow(int rules, const char *folder, uint64_t access)
{
    const struct landlock_path_beneath_attr rule = {access, open(folder, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd >= 0) {
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
        close(rule.parent_fd);
    }
}

/* Of files only those where drivers are can be read, and devices written; a token cannot be read from a home folder,
 * and no other process can be traced. Kernels without Landlock do without. The server limits the memory. */
static th_result confine(th_error *err)
{
    static const char *const readable[] = {"/usr", "/lib", "/lib64", "/etc", "/opt", "/nix", "/run/opengl-driver",
                                           "/sys", "/proc"};
    const uint64_t read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE;
    const struct landlock_ruleset_attr all = {.handled_access_fs = 2 * LANDLOCK_ACCESS_FS_MAKE_SYM - 1};
    prctl(PR_SET_NAME, "throng-pictures");
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0)
        return TH_OK;
    for (size_t f = 0; f < sizeof readable / sizeof *readable; f++)
        allow(rules, readable[f], read);
    allow(rules, "/dev", read | LANDLOCK_ACCESS_FS_WRITE_FILE);
    if (syscall(SYS_landlock_restrict_self, rules, 0) != 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the picture process cannot confine itself (Landlock: %s)",
                       strerror(errno));
    close(rules);
    return TH_OK;
}

/* ---- the scene ---- */

static th_result read_model(th_model **out, th_error *err)
{
    uint8_t head[TH_ARCHIVE_HEAD_BYTES];
    uint64_t size = th_snapshot_receive(SERVER, head, sizeof head) ? th_archive_size(head) : 0;
    uint8_t *bytes = size > sizeof head ? malloc(size) : NULL;
    if (!bytes)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    memcpy(bytes, head, sizeof head);
    th_result result = th_snapshot_receive(SERVER, bytes + sizeof head, size - sizeof head)
                           ? th_archive_read(bytes, size, out, err)
                           : th_fail(err, TH_ERR_ENVIRONMENT, "the scene of a picture is incomplete");
    free(bytes);
    return result;
}

static th_result set_up(renderer *r, th_error *err)
{
    /* As `throng render` draws by default, on one thread, because the crowd uses the others. */
    th_options render;
    th_run none;
    th_snapshot_scene *scene = &r->scene;
    th_result result = th_options_parse(&render, &none, th_command_find("render"), 0, NULL, err);
    if (result != TH_OK)
        return result;
    if (!th_snapshot_receive(SERVER, scene, sizeof *scene) || scene->model_count > TH_SETTINGS_MODELS ||
        scene->count > TH_SNAPSHOT_CHARACTERS || scene->layout >= TH_LAYOUT_COUNT)
        return th_fail(err, TH_ERR_ENVIRONMENT, "there is no scene for a picture");
    r->crowd = render.crowd;
    r->crowd.jobs.threads = 1;
    r->crowd.shadow_pixels = 1024;
    r->crowd.compile = scene->compile;
    r->crowd.isa = scene->isa;
    r->crowd.palette = scene->palette;
    r->crowd.seed = scene->seed;
    th_crowd_view_desc_set_scene(&r->crowd, scene->layout);
    const th_crowd_behaviour behaviour = {scene->settings.behaviour, th_settings_blend(&scene->settings),
                                          scene->instances};
    r->crowd.count = scene->count;
    r->crowd.model_count = scene->model_count;
    r->size.samples = render.picture.samples;
    for (uint32_t m = 0; m < scene->model_count && result == TH_OK; m++) {
        r->crowd.clips[m] = TH_NO_INDEX;
        result = read_model(&r->models[m], err);
        r->crowd.models[m] = r->models[m];
    }
    if (result != TH_OK)
        return result;

    /* Drivers compile shaders to machine code, and end the process if memory must not become executable (systemd's
     * MemoryDenyWriteExecute). So this is checked first. */
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    const bool may_compile = mprotect(page, size, PROT_READ | PROT_EXEC) == 0;
    munmap(page, size);
    if (!may_compile)
        return th_fail(err, TH_ERR_ENVIRONMENT,
                       "memory must not be made executable here, as with systemd's MemoryDenyWriteExecute; drivers of "
                       "OpenGL need that");
    const th_gl_desc gl = {.want = TH_GL_HEADLESS, .debug = TH_BUILD_CHECKS};
    result = th_gl_create(&gl, &r->gl, err);
    if (result == TH_OK)
        result = th_crowd_view_build(&r->crowd, &behaviour, NULL, r->gl, &r->crowd_view, err);
    for (uint32_t m = 0; m < scene->model_count && result == TH_OK; m++) {
        const th_render_mesh *mesh = th_crowd_view_get_parts(r->crowd_view).meshes[m];
        for (uint32_t n = 0; n < mesh->warning_count; n++)
            th_log(TH_LOG_WARNING, "%s: %s", r->models[m]->name, mesh->warnings[n]);
    }
    return result;
}

/* ---- pictures ---- */

static th_result render(renderer *r, const th_snapshot_request *q, unsigned char **out, size_t *out_size, th_error *err)
{
    th_result result = TH_OK;
    if (!r->pixels || r->size.width != q->width || r->size.height != q->height) {
        const th_target_desc size = {.width = q->width, .height = q->height, .samples = r->size.samples};
        result = r->target ? th_target_resize(r->target, q->width, q->height, err)
                           : th_target_create(&size, &r->target, err);
        if (result != TH_OK)
            return result;
        r->size = size;
        free(r->pixels);
        r->pixels = malloc(th_target_bytes(r->target));
        if (!r->pixels)
            return th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    }
    th_crowd_view_restore_blends(r->crowd_view, q->blends);
    const th_camera camera = th_crowd_view_camera(r->crowd_view, (float)q->width / (float)q->height, HUGE_VAL);
    if (!th_crowd_view_frame(r->crowd_view, q->time_s, &camera, r->target))
        return th_fail(err, TH_ERR_ENVIRONMENT, "the driver lost, or has no memory for, the palettes of a picture");
    th_target_resolve(r->target);
    th_target_read(r->target, r->pixels);
    result = th_gl_check(r->gl, "while a picture was drawn", err);
    return result == TH_OK ? th_png_encode(r->pixels, q->width, q->height, out, out_size, err) : result;
}

static bool answer(th_result result, const void *bytes, size_t size)
{
    const th_snapshot_answer head = {result, size};
    return th_snapshot_send(SERVER, &head, sizeof head) && th_snapshot_send(SERVER, bytes, size);
}

int th_snapshot_renderer_run(void)
{
    th_error err;
    th_snapshot_request request;
    renderer *r = calloc(1, sizeof *r);
    if (!r)
        return TH_EXIT_ENVIRONMENT;
    th_result result = confine(&err);
    if (result == TH_OK)
        result = set_up(r, &err);
    while (th_snapshot_receive(SERVER, &request, sizeof request)) {
        unsigned char *png = NULL;
        size_t size = 0;
        if (result == TH_OK)
            result = render(r, &request, &png, &size, &err);
        const bool is_sent = result == TH_OK ? answer(result, png, size) : answer(result, err.text, strlen(err.text));
        free(png);
        if (result != TH_OK || !is_sent)
            break;
    }
    free(r->pixels);
    th_crowd_view_destroy(r->crowd_view);
    th_target_destroy(r->target);
    th_gl_destroy(r->gl);
    for (uint32_t m = 0; m < TH_SETTINGS_MODELS; m++)
        th_model_destroy(r->models[m]);
    free(r);
    return result == TH_OK ? TH_EXIT_GOOD : TH_EXIT_ENVIRONMENT;
}
