/* Letters and panels are rectangles of 16 bytes, and all of them are one instanced draw. So later ones lie on top, and
 * text needs no order of its own. The font is one monospaced typeface, embedded at build time. */
#include <render/hud.h>

#include "gl/program.h"

#include <shaders.h>

#include <assert.h>
#include <math.h>
#include <stb/stb_truetype.h>
#include <stdlib.h>
#include <string.h>

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

/* Pixels; right and bottom are exclusive. */
typedef struct edges {
    int32_t left, top, right, bottom;
} edges;

struct th_hud {
    th_gl *gl;
    GLuint program, array, buffer, sheet;
    GLint size, cell; /* uniforms */
    int32_t line_px, advance_px;
    int32_t width, height; /* the picture */
    rectangle *rectangles;
    uint32_t count, capacity;
};

/* Rounds to the nearest whole pixel, limited to +-2^29 so that differences fit 32 bits. NaN becomes 0, so both edges of
 * a rectangle without a position coincide and it is empty. */
static int32_t pixel(float at)
{
    return isnan(at) ? 0 : (int32_t)floorf(fminf(fmaxf(at, -FAR), FAR) + 0.5F);
}

extern const unsigned char th_embedded_hud_font[]; /* generated in the build folder */

/* Cells, in order: ASCII, Latin-1, these, and the box. */
static const uint16_t symbols[] = {u'–', u'—', u'‘', u'’', u'“', u'”', u'•', u'…', u'←', u'↑', u'→',
                                   u'↓', u'−', u'≈', u'≤', u'≥', u'█', u'▲', u'▶', u'▼', u'◀'};
enum {
    COLUMNS = 16, /* cells per row of the sheet */
    ASCII = 0x20,
    ASCII_END = 0x7F,
    LATIN = 0xA0,
    LATIN_END = 0x100,
    SYMBOL_CELL = ASCII_END - ASCII + LATIN_END - LATIN,
    BOX_CELL = SYMBOL_CELL + sizeof symbols / sizeof *symbols,
    CELLS
};

/* ---- characters ---- */

/* Index of the character's cell, row by row; the box for unsupported characters. */
static uint32_t cell_of(uint32_t codepoint)
{
    if (codepoint >= ASCII && codepoint < ASCII_END)
        return codepoint - ASCII;
    if (codepoint >= LATIN && codepoint < LATIN_END)
        return codepoint - LATIN + ASCII_END - ASCII;
    uint32_t cell = SYMBOL_CELL;
    while (cell < BOX_CELL && symbols[cell - SYMBOL_CELL] != codepoint)
        cell++;
    return cell;
}

/* Reads a character and advances `*text`, which is not at its end. A byte that is not UTF-8 reads as U+FFFD. */
static uint32_t next_character(const char **text)
{
    assert(**text);
    const uint8_t *c = (const uint8_t *)*text;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const int more = c[0] < 0x80 ? 0 : c[0] < 0xC0 ? -1 : c[0] < 0xE0 ? 1 : c[0] < 0xF0 ? 2 : c[0] < 0xF5 ? 3 : -1;
    uint32_t codepoint = c[0] & (more > 0 ? 0x3Fu >> more : 0x7Fu);
    int taken = 1;
    while (taken <= more && (c[taken] & 0xC0) == 0x80)
        codepoint = codepoint << 6 | (c[taken++] & 0x3F);
    const bool whole = more >= 0 && taken == more + 1 && codepoint >= least[more];
    *text += whole ? taken : 1;
    return whole ? codepoint : 0xFFFD;
}

/* ---- the font's sheet ---- */

/* Draws all cells as coverage from 0 to 255, top row first, no gaps between rows, into a texture; the width is a
 * multiple of four bytes. */
