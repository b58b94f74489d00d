#include "figures.h"

#include <math.h>
#include <string.h>

/* ---- values ---- */

th_value th_as_scaled(double value, double unit, const char *format)
{
    return (th_value){.kind = TH_VALUE_REAL, .real = value, .shown = value / unit, .format = format};
}

th_value th_as_real(double value, const char *format)
{
    return th_as_scaled(value, 1, format);
}

th_value th_as_number(double value)
{
    return th_as_real(value, "");
}

th_value th_as_share(double value, const char *format)
{
    return (th_value){.kind = TH_VALUE_REAL, .real = value, .shown = 100 * value, .format = format};
}

th_value th_as_count(uint64_t value)
{
    return (th_value){.kind = TH_VALUE_COUNT, .count = value};
}

th_value th_as_digits(double value)
{
    return isfinite(value) ? (th_value){.kind = TH_VALUE_DIGITS, .count = (uint64_t)value}
                           : (th_value){.kind = TH_VALUE_NULL};
}

th_value th_as_hash(uint64_t value)
{
    return (th_value){.kind = TH_VALUE_HASH, .count = value};
}

th_value th_as_flag(bool value)
{
    return (th_value){.kind = TH_VALUE_FLAG, .count = value};
}

th_value th_as_text(const char *text)
{
    return (th_value){.kind = TH_VALUE_TEXT, .text = text};
}

th_value th_if_known(bool is_known, th_value value)
{
    return is_known ? value : (th_value){.kind = TH_VALUE_NULL};
}

th_value th_if_applies(bool applies, th_value value)
{
    return applies ? value : (th_value){.kind = TH_VALUE_ABSENT};
}

/* ---- sheets ---- */

static json_t *json_of(const th_value *value)
{
    switch (value->kind) {
    case TH_VALUE_REAL:
        return th_json_real(value->real);
    case TH_VALUE_COUNT:
    case TH_VALUE_DIGITS:
        return th_json_count(value->count);
    case TH_VALUE_HASH:
        return th_json_hash(value->count);
    case TH_VALUE_FLAG:
        return json_boolean(value->count);
    case TH_VALUE_TEXT:
        return th_json_text(value->text);
    default:
        return json_null();
    }
}

static void add_cell(th_table *table, const th_value *value)
{
    if (value->kind == TH_VALUE_REAL && isfinite(value->shown) && strchr(value->format, '*'))
        th_table_cell(table, value->format, value->shown < 10 ? 2 : 0, value->shown);
    else if (value->kind == TH_VALUE_REAL && isfinite(value->shown))
        th_table_cell(table, value->format, value->shown);
    else if (value->kind == TH_VALUE_COUNT)
        th_table_cell(table, "%llu", (unsigned long long)value->count);
    else if (value->kind == TH_VALUE_DIGITS)
        th_table_cell(table, "%s", th_digits_from(value->count).text);
    else if (value->kind == TH_VALUE_HASH)
        th_table_cell(table, "%016llx", (unsigned long long)value->count);
    else if (value->kind == TH_VALUE_FLAG)
        th_table_cell(table, "%s", value->count ? "yes" : "no");
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
    json_t *object = json_incref(json_array_get(sheet->objects, 0));
    json_decref(sheet->objects);
    return object;
}

bool th_sheet_write(th_sheet *sheet, th_format format, FILE *file)
{
    const bool written = sheet->count == 0 || th_table_write(sheet->table, format, file);
    th_table_destroy(sheet->table);
    return written;
}
