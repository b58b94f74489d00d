/* ffmpeg reads frames from its standard input, which is a socket: only a socket can be written without SIGPIPE and
 * without changing the process's signal handling. Its standard output is an unlinked scratch file beside the target,
 * which it opens again as its output, so that nothing is left behind however this ends. A pipe would not do, because
 * MP4 output must seek. Its messages go to a file in memory, because an unread pipe could fill up. */
#include "video.h"

#include <core/file.h>
#include <core/subprocess.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct th_video {
    char *path;
    uint32_t width, height;
    uint8_t *even; /* the frame padded to even sides; NULL if they are even */
    pid_t pid;     /* 0 after ffmpeg has ended */
    int frames;    /* our end of the socket */
    int said;      /* ffmpeg's messages */
    int scratch;   /* the video so far */
};

static int close_fd(int *fd)
{
    int result = *fd >= 0 ? close(*fd) : 0;
    *fd = -1;
    return result;
}

static void destroy(th_video *v)
{
    if (v->pid > 0)
        th_subprocess_kill(v->pid);
    close_fd(&v->frames);
    close_fd(&v->said);
    close_fd(&v->scratch);
    free(v->even);
    free(v->path);
    free(v);
}

uint32_t th_video_side(uint32_t side)
{
    return (side + 1) / 2 * 2;
}

/* ---- opening ---- */

static int open_scratch(const char *path)
{
    size_t size = strlen(path) + 16;
    char *name = malloc(size);
    int fd = -1;
    if (name) {
        snprintf(name, size, "%s.XXXXXX", path);
        fd = mkostemp(name, O_CLOEXEC);
    }
    if (fd >= 0)
        unlink(name);
    free(name);
    return fd;
}

/* Without these, ffmpeg uses BT.601 colours, which players expect only in small videos. */
#define FILTER "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p"
#define COLORS "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "iec61966-2-1", "-color_range", "tv"

