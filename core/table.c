#include <core/table.h>

#include <core/arena.h>

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 128, MAX_CELL = 512 };

struct th_table {
    th_arena *arena; /* holds the table and its texts */
    char **cells;    /* row by row; the first row is the heading */
    size_t cell_count, capacity;
    int column_count;
    bool right[MAX_COLUMNS];
    bool is_extra[MAX_COLUMNS]; /* not in TH_OUTPUT_TEXT */
    bool failed;
};

/* ---- filling ---- */

static th_table *create(void)
{
    th_arena *arena = th_arena_create();
    th_table *table = th_arena_new(arena, th_table, 1);
    if (table)
        table->arena = arena;
    else
        th_arena_destroy(arena);
    return table;
}

th_table *th_table_create(const char *columns)
{
    assert(columns);
    th_table *table = create();
    if (!table)
        return NULL;
    int count = 1;
    for (const char *c = columns; *c; c++)
        count += *c == '|';
    assert(count <= MAX_COLUMNS);
    table->column_count = count;
    for (int i = 0; i < count; i++) {
        assert(columns[0] == '<' || columns[0] == '>');
        int length = (int)strcspn(columns, "|");
        table->right[i] = columns[0] == '>';
        table->is_extra[i] = columns[1] == '+';
        const int mark = 1 + table->is_extra[i];
        th_table_cell(table, "%.*s", length - mark, columns + mark);
        columns += length + 1;
    }
    return table;
}

void th_table_destroy(th_table *table)
{
    if (!table)
        return;
    free(table->cells);
    th_arena_destroy(table->arena);
}

void th_table_cell(th_table *table, const char *format, ...)
{
    assert(format);
    if (!table || table->failed)
        return;
    char text[MAX_CELL], clean[MAX_CELL];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (table->cell_count == table->capacity) {
        const size_t capacity = table->capacity ? 2 * table->capacity : 64;
        char **cells = realloc(table->cells, capacity * sizeof *cells);
        table->cells = cells ? cells : table->cells;
        table->capacity = cells ? capacity : table->capacity;
    }
    const size_t size = strlen(th_printable(text, clean, sizeof clean)) + 1;
    char *cell = table->cell_count < table->capacity ? th_arena_pack(table->arena, size, 1) : NULL;
    table->failed = !cell;
    if (cell)
        table->cells[table->cell_count++] = memcpy(cell, clean, size);
}

void th_table_gap(th_table *table)
{
    for (int i = 0; table && i < table->column_count; i++)
        th_table_cell(table, "%s", "");
}

th_table *th_table_from_objects(const json_t *objects)
{
    assert(!objects || json_array_size(objects) > 0);
    /* All names in any of the objects, each with whether some value is a text. */
    json_t *names = objects ? json_object() : NULL, *object, *value, *is_text;
    size_t index;
    const char *name;
    bool whole = names != NULL;
    json_array_foreach(objects, index, object) json_object_foreach(object, name, value)
    {
        const bool has_text = json_is_string(value) || json_is_true(json_object_get(names, name));
        whole = whole && json_object_set_new(names, name, json_boolean(has_text)) == 0;
    }
    th_table *table = whole && json_object_size(names) <= MAX_COLUMNS ? create() : NULL;
    if (!table) {
        json_decref(names);
        return NULL;
    }
    json_object_foreach(names, name, is_text)
    {
        table->right[table->column_count++] = !json_is_true(is_text);
        th_table_cell(table, "%s", name);
    }
    json_array_foreach(objects, index, object) json_object_foreach(names, name, is_text)
    {
        value = json_object_get(object, name);
        if (json_is_integer(value))
            th_table_cell(table, "%lld", (long long)json_integer_value(value));
        else if (json_is_real(value))
            th_table_cell(table, "%.12g", json_real_value(value));
        else if (json_is_boolean(value))
            th_table_cell(table, "%d", json_is_true(value));
        else
            th_table_cell(table, "%s", json_is_string(value) ? json_string_value(value) : "");
    }
    json_decref(names);
    return table;
}

/* ---- writing ---- */

/* A terminal shows each code point as one column in all scripts that we format. */
static void print_padded(const char *text, int width, bool right, FILE *file)
{
    const int missing = width - (int)th_utf8_length(text), padding = missing > 0 ? missing : 0;
    fprintf(file, "%*s%s%*s", right ? padding : 0, "", text, right ? 0 : padding, "");
}

static bool is_hidden(const th_table *table, int column, th_output_format format)
{
    return format == TH_OUTPUT_TEXT && table->is_extra[column];
}

/* Stops at the last cell that is not empty, to avoid trailing spaces. */
static int used_columns(const th_table *table, char *const *row, th_output_format format)
{
    int used = table->column_count;
    while (used > 0 && (row[used - 1][0] == '\0' || is_hidden(table, used - 1, format)))
        used--;
    return used;
}

