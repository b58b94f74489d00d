#include "hud_font.h"

#include <assert.h>
#include <stb/stb_truetype.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern const unsigned char th_embedded_hud_font[]; /* generated in the build folder */

/* Cells, in order: ASCII, Latin-1, these, and the box. */
static const uint16_t symbols[] = {u'–', u'—', u'‘', u'’', u'“', u'”', u'•', u'…', u'←', u'↑', u'→',
                                   u'↓', u'−', u'≈', u'≤', u'≥', u'█', u'▲', u'▶', u'▼', u'◀'};
enum {
    ASCII = 0x20,
    ASCII_END = 0x7F,
    LATIN = 0xA0,
    LATIN_END = 0x100,
    SYMBOL_CELL = ASCII_END - ASCII + LATIN_END - LATIN,
    BOX_CELL = SYMBOL_CELL + sizeof symbols / sizeof *symbols,
    CELLS
};

/* ---- characters ---- */

uint32_t th_hud_font_cell(uint32_t codepoint)
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

/* Glyph 0 is the font's replacement for missing characters. */
static int glyph_of(const stbtt_fontinfo *face, uint32_t cell)
{
    if (cell >= BOX_CELL)
        return 0;
    const uint32_t codepoint = cell < ASCII_END - ASCII ? cell + ASCII
                               : cell < SYMBOL_CELL     ? cell - (ASCII_END - ASCII) + LATIN
                                                        : symbols[cell - SYMBOL_CELL];
    return stbtt_FindGlyphIndex(face, (int)codepoint);
}

uint32_t th_hud_font_next(const char **text)
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

/* ---- the sheet ---- */

/* How the font is placed in cells. */
typedef struct fit {
    float scale_x, scale_y;   /* pixels per font unit */
    int advance_px, baseline; /* baseline: below the cell's top */
} fit;

/* Makes lower-case letters a whole number of pixels high, so that their upper and lower edges fall between pixels; this
 * gives most of the sharpness. The number is rounded down, so that the whole font fits the line. The width scales with
 * it, then is stretched to whole pixels. */
static fit fit_line(const stbtt_fontinfo *face, int line_px)
{
    int ascent, descent, gap, left, bottom, right, x_height = 0, advance;
    stbtt_GetFontVMetrics(face, &ascent, &descent, &gap);
    stbtt_GetCodepointBox(face, 'x', &left, &bottom, &right, &x_height);
    stbtt_GetCodepointHMetrics(face, 'x', &advance, &left);
    const float natural = (float)line_px / (float)(ascent - descent);
    const float scale = fmaxf(floorf(natural * (float)x_height), 1) / (float)x_height;
    const float spare = (float)line_px - scale * (float)(ascent - descent);
    const int advance_px = (int)lroundf(scale * (float)advance);
    return (fit){.scale_x = (float)advance_px / (float)advance,
                 .scale_y = scale,
                 .advance_px = advance_px,
                 .baseline = (int)lroundf(scale * (float)ascent + spare / 2)};
}

static uint8_t *cell_at(const th_hud_font *font, uint32_t cell)
{
    assert(cell < CELLS);
    return font->coverage + (size_t)(cell / TH_HUD_FONT_COLUMNS) * font->line_px * font->width +
           (size_t)(cell % TH_HUD_FONT_COLUMNS) * font->advance_px;
}

/* False when out of memory. */
static bool draw_cell(th_hud_font *font, const stbtt_fontinfo *face, fit f, uint32_t cell)
{
    int left = 0, top = 0, width = 0, height = 0;
    uint8_t *glyph =
        stbtt_GetGlyphBitmap(face, f.scale_x, f.scale_y, glyph_of(face, cell), &width, &height, &left, &top);
    uint8_t *to = cell_at(font, cell);
    top += f.baseline;
    for (int v = 0; glyph && v < height; v++)
        for (int u = 0; u < width; u++)
            if ((uint32_t)(top + v) < font->line_px && (uint32_t)(left + u) < font->advance_px)
                to[(size_t)(top + v) * font->width + (size_t)(left + u)] = glyph[v * width + u];
    stbtt_FreeBitmap(glyph, NULL);
    return glyph || width == 0;
}

/* Fills the cell completely, so that a full block joins its neighbours. The font's own glyph leaves out what rounding
 * added to the line. */
static void fill_cell(th_hud_font *font, uint32_t cell)
{
    for (uint32_t v = 0; v < font->line_px; v++)
        memset(cell_at(font, cell) + (size_t)v * font->width, 255, font->advance_px);
}

th_result th_hud_font_init(th_hud_font *font, uint32_t line_px, th_error *err)
{
    assert(font && line_px > 0);
    stbtt_fontinfo face;
    if (!stbtt_InitFont(&face, th_embedded_hud_font, 0))
        return th_fail(err, TH_ERR_ENVIRONMENT, "the embedded font is no TrueType");
    const fit f = fit_line(&face, (int)line_px);
    font->advance_px = (uint32_t)f.advance_px;
    font->line_px = line_px;
    font->width = font->advance_px * TH_HUD_FONT_COLUMNS;
    font->height = line_px * ((CELLS + TH_HUD_FONT_COLUMNS - 1) / TH_HUD_FONT_COLUMNS);
    font->coverage = calloc((size_t)font->width * font->height, 1);
    bool good = font->coverage;
    for (uint32_t cell = 0; cell < CELLS && good; cell++)
        good = draw_cell(font, &face, f, cell);
    if (!good)
        return th_fail(err, TH_ERR_MEMORY, "no memory for letters of %u pixels", line_px);
    fill_cell(font, th_hud_font_cell(u'█'));
    return TH_OK;
}

void th_hud_font_fini(th_hud_font *font)
{
    free(font->coverage);
    font->coverage = NULL;
}
