/* Inside, since a server for each document would be slow. What clients send: settings, runs, names and paths. */
#include "src/serve/http/api.h"

#include <cli/options.h>

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const th_limits limits = {1000, 4, 1 << 30};
static th_error err;

static th_settings first_settings(void)
{
    return (th_settings){.count = 10, .threads = 1, .rate_hz = 60, .models = {"human"}, .model_count = 1};
}

static th_result patch(th_settings *s, const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    cr_assert(json, "%s", text);
    const th_result result = th_settings_patch(s, json, &limits, &err);
    json_decref(json);
    return result;
}

static void expect_json(json_t *json, const char *wanted)
{
    char *text = json_dumps(json, JSON_COMPACT);
    cr_expect_str_eq(text, wanted);
    free(text);
    json_decref(json);
}

Test(settings, a_patch_changes_what_it_names)
{
    th_settings s = first_settings();
    cr_expect_eq(patch(&s, "{\"count\": 1000, \"rate_hz\": 0, \"paused\": true, \"models\": [\"a\", \"b\"],"
                           " \"clips\": {\"walk\": 3, \"run\": 0.5, \"sit\": 0}, \"interpolation\": \"slerp\","
                           " \"behaviour\": \"fade\", \"pace\": 2.5}"),
                 TH_OK);
    cr_expect(s.count == 1000 && s.paused && s.behaviour == TH_BEHAVIOUR_FADE && s.clips[1].weight == 0.5);
    expect_json(
        th_settings_json(&s),
        "{\"count\":1000,\"threads\":1,\"rate_hz\":0.0,\"paused\":true,\"models\":[\"a\",\"b\"],"
        "\"clips\":{\"walk\":3.0,\"run\":0.5},\"interpolation\":\"slerp\",\"behaviour\":\"fade\",\"pace\":2.5}");
    cr_expect_eq(patch(&s, "{\"clips\": {}}"), TH_OK);
    cr_expect_eq(s.clip_count, 0);
    /* What is refused: tests/golden/documents/requests.txt, but for what the machine limits. */
    cr_expect_eq(patch(&s, "{\"count\": 20, \"threads\": 5}"), TH_ERR_LIMIT);
    cr_expect_eq(patch(&s, "{\"threads\": 0}"), TH_ERR_INPUT);
    cr_expect(s.count == 1000 && s.threads == 1);
}

Test(settings, as_json_they_are_their_own_patch)
{
    th_settings s = first_settings(), copy = first_settings();
    cr_expect_eq(patch(&s, "{\"count\": 77, \"clips\": {\"walk\": 3, \"run\": 0.5}, \"rate_hz\": 33.5,"
                           " \"behaviour\": \"graph\", \"pace\": 0.5}"),
                 TH_OK);
    json_t *json = th_settings_json(&s);
    cr_expect_eq(th_settings_patch(&copy, json, &limits, &err), TH_OK);
    cr_expect(th_settings_same_crowd(&s, &copy));
    cr_expect_eq(copy.rate_hz, 33.5);
    cr_expect_eq(copy.behaviour, TH_BEHAVIOUR_GRAPH);
    cr_expect_eq(copy.pace, 0.5);
    json_decref(json);
    static const struct {
        const char *patch;
        bool same_crowd, same_blend;
    } cases[] = {
        {"{\"clips\": {\"walk\": 3, \"run\": 1}}", false, false},
        {"{\"count\": 78}", false, true},
        {"{\"threads\": 2}", false, true},
        {"{\"interpolation\": \"step\"}", false, true},
        {"{\"models\": [\"xuman\"]}", false, true},
        {"{\"behaviour\": \"none\"}", false, true},
        {"{\"rate_hz\": 1, \"paused\": true}", true, true},
        {"{\"pace\": 3}", true, false},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        copy = s;
        cr_expect_eq(patch(&copy, cases[c].patch), TH_OK);
        cr_expect_eq(th_settings_same_crowd(&s, &copy), cases[c].same_crowd, "%s", cases[c].patch);
        cr_expect_eq(th_settings_same_blend(&s, &copy), cases[c].same_blend, "%s", cases[c].patch);
    }
    /* A blend plays other clips with the same crowd. */
    cr_expect_eq(patch(&s, "{\"behaviour\": \"blend\"}"), TH_OK);
    copy = s;
    cr_expect_eq(patch(&copy, cases[0].patch), TH_OK);
    cr_expect(th_settings_same_crowd(&s, &copy) && !th_settings_same_blend(&s, &copy));
}

