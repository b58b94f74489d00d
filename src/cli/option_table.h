/* The option table: everything about each option of the command line. Parsing, the help texts and the suggestions use
 * it. */
#ifndef TH_CLI_OPTION_TABLE_H
#define TH_CLI_OPTION_TABLE_H

#include <throng/core/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    size_t offset;    /* of the value in th_options */
    double low, high; /* of a number, as the user gives it */
    double unit; /* how many of the smaller unit the larger has, where the value has another unit: 100 for percent */
    const char *const *choices; /* in the order of the enum; NULL-terminated */
};

/* Ends with a row whose name is NULL. An option with different meanings for different commands has a row for each. */
extern const th_option th_option_table[];

/* The parser of model files, which may also be given without the option's name. value: a th_file_list. */
bool th_option_parse_file(const th_option *option, const char *text, void *value, th_error *err);

#endif
