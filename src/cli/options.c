#include "options.h"

#include "baseline.h"
#include "parse_number.h"
#include "synthetic_text.h"

#include <throng/core/suggest.h>
#include <throng/core/text_format.h>

#include <math.h>
#include <regex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- how values are read ---- */

static bool refuse(const th_option *o, const char *text, const char *wanted, th_error *err)
{
    th_fail(err, TH_ERR_INPUT, "--%s takes %s, not \"%s\"", o->name, wanted, text);
    return false;
}

static bool refuse_whole(const th_option *o, const char *text, th_error *err)
{
    char wanted[96];
    snprintf(wanted, sizeof wanted, "a whole number from %.0f to %.0f", o->low, o->high);
    return refuse(o, text, wanted, err);
}

static bool parse_whole(const th_option *o, const char *text, void *value, th_error *err)
{
    uint64_t number;
    if (!th_read_whole(text, o->low, o->high, &number))
        return refuse_whole(o, text, err);
    *(uint32_t *)value = (uint32_t)number;
    return true;
}

/* Copies the next word of a list such as "1,2,4" and moves *text past it. False if the word is too long to be valid. */
static bool next_word(const char **text, char *word, size_t size)
{
    const size_t length = strcspn(*text, ",");
    if (length >= size)
        return false;
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length;
    return true;
}

static bool refuse_repeated(const th_option *o, const char *word, th_error *err)
{
    th_fail(err, TH_ERR_INPUT, "--%s has %s twice", o->name, word);
    return false;
}

static bool parse_whole_list(const th_option *o, const char *text, void *value, th_error *err)
{
    th_number_list *list = value;
    const uint32_t most = sizeof list->values / sizeof *list->values;
    char word[16], wanted[128];
    list->count = 0;
    for (const char *at = text;; at++) {
        uint64_t number;
        if (list->count == most || !next_word(&at, word, sizeof word) ||
            !th_read_whole(word, o->low, o->high, &number)) {
            snprintf(wanted, sizeof wanted, "up to %u whole numbers from %.0f to %.0f, such as 1,2,4", most, o->low,
                     o->high);
            return refuse(o, text, wanted, err);
        }
        for (uint32_t i = 0; i < list->count; i++)
            if (list->values[i] == number)
                return refuse_repeated(o, word, err);
        list->values[list->count++] = (uint32_t)number;
        if (*at == '\0')
            return true;
    }
}

static bool parse_seed(const th_option *o, const char *text, void *value, th_error *err)
{
    if (th_read_whole(text, 0, HUGE_VAL, value))
        return true;
    return refuse(o, text, "a whole number from 0 to 18446744073709551615", err);
}

static bool parse_real(const th_option *o, const char *text, void *value, th_error *err)
{
    char *end, wanted[96];
    double number = strtod(text, &end);
    bool plain = text[strspn(text, "+-.0123456789eE")] == '\0'; /* no spaces, hexadecimal, nan or inf */
    if (plain && end != text && *end == '\0' && number >= o->low && number <= o->high) {
        *(double *)value = number;
        return true;
    }
    snprintf(wanted, sizeof wanted, "a number from %g to %g", o->low, o->high);
    return refuse(o, text, wanted, err);
}

static bool parse_text(const th_option *o, const char *text, void *value, th_error *err)
{
    if (text[0] == '\0')
        return refuse(o, text, o->argument, err);
    *(const char **)value = text;
    return true;
}

static bool add_name(const th_option *o, const char *text, const char *wanted, th_file_list *names, th_error *err)
{
    if (text[0] == '\0')
        return refuse(o, text, wanted, err);
    if (names->count == TH_OPTIONS_MAX_FILES) {
        th_fail(err, TH_ERR_LIMIT, "--%s can be given %d times", o->name, TH_OPTIONS_MAX_FILES);
        return false;
    }
    names->paths[names->count++] = text;
    return true;
}

/* Generated models are parsed at once, so that an error is reported before anything is loaded. */
static bool parse_file(const th_option *o, const char *text, void *value, th_error *err)
{
    th_synthetic_desc synthetic;
    if (th_synthetic_named(text) && !th_synthetic_parse(text, &synthetic, err))
        return false;
    return add_name(o, text, "the name of a file", value, err);
}

static bool parse_folder(const th_option *o, const char *text, void *value, th_error *err)
{
    return add_name(o, text, "the name of a folder", value, err);
}

static bool parse_host(const th_option *o, const char *text, void *value, th_error *err)
{
    return add_name(o, text, "the name of a host", value, err);
}

/* A file name with one of the endings in `choices`. */
static bool parse_named_file(const th_option *o, const char *text, void *value, th_error *err)
{
    char wanted[96] = "a file whose name ends in ";
    const char *ending = strrchr(text, '.');
    for (uint32_t i = 0; o->choices[i]; i++) {
        if (ending && strcmp(ending, o->choices[i]) == 0) {
            *(const char **)value = text;
            return true;
        }
        th_append(wanted, sizeof wanted, "%s%s", i == 0 ? "" : o->choices[i + 1] ? ", " : " or ", o->choices[i]);
    }
    return refuse(o, text, wanted, err);
}

/* A name that is safe as a file name in any folder and does not look like an option. */
static bool parse_name(const th_option *o, const char *text, void *value, th_error *err)
{
    if (!th_baseline_is_name(text))
        return refuse(o, text, "a name of up to 64 letters, digits, dots, dashes and underscores", err);
    *(const char **)value = text;
    return true;
}

