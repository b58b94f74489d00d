#include "render.h"

#include "cli/command.h"
#include "cli/picture.h"
#include "composite.h"
#include "cpus.h"

#include <throng/bench/stats.h>
#include <throng/core/clock.h>
#include <throng/core/json.h>
#include <throng/core/table.h>
#include <throng/render/sample_reader.h>

#include <stdlib.h>

/* Of a frame on the clock of rank 0, from barrier to barrier. */
typedef enum timing { DRAW, COMPOSITE, BARE_COMPOSITE, WRITE, TIMING_COUNT } timing;

/* What a rank has drawn. */
typedef struct share {
    double draw_ns; /* median: posing, drawing, and reading the picture */
    double visible; /* characters in a frame, mean */
} share;

typedef struct rendering {
    th_mpi_job *job;
    const th_options *options;
    th_frame_writer_desc file;
    uint32_t threads;
    th_picture picture;
    th_sample_reader *reader;
    th_crowd_view *crowd_view;
    th_frame_writer *writer; /* of rank 0 */
    th_mpi_composite composite;
    uint8_t *pixels; /* drawn; on rank 0 then of all ranks */
    float *depth;
    th_samples times[TIMING_COUNT];
    th_samples draw_ns; /* of this rank */
    uint64_t visible;   /* of this rank, sum over frames */
    share *shares;      /* on rank 0: [size] */
} rendering;

static bool is_root(const rendering *r)
{
    return r->job->rank == 0;
}

/* ---- begin ---- */

/* Rounded up, so that no block but an empty one ends at 0, which would mean all. */
static uint32_t block_begin(const rendering *r, int rank)
{
    const uint64_t size = (uint64_t)r->job->size;
    return (uint32_t)(((uint64_t)rank * r->options->crowd.count + size - 1) / size);
}

static th_result open_picture(rendering *r, const th_model_set *models, th_error *err)
{
    th_crowd_view_desc crowd = th_model_set_crowd_view_desc(models, &r->options->crowd);
    crowd.drawn_begin = block_begin(r, r->job->rank);
    crowd.drawn_end = block_begin(r, r->job->rank + 1);
    crowd.jobs.threads = r->threads;
    th_result result = th_picture_open(&r->picture, &r->options->picture, err);
    if (result == TH_OK)
        result = th_sample_reader_create(r->picture.target, &r->reader, err);
    return result == TH_OK ? th_crowd_view_create(&crowd, r->picture.gl, &r->crowd_view, err) : result;
}

static uint32_t samples_of(const rendering *r)
{
    return th_sample_reader_samples(r->reader);
}

static bool allocate(rendering *r)
{
    const size_t pixels = (size_t)r->file.width * r->file.height;
    r->pixels = malloc(th_target_bytes(r->picture.target));
    r->depth = malloc(pixels * sizeof *r->depth);
    r->shares = calloc((size_t)r->job->size, sizeof *r->shares);
    bool has_room = r->pixels && r->depth && r->shares && th_samples_init(&r->draw_ns, r->file.frame_count);
    for (int t = 0; t < TIMING_COUNT; t++)
        has_room = th_samples_init(&r->times[t], r->file.frame_count) && has_room;
    return th_mpi_composite_init(&r->composite, r->job, (uint32_t)pixels, samples_of(r)) && has_room;
}

/* Ranks that draw otherwise would show seams. */
static int agree_on_drawing(const rendering *r)
{
    char text[512];
    const th_gl_info *info = th_gl_get_info(r->picture.gl);
    const bool poses = th_crowd_view_evaluator(r->crowd_view) == TH_EVALUATOR_CPU;
    snprintf(text, sizeof text, "%.200s, %.200s, %u samples a pixel, poses of %s", info->renderer, info->version,
             samples_of(r), poses ? th_isa_name(th_crowd_isa(th_crowd_view_crowd(r->crowd_view))) : "the GPU");
    return th_mpi_agree_same(r->job, "renderer", text);
}

/* threads: 0: as many as there are CPUs for this rank. */
static int begin(rendering *r, const th_model_set *models, uint32_t threads)
{
    th_error err;
    th_result result = is_root(r) ? th_frame_writer_open(&r->file, &r->writer, &err) : TH_OK;
    int code = th_mpi_agree_on(r->job, result, &err);
    if (code == TH_EXIT_GOOD) {
        r->threads = th_mpi_threads(r->job, threads);
        th_mpi_bind(r->job, r->threads);
        result = open_picture(r, models, &err);
        code = th_mpi_agree_on(r->job, result, &err);
    }
    if (code == TH_EXIT_GOOD)
        code = agree_on_drawing(r);
    if (code == TH_EXIT_GOOD && is_root(r))
        th_complain_of_evaluator(r->crowd_view);
    if (code == TH_EXIT_GOOD)
        code = th_mpi_agree(r->job, allocate(r) ? TH_EXIT_GOOD : TH_EXIT_ENVIRONMENT, "no memory for a picture");
    return code;
}

