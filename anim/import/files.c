#include "files.h"

#include <core/file.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK, because it may be a fifo, which nobody writes to. */
#define READ_ONLY (O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

static bool outside_is_allowed;
static int model_file = -1, model_folder = -1;

void take_files(int model, int folder)
{
    model_file = model;
    model_folder = folder;
}

void allow_files_outside(void)
{
    outside_is_allowed = true;
}

int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

/* ---- names ---- */

const char *file_part(const char *path)
{
    const char *slash = strrchr(path, '/'), *backslash = strrchr(path, '\\');
    const char *last = slash > backslash ? slash : backslash;
    return last ? last + 1 : path;
}

bool has_ending(const char *name, const char *ending)
{
    const char *own = strrchr(name, '.');
    return own && strcasecmp(own, ending) == 0;
}

char *decode_percents(scene *s, const char *uri)
{
    char *text = (char *)make_string(s, "%s", uri), *out = text;
    for (const char *c = uri; *c; c++) {
        unsigned code;
        const bool escaped = c[0] == '%' && c[1] && c[2] && strspn(c + 1, "0123456789abcdefABCDEF") >= 2 &&
                             sscanf(c + 1, "%2x", &code) == 1 && code > 0;
        *out++ = escaped ? (char)code : *c;
        c += escaped ? 2 : 0;
    }
    *out = '\0';
    return text;
}

/* Writes the name without "." and "..", with slashes between its parts. Returns false if it is absolute, has a drive or
 * a scheme, or leads out of the folder it begins in. */
static bool normalize(const char *name, char out[PATH_MAX])
{
    static const char separators[] = "/\\";
    size_t used = 0;
    if (strspn(name, separators) > 0 || memchr(name, ':', strcspn(name, separators)))
        return false;
    for (const char *part = name; *part; part += strspn(part, separators)) {
        const size_t length = strcspn(part, separators);
        const bool up = length == 2 && memcmp(part, "..", 2) == 0, stays = length == 1 && *part == '.';
        if ((up && used == 0) || used + length + 2 > PATH_MAX)
            return false;
        if (up) /* drops the last part */
            while (used > 0 && out[--used] != '/')
                ;
        else if (!stays)
            used += (size_t)sprintf(out + used, "%s%.*s", used ? "/" : "", (int)length, part);
        part += length;
    }
    out[used] = '\0';
    return true;
}

/* ---- opening ---- */

static int check_regular(int file)
{
    struct stat status;
    if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode)))
        return file;
    close(file);
    errno = ENOENT;
    return -1;
}

int open_beside(scene *s, const char *name)
{
    char path[PATH_MAX];
    int file = -1;
    if (normalize(decode_percents(s, name), path) && normalize(name, path))
        file = th_open_beneath(model_folder, path, READ_ONLY);
    else
        errno = EXDEV;
    if (file < 0 && outside_is_allowed)
        file = openat(model_folder, name, READ_ONLY);
    return check_regular(file);
}

void give_up_outside(const char *name)
{
    give_up(TH_ERR_INPUT, "names \"%.160s\", which is outside of the model's folder (--allow-outside reads it)", name);
}

/* ---- whole files ---- */

char *read_open_file(int file, size_t *out_size)
{
    struct stat status;
    const size_t size = file >= 0 && fstat(file, &status) == 0 && status.st_size > 0 ? (size_t)status.st_size : 0;
    char *bytes = size > 0 ? malloc(size) : NULL;
    if (size > 0 && !bytes)
        give_up_memory();
    ssize_t got = 1;
    for (*out_size = 0; bytes && *out_size < size && got > 0; *out_size += got > 0 ? (size_t)got : 0)
        got = TEMP_FAILURE_RETRY(read(file, bytes + *out_size, size - *out_size));
    if (got < 0) { /* what came before is not the file */
        free(bytes);
        bytes = NULL;
    }
    if (file >= 0)
        close(file);
    return bytes;
}

