/* Converts the options of a request to a command line. Only the options listed here pass, and none of them names a
 * file. */
#include "run_manager.h"

#include <core/json.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 128 };

#define SCALE_COUNT 10000u /* the default of the command */

typedef enum kind_of_value {
    WHOLE,
    REAL,
    LIST,    /* a whole number, or a text such as 100,1000 */
    WORD,    /* letters, digits and dashes */
    WORDS,   /* several, separated by commas */
    THREADS, /* 1,2,4-8 or max */
    TEXT,
} kind_of_value;

/* Rejects values beyond the limits. The command itself checks the meaning of words. */
static const struct option {
    const char *name;
    kind_of_value kind;
    double most;
} options[] = {
    {"count", LIST, 1e6},
    {"threads", THREADS, 0},
    {"repetitions", WHOLE, 1000},
    {"frames", WHOLE, 10000},
    {"repetition_time", REAL, 10000},
    {"precision", REAL, 100},
    {"max_time", REAL, 600},
    {"grain", LIST, 1e6},
    {"seed", WHOLE, 9e15},
    {"budget_ms", REAL, 10000},
    {"clip", TEXT, 0},
    {"behaviour", WORD, 0},
    {"interpolation", WORD, 0},
    {"keys", WORD, 0},
    {"palette", WORD, 0},
    {"isa", WORD, 0},
    {"sampling", WORD, 0},
    {"scheduler", WORDS, 0},
    {"placement", WORD, 0},
    {"error_bound", REAL, 1000},
};

typedef struct command_line {
    char *words[MAX_ARGUMENTS];
    size_t count;
} command_line;

static bool add(command_line *line, const char *name, const char *value)
{
    char word[PATH_MAX + 32];
    const int length =
        value ? snprintf(word, sizeof word, "--%s=%s", name, value) : snprintf(word, sizeof word, "%s", name);
    for (char *c = word; value && *c != '='; c++)
        *c = *c == '_' ? '-' : *c;
    char *copy = length < (int)sizeof word && line->count + 1 < MAX_ARGUMENTS ? strdup(word) : NULL;
    if (copy)
        line->words[line->count++] = copy;
    return copy != NULL;
}

/* Parses all numbers of a list such as 1,2,4-8 or 1,max. */
static bool numbers_fit(const char *text, const char *characters, double most)
{
    if (text[strspn(text, characters)] != '\0')
        return false;
    for (const char *number = text + strcspn(text, "0123456789"); *number;) {
        char *end;
        if ((double)strtoul(number, &end, 10) > most)
            return false;
        number = end + strcspn(end, "0123456789");
    }
    return true;
}

static th_result add_models(command_line *line, const json_t *names, const th_model_registry *registry, th_error *err)
{
    size_t index;
    const json_t *name;
    char path[PATH_MAX];
    if (!json_is_array(names) || json_array_size(names) > TH_SETTINGS_MODELS)
        return th_fail(err, TH_ERR_INPUT, "option models is an array of at most %d names", TH_SETTINGS_MODELS);
    json_array_foreach(names, index, name)
    {
        if (!json_is_string(name))
            return th_fail(err, TH_ERR_INPUT, "option models is an array of names");
        th_result result = th_model_registry_find(registry, json_string_value(name), path, err);
        if (result != TH_OK)
            return result;
        if (!add(line, "model", path))
            return th_fail(err, TH_ERR_LIMIT, "too many options");
    }
    return TH_OK;
}

