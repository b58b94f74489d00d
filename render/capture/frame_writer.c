/* PNG files, or a video that ffmpeg encodes as a child process.
 *
 * ffmpeg reads frames from its standard input, which is a socket: only a socket can be written without SIGPIPE and
 * without changing the process's signal handling. Its standard output is an unlinked scratch file beside the target,
 * which it opens again as its output, so that nothing is left behind however this ends. A pipe would not do, because
 * MP4 output must seek. Its messages go to a file in memory, because an unread pipe could fill up. */
#include <render/frame_writer.h>

#include <core/file.h>
#include <core/subprocess.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stb/stb_image_write.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum format { MP4, MKV, WEBM, WEBP, PNG, UNKNOWN } writer_format;

struct th_frame_writer {
    uint32_t width, height, frame_count, added;
    writer_format format;
    bool failed;
    char *path;    /* of a PNG file up to its number */
    uint8_t *copy; /* the picture without alpha, or of a video padded to even sides; NULL if they are even */

    /* PNG file names: what follows the number, and a buffer for the whole name. */
    const char *after;
    char *name;
    bool numbered;
    int digits;

    /* The video's ffmpeg. */
    pid_t pid;          /* 0: it has ended */
    int frames, theirs; /* our end of the socket; its end until it has started */
    int said;           /* its messages */
    int scratch;        /* the video so far */
};

static int close_fd(int *fd)
{
    int result = *fd >= 0 ? close(*fd) : 0;
    *fd = -1;
    return result;
}

void th_frame_writer_abandon(th_frame_writer *f)
{
    if (!f)
        return;
    if (f->pid > 0)
        th_subprocess_kill(f->pid);
    close_fd(&f->frames);
    close_fd(&f->theirs);
    close_fd(&f->said);
    close_fd(&f->scratch);
    free(f->copy);
    free(f->path);
    free(f);
}

/* ---- what can be written ---- */

