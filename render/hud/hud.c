/* Letters and panels are rectangles of 16 bytes, and all of them are one instanced draw. So later ones lie on top, and
 * text needs no order of its own. */
#include <render/hud.h>

#include "gl/program.h"
#include "hud_box.h"
#include "hud_font.h"

#include <shaders.h>

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum {
    FIRST_CAPACITY = 1024,
    MOST_RECTANGLES = 1 << 22, /* 64 MiB, far more than can be read; further ones are dropped */
    MOST_PIXELS = 16384,
    FAR = 1 << 29,  /* limit of coordinates in calculations */
    OUTSIDE = 32000 /* beyond any picture, and fits 16 bits */
};

/* Layout as in the shader. */
typedef struct rectangle {
    int16_t left, top, right, bottom;
    uint16_t letter, radius; /* letter: its cell plus 1; 0: a panel */
    th_rgba color;
} rectangle;

enum { EDGES, SHAPE, COLOR };

struct th_hud {
    th_gl *gl;
    GLuint program, array, buffer, sheet;
    GLint size, cell; /* uniforms */
    int32_t line_px, advance_px;
    int32_t width, height; /* the picture */
    rectangle *rectangles;
    uint32_t count, capacity;
};

/* ---- creation ---- */

static th_result make_program(th_hud *hud, th_error *err)
{
    static_assert(TH_HUD_FONT_COLUMNS == 16, "as in the define");
    const th_program_desc desc = {.name = "hud",
                                  .vertex = {&th_shader_hud_vert},
                                  .fragment = {&th_shader_hud_frag},
                                  .defines = {"SHEET_COLUMNS 16u"}};
    const th_result result = th_program_create(&desc, &hud->program, err);
    hud->size = glGetUniformLocation(hud->program, "u_size");
    hud->cell = glGetUniformLocation(hud->program, "u_cell");
    return result;
}

static void make_array(th_hud *hud)
{
    glGenVertexArrays(1, &hud->array);
    glGenBuffers(1, &hud->buffer);
    glBindVertexArray(hud->array);
    glBindVertexBuffer(0, hud->buffer, 0, sizeof(rectangle));
    glVertexBindingDivisor(0, 1);
    glVertexAttribIFormat(EDGES, 4, GL_SHORT, offsetof(rectangle, left));
    glVertexAttribIFormat(SHAPE, 2, GL_UNSIGNED_SHORT, offsetof(rectangle, letter));
    glVertexAttribFormat(COLOR, 4, GL_UNSIGNED_BYTE, GL_TRUE, offsetof(rectangle, color));
    for (GLuint i = EDGES; i <= COLOR; i++) {
        glEnableVertexAttribArray(i);
        glVertexAttribBinding(i, 0);
    }
    glBindVertexArray(0);
}

static GLuint upload_sheet(const th_hud_font *font)
{
    GLuint sheet;
    glGenTextures(1, &sheet);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, sheet);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, (GLsizei)font->width, (GLsizei)font->height, 0, GL_RED, GL_UNSIGNED_BYTE,
                 font->coverage);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindTexture(GL_TEXTURE_2D, 0);
    return sheet;
}

static th_result use_font(th_hud *hud, const th_hud_font *font, th_error *err)
{
    const GLuint sheet = upload_sheet(font);
    const th_result result = th_gl_check(hud->gl, "while letters were uploaded", err);
    if (result != TH_OK) {
        glDeleteTextures(1, &sheet);
        return result;
    }
    glDeleteTextures(1, &hud->sheet);
    hud->sheet = sheet;
    hud->line_px = (int32_t)font->line_px;
    hud->advance_px = (int32_t)font->advance_px;
    return TH_OK;
}

th_result th_hud_create(const th_gl *gl, float text_px, th_hud **out, th_error *err)
{
    assert(gl && out);
    *out = NULL;
    th_hud *hud = calloc(1, sizeof *hud);
    if (!hud)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a head-up display");
    hud->gl = (th_gl *)gl;
    make_array(hud);
    th_result result = make_program(hud, err);
    if (result == TH_OK)
        result = th_hud_set_text_px(hud, text_px, err);
    if (result != TH_OK) {
        th_hud_destroy(hud);
        return result;
    }
    *out = hud;
    return TH_OK;
}

void th_hud_destroy(th_hud *hud)
{
    if (!hud)
        return;
    glDeleteProgram(hud->program);
    glDeleteVertexArrays(1, &hud->array);
    glDeleteBuffers(1, &hud->buffer);
    glDeleteTextures(1, &hud->sheet);
    free(hud->rectangles);
    free(hud);
}

th_result th_hud_set_text_px(th_hud *hud, float text_px, th_error *err)
{
    assert(hud);
    if (!(text_px >= TH_HUD_MIN_TEXT_PX && text_px <= TH_HUD_MAX_TEXT_PX))
        return th_fail(err, TH_ERR_LIMIT, "text of %g pixels; it can have %g to %g", (double)text_px,
                       (double)TH_HUD_MIN_TEXT_PX, (double)TH_HUD_MAX_TEXT_PX);
    th_hud_font font = {0};
    th_result result = th_hud_font_init(&font, (uint32_t)th_hud_pixel(text_px), err);
    if (result == TH_OK)
        result = use_font(hud, &font, err);
    th_hud_font_fini(&font);
    return result;
}