void read_model_file(scene *s)
{
    s->bytes = read_open_file(model_file, &s->byte_count);
    if (!s->bytes)
        give_up(TH_ERR_INPUT, "cannot be read");
}

/* ---- for Assimp ---- */

static FILE *stream_of(struct aiFile *file)
{
    return (FILE *)(void *)file->UserData;
}

static size_t read_file(struct aiFile *file, char *out, size_t size, size_t count)
{
    return fread(out, size, count, stream_of(file));
}

static size_t write_file(struct aiFile *file, const char *bytes, size_t size, size_t count)
{
    (void)file;
    (void)bytes;
    (void)size;
    (void)count;
    return 0;
}

static size_t tell_file(struct aiFile *file)
{
    const long at = ftell(stream_of(file));
    return at < 0 ? 0 : (size_t)at;
}

static size_t size_of_file(struct aiFile *file)
{
    FILE *stream = stream_of(file);
    const long at = ftell(stream), size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : 0;
    return fseek(stream, at, SEEK_SET) == 0 && size > 0 ? (size_t)size : 0;
}

static enum aiReturn seek_file(struct aiFile *file, size_t offset, enum aiOrigin origin)
{
    const int whence = origin == aiOrigin_SET ? SEEK_SET : origin == aiOrigin_CUR ? SEEK_CUR : SEEK_END;
    return fseek(stream_of(file), (long)offset, whence) == 0 ? aiReturn_SUCCESS : aiReturn_FAILURE;
}

static void flush_file(struct aiFile *file)
{
    (void)file;
}

/* Assimp looks for a name in several places: with the model's folder before it, also where that is there already, and
 * then for its last parts behind the folder and a slash too many. Only in a search is that slash not the name's own. */
static int open_named(scene *s, const char *name)
{
    const int folder = folder_length(s->path);
    while (strncmp(name, s->path, (size_t)folder) == 0)
        name += folder;
    if (s->is_searching)
        name += strspn(name, "/");
    const int file = open_beside(s, name);
    if (file < 0 && errno == EXDEV && !s->refused)
        s->refused = make_string(s, "%s", name);
    else if (file >= 0 && s->refused && strcmp(file_part(name), file_part(s->refused)) == 0)
        s->refused = NULL;
    s->is_searching = file < 0;
    return file;
}

static struct aiFile *open_file(struct aiFileIO *io, const char *name, const char *mode)
{
    scene *s = (scene *)(void *)io->UserData;
    const bool is_model = strcmp(name, s->path) == 0, is_md5 = has_ending(name, ".md5anim");
    const int file = mode[0] == 'r' && !is_model ? open_named(s, name) : -1;
    size_t size = s->byte_count;
    char *bytes = is_model ? s->bytes : is_md5 ? read_open_file(file, &size) : NULL;
    if (bytes && is_md5) /* which Assimp reads once */
        bytes = mend_md5(bytes, &size);
    FILE *stream = bytes ? fmemopen(bytes, size, "rb") : file >= 0 && !is_md5 ? fdopen(file, "rb") : NULL;
    struct aiFile *out = stream ? malloc(sizeof *out) : NULL;
    if (out)
        *out = (struct aiFile){.ReadProc = read_file,
                               .WriteProc = write_file,
                               .TellProc = tell_file,
                               .FileSizeProc = size_of_file,
                               .SeekProc = seek_file,
                               .FlushProc = flush_file,
                               .UserData = (aiUserData)(void *)stream};
    else if (stream)
        fclose(stream);
    return out;
}

static void close_file(struct aiFileIO *io, struct aiFile *file)
{
    (void)io;
    fclose(stream_of(file));
    free(file);
}

struct aiFileIO assimp_files(scene *s)
{
    return (struct aiFileIO){.OpenProc = open_file, .CloseProc = close_file, .UserData = (aiUserData)(void *)s};
}
