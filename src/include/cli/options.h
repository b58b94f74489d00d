/* The options of the command line. An option is parsed into the desc that the command hands on to a library, in that
 * desc's unit. Only commands see all options; what they call takes its own desc. */
#ifndef TH_CLI_OPTIONS_H
#define TH_CLI_OPTIONS_H

#include <cli/model_set.h>
#include <cli/option.h>
#include <cli/run.h>

#include <bench/compare.h>
#include <bench/measure.h>
#include <render/crowd_view.h>
#include <render/frame_writer.h>
#include <render/gpu_evaluator.h>
#include <render/target.h>
#include <runtime/frame.h>
#include <serve/server.h>

/* Zero, or the default that the help shows, where not given. */
typedef struct th_options {
    th_model_options models;
    /* How the crowd is compiled, posed and drawn, except its models. Commands that draw nothing read a part of it. */
    th_crowd_view_desc crowd;
    th_crowd_behaviour behaviour;
    th_layout_kind scene; /* set in the crowd, as is the camera where it starts: */
    th_camera_path camera;
    th_target_desc picture;
    th_measure_desc measure; /* of bench and scale */
    th_output_options output;
    const char *trace;
    const char *filter; /* of bench and compare */
    bool counters;      /* of bench, scale and stress */
    bool help;
    struct {
        double time_s;
        th_file_list layers; /* texts that pose reads */
        th_evaluator evaluator;
    } pose;
    struct {
        uint32_t processes;
        th_file_list programs; /* shell commands of external/ entries */
    } bench;
    struct {
        th_thread_list threads;
        th_number_list counts, grains, schedulers;
        uint32_t processes;
    } scale;
    struct {
        th_thread_list threads;
        uint32_t frames;
        double budget_ms;
        uint64_t memory_bytes;
        bool draw;
    } stress;
    struct {
        th_compare_desc desc;
        th_file_list files; /* files or names of baselines; programs to run */
        bool run;
        uint64_t max_ns;
    } compare;
    th_frame_writer_desc render; /* of render and demo */
    const char *target;          /* of render; NULL: not given */
    struct {
        uint32_t frames;
    } view;
    struct {
        th_server_desc desc;
        th_file_list hosts;
    } serve;
} th_options;

/* The row of this name for this command; else any row of this name; else NULL. */
const th_option *th_option_find(const th_command *command, const char *name, size_t length);

/* Parses the words after the command. On failure err->text says what is wrong, with a suggestion if there is one. */
th_result th_options_parse(th_options *options, th_run *run, const th_command *command, int argc, char *const *argv,
                           th_error *err);

/* Checks the files to write before a long measurement. Reports an error and returns an exit code when one cannot be
 * written, when two of them are the same file, or when one is also an input: a model, an animation, or a result to
 * compare. */
int th_options_probe_files(const th_options *options);

/* Whether a file to write is standard output, which then gets nothing else. */
bool th_options_take_stdout(const th_options *options);

#endif
