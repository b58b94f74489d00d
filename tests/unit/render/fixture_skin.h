/* Skinning in double precision on the CPU, to hold the shader's against. */
#ifndef FIXTURE_SKIN_H
#define FIXTURE_SKIN_H

#include "fixture_picture.h"

/* The same picture by other means: a mesh for each character, of vertices that are where they belong, with one
 * palette entry that moves nothing. What a transform turns inside out is turned back. */
stage stage_skinned(const stage *from);

#endif