static void end(rendering *r)
{
    th_mpi_composite_fini(&r->composite);
    for (int t = 0; t < TIMING_COUNT; t++)
        th_samples_fini(&r->times[t]);
    th_samples_fini(&r->draw_ns);
    free(r->shares);
    free(r->depth);
    free(r->pixels);
    th_frame_writer_abandon(r->writer);
    th_crowd_view_destroy(r->crowd_view);
    th_sample_reader_destroy(r->reader);
    th_picture_close(&r->picture);
}

/* ---- frames ---- */

static uint64_t begin_stage(rendering *r)
{
    th_mpi_barrier(r->job, r->job->world, "the begin of a stage of a frame");
    return th_clock_ns();
}

static void end_stage(rendering *r, timing stage, uint64_t start_ns)
{
    th_samples_add(&r->times[stage], (double)(th_clock_ns() - start_ns));
}

static th_result draw(rendering *r, const th_camera *camera, double time_s, th_error *err)
{
    const uint64_t start_ns = th_clock_ns();
    if (!th_crowd_view_frame(r->crowd_view, time_s, camera, r->picture.target, r->file.width, r->file.height))
        return th_fail(err, TH_ERR_ENVIRONMENT, "the driver lost, or has no memory for, the palettes of a frame");
    th_sample_reader_begin(r->reader);
    for (uint32_t s = 0; s < samples_of(r); s++) {
        th_sample_reader_read(r->reader, s, r->pixels, r->depth);
        th_mpi_composite_put(&r->composite, s, r->pixels, r->depth);
    }
    th_samples_add(&r->draw_ns, (double)(th_clock_ns() - start_ns));
    th_crowd_view_await_stats(r->crowd_view); /* the picture has been read, so there is nothing to wait for */
    r->visible += th_crowd_view_get_stats(r->crowd_view).visible;
    return th_gl_check(r->picture.gl, "while the crowd was drawn", err);
}

static int run_frame(rendering *r, const th_camera *camera, uint32_t frame)
{
    th_error err;
    uint64_t start_ns = begin_stage(r);
    th_result result = draw(r, camera, r->options->crowd.start_s + frame / r->file.frames_per_s, &err);
    th_mpi_barrier(r->job, r->job->world, "the picture of each rank");
    end_stage(r, DRAW, start_ns);
    int code = th_mpi_agree_on(r->job, result, &err);
    if (code != TH_EXIT_GOOD)
        return code;
    start_ns = begin_stage(r);
    th_mpi_composite_run_bare(&r->composite, r->pixels);
    end_stage(r, BARE_COMPOSITE, start_ns);
    start_ns = begin_stage(r);
    th_mpi_composite_run(&r->composite, r->pixels);
    end_stage(r, COMPOSITE, start_ns);
    start_ns = th_clock_ns();
    result = is_root(r) ? th_frame_writer_add(r->writer, r->pixels, &err) : TH_OK;
    end_stage(r, WRITE, start_ns);
    return th_mpi_agree_on(r->job, result, &err);
}

static int run_frames(rendering *r)
{
    th_error err;
    const double shown_s = (r->file.frame_count - 1) / r->file.frames_per_s;
    const th_camera camera = th_crowd_view_camera(r->crowd_view, th_picture_aspect(&r->picture), shown_s);
    int code = TH_EXIT_GOOD;
    th_mpi_composite_run_bare(&r->composite, r->pixels); /* connects the ranks */
    for (uint32_t frame = 0; frame < r->file.frame_count && code == TH_EXIT_GOOD; frame++)
        code = run_frame(r, &camera, frame);
    if (code != TH_EXIT_GOOD)
        return code;
    const th_result result = is_root(r) ? th_frame_writer_close(r->writer, &err) : TH_OK;
    r->writer = NULL;
    return th_mpi_agree_on(r->job, result, &err);
}

static void collect_shares(rendering *r)
{
    MPI_Request request;
    const share own = {th_samples_stats(&r->draw_ns).median, (double)r->visible / r->file.frame_count};
    MPI_Igather(&own, 2, MPI_DOUBLE, r->shares, 2, MPI_DOUBLE, 0, r->job->world, &request);
    th_mpi_wait(r->job, request, "what each rank has drawn");
}

/* ---- result ---- */

static double median_ms(const rendering *r, timing stage)
{
    return th_samples_stats(&r->times[stage]).median / 1e6;
}

static double visible(const rendering *r)
{
    double sum = 0;
    for (int rank = 0; rank < r->job->size; rank++)
        sum += r->shares[rank].visible;
    return sum;
}

