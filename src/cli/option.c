#include <cli/option.h>

#include <cli/model_set.h>
#include <cli/run.h>

#include <anim/synthetic_text.h>
#include <core/file.h>
#include <core/suggest.h>
#include <core/text_format.h>

#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `format` and what follows say what the option takes. */
__attribute__((format(printf, 4, 5))) static th_result refuse(const th_option *o, const char *text, th_error *err,
                                                              const char *format, ...)
{
    char takes[192];
    va_list args;
    va_start(args, format);
    vsnprintf(takes, sizeof takes, format, args);
    va_end(args);
    return th_fail(err, TH_ERR_INPUT, "%s%s takes %s, not \"%s\"", o->prefix ? o->prefix : "--", o->name, takes, text);
}

/* ---- numbers ---- */

th_result th_parse_whole(const th_option *o, const char *text, void *value, th_error *err)
{
    uint64_t number;
    if (!th_read_whole(text, o->low, o->high, &number))
        return refuse(o, text, err, "a whole number from %.0f to %.0f", o->low, o->high);
    *(uint32_t *)value = (uint32_t)number;
    return TH_OK;
}

th_result th_parse_seed(const th_option *o, const char *text, void *value, th_error *err)
{
    if (th_read_whole(text, 0, HUGE_VAL, value))
        return TH_OK;
    return refuse(o, text, err, "a whole number from 0 to 18446744073709551615");
}

static bool read_real(const th_option *o, const char *text, double *out)
{
    char *end;
    const bool plain = text[strspn(text, "+-.0123456789eE")] == '\0'; /* no spaces, hexadecimal, nan or inf */
    *out = strtod(text, &end);
    return plain && end != text && *end == '\0' && *out >= o->low && *out <= o->high;
}

th_result th_parse_real(const th_option *o, const char *text, void *value, th_error *err)
{
    return read_real(o, text, value) ? TH_OK : refuse(o, text, err, "a number from %g to %g", o->low, o->high);
}

th_result th_parse_rate(const th_option *o, const char *text, void *value, th_error *err)
{
    if (read_real(o, text, value) || read_real(&(th_option){.high = 0}, text, value))
        return TH_OK;
    return refuse(o, text, err, "0 or a number from %g to %g", o->low, o->high);
}

th_result th_parse_budget(const th_option *o, const char *text, void *value, th_error *err)
{
    static const char bones[] = "bones:";
    th_budget_desc *budget = value;
    const bool in_bones = strncmp(text, bones, strlen(bones)) == 0;
    *budget = (th_budget_desc){0};
    if (in_bones ? th_read_whole(text + strlen(bones), 1, 1e12, &budget->bones) : read_real(o, text, &budget->ms))
        return TH_OK;
    return refuse(o, text, err, "milliseconds from %g to %g, or bones:N", o->low, o->high);
}

th_result th_parse_fraction(const th_option *o, const char *text, void *value, th_error *err)
{
    double number = 0;
    const th_result result = th_parse_real(o, text, &number, err);
    *(double *)value = number / o->unit;
    return result;
}

th_result th_parse_multiple(const th_option *o, const char *text, void *value, th_error *err)
{
    double number = 0;
    const th_result result = th_parse_real(o, text, &number, err);
    *(uint64_t *)value = result == TH_OK ? (uint64_t)(number * o->unit) : 0;
    return result;
}

/* ---- names ---- */

th_result th_parse_text(const th_option *o, const char *text, void *value, th_error *err)
{
    *(const char **)value = text;
    return text[0] ? TH_OK : refuse(o, text, err, "%s", o->argument);
}

th_result th_parse_name(const th_option *o, const char *text, void *value, th_error *err)
{
    *(const char **)value = text;
    return th_baseline_is_name(text)
               ? TH_OK
               : refuse(o, text, err, "a name of up to 64 letters, digits, dots, dashes and underscores");
}

th_result th_parse_regex(const th_option *o, const char *text, void *value, th_error *err)
{
    regex_t regex;
    const int error = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
        char why[128];
        regerror(error, &regex, why, sizeof why);
        return th_fail(err, TH_ERR_INPUT, "--%s \"%s\" is no regular expression: %s", o->name, text, why);
    }
    regfree(&regex);
    *(const char **)value = text;
    return TH_OK;
}

/* ", " or " or " before a choice. */
static const char *before(const th_option *o, uint32_t choice)
{
    return choice == 0 ? "" : o->choices[choice + 1] ? ", " : " or ";
}

th_result th_parse_named_file(const th_option *o, const char *text, void *value, th_error *err)
{
    char endings[96] = "";
    const char *ending = strrchr(text, '.');
    *(const char **)value = text;
    for (uint32_t i = 0; o->choices[i]; i++) {
        if (ending && strcmp(ending, o->choices[i]) == 0)
            return TH_OK;
        th_append(endings, sizeof endings, "%s%s", before(o, i), o->choices[i]);
    }
    if (th_file_is_in_place(text)) /* its name does not say it */
        return TH_OK;
    return refuse(o, text, err, "a file whose name ends in %s", endings);
}