static writer_format format_of(const char *path)
{
    static const char *const ends[] = {
        [MP4] = ".mp4", [MKV] = ".mkv", [WEBM] = ".webm", [WEBP] = ".webp", [PNG] = ".png"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    for (int f = 0; f < UNKNOWN; f++)
        if (dot && dot > name && strcasecmp(dot, ends[f]) == 0)
            return (writer_format)f;
    return th_file_is_in_place(path) ? PNG : UNKNOWN; /* the name of a pipe does not say it */
}

/* Parses %d or %04d at `at` and returns what follows; NULL for anything else. By hand, because a name from outside must
 * not reach printf. */
static const char *behind_place(const char *at, int *digits)
{
    assert(*at == '%');
    const char *end = at + 1;
    *digits = 0;
    if (end[0] == '0' && end[1] >= '1' && end[1] <= '9') {
        *digits = end[1] - '0';
        end += 2;
    }
    return *end == 'd' ? end + 1 : NULL;
}

th_result th_frame_writer_check(const th_frame_writer_desc *desc, th_error *err)
{
    if (!TH_VALID(desc && desc->path && th_reserved_is_zero(desc->reserved)))
        return th_fail(err, TH_ERR_USAGE, "a frame writer has a desc that is not valid");
    const char *path = desc->path, *at = strchr(path, '%');
    const uint32_t w = desc->width, h = desc->height;
    const writer_format format = format_of(path);
    int digits;
    if (path[0] == '\0')
        return th_fail(err, TH_ERR_INPUT, "the output file name is empty");
    if (format == UNKNOWN)
        return th_fail(err, TH_ERR_INPUT, "%s: the file name must end with .png, .mp4, .mkv, .webm or .webp", path);
    if (w == 0 || h == 0)
        return th_fail(err, TH_ERR_INPUT, "%s: %u by %u pixels is not a valid size", path, w, h);
    if (w > TH_FRAME_WRITER_MAX_SIDE || h > TH_FRAME_WRITER_MAX_SIDE || (uint64_t)w * h > TH_FRAME_WRITER_MAX_PIXELS)
        return th_fail(err, TH_ERR_LIMIT, "%s: %u by %u pixels, the limit is %u a side and %u in all", path, w, h,
                       TH_FRAME_WRITER_MAX_SIDE, TH_FRAME_WRITER_MAX_PIXELS);
    if (format != PNG && !(desc->frames_per_s > 0 && desc->frames_per_s <= 1000))
        return th_fail(err, TH_ERR_INPUT, "%s: %g is not a valid frame rate", path, desc->frames_per_s);
    if (format == PNG && !at && desc->frame_count > 1)
        return th_fail(err, TH_ERR_INPUT, "%s: %u pictures need a number in their name, as in f-%%04d.png", path,
                       desc->frame_count);
    const char *after = format == PNG && at ? behind_place(at, &digits) : NULL;
    if (format == PNG && at && (!after || strchr(after, '%')))
        return th_fail(err, TH_ERR_INPUT, "%s: the only %% in a picture's name is that of its number, %%d or %%04d",
                       path);
    return TH_OK;
}

/* The video formats store colour at half resolution. */
static uint32_t even(uint32_t side)
{
    return (side + 1) / 2 * 2;
}

void th_frame_writer_size(const th_frame_writer_desc *desc, uint32_t *out_width, uint32_t *out_height)
{
    assert(desc && desc->path && out_width && out_height);
    assert(format_of(desc->path) != UNKNOWN); /* it has passed th_frame_writer_check */
    const bool video = format_of(desc->path) != PNG;
    *out_width = video ? even(desc->width) : desc->width;
    *out_height = video ? even(desc->height) : desc->height;
}

/* ---- opening ---- */

static const char *name_of(const th_frame_writer *f, uint32_t frame)
{
    size_t room = strlen(f->path) + strlen(f->after) + 16;
    if (f->numbered)
        snprintf(f->name, room, "%s%0*u%s", f->path, f->digits, frame, f->after);
    else
        strcpy(f->name, f->path);
    return f->name;
}

static th_result open_pictures(th_frame_writer *f, const char *path, th_error *err)
{
    const size_t length = strlen(path);
    f->path = malloc(2 * length + 17);
    if (!f->path)
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for a picture's name");
    strcpy(f->path, path);
    f->name = f->path + length + 1;
    char *at = strchr(f->path, '%');
    f->numbered = at != NULL;
    f->after = at ? behind_place(at, &f->digits) : f->path + length;
    if (at)
        *at = '\0';
    f->copy = malloc((size_t)f->width * f->height * 3);
    if (!f->copy)
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for a picture");
    return th_file_probe(name_of(f, 0), err);
}

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

/* Without these, ffmpeg uses BT.601 colours, which players expect only in small videos. A WebP picture has no others,
 * and its encoder converts them. */
#define BT709                                                                                                          \
    "-vf", "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p", "-colorspace", "bt709", "-color_primaries",     \
        "bt709", "-color_trc", "iec61966-2-1", "-color_range", "tv"

/* Quality settings at which the difference to the original is hardly visible; of a WebP, which is for a page, is small.
 */
static const char *const ENCODERS[][24] = {
    [MP4] = {BT709, "-c:v", "libx264", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"},
    [MKV] = {BT709, "-c:v", "libx264", "-crf", "18", "-f", "matroska"},
    [WEBM] = {BT709, "-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-row-mt", "1", "-f", "webm"},
    [WEBP] = {"-vf", "format=bgra", "-c:v", "libwebp_anim", "-quality", "50", "-compression_level", "6", "-loop", "0",
              "-f", "webp"},
};

static th_result open_video(th_frame_writer *f, const th_frame_writer_desc *desc, th_error *err)
{
    const uint32_t width = even(desc->width), height = even(desc->height);
    const bool is_even = width == desc->width && height == desc->height;
    th_result result = th_file_probe(desc->path, err);
    if (result != TH_OK)
        return result;
    f->path = strdup(desc->path);
    f->copy = is_even ? NULL : malloc((size_t)width * height * 4);
    if (!f->path || (!f->copy && !is_even))
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for a video");
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot create a pipe to ffmpeg: %s", strerror(errno));
    f->frames = ends[0];
    f->theirs = ends[1];
    f->said = memfd_create("ffmpeg", MFD_CLOEXEC);
    if (f->said < 0)
        return th_fail(err, TH_ERR_ENVIRONMENT, "cannot create a file in memory: %s", strerror(errno));
    f->scratch = open_scratch(f->path);
    if (f->scratch < 0)
        return th_fail(err, TH_ERR_INPUT, "cannot write beside %s: %s", f->path, strerror(errno));

    char size[32], rate[32];
    snprintf(size, sizeof size, "%ux%u", width, height);
    snprintf(rate, sizeof rate, "%.9g", desc->frames_per_s);
    const char *arguments[48] = {
        "ffmpeg",        "-hide_banner", "-nostdin",    "-y", "-loglevel",  "error", "-f", "rawvideo",
        "-pixel_format", "rgb0",         "-video_size", size, "-framerate", rate,    "-i", "pipe:0"};
    int count = 0;
    while (arguments[count])
        count++;
    for (int i = 0; ENCODERS[f->format][i]; i++)
        arguments[count++] = ENCODERS[f->format][i];
    assert((size_t)count + 1 < sizeof arguments / sizeof *arguments); /* a NULL ends them */
    arguments[count] = "file:/proc/self/fd/1";
    const th_subprocess_desc ffmpeg = {arguments[0], arguments, .files = {f->theirs, f->scratch, f->said}};
    const int error = th_subprocess_start(&ffmpeg, &f->pid);
    close_fd(&f->theirs);
    if (!error)
        return TH_OK;
    f->pid = 0;
    if (error == ENOENT)
        return th_fail(
            err, TH_ERR_ENVIRONMENT,
            "videos need the program ffmpeg, which is not installed; pictures named like f-%%04d.png do not");
    return th_fail(err, error == ENOMEM ? TH_ERR_MEMORY : TH_ERR_ENVIRONMENT, "cannot start ffmpeg: %s",
                   strerror(error));
}

th_result th_frame_writer_open(const th_frame_writer_desc *desc, th_frame_writer **out, th_error *err)
{
    if (!TH_VALID(out))
        return th_fail(err, TH_ERR_USAGE, "no place for a frame writer");
    *out = NULL;
    th_result result = th_frame_writer_check(desc, err);
    if (result != TH_OK)
        return result;
    th_frame_writer *f = malloc(sizeof *f);
    if (!f)
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for a frame writer");
    *f = (th_frame_writer){.width = desc->width,
                           .height = desc->height,
                           .frame_count = desc->frame_count,
                           .format = format_of(desc->path),
                           .frames = -1,
                           .theirs = -1,
                           .said = -1,
                           .scratch = -1};
    result = f->format == PNG ? open_pictures(f, desc->path, err) : open_video(f, desc, err);
    if (result == TH_OK)
        *out = f;
    else
        th_frame_writer_abandon(f);
    return result;
}

/* ---- pictures ---- */

/* Where stb writes the PNG. */
typedef struct png_taker {
    const char *path; /* NULL: to memory */
    unsigned char *bytes;
    size_t size;
    th_result result;
    bool written;
    th_error *err;
} png_taker;

static void take_png(void *ctx, void *bytes, int count)
{
    png_taker *t = ctx;
    t->size = (size_t)count;
    if (t->path) {
        t->result = th_file_replace(t->path, &(struct iovec){bytes, t->size}, 1, t->err);
        t->written = true;
        return;
    }
    t->bytes = malloc(t->size);
    t->written = t->bytes != NULL;
    if (t->written)
        memcpy(t->bytes, bytes, t->size);
}

/* rgb: buffer for the picture without alpha. */
static void encode(const uint8_t *rgba, uint32_t width, uint32_t height, uint8_t *rgb, png_taker *taker)
{
    const size_t pixels = (size_t)width * height;
    for (size_t i = 0; i < pixels; i++)
        memcpy(rgb + 3 * i, rgba + 4 * i, 3);
    stbi_write_png_to_func(take_png, taker, (int)width, (int)height, 3, rgb, 3 * (int)width);
}

th_result th_png_encode(const uint8_t *rgba, uint32_t width, uint32_t height, unsigned char **out, size_t *out_size,
                        th_error *err)
{
    if (!TH_VALID(rgba && out && out_size && width > 0 && height > 0 && width <= TH_FRAME_WRITER_MAX_SIDE &&
                  height <= TH_FRAME_WRITER_MAX_SIDE))
        return th_fail(err, TH_ERR_USAGE, "%u by %u pixels is not a picture, or it has no place", width, height);
    png_taker memory = {0};
    uint8_t *rgb = malloc((size_t)width * height * 3);
    if (rgb)
        encode(rgba, width, height, rgb, &memory);
    free(rgb);
    *out = memory.bytes;
    *out_size = memory.size;
    return memory.written ? TH_OK : th_fail(err, TH_ERR_MEMORY, "there is no memory left for a picture");
}

/* ---- videos ---- */

/* Waits for ffmpeg to end. Fails with its message if it failed. */
static th_result wait_for_end(th_frame_writer *f, th_error *err)
{
    assert(f->pid > 0);
    close_fd(&f->frames);
    const int status = th_subprocess_wait(f->pid);
    f->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return TH_OK;

    /* The beginning of its messages as one line; the cause comes first. */
    char raw[512], said[800];
    const ssize_t got = pread(f->said, raw, sizeof raw, 0);
    size_t length = 0;
    bool gap = false;
    for (ssize_t i = 0; i < got && length + 3 < sizeof said; i++) {
        gap |= (unsigned char)raw[i] < ' ';
        if ((unsigned char)raw[i] < ' ')
            continue;
        if (gap && length > 0) {
            said[length++] = ';';
            said[length++] = ' ';
        }
        said[length++] = raw[i];
        gap = false;
    }
    said[length] = '\0';
    if (WIFSIGNALED(status))
        return th_fail(err, TH_ERR_ENVIRONMENT, "ffmpeg was ended by a signal (%s)%s%s", strsignal(WTERMSIG(status)),
                       said[0] ? ": " : "", said);
    return th_fail(err, TH_ERR_ENVIRONMENT, "ffmpeg gave up: %s", said[0] ? said : "it did not say why");
}

static th_result send_frame(th_frame_writer *f, const uint8_t *rgba, th_error *err)
{
    assert(f->pid > 0);
    const size_t row = (size_t)f->width * 4, even_row = (size_t)even(f->width) * 4;
    const uint8_t *bytes = f->copy ? f->copy : rgba;
    for (uint32_t y = 0; f->copy && y < even(f->height); y++) { /* duplicates the last row or column */
        const uint8_t *from = rgba + (y < f->height ? y : f->height - 1) * row;
        uint8_t *to = f->copy + y * even_row;
        memcpy(to + even_row - 4, from + row - 4, 4);
        memcpy(to, from, row);
    }
    for (size_t count = even(f->height) * even_row; count > 0;) {
        const ssize_t sent = send(f->frames, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) { /* ffmpeg has closed its end */
            th_result result = wait_for_end(f, err);
            return result != TH_OK ? result : th_fail(err, TH_ERR_ENVIRONMENT, "ffmpeg ended before the video did");
        }
        bytes += sent;
        count -= (size_t)sent;
    }
    return TH_OK;
}

/* ---- frames ---- */

th_result th_frame_writer_add(th_frame_writer *f, const uint8_t *rgba, th_error *err)
{
    if (!TH_VALID(f && rgba && !f->failed && f->added < f->frame_count))
        return th_fail(err, TH_ERR_USAGE, "no picture, or a frame writer that takes no more");
    th_result result;
    if (f->format == PNG) {
        png_taker file = {.path = name_of(f, f->added), .err = err};
        encode(rgba, f->width, f->height, f->copy, &file);
        result =
            file.written ? file.result : th_fail(err, TH_ERR_MEMORY, "there is no memory left to write %s", file.path);
    } else {
        result = send_frame(f, rgba, err);
    }
    f->failed = result != TH_OK;
    f->added++;
    return result;
}

th_result th_frame_writer_close(th_frame_writer *f, th_error *err)
{
    if (!TH_VALID(f && !f->failed))
        return th_fail(err, TH_ERR_USAGE, "a frame writer that has failed can only be abandoned");
    th_result result = TH_OK;
    if (f->format != PNG)
        result = f->added == 0 ? th_fail(err, TH_ERR_INPUT, "a video needs at least one frame") : wait_for_end(f, err);
    if (f->format != PNG && result == TH_OK) { /* puts it in its place */
        struct stat status;
        const bool is_there = fstat(f->scratch, &status) == 0 && status.st_size > 0;
        const size_t size = is_there ? (size_t)status.st_size : 0;
        void *bytes = is_there ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, f->scratch, 0) : NULL;
        if (!is_there)
            result = th_fail(err, TH_ERR_ENVIRONMENT, "ffmpeg wrote nothing");
        else if (bytes == MAP_FAILED)
            result = th_fail(err, TH_ERR_MEMORY, "cannot read the video back: %s", strerror(errno));
        else
            result = th_file_replace(f->path, &(struct iovec){bytes, size}, 1, err);
        if (is_there && bytes != MAP_FAILED)
            munmap(bytes, size);
    }
    th_frame_writer_abandon(f);
    return result;
}
