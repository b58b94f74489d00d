/* Formats of bone palettes. An entry is a 3x4 row-major matrix with the translation in the last column, which shaders
 * read as three rows; or a quaternion (x, y, z, w), a place and a scale, for joints that do nothing but turn and move,
 * which takes fewer bytes, and less time to compute. The place is where the joint is: that of th_bone_place. So a
 * vertex v of a bone with that place b belongs at
 *
 *    place + scale * rotate(quaternion, v - b)
 *
 * After the entries of the bones follow those of the morph weights: twelve weights each, in the order of
 * th_model.weights, then zeros. */
#ifndef THRONG_ANIM_PALETTE_H
#define THRONG_ANIM_PALETTE_H

#include <core/api.h>
#include <core/cache_line.h>

#include <stddef.h>
#include <stdint.h>

TH_API_BEGIN

typedef enum th_format {
    TH_FORMAT_F32 = 0, /* 48 bytes per entry. All models can have it */
    TH_FORMAT_QUAT,    /* 32 bytes: quaternion of length 1, either sign; place; scale, above 0. Not all models can have
                           it (th_compiled_model_obstacle), none with morph weights */
    TH_FORMAT_QUAT16,  /* 16 bytes: the same in whole numbers, of 20 bits for the rotation and of 22 for the place
                           (th_quat16), without a scale. The place is rounded to th_palette_step. Not for models that are
                           scaled, or carried farther than twice their size */
    TH_FORMAT_COUNT,
    TH_FORMAT_AUTO = TH_FORMAT_COUNT, /* for a crowd: QUAT if all its models can have it, otherwise F32 */
} th_format;

typedef enum th_writes {
    TH_WRITES_AUTO = 0, /* streamed if a crowd's palettes exceed th_stream_bytes, otherwise cached */
    TH_WRITES_CACHED,   /* ordinary stores, for palettes that are soon read or overwritten */
    TH_WRITES_STREAMED, /* streaming stores that bypass the caches, for write-combined memory, and for palettes that are
                         * not read soon and would evict other data */
    TH_WRITES_COUNT,
} th_writes;

/* Palettes larger than this are posed faster past the caches of this machine's kind of processor. */
size_t th_stream_bytes(void);

/* "f32", "quat", "quat16". */
const char *th_format_name(th_format format);

static inline size_t th_palette_entry_bytes(th_format format)
{
    static const size_t bytes[TH_FORMAT_COUNT] = {48, 32, 16};
    return bytes[format];
}

/* Entries of the palette of a model. */
static inline uint32_t th_palette_entries(uint32_t bone_count, uint32_t weight_count)
{
    return bone_count + (weight_count + 11) / 12;
}

/* Bytes from the palette of an instance to the next: whole cache lines, but never whole pages. A kernel writes the same
 * entry of all its lanes at once. Lines that are whole pages apart compete for one set of the first-level cache, which
 * has fewer ways than AVX-512 has lanes: a bone took 7.3 ns instead of 1.9. */
static inline size_t th_palette_stride(th_format format, uint32_t entries)
{
    const size_t page = 4096, bytes = th_cache_line_round(entries * th_palette_entry_bytes(format));
    return bytes > 0 && bytes % page == 0 ? bytes + TH_CACHE_LINE : bytes;
}

#define TH_PALETTE_ROW_BYTES 16 /* four numbers, as shaders read them */

/* Of the places of QUAT16, in scene units; 1.7 um for a human of 1.8 m. size: th_model.size. */
static inline float th_palette_step(double size)
{
    return (float)(size * 0x1p-20);
}

#define TH_TURN_STEPS 500000 /* of the rotations of QUAT16, in one */

/* An entry of QUAT16: numbers n in two's complement. A coordinate of the place is n * th_palette_step. The rotation is
 * given by r, its axis times the tangent of a quarter of its angle, 180 degrees at most, so that the quaternion is
 *
 *    (2 r, 1 - dot(r, r)) / (1 + dot(r, r))     r = n / TH_TURN_STEPS
 *
 * The low 22 bits of the words are x, y and z of the place, and x of r. The high 10 bits are those of the numbers of 20
 * bits y of r, low half first, and z of r. */
typedef struct th_quat16 {
    uint32_t words[4];
} th_quat16;

/* What quaternions of a bone refer to. */
typedef struct th_palette_base {
    float place[3]; /* th_bone_place */
    float step;     /* th_palette_step */
} th_palette_base;

/* Decodes one entry to a matrix, row-major. base: only for quaternions, otherwise it may be NULL. */
void th_palette_read(th_format format, const void *entry, const th_palette_base *base, float out[12]);

/* Encodes one entry. What is no rotation, translation or uniform scale is lost in quaternions. */
void th_palette_write(th_format format, const float in[12], const th_palette_base *base, void *entry);

TH_API_END

#endif