/* ---- rectangles ---- */

int32_t th_hud_pixel(float at)
{
    return isnan(at) ? 0 : (int32_t)floorf(fminf(fmaxf(at, -FAR), FAR) + 0.5F);
}

/* False when out of memory. */
static bool grow(th_hud *hud)
{
    const uint32_t capacity = hud->capacity ? 2 * hud->capacity : FIRST_CAPACITY;
    rectangle *more = capacity <= MOST_RECTANGLES ? realloc(hud->rectangles, capacity * sizeof *more) : NULL;
    if (!more)
        return false;
    hud->rectangles = more;
    hud->capacity = capacity;
    return true;
}

static int16_t within(int32_t at)
{
    return (int16_t)(at < -OUTSIDE ? -OUTSIDE : at > OUTSIDE ? OUTSIDE : at);
}

static void add(th_hud *hud, th_hud_edges e, uint32_t letter, int32_t radius, th_rgba color)
{
    assert(letter <= UINT16_MAX && radius <= UINT16_MAX);
    const bool seen = e.right > e.left && e.bottom > e.top && e.right > 0 && e.bottom > 0 && e.left < hud->width &&
                      e.top < hud->height;
    if (seen && (hud->count < hud->capacity || grow(hud)))
        hud->rectangles[hud->count++] = (rectangle){.left = within(e.left),
                                                    .top = within(e.top),
                                                    .right = within(e.right),
                                                    .bottom = within(e.bottom),
                                                    .letter = (uint16_t)letter,
                                                    .radius = (uint16_t)radius,
                                                    .color = color};
}

void th_hud_box(th_hud *hud, th_hud_edges edges, th_rgba color)
{
    assert(hud);
    add(hud, edges, 0, 0, color);
}

void th_hud_panel(th_hud *hud, float x, float y, float width, float height, th_rgba color)
{
    assert(hud);
    const th_hud_edges e = {th_hud_pixel(x), th_hud_pixel(y), th_hud_pixel(x + width), th_hud_pixel(y + height)};
    const int32_t side = e.right - e.left < e.bottom - e.top ? e.right - e.left : e.bottom - e.top;
    add(hud, e, 0, (side < hud->line_px ? side : hud->line_px) / 4, color);
}

/* ---- text ---- */

float th_hud_line_px(const th_hud *hud)
{
    assert(hud);
    return (float)hud->line_px;
}

float th_hud_text_width(const th_hud *hud, const char *utf8)
{
    assert(hud && utf8);
    size_t longest = 0, length = 0;
    while (*utf8) {
        length = th_hud_font_next(&utf8) == '\n' ? 0 : length + 1;
        longest = length > longest ? length : longest;
    }
    return (float)longest * (float)hud->advance_px;
}

void th_hud_text(th_hud *hud, float x, float y, th_rgba color, const char *utf8)
{
    assert(hud && utf8);
    if (isnan(x) || isnan(y))
        return;
    const int32_t first = th_hud_pixel(x);
    int32_t left = first, top = th_hud_pixel(y);
    while (*utf8 && top < hud->height) {
        const uint32_t codepoint = th_hud_font_next(&utf8);
        if (codepoint == '\n') {
            left = first;
            top += hud->line_px;
        } else if (left < hud->width) {
            if (codepoint != ' ')
                add(hud, (th_hud_edges){left, top, left + hud->advance_px, top + hud->line_px},
                    th_hud_font_cell(codepoint) + 1, 0, color);
            left += hud->advance_px;
        }
    }
}

/* ---- a frame ---- */

void th_hud_begin(th_hud *hud, uint32_t width, uint32_t height)
{
    assert(hud);
    assert(width <= MOST_PIXELS && height <= MOST_PIXELS);
    hud->width = (int32_t)width;
    hud->height = (int32_t)height;
    hud->count = 0;
}

/* Allocates a new buffer store each time, because the GPU may still read the last one. The size is always the capacity,
 * so that the driver can reuse the same few stores. */
static void upload(const th_hud *hud)
{
    assert(hud->count <= hud->capacity);
    glBindBuffer(GL_ARRAY_BUFFER, hud->buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(hud->capacity * sizeof(rectangle)), NULL, GL_STREAM_DRAW);
    glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)(hud->count * sizeof(rectangle)), hud->rectangles);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
}

/* Keeps an opaque picture opaque. */
static void set_state(const th_hud *hud)
{
    glViewport(0, 0, hud->width, hud->height);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_CULL_FACE);
    glDisable(GL_FRAMEBUFFER_SRGB);
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
}

static void draw(const th_hud *hud)
{
    glUseProgram(hud->program);
    glUniform2f(hud->size, (float)hud->width, (float)hud->height);
    glUniform2i(hud->cell, hud->advance_px, hud->line_px);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, hud->sheet);
    glBindVertexArray(hud->array);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, (GLsizei)hud->count);
    glBindVertexArray(0);
    glBindTexture(GL_TEXTURE_2D, 0);
    glUseProgram(0);
}

void th_hud_end(th_hud *hud)
{
    assert(hud);
    set_state(hud);
    if (hud->count > 0) {
        upload(hud);
        draw(hud);
    }
    glDisable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ZERO);
    glEnable(GL_FRAMEBUFFER_SRGB);
}
