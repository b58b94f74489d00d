#include <core/text_format.h>

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

size_t th_control_length(const char *text)
{
    static const char *const signs[] = {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
                                        "\u2028", "\u2029", "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff"};
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < ' ' || c[0] == 0x7f)
        return 1;
    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
        return 2;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

char *th_printable(const char *text, char *out, size_t size)
{
    assert(text && out && size > 0);
    size_t used = 0;
    while (*text && used + 1 < size) {
        const size_t length = th_control_length(text);
        out[used++] = length ? '?' : *text;
        text += length ? length : 1;
    }
    out[used] = '\0';
    return out;
}

static bool begins_letter(char byte)
{
    return (byte & 0xC0) != 0x80;
}

uint32_t th_utf8_length(const char *text)
{
    assert(text);
    uint32_t letters = 0;
    for (; *text; text++)
        letters += begins_letter(*text);
    return letters;
}

char *th_ellipsize(const char *text, uint32_t most, char *out, size_t size)
{
    assert(text && out && size > 0);
    assert(text != out && most > 0);
    static const char ellipsis[] = "…";
    const uint32_t letters = th_utf8_length(text), head = most / 2, tail = most - 1 - head;
    const bool is_long = letters > most;
    uint32_t letter = 0;
    size_t used = 0;
    for (const char *at = text; *at; at++) {
        letter += begins_letter(*at); /* counted from 1 */
        const bool is_left_out = is_long && letter > head && letter <= letters - tail;
        const bool is_replaced = is_left_out && letter == head + 1 && begins_letter(*at);
        const size_t length = is_replaced ? sizeof ellipsis - 1 : is_left_out ? 0 : 1;
        if (used + length >= size)
            break;
        memcpy(out + used, is_replaced ? ellipsis : at, length);
        used += length;
    }
    out[used] = '\0';
    return out;
}

/* An underscore inside a word is not markup. */
static bool is_markup(const char *text, const char *at)
{
    if (*at == '_')
        return at == text || !isalnum((unsigned char)at[-1]) || !isalnum((unsigned char)at[1]);
    return strchr("\\`*<[|~&", *at) != NULL;
}

char *th_markdown_escape(const char *text, char *out)
{
    assert(text && out && text != out);
    char *end = out;
    for (const char *c = text; *c; c++) {
        if (is_markup(text, c))
            *end++ = '\\';
        *end++ = *c;
    }
    *end = '\0';
    return out;
}

void th_html_escape(const char *text, FILE *file)
{
    assert(text && file);
    for (; *text; text++) {
        static const char signs[] = "<>&\"'", *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
        const char *sign = strchr(signs, *text);
        const size_t control = *text == '\n' ? 0 : th_control_length(text);
        if (sign)
            fputs(entities[sign - signs], file);
        else
            fputc(control ? '?' : *text, file);
        text += control ? control - 1 : 0;
    }
}

/* ---- lines ---- */

bool th_read_whole(const char *text, double low, double high, uint64_t *out)
{
    if (!isdigit((unsigned char)text[0]) || text[strspn(text, "0123456789")] != '\0')
        return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0 && (double)*out >= low && (double)*out <= high;
}

void th_append(char *out, size_t size, const char *format, ...)
{
    assert(out && format);
    const size_t used = strlen(out);
    assert(used < size);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

/* Bytes of the text up to the last space before the column; of all of it if it is shorter, of a word if it is longer.
 */
static size_t line_bytes(const char *text, uint32_t columns)
{
    size_t end = 0, at = 0;
    for (uint32_t column = 0; text[at]; at++) {
        if (begins_letter(text[at]) && ++column > columns && end > 0)
            return end;
        if (text[at] == ' ' && at > 0)
            end = at;
        if (column > columns && end > 0)
            return end;
    }
    return at;
}

void th_write_line(FILE *file, th_output_format format, const char *line, ...)
{
    assert(file && line);
    assert((unsigned)format <= TH_OUTPUT_WIDE);
    char text[1024], clean[1024], escaped[2 * sizeof clean];
    va_list args;
    va_start(args, line);
    vsnprintf(text, sizeof text, line, args);
    va_end(args);
    th_printable(text, clean, sizeof clean);
    if (format == TH_OUTPUT_MARKDOWN) {
        fprintf(file, "%s\n\n", th_markdown_escape(clean, escaped));
    } else if (format == TH_OUTPUT_HTML) {
        fputs("<p>", file);
        th_html_escape(clean, file);
        fputs("</p>\n", file);
    } else if (format == TH_OUTPUT_TEXT) {
        static const char indent[] = "  ";
        size_t bytes = line_bytes(clean, TH_TEXT_COLUMNS);
        fprintf(file, "%.*s\n", (int)bytes, clean);
        for (const char *rest = clean + bytes; *rest; rest += bytes) {
            rest += *rest == ' ';
            bytes = line_bytes(rest, TH_TEXT_COLUMNS - (sizeof indent - 1));
            fprintf(file, "%s%.*s\n", indent, (int)bytes, rest);
        }
    } else {
        fprintf(file, "%s\n", clean);
    }
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
    assert((size_t)used < sizeof out.text);
    out.text[used] = '\0';
    return out;
}

const char *th_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
