/* A track while it is built from the keys of a file, as th_track requires: finite, ascending, unit rotations. */
#ifndef TH_ANIM_IMPORT_TRACKS_H
#define TH_ANIM_IMPORT_TRACKS_H

#include "scene.h"

/* One key of any kind: x y z, x y z w, or one number. */
typedef struct key {
    double time;
    float value[4];
    uint32_t order; /* in the file, for a stable sort */
} key;

/* A track while it is built. */
typedef struct track {
    scene *s;
    const char *where; /* for warnings */
    int width;         /* 3, 4 for rotations, 1 for weights */
    key *keys;
    uint32_t count;
    bool steps;          /* keys hold until the next one */
    const float *spline; /* keys as read_spline returns them, addressed by their order; NULL: no spline */
    bool repaired;       /* key times were changed */
    bool filled;         /* from the rest transform, because the file has no keys */
} track;

/* Makes room for keys, which the caller fills in. where: for warnings. */
track begin_track(scene *s, const char *where, int width, uint32_t count);

/* Repairs the keys and frees them. rest: the value if no key is left. */
th_track finish_track(track *t, const double rest[], double ticks_per_second);

#endif
