/* Converts the options of a request to a command line. Only the options listed here pass, and none of them names a
 * file. */
#include "run_manager.h"

#include <core/text_format.h>

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_ARGUMENTS = 128, FILES = 2 };

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
    th_arena *arena;
    const char **words;
    size_t count; /* beyond MAX_ARGUMENTS: those are left out */
    th_run_folders *folders;
} command_line;

/* value: NULL for a word that is no option. */
static void add(command_line *line, const char *name, const char *value)
{
    char *word = value ? th_arena_format(line->arena, "--%s=%s", name, value) : th_arena_string(line->arena, name);
    for (char *c = word; c && value && *c != '='; c++)
        *c = *c == '_' ? '-' : *c;
    if (line->count < MAX_ARGUMENTS)
        line->words[line->count] = word;
    line->count++;
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

static th_result add_option(command_line *line, const th_run_manager_desc *desc, const char *name, const json_t *value,
                            th_error *err)
{
    static const char words[] = ",abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", *word = words + 1;
    if (strcmp(name, "models") == 0) {
        size_t index;
        const json_t *model;
        char path[PATH_MAX];
        if (!json_is_array(value) || json_array_size(value) > TH_SETTINGS_MODELS)
            return th_fail(err, TH_ERR_INPUT, "option models is an array of at most %d names", TH_SETTINGS_MODELS);
        json_array_foreach(value, index, model)
        {
            if (!json_is_string(model))
                return th_fail(err, TH_ERR_INPUT, "option models is an array of names");
            int *folder = &line->folders->files[line->folders->count];
            th_result result = th_model_registry_find(desc->registry, json_string_value(model), path, folder, err);
            if (result != TH_OK)
                return result;
            line->folders->count += *folder >= 0;
            add(line, "model", path);
        }
        return TH_OK;
    }
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
    add(line, name, text);
    return TH_OK;
}

const char **th_run_arguments(const th_run_manager_desc *desc, const json_t *request, th_arena *arena,
                              th_run_folders *folders, th_error *err)
{
    assert(desc->kinds && request);
    const char *const kind = json_string_value(json_object_get(request, "kind")), *name;
    json_t *value, *given = json_object_get(request, "options");
    if (!json_is_object(request))
        return th_fail(err, TH_ERR_INPUT, "a run is a JSON object"), NULL;
    json_object_foreach((json_t *)request, name, value)
    {
        const bool fits = strcmp(name, "kind") == 0      ? json_is_string(value)
                          : strcmp(name, "options") == 0 ? json_is_object(value)
                                                         : strcmp(name, "pause") == 0 && json_is_boolean(value);
        if (fits)
            continue;
        th_fail(err, TH_ERR_INPUT,
                "a run has a kind (text), options (an object) and pause (a boolean), not this \"%.64s\"", name);
        return NULL;
    }
    char known[128] = "";
    bool is_known = false;
    for (int k = 0; desc->kinds[k]; k++) {
        is_known = is_known || (kind && strcmp(kind, desc->kinds[k]) == 0);
        th_append(known, sizeof known, "%s%s", k ? ", " : "", desc->kinds[k]);
    }
    if (!is_known) {
        th_fail(err, TH_ERR_INPUT, "unknown kind of run \"%.64s\"; available: %s", kind ? kind : "", known);
        return NULL;
    }

    command_line line = {arena, th_arena_new(arena, const char *, MAX_ARGUMENTS + FILES + 1), 0, folders};
    if (!line.words)
        return th_fail(err, TH_ERR_MEMORY, "out of memory"), NULL;
    add(&line, "throng", NULL);
    add(&line, kind, NULL);
    add(&line, "--json", NULL);
    json_object_foreach(given, name, value)
    {
        if (add_option(&line, desc, name, value, err) != TH_OK)
            return NULL;
    }

    /* The limits hold for defaults of the command too: of a search for the largest crowd, and the count of scale. */
    char text[32];
    if (strcmp(kind, "stress") == 0) {
        snprintf(text, sizeof text, "%.0f", fmax(1, (double)desc->limits.max_memory_bytes / 1e6));
        add(&line, "max-memory", text);
    } else if (strcmp(kind, "scale") == 0 && !json_object_get(given, "count")) {
        snprintf(text, sizeof text, "%u", desc->limits.max_count < SCALE_COUNT ? desc->limits.max_count : SCALE_COUNT);
        add(&line, "count", text);
    }
    for (const char *const *fixed = desc->fixed; fixed && *fixed; fixed += 2)
        add(&line, fixed[0], fixed[1]);
    if (line.count > MAX_ARGUMENTS)
        return th_fail(err, TH_ERR_LIMIT, "too many options"), NULL;
    if (th_arena_failed(arena))
        return th_fail(err, TH_ERR_MEMORY, "out of memory"), NULL;
    return line.words;
}
