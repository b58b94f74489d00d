/* Shaders cannot read renderbuffers, so a target is copied to textures with as many samples. There colours are bytes
 * without a transfer function, which no reading and writing changes. */
#include <throng/render/sample_reader.h>

#include "gl_backend.h"
#include "program.h"
#include "target_backend.h"

#include <assert.h>
#include <shaders.h>
#include <stdlib.h>

enum { COLOUR, DEPTH, PLANES, GROUP = 8 /* of shaders/sample.comp */ };

static const GLenum formats[PLANES] = {GL_RGBA8, GL_DEPTH_COMPONENT32F}, out_formats[PLANES] = {GL_RGBA8, GL_R32F};

struct th_sample_reader {
    const th_target *target;
    uint32_t samples;
    GLuint program;
    GLuint drawn[PLANES];  /* textures of all samples; 0 without antialiasing, as the rest */
    GLuint sample[PLANES]; /* of one */
};

static uint32_t count_samples(const th_target *target)
{
    GLint samples = 0;
    glBindRenderbuffer(GL_RENDERBUFFER, target->drawn_colour);
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_SAMPLES, &samples);
    glBindRenderbuffer(GL_RENDERBUFFER, 0);
    return (uint32_t)samples;
}

static void create_textures(th_sample_reader *r)
{
    const GLsizei width = (GLsizei)r->target->width, height = (GLsizei)r->target->height;
    glGenTextures(PLANES, r->drawn);
    glGenTextures(PLANES, r->sample);
    glActiveTexture(GL_TEXTURE0);
    for (int p = 0; p < PLANES; p++) {
        glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, r->drawn[p]);
        glTexStorage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, (GLsizei)r->samples, formats[p], width, height, GL_FALSE);
        glBindTexture(GL_TEXTURE_2D, r->sample[p]);
        glTexStorage2D(GL_TEXTURE_2D, 1, out_formats[p], width, height);
    }
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
}

static th_result init(th_sample_reader *r, th_error *err)
{
    const th_program_desc desc = {.name = "sample", .compute = {&th_shader_sample_comp}};
    r->samples = count_samples(r->target);
    create_textures(r);
    const GLenum error = glGetError();
    if (error)
        return th_fail(err, error == GL_OUT_OF_MEMORY ? TH_ERR_MEMORY : TH_ERR_ENVIRONMENT,
                       "reading %u samples of %ux%u pixels: %s", r->samples, r->target->width, r->target->height,
                       th_gl_error_name(error));
    return th_program_create(&desc, &r->program, err);
}

th_result th_sample_reader_create(const th_target *target, th_sample_reader **out_reader, th_error *err)
{
    assert(target && out_reader);
    *out_reader = NULL;
    th_sample_reader *r = calloc(1, sizeof *r);
    if (!r)
        return th_fail(err, TH_ERR_MEMORY, "no memory to read the samples of a picture");
    r->target = target;
    r->samples = 1;
    const th_result result = target->samples > 0 ? init(r, err) : TH_OK;
    if (result == TH_OK)
        *out_reader = r;
    else
        th_sample_reader_destroy(r);
    return result;
}

uint32_t th_sample_reader_samples(const th_sample_reader *reader)
{
    assert(reader);
    return reader->samples;
}

void th_sample_reader_begin(th_sample_reader *r)
{
    assert(r);
    const th_target *t = r->target;
    const GLuint from[PLANES] = {t->drawn_colour, t->depth};
    for (int p = 0; t->samples > 0 && p < PLANES; p++)
        glCopyImageSubData(from[p], GL_RENDERBUFFER, 0, 0, 0, 0, r->drawn[p], GL_TEXTURE_2D_MULTISAMPLE, 0, 0, 0, 0,
                           (GLsizei)t->width, (GLsizei)t->height, 1);
}

static void run_program(const th_sample_reader *r, uint32_t sample)
{
    glUseProgram(r->program);
    glUniform1i(0, (GLint)sample);
    for (GLuint p = 0; p < PLANES; p++) {
        glActiveTexture(GL_TEXTURE0 + p);
        glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, r->drawn[p]);
        glBindImageTexture(p, r->sample[p], 0, GL_FALSE, 0, GL_WRITE_ONLY, out_formats[p]);
    }
    glDispatchCompute((r->target->width + GROUP - 1) / GROUP, (r->target->height + GROUP - 1) / GROUP, 1);
    glMemoryBarrier(GL_TEXTURE_UPDATE_BARRIER_BIT);
    for (GLuint p = 0; p < PLANES; p++) {
        glActiveTexture(GL_TEXTURE0 + p);
        glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, 0);
        glBindImageTexture(p, 0, 0, GL_FALSE, 0, GL_WRITE_ONLY, out_formats[p]);
    }
    glUseProgram(0);
}

static void read_plane(GLuint texture, GLenum format, GLenum type, void *out)
{
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture);
    glGetTexImage(GL_TEXTURE_2D, 0, format, type, out);
    glBindTexture(GL_TEXTURE_2D, 0);
}

void th_sample_reader_read(const th_sample_reader *r, uint32_t sample, uint8_t *out_rgba, float *out_depth)
{
    assert(r && sample < r->samples && out_rgba && out_depth);
    if (r->target->samples == 0) {
        th_target_read(r->target, out_rgba);
        th_target_read_depth(r->target, out_depth);
        return;
    }
    run_program(r, sample);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    read_plane(r->sample[COLOUR], GL_RGBA, GL_UNSIGNED_BYTE, out_rgba);
    read_plane(r->sample[DEPTH], GL_RED, GL_FLOAT, out_depth);
    th_target_bind(r->target);
}

void th_sample_reader_destroy(th_sample_reader *r)
{
    if (!r)
        return;
    glDeleteProgram(r->program);
    glDeleteTextures(PLANES, r->drawn);
    glDeleteTextures(PLANES, r->sample);
    free(r);
}
