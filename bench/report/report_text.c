/* A report as text: the conditions above the tables, and the warnings below them. */
#include "row_figures.h"
#include "tables.h"

#include <assert.h>
#include <string.h>

/* "7 clips", "clip walk of 7"; "rest pose" if the model lacks the chosen clip. */
static void add_clips(char *line, size_t size, const json_t *model)
{
    const int clips = (int)json_integer_value(json_object_get(model, "clips"));
    const json_t *chosen = json_object_get(model, "clip");
    const char *name = json_string_value(chosen);
    if (json_is_null(chosen))
        th_append(line, size, "rest pose");
    else if (name && strcmp(name, "all") != 0)
        th_append(line, size, "clip %s of %d", name, clips);
    else
        th_append(line, size, "%d clip%s", clips, th_plural((uint64_t)clips));
}

static void print_scene(const json_t *scene, th_format format, FILE *file)
{
    size_t index;
    const json_t *model;
    char line[1024] = "";
    const json_int_t characters = json_integer_value(json_object_get(scene, "characters"));
    th_append(line, sizeof line, "%s character%s", th_digits_from((uint64_t)characters).text,
              th_plural((uint64_t)characters));
    json_array_foreach(json_object_get(scene, "models"), index, model)
    {
        const int entries = (int)json_integer_value(json_object_get(model, "bones"));
        th_append(line, sizeof line, "%s%s (%d %s, ", index == 0 ? ": " : ", ",
                  json_string_value(json_object_get(model, "name")), entries, entries == 1 ? "bone" : "bones");
        add_clips(line, sizeof line, model);
        th_append(line, sizeof line, ")");
    }
    th_write_line(file, format, "%s", line);
}

static void print_machine(const th_context *c, th_format format, FILE *file)
{
    char line[1024] = "";
    const size_t size = sizeof line;
    th_append(line, size, "%s, %u of %u CPUs usable", c->cpu[0] ? c->cpu : "unknown CPU", c->cpus.usable,
              c->cpus.online);
    if (c->cpus.quota > 0)
        th_append(line, size, " (%.3g granted by cgroup)", c->cpus.quota);
    if (c->threads_per_core > 1)
        th_append(line, size, ", %u threads a core", c->threads_per_core);
    if (c->numa_nodes > 1)
        th_append(line, size, ", %u NUMA nodes", c->numa_nodes);
    if (c->mhz > 0)
        th_append(line, size, ", %.0f MHz", c->mhz);
    if (c->governor[0])
        th_append(line, size, ", governor %s", c->governor);
    else
        th_append(line, size, ", clock %s", c->virtual_machine ? "up to the host of this virtual machine" : "unknown");
    th_write_line(file, format, "%s", line);
}

static int integer_of(const json_t *object, const char *name)
{
    return (int)json_integer_value(json_object_get(object, name));
}

void th_report_add_picture(const json_t *picture, char *line, size_t size)
{
    assert(line && size > 0);
    th_append(line, size, "%d x %d pixels, samples %d, shadow map %d, by %s", integer_of(picture, "width"),
              integer_of(picture, "height"), integer_of(picture, "samples"), integer_of(picture, "shadow"),
              json_string_value(json_object_get(picture, "renderer")));
}

void th_report_print_picture(const json_t *picture, th_format format, FILE *file)
{
    assert(file);
    char line[512] = "";
    th_report_add_picture(picture, line, sizeof line);
    if (picture)
        th_write_line(file, format, "%s", line);
}

void th_report_print_conditions(const th_report *report, th_format format, FILE *file)
{
    assert(report && file);
    if (report->is_partial)
        th_write_line(file, format, "PARTIAL RESULT: the measurement was interrupted.");
    if (report->scene)
        print_scene(report->scene, format, file);
    print_machine(&report->context, format, file);
}

bool th_report_print_dry_run(const th_report *report, th_format format, FILE *file)
{
    assert(report && file);
    th_sheet sheet = th_sheet_table(TH_ROW_DRY);
    for (uint32_t r = 0; r < report->row_count; r++)
        th_row_add(&sheet, report, &report->rows[r], 0);
    fputc('\n', file);
    const bool printed = th_sheet_write(&sheet, format, file);
    fputc('\n', file);
    th_write_line(file, format, "A dry run: everything ran once, nothing was timed.");
    return printed;
}

void th_report_print_warnings(const th_report *report, th_format format, FILE *file)
{
    assert(report && file);
    size_t index;
    const json_t *warning;
    json_t *warnings = th_report_warnings(report);
    json_array_foreach(warnings, index, warning) th_write_line(file, format, "warning: %s", json_string_value(warning));
    json_decref(warnings);
}

void th_print_gap(th_format format, FILE *file)
{
    fputs(format == TH_FORMAT_TEXT || format == TH_FORMAT_WIDE ? "\n" : "", file);
}

bool th_tables_print_figures(const th_tables *tables, const th_report *report, const void *result, th_format format,
                             FILE *file)
{
    return report->is_dry_run ? th_report_print_dry_run(report, format, file)
                              : tables->print_figures(result, format, file);
}

bool th_tables_print(const th_tables *tables, const th_report *report, const void *result, th_format format, FILE *file)
{
    th_report_print_conditions(report, format, file);
    if (tables->print_how)
        tables->print_how(result, format, file);
    const bool printed = th_tables_print_figures(tables, report, result, format, file);
    th_report_print_warnings(report, format, file);
    return printed;
}
