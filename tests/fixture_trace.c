#include "fixture_trace.h"

#include <criterion/criterion.h>

#include <string.h>

double number_of(const json_t *object, const char *field)
{
    const json_t *value = json_object_get(object, field);
    cr_assert(json_is_number(value), "%s", field);
    return json_number_value(value);
}

const char *text_of(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));
    cr_assert_neq(text, NULL, "%s", field);
    return text;
}

static const json_t *events_of(const json_t *trace)
{
    const json_t *events = json_object_get(trace, "traceEvents");
    cr_assert(json_is_array(events));
    return events;
}

/* What a track (or, of the process, any of its tracks) is called. */
static const char *name_of(const json_t *trace, const json_t *event, const char *what, const char *field)
{
    const json_t *e;
    size_t i;
    json_array_foreach(events_of(trace), i, e)
    {
        if (e == event)
            break;
        if (strcmp(text_of(e, "name"), what) == 0 && number_of(e, field) == number_of(event, field))
            return text_of(json_object_get(e, "args"), "name");
    }
    cr_assert_fail("an event of nobody");
    return NULL;
}

const char *process_of(const json_t *trace, const json_t *event)
{
    return name_of(trace, event, "process_name", "pid");
}

const char *thread_of(const json_t *trace, const json_t *event)
{
    return name_of(trace, event, "thread_name", "tid");
}

static bool is_span(const json_t *event, const char *category)
{
    return strcmp(text_of(event, "ph"), "X") == 0 && (!category || strcmp(text_of(event, "cat"), category) == 0);
}

static double end_of(const json_t *span)
{
    return number_of(span, "ts") + number_of(span, "dur");
}

/* ---- what viewers want ---- */

static void expect_args(const json_t *event, const char *const *names)
{
    const json_t *args = json_object_get(event, "args");
    size_t count = 0;
    for (; names[count]; count++) {
        const json_t *value = json_object_get(args, names[count]);
        cr_assert(json_is_number(value) || (json_is_string(value) && strcmp(text_of(event, "ph"), "M") == 0), "%s",
                  names[count]);
    }
    cr_assert_eq(json_object_size(args), count);
}

static void expect_span(const json_t *e)
{
    static const char *const chunk[] = {"begin", "end", NULL}, *const frame[] = {"frame", NULL}, *const none[] = {NULL};
    const char *category = text_of(e, "cat");
    const bool is_chunk = strcmp(category, "chunk") == 0, is_frame = strcmp(category, "frame") == 0;
    cr_assert(is_chunk || is_frame || strcmp(category, "stage") == 0, "%s", category);
    cr_assert_geq(number_of(e, "dur"), 0);
    cr_assert_eq(json_object_size(e), is_chunk || is_frame ? 8 : 7);
    expect_args(e, is_chunk ? chunk : is_frame ? frame : none);
}

static void expect_fields(const json_t *e)
{
    static const char *const name[] = {"name", NULL}, *const order[] = {"sort_index", NULL},
                             *const value[] = {"value", NULL};
    const char *phase = text_of(e, "ph");
    cr_assert(json_is_integer(json_object_get(e, "pid")) && json_is_integer(json_object_get(e, "tid")));
    cr_assert_gt(strlen(text_of(e, "name")), 0);
    if (strcmp(phase, "M") == 0) {
        cr_assert_eq(json_object_size(e), 5);
        expect_args(e, strstr(text_of(e, "name"), "sort_index") ? order : name);
    } else if (strcmp(phase, "C") == 0) {
        cr_assert_eq(json_object_size(e), 7);
        cr_assert_str_eq(text_of(e, "cat"), "counter");
        expect_args(e, value);
    } else {
        cr_assert_str_eq(phase, "X");
        expect_span(e);
    }
}

/* Ascending times make it enough to look at what is still under way. */
static void expect_nesting(const json_t *events, const json_t *first)
{
    double ends[32];
    size_t depth = 0, i;
    const json_t *e;
    json_array_foreach(events, i, e)
    {
        if (!is_span(e, NULL) || number_of(e, "tid") != number_of(first, "tid"))
            continue;
        while (depth > 0 && ends[depth - 1] < number_of(e, "ts") + 5e-4)
            depth--;
        cr_assert(depth == 0 || end_of(e) < ends[depth - 1] + 5e-4, "%s at %.3f us ends %.3f us after what it is in",
                  text_of(e, "name"), number_of(e, "ts"), end_of(e) - ends[depth - 1]);
        cr_assert_lt(depth, 32);
        ends[depth++] = end_of(e);
    }
}

json_t *trace_read(const char *text)
{
    json_error_t error;
    json_t *trace = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert_neq(trace, NULL, "%s in line %d", error.text, error.line);
    const json_t *other = json_object_get(trace, "otherData"), *e;
    double last_us = 0;
    size_t i;
    cr_assert_eq(json_object_size(trace), 3);
    cr_assert_str_eq(text_of(trace, "displayTimeUnit"), "ns");
    cr_assert_eq(strncmp(text_of(other, "producer"), "throng ", 7), 0);
    json_array_foreach(events_of(trace), i, e)
    {
        expect_fields(e);
        if (strcmp(text_of(e, "ph"), "M") == 0) {
            if (strcmp(text_of(e, "name"), "thread_name") == 0)
                expect_nesting(events_of(trace), e);
            cr_assert_eq(last_us, 0, "names come first");
            continue;
        }
        cr_assert_geq(number_of(e, "ts"), last_us);
        last_us = number_of(e, "ts");
        cr_assert_leq(last_us, number_of(other, "wall_us"));
    }
    return trace;
}

/* ---- sums ---- */

span_sum sum_spans(const json_t *trace, const char *process, const char *category, const char *name)
{
    span_sum sum = {0};
    const json_t *e;
    size_t i;
    json_array_foreach(events_of(trace), i, e)
    {
        if (!is_span(e, category) || (name && strcmp(text_of(e, "name"), name) != 0) ||
            (process && strcmp(process_of(trace, e), process) != 0))
            continue;
        sum.count++;
        sum.us += number_of(e, "dur");
    }
    return sum;
}

size_t bare_frames(const json_t *trace)
{
    const json_t *events = events_of(trace), *frame, *e;
    size_t count = 0, i;
    json_array_foreach(events, i, frame)
    {
        if (!is_span(frame, "frame"))
            continue;
        bool has_stage = false;
        for (size_t k = i + 1; (e = json_array_get(events, k)) && number_of(e, "ts") < end_of(frame); k++)
            has_stage |= is_span(e, "stage") && number_of(e, "tid") == number_of(frame, "tid");
        count += !has_stage;
    }
    return count;
}