/* Quality settings at which the difference to the original is hardly visible. */
static const char *const ENCODERS[][12] = {
    [TH_VIDEO_MP4] = {"-c:v", "libx264", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"},
    [TH_VIDEO_MKV] = {"-c:v", "libx264", "-crf", "18", "-f", "matroska"},
    [TH_VIDEO_WEBM] = {"-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-row-mt", "1", "-f", "webm"},
};

static int start(const th_frame_writer_desc *desc, th_video_format format, int frames, const th_video *v,
                 pid_t *out_pid)
{
    char size[32], rate[32];
    snprintf(size, sizeof size, "%ux%u", th_video_side(desc->width), th_video_side(desc->height));
    snprintf(rate, sizeof rate, "%.9g", desc->frames_per_s);
    const char *arguments[48] = {
        "ffmpeg",   "-hide_banner",  "-nostdin", "-y",          "-loglevel", "error",      "-f",
        "rawvideo", "-pixel_format", "rgb0",     "-video_size", size,        "-framerate", rate,
        "-i",       "pipe:0",        "-vf",      FILTER,        COLORS};
    int count = 0;
    while (arguments[count])
        count++;
    for (int i = 0; ENCODERS[format][i]; i++)
        arguments[count++] = ENCODERS[format][i];
    assert((size_t)count + 1 < sizeof arguments / sizeof *arguments); /* a NULL ends them */
    arguments[count] = "file:/proc/self/fd/1";
    const th_subprocess_desc ffmpeg = {arguments[0], arguments, .files = {frames, v->scratch, v->said}};
    return th_subprocess_start(&ffmpeg, out_pid);
}

static th_result explain_start(int error, th_error *err)
{
    if (error == ENOENT)
        return th_fail(
            err, TH_ERR_ENVIRONMENT,
            "videos need the program ffmpeg, which is not installed; pictures named like f-%%04d.png do not");
    return th_fail(err, error == ENOMEM ? TH_ERR_MEMORY : TH_ERR_ENVIRONMENT, "cannot start ffmpeg: %s",
                   strerror(error));
}

static th_result open_all(th_video *v, int *out_frames, th_error *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot create a pipe to ffmpeg: %s", strerror(errno));
    v->frames = ends[0];
    *out_frames = ends[1];
    v->said = memfd_create("ffmpeg", MFD_CLOEXEC);
    if (v->said < 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot create a file in memory: %s", strerror(errno));
    v->scratch = open_scratch(v->path);
    if (v->scratch < 0)
        return th_fail(err, TH_ERR_INPUT, "cannot write beside %s: %s", v->path, strerror(errno));
    return TH_OK;
}

static th_result init(th_video *v, const th_frame_writer_desc *desc, th_video_format format, th_error *err)
{
    const uint32_t width = th_video_side(desc->width), height = th_video_side(desc->height);
    if (width != desc->width || height != desc->height)
        v->even = malloc((size_t)width * height * 4);
    if (!v->path || (!v->even && (width != desc->width || height != desc->height)))
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for a video");
    int frames = -1, error = 0;
    th_result result = open_all(v, &frames, err);
    if (result == TH_OK)
        error = start(desc, format, frames, v, &v->pid);
    close_fd(&frames);
    if (!error)
        return result;
    v->pid = 0;
    return explain_start(error, err);
}

th_result th_video_open(const th_frame_writer_desc *desc, th_video_format format, th_video **out, th_error *err)
{
    assert(desc && desc->path && out);
    assert(desc->width > 0 && desc->height > 0 && desc->frames_per_s > 0);
    assert((unsigned)format < sizeof ENCODERS / sizeof *ENCODERS);
    *out = NULL;
    th_video *v = malloc(sizeof *v);
    if (!v)
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for a video");
    *v = (th_video){.path = strdup(desc->path),
                    .width = desc->width,
                    .height = desc->height,
                    .frames = -1,
                    .said = -1,
                    .scratch = -1};
    th_result result = init(v, desc, format, err);
    if (result == TH_OK)
        *out = v;
    else
        destroy(v);
    return result;
}

/* ---- ending ---- */

/* The beginning of ffmpeg's messages as one line; the cause comes first. */
static void read_said(const th_video *v, char *out, size_t size)
{
    char raw[512];
    ssize_t got = pread(v->said, raw, sizeof raw, 0);
    size_t count = got > 0 ? (size_t)got : 0, length = 0;
    bool gap = false;
    for (size_t i = 0; i < count && length + 3 < size; i++) {
        gap |= (unsigned char)raw[i] < ' ';
        if ((unsigned char)raw[i] < ' ')
            continue;
        if (gap && length > 0) {
            out[length++] = ';';
            out[length++] = ' ';
        }
        out[length++] = raw[i];
        gap = false;
    }
    out[length] = '\0';
}

/* Waits for ffmpeg to end. Fails with its message if it failed. */
static th_result wait_for_end(th_video *v, th_error *err)
{
    assert(v->pid > 0);
    char said[800];
    close_fd(&v->frames);
    const int status = th_subprocess_wait(v->pid);
    v->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return TH_OK;
    read_said(v, said, sizeof said);
    if (WIFSIGNALED(status))
        return th_fail(err, TH_ERR_ENVIRONMENT, "ffmpeg was ended by a signal (%s)%s%s", strsignal(WTERMSIG(status)),
                       said[0] ? ": " : "", said);
    return th_fail(err, TH_ERR_ENVIRONMENT, "ffmpeg gave up: %s", said[0] ? said : "it did not say why");
}

static th_result send_all(th_video *v, const uint8_t *bytes, size_t count, th_error *err)
{
    while (count > 0) {
        ssize_t sent = send(v->frames, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) { /* ffmpeg has closed its end */
            th_result result = wait_for_end(v, err);
            return result != TH_OK ? result : th_fail(err, TH_ERR_ENVIRONMENT, "ffmpeg ended before the video did");
        }
        bytes += sent;
        count -= (size_t)sent;
    }
    return TH_OK;
}

/* Duplicates the last row or column. */
static const uint8_t *with_even_sides(th_video *v, const uint8_t *rgba)
{
    assert(v->even);
    const size_t row = (size_t)v->width * 4, even_row = (size_t)th_video_side(v->width) * 4;
    for (uint32_t y = 0; y < th_video_side(v->height); y++) {
        const uint8_t *from = rgba + (y < v->height ? y : v->height - 1) * row;
        uint8_t *to = v->even + y * even_row;
        memcpy(to + even_row - 4, from + row - 4, 4);
        memcpy(to, from, row);
    }
    return v->even;
}

th_result th_video_add(th_video *v, const uint8_t *rgba, th_error *err)
{
    assert(v->pid > 0 && rgba);
    return send_all(v, v->even ? with_even_sides(v, rgba) : rgba,
                    (size_t)th_video_side(v->width) * th_video_side(v->height) * 4, err);
}

static th_result put_in_place(const th_video *v, th_error *err)
{
    assert(v->pid == 0 && v->scratch >= 0);
    struct stat status;
    if (fstat(v->scratch, &status) != 0 || status.st_size <= 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "ffmpeg wrote nothing");
    size_t size = (size_t)status.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, v->scratch, 0);
    if (bytes == MAP_FAILED)
        return th_fail(err, TH_ERR_MEMORY, "cannot read the video back: %s", strerror(errno));
    th_result result = th_file_replace(v->path, &(struct iovec){bytes, size}, 1, err);
    munmap(bytes, size);
    return result;
}

th_result th_video_close(th_video *v, th_error *err)
{
    assert(v->pid > 0);
    th_result result = wait_for_end(v, err);
    if (result == TH_OK)
        result = put_in_place(v, err);
    destroy(v);
    return result;
}

void th_video_abandon(th_video *v)
{
    destroy(v);
}
