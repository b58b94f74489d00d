/* stb_image with only the decoders that models need, because each decoder adds attack surface. */
#include <stdlib.h>

/* A PNG of a few megabytes may inflate to gigabytes. A valid one needs at most twice the largest image, and stb doubles
 * its buffers. */
#define MOST_BYTES ((size_t)1 << 30)

/* Zeroed, because stb uses tables that a JPEG did not define. */
static void *limited_malloc(size_t size)
{
    return size <= MOST_BYTES ? calloc(size, 1) : NULL;
}

static void *limited_realloc(void *memory, size_t size)
{
    return size <= MOST_BYTES ? realloc(memory, size) : NULL;
}

#define STBI_MALLOC         limited_malloc
#define STBI_REALLOC        limited_realloc
#define STBI_FREE           free
#define STBI_MAX_DIMENSIONS 16384
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_NO_STDIO
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
