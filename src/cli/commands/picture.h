/* An off-screen picture for measurements. Frames are drawn as a program draws frames for a display: each is submitted
 * to the driver at once, without waiting for it. */
#ifndef TH_CLI_PICTURE_H
#define TH_CLI_PICTURE_H

#include <bench/report.h>
#include <render/crowd_view.h>
#include <render/frame_writer.h>

#include <jansson.h>

typedef struct th_picture {
    th_target_desc size;
    th_gl *gl;
    th_target *target;
    th_tracer *tracer; /* may be NULL; gets the stages after those of the crowd view */
} th_picture;

/* Call th_picture_close in any case; it accepts a zeroed picture and one that failed to open. */
th_result th_picture_open(th_picture *picture, const th_target_desc *size, th_error *err);
void th_picture_close(th_picture *picture);

float th_picture_aspect(const th_picture *picture);

/* Resolves the target and submits the frame. Call it after drawing. */
void th_picture_submit(const th_picture *picture);

/* Draws a frame of the crowd view and submits it. False when there was no frame, as th_crowd_view_frame. */
bool th_picture_draw(const th_picture *picture, th_crowd_view *crowd_view, double time_s, const th_camera *camera);

/* Ends a film of which this many of its frames were added. Of one that was interrupted it keeps those, and says so. */
th_result th_film_end(th_frame_writer **writer, const th_frame_writer_desc *film, uint32_t added, th_error *err);

/* Says which models have no mesh, and what their meshes warn of. */
void th_complain_of_meshes(const th_crowd_view *crowd_view);

/* Says what the CPU does although the GPU was to, and why, if that is so, and which mapping of the shader was measured
 * to be faster. */
void th_complain_of_evaluator(const th_crowd_view *crowd_view);

/* For th_report.picture: size, settings, and the renderer that drew it. crowd: what the crowd view was made from. */
json_t *th_picture_json(const th_picture *picture, const th_crowd_view *crowd_view, const th_crowd_view_desc *crowd);

/* Checks that a slot is written only after the GPU has read it, so that no picture shows palettes of a later frame.
 * Draws frames of its own, and fills in row->failure. The caller's frames must be finished or not be needed
 * any more. */
void th_picture_check(const th_picture *picture, th_crowd_view *crowd_view, const th_camera *camera, th_row *row);

#endif
