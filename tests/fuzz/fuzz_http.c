/* Inside, since libmicrohttpd would refuse most of these bytes first. What of a request is ours, behind
 * libmicrohttpd: a line each for method, path and the headers that count (empty: not there), then the body. */
#include "src/serve/http/api.h"
#include "src/serve/runs/run_manager.h"

#include "fuzz.h"

#include <serve/settings.h>

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static void read_settings(const json_t *json)
{
    static const th_limits limits = {.max_count = 1000, .max_threads = 8, .max_memory_bytes = 1 << 30};
    static th_settings settings;
    th_error err;
    settings = (th_settings){.count = 1, .threads = 1};
    if (th_settings_patch(&settings, json, &limits, &err) == TH_OK)
        json_decref(th_settings_json(&settings));
}

static void read_run(const json_t *json)
{
    static const char *const kinds[] = {"bench", "scale", "stress", NULL};
    static const th_model_registry human = {.files = {"human"}, .file_count = 1};
    static const th_run_manager_desc manager = {.kinds = kinds, .registry = &human, .limits = {1000, 8, 1 << 30}};
    th_error err;
    th_run_folders none = {.count = 0};
    th_arena *arena = th_arena_create();
    th_run_arguments(&manager, json, arena, &none, &err);
    th_arena_destroy(arena);
}

static void read_body(const char *body, size_t size)
{
    json_t *json = json_loadb(body, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    if (!json)
        return;
    read_settings(json);
    read_run(json);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = 0x0100007f};
    static th_request_filter filter = {.hosts = {"throng.example"},
                                       .host_count = 1,
                                       .listen = (const void *)&loopback,
                                       .token.text = "0123456789abcdef"};
    th_request_headers headers = {.method = "", .path = ""};
    const char **members[] = {&headers.method,       &headers.path,           &headers.host,
                              &headers.origin,       &headers.fetch_site,     &headers.authorization,
                              &headers.content_type, &headers.content_length, &headers.transfer_encoding};
    char *text = malloc(size + 1), *rest = text;
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t m = 0; m < sizeof members / sizeof *members && rest; m++) {
        const char *line = strsep(&rest, "\n");
        if (line[0] || m < 2)
            *members[m] = line;
    }
    th_rejection rejection;
    th_methods allow;
    uint32_t id;
    const th_route *route = th_route_find(headers.method, headers.path, &id, &allow);
    if (th_request_filter_check_headers(&filter, &headers, &rejection) && route)
        th_request_filter_check_access(&filter, &headers, route->access, &rejection);
    if (rest)
        read_body(rest, size - (size_t)(rest - text));
    free(text);
    return 0;
}