static bool parse_switch(const th_option *o, const char *text, void *value, th_error *err)
{
    (void)o, (void)text, (void)err;
    *(bool *)value = true;
    return true;
}

/* Every enum read here starts at 0, in the order of its names. */
static bool parse_choice(const th_option *o, const char *text, void *value, th_error *err)
{
    th_suggestion s = {.typed = text};
    char wanted[192] = "";
    for (unsigned i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], text) == 0) {
            *(unsigned *)value = i;
            return true;
        }
        th_suggestion_consider(&s, o->choices[i]);
        th_append(wanted, sizeof wanted, "%s%s", i == 0 ? "" : o->choices[i + 1] ? ", " : " or ", o->choices[i]);
    }
    if (s.best)
        th_fail(err, TH_ERR_INPUT, "--%s takes %s, not \"%s\"; did you mean %s?", o->name, wanted, text, s.best);
    else
        refuse(o, text, wanted, err);
    return false;
}

static void take_all_schedulers(th_scheduler_list *list)
{
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++)
        if (th_scheduler_available((th_scheduler)s))
            list->values[list->count++] = (th_scheduler)s;
}

/* One or several names, or all schedulers of this build. */
static bool parse_schedulers(const th_option *o, const char *text, void *value, th_error *err)
{
    th_scheduler_list *list = value;
    char word[32];
    list->count = 0;
    if (strcmp(text, "all") == 0) {
        take_all_schedulers(list);
        return true;
    }
    for (const char *at = text;; at++) {
        unsigned choice;
        if (!next_word(&at, word, sizeof word))
            return parse_choice(o, text, &choice, err); /* reports the error */
        if (!parse_choice(o, word, &choice, err))
            return false;
        for (uint32_t i = 0; i < list->count; i++)
            if (list->values[i] == (th_scheduler)choice)
                return refuse_repeated(o, word, err);
        list->values[list->count++] = (th_scheduler)choice;
        if (*at == '\0')
            return true;
    }
}

static bool parse_size(const th_option *o, const char *text, void *value, th_error *err)
{
    th_size *size = value;
    char width[8] = "";
    uint64_t w = 0, h = 0;
    const char *x = strchr(text, 'x');
    if (x && x - text < (ptrdiff_t)sizeof width) {
        memcpy(width, text, (size_t)(x - text));
        if (th_read_whole(width, o->low, o->high, &w) && th_read_whole(x + 1, o->low, o->high, &h)) {
            *size = (th_size){(uint32_t)w, (uint32_t)h};
            return true;
        }
    }
    char wanted[96];
    snprintf(wanted, sizeof wanted, "a width and a height from %.0f to %.0f, such as 1280x720", o->low, o->high);
    return refuse(o, text, wanted, err);
}

static bool parse_regex(const th_option *o, const char *text, void *value, th_error *err)
{
    regex_t regex;
    int error = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
        char why[128];
        regerror(error, &regex, why, sizeof why);
        th_fail(err, TH_ERR_INPUT, "--%s \"%s\" is no regular expression: %s", o->name, text, why);
        return false;
    }
    regfree(&regex);
    *(const char **)value = text;
    return true;
}

