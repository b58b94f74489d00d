#include <throng/words.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* Bytes of a control character at the begin of a text, or of one that turns the direction of what follows it; 0: it is
 * another. In UTF-8, as all texts. */
static size_t control_length(const char *text)
{
    static const char *const signs[] = {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d",
                                        "\u202e", "\u2028", "\u2029", "\u2066", "\u2067", "\u2068", "\u2069"};
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
    size_t used = 0;
    while (*text && used + 1 < size) {
        const size_t length = control_length(text);
        out[used++] = length ? '?' : *text;
        text += length ? length : 1;
    }
    out[used] = '\0';
    return out;
}

/* An underscore inside of a word is none. */
static bool is_markup(const char *text, const char *at)
{
    if (*at == '_')
        return at == text || !isalnum((unsigned char)at[-1]) || !isalnum((unsigned char)at[1]);
    return strchr("\\`*<[|", *at) != NULL;
}

char *th_markdown(const char *text, char *out)
{
    char *end = out;
    for (const char *c = text; *c; c++) {
        if (is_markup(text, c))
            *end++ = '\\';
        *end++ = *c;
    }
    *end = '\0';
    return out;
}

void th_append(char *out, size_t size, const char *format, ...)
{
    const size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

void th_write_line(FILE *file, th_format format, const char *line, ...)
{
    char text[1024], clean[1024], escaped[2 * sizeof clean];
    va_list args;
    va_start(args, line);
    vsnprintf(text, sizeof text, line, args);
    va_end(args);
    th_printable(text, clean, sizeof clean);
    if (format == TH_FORMAT_MARKDOWN)
        fprintf(file, "%s\n\n", th_markdown(clean, escaped));
    else
        fprintf(file, "%s\n", clean);
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
