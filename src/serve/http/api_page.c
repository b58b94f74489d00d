#include "api_page.h"

#include <throng/core/text_format.h>

#include <assert.h>
#include <ctype.h>
#include <jansson.h>
#include <string.h>

static const char css[] =
    ":root { color-scheme: light dark; --ground: #f6f7f9; --sheet: #fff; --ink: #1b1f24; --soft: #57606a;\n"
    "    --line: #d0d7de; --blue: #0b63c4; font: 15px/1.45 system-ui, sans-serif; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ground: #0f1216; --sheet: #171b21; --ink: #e6e9ed;\n"
    "    --soft: #9da7b3; --line: #39424e; --blue: #6cb2ff; } }\n"
    "body { max-width: 62rem; margin: 0 auto; padding: 0.75rem 1rem; background: var(--ground); color: var(--ink); }\n"
    "section { background: var(--sheet); border: 1px solid var(--line); border-radius: 6px; padding: 0.8rem 1rem;\n"
    "    margin: 0.9rem 0; overflow-x: auto; }\n"
    "h1 { font-size: 1.35rem; } h2 { font-size: 1.05rem; margin: 0; } h3 { font-size: 1rem; margin: 0.8rem 0 0; }\n"
    "p { margin: 0.4rem 0; } a { color: var(--blue); } th, .soft { color: var(--soft); font-weight: normal; }\n"
    "table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top;\n"
    "    padding: 0.2rem 1rem 0.2rem 0; border-bottom: 1px solid var(--line); }\n";

static const char schemas[] = "#/components/schemas/";

static const char *text_of(json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* ---- types ---- */

static void write_number(json_t *number, FILE *f)
{
    if (json_is_boolean(number))
        fputs(json_is_true(number) ? "true" : "false", f);
    else
        fprintf(f, "%.15g", json_number_value(number));
}

static void write_range(json_t *least, json_t *most, const char *unit, FILE *f)
{
    if (!least && !most)
        return;
    fputs(", ", f);
    if (least)
        write_number(least, f);
    fputs(!least ? "at most " : most ? " to " : " or more", f);
    if (most)
        write_number(most, f);
    fputs(unit, f);
}

static void write_limits(json_t *schema, FILE *f)
{
    json_t *fallback = json_object_get(schema, "default");
    write_range(json_object_get(schema, "minimum"), json_object_get(schema, "maximum"), "", f);
    write_range(json_object_get(schema, "minItems"), json_object_get(schema, "maxItems"), " items", f);
    write_range(NULL, json_object_get(schema, "maxProperties"), " fields", f);
    if (fallback) {
        fputs(", default ", f);
        write_number(fallback, f);
    }
}

static void write_type(json_t *schema, FILE *f);

/* Schemas, names of types or values, with a word between them. */
static void write_list(json_t *items, const char *between, FILE *f)
{
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item)
    {
        fputs(i ? between : "", f);
        if (json_is_object(item))
            write_type(item, f);
        else
            th_html_escape(json_is_null(item) ? "null" : json_string_value(item), f);
    }
}

static void write_reference(const char *path, FILE *f)
{
    assert(strncmp(path, schemas, strlen(schemas)) == 0);
    fputs("<a href=\"#", f);
    th_html_escape(path + strlen(schemas), f);
    fputs("\">", f);
    th_html_escape(path + strlen(schemas), f);
    fputs("</a>", f);
}

static void write_type(json_t *schema, FILE *f)
{
    json_t *type = json_object_get(schema, "type"), *values = json_object_get(schema, "enum");
    json_t *items = json_object_get(schema, "items"), *more = json_object_get(schema, "additionalProperties");
    if (json_object_get(schema, "$ref"))
        write_reference(text_of(schema, "$ref"), f);
    write_list(json_object_get(schema, "oneOf"), " or ", f);
    write_list(json_object_get(schema, "allOf"), " and ", f);
    if (values)
        write_list(values, ", ", f);
    else if (json_is_array(type))
        write_list(type, " or ", f);
    else
        th_html_escape(text_of(schema, "type"), f);
    if (items || json_is_object(more)) {
        fputs(" of ", f);
        write_type(items ? items : more, f);
    }
    write_limits(schema, f);
}

/* ---- fields ---- */

static bool is_required(json_t *object, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(object, "required"), i,
                       item) if (strcmp(json_string_value(item), name) == 0) return true;
    return false;
}