static bool read_thread_count(const char *text, size_t length, uint32_t *out)
{
    char word[16];
    uint64_t number;
    if (length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (strcmp(word, "max") == 0) {
        number = th_cpus_read().usable;
        number = number < TH_JOBS_MAX_THREADS ? number : TH_JOBS_MAX_THREADS;
    } else if (!th_read_whole(word, 1, TH_JOBS_MAX_THREADS, &number)) {
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

static bool parse_threads(const th_option *o, const char *text, void *value, th_error *err)
{
    th_thread_list *list = value;
    list->count = 1;
    if (read_thread_count(text, strlen(text), &list->counts[0]))
        return true;
    char wanted[96];
    snprintf(wanted, sizeof wanted, "a whole number from 1 to %u, or max", TH_JOBS_MAX_THREADS);
    return refuse(o, text, wanted, err);
}

/* One item of "1,2,4-8": a count, or a range of counts. */
static bool mark_threads(const char *item, size_t length, bool *marks)
{
    const char *dash = memchr(item, '-', length);
    size_t first = dash ? (size_t)(dash - item) : length;
    uint32_t low, high;
    if (!read_thread_count(item, first, &low))
        return false;
    high = low;
    if (dash && !read_thread_count(dash + 1, length - first - 1, &high))
        return false;
    for (uint32_t t = low; t <= high; t++)
        marks[t] = true;
    return low <= high;
}

static bool mark_thread_list(const char *text, bool *marks)
{
    for (const char *item = text;; item++) {
        size_t length = strcspn(item, ",");
        if (!mark_threads(item, length, marks))
            return false;
        item += length;
        if (*item == '\0')
            return true;
    }
}

/* high: limit of the sum, because all threads exist at once while their repetitions are interleaved. */
static bool parse_thread_list(const th_option *o, const char *text, void *value, th_error *err)
{
    th_thread_list *list = value;
    bool marks[TH_JOBS_MAX_THREADS + 1] = {false};
    uint32_t together = 0;
    if (!mark_thread_list(text, marks)) {
        char wanted[128];
        snprintf(wanted, sizeof wanted, "thread counts from 1 to %u such as 1,2,4 or 1-8 or 1,max",
                 TH_JOBS_MAX_THREADS);
        return refuse(o, text, wanted, err);
    }
    list->count = 0;
    for (uint32_t t = 1; t <= TH_JOBS_MAX_THREADS; t++)
        if (marks[t]) {
            list->counts[list->count++] = t;
            together += t;
        }
    if (together > o->high)
        th_fail(err, TH_ERR_INPUT, "--%s takes counts of at most %.0f threads together, not %u", o->name, o->high,
                together);
    return together <= o->high;
}

/* ---- the table ---- */

static const char *const isa_choices[] = {"auto", "scalar", "sse4", "avx2", "avx512", "neon", NULL};
static const char *const palette_choices[] = {"f32", "f16", NULL};
static const char *const sampling_choices[] = {"compiled", "exact", NULL};
static const char *const keys_choices[] = {"32", "16", NULL};
static const char *const interpolation_choices[] = {"authored", "step", "nlerp", "slerp", "fast-slerp", "cubic", NULL};
static const char *const scheduler_choices[] = {
    "work-stealing", "serial", "openmp-dynamic", "openmp-guided", "openmp-static", "onetbb", NULL};
static const char *const placement_choices[] = {"none", "workers", "compact", "spread", "cores", NULL};
static const char *const layout_choices[] = {"grid", "ring", "street", NULL};
static const char *const look_choices[] = {"natural", "lod", "skeleton", "workers", NULL};
static const char *const fetch_choices[] = {"auto", "storage", "texture", NULL};
static const char *const upload_choices[] = {"auto", "persistent", "unsynchronized", NULL};
static const char *const vsync_choices[] = {"on", "off", NULL};
static const char *const log_level_choices[] = {"error", "warning", "info", "debug", NULL};
static const char *const log_format_choices[] = {"text", "json", NULL};
static const char *const result_endings[] = {".json", ".csv", ".md", NULL};
static const char *const picture_endings[] = {".png", ".mp4", ".mkv", ".webm", NULL};
static const char *const page_endings[] = {".html", ".htm", NULL};
static const char *const stages_choices[] = {"fused", "separate", NULL};

_Static_assert(sizeof isa_choices / sizeof *isa_choices == TH_ISA_COUNT + 1, "a name for each instruction set");
_Static_assert(sizeof palette_choices / sizeof *palette_choices == TH_PALETTE_COUNT + 1, "a name for each format");
_Static_assert(sizeof keys_choices / sizeof *keys_choices == TH_KEYS_COUNT + 1, "a name for each format");
_Static_assert(sizeof interpolation_choices / sizeof *interpolation_choices == TH_INTERPOLATION_COUNT + 1,
               "a name for each interpolation");
_Static_assert(sizeof scheduler_choices / sizeof *scheduler_choices == TH_SCHEDULER_COUNT + 1,
               "a name for each scheduler");
_Static_assert(sizeof placement_choices / sizeof *placement_choices == TH_PLACEMENT_COUNT + 1,
               "a name for each placement");
_Static_assert(sizeof layout_choices / sizeof *layout_choices == TH_LAYOUT_COUNT + 1, "a name for each layout");
_Static_assert(sizeof look_choices / sizeof *look_choices == TH_LOOK_COUNT + 1, "a name for each look");
_Static_assert(sizeof fetch_choices / sizeof *fetch_choices == TH_FETCH_TEXTURE + 2, "a name for each way of fetching");
_Static_assert(sizeof upload_choices / sizeof *upload_choices == TH_RING_UNSYNCHRONIZED + 2, "a name for each upload");
_Static_assert(sizeof vsync_choices / sizeof *vsync_choices == TH_VSYNC_OFF + 2, "a name for each vsync");
_Static_assert(sizeof log_level_choices / sizeof *log_level_choices == TH_LOG_LEVEL_COUNT + 1, "a name for each level");
_Static_assert(sizeof log_format_choices / sizeof *log_format_choices == TH_LOG_FORMAT_COUNT + 1,
               "a name for each format");
_Static_assert(sizeof stages_choices / sizeof *stages_choices == TH_STAGES_COUNT + 1, "a name for each way of stages");

#define EACH      (TH_COMMAND_INSPECT | TH_COMMAND_POSE | CROWDS)
#define PLAYED    (EACH | TH_COMMAND_SERVE)
#define CROWDS    (MEASURES | DRAWING)
#define DRAWING   (TH_COMMAND_RENDER | TH_COMMAND_VIEW)
#define MEASURES  (REPEATS | TH_COMMAND_STRESS)
#define REPEATS   (TH_COMMAND_BENCH | TH_COMMAND_SCALE)
#define ONE_WAY   (TH_COMMAND_SCALE | TH_COMMAND_STRESS | TH_COMMAND_SERVE | DRAWING)
#define PICTURES  (TH_COMMAND_STRESS | DRAWING)
#define AT(field) offsetof(th_options, field)

/* clang-format off */
const th_option th_option_table[] = {
    {.name = "model", .argument = "FILE", .commands = TH_COMMAND_INSPECT | TH_COMMAND_POSE, .parse = parse_file, .offset = AT(models),
     .help = "same as [MODEL]: a model file, human for the embedded human (the default), or synthetic:... for a generated model (`throng help synthetic`)"},
    {.name = "model", .argument = "FILE", .commands = CROWDS | TH_COMMAND_SERVE, .repeatable = true, .parse = parse_file, .offset = AT(models),
     .help = "model to use: a model file, human for the embedded human (the default), or synthetic:... for a generated model (`throng help synthetic`)"},
    {.name = "animation", .argument = "FILE", .commands = PLAYED, .repeatable = true, .parse = parse_file, .offset = AT(animations),
     .help = "attach the clips of this file to the models; joints are matched by name"},
    {.name = "clip", .argument = "NAME", .commands = TH_COMMAND_POSE, .parse = parse_text, .offset = AT(clip),
     .help = "clip to play, by name or by index from 0 (default: the first)"},
    {.name = "clip", .argument = "NAME", .fallback = "all", .commands = CROWDS | TH_COMMAND_SERVE, .parse = parse_text, .offset = AT(clip),
     .help = "clip to play, by name or by index from 0; all: a mix of all clips"},
    {.name = "time", .argument = "S", .fallback = "0", .commands = TH_COMMAND_POSE, .parse = parse_real, .offset = AT(time_s),
     .low = -1e9, .high = 1e9, .help = "time in the clip, in seconds; wraps at the clip's end"},
    {.name = "count", .argument = "N", .fallback = "1000", .commands = TH_COMMAND_BENCH | TH_COMMAND_VIEW | TH_COMMAND_SERVE, .parse = parse_whole, .offset = AT(count),
     .low = 1, .high = 1e6, .help = "number of characters in the crowd"},
    {.name = "count", .argument = "LIST", .fallback = "10000", .commands = TH_COMMAND_SCALE, .parse = parse_whole_list, .offset = AT(counts),
     .low = 1, .high = 1e6, .help = "number of characters in the crowd; a list, such as 100,1000, is compared in a map"},
    {.name = "count", .argument = "N", .commands = TH_COMMAND_STRESS, .parse = parse_whole, .offset = AT(count),
     .low = 1, .high = 1e9, .help = "skip the search; test exactly N characters"},
    {.name = "count", .argument = "N", .fallback = "100", .commands = TH_COMMAND_RENDER, .parse = parse_whole, .offset = AT(count),
     .low = 1, .high = 1e6, .help = "number of characters in the crowd"},
    {.name = "drawn", .argument = "N", .fallback = "20", .commands = TH_COMMAND_BENCH, .parse = parse_whole, .offset = AT(drawn),
     .low = 1, .high = 1e4, .help = "number of characters in the pictures of frame/ entries"},
    {.name = "threads", .argument = "N", .fallback = "max", .commands = DRAWING | TH_COMMAND_SERVE, .parse = parse_threads, .offset = AT(threads),
     .help = "number of worker threads; max: one per usable CPU"},
    {.name = "out", .argument = "FILE", .fallback = "throng.png", .commands = TH_COMMAND_RENDER, .parse = parse_named_file, .offset = AT(picture_path),
     .choices = picture_endings, .help = "output file: a .png, numbered .png files with %d in the name, as in crowd-%03d.png, or a video: .mp4, .mkv or .webm"},
    {.name = "draw", .commands = TH_COMMAND_STRESS, .parse = parse_switch, .offset = AT(draw),
     .help = "pose and draw the characters, without a window; otherwise only pose them"},
    {.name = "size", .argument = "WxH", .fallback = "1280x720", .commands = TH_COMMAND_RENDER | TH_COMMAND_STRESS, .parse = parse_size, .offset = AT(picture),
     .low = 16, .high = 8192, .help = "picture size in pixels"},
    {.name = "size", .argument = "WxH", .fallback = "160x90", .commands = TH_COMMAND_BENCH, .parse = parse_size, .offset = AT(picture),
     .low = 16, .high = 8192, .help = "picture size of frame/ entries in pixels"},
    {.name = "frames", .argument = "N", .fallback = "1", .commands = TH_COMMAND_RENDER, .parse = parse_whole, .offset = AT(frames),
     .low = 1, .high = 1e6, .help = "number of frames to render"},
    {.name = "size", .argument = "WxH", .fallback = "1280x720", .commands = TH_COMMAND_VIEW, .parse = parse_size, .offset = AT(picture),
     .low = 16, .high = 8192, .help = "window size in screen coordinates"},
    {.name = "frames", .argument = "N", .commands = TH_COMMAND_VIEW, .parse = parse_whole, .offset = AT(frames),
     .low = 1, .high = 1e9, .help = "quit after N frames (default: when the window is closed)"},
    {.name = "vsync", .argument = "HOW", .fallback = "on", .commands = TH_COMMAND_VIEW, .parse = parse_choice, .offset = AT(vsync),
     .choices = vsync_choices, .help = "on: wait for the display's refresh; off: draw as fast as possible"},
    {.name = "fps", .argument = "N", .fallback = "30", .commands = TH_COMMAND_RENDER, .parse = parse_real, .offset = AT(fps),
     .low = 0.001, .high = 1000, .help = "frames per second of crowd time"},
    {.name = "start", .argument = "S", .fallback = "0", .commands = DRAWING, .parse = parse_real, .offset = AT(start_s),
     .low = -1e6, .high = 1e6, .help = "start time in seconds"},
    {.name = "yaw", .argument = "DEG", .fallback = "25", .commands = PICTURES, .parse = parse_real, .offset = AT(yaw_deg),
     .low = -360, .high = 360, .help = "camera yaw in degrees; 0: in front of the crowd, 90: on its +X side"},
    {.name = "pitch", .argument = "DEG", .fallback = "60", .commands = TH_COMMAND_STRESS, .parse = parse_real, .offset = AT(pitch_deg),
     .low = 0, .high = 89, .help = "downward camera pitch in degrees"},
    {.name = "pitch", .argument = "DEG", .fallback = "18", .commands = DRAWING, .parse = parse_real, .offset = AT(pitch_deg),
     .low = 0, .high = 89, .help = "downward camera pitch in degrees"},
    {.name = "zoom", .argument = "F", .fallback = "1", .commands = PICTURES, .parse = parse_real, .offset = AT(zoom),
     .low = 0.01, .high = 1000, .help = "zoom factor; 1: the camera sees the whole crowd, 2: it is twice as close"},
    {.name = "layout", .argument = "NAME", .fallback = "grid", .commands = TH_COMMAND_BENCH | PICTURES, .parse = parse_choice, .offset = AT(layout),
     .choices = layout_choices, .help = "arrangement of the characters: grid, ring or street; only in a street do walking characters move"},
    {.name = "look", .argument = "NAME", .fallback = "natural", .commands = DRAWING, .parse = parse_choice, .offset = AT(look),
     .choices = look_choices, .help = "shading: natural; lod: a colour per level of detail; skeleton: bones as lines; workers: a colour per thread"},
    {.name = "samples", .argument = "N", .fallback = "4", .commands = TH_COMMAND_BENCH | PICTURES, .parse = parse_whole, .offset = AT(samples),
     .low = 1, .high = 64, .help = "antialiasing samples per pixel (MSAA)"},
    {.name = "shadow", .argument = "N", .fallback = "512", .commands = TH_COMMAND_BENCH, .parse = parse_whole, .offset = AT(shadow),
     .low = 0, .high = 16384, .help = "shadow map size of frame/ entries, in pixels per side; 0: no shadows"},
    {.name = "shadow", .argument = "N", .fallback = "2048", .commands = PICTURES, .parse = parse_whole, .offset = AT(shadow),
     .low = 0, .high = 16384, .help = "shadow map size in pixels per side; 0: no shadows"},
    {.name = "fetch", .argument = "HOW", .fallback = "auto", .commands = TH_COMMAND_BENCH | PICTURES, .parse = parse_choice, .offset = AT(fetch),
     .choices = fetch_choices, .help = "how shaders read palettes: storage (SSBO), texture (buffer texture, faster without a GPU) or auto"},
    {.name = "upload", .argument = "HOW", .fallback = "auto", .commands = TH_COMMAND_BENCH | PICTURES, .parse = parse_choice, .offset = AT(upload),
     .choices = upload_choices, .help = "how the palette buffer is mapped: persistent, unsynchronized or auto"},
    {.name = "threads", .argument = "N", .fallback = "2", .commands = TH_COMMAND_BENCH, .parse = parse_threads, .offset = AT(threads),
     .help = "number of threads for jobs/ and frame/ entries; max: one per usable CPU"},
    {.name = "threads", .argument = "LIST", .commands = TH_COMMAND_SCALE, .parse = parse_thread_list, .offset = AT(threads),
     .high = 1024, .help = "thread counts to compare, such as 1,2,4 or 1-8 or 1,max; at most 1024 threads together (default: up to the number of usable CPUs)"},
    {.name = "threads", .argument = "LIST", .fallback = "max", .commands = TH_COMMAND_STRESS, .parse = parse_thread_list, .offset = AT(threads),
     .high = HUGE_VAL, .help = "thread counts to search with, such as 1,2,4 or 1-8 or 1,max; max: one per usable CPU"},
    {.name = "scheduler", .argument = "LIST", .fallback = "work-stealing", .commands = TH_COMMAND_SCALE, .parse = parse_schedulers, .offset = AT(schedulers),
     .choices = scheduler_choices, .help = "schedulers to compare, separated by commas: work-stealing, serial, openmp-dynamic, openmp-guided, openmp-static, onetbb, or all"},
    {.name = "scheduler", .argument = "NAME", .fallback = "work-stealing", .commands = DRAWING, .parse = parse_choice, .offset = AT(scheduler),
     .choices = scheduler_choices, .help = "scheduler: work-stealing, serial, openmp-dynamic, openmp-guided, openmp-static or onetbb"},
    {.name = "placement", .argument = "NAME", .fallback = "workers", .commands = TH_COMMAND_SCALE | TH_COMMAND_STRESS | TH_COMMAND_VIEW, .parse = parse_choice, .offset = AT(placement),
     .choices = placement_choices, .help = "thread pinning; none: not pinned; workers: one CPU per worker; compact: close to the caller; spread: far apart; cores: close, but one per core first"},
    {.name = "grain", .argument = "LIST", .commands = TH_COMMAND_SCALE, .parse = parse_whole_list, .offset = AT(grains),
     .low = 1, .high = 1e6, .help = "grain size in batches of 16 characters; a list is compared in a map (default: 2)"},
    {.name = "stages", .argument = "HOW", .fallback = "fused", .commands = TH_COMMAND_SCALE, .parse = parse_choice, .offset = AT(stages),
     .choices = stages_choices, .help = "fused: one pass from keys to palettes; separate: sample all poses, then resolve them, and time each stage"},
    {.name = "frames", .argument = "N", .commands = TH_COMMAND_BENCH | TH_COMMAND_SCALE, .parse = parse_whole, .offset = AT(frames),
     .low = 1, .high = 1e6, .help = "frames per repetition (default: chosen to take a few milliseconds)"},
    {.name = "budget-ms", .argument = "MS", .fallback = "16.6", .commands = TH_COMMAND_STRESS, .parse = parse_real, .offset = AT(budget_ms),
     .low = 0.001, .high = 1e4, .help = "frame time budget and frame interval in milliseconds"},
    {.name = "frames", .argument = "N", .fallback = "1800", .commands = TH_COMMAND_STRESS, .parse = parse_whole, .offset = AT(frames),
     .low = 299, .high = 1e5, .help = "frames per confirmation run; at least 299, the fewest that can show that 99 % meet the budget"},
    {.name = "repetitions", .argument = "N", .commands = REPEATS, .parse = parse_whole, .offset = AT(repetitions),
     .low = 1, .high = 1e5, .help = "repetitions of each entry (default: until --precision or --max-time is reached)"},
    {.name = "repetition-time", .argument = "MS", .commands = TH_COMMAND_BENCH, .parse = parse_real, .offset = AT(repetition_ms),
     .low = 0.01, .high = 1e6, .help = "shortest time of a repetition in milliseconds (default: 5; 1 with several processes)"},
    {.name = "repetition-time", .argument = "MS", .commands = TH_COMMAND_SCALE, .parse = parse_real, .offset = AT(repetition_ms),
     .low = 0.01, .high = 1e6, .help = "shortest time of a repetition in milliseconds (default: 20)"},
    {.name = "precision", .argument = "PERCENT", .fallback = "1", .commands = REPEATS, .parse = parse_real, .offset = AT(precision_percent),
     .low = 0.01, .high = 100, .help = "repeat until the 95 % CI of every compared median is within +- this percentage"},
    {.name = "min-time", .argument = "S", .fallback = "0", .commands = REPEATS, .parse = parse_real, .offset = AT(min_time_s),
     .low = 0, .high = 86400, .help = "repeat for at least this many seconds per entry, averaged over the compared entries"},
    {.name = "max-time", .argument = "S", .fallback = "0.2", .commands = TH_COMMAND_BENCH, .parse = parse_real, .offset = AT(max_time_s),
     .low = 0.001, .high = 86400, .help = "stop after this many seconds per entry even if --precision is not reached"},
    {.name = "max-time", .argument = "S", .fallback = "2", .commands = TH_COMMAND_SCALE, .parse = parse_real, .offset = AT(max_time_s),
     .low = 0.001, .high = 86400, .help = "stop after this many seconds per measured point or ablation even if --precision is not reached"},
    {.name = "dry-run", .commands = MEASURES, .parse = parse_switch, .offset = AT(dry_run),
     .help = "run each entry once and check its palettes; time nothing"},
    {.name = "seed", .argument = "N", .fallback = "1", .commands = CROWDS | TH_COMMAND_SERVE, .parse = parse_seed, .offset = AT(seed),
     .help = "random seed for clips, phases and speeds; the same seed gives the same crowd"},
    {.name = "isa", .argument = "NAME", .fallback = "auto", .commands = TH_COMMAND_POSE | ONE_WAY, .parse = parse_choice, .offset = AT(isa),
     .choices = isa_choices, .help = "kernel instruction set: auto, scalar, sse4, avx2, avx512 or neon"},
    {.name = "palette", .argument = "NAME", .fallback = "f32", .commands = TH_COMMAND_POSE | ONE_WAY, .parse = parse_choice, .offset = AT(palette),
     .choices = palette_choices, .help = "palette number format: f32, or f16 in half the memory"},
    {.name = "sampling", .argument = "HOW", .fallback = "exact", .commands = TH_COMMAND_POSE, .parse = parse_choice, .offset = AT(sampling),
     .choices = sampling_choices, .help = "exact: authored keys in double precision; compiled: resampled keys, as the kernels play them"},
    {.name = "sampling", .argument = "HOW", .fallback = "compiled", .commands = ONE_WAY, .parse = parse_choice, .offset = AT(sampling),
     .choices = sampling_choices, .help = "compiled: resampled keys; exact: authored keys"},
    {.name = "interpolation", .argument = "HOW", .fallback = "authored", .commands = PLAYED, .parse = parse_choice, .offset = AT(interpolation),
     .choices = interpolation_choices, .help = "interpolation between keys; authored: each track's own mode; step, nlerp, slerp, fast-slerp or cubic: this mode for all tracks"},
    {.name = "keys", .argument = "BITS", .fallback = "32", .commands = PLAYED, .parse = parse_choice, .offset = AT(keys),
     .choices = keys_choices, .help = "bits per number in compiled keys: 32, or 16 in half the memory"},
    {.name = "error-bound", .argument = "MM", .fallback = "0.1", .commands = PLAYED, .parse = parse_real, .offset = AT(error_bound_mm),
     .low = 1e-4, .high = 1e3, .help = "largest error of a compiled clip, in millimetres on a human of 1.8 m"},
    {.name = "processes", .argument = "N", .commands = TH_COMMAND_BENCH, .for_one = true, .parse = parse_whole, .offset = AT(processes),
     .low = 1, .high = TH_REPORT_MAX_PROCESSES, .help = "measure in N processes, one after the other (default: 12 with --save unless --repetitions or --dry-run is given, else 1)"},
    {.name = "baseline", .argument = "NAME", .commands = TH_COMMAND_COMPARE, .parse = parse_name, .offset = AT(baseline),
     .help = "use the result saved by --save NAME as OLD; then give only NEW"},
    {.name = "threshold", .argument = "PERCENT", .fallback = "2.5", .commands = TH_COMMAND_COMPARE, .parse = parse_real, .offset = AT(threshold_percent),
     .low = 0, .high = 1e6, .help = "ignore changes smaller than this, in percent"},
    {.name = "force", .commands = TH_COMMAND_COMPARE, .parse = parse_switch, .offset = AT(force),
     .help = "compare even if machine, build or scene differ"},
    {.name = "filter", .argument = "RE", .commands = TH_COMMAND_BENCH | TH_COMMAND_COMPARE, .parse = parse_regex, .offset = AT(filter),
     .help = "only entries that match this regular expression"},
    {.name = "list", .commands = TH_COMMAND_BENCH, .parse = parse_switch, .offset = AT(list),
     .help = "list the entries and measure nothing"},
    {.name = "export", .argument = "FILE", .commands = TH_COMMAND_INSPECT, .parse = parse_text, .offset = AT(export_path),
     .help = "write the model as binary glTF (.glb)"},
    {.name = "import-timeout", .argument = "S", .fallback = "8", .commands = PLAYED, .parse = parse_real, .offset = AT(import_timeout_s),
     .low = 0.01, .high = 86400, .help = "abort the import of a file after this many seconds"},
    {.name = "listen", .argument = "ADDR:PORT", .fallback = "127.0.0.1:8347", .commands = TH_COMMAND_SERVE, .parse = parse_text, .offset = AT(listen),
     .help = "address to listen on, such as [::1]:8347; port 0: any free port; an address other than loopback needs a token"},
    {.name = "rate", .argument = "HZ", .fallback = "60", .commands = TH_COMMAND_SERVE, .parse = parse_real, .offset = AT(rate_hz),
     .low = 0, .high = 1000, .help = "ticks per second; 0: as many as possible"},
    {.name = "models", .argument = "DIR", .commands = TH_COMMAND_SERVE, .repeatable = true, .parse = parse_folder, .offset = AT(model_folders),
     .help = "folder of models that clients may request by name"},
    {.name = "results", .argument = "DIR", .commands = TH_COMMAND_SERVE, .parse = parse_text, .offset = AT(results),
     .help = "folder for results and reports of runs; files are written atomically (default: kept in memory)"},
    {.name = "token-file", .argument = "FILE", .commands = TH_COMMAND_SERVE, .parse = parse_text, .offset = AT(token_file),
     .help = "file whose first line is the token that clients must send (default: the environment variable THRONG_TOKEN)"},
    {.name = "allow-host", .argument = "NAME", .commands = TH_COMMAND_SERVE, .repeatable = true, .parse = parse_host, .offset = AT(allow_hosts),
     .help = "additional Host header to accept, besides localhost, IP addresses and, where other machines can connect, this machine's name"},
    {.name = "max-count", .argument = "N", .fallback = "100000", .commands = TH_COMMAND_SERVE, .parse = parse_whole, .offset = AT(max_count),
     .low = 1, .high = 1e6, .help = "largest number of characters a client may request"},
    {.name = "max-memory", .argument = "MB", .commands = TH_COMMAND_SERVE, .parse = parse_real, .offset = AT(max_memory_mb),
     .low = 1, .high = 1e9, .help = "largest crowd a client may request, in MB (default: a quarter of the machine's memory)"},
    {.name = "max-memory", .argument = "MB", .commands = TH_COMMAND_STRESS, .parse = parse_real, .offset = AT(max_memory_mb),
     .low = 1, .high = 1e9, .help = "memory limit for the crowd in MB (default: 80 % of available memory)"},
    {.name = "max-requests", .argument = "HZ", .commands = TH_COMMAND_SERVE, .parse = parse_real, .offset = AT(max_requests_hz),
     .low = 0.1, .high = 1e6, .help = "rate limit per client address, in requests per second (default: 100, and none for this machine)"},
    {.name = "log-level", .argument = "LEVEL", .fallback = "info", .commands = TH_COMMAND_SERVE, .parse = parse_choice, .offset = AT(log_level),
     .choices = log_level_choices, .help = "least severe level logged to standard error: error, warning, info or debug"},
    {.name = "log-format", .argument = "NAME", .fallback = "text", .commands = TH_COMMAND_SERVE, .parse = parse_choice, .offset = AT(log_format),
     .choices = log_format_choices, .help = "log format: text, or json with one object per line"},
    {.name = "json", .commands = EACH | TH_COMMAND_COMPARE, .for_one = true, .parse = parse_switch, .offset = AT(json),
     .help = "print JSON instead of text"},
    {.name = "save", .argument = "NAME", .commands = REPEATS, .for_one = true, .parse = parse_name, .offset = AT(save),
     .help = "save the result as a baseline under this name; replaces a baseline of the same name"},
    {.name = "out", .argument = "FILE", .commands = MEASURES | TH_COMMAND_COMPARE, .for_one = true, .parse = parse_named_file, .offset = AT(out),
     .choices = result_endings, .help = "also write the result to FILE, in the format of its extension: .json, .csv or .md (Markdown); atomic"},
    {.name = "out", .argument = "FILE", .commands = EACH & ~TH_COMMAND_RENDER & ~MEASURES, .parse = parse_text, .offset = AT(out),
     .help = "also write the result to FILE as JSON; atomic"},
    {.name = "report", .argument = "FILE", .commands = MEASURES | TH_COMMAND_COMPARE, .for_one = true, .parse = parse_named_file, .offset = AT(report),
     .choices = page_endings, .help = "also write the result to FILE as an HTML page with plots (.html); atomic"},
    {.name = "trace", .argument = "FILE", .commands = CROWDS, .for_one = true, .parse = parse_text, .offset = AT(trace),
     .help = "write a trace of all threads to FILE, for ui.perfetto.dev or chrome://tracing"},
    {.name = "help", .commands = PLAYED | TH_COMMAND_COMPARE, .parse = parse_switch, .offset = AT(help), .repeatable = true,
     .help = "show this help"},
    {0},
};
/* clang-format on */

_Static_assert(sizeof th_option_table / sizeof *th_option_table <= TH_OPTIONS_MAX_ROWS, "a flag for each row");

/* ---- reading the command line ---- */

/* The row of this name for this command; else any row of this name; else NULL. */
static const th_option *find_option(const th_command *command, const char *name, size_t length)
{
    const th_option *other = NULL;
    for (const th_option *o = th_option_table; o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0) {
            if (o->commands & command->bit)
                return o;
            other = o;
        }
    return other;
}

static bool refuse_unknown(const th_command *command, const char *word, size_t length, th_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    th_suggestion s = {.typed = name};
    for (const th_option *o = th_option_table; o->name; o++)
        if (o->commands & command->bit)
            th_suggestion_consider(&s, o->name);
    if (s.best)
        th_fail(err, TH_ERR_INPUT, "unknown option --%s; did you mean --%s?", name, s.best);
    else
        th_fail(err, TH_ERR_INPUT, "unknown option --%s; `throng help %s` lists them", name, command->name);
    return false;
}

static bool refuse_elsewhere(const th_command *command, const th_option *option, th_error *err)
{
    char names[128] = "";
    uint32_t takers = 0;
    for (const th_option *o = th_option_table; o->name; o++)
        if (strcmp(o->name, option->name) == 0)
            takers |= o->commands;
    for (const th_command *c = th_command_table; c->name; c++) {
        if (!(c->bit & takers))
            continue;
        takers &= ~c->bit;
        th_append(names, sizeof names, "%s%s", !names[0] ? "" : takers ? ", " : " and ", c->name);
    }
    th_fail(err, TH_ERR_INPUT, "%s takes no --%s; that is an option of %s", command->name, option->name, names);
    return false;
}

/* Reads the option at argv[*at] and moves *at past it. */
static bool parse_option(th_options *options, const th_command *command, int argc, char *const *argv, int *at,
                         th_error *err)
{
    const char *word = strcmp(argv[*at], "-h") == 0 ? "help" : argv[*at] + 2, *text = NULL;
    const int first = *at;
    size_t length = strcspn(word, "=");
    const th_option *o = find_option(command, word, length);
    if (!o)
        return refuse_unknown(command, word, length, err);
    if (!(o->commands & command->bit))
        return refuse_elsewhere(command, o, err);

    bool *given = &options->given[o - th_option_table];
    if (*given && !o->repeatable) {
        th_fail(err, TH_ERR_INPUT, "--%s is given twice", o->name);
        return false;
    }
    *given = true;
    *at += 1;
    if (word[length] == '=')
        text = word + length + 1;
    if (text && !o->argument) {
        th_fail(err, TH_ERR_INPUT, "--%s takes no value", o->name);
        return false;
    }
    if (!text && o->argument) {
        /* "--out --json" lacks a file name; a file of that name can be given as "--out=--json". */
        if (*at == argc || strncmp(argv[*at], "--", 2) == 0) {
            th_fail(err, TH_ERR_INPUT, "--%s needs a value: --%s %s", o->name, o->name, o->argument);
            return false;
        }
        text = argv[(*at)++];
    }
    for (int i = first; i < *at && !o->for_one && options->again_count < TH_OPTIONS_MAX_WORDS; i++)
        options->again[options->again_count++] = argv[i];
    return o->parse(o, text, (char *)options + o->offset, err);
}

static bool parse_operand(th_options *options, const th_command *command, const char *word, th_error *err)
{
    static const th_option as_model = {.name = "model", .argument = "FILE"};
    if (command->bit == TH_COMMAND_COMPARE)
        return parse_file(&as_model, word, &options->result_files, err);
    if (!command->operand) {
        th_fail(err, TH_ERR_INPUT, "unexpected \"%s\"; %s takes options only%s", word, command->name,
                find_option(command, "model", 5) ? ", a model as --model FILE" : "");
        return false;
    }
    return parse_file(&as_model, word, &options->models, err);
}

static void set_defaults(th_options *options, const th_command *command)
{
    *options = (struct th_options){0};
    for (const th_option *o = th_option_table; o->name; o++)
        if ((o->commands & command->bit) && o->fallback)
            o->parse(o, o->fallback, (char *)options + o->offset, NULL);
}

bool th_options_parse(th_options *options, const th_command *command, int argc, char *const *argv, th_error *err)
{
    bool words_only = false;
    set_defaults(options, command);
    options->command = command;
    options->words = argv;
    options->word_count = argc;
    for (int at = 0; at < argc;) {
        const char *word = argv[at];
        bool is_option = !words_only && word[0] == '-' && word[1] != '\0';
        if (is_option && strcmp(word, "--") == 0) {
            words_only = true;
            at++;
        } else if (is_option && word[1] != '-' && strcmp(word, "-h") != 0) {
            th_fail(err, TH_ERR_INPUT, "unknown option %s; options begin with two dashes", word);
            return false;
        } else if (is_option ? !parse_option(options, command, argc, argv, &at, err)
                             : !parse_operand(options, command, argv[at++], err)) {
            return false;
        }
    }
    if (command->operand && options->models.count > 1) {
        th_fail(err, TH_ERR_INPUT, "%s takes one model, not %u", command->name, options->models.count);
        return false;
    }
    return true;
}

bool th_options_given(const th_options *options, const char *name)
{
    for (const th_option *o = th_option_table; o->name; o++)
        if (strcmp(o->name, name) == 0 && options->given[o - th_option_table])
            return true;
    return false;
}