th_result th_hud_set_text_px(th_hud *hud, float text_px, th_error *err)
{
    assert(hud);
    if (!(text_px >= TH_HUD_MIN_TEXT_PX && text_px <= TH_HUD_MAX_TEXT_PX))
        return th_fail(err, TH_ERR_LIMIT, "text of %g pixels; it can have %g to %g", (double)text_px,
                       (double)TH_HUD_MIN_TEXT_PX, (double)TH_HUD_MAX_TEXT_PX);
    stbtt_fontinfo face;
    if (!stbtt_InitFont(&face, th_embedded_hud_font, 0))
        return th_fail(err, TH_ERR_ENVIRONMENT, "the embedded font is no TrueType");

    /* Makes lower-case letters a whole number of pixels high, so that their upper and lower edges fall between pixels;
     * this gives most of the sharpness. The number is rounded down, so that the whole font fits the line. The width
     * scales with it, then is stretched to whole pixels. */
    int ascent, descent, gap, left, bottom, right, x_height = 0, advance;
    stbtt_GetFontVMetrics(&face, &ascent, &descent, &gap);
    stbtt_GetCodepointBox(&face, 'x', &left, &bottom, &right, &x_height);
    stbtt_GetCodepointHMetrics(&face, 'x', &advance, &left);
    const int line_px = pixel(text_px);
    const float natural = (float)line_px / (float)(ascent - descent);
    const float scale_y = fmaxf(floorf(natural * (float)x_height), 1) / (float)x_height; /* pixels per font unit */
    const float spare = (float)line_px - scale_y * (float)(ascent - descent);
    const int advance_px = (int)lroundf(scale_y * (float)advance);
    const float scale_x = (float)advance_px / (float)advance;
    const int baseline = (int)lroundf(scale_y * (float)ascent + spare / 2); /* below the cell's top */

    const int width = advance_px * COLUMNS, height = line_px * ((CELLS + COLUMNS - 1) / COLUMNS);
    uint8_t *coverage = calloc((size_t)width * (size_t)height, 1);
    bool is_good = coverage;
    for (uint32_t cell = 0; cell < CELLS && is_good; cell++) {
        const uint32_t codepoint = cell < ASCII_END - ASCII ? cell + ASCII
                                   : cell < SYMBOL_CELL     ? cell - (ASCII_END - ASCII) + LATIN
                                   : cell < BOX_CELL        ? symbols[cell - SYMBOL_CELL]
                                                            : 0;
        /* Glyph 0 is the font's replacement for missing characters. */
        const int glyph = cell < BOX_CELL ? stbtt_FindGlyphIndex(&face, (int)codepoint) : 0;
        uint8_t *to = coverage + (size_t)(cell / COLUMNS) * (size_t)(line_px * width) +
                      (size_t)(cell % COLUMNS) * (size_t)advance_px;
        int top = 0, columns = 0, rows = 0;
        left = 0;
        uint8_t *from = stbtt_GetGlyphBitmap(&face, scale_x, scale_y, glyph, &columns, &rows, &left, &top);
        top += baseline;
        for (int v = 0; from && v < rows; v++)
            for (int u = 0; u < columns; u++)
                if (top + v >= 0 && top + v < line_px && left + u >= 0 && left + u < advance_px)
                    to[(top + v) * width + left + u] = from[v * columns + u];
        stbtt_FreeBitmap(from, NULL);
        is_good = from || columns == 0;
        /* A full block joins its neighbours. The font's own glyph leaves out what rounding added to the line. */
        for (int v = 0; v < line_px && codepoint == u'█'; v++)
            memset(to + v * width, 255, (size_t)advance_px);
    }
    if (!is_good) {
        free(coverage);
        return th_fail(err, TH_ERR_MEMORY, "no memory for letters of %d pixels", line_px);
    }

    GLuint sheet;
    glGenTextures(1, &sheet);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, sheet);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, width, height, 0, GL_RED, GL_UNSIGNED_BYTE, coverage);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindTexture(GL_TEXTURE_2D, 0);
    free(coverage);
    const th_result result = th_gl_check(hud->gl, "while letters were uploaded", err);
    if (result != TH_OK) {
        glDeleteTextures(1, &sheet);
        return result;
    }
    glDeleteTextures(1, &hud->sheet);
    hud->sheet = sheet;
    hud->line_px = line_px;
    hud->advance_px = advance_px;
    return TH_OK;
}

/* ---- creation ---- */