/* The option table has the same names, in the order of the enums. */
Test(settings, choices_are_those_of_the_command_line)
{
    static const char *const names[] = {"interpolation", "behaviour"};
    for (size_t n = 0; n < 2; n++) {
        const th_option *option = th_option_find(th_command_find("serve"), names[n], strlen(names[n]));
        for (uint32_t i = 0; option->choices[i]; i++) {
            char text[64];
            th_settings s = first_settings();
            snprintf(text, sizeof text, "{\"%s\": \"%s\"}", names[n], option->choices[i]);
            cr_expect_eq(patch(&s, text), TH_OK, "%s", text);
            cr_expect_eq(n == 0 ? (uint32_t)s.interpolation : (uint32_t)s.behaviour, i, "%s", text);
        }
    }
}

/* ---- runs ---- */

static const char *const kinds[] = {"scale", NULL};
static const th_model_registry human = {.files = {"human"}, .file_count = 1};
static th_run_manager_desc manager = {.kinds = kinds, .registry = &human, .limits = {1000, 4, 1 << 30}};

static th_run_folders folders;

static void expect_arguments(const char *request, const char *wanted)
{
    char line[512] = "";
    json_t *json = json_loads(request, JSON_DECODE_ANY, NULL);
    cr_assert(json, "%s", request);
    err.text[0] = '\0';
    th_arena *arena = th_arena_create();
    const char **words = th_run_arguments(&manager, json, arena, &folders, &err);
    for (const char **w = words; w && *w; w++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s ", *w);
    cr_expect_eq(words == NULL, wanted == NULL, "%s: %s", request, err.text);
    if (wanted)
        cr_expect_str_eq(line, wanted);
    else
        cr_expect_str_neq(err.text, "");
    th_arena_destroy(arena);
    json_decref(json);
}

Test(run_arguments, options_become_words)
{
    expect_arguments("{\"kind\": \"scale\", \"pause\": false, \"options\": {\"count\": 1000, \"threads\": \"1,2-4\","
                     " \"isa\": \"avx2\", \"seed\": 9000000000000000, \"clip\": \"a b\", \"models\": [\"human\"]}}",
                     "throng scale --json --count=1000 --threads=1,2-4 --isa=avx2 --seed=9000000000000000 --clip=a b "
                     "--model=human ");
    expect_arguments("{\"kind\": \"scale\", \"options\": {\"count\": 5, \"behaviour\": \"blend\"}}",
                     "throng scale --json --count=5 --behaviour=blend ");
    expect_arguments("{\"kind\": \"scale\", \"options\": {\"count\": 5, \"budget_ms\": 2.5}}",
                     "throng scale --json --count=5 --budget-ms=2.5 ");
    expect_arguments("{\"kind\": \"scale\", \"options\": {\"count\": \"10,100\", \"grain\": 2, \"scheduler\": "
                     "\"work-stealing,serial\","
                     " \"max_time\": 0.5}}",
                     "throng scale --json --count=10,100 --grain=2 --scheduler=work-stealing,serial --max-time=0.5 ");
    expect_arguments("{\"kind\": \"scale\", \"options\": {\"threads\": \"5\"}}", NULL);
    expect_arguments("{\"kind\": \"scale\", \"options\": {\"threads\": \"1-99\"}}", NULL);
    expect_arguments("{\"kind\": \"scale\", \"options\": {\"threads\": 2}}", NULL);
    expect_arguments("{\"kind\": \"scale\", \"options\": {\"threads\": \"1;rm\"}}", NULL);
}

Test(run_arguments, what_is_left_to_the_command_keeps_to_the_limits)
{
    static const char *const both[] = {"scale", "stress", NULL};
    manager.kinds = both;
    expect_arguments("{\"kind\": \"scale\"}", "throng scale --json --count=1000 ");
    expect_arguments("{\"kind\": \"stress\"}", "throng stress --json --max-memory=1074 ");
    manager.limits.max_count = 50000;
    expect_arguments("{\"kind\": \"scale\"}", "throng scale --json --count=10000 ");
    cr_expect_str_eq(th_option_find(th_command_find("scale"), "count", 5)->fallback, "10000");
}

/* What a request with this value of an option is told. */
static const char *refusal(const char *name, json_t *value)
{
    json_t *request = json_pack("{s:s, s:{s:o}}", "kind", "scale", "options", name, value);
    err.text[0] = '\0';
    th_arena *arena = th_arena_create();
    cr_expect_null(th_run_arguments(&manager, request, arena, &folders, &err), "%s", name);
    th_arena_destroy(arena);
    json_decref(request);
    return err.text;
}

/* Names and ranges stand in the option table, in the list of what clients may ask for, and in the description of the
 * API. */
Test(run_arguments, options_are_those_of_the_commands_as_described)
{
    json_t *doc = json_loadb((const char *)th_embedded_openapi, th_embedded_openapi_size, JSON_REJECT_DUPLICATES, NULL);
    json_t *request, *options, *property;
    const char *name;
    cr_assert_eq(json_unpack(doc, "{s:{s:{s:o}}}", "components", "schemas", "RunRequest", &request), 0);
    cr_assert_eq(json_unpack(request, "{s:{s:{s:o}}}", "properties", "options", "properties", &options), 0);
    manager.limits = (th_limits){1000000, 256, 1 << 30};
    json_object_del(options, "models");
    cr_assert_gt(json_object_size(options), 0);
    for (const th_option *o = th_option_table; o->name; o++) {
        char with_line[64];
        snprintf(with_line, sizeof with_line, "%s", o->name);
        for (char *c = with_line; *c; c++)
            *c = *c == '-' ? '_' : *c;
        if (!(o->commands & (TH_COMMAND_SCALE | TH_COMMAND_STRESS)))
            continue;
        property = json_object_get(options, with_line);
        cr_expect_eq(strncmp(refusal(with_line, json_true()), "option ", 7) == 0, property != NULL, "%s: %s", o->name,
                     err.text);
        if (property && o->high > 0 && o->parse != th_parse_thread_list)
            cr_expect(strstr(refusal(with_line, json_integer((json_int_t)o->high + 1)), "limited"), "%s: %s", o->name,
                      err.text);
        if (property)
            json_object_set_new(property, "taken", json_true());
    }
    json_object_foreach(options, name, property) cr_expect(json_object_get(property, "taken"), "%s", name);
    json_decref(doc);
}

Test(run_arguments, every_run_has_what_the_server_was_told)
{
    static const char *const fixed[] = {"animation", "a b.glb", "import-timeout", "2.5", NULL};
    manager.fixed = fixed;
    expect_arguments("{\"kind\": \"scale\", \"options\": {\"count\": 5}}",
                     "throng scale --json --count=5 --animation=a b.glb --import-timeout=2.5 ");
}

/* ---- models ---- */

static char folder[] = "/tmp/throng-models-XXXXXX";

static void enter_folder(void)
{
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
}

/* Empty files. */
static void make_files(const char *const *files, size_t count)
{
    for (size_t f = 0; f < count; f++)
        fclose(fopen(files[f], "w"));
}

static void leave_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

Test(model_registry, names_lead_to_files_of_the_folders_and_nowhere_else, .init = enter_folder, .fini = leave_folder)
{
    char path[PATH_MAX];
    int opened;
    mkdir("models", 0700);
    mkdir("models/deep.glb", 0700);
    mkdir("secret", 0700); /* as long as models: only its letters tell */
    mkdir("models-more", 0700);
    static const char *const files[] = {"models/a.glb",          "models/.hidden.glb", "secret.glb",
                                        "models/deep.glb/b.glb", "secret/b.glb",       "models-more/b.glb"};
    make_files(files, sizeof files / sizeof *files);
    cr_assert_eq(symlink("../secret.glb", "models/out.glb"), 0);
    cr_assert_eq(symlink("../secret/b.glb", "models/out1.glb"), 0);
    cr_assert_eq(symlink("../models-more/b.glb", "models/out2.glb"), 0);
    cr_assert_eq(symlink("a.glb", "models/in.glb"), 0);
    cr_assert_eq(mkfifo("models/pipe.glb", 0600), 0);
    const th_model_registry c = {
        .files = {"human", "somewhere/fox.glb"}, .file_count = 2, .folders = {"models"}, .folder_count = 1};

    static const char *const right[][2] = {
        {"human", "human"}, {"fox.glb", "somewhere/fox.glb"}, {"a.glb", "/a.glb"}, {"in.glb", "/in.glb"}};
    for (size_t r = 0; r < sizeof right / sizeof *right; r++) {
        cr_expect_eq(th_model_registry_find(&c, right[r][0], path, &opened, NULL), TH_OK);
        cr_expect(strcmp(path, right[r][1]) == 0 || (r >= 2 && strstr(path, right[r][1])), "%s", path);
        cr_expect_eq(opened >= 0, r >= 2 && access(path, R_OK) == 0);
        close(opened);
    }
    char wrong[] = "out.glb out1.glb out2.glb .hidden.glb deep.glb deep.glb/b.glb ../secret.glb secret.glb pipe.glb "
                   "/etc/passwd . .. somewhere/fox.glb";
    for (char *name = strtok(wrong, " "); name; name = strtok(NULL, " "))
        cr_expect_eq(th_model_registry_find(&c, name, path, &opened, NULL), TH_ERR_INPUT, "%s", name);
    cr_expect_eq(th_model_registry_find(&c, "", path, &opened, NULL), TH_ERR_INPUT);

    expect_json(th_model_registry_json(&c), "[\"human\",\"fox.glb\",\"a.glb\",\"in.glb\"]");
}

Test(model_registry, a_name_is_that_of_one_file, .init = enter_folder, .fini = leave_folder)
{
    th_model_registry c = {.files = {"human", "models/hero.glb", "models/hero.glb"},
                           .file_count = 3,
                           .folders = {"models", "more"},
                           .folder_count = 2};
    static const char *const files[] = {"models/hero.glb", "models/a.glb", "more/hero.glb", "more/a.glb", "more/b.glb"};
    mkdir("models", 0700);
    mkdir("more", 0700);
    make_files(files, sizeof files / sizeof *files);
    cr_expect_eq(th_model_registry_check(&c, &err), TH_OK, "the same file twice is no other");
    expect_json(th_model_registry_json(&c), "[\"human\",\"hero.glb\",\"a.glb\",\"b.glb\"]");
    c.files[2] = "more/hero.glb";
    cr_expect_eq(th_model_registry_check(&c, &err), TH_ERR_INPUT);
    cr_expect(strstr(err.text, "models/hero.glb") && strstr(err.text, "more/hero.glb"), "%s", err.text);
}

/* ---- routes ---- */

Test(routes, paths_are_matched_whole)
{
    static const struct {
        const char *method, *path, *found;
        uint32_t id;
    } cases[] = {{"GET", "/", "/", 0},
                 {"HEAD", "/metrics", "/metrics", 0},
                 {"DELETE", "/api/runs/12", "/api/runs/{id}", 12},
                 {"GET", "/api/runs/999999999/result", "/api/runs/{id}/result", 999999999}};
    th_methods allow;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint32_t id = 0;
        const th_route *r = th_route_find(cases[c].method, cases[c].path, &id, &allow);
        cr_assert(r, "%s", cases[c].path);
        cr_expect_str_eq(r->path, cases[c].found);
        cr_expect_eq(id, cases[c].id);
    }
    char wrong[] =
        "/api/ /api/runs/ /api/runs/0 /api/runs/01 /api/runs/-1 /api/runs/1/ /api/runs/1x /metrics/ //metrics "
        "/api/runs/4294967297 /api/%73tate /api/runs/../state";
    for (char *path = strtok(wrong, " "); path; path = strtok(NULL, " "))
        cr_expect_null(th_route_find("GET", path, &(uint32_t){0}, &allow), "%s", path);
    cr_expect_null(th_route_find("GET", "", &(uint32_t){0}, &allow));
    cr_expect_null(th_route_find("POST", "/metrics", &(uint32_t){0}, &allow));
    cr_expect_null(th_route_find("get", "/metrics", &(uint32_t){0}, &allow));
    th_route_find("PUT", "/api/settings", &(uint32_t){0}, &allow);
    cr_expect_str_eq(allow.text, "GET, HEAD, PATCH");
    th_route_find("PUT", "/nothing", &(uint32_t){0}, &allow);
    cr_expect_str_eq(allow.text, "");
}