static void measure_widths(const th_table *table, th_output_format format, size_t rows, int *widths)
{
    const size_t columns = (size_t)table->column_count;
    char escaped[2 * MAX_CELL];
    for (size_t i = 0; i < rows * columns; i++) {
        const char *cell = table->cells[i];
        const int width = (int)th_utf8_length(format == TH_OUTPUT_MARKDOWN ? th_markdown_escape(cell, escaped) : cell);
        if (widths[i % columns] < width)
            widths[i % columns] = width;
    }
}

static void write_row(const th_table *table, size_t r, const int *widths, th_output_format format, FILE *file)
{
    char *const *row = table->cells + r * (size_t)table->column_count;
    char escaped[2 * MAX_CELL];
    const int count = table->column_count, used = used_columns(table, row, format);
    const bool is_head = r == 0, *right = table->right;
    if (format == TH_OUTPUT_TEXT || format == TH_OUTPUT_WIDE) {
        for (int c = 0; c < used; c++) {
            if (is_hidden(table, c, format))
                continue;
            fputs("  ", file);
            print_padded(row[c], c + 1 < used || right[c] ? widths[c] : 0, right[c], file);
        }
        fputc('\n', file);
        return;
    }
    if (used == 0)
        return;
    if (format == TH_OUTPUT_CSV) {
        for (int c = 0; c < count; c++) {
            const char *quote = strpbrk(row[c], ",\"") ? "\"" : "";
            fprintf(file, "%s%s", c == 0 ? "" : ",", quote);
            for (const char *text = row[c]; *text; text++)
                fprintf(file, "%s%c", *text == '"' ? "\"" : "", *text);
            fputs(quote, file);
        }
        fputs("\r\n", file);
        return;
    }
    if (format == TH_OUTPUT_HTML) {
        fputs(is_head ? "<thead><tr>" : "<tr>", file);
        for (int c = 0; c < count; c++) {
            const char *kind = is_head && row[c][0] ? "th scope=\"col\""
                               : !is_head && c == 0 ? "th scope=\"row\""
                                                    : "td";
            fprintf(file, "<%s%s>", kind, right[c] ? " class=\"right\"" : "");
            th_html_escape(row[c], file);
            fprintf(file, "</%.2s>", kind);
        }
        fputs(is_head ? "</tr></thead>\n<tbody>\n" : "</tr>\n", file);
        return;
    }
    for (int c = 0; c < count; c++) {
        fputs(c == 0 ? "| " : " | ", file);
        print_padded(th_markdown_escape(row[c], escaped), widths[c], right[c], file);
    }
    fputs(" |\n", file);
    if (!is_head)
        return;
    for (int c = 0; c < count; c++) { /* the line below the headings, with the alignment of each column */
        fputs(right[c] ? "|-" : "|:", file);
        for (int i = 0; i < widths[c]; i++)
            fputc('-', file);
        fputc(right[c] ? ':' : '-', file);
    }
    fputs("|\n", file);
}

bool th_table_write(const th_table *table, th_output_format format, FILE *file)
{
    assert((unsigned)format <= TH_OUTPUT_WIDE);
    assert(file);
    if (!table || table->failed)
        return false;
    int widths[MAX_COLUMNS] = {0};
    const size_t columns = (size_t)table->column_count, rows = table->cell_count / columns;
    assert(table->cell_count % columns == 0);
    measure_widths(table, format, rows, widths);
    /* In a narrow window a wide table scrolls inside its own box, also by keyboard. */
    if (format == TH_OUTPUT_HTML)
        fputs("<div class=\"scroll\" tabindex=\"0\"><table>\n", file);
    for (size_t r = 0; r < rows; r++)
        write_row(table, r, widths, format, file);
    if (format == TH_OUTPUT_HTML)
        fputs("</tbody></table></div>\n", file);
    return true;
}

bool th_table_write_more(const th_table *table, th_output_format format, th_table_widths *widths, FILE *file)
{
    assert(format == TH_OUTPUT_TEXT || format == TH_OUTPUT_WIDE);
    assert(widths && file);
    if (!table || table->failed)
        return false;
    const th_table_widths before = *widths;
    const size_t columns = (size_t)table->column_count, rows = table->cell_count / columns;
    assert(table->cell_count % columns == 0);
    measure_widths(table, format, rows, widths->columns);
    bool has_grown = false;
    for (int c = 0; c < table->column_count; c++)
        has_grown |= widths->columns[c] > before.columns[c] && !is_hidden(table, c, format);
    for (size_t r = before.has_heading && !has_grown; r < rows; r++)
        write_row(table, r, widths->columns, format, file);
    widths->has_heading = true;
    return true;
}
