/* Formats of compiled keys. */
#ifndef THRONG_ANIM_KEYS_H
#define THRONG_ANIM_KEYS_H

#include <core/api.h>

#include <stddef.h>

TH_API_BEGIN

typedef enum th_keys {
    TH_KEYS_32 = 0, /* single precision, 16 bytes a key */
    TH_KEYS_16,     /* 8 bytes: each number quantised to 65,000 steps of its range over all clips of the model */
    TH_KEYS_COUNT,
} th_keys;

static inline size_t th_keys_bytes(th_keys keys)
{
    return keys == TH_KEYS_16 ? 8 : 16;
}

TH_API_END

#endif