Test(routes, the_description_has_each_of_them_and_no_other)
{
    json_t *doc = json_loadb((const char *)th_embedded_openapi, th_embedded_openapi_size, JSON_REJECT_DUPLICATES, NULL);
    json_t *paths = json_object_get(doc, "paths"), *path, *operation, *ids = json_object();
    const char *name, *method;
    size_t described = 0, count = 0;
    cr_assert(paths);
    for (const th_route *r = th_route_table; r->method; r++, count++) {
        char lower[16] = "";
        for (size_t i = 0; r->method[i]; i++)
            lower[i] = (char)(r->method[i] | 0x20);
        operation = json_object_get(json_object_get(paths, r->path), lower);
        cr_expect(operation, "%s %s", r->method, r->path);
        cr_expect_eq(json_is_array(json_object_get(operation, "security")), r->access.open, "%s", r->path);
        cr_expect_eq(json_object_get(operation, "requestBody") != NULL, r->access.has_body, "%s", r->path);
        const char *id = json_string_value(json_object_get(operation, "operationId"));
        cr_assert(id && id[0] && strspn(id, LETTERS) == strlen(id), "%s %s", r->method, r->path);
        cr_expect_eq(json_object_set_new(ids, id, json_null()), 0);
    }
    cr_expect_eq(json_object_size(ids), count, "generated clients need a name for each");
    json_decref(ids);
    json_object_foreach(paths, name, path) json_object_foreach(path, method, operation) described +=
        strcmp(method, "parameters") != 0;
    cr_expect_eq(described, count);
    json_decref(doc);
}
