/* A model, or the error instead of one, as bytes: what throng-import sends through its pipe.
 *
 * For one machine and one build only: numbers are as the processor has them, and any change of th_model changes
 * TH_ARCHIVE_VERSION. A reader trusts nothing in it. Private to anim. */
#ifndef TH_ANIM_MODEL_ARCHIVE_H
#define TH_ANIM_MODEL_ARCHIVE_H

#include <throng/anim/model.h>

#define TH_ARCHIVE_VERSION 4u

/* Enough of the beginning to learn the whole length from. */
#define TH_ARCHIVE_HEAD_BYTES 24u

/* Both return bytes from malloc, or NULL when out of memory (or when the model does not fit in memory twice). */
uint8_t *th_archive_write(const th_model *model, size_t *out_size);
uint8_t *th_archive_write_error(const th_error *error, size_t *out_size);

/* Length of the whole archive, head included, or 0 when this is not the head of one. */
uint64_t th_archive_size(const uint8_t head[TH_ARCHIVE_HEAD_BYTES]);

/* The model, checked by th_model_check; or the error that was sent in its place; or TH_ERR_INPUT for bytes that are
 * neither. The caller frees the model with th_model_free; `bytes` need not outlive the call. */
th_result th_archive_read(const uint8_t *bytes, size_t size, th_model **out, th_error *err);

#endif