th_result th_hud_create(const th_gl *gl, float text_px, th_hud **out, th_error *err)
{
    assert(gl && out);
    static_assert(COLUMNS == 16, "as in the define");
    const th_program_desc desc = {.name = "hud",
                                  .vertex = {&th_shader_hud_vert},
                                  .fragment = {&th_shader_hud_frag},
                                  .defines = {"SHEET_COLUMNS 16u"}};
    *out = NULL;
    th_hud *hud = calloc(1, sizeof *hud);
    if (!hud)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a head-up display");
    hud->gl = (th_gl *)gl;
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
    th_result result = th_program_create(&desc, &hud->program, err);
    hud->size = glGetUniformLocation(hud->program, "u_size");
    hud->cell = glGetUniformLocation(hud->program, "u_cell");
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

/* ---- rectangles ---- */

static int16_t within(int32_t at)
{
    return (int16_t)(at < -OUTSIDE ? -OUTSIDE : at > OUTSIDE ? OUTSIDE : at);
}

/* Does nothing if the rectangle is empty, outside of the picture, or one too many. */
static void add(th_hud *hud, edges e, uint32_t letter, int32_t radius, th_rgba color)
{
    assert(letter <= UINT16_MAX && radius <= UINT16_MAX);
    if (e.right <= e.left || e.bottom <= e.top || e.right <= 0 || e.bottom <= 0 || e.left >= hud->width ||
        e.top >= hud->height)
        return;
    if (hud->count == hud->capacity) {
        const uint32_t capacity = hud->capacity ? 2 * hud->capacity : FIRST_CAPACITY;
        rectangle *more = capacity <= MOST_RECTANGLES ? realloc(hud->rectangles, capacity * sizeof *more) : NULL;
        if (!more)
            return;
        hud->rectangles = more;
        hud->capacity = capacity;
    }
    hud->rectangles[hud->count++] = (rectangle){.left = within(e.left),
                                                .top = within(e.top),
                                                .right = within(e.right),
                                                .bottom = within(e.bottom),
                                                .letter = (uint16_t)letter,
                                                .radius = (uint16_t)radius,
                                                .color = color};
}

void th_hud_panel(th_hud *hud, float x, float y, float width, float height, th_rgba color)
{
    assert(hud);
    const edges e = {pixel(x), pixel(y), pixel(x + width), pixel(y + height)};
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
        length = next_character(&utf8) == '\n' ? 0 : length + 1;
        longest = length > longest ? length : longest;
    }
    return (float)longest * (float)hud->advance_px;
}

void th_hud_text(th_hud *hud, float x, float y, th_rgba color, const char *utf8)
{
    assert(hud && utf8);
    if (isnan(x) || isnan(y))
        return;
    const int32_t first = pixel(x);
    int32_t left = first, top = pixel(y);
    while (*utf8 && top < hud->height) {
        const uint32_t codepoint = next_character(&utf8);
        if (codepoint == '\n') {
            left = first;
            top += hud->line_px;
        } else if (left < hud->width) {
            if (codepoint != ' ')
                add(hud, (edges){left, top, left + hud->advance_px, top + hud->line_px}, cell_of(codepoint) + 1, 0,
                    color);
            left += hud->advance_px;
        }
    }
}

/* ---- graphs ---- */

static float value(const th_hud_graph_desc *desc, uint32_t series, uint32_t bar)
{
    assert(series < desc->series_count && bar < desc->bar_count);
    const uint32_t at = (uint32_t)(((uint64_t)desc->oldest + bar) % desc->bar_count);
    const float v = desc->series[series].values[at];
    return v > 0 ? v : 0;
}

/* Height of a value in pixel rows. */
static int32_t rows(const edges *plot, const th_hud_graph_desc *desc, float v)
{
    return pixel(fminf(v / desc->top, 1) * (float)(plot->bottom - plot->top));
}

/* k/n of `extent`. */
static uint32_t part(uint32_t extent, uint32_t k, uint32_t n)
{
    assert(k <= n && n > 0);
    return (uint32_t)((uint64_t)extent * k / n);
}

