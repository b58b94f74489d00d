/* The commands: `throng COMMAND [OPTIONS]`. */
#ifndef TH_CLI_COMMAND_H
#define TH_CLI_COMMAND_H

#include <core/error.h>

#include <stdbool.h>
#include <stdint.h>

struct th_options;
struct th_run;

/* Exit codes. */
enum {
    TH_EXIT_GOOD = 0,
    TH_EXIT_CHECK = 1,        /* something became slower, or a check failed */
    TH_EXIT_USAGE = 2,        /* an invalid command line */
    TH_EXIT_INPUT = 3,        /* an unusable file */
    TH_EXIT_ENVIRONMENT = 4,  /* missing on this machine: display, memory, driver, program */
    TH_EXIT_INCONCLUSIVE = 5, /* a comparison that the measurement cannot decide */
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
    TH_COMMAND_DEMO = 1 << 9,
};

/* Returns the exit code. */
typedef int th_command_fn(const struct th_options *options, struct th_run *run);

typedef struct th_command {
    const char *name;
    uint32_t bit;
    const char *operand; /* the words without dashes: "[MODEL]", "OLD NEW"; NULL if it takes none */
    const char *summary; /* one line */
    const char *details; /* the rest of the help */
    th_command_fn *run;
} th_command;

/* Ends with a row whose name is NULL. */
extern const th_command th_command_table[];

const th_command *th_command_find(const char *name);

/* Each command is in a file of its own. */
th_command_fn th_command_inspect, th_command_pose, th_command_bench, th_command_scale, th_command_stress,
    th_command_compare, th_command_render, th_command_serve, th_command_view, th_command_demo;

/* `throng TH_SNAPSHOT_COMMAND`: the picture process of `throng serve`, started by the server (snapshot_ipc.h), which is
 * its standard input. Returns the exit code. */
int th_snapshot_renderer_run(void);

/* Prints "throng: ..." on standard error. */
__attribute__((format(printf, 1, 2))) void th_complain(const char *format, ...);

/* The same of a command line that cannot be carried out. Returns the exit code. */
__attribute__((format(printf, 1, 2))) int th_refuse(const char *format, ...);

/* The exit code for an error. */
int th_exit_code(const th_error *err);

/* Prints err and returns its exit code. */
int th_fail_with(const th_error *err);

#endif
