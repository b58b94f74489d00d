/* The options of the command line.
 *
 * One table holds everything about an option: name, argument, default, help, the commands that take it and its parser.
 * Parsing, the help texts and the suggestions use that table. */
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
    uint32_t counts[TH_JOBS_MAX_THREADS]; /* ascending, without duplicates */
    uint32_t count;
} th_thread_list;

/* Whole numbers to compare, in the given order, without duplicates. */
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
    uint32_t drawn;                      /* characters in the pictures of bench */
    uint32_t count, frames, repetitions; /* 0 when not given */
    double precision_percent, min_time_s, max_time_s, budget_ms;
    double repetition_ms;          /* 0 when not given */
    th_number_list counts, grains; /* for scale; no grains when not given */
    th_thread_list threads;        /* none when not given */
    uint64_t seed;
    th_isa isa;
    th_palette palette;
    th_sampling sampling;
    th_interpolation interpolation;
    th_keys keys;
    th_scheduler_list schedulers; /* for scale */
    th_scheduler scheduler;
    th_placement placement;
    th_stages stages;
    const char *filter;
    double import_timeout_s, error_bound_mm;
    const char *export_path, *out, *report, *trace;
    th_file_list result_files;   /* of compare */
    const char *save, *baseline; /* names of baselines; NULL when not given */
    double threshold_percent;
    uint32_t processes;       /* 0 when not given */
    const char *picture_path; /* where render writes */
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
    double rate_hz, max_memory_mb, max_requests_hz; /* memory, requests: 0 when not given */
    uint32_t max_count;
    th_log_level log_level;
    th_log_format log_format;
    bool given[TH_OPTIONS_MAX_ROWS]; /* [row of the option table] */
    th_tracer *tracer;               /* of --trace; NULL without it; all functions that take a tracer accept NULL */
    bool *has_result;                /* set once a result was ready to write, even if writing failed; may be NULL */
    const th_command *command;
    char *const *words; /* the words after the command, as given */
    int word_count;
    /* The options as given, without those that are for one process only. Further processes get these to measure the
     * same. */
    const char *again[TH_OPTIONS_MAX_WORDS];
    uint32_t again_count;
} th_options;

typedef struct th_option th_option;
struct th_option {
    const char *name;     /* without the dashes */
    const char *argument; /* as shown in the help; NULL: a switch without argument */
    const char *fallback; /* the default, parsed like a given value; NULL: none */
    const char *help;
    uint32_t commands; /* one bit per command that takes it */
    bool repeatable;
    bool for_one; /* not passed to further processes that measure the same */
    bool (*parse)(const th_option *option, const char *text, void *value, th_error *err);
    size_t offset; /* of the value in th_options */
    double low, high;
    const char *const *choices; /* in the order of the enum; NULL-terminated */
};

/* Ends with a row whose name is NULL. An option with different meanings for different commands has a row for each. */
extern const th_option th_option_table[];

/* Parses the words after the command. On failure err->text says what is wrong, with a suggestion if there is one. */
bool th_options_parse(th_options *options, const th_command *command, int argc, char *const *argv, th_error *err);

/* Whether the option was on the command line. */
bool th_options_given(const th_options *options, const char *name);

#endif
