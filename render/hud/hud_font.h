/* The head-up display's font: one monospaced typeface, embedded at build time. Private to render. */
#ifndef TH_RENDER_HUD_HUD_FONT_H
#define TH_RENDER_HUD_HUD_FONT_H

#include <stdint.h>
#include <throng/core/error.h>

enum { TH_HUD_FONT_COLUMNS = 16 }; /* cells per row of the sheet */

/* A sheet of character cells as coverage from 0 to 255. Top row first, no gaps between rows; the width is a multiple of
 * four bytes. */
typedef struct th_hud_font {
    uint32_t advance_px, line_px; /* size of a cell */
    uint32_t width, height;       /* of the sheet, pixels */
    uint8_t *coverage;
} th_hud_font;

/* line_px is above 0. Call th_hud_font_fini in any case. TH_ERR_MEMORY. TH_ERR_ENVIRONMENT: the embedded data is not a
 * font. */
th_result th_hud_font_init(th_hud_font *font, uint32_t line_px, th_error *err);
void th_hud_font_fini(th_hud_font *font);

/* Index of the character's cell, row by row; the box for unsupported characters. */
uint32_t th_hud_font_cell(uint32_t codepoint);

/* Reads a character and advances `*text`, which is not at its end. A byte that is not UTF-8 reads as U+FFFD. */
uint32_t th_hud_font_next(const char **text);

#endif
