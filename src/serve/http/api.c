#include "api.h"

#include <core/json.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const char type_json[] = "application/json; charset=utf-8", type_html[] = "text/html; charset=utf-8",
                  type_metrics[] = "text/plain; version=0.0.4; charset=utf-8";

/* ---- replies ---- */

static th_reply reply_text(unsigned status, const char *type, char *text)
{
    return (th_reply){.status = status, .type = type, .body = text, .size = text ? strlen(text) : 0};
}

th_reply th_reply_json(unsigned status, json_t *json)
{
    char *text = th_json_line(json, 9);
    json_decref(json);
    return reply_text(status, type_json, text);
}

th_reply th_reply_error(unsigned status, const char *code, const char *message)
{
    assert(status >= 400 && status < 600);
    return th_reply_json(status, json_pack("{s:{s:s, s:o}}", "error", "code", code, "message", th_json_text(message)));
}

static th_reply reply_copy(const char *type, const unsigned char *bytes, size_t size)
{
    char *copy = malloc(size);
    if (copy)
        memcpy(copy, bytes, size);
    return (th_reply){.status = 200, .type = type, .body = copy, .size = size};
}

/* ---- what is asked for ---- */

static th_reply get_health(th_server_state *s, const th_request *r)
{
    (void)s, (void)r;
    return reply_text(200, "text/plain; charset=utf-8", strdup("ok\n"));
}

static th_reply get_metrics(th_server_state *s, const th_request *r)
{
    (void)r;
    th_reply reply = {.status = 200, .type = type_metrics};
    reply.body = th_metrics_text(s, &reply.size);
    return reply;
}

