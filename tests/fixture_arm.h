/* A model that has everything: an arm of three joints and a prop, two meshes, two textures, a mirror, a stretch, and
 * clips with every oddity. Made for a test to spoil: all of it can be written. */
#ifndef FIXTURE_ARM_H
#define FIXTURE_ARM_H

#include <throng/anim/model.h>

enum { BASE, UPPER, LOWER, HAND, PROP, JOINTS };
enum { CUT, LONGER, POSE, STILL, CLIPS };
enum { EARLY, WHOLE, ONCE, LATE, TIMES };
enum { RINGS = 5, SIDES = 6, VERTICES = RINGS * SIDES, INDICES = (RINGS - 1) * SIDES * 6 };

typedef struct arm {
    th_model model;
    th_joint joints[JOINTS];
    th_bone bones[4];
    th_vertex vertices[2][VERTICES];
    uint32_t indices[INDICES];
    th_mesh meshes[2];
    th_material materials[2];
    th_texture textures[2];
    double times[TIMES][3];
    float at_rest[2][9], moving[9], turns[2][8];
    th_channel channels[3];
    th_clip clips[4];
} arm;

/* Passes th_model_check. Aborts when out of memory. The caller frees it with free(). */
arm *make_arm(void);

/* The contents of the first texture, a PNG of one pixel. */
extern const uint8_t arm_png[69];

#endif
