/* Compiled keys. */
#ifndef THRONG_ANIM_KEYS_H
#define THRONG_ANIM_KEYS_H

#include <throng/throng.h>

static inline size_t th_keys_bytes(th_keys keys)
{
    return keys == TH_KEYS_16 ? 8 : 16;
}

#endif
