#include <throng/words.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

char *th_printable(const char *text, char *out, size_t size)
{
    size_t used = 0;
    for (; *text && used + 1 < size; text++)
        out[used++] = (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text;
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
