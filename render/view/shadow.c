#include "shadow.h"

#include <assert.h>
#include <cglm/cglm.h>

#include <math.h>
#include <string.h>

th_result th_shadow_init(th_shadow *s, uint32_t pixels, th_error *err)
{
    GLint most = 0;
    *s = (th_shadow){.pixels = pixels};
    glGenTextures(1, &s->map); /* bound even without shadows, because the sampler needs a texture */
    if (pixels == 0)
        return TH_OK;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    if (pixels > (uint32_t)most)
        return th_fail(err, TH_ERR_ENVIRONMENT, "a shadow map of %u pixels a side; the driver takes %d", pixels, most);
    glBindTexture(GL_TEXTURE_2D, s->map);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_DEPTH_COMPONENT32F, (GLsizei)pixels, (GLsizei)pixels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glBindTexture(GL_TEXTURE_2D, 0);
    glGenFramebuffers(1, &s->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, s->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, s->map, 0);
    const bool complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    return complete ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for a shadow map of %u pixels a side", pixels);
}

void th_shadow_fini(th_shadow *s)
{
    glDeleteFramebuffers(1, &s->framebuffer);
    glDeleteTextures(1, &s->map);
}

/* The map's centre is rounded to whole texels, so that shadows do not shimmer when the camera moves. */
void th_shadow_matrix(uint32_t pixels, const float to_sun[3], const float center[3], float radius,
                      float out_clip_from_world[16])
{
    assert(pixels > 0 && radius > 0);
    assert(fabsf(glm_vec3_norm2((float[3]){to_sun[0], to_sun[1], to_sun[2]}) - 1) < 1e-2F);
    mat4 view, projection, clip;
    vec3 up = {0, 1, 0}, origin = {0, 0, 0}, sun = {to_sun[0], to_sun[1], to_sun[2]}, middle;
    if (fabsf(sun[1]) > 0.99F)
        glm_vec3_copy((vec3){0, 0, 1}, up);
    glm_lookat(sun, origin, up, view);
    glm_mat4_mulv3(view, (vec3){center[0], center[1], center[2]}, 1, middle);
    const float texel = 2 * radius / (float)pixels;
    for (int i = 0; i < 2; i++)
        middle[i] = roundf(middle[i] / texel) * texel;
    glm_ortho(middle[0] - radius, middle[0] + radius, middle[1] - radius, middle[1] + radius, -middle[2] - radius,
              -middle[2] + radius, projection);
    glm_mat4_mul(projection, view, clip);
    memcpy(out_clip_from_world, clip, sizeof clip);
}

static void set_matrices(th_shadow *s, const float to_sun[3], const float center[3], float radius)
{
    mat4 clip, map, to_map = {{0.5F, 0, 0, 0}, {0, 0.5F, 0, 0}, {0, 0, 0.5F, 0}, {0.5F, 0.5F, 0.5F, 1}};
    th_shadow_matrix(s->pixels, to_sun, center, radius, s->clip_from_world);
    memcpy(clip, s->clip_from_world, sizeof clip);
    glm_mat4_mul(to_map, clip, map);
    memcpy(s->map_from_world, map, sizeof s->map_from_world);
}

void th_shadow_begin(th_shadow *s, const float to_sun[3], const float center[3], float radius)
{
    assert(s->framebuffer && s->pixels > 0);
    set_matrices(s, to_sun, center, radius);
    glBindFramebuffer(GL_FRAMEBUFFER, s->framebuffer);
    glViewport(0, 0, (GLsizei)s->pixels, (GLsizei)s->pixels);
    glClear(GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_CLAMP);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(1.5F, 2);
}

void th_shadow_end(const th_shadow *s)
{
    (void)s;
    glDisable(GL_POLYGON_OFFSET_FILL);
    glDisable(GL_DEPTH_CLAMP);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}
