/* Runs Assimp on a glTF file with patched JSON; the other bytes come from the file unchanged. */
#include "gltf.h"
#include "ipc.h"

#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <stdlib.h>
#include <string.h>

/* ---- a file in memory, with Assimp's interface ---- */

typedef struct memory {
    char *bytes;
    size_t size, at;
} memory;

static size_t read_memory(struct aiFile *file, char *out, size_t size, size_t count)
{
    memory *m = (memory *)file->UserData;
    size_t left = m->size - m->at;
    if (size == 0)
        return 0;
    if (count > left / size)
        count = left / size;
    memcpy(out, m->bytes + m->at, size * count);
    m->at += size * count;
    return count;
}

static size_t write_nothing(struct aiFile *file, const char *bytes, size_t size, size_t count)
{
    (void)file, (void)bytes, (void)size, (void)count;
    return 0;
}

static size_t tell_memory(struct aiFile *file)
{
    return ((const memory *)file->UserData)->at;
}

static size_t size_memory(struct aiFile *file)
{
    return ((const memory *)file->UserData)->size;
}

static enum aiReturn seek_memory(struct aiFile *file, size_t offset, enum aiOrigin origin)
{
    memory *m = (memory *)file->UserData;
    size_t from = origin == aiOrigin_SET ? 0 : origin == aiOrigin_CUR ? m->at : m->size;
    if (offset > m->size - from)
        return aiReturn_FAILURE;
    m->at = from + offset;
    return aiReturn_SUCCESS;
}

static void flush_nothing(struct aiFile *file)
{
    (void)file;
}

/* ---- the file system, with one file replaced ---- */

static memory read_disk(const char *path)
{
    memory m = {0};
    m.bytes = th_read_whole_file(path, &m.size);
    return m;
}

/* The new JSON, followed by whatever followed the old one in a .glb file. */
static memory replace_json(memory old, const char *json)
{
    enum { HEAD = 12, CHUNK_HEAD = 8 };
    size_t length = strlen(json), padded = (length + 3) / 4 * 4;
    bool binary = old.size >= HEAD + CHUNK_HEAD && memcmp(old.bytes, "glTF", 4) == 0;
    uint32_t chunk = 0;
    if (binary)
        memcpy(&chunk, old.bytes + HEAD, sizeof chunk);
    size_t before = binary ? HEAD + CHUNK_HEAD : 0, behind = binary ? before + (chunk + 3ull) / 4 * 4 : old.size;
    behind = behind < old.size ? behind : old.size;
    memory m = {.size = before + padded + old.size - behind};
    m.bytes = malloc(m.size);
    if (!m.bytes)
        give_up_memory();
    memcpy(m.bytes, old.bytes, before);
    memset(m.bytes + before, ' ', padded);
    memcpy(m.bytes + before, json, length);
    memcpy(m.bytes + before + padded, old.bytes + behind, old.size - behind);
    if (binary) {
        memcpy(m.bytes + 8, &(uint32_t){(uint32_t)m.size}, sizeof(uint32_t));
        memcpy(m.bytes + HEAD, &(uint32_t){(uint32_t)padded}, sizeof(uint32_t));
    }
    return m;
}

/* User data of the callbacks below. */
typedef struct replacement {
    const char *path, *json;
} replacement;

static struct aiFile *open_file(struct aiFileIO *io, const char *path, const char *mode)
{
    const replacement *r = (const replacement *)io->UserData;
    memory *m = calloc(1, sizeof *m);
    struct aiFile *file = calloc(1, sizeof *file);
    if (!m || !file)
        give_up_memory();
    *m = mode[0] == 'r' ? read_disk(path) : (memory){0};
    if (!m->bytes) {
        free(m);
        free(file);
        return NULL;
    }
    if (strcmp(path, r->path) == 0) {
        memory old = *m;
        *m = replace_json(old, r->json);
        free(old.bytes);
    }
    *file = (struct aiFile){read_memory, write_nothing, tell_memory,  size_memory,
                            seek_memory, flush_nothing, (aiUserData)m};
    return file;
}

static void close_file(struct aiFileIO *io, struct aiFile *file)
{
    (void)io;
    memory *m = (memory *)file->UserData;
    free(m->bytes);
    free(m);
    free(file);
}

const struct aiScene *import_with_json(const scene *s, const json_t *file)
{
    replacement r = {s->path, json_dumps(file, JSON_COMPACT)};
    if (!r.json)
        give_up_memory();
    struct aiFileIO io = {open_file, close_file, (aiUserData)&r};
    return aiImportFileEx(s->path, 0, &io);
}

/* ---- channels without a valid target ---- */

static bool is_aimed(const json_t *channel)
{
    const json_t *target = json_object_get(channel, "target");
    const char *path = json_string_value(json_object_get(target, "path"));
    bool weights = path && strcmp(path, "weights") == 0;
    return gltf_index(target, "node") != TH_NO_INDEX && (weights || gltf_part(channel) != 0);
}

static size_t drop_unaimed(json_t *channels)
{
    size_t dropped = 0;
    for (size_t c = json_array_size(channels); c-- > 0;)
        if (!is_aimed(json_array_get(channels, c))) {
            json_array_remove(channels, c);
            dropped++;
        }
    return dropped;
}

bool drop_unaimed_channels(scene *s, json_t *file)
{
    size_t a, all = 0;
    json_t *animation;
    json_array_foreach(json_object_get(file, "animations"), a, animation)
    {
        size_t dropped = drop_unaimed(json_object_get(animation, "channels"));
        warn(s, WARN_CHANNEL_UNAIMED, dropped, "animation %zu", a);
        all += dropped;
    }
    return all > 0;
}
