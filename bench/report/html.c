#include "html.h"

#include "embedded.h"
#include "row_figures.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- head and end ---- */

static void write_element(const char *begin, const char *text, const char *end, FILE *file)
{
    fputs(begin, file);
    th_html_escape(text, file);
    fputs(end, file);
}

static void write_style(FILE *file)
{
    fputs("<style>\n", file);
    fwrite(th_embedded_report_style, 1, th_embedded_report_style_size, file);
    fputs("</style>\n", file);
}

void th_html_begin(const th_html_head *head, FILE *file)
{
    assert(head && head->title && head->headline && head->command && file);
    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta "
          "charset=\"utf-8\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
          "'unsafe-inline'\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          /* An empty icon, so that browsers do not request one. */
          "<link rel=\"icon\" href=\"data:,\"/>\n",
          file);
    write_element("<title>", head->title, "</title>\n", file);
    write_style(file);
    write_element("</head>\n<body>\n<main>\n<header>\n<h1>", head->title, "</h1>\n", file);
    write_element("<p class=\"headline\">", head->headline, "</p>\n", file);
    if (head->lead)
        write_element("<p class=\"lead\">", head->lead, "</p>\n", file);
    write_element("<pre class=\"scroll\" tabindex=\"0\"><code>", head->command, "</code></pre>\n</header>\n", file);
}

void th_html_section(const char *heading, FILE *file)
{
    write_element("<section>\n<h2>", heading, "</h2>\n", file);
}

void th_html_section_end(FILE *file)
{
    fputs("</section>\n", file);
}

void th_html_plots(const char *heading, const char *note, FILE *file)
{
    th_html_section(heading, file);
    if (note)
        th_write_line(file, TH_FORMAT_HTML, "%s", note);
    fputs("<div class=\"figures\">\n", file);
}

void th_html_plots_end(FILE *file)
{
    fputs("</div>\n", file);
    th_html_section_end(file);
}

bool th_html_end(FILE *file)
{
    write_element("</main>\n<footer><p>throng ", th_context_version(), "</p></footer>\n</body>\n</html>\n", file);
    return !ferror(file);
}

/* ---- failures ---- */

static bool has_failed(const th_row *row)
{
    return row->failure[0] && !row->skipped;
}

bool th_html_trouble(const th_report *report, char *out, size_t size)
{
    uint32_t failed = 0;
    for (uint32_t r = 0; r < report->row_count; r++)
        failed += has_failed(&report->rows[r]);
    out[0] = '\0';
    if (failed > 0)
        th_append(out, size, "%u of %u entr%s failed the check%s", failed, report->row_count,
                  report->row_count == 1 ? "y" : "ies", report->is_dry_run ? "; a dry run" : "");
    else if (report->is_dry_run)
        th_append(out, size, "A dry run: all checks passed, nothing was timed");
    return out[0] != '\0';
}

static bool write_failures(const th_report *report, FILE *file)
{
    th_sheet sheet = th_sheet_table(TH_ROW_FAILED);
    for (uint32_t r = 0; r < report->row_count; r++)
        if (has_failed(&report->rows[r]))
            th_row_add(&sheet, report, &report->rows[r], 0);
    if (sheet.count == 0)
        return true;
    th_html_section("Failed", file);
    const bool written = th_sheet_write(&sheet, TH_FORMAT_HTML, file);
    th_html_section_end(file);
    return written;
}

/* ---- context ---- */

/* Formats an object without nested ones: "type Data, level 1, size 49152". NULL when memory is out. */
static json_t *line_of(const json_t *object)
{
    char line[512] = "";
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        char *text = json_is_string(value) ? strdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY);
        th_append(line, sizeof line, "%s%s %s", line[0] ? ", " : "", key, text ? text : "");
        free(text);
    }
    return th_json_text(line);
}

