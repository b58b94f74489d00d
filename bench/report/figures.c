#include "figures.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static json_t *json_of(const th_value *value)
{
    switch (value->kind) {
    case TH_VALUE_REAL:
        return th_json_real(value->real);
    case TH_VALUE_DIGITS:
        return isfinite(value->real) ? th_json_count((uint64_t)value->real) : json_null();
    case TH_VALUE_COUNT:
        return th_json_count(value->count);
    case TH_VALUE_HASH:
        return th_json_hash(value->count);
    case TH_VALUE_FLAG:
        return json_boolean(value->count);
    case TH_VALUE_TEXT:
        return th_json_text(value->text);
    case TH_VALUE_JSON:
        return json_incref(value->json);
    default:
        return json_null();
    }
}

static void add_real(th_table *table, const th_value *value)
{
    const double shown = value->is_share ? 100 * value->real : value->real / value->unit;
    if (!isfinite(shown))
        th_table_cell(table, "-");
    else if (strchr(value->format, '*'))
        th_table_cell(table, value->format, shown < 10 ? 2 : 0, shown);
    else
        th_table_cell(table, value->format, shown);
}

static void add_cell(th_table *table, const th_value *value)
{
    if (value->kind == TH_VALUE_REAL)
        add_real(table, value);
    else if (value->kind == TH_VALUE_COUNT)
        th_table_cell(table, "%llu", (unsigned long long)value->count);
    else if (value->kind == TH_VALUE_DIGITS && isfinite(value->real))
        th_table_cell(table, "%s", th_digits_from((uint64_t)value->real).text);
    else if (value->kind == TH_VALUE_HASH)
        th_table_cell(table, "%016llx", (unsigned long long)value->count);
    else if (value->kind == TH_VALUE_FLAG)
        th_table_cell(table, value->count ? "yes" : "no");
    else
        th_table_cell(table, "%s", value->kind == TH_VALUE_TEXT && value->text ? value->text : "-");
}

th_sheet th_sheet_json(unsigned view)
{
    return (th_sheet){.view = view, .objects = json_array()};
}

th_sheet th_sheet_table(unsigned view)
{
    return (th_sheet){.view = view, .is_table = true};
}

static bool is_shown(const th_sheet *sheet, const th_figure *figure)
{
    return (sheet->is_table ? figure->column : figure->name) && (!sheet->view || figure->views & sheet->view);
}

static th_table *create_table(const th_sheet *sheet, const th_figure *figures, size_t count)
{
    char columns[1024] = "";
    for (size_t i = 0; i < count; i++)
        if (is_shown(sheet, &figures[i]))
            th_append(columns, sizeof columns, "%s%s", columns[0] ? "|" : "", figures[i].column);
    return th_table_create(columns);
}

void th_sheet_add(th_sheet *sheet, const th_figure *figures, size_t count)
{
    assert(sheet && (figures || count == 0));
    json_t *object = sheet->is_table ? NULL : json_object();
    if (sheet->is_table && sheet->count == 0)
        sheet->table = create_table(sheet, figures, count);
    for (size_t i = 0; i < count; i++) {
        if (!is_shown(sheet, &figures[i]))
            continue;
        if (sheet->is_table)
            add_cell(sheet->table, &figures[i].value);
        else if (figures[i].value.kind != TH_VALUE_ABSENT)
            object = th_json_set(object, figures[i].name, json_of(&figures[i].value));
    }
    if (!sheet->is_table)
        sheet->objects = th_json_append(sheet->objects, object);
    sheet->count++;
}

json_t *th_sheet_object(th_sheet *sheet)
{
    assert(!sheet->is_table && sheet->count == 1);
    json_t *object = json_incref(json_array_get(sheet->objects, 0));
    json_decref(sheet->objects);
    return object;
}

bool th_sheet_write_more(th_sheet *sheet, th_format format, th_table_widths *widths, FILE *file)
{
    const bool written = sheet->count == 0 || th_table_write_more(sheet->table, format, widths, file);
    th_table_destroy(sheet->table);
    return written;
}

bool th_sheet_write(th_sheet *sheet, th_format format, FILE *file)
{
    const bool written = sheet->count == 0 || th_table_write(sheet->table, format, file);
    th_table_destroy(sheet->table);
    return written;
}
