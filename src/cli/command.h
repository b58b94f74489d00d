/* The commands: `throng COMMAND [OPTIONS]`. */
#ifndef TH_CLI_COMMAND_H
#define TH_CLI_COMMAND_H

#include <throng/core/error.h>

#include <stdbool.h>
#include <stdint.h>

struct th_options;

/* What the program tells its caller. */
enum {
    TH_EXIT_GOOD = 0,
    TH_EXIT_CHECK = 1,       /* a regression, or a check that failed */
    TH_EXIT_USAGE = 2,       /* the command line makes no sense */
    TH_EXIT_INPUT = 3,       /* a file is unusable */
    TH_EXIT_ENVIRONMENT = 4, /* the machine lacks something */
};

/* Bits for the option table. */
enum {
    TH_COMMAND_INSPECT = 1 << 0,
    TH_COMMAND_POSE = 1 << 1,
    TH_COMMAND_BENCH = 1 << 2,
    TH_COMMAND_SCALE = 1 << 3,
    TH_COMMAND_RENDER = 1 << 4,
    TH_COMMAND_VIEW = 1 << 5,
    TH_COMMAND_SERVE = 1 << 6,
    TH_COMMAND_STRESS = 1 << 7,
    TH_COMMAND_COMPARE = 1 << 8,
};

typedef struct th_command {
    const char *name;
    uint32_t bit;
    const char *operand; /* what words without dashes are: "[MODEL]", "OLD NEW"; NULL where there are none */
    const char *summary; /* one line */
    const char *details; /* the rest of the help */
    int (*run)(const struct th_options *options);
} th_command;

/* Ends with a command without a name. */
extern const th_command th_command_table[];

const th_command *th_command_find(const char *name);

/* Each command has a file of its own, and returns the program's exit code. */
int th_command_inspect(const struct th_options *options);
int th_command_pose(const struct th_options *options);
int th_command_bench(const struct th_options *options);
int th_command_scale(const struct th_options *options);
int th_command_stress(const struct th_options *options);
int th_command_compare(const struct th_options *options);
int th_command_render(const struct th_options *options);
int th_command_view(const struct th_options *options);
int th_command_serve(const struct th_options *options);

/* "throng: ..." on standard error. */
__attribute__((format(printf, 1, 2))) void th_complain(const char *format, ...);

/* The exit code that goes with it. */
int th_exit_code(const th_error *err);

/* Complains about err and returns its exit code. */
int th_fail_with(const th_error *err);

#endif
