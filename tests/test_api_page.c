/* The page of the API has all that the document has. */
#include "fixture_page.h"
#include "src/serve/http/api_page.h"
#include "src/serve/http/embedded.h"

#include <criterion/criterion.h>
#include <jansson.h>

#include <ctype.h>
#include <string.h>

static json_t *document;
static web_page page;

static void open_page(void)
{
    document = json_loadb((const char *)th_embedded_openapi, th_embedded_openapi_size, 0, NULL);
    page = page_begin();
    cr_assert(th_api_page_write((const char *)th_embedded_openapi, th_embedded_openapi_size, "0123abcd", page.file));
    page_read(&page);
}

static void close_page(void)
{
    page_free(&page);
    json_decref(document);
}

TestSuite(api_page, .init = open_page, .fini = close_page);

static const char *text_of(json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* How many nodes there are below the section with this id. */
__attribute__((format(printf, 2, 3))) static int in_section(const char *id, const char *format, ...)
{
    char path[512];
    int length = snprintf(path, sizeof path, "//h:section[@id='%s']", id);
    va_list args;
    va_start(args, format);
    vsnprintf(path + length, sizeof path - (size_t)length, format, args);
    va_end(args);
    return page_count(&page, path);
}

Test(api_page, has_each_operation_with_what_it_takes_and_answers)
{
    const char *path, *method, *status;
    json_t *methods, *operation, *answer, *parameter;
    size_t p;
    json_object_foreach(json_object_get(document, "paths"), path, methods)
        json_object_foreach(methods, method, operation)
    {
        if (!json_is_object(operation))
            continue;
        const char *id = text_of(operation, "operationId");
        char title[128];
        snprintf(title, sizeof title, "%s %s", method, path);
        for (char *c = title; *c != ' '; c++)
            *c = (char)toupper((unsigned char)*c);
        cr_expect_eq(in_section(id, "/h:h2[.='%s']", title), 1, "%s", title);
        cr_expect_eq(in_section(id, "/h:p[.=\"%s.\"]", text_of(operation, "summary")), 1, "%s", title);
        cr_expect_eq(in_section(id, "[contains(., 'needs no token')]"), json_object_get(operation, "security") != NULL);
        json_array_foreach(json_object_get(operation, "parameters"), p, parameter)
            cr_expect_eq(in_section(id, "//h:td[.='%s']", text_of(parameter, "name")), 1, "%s", title);
        cr_expect_eq(in_section(id, "//h:td[.='id']"), strstr(path, "{id}") != NULL, "%s", title);
        json_object_foreach(json_object_get(operation, "responses"), status, answer) cr_expect_eq(
            in_section(id, "//h:tr/h:td[1][contains(., '%s')]", strcmp(status, "default") == 0 ? "others" : status), 1,
            "%s: %s", title, status);
    }
    cr_expect_eq(in_section("patchSettings", "/h:p[starts-with(., 'Body: ')]/h:a[@href='#SettingsPatch']"), 1);
    cr_expect_eq(in_section("getState", "//h:td/h:a[@href='#State']"), 1);
}

Test(api_page, has_each_schema_with_its_fields)
{
    const char *name, *field;
    json_t *schema, *inner;
    json_object_foreach(json_object_get(json_object_get(document, "components"), "schemas"), name, schema)
    {
        cr_expect_eq(in_section(name, "/h:h2[.='%s']", name), 1, "%s", name);
        json_object_foreach(json_object_get(schema, "properties"), field, inner)
            cr_expect_eq(in_section(name, "//h:td[.='%s']", field), 1, "%s.%s", name, field);
    }
    cr_expect_eq(in_section("State", "//h:tr[h:td[1]='ticks.last_minute.missed_share'][h:td[2]='yes']"), 1);
    cr_expect_eq(in_section("Models", "//h:tr[h:td[1]='playing[].clips[].seconds'][h:td[3]='number']"), 1);
    cr_expect_eq(in_section("SettingsPatch", "//h:tr[h:td[1]='count'][h:td[2]=''][h:td[3]='integer, 1 or more']"), 1);
    cr_expect_eq(in_section("SettingsPatch", "//h:td[.='array of string, 1 to 8 items']"), 1);
    cr_expect_eq(in_section("getHistory", "//h:td[.='integer, 1 to 3600, default 300']"), 1);
}

Test(api_page, links_lead_somewhere_and_nothing_is_fetched)
{
    cr_expect_eq(page_count(&page, "//h:a[starts-with(@href, '#')][not(substring(@href, 2) = //@id)]"), 0, "%s",
                 page_text(&page, "//h:a[starts-with(@href, '#')][not(substring(@href, 2) = //@id)]/@href"));
    cr_expect_gt(page_count(&page, "//h:a[starts-with(@href, '#')]"), 50);
    cr_expect_eq(page_count(&page, "//h:script | //@src | //@style | //h:link[not(starts-with(@href, 'data:'))]"), 0);
    cr_expect_eq(page_count(&page, "//h:style"), 1);
    cr_expect_eq(page_count(&page, "//h:style[@nonce='0123abcd']"), 1);
    cr_expect_eq(page_count(&page, "//h:a[contains(@href, '{')]"), 0);
}

Test(api_page, no_json_is_no_page)
{
    char out[64];
    FILE *file = fmemopen(out, sizeof out, "w");
    cr_expect_not(th_api_page_write("{", 1, "", file));
    fclose(file);
}
