#include <bench/page.h>

#include "page_embedded.h"

#include <core/text_format.h>

#include <assert.h>
#include <string.h>

const char th_page_script[] = TH_PAGE_SCRIPT;

static void write_as_it_is(const char *text, FILE *file)
{
    fputs(text, file);
}

/* In JSON '<' is only in strings, where an escape stands for it: nothing in them can end or comment out the element. */
static void write_json(const char *json, FILE *file)
{
    for (; *json; json++)
        if (*json == '<')
            fputs("\\u003c", file);
        else
            fputc(*json, file);
}

bool th_page_write(const char *title, const char *command, const char *report, const char *json, FILE *file)
{
    assert(title && command && report && json && file);
    const struct {
        const char *place, *text;
        void (*write)(const char *text, FILE *file);
    } parts[] = {
        {"@TITLE@", title, th_html_escape},     {"@TITLE@", title, th_html_escape},
        {"@COMMAND@", command, th_html_escape}, {"@REPORT@", report, write_as_it_is},
        {"\"@RESULT@\"", json, write_json},
    };
    const char *at = (const char *)th_embedded_report_page, *const end = at + th_embedded_report_page_size;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *place = memmem(at, (size_t)(end - at), parts[i].place, strlen(parts[i].place));
        assert(place);
        fwrite(at, 1, (size_t)(place - at), file);
        parts[i].write(parts[i].text, file);
        at = place + strlen(parts[i].place);
    }
    fwrite(at, 1, (size_t)(end - at), file);
    return !ferror(file);
}
