/* A head-up display: text, panels and graphs over a picture, described anew each frame.
 *
 *     th_target_resolve(target);          the picture is finished; th_target_read returns it without the HUD
 *     th_target_bind_resolved(target);
 *     th_hud_begin(hud, width, height);
 *     ... th_hud_panel, th_hud_text, th_hud_graph: later ones are drawn on top ...
 *     th_hud_end(hud);                    th_target_read and th_target_show now include the HUD
 *
 * Drawing after the resolve keeps letters from being antialiased twice and allows screenshots with or without the HUD.
 * A window's framebuffer works as well. Colours are blended as stored bytes, as on a desktop, so an sRGB framebuffer
 * and any other show the same bytes.
 *
 * Coordinates are framebuffer pixels with the origin at the top left; they are rounded to whole pixels. Anything
 * outside of the picture, not a number or empty is skipped. All calls on the context's thread. A frame allocates
 * nothing once the buffer has grown to its size. */
#ifndef THRONG_RENDER_HUD_H
#define THRONG_RENDER_HUD_H

#include <render/gl.h>

#define TH_HUD_MIN_TEXT_PX 6.0F
#define TH_HUD_MAX_TEXT_PX 256.0F

typedef struct th_hud th_hud;

typedef struct th_rgba {
    uint8_t r, g, b, a; /* sRGB, not premultiplied */
} th_rgba;

/* text_px: line height, rounded. TH_ERR_LIMIT: not in TH_HUD_MIN_TEXT_PX to TH_HUD_MAX_TEXT_PX. TH_ERR_MEMORY.
 * TH_ERR_ENVIRONMENT (shaders). */
th_result th_hud_create(const th_gl *gl, float text_px, th_hud **out, th_error *err);
void th_hud_destroy(th_hud *hud); /* NULL does nothing */

/* Call it between frames, for instance when the window moves to a display of another density. Errors as above; after
 * one the text size is unchanged. */
th_result th_hud_set_text_px(th_hud *hud, float text_px, th_error *err);

float th_hud_line_px(const th_hud *hud);
float th_hud_text_width(const th_hud *hud, const char *utf8); /* width of the longest line; the font is monospaced */

/* width, height: of the framebuffer, at most 16384. */
void th_hud_begin(th_hud *hud, uint32_t width, uint32_t height);

/* x, y: top left of the first line; '\n' starts another line. Supports Latin-1 and – — ‘ ’ “ ” • … ← ↑ → ↓ − ≈ ≤ ≥ █ ▲
 * ▶ ▼ ◀. Other characters and bytes that are not UTF-8 appear as boxes. */
void th_hud_text(th_hud *hud, float x, float y, th_rgba color, const char *utf8);

/* A filled rectangle with rounded corners: the radius is a quarter of a line, or of the shorter side if that is less.
 */
void th_hud_panel(th_hud *hud, float x, float y, float width, float height, th_rgba color);

typedef struct th_hud_series {
    const float *values; /* [bar_count] borrowed for the call; values not above 0 have no height */
    th_rgba color;
} th_hud_series;

typedef struct th_hud_guide {
    float value;       /* height of the line; not drawn above `top` */
    const char *label; /* one line, UTF-8; NULL: none */
} th_hud_guide;

/* Stacked bars of equal width, the newest at the right. With more bars than pixels, a pixel shows the highest of its
 * bars, so that no peak is lost. Values are cut at `top`. The line of a guide touches the top of a bar of the same
 * value. A label that would overlap the one before is left out. */
typedef struct th_hud_graph_desc {
    float x, y, width, height;
    const th_hud_series *series; /* the first is the lowest layer */
    uint32_t series_count;
    uint32_t bar_count;
    uint32_t oldest; /* bar k is values[(oldest + k) % bar_count]: rings need no copying */
    float top;       /* value at full height; above 0 */
    const th_hud_guide *guides;
    uint32_t guide_count;
    th_rgba guide_color; /* labels stand right of the bars, within `width`; lines have half their opacity */
} th_hud_graph_desc;

void th_hud_graph(th_hud *hud, const th_hud_graph_desc *desc);

/* Draws everything to the bound framebuffer in one draw call. Leaves the viewport at the whole picture; scissor test,
 * depth test, culling and blending off; GL_FRAMEBUFFER_SRGB on; no program, vertex array or 2D texture bound. This is
 * the state that th_target_bind and th_crowd_renderer_draw expect. */
void th_hud_end(th_hud *hud);

#endif
