/* The words that ask for a synthetic model: synthetic:KEY=VALUE,... */
#ifndef THRONG_ANIM_SYNTHETIC_TEXT_H
#define THRONG_ANIM_SYNTHETIC_TEXT_H

#include <anim/synthetic.h>

#include <stddef.h>

/* A field of th_synthetic_desc. */
typedef struct th_synthetic_key {
    const char *name, *help;
    size_t offset, size;
    uint64_t low, high;       /* of a whole number */
    const char *const *words; /* what it takes instead, in the order of the values; NULL-terminated */
} th_synthetic_key;

/* Ends with a row whose name is NULL. */
extern const th_synthetic_key th_synthetic_keys[];

/* True for "synthetic" and anything that begins with "synthetic:". A file of such a name can be given as ./synthetic.
 */
bool th_synthetic_named(const char *text);

/* Missing keys get the values of TH_SYNTHETIC_DEFAULT. On failure err names the key and the values that it takes. The
 * model's name is `text`, borrowed. */
th_result th_synthetic_parse(const char *text, th_synthetic_desc *out, th_error *err);

#endif