/* Adds value to out, with its members under dotted names: "scene.seed", "caches.0". */
static json_t *flatten(json_t *out, const char *name, json_t *value)
{
    char part[128];
    const char *key;
    size_t index;
    json_t *child;
    if (json_is_object(value)) {
        json_object_foreach(value, key, child)
        {
            snprintf(part, sizeof part, "%s%s%s", name, name[0] ? "." : "", key);
            out = flatten(out, part, child);
        }
    } else if (json_is_object(json_array_get(value, 0))) {
        json_array_foreach(value, index, child)
        {
            snprintf(part, sizeof part, "%s.%zu", name, index);
            out = th_json_set(out, part, line_of(child));
        }
    } else if (strcmp(name, "warnings") != 0) { /* warnings have their own section */
        out = th_json_set(out, name, json_incref(value));
    }
    return out;
}

/* Text as it is, null as a dash, anything else as JSON. */
static void add_value(th_table *table, const json_t *value)
{
    char *text = json_is_string(value) ? strdup(json_string_value(value))
                                       : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    th_table_cell(table, "%s", text && !json_is_null(value) ? text : "-");
    free(text);
}

static void add_member(th_table *table, const char *name, json_t *const *sides, uint32_t count)
{
    const json_t *first = json_object_get(sides[0], name), *last = json_object_get(sides[count - 1], name);
    th_table_cell(table, "%s", name);
    for (uint32_t i = 0; i < count; i++)
        add_value(table, json_object_get(sides[i], name));
    if (count > 1)
        th_table_cell(table, first && last && json_equal(first, last) ? "" : "differs");
}

static bool write_sides(json_t *const *sides, const char *columns, uint32_t count, FILE *file)
{
    th_table *table = th_table_create(columns);
    json_t *all = json_object(), *value;
    bool whole = all != NULL;
    const char *name;
    for (uint32_t i = 0; i < count; i++)
        whole = whole && sides[i] && json_object_update(all, sides[i]) == 0;
    json_object_foreach(all, name, value) if (whole) add_member(table, name, sides, count);
    whole = whole && th_table_write(table, TH_FORMAT_HTML, file);
    json_decref(all);
    th_table_destroy(table);
    return whole;
}

bool th_html_contexts(const json_t *old_context, const json_t *new_context, FILE *file)
{
    json_t *sides[] = {flatten(json_object(), "", (json_t *)old_context),
                       flatten(json_object(), "", (json_t *)new_context)};
    th_html_section("Machine and build", file);
    const bool written = write_sides(sides, "<what|<old|<new|<", 2, file);
    th_html_section_end(file);
    json_decref(sides[0]);
    json_decref(sides[1]);
    return written;
}

static bool write_context(const th_report *report, FILE *file)
{
    json_t *context = th_report_context_json(report), *flat = context ? flatten(json_object(), "", context) : NULL;
    th_html_section("Machine and build", file);
    const bool written = write_sides(&flat, "<what|<value", 1, file);
    th_html_section_end(file);
    json_decref(context);
    json_decref(flat);
    return written;
}

/* ---- the page ---- */

bool th_html_report(const th_html_head *head, const th_tables *tables, const th_report *report, const void *result,
                    bool (*plots)(const void *result, FILE *file), FILE *file)
{
    th_html_begin(head, file);
    fputs("<div class=\"conditions\">\n", file);
    th_report_print_conditions(report, TH_FORMAT_HTML, file);
    if (tables->print_how)
        tables->print_how(result, TH_FORMAT_HTML, file);
    fputs("</div>\n<div class=\"warnings\">", file);
    th_report_print_warnings(report, TH_FORMAT_HTML, file);
    fputs("</div>\n", file);
    bool made = write_failures(report, file);
    made = plots(result, file) && made;
    th_html_section("Figures", file);
    made = th_tables_print_figures(tables, report, result, TH_FORMAT_HTML, file) && made;
    th_html_section_end(file);
    made = write_context(report, file) && made;
    return th_html_end(file) && made;
}
