/* The head-up display's letters: one typeface of equal widths, embedded at build time. Private to render. */
#ifndef TH_RENDER_HUD_HUD_FONT_H
#define TH_RENDER_HUD_HUD_FONT_H

#include <stdint.h>
#include <throng/core/error.h>

enum { TH_HUD_FONT_COLUMNS = 16 }; /* of cells on the sheet */

/* A sheet of cells, each with a character as it stands in a line: coverage, 0 to 255. Rows without gaps, the top row
 * first; a row has a multiple of four bytes. */
typedef struct th_hud_font {
    uint32_t advance_px, line_px; /* a cell */
    uint32_t width, height;       /* of the sheet, pixels */
    uint8_t *coverage;
} th_hud_font;

/* line_px above 0. th_hud_font_fini in any case. TH_ERR_MEMORY; TH_ERR_ENVIRONMENT: what was embedded is no font. */
th_result th_hud_font_init(th_hud_font *font, uint32_t line_px, th_error *err);
void th_hud_font_fini(th_hud_font *font);

/* Number of the character's cell, row by row; a box stands for what there is none for. */
uint32_t th_hud_font_cell(uint32_t codepoint);

/* Takes a character off the front of `*text`, which is not at its end. A byte that is no UTF-8 is taken as U+FFFD. */
uint32_t th_hud_font_next(const char **text);

#endif