th_result th_parse_output(const th_option *o, const char *text, void *value, th_error *err)
{
    th_output_options *output = value;
    const char *file;
    const th_result result = th_parse_named_file(o, text, &file, err);
    if (result != TH_OK)
        return result;
    const char *ending = strrchr(file, '.');
    const char **place = ending && strcmp(ending, ".html") == 0 ? &output->report : &output->out;
    if (*place)
        return th_fail(err, TH_ERR_INPUT, "--%s can be given once for a page, and once for the result in another form",
                       o->name);
    *place = file;
    return TH_OK;
}

th_result th_parse_word(const th_option *o, const char *text, void *value, th_error *err)
{
    th_file_list *words = value;
    if (text[0] == '\0')
        return refuse(o, text, err, "the name of a %s", o->noun ? o->noun : "file");
    if (words->count == TH_FILE_LIST_MAX)
        return th_fail(err, TH_ERR_LIMIT, "--%s can be given %d times", o->name, TH_FILE_LIST_MAX);
    words->paths[words->count++] = text;
    return TH_OK;
}

/* Generated models are parsed at once, so that an error is reported before anything is loaded. */
th_result th_parse_file(const th_option *o, const char *text, void *value, th_error *err)
{
    th_synthetic_desc synthetic;
    const th_result result = th_synthetic_named(text) ? th_synthetic_parse(text, &synthetic, err) : TH_OK;
    return result == TH_OK ? th_parse_word(o, text, value, err) : result;
}

/* ---- choices ---- */

th_result th_parse_switch(const th_option *o, const char *text, void *value, th_error *err)
{
    (void)o, (void)text, (void)err;
    *(bool *)value = true;
    return TH_OK;
}

th_result th_parse_choice(const th_option *o, const char *text, void *value, th_error *err)
{
    static const struct {
        const char *name, *instead;
    } gone[] = {{"onetbb", "openmp-guided is most like it"},
                {"f16", "quat16 takes less memory, and f32 any model"},
                {"fast-slerp", "nlerp is faster, and slerp exact"}};
    th_suggestion s = {.typed = text};
    char choices[160] = "";
    for (unsigned i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], text) == 0) {
            *(unsigned *)value = i;
            return TH_OK;
        }
        th_suggestion_consider(&s, o->choices[i]);
        th_append(choices, sizeof choices, "%s%s", before(o, i), o->choices[i]);
    }
    const th_result result = refuse(o, text, err, "%s", choices);
    for (size_t i = 0; err && i < sizeof gone / sizeof *gone; i++)
        if (strcmp(gone[i].name, text) == 0) {
            th_append(err->text, sizeof err->text, "; there is no %s any more, %s", text, gone[i].instead);
            return result;
        }
    if (s.best && err)
        th_append(err->text, sizeof err->text, "; did you mean %s?", s.best);
    return result;
}

/* ---- several at once ---- */

/* Copies the text up to one of these ends. Returns where that is; NULL if the word is too long to be valid. */
static const char *copy_word(const char *text, const char *ends, char *word, size_t size)
{
    const size_t length = strcspn(text, ends);
    if (length >= size)
        return NULL;
    memcpy(word, text, length);
    word[length] = '\0';
    return text + length;
}

static th_result add_number(const th_option *o, const char *word, uint32_t number, th_number_list *list, th_error *err)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->values[i] == number)
            return th_fail(err, TH_ERR_INPUT, "--%s has %s twice", o->name, word);
    list->values[list->count++] = number;
    return TH_OK;
}

th_result th_parse_whole_list(const th_option *o, const char *text, void *value, th_error *err)
{
    th_number_list *list = value;
    const uint32_t most = sizeof list->values / sizeof *list->values;
    char word[16];
    list->count = 0;
    for (const char *at = text;; at++) {
        uint64_t number;
        if (list->count == most || !(at = copy_word(at, ",", word, sizeof word)) ||
            !th_read_whole(word, o->low, o->high, &number))
            return refuse(o, text, err, "up to %u whole numbers from %.0f to %.0f, such as 1,2,4", most, o->low,
                          o->high);
        const th_result result = add_number(o, word, (uint32_t)number, list, err);
        if (result != TH_OK || *at == '\0')
            return result;
    }
}

/* "1000" or "1000/thread". */
th_result th_parse_counts(const th_option *o, const char *text, void *value, th_error *err)
{
    char numbers[256];
    const char *per = copy_word(text, "/", numbers, sizeof numbers);
    if (!per || (*per && strcmp(per, "/thread") != 0 && strcmp(per, "/rank") != 0))
        return refuse(o, text, err, "whole numbers, such as 100,1000, or 1000/thread");
    const th_result result = th_parse_whole_list(o, numbers, value, err);
    ((th_number_list *)value)->per = *per ? per + 1 : NULL;
    return result;
}

