#include "scene.h"

#include "ipc.h"

#include <core/arena.h>

#include <stdarg.h>
#include <string.h>

void *make_array(scene *s, size_t count, size_t size)
{
    void *memory = th_arena_alloc(s->model->arena, count, size);
    if (!memory)
        give_up_memory();
    return memory;
}

const char *make_string(scene *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = th_arena_vformat(s->model->arena, format, args);
    va_end(args);
    if (!text)
        give_up_memory();
    return text;
}

bool has_format(const scene *s, const char *name)
{
    const struct aiMetadata *about = s->ai->mMetaData;
    for (unsigned i = 0; about && i < about->mNumProperties; i++)
        if (strcmp(about->mKeys[i].data, "SourceAsset_Format") == 0 && about->mValues[i].mType == AI_AISTRING)
            return strncmp(((const struct aiString *)about->mValues[i].mData)->data, name, strlen(name)) == 0;
    return false;
}