static th_result add_option(command_line *line, const th_run_manager_desc *desc, const char *name, const json_t *value,
                            th_error *err)
{
    static const char words[] = ",abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", *word = words + 1;
    if (strcmp(name, "models") == 0)
        return add_models(line, value, desc->registry, err);
    const struct option *o = NULL;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(options[i].name, name) == 0)
            o = &options[i];
    if (!o)
        return th_fail(err, TH_ERR_INPUT, "a run has no option \"%.64s\"", name);
    const double most = strcmp(name, "count") == 0 ? desc->limits.max_count
                        : o->kind == THREADS       ? desc->limits.max_threads
                                                   : o->most;
    const char *text = json_string_value(value);
    char number[32];
    if (o->kind == WHOLE || o->kind == REAL || (o->kind == LIST && !text)) {
        const bool real = o->kind == REAL;
        if (real ? !json_is_number(value) : !json_is_integer(value))
            return th_fail(err, TH_ERR_INPUT, "option %s is a %snumber", name, real ? "" : "whole ");
        if (!(json_number_value(value) >= 0 && json_number_value(value) <= most))
            return th_fail(err, TH_ERR_LIMIT, "option %s is limited to %.0f here", name, most);
        if (real)
            snprintf(number, sizeof number, "%.15g", json_number_value(value));
        else
            snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        text = number;
    } else {
        if (!text || text[0] == '\0' || strlen(text) >= TH_SETTINGS_NAME ||
            (o->kind == WORD && text[strspn(text, word)] != '\0') ||
            (o->kind == WORDS && text[strspn(text, words)] != '\0'))
            return th_fail(err, TH_ERR_INPUT, "option %s is a %s", name, o->kind == WORD ? "word" : "text");
        if (o->kind == THREADS && !numbers_fit(text, "0123456789,-max", most))
            return th_fail(err, TH_ERR_LIMIT, "option threads is a list such as \"1,2\" or \"1-%u\" of at most %u",
                           desc->limits.max_threads, desc->limits.max_threads);
        if (o->kind == LIST && !numbers_fit(text, "0123456789,", most))
            return th_fail(err, TH_ERR_LIMIT, "option %s is a list such as \"100,1000\" of at most %.0f", name, most);
    }
    return add(line, name, text) ? TH_OK : th_fail(err, TH_ERR_LIMIT, "too many options");
}

static th_result check_kind(const th_run_manager_desc *desc, const char *kind, th_error *err)
{
    char known[128] = "";
    for (int k = 0; desc->kinds[k]; k++) {
        if (kind && strcmp(kind, desc->kinds[k]) == 0)
            return TH_OK;
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", desc->kinds[k]);
    }
    return th_fail(err, TH_ERR_INPUT, "unknown kind of run \"%.64s\"; available: %s", kind ? kind : "", known);
}

static th_result check_members(const json_t *request, th_error *err)
{
    const char *name;
    json_t *value;
    if (!json_is_object(request))
        return th_fail(err, TH_ERR_INPUT, "a run is a JSON object");
    json_object_foreach((json_t *)request, name, value)
    {
        const bool fits = strcmp(name, "kind") == 0      ? json_is_string(value)
                          : strcmp(name, "options") == 0 ? json_is_object(value)
                                                         : strcmp(name, "pause") == 0 && json_is_boolean(value);
        if (!fits)
            return th_fail(err, TH_ERR_INPUT,
                           "a run has a kind (text), options (an object) and pause (a boolean), "
                           "not this \"%.64s\"",
                           name);
    }
    return TH_OK;
}

char **th_run_arguments(const th_run_manager_desc *desc, const json_t *request, th_error *err)
{
    assert(desc->kinds && request);
    command_line line = {0};
    const char *kind = json_string_value(json_object_get(request, "kind")), *name;
    json_t *value, *given = json_object_get(request, "options");
    th_result result = check_members(request, err);
    if (result == TH_OK)
        result = check_kind(desc, kind, err);
    if (result == TH_OK && !(add(&line, kind, NULL) && add(&line, "--json", NULL)))
        result = th_fail(err, TH_ERR_MEMORY, "out of memory");
    json_object_foreach(given, name, value)
    {
        if (result == TH_OK)
            result = add_option(&line, desc, name, value, err);
    }

    /* The limits hold for defaults of the command too: of a search for the largest crowd, and the count of scale. */
    char text[32];
    bool fits = true;
    if (result == TH_OK && strcmp(kind, "stress") == 0) {
        snprintf(text, sizeof text, "%.0f", fmax(1, (double)desc->limits.max_memory_bytes / 1e6));
        fits = add(&line, "max-memory", text);
    } else if (result == TH_OK && strcmp(kind, "scale") == 0 && !json_object_get(given, "count")) {
        snprintf(text, sizeof text, "%u", desc->limits.max_count < SCALE_COUNT ? desc->limits.max_count : SCALE_COUNT);
        fits = add(&line, "count", text);
    }
    for (const char *const *fixed = desc->fixed; result == TH_OK && fits && fixed && *fixed; fixed += 2)
        fits = add(&line, fixed[0], fixed[1]);
    if (!fits)
        result = th_fail(err, TH_ERR_LIMIT, "too many options");
    char **words = calloc(line.count + 1, sizeof *words);
    for (size_t i = 0; i < line.count; i++)
        if (result == TH_OK && words)
            words[i] = line.words[i];
        else
            free(line.words[i]);
    if (result == TH_OK && words)
        return words;
    if (result == TH_OK)
        th_fail(err, TH_ERR_MEMORY, "out of memory");
    free(words);
    return NULL;
}