static void write_row(const char *name, bool required, json_t *schema, const char *description, FILE *f)
{
    fputs("<tr><td><code>", f);
    th_html_escape(name, f);
    fprintf(f, "</code></td><td>%s</td><td>", required ? "yes" : "");
    write_type(schema, f);
    fputs("</td><td>", f);
    th_html_escape(description, f);
    fputs("</td></tr>\n", f);
}

static void begin_table(FILE *f)
{
    fputs("<table>\n<tr><th>name</th><th>required</th><th>type</th><th>meaning</th></tr>\n", f);
}

/* The fields of an object, and those of the objects in it: "ticks.last_minute.p50_s", "playing[].clips[].name". */
static void write_fields(json_t *object, const char *prefix, FILE *f)
{
    const char *key;
    json_t *field;
    json_object_foreach(json_object_get(object, "properties"), key, field)
    {
        char name[160];
        snprintf(name, sizeof name, "%s%s", prefix, key);
        write_row(name, is_required(object, key), field, text_of(field, "description"), f);
        th_append(name, sizeof name, ".");
        write_fields(field, name, f);
        name[strlen(name) - 1] = '\0';
        th_append(name, sizeof name, "[].");
        write_fields(json_object_get(field, "items"), name, f);
    }
}

static void write_schema(const char *name, json_t *schema, FILE *f)
{
    fputs("<section tabindex=\"0\" id=\"", f);
    th_html_escape(name, f);
    fputs("\"><h2>", f);
    th_html_escape(name, f);
    fputs("</h2>\n<p>", f);
    write_type(schema, f);
    fputs("</p>\n", f);
    if (json_object_get(schema, "allOf") && json_object_get(schema, "required")) {
        fputs("<p>Required: ", f);
        write_list(json_object_get(schema, "required"), ", ", f);
        fputs("</p>\n", f);
    }
    if (json_object_get(schema, "properties")) {
        begin_table(f);
        write_fields(schema, "", f);
        fputs("</table>\n", f);
    }
    fputs("</section>\n", f);
}

/* ---- operations ---- */

static json_t *resolve(json_t *document, json_t *item)
{
    const char *path = text_of(item, "$ref");
    if (path[0] == '\0')
        return item;
    char step[64];
    for (path += strlen("#/"); document && *path; path += strcspn(path, "/"), path += *path == '/') {
        snprintf(step, sizeof step, "%.*s", (int)strcspn(path, "/"), path);
        document = json_object_get(document, step);
    }
    return document;
}

static void write_parameters(json_t *document, json_t *parameters, FILE *f)
{
    size_t i;
    json_t *item;
    json_array_foreach(parameters, i, item)
    {
        json_t *p = resolve(document, item);
        char where[64];
        snprintf(where, sizeof where, "in the %s", text_of(p, "in"));
        write_row(text_of(p, "name"), json_is_true(json_object_get(p, "required")), json_object_get(p, "schema"), where,
                  f);
    }
}

/* ": application/json, State", of a body. */
static void write_content(json_t *content, FILE *f)
{
    const char *type;
    json_t *body;
    json_object_foreach(content, type, body)
    {
        fputs("<code>", f);
        th_html_escape(type, f);
        fputs("</code>", f);
        if (json_object_get(body, "schema")) {
            fputs(", ", f);
            write_type(json_object_get(body, "schema"), f);
        }
    }
}

/* Answers with a body of their own have a row each; the statuses of errors, which are all alike, share one. */
static void write_responses(json_t *responses, FILE *f)
{
    const char *status;
    json_t *response;
    fputs("<h3>Answers</h3>\n<table>\n", f);
    json_object_foreach(responses, status, response)
    {
        if (json_object_get(response, "$ref"))
            continue;
        fprintf(f, "<tr><td>%s</td><td>", status);
        write_content(json_object_get(response, "content"), f);
        fputs("</td><td>", f);
        th_html_escape(text_of(response, "description"), f);
        fputs("</td></tr>\n", f);
    }
    fputs("<tr><td>", f);
    const char *between = "";
    json_object_foreach(responses, status, response) if (json_object_get(response, "$ref"))
    {
        fprintf(f, "%s%s", between, strcmp(status, "default") == 0 ? "others" : status);
        between = ", ";
    }
    fputs("</td><td><a href=\"#errors\">errors</a></td><td></td></tr>\n</table>\n", f);
}

static void write_method(const char *method, FILE *f)
{
    for (const char *c = method; *c; c++)
        fputc(toupper((unsigned char)*c), f);
}

