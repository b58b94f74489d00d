/* What was asked for on the command line.
 *
 * One table holds each option once: its name, its argument, its default, its help, the commands that take it and how it
 * is read. Parsing, the help texts and the suggestions all come from that table. */
#ifndef TH_CLI_OPTIONS_H
#define TH_CLI_OPTIONS_H

#include "command.h"

#include <throng/anim/compiled_model.h>
#include <throng/anim/interpolation.h>
#include <throng/anim/keys.h>
#include <throng/bench/report.h>
#include <throng/render/crowd_view.h>
#include <throng/render/layout.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/tracer.h>
#include <throng/serve/log.h>

enum { TH_OPTIONS_MAX_FILES = 64, TH_OPTIONS_MAX_ROWS = 128, TH_OPTIONS_MAX_WORDS = 512 };

typedef struct th_file_list {
    const char *paths[TH_OPTIONS_MAX_FILES];
    uint32_t count;
} th_file_list;

typedef struct th_thread_list {
    uint32_t counts[TH_JOBS_MAX_THREADS]; /* ascending, each once */
    uint32_t count;
} th_thread_list;

/* Whole numbers to compare, in the order given, each once. */
typedef struct th_number_list {
    uint32_t values[16];
    uint32_t count;
} th_number_list;

typedef struct th_scheduler_list {
    th_scheduler values[TH_SCHEDULER_COUNT];
    uint32_t count;
} th_scheduler_list;

typedef struct th_size {
    uint32_t width, height;
} th_size;

typedef enum th_vsync {
    TH_VSYNC_ON = 0,
    TH_VSYNC_OFF,
} th_vsync;

typedef struct th_options {
    th_file_list models; /* none: the embedded human */
    th_file_list animations;
    const char *clip; /* NULL when not given */
    double time_s;
    uint32_t drawn;                      /* characters in a picture of the bench */
    uint32_t count, frames, repetitions; /* 0 when left to the program */
    double precision_percent, min_time_s, max_time_s, budget_ms;
    double repetition_ms;          /* 0 when left to the program */
    th_number_list counts, grains; /* of scale; no grains when not given */
    th_thread_list threads;        /* none when not given */
    uint64_t seed;
    th_isa isa;
    th_palette palette;
    th_sampling sampling;
    th_interpolation interpolation;
    th_keys keys;
    th_scheduler_list schedulers; /* of scale */
    th_scheduler scheduler;
    th_placement placement;
    th_stages stages;
    const char *filter;
    double import_timeout_s, error_bound_mm;
    const char *export_path, *out, *report, *trace;
    th_file_list result_files;   /* to compare */
    const char *save, *baseline; /* names of baselines; NULL when not given */
    double threshold_percent;
    uint32_t processes;       /* 0 when left to the program */
    const char *picture_path; /* where pictures go */
    th_size picture;
    double fps, start_s, yaw_deg, pitch_deg, zoom;
    uint32_t samples, shadow;
    th_layout_kind layout;
    th_look look;
    th_vsync vsync;
    th_fetch fetch;
    th_ring_upload upload;
    bool list, dry_run, draw, force, json, help;
    const char *listen, *token_file, *results;
    th_file_list allow_hosts, model_folders;
    double rate_hz, max_memory_mb, max_requests_hz; /* memory, requests: 0 when left to the program */
    uint32_t max_count;
    th_log_level log_level;
    th_log_format log_format;
    bool given[TH_OPTIONS_MAX_ROWS]; /* for each row of the option table */
    th_tracer *tracer;               /* of --trace; NULL without, which all that take one allow */
    bool *has_result;                /* set once there was one to write, whether or not that worked; may be NULL */
    const th_command *command;
    char *const *words; /* behind the command, as they were given */
    int word_count;
    /* The options as they were given, but for those that are for one process alone: for another to measure the same. */
    const char *again[TH_OPTIONS_MAX_WORDS];
    uint32_t again_count;
} th_options;

typedef struct th_option th_option;
struct th_option {
    const char *name;     /* without the dashes */
    const char *argument; /* as the help shows it; NULL for a switch */
    const char *fallback; /* the default, read by the same parser; NULL: none */
    const char *help;
    uint32_t commands; /* a bit for each command that takes it */
    bool repeatable;
    bool for_one; /* not for further processes that measure the same */
    bool (*parse)(const th_option *option, const char *text, void *value, th_error *err);
    size_t offset; /* of the value in struct th_options */
    double low, high;
    const char *const *choices; /* in the order of the enum; NULL at the end */
};

/* The table ends with a row without a name. An option that means different things to different commands has a row for
 * each meaning. */
extern const th_option th_option_table[];

/* Reads the words behind the command. On failure err->text says what is wrong and what may have been meant. */
bool th_options_parse(th_options *options, const th_command *command, int argc, char *const *argv, th_error *err);

/* Whether the option was on the command line. */
bool th_options_given(const th_options *options, const char *name);

#endif