void th_hud_graph(th_hud *hud, const th_hud_graph_desc *desc)
{
    assert(hud && desc && desc->top > 0);
    assert(desc->series || desc->series_count == 0);
    assert(desc->guides || desc->guide_count == 0);
    const float line = (float)hud->line_px;
    float labels = 0;
    for (uint32_t g = 0; g < desc->guide_count; g++)
        if (desc->guides[g].label)
            labels = fmaxf(labels, th_hud_text_width(hud, desc->guides[g].label));
    const edges plot = {.left = pixel(desc->x),
                        .top = pixel(desc->y),
                        .right = pixel(desc->x + desc->width - (labels > 0 ? labels + line / 3 : 0)),
                        .bottom = pixel(desc->y + desc->height)};
    if (plot.right <= plot.left || plot.bottom <= plot.top)
        return;

    /* Columns, each with the highest of its bars. */
    const uint32_t width = (uint32_t)(plot.right - plot.left), n = desc->bar_count < width ? desc->bar_count : width;
    const int32_t apart = n > 0 && width / n >= 4;
    for (uint32_t c = 0; c < n; c++) {
        uint32_t highest = 0;
        float most = -1, sum;
        for (uint32_t bar = part(desc->bar_count, c, n); bar < part(desc->bar_count, c + 1, n); bar++) {
            sum = 0;
            for (uint32_t s = 0; s < desc->series_count; s++)
                sum += value(desc, s, bar);
            highest = sum > most ? bar : highest;
            most = fmaxf(sum, most);
        }
        /* Rounds the running sum, not each part, so that the bar's height is its rounded total. */
        sum = 0;
        for (uint32_t s = 0; s < desc->series_count; s++) {
            const int32_t below = rows(&plot, desc, sum);
            sum += value(desc, s, highest);
            const edges e = {plot.left + (int32_t)part(width, c, n), plot.bottom - rows(&plot, desc, sum),
                             plot.left + (int32_t)part(width, c + 1, n) - apart, plot.bottom - below};
            add(hud, e, 0, 0, desc->series[s].color);
        }
    }

    /* Guides. The line touches the top of a bar of the same value. */
    const int32_t thick = pixel(fmaxf(line / 20, 1));
    const th_rgba color = desc->guide_color, faint = {color.r, color.g, color.b, (uint8_t)(color.a / 2)};
    float last = INFINITY;
    for (uint32_t g = 0; g < desc->guide_count; g++) {
        const th_hud_guide *guide = &desc->guides[g];
        if (!(guide->value >= 0 && guide->value <= desc->top))
            continue;
        const int32_t y = plot.bottom - rows(&plot, desc, guide->value);
        const int32_t top = y - thick > plot.top ? y - thick : plot.top;
        add(hud, (edges){plot.left, top, plot.right, top + thick}, 0, 0, faint);
        const float label = fmaxf(fminf((float)y - line / 2, (float)plot.bottom - line), (float)plot.top);
        if (guide->label && fabsf(label - last) >= line) {
            th_hud_text(hud, desc->x + desc->width - th_hud_text_width(hud, guide->label), label, color, guide->label);
            last = label;
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

void th_hud_end(th_hud *hud)
{
    assert(hud && hud->count <= hud->capacity);
    glViewport(0, 0, hud->width, hud->height);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_CULL_FACE);
    glDisable(GL_FRAMEBUFFER_SRGB);
    glEnable(GL_BLEND); /* keeps an opaque picture opaque */
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    if (hud->count > 0) {
        /* Allocates a new buffer store each time, because the GPU may still read the last one. The size is always the
         * capacity, so that the driver can reuse the same few stores. */
        glBindBuffer(GL_ARRAY_BUFFER, hud->buffer);
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(hud->capacity * sizeof(rectangle)), NULL, GL_STREAM_DRAW);
        glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)(hud->count * sizeof(rectangle)), hud->rectangles);
        glBindBuffer(GL_ARRAY_BUFFER, 0);
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
    glDisable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ZERO);
    glEnable(GL_FRAMEBUFFER_SRGB);
}