/* One or several names, or all schedulers of this build. */
th_result th_parse_schedulers(const th_option *o, const char *text, void *value, th_error *err)
{
    th_number_list *list = value;
    char word[32];
    list->count = 0;
    if (strcmp(text, "all") == 0) {
        for (uint32_t s = 0; s < TH_SCHEDULER_COUNT; s++)
            if (th_scheduler_available((th_scheduler)s))
                list->values[list->count++] = s;
        return TH_OK;
    }
    for (const char *at = text;; at++) {
        uint32_t choice;
        at = copy_word(at, ",", word, sizeof word);
        th_result result = th_parse_choice(o, at ? word : text, &choice, err);
        if (result == TH_OK)
            result = add_number(o, word, choice, list, err);
        if (result != TH_OK || *at == '\0')
            return result;
    }
}

th_result th_parse_size(const th_option *o, const char *text, void *value, th_error *err)
{
    th_target_desc *picture = value;
    char width[8];
    uint64_t w, h;
    const char *x = copy_word(text, "x", width, sizeof width);
    if (!x || *x == '\0' || !th_read_whole(width, o->low, o->high, &w) || !th_read_whole(x + 1, o->low, o->high, &h))
        return refuse(o, text, err, "a width and a height from %.0f to %.0f, such as 1280x720", o->low, o->high);
    picture->width = (uint32_t)w;
    picture->height = (uint32_t)h;
    return TH_OK;
}

/* One end of the way, up to a colon: up to three numbers, each of which may be empty. Returns where it ends; NULL: it
 * is not valid. */
static const char *read_camera(const char *text, double out[3])
{
    static const th_option parts[] = {{.low = -360, .high = 360}, {.low = 0, .high = 89}, {.low = 0.01, .high = 1000}};
    bool is_given = false;
    for (int i = 0; i < 3; i++) {
        char word[32];
        text = copy_word(text, ",:", word, sizeof word);
        out[i] = (double)NAN;
        if (!text || (word[0] && !read_real(&parts[i], word, &out[i])))
            return NULL;
        is_given = is_given || word[0];
        if (*text != ',')
            return is_given ? text : NULL;
        text++;
    }
    return NULL;
}

th_result th_parse_camera(const th_option *o, const char *text, void *value, th_error *err)
{
    th_camera_path *path = value;
    const char *end = read_camera(text, path->from);
    path->flies = end && *end == ':';
    if (path->flies)
        end = read_camera(end + 1, path->to);
    if (end && *end == '\0')
        return TH_OK;
    return refuse(o, text, err, "a yaw, a pitch and a zoom, such as 90,10,4, or 90 or ,,4");
}

/* ---- threads ---- */

static bool read_thread_count(const char *word, uint32_t *out)
{
    uint64_t number = th_cpus_read().usable;
    if (strcmp(word, "max") == 0)
        number = number < TH_JOBS_MAX_THREADS ? number : TH_JOBS_MAX_THREADS;
    else if (!th_read_whole(word, 1, TH_JOBS_MAX_THREADS, &number))
        return false;
    *out = (uint32_t)number;
    return true;
}

th_result th_parse_threads(const th_option *o, const char *text, void *value, th_error *err)
{
    if (read_thread_count(text, value))
        return TH_OK;
    return refuse(o, text, err, "a whole number from 1 to %u, or max", TH_JOBS_MAX_THREADS);
}

/* Such as "1,2,4-8". The sum has a limit where all threads exist at once, while their repetitions are interleaved. */
th_result th_parse_thread_list(const th_option *o, const char *text, void *value, th_error *err)
{
    th_thread_list *list = value;
    bool marks[TH_JOBS_MAX_THREADS + 1] = {false};
    uint32_t low = 0, high = 0, together = 0;
    char word[16];
    for (const char *at = text; at; at = *at ? at + 1 : NULL) {
        at = copy_word(at, ",-", word, sizeof word);
        bool is_valid = at && read_thread_count(word, &low);
        if (is_valid && *at == '-') {
            at = copy_word(at + 1, ",", word, sizeof word);
            is_valid = at && read_thread_count(word, &high) && low <= high;
        } else {
            high = low;
        }
        if (!is_valid)
            return refuse(o, text, err, "thread counts from 1 to %u such as 1,2,4 or 1-8 or 1,max",
                          TH_JOBS_MAX_THREADS);
        for (uint32_t t = low; t <= high; t++)
            marks[t] = true;
    }
    list->count = 0;
    for (uint32_t t = 1; t <= TH_JOBS_MAX_THREADS; t++)
        if (marks[t]) {
            list->counts[list->count++] = t;
            together += t;
        }
    if (together > o->high)
        return th_fail(err, TH_ERR_INPUT, "--%s takes counts of at most %.0f threads together, not %u", o->name,
                       o->high, together);
    return TH_OK;
}