static uint32_t characters_of(const rendering *r, int rank)
{
    return block_begin(r, rank + 1) - block_begin(r, rank);
}

static json_t *shares_json(const rendering *r)
{
    json_t *shares = json_array();
    for (int rank = 0; shares && rank < r->job->size; rank++)
        json_array_append_new(shares, json_pack("{s:i, s:o, s:i, s:f, s:f}", "rank", rank, "host",
                                                th_json_text(r->job->hosts[rank]), "characters",
                                                (int)characters_of(r, rank), "drawn_per_frame", r->shares[rank].visible,
                                                "draw_ms", r->shares[rank].draw_ns / 1e6));
    return shares;
}

static json_t *rendering_json(const rendering *r)
{
    const th_gl_info *info = th_gl_get_info(r->picture.gl);
    return json_pack(
        "{s:o, s:i, s:i, s:i, s:o, s:o, s:f, s:i, s:i, s:s, s:o, s:b, s:i, s:{s:f, s:f, s:f, s:f}, s:o, s:o, s:o}",
        "out", th_json_text(r->file.path), "width", (int)r->file.width, "height", (int)r->file.height, "samples",
        (int)samples_of(r), "frames", th_json_count(r->file.frame_count), "characters",
        th_json_count(r->options->crowd.count), "drawn_per_frame", visible(r), "ranks", r->job->size,
        "threads_per_rank", (int)r->threads, "context", th_gl_kind_name(info->kind), "renderer",
        th_json_text(info->renderer), "software", (int)info->software, "shadow", (int)r->options->crowd.shadow_pixels,
        "ms_per_frame", "draw", median_ms(r, DRAW), "composite", median_ms(r, COMPOSITE), "bare_composite",
        median_ms(r, BARE_COMPOSITE), "write", median_ms(r, WRITE), "bytes_between_ranks",
        th_json_count(r->composite.between_bytes), "bytes_to_rank_0", th_json_count(r->composite.out_bytes), "shares",
        shares_json(r));
}

static bool print_rendering(const rendering *r, FILE *file)
{
    const th_gl_info *info = th_gl_get_info(r->picture.gl);
    th_table *table = th_table_create(">rank|<host|>characters|>drawn|>draw ms");
    for (int rank = 0; rank < r->job->size; rank++) {
        th_table_cell(table, "%d", rank);
        th_table_cell(table, "%s", r->job->hosts[rank]);
        th_table_cell(table, "%u", characters_of(r, rank));
        th_table_cell(table, "%.0f", r->shares[rank].visible);
        th_table_cell(table, "%.2f", r->shares[rank].draw_ns / 1e6);
    }
    fprintf(file, "%s: %u of %u x %u, %s character%s on %d rank%s of %u thread%s\n", r->file.path, r->file.frame_count,
            r->file.width, r->file.height, th_digits_from(r->options->crowd.count).text,
            th_plural(r->options->crowd.count), r->job->size, th_plural((uint64_t)r->job->size), r->threads,
            th_plural(r->threads));
    fprintf(file, "%s, %s\n", info->renderer, th_gl_kind_name(info->kind));
    const bool printed = th_table_print(table, file);
    th_table_destroy(table);
    fprintf(file, "ms per frame: draw %.2f, composite %.2f (its messages alone %.2f), write %.2f\n", median_ms(r, DRAW),
            median_ms(r, COMPOSITE), median_ms(r, BARE_COMPOSITE), median_ms(r, WRITE));
    fprintf(file,
            "composited by direct send, %u sample%s a pixel: %.3g MB per frame between ranks, then %.3g MB to rank 0\n",
            samples_of(r), th_plural(samples_of(r)), (double)r->composite.between_bytes / 1e6,
            (double)r->composite.out_bytes / 1e6);
    return printed;
}

static bool write_rendering(const void *result, th_form form, const char *command, FILE *file)
{
    (void)command;
    return form == TH_FORM_TEXT ? print_rendering(result, file) : th_output_json(rendering_json(result), 6, file);
}

int th_mpi_render(th_mpi_job *job, const th_options *options, th_run *run, const th_model_set *models)
{
    rendering r = {.job = job, .options = options, .file = options->render};
    r.file.width = options->picture.width;
    r.file.height = options->picture.height;
    int code = begin(&r, models, th_run_has_option(run, "threads") ? options->crowd.jobs.threads : 0);
    if (code == TH_EXIT_GOOD)
        code = run_frames(&r);
    if (code == TH_EXIT_GOOD) {
        collect_shares(&r);
        if (is_root(&r))
            code = th_output_write(run, &options->output, write_rendering, &r);
        if (is_root(&r) && code == TH_EXIT_GOOD && visible(&r) == 0) {
            th_complain("nothing is drawn: the camera sees no character");
            code = TH_EXIT_CHECK;
        }
    }
    end(&r);
    return code;
}