/* The page contains a placeholder nonce of the same length; each reply replaces it with its own. */
static th_reply get_page(th_server_state *s, const th_request *r)
{
    static const char placeholder[] = "NONCENONCENONCENONCENONCENONCENO";
    _Static_assert(sizeof placeholder == TH_NONCE_LENGTH + 1, "replaced where it stands");
    (void)s, (void)r;
    th_reply reply = reply_copy(type_html, th_embedded_page, th_embedded_page_size);
    unsigned char bytes[TH_NONCE_LENGTH / 2];
    if (!reply.body || getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return reply;
    for (size_t b = 0; b < sizeof bytes; b++)
        snprintf(reply.nonce + 2 * b, 3, "%02x", bytes[b]);
    char *at = reply.body, *end = reply.body + reply.size;
    while ((at = memmem(at, (size_t)(end - at), placeholder, TH_NONCE_LENGTH)))
        memcpy(at, reply.nonce, TH_NONCE_LENGTH);
    return reply;
}

static th_reply get_openapi(th_server_state *s, const th_request *r)
{
    (void)s, (void)r;
    return reply_copy(type_json, th_embedded_openapi, th_embedded_openapi_size);
}

static json_t *machine_json(th_server_state *s)
{
    return th_context_json(&s->machine);
}

static json_t *models_json(th_server_state *s)
{
    return json_pack("{s:o, s:o}", "available", th_model_registry_json(&s->registry), "playing",
                     th_controller_models_json(s->controller));
}

static json_t *settings_json(th_server_state *s)
{
    const th_controller_state c = th_controller_read(s->controller);
    return th_settings_json(&c.settings);
}

static json_t *runs_json(th_server_state *s)
{
    return json_pack("{s:o}", "runs", th_run_manager_runs_json(s->run_manager));
}

/* Leaves *value unchanged if the query does not name it. */
static bool read_whole(const char *text, unsigned least, unsigned most, unsigned *value)
{
    if (!text)
        return true;
    const size_t digits = strspn(text, "0123456789");
    if (digits > 4 || text[digits] != '\0')
        return false;
    *value = (unsigned)strtoul(text, NULL, 10);
    return *value >= least && *value <= most;
}

static th_reply get_history(th_server_state *s, const th_request *r)
{
    unsigned seconds = 300;
    if (!read_whole(r->seconds, 1, TH_TIME_SERIES_SECONDS, &seconds))
        return th_reply_error(400, "bad_query", "seconds is a whole number from 1 to 3600");
    return th_reply_json(200, th_history_json(s, seconds));
}

static const char *const scenes[] = {"grid", "ring", "street", "plaza", "stadium"}; /* as --scene of throng render */
_Static_assert(sizeof scenes / sizeof *scenes == TH_LAYOUT_COUNT, "a name for each");

static th_reply get_picture(th_server_state *s, const th_request *r)
{
    th_error err;
    unsigned width = 640, height = 360, scene = 0;
    th_reply reply = {.status = 200, .type = "image/png", .release = th_snapshot_release};
    if (!read_whole(r->width, TH_SNAPSHOT_MIN_SIDE, TH_SNAPSHOT_MAX_WIDTH, &width) ||
        !read_whole(r->height, TH_SNAPSHOT_MIN_SIDE, TH_SNAPSHOT_MAX_HEIGHT, &height))
        return th_reply_error(400, "bad_query", "width and height are whole numbers from 16 to 1280 and to 720");
    while (r->scene && scene < TH_LAYOUT_COUNT && strcmp(r->scene, scenes[scene]) != 0)
        scene++;
    if (scene == TH_LAYOUT_COUNT)
        return th_reply_error(400, "bad_query", "scene is grid, ring, street, plaza or stadium");
    if (th_controller_read(s->controller).held)
        return th_reply_error(503, "no_picture", "a measuring run is using the CPUs");
    const th_snapshot_view view = {width, height, (th_layout_kind)scene};
    switch (th_snapshot_service_request(s->snapshots, &view, &reply.body, &reply.size, &err)) {
    case TH_SNAPSHOT_READY:
        return reply;
    case TH_SNAPSHOT_PENDING:
        return (th_reply){.status = 0};
    default:
        return th_reply_error(503, "no_picture", err.text);
    }
}

/* ---- what is changed ---- */

static json_t *read_body(const th_request *r, th_reply *out_error)
{
    json_error_t error;
    char message[256];
    json_t *json = json_loadb(r->body, r->size, JSON_REJECT_DUPLICATES, &error);
    if (!json) {
        snprintf(message, sizeof message, "the body is no JSON: line %d: %.160s", error.line, error.text);
        *out_error = th_reply_error(400, "bad_json", message);
    }
    return json;
}

static th_reply patch_settings(th_server_state *s, const th_request *r)
{
    th_error err;
    th_reply reply;
    char path[PATH_MAX];
    int folder;
    json_t *patch = read_body(r, &reply);
    if (!patch)
        return reply;
    th_settings requested = th_controller_read(s->controller).requested;
    th_result result = th_settings_patch(&requested, patch, &s->limits, &err);
    /* Where none are named: the files of the current models may be gone. */
    const bool names_models = json_object_get(patch, "models") != NULL;
    json_decref(patch);
    for (uint32_t m = 0; result == TH_OK && names_models && m < requested.model_count; m++) {
        result = th_model_registry_find(&s->registry, requested.models[m], path, &folder, &err);
        if (folder >= 0)
            close(folder);
    }
    if (result != TH_OK)
        return th_reply_error(400, result == TH_ERR_LIMIT ? "beyond_limit" : "bad_settings", err.text);
    const bool reconfiguring = th_controller_request(s->controller, &requested);
    return th_reply_json(reconfiguring ? 202 : 200, th_settings_json(&requested));
}

static th_reply post_run(th_server_state *s, const th_request *r)
{
    th_error err;
    th_reply reply;
    uint32_t id = 0;
    json_t *request = read_body(r, &reply);
    if (!request)
        return reply;
    const th_run_start_status answer = th_run_manager_start(s->run_manager, request, &id, &err);
    json_decref(request);
    if (answer == TH_RUN_BUSY)
        return th_reply_error(409, "busy", err.text);
    if (answer == TH_RUN_REJECTED && (err.code == TH_ERR_MEMORY || err.code == TH_ERR_ENVIRONMENT))
        return th_reply_error(503, "cannot_start", err.text);
    if (answer == TH_RUN_REJECTED)
        return th_reply_error(400, "bad_run", err.text);
    return th_reply_json(202, th_run_manager_run_json(s->run_manager, id));
}

static th_reply get_run(th_server_state *s, const th_request *r)
{
    json_t *run = th_run_manager_run_json(s->run_manager, r->id);
    return json_is_null(run) ? th_reply_error(404, "no_run", "there is no such run, or it is no longer kept")
                             : th_reply_json(200, run);
}

static th_reply delete_run(th_server_state *s, const th_request *r)
{
    const bool is_cancelled = th_run_manager_cancel(s->run_manager, r->id);
    th_reply reply = get_run(s, r);
    if (reply.status != 200)
        return reply;
    reply.status = 202;
    if (is_cancelled)
        return reply;
    free(reply.body);
    return th_reply_error(409, "run_ended", "this run has ended");
}

static th_reply get_run_file(th_server_state *s, uint32_t id, th_run_file which, th_reply reply, const char *code)
{
    reply.status = 200;
    reply.body = th_run_manager_read(s->run_manager, id, which, &reply.size);
    if (reply.body)
        return reply;
    return reply.size > 0 ? th_reply_error(503, "too_few_resources", "no memory or descriptor is left for this")
                          : th_reply_error(404, code, "this run has none, or none yet");
}

static th_reply get_result(th_server_state *s, const th_request *r)
{
    return get_run_file(s, r->id, TH_RUN_RESULT, (th_reply){.type = type_json}, "no_result");
}

static th_reply get_report(th_server_state *s, const th_request *r)
{
    return get_run_file(s, r->id, TH_RUN_REPORT, (th_reply){.type = type_html, .is_report = true}, "no_report");
}

/* ---- the table ---- */

const th_route th_route_table[] = {
    {"GET", "/", {.open = true}, get_page, NULL, false},
    {"GET", "/healthz", {.open = true}, get_health, NULL, false},
    {"GET", "/api/openapi.json", {.open = true}, get_openapi, NULL, false},
    {"GET", "/metrics", {0}, get_metrics, NULL, false},
    {"GET", "/api/state", {0}, NULL, th_state_json, false},
    {"GET", "/api/events", {0}, NULL, NULL, false},
    {"GET", "/api/history", {0}, get_history, NULL, false},
    {"GET", "/api/machine", {0}, NULL, machine_json, false},
    {"GET", "/api/models", {0}, NULL, models_json, true},
    {"GET", "/api/picture.png", {0}, get_picture, NULL, false},
    {"GET", "/api/settings", {0}, NULL, settings_json, false},
    {"PATCH", "/api/settings", {.has_body = true}, patch_settings, NULL, false},
    {"GET", "/api/runs", {0}, NULL, runs_json, false},
    {"POST", "/api/runs", {.has_body = true}, post_run, NULL, false},
    {"GET", "/api/runs/{id}", {0}, get_run, NULL, false},
    {"DELETE", "/api/runs/{id}", {0}, delete_run, NULL, false},
    {"GET", "/api/runs/{id}/result", {0}, get_result, NULL, true},
    {"GET", "/api/runs/{id}/report", {0}, get_report, NULL, true},
    {0},
};

/* Compares path with pattern. {id} matches a number of up to nine digits. */
static bool matches(const char *pattern, const char *path, uint32_t *out_id)
{
    const char *hole = strstr(pattern, "{id}");
    if (!hole)
        return strcmp(pattern, path) == 0;
    const size_t before = (size_t)(hole - pattern);
    if (strncmp(pattern, path, before) != 0)
        return false;
    const char *number = path + before;
    const size_t digits = strspn(number, "0123456789");
    if (digits < 1 || digits > 9 || number[0] == '0' || strcmp(number + digits, hole + 4) != 0)
        return false;
    *out_id = (uint32_t)strtoul(number, NULL, 10);
    return true;
}

const th_route *th_route_find(const char *method, const char *path, uint32_t *out_id, th_methods *out_allow)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    out_allow->text[0] = '\0';
    for (const th_route *r = th_route_table; r->method; r++) {
        if (!matches(r->path, path, out_id))
            continue;
        if (strcmp(r->method, wanted) == 0)
            return r;
        const size_t used = strlen(out_allow->text);
        snprintf(out_allow->text + used, sizeof out_allow->text - used, "%s%s", used ? ", " : "",
                 strcmp(r->method, "GET") == 0 ? "GET, HEAD" : r->method);
    }
    return NULL;
}
