/* A model, or an error instead of one, as bytes, for another process: from throng-import, to the picture process.
 *
 * For one machine and one build only: numbers have the processor's format, and any change of th_model must change
 * TH_ARCHIVE_VERSION. A reader trusts none of it. */
#ifndef THRONG_ANIM_ARCHIVE_H
#define THRONG_ANIM_ARCHIVE_H

#include <anim/model.h>

#define TH_ARCHIVE_VERSION 10u

/* Bytes at the beginning that give the total length. */
#define TH_ARCHIVE_HEAD_BYTES 24u

/* Return bytes from malloc, or NULL if out of memory (which needs room for a second copy of the model). */
uint8_t *th_archive_write(const th_model *model, size_t *out_size);
uint8_t *th_archive_write_error(const th_error *error, size_t *out_size);

/* Length of the whole archive, including the head; 0 if this is not the head of one. */
uint64_t th_archive_size(const uint8_t head[TH_ARCHIVE_HEAD_BYTES]);

/* What reading allocates, for any bytes: at most this many times their number, and a constant. */
#define TH_ARCHIVE_GROWTH   4u
#define TH_ARCHIVE_CONSTANT ((size_t)256 << 10)

/* Returns the model, checked by th_model_check; or the transmitted error; or TH_ERR_INPUT for anything else. The caller
 * frees the model with th_model_destroy. `bytes` need not outlive the call. */
th_result th_archive_read(const uint8_t *bytes, size_t size, th_model **out, th_error *err);

#endif
