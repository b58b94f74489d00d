#include <throng/table.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 16, MAX_CELL = 256 };

struct th_table {
    char **cells; /* row by row; the first row holds the headings */
    size_t cell_count, capacity;
    int column_count;
    bool right[MAX_COLUMNS];
    bool failed;
};

th_table *th_table_create(const char *columns)
{
    th_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    int count = 1;
    for (const char *c = columns; *c; c++)
        count += *c == '|';
    table->column_count = count;
    for (int i = 0; i < count; i++) {
        int length = (int)strcspn(columns, "|");
        table->right[i] = columns[0] == '>';
        th_table_cell(table, "%.*s", length - 1, columns + 1);
        columns += length + 1;
    }
    return table;
}

void th_table_destroy(th_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

char *th_printable(const char *text, char *out, size_t size)
{
    size_t used = 0;
    for (; *text && used + 1 < size; text++)
        out[used++] = (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text;
    out[used] = '\0';
    return out;
}

static bool reserve(th_table *table)
{
    if (table->cell_count < table->capacity)
        return true;
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    char **cells = realloc(table->cells, capacity * sizeof *cells);
    if (!cells)
        return false;
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

void th_table_cell(th_table *table, const char *format, ...)
{
    if (!table || table->failed)
        return;
    char text[MAX_CELL], clean[MAX_CELL];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *cell = reserve(table) ? strdup(th_printable(text, clean, sizeof clean)) : NULL;
    if (cell)
        table->cells[table->cell_count++] = cell;
    else
        table->failed = true;
}

/* Code points, which is what a terminal shows one column wide in all scripts we format for. */
static int text_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += (*text & 0xC0) != 0x80;
    return width;
}

static void print_row(const th_table *table, char *const *row, const int *widths, FILE *file)
{
    int used = table->column_count; /* nothing but spaces behind the last text */
    while (used > 0 && row[used - 1][0] == '\0')
        used--;
    for (int c = 0; c < used; c++) {
        int padding = widths[c] - text_width(row[c]);
        if (table->right[c])
            fprintf(file, "  %*s%s", padding, "", row[c]);
        else
            fprintf(file, "  %s%*s", row[c], c + 1 < used ? padding : 0, "");
    }
    fputc('\n', file);
}

bool th_table_print(const th_table *table, FILE *file)
{
    if (!table || table->failed)
        return false;
    int widths[MAX_COLUMNS] = {0};
    size_t columns = (size_t)table->column_count, rows = table->cell_count / columns;
    for (size_t i = 0; i < rows * columns; i++) {
        int width = text_width(table->cells[i]);
        if (widths[i % columns] < width)
            widths[i % columns] = width;
    }
    for (size_t r = 0; r < rows; r++)
        print_row(table, table->cells + r * columns, widths, file);
    return true;
}

th_digits th_digits_from(uint64_t value)
{
    char plain[24];
    int length = snprintf(plain, sizeof plain, "%llu", (unsigned long long)value), used = 0;
    th_digits out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.text[used++] = ',';
        out.text[used++] = plain[i];
    }
    out.text[used] = '\0';
    return out;
}

const char *th_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
