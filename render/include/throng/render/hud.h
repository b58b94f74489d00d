/* A head-up display: text, panels and graphs over a picture, told anew each frame.
 *
 *     th_target_resolve(target);          the picture is finished; th_target_read sees it without the display
 *     th_target_bind_resolved(target);
 *     th_hud_begin(hud, width, height);
 *     ... th_hud_panel, th_hud_text, th_hud_graph: what comes later lies on top ...
 *     th_hud_end(hud);                    th_target_read and th_target_show now see it with the display
 *
 * So letters get no antialiasing twice, and a screenshot is with or without. A window's framebuffer does as well:
 * colours are blended as the bytes that are stored, as elsewhere on a desktop, whether the framebuffer is sRGB or does
 * not know what that is, and both show the same bytes.
 *
 * Places are framebuffer pixels, the origin top left, and are rounded to whole ones. Whatever lies outside of the
 * picture, is not a number or has no extent is left out. All calls on the context's thread. Once its buffer has grown
 * to a frame's size, a frame allocates nothing. */
#ifndef THRONG_RENDER_HUD_H
#define THRONG_RENDER_HUD_H

#include <throng/core/api.h>
#include <throng/render/gl.h>

TH_API_BEGIN

#define TH_HUD_MIN_TEXT_PX 6.0F
#define TH_HUD_MAX_TEXT_PX 256.0F

typedef struct th_hud th_hud;

typedef struct th_rgba {
    uint8_t r, g, b, a; /* sRGB, alpha straight */
} th_rgba;

/* text_px: height of a line, which is rounded. TH_ERR_LIMIT when it is none of TH_HUD_MIN_TEXT_PX to
 * TH_HUD_MAX_TEXT_PX; TH_ERR_MEMORY; TH_ERR_ENVIRONMENT (shaders). */
th_result th_hud_create(const th_gl *gl, float text_px, th_hud **out, th_error *err);
void th_hud_destroy(th_hud *hud); /* NULL does nothing */

/* Between frames: when the window moves to a display of another density. Errors as above, after which the text is what
 * it was. */
th_result th_hud_set_text_px(th_hud *hud, float text_px, th_error *err);

float th_hud_line_px(const th_hud *hud);
float th_hud_text_width(const th_hud *hud, const char *utf8); /* of the longest line; every character is as wide */

/* The size is that of the framebuffer, at most 16384 a side. */
void th_hud_begin(th_hud *hud, uint32_t width, uint32_t height);

/* Top left of the first line; '\n' begins another. Latin-1, and – — ‘ ’ “ ” • … ← ↑ → ↓ − ≈ ≤ ≥ █ ▲ ▶ ▼ ◀. Another
 * character is a box, and so is each byte that is no UTF-8. */
void th_hud_text(th_hud *hud, float x, float y, th_rgba color, const char *utf8);

/* A filled rectangle. Corners are rounded by a quarter of a line, or of the shorter side if that is less. */
void th_hud_panel(th_hud *hud, float x, float y, float width, float height, th_rgba color);

typedef struct th_hud_series {
    const float *values; /* [bar_count], borrowed for the call; what is not above 0 has no height */
    th_rgba color;
} th_hud_series;

typedef struct th_hud_guide {
    float value;       /* where its line is; not drawn above `top` */
    const char *label; /* one line, UTF-8; NULL: none */
} th_hud_guide;

/* Stacked bars, all as wide as fits, the newest at the right. Where bars are more than pixels, a pixel shows the
 * highest of its bars, so that no peak is lost. Values above `top` are cut there. A guide's line lies on top of a bar
 * of its value; a label that would cover the one before is left out. */
typedef struct th_hud_graph_desc {
    float x, y, width, height;
    const th_hud_series *series; /* the first is the lowest layer */
    uint32_t series_count;
    uint32_t bar_count;
    uint32_t oldest; /* bar k is values[(oldest + k) % bar_count]: rings need no copying */
    float top;       /* value at full height, above 0 */
    const th_hud_guide *guides;
    uint32_t guide_count;
    th_rgba guide_color; /* lines are half as opaque as the labels, which stand right of the bars, within `width` */
} th_hud_graph_desc;

void th_hud_graph(th_hud *hud, const th_hud_graph_desc *desc);

/* Draws all of it to the bound framebuffer, in one draw call. Leaves the viewport at the whole picture, the scissor
 * test, depth test, culling and blending off, GL_FRAMEBUFFER_SRGB on, and no program, vertex array or 2D texture bound:
 * as th_target_bind and th_crowd_renderer_draw want it. */
void th_hud_end(th_hud *hud);

TH_API_END

#endif