static void write_head(const char *path, const char *method, json_t *operation, FILE *f)
{
    const bool can_follow = strcmp(method, "get") == 0 && !strchr(path, '{');
    fputs("<section tabindex=\"0\" id=\"", f);
    th_html_escape(text_of(operation, "operationId"), f);
    fputs("\"><h2>", f);
    write_method(method, f);
    fputs(can_follow ? " <a href=\"" : " <code>", f);
    th_html_escape(path, f);
    if (can_follow) {
        fputs("\"><code>", f);
        th_html_escape(path, f);
    }
    fprintf(f, "</code>%s</h2>\n<p>", can_follow ? "</a>" : "");
    th_html_escape(text_of(operation, "summary"), f);
    fputs(".</p>\n<p class=\"soft\"><code>", f);
    th_html_escape(text_of(operation, "operationId"), f);
    fprintf(f, "</code>%s</p>\n", json_object_get(operation, "security") ? ", needs no token" : "");
}

static void write_operation(json_t *document, const char *path, const char *method, json_t *operation, FILE *f)
{
    json_t *shared = json_object_get(json_object_get(json_object_get(document, "paths"), path), "parameters");
    json_t *own = json_object_get(operation, "parameters"), *body = json_object_get(operation, "requestBody");
    write_head(path, method, operation, f);
    if (shared || own) {
        begin_table(f);
        write_parameters(document, shared, f);
        write_parameters(document, own, f);
        fputs("</table>\n", f);
    }
    if (body) {
        fputs("<p>Body: ", f);
        write_content(json_object_get(body, "content"), f);
        fputs("</p>\n", f);
    }
    write_responses(json_object_get(operation, "responses"), f);
    fputs("</section>\n", f);
}

/* ---- the page ---- */

static void write_top(json_t *document, const char *nonce, FILE *f)
{
    json_t *info = json_object_get(document, "info");
    fputs(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>"
        "\n<meta name=\"viewport\" content=\"width=device-width\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n<title>",
        f);
    th_html_escape(text_of(info, "title"), f);
    fprintf(f, ": API</title>\n<style nonce=\"%s\">\n%s</style>\n</head>\n<body>\n<main>\n<h1>", nonce, css);
    th_html_escape(text_of(info, "title"), f);
    fputs(": API</h1>\n<p>", f);
    th_html_escape(text_of(info, "description"), f);
    fputs("</p>\n<p><a href=\"/\">The crowd</a> · <a href=\"/api/openapi.json\">OpenAPI ", f);
    th_html_escape(text_of(document, "openapi"), f);
    fputs("</a></p>\n", f);
}

typedef void operation_writer(json_t *document, const char *path, const char *method, json_t *operation, FILE *f);

static void for_operations(json_t *document, operation_writer *write, FILE *f)
{
    const char *path, *method;
    json_t *methods, *operation;
    json_object_foreach(json_object_get(document, "paths"), path, methods)
        json_object_foreach(methods, method, operation) if (json_is_object(operation))
            write(document, path, method, operation, f);
}

static void write_index_row(json_t *document, const char *path, const char *method, json_t *operation, FILE *f)
{
    (void)document;
    fputs("<tr><td>", f);
    write_method(method, f);
    fputs("</td><td><a href=\"#", f);
    th_html_escape(text_of(operation, "operationId"), f);
    fputs("\"><code>", f);
    th_html_escape(path, f);
    fputs("</code></a></td><td>", f);
    th_html_escape(text_of(operation, "summary"), f);
    fputs("</td></tr>\n", f);
}

static void write_components(json_t *components, FILE *f)
{
    const char *name;
    json_t *schema;
    json_t *error = json_object_get(json_object_get(components, "responses"), "Error");
    fputs("<section tabindex=\"0\" id=\"errors\"><h2>Errors</h2>\n<p>", f);
    write_content(json_object_get(error, "content"), f);
    fputs("</p>\n<p>", f);
    th_html_escape(text_of(error, "description"), f);
    fputs("</p>\n</section>\n", f);
    json_object_foreach(json_object_get(components, "schemas"), name, schema) write_schema(name, schema, f);
}

bool th_api_page_write(const char *text, size_t size, const char *nonce, FILE *file)
{
    json_t *document = json_loadb(text, size, 0, NULL);
    if (!document)
        return false;
    write_top(document, nonce, file);
    fputs("<section>\n<table>\n", file);
    for_operations(document, write_index_row, file);
    fputs("</table>\n</section>\n", file);
    for_operations(document, write_operation, file);
    write_components(json_object_get(document, "components"), file);
    fputs("</main>\n</body>\n</html>\n", file);
    json_decref(document);
    return !ferror(file);
}
