/* A piece of shader source: a file of this folder, embedded at build time. */
#ifndef TH_SHADER_H
#define TH_SHADER_H

typedef struct th_shader {
    const char *name; /* file name, for messages */
    const char *text; /* GLSL without #version */
} th_shader;

#endif
