/* An option: a row of the option table, which holds everything about the options of the command line; and the parsers
 * of values. Parsing, the help texts and the suggestions use the table. */
#ifndef TH_CLI_OPTION_H
#define TH_CLI_OPTION_H

#include <core/error.h>
#include <jobs/jobs.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct th_option th_option;
typedef th_result th_parse_fn(const th_option *option, const char *text, void *value, th_error *err);

/* Options that many commands share are described once, in `throng help options`. */
typedef enum th_option_group {
    TH_GROUP_NONE = 0, /* a command's own */
    TH_GROUP_MODEL,
    TH_GROUP_PICTURE,
    TH_GROUP_OUTPUT,
    TH_GROUP_COUNT,
} th_option_group;

struct th_option {
    const char *name;     /* without the dashes */
    const char *prefix;   /* of the name in messages; NULL: the dashes */
    const char *noun;     /* what a word names; NULL: a file */
    const char *argument; /* as shown in the help; NULL: a switch without argument */
    const char *fallback; /* the default, parsed like a given value; NULL: none */
    const char *help;
    uint32_t commands; /* one bit per command that takes it */
    th_option_group group;
    bool repeatable;
    bool for_one; /* not passed to further processes that measure the same */
    th_parse_fn *parse;
    size_t offset;    /* of the value in th_options */
    double low, high; /* of a number, as the user gives it */
    double unit; /* how many of the smaller unit the larger has, where the value has another unit: 100 for percent */
    const char *const *choices; /* in the order of the enum; NULL-terminated */
};

/* Ends with a row whose name is NULL. An option with different meanings for different commands has a row for each. */
extern const th_option th_option_table[];

typedef struct th_thread_list {
    uint32_t counts[TH_JOBS_MAX_THREADS]; /* ascending, without duplicates */
    uint32_t count;
} th_thread_list;

/* Yaw, pitch and zoom, as in th_crowd_view_desc, at the first and the last frame. NAN: not given. */
typedef struct th_camera_path {
    double from[3], to[3];
    bool flies; /* to the second one */
} th_camera_path;

/* Numbers to compare, in the given order, without duplicates. */
typedef struct th_number_list {
    uint32_t values[16];
    uint32_t count;
    const char *per; /* of counts: for each "thread", or "rank" of throng-mpi; NULL: in all */
} th_number_list;

/* The parsers, and the types of their values. On failure they say what the option takes. */
th_parse_fn th_parse_whole;       /* uint32_t */
th_parse_fn th_parse_whole_list;  /* th_number_list */
th_parse_fn th_parse_counts;      /* the same, and per */
th_parse_fn th_parse_seed;        /* uint64_t */
th_parse_fn th_parse_real;        /* double */
th_parse_fn th_parse_rate;        /* double: 0, or at least `low` */
th_parse_fn th_parse_fraction;    /* double in a larger unit, such as a share of 1 for percent */
th_parse_fn th_parse_multiple;    /* uint64_t in a smaller unit, such as nanoseconds for milliseconds */
th_parse_fn th_parse_text;        /* const char *: not empty */
th_parse_fn th_parse_name;        /* const char *: safe as a file name in any folder, and not like an option */
th_parse_fn th_parse_regex;       /* const char *: an extended regular expression */
th_parse_fn th_parse_named_file;  /* const char *: ends in one of the choices */
th_parse_fn th_parse_output;      /* th_output_options: a page, or another file */
th_parse_fn th_parse_file;        /* th_file_list: the name of a file, or of a generated model */
th_parse_fn th_parse_word;        /* th_file_list: the names of nouns */
th_parse_fn th_parse_budget;      /* th_budget_desc */
th_parse_fn th_parse_switch;      /* bool: true */
th_parse_fn th_parse_choice;      /* an enum that starts at 0 */
th_parse_fn th_parse_schedulers;  /* th_number_list of th_scheduler */
th_parse_fn th_parse_size;        /* th_target_desc: its sides */
th_parse_fn th_parse_camera;      /* th_camera_path */
th_parse_fn th_parse_threads;     /* uint32_t */
th_parse_fn th_parse_thread_list; /* th_thread_list. high: of the sum */

#endif
