#include "fleet.h"

#include "http_get.h"
#include "labelled_metrics.h"
#include "metrics/prometheus.h"

#include <throng/core/clock.h>
#include <throng/core/json.h>

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { ASK_MS = 1000, TIMEOUT_MS = 2000, MOST_BYTES = 1 << 20 };

/* The answers of a server are there together or not at all. */
typedef struct member {
    th_fleet *fleet;
    const char *instance; /* as it was given */
    th_address address;
    pthread_t thread;
    bool has_thread;
    /* Under the fleet's lock: */
    json_t *state; /* NULL: it is not up */
    char *metrics;
    uint64_t answered_ns; /* 0: never */
    char error[160];      /* why not */
} member;

struct th_fleet {
    th_token token;
    pthread_mutex_t lock;
    int stop_fd;
    member members[TH_FLEET_MAX_MEMBERS];
    uint32_t count;
};

/* ---- asking ---- */

/* Of an address as --join has it: in a Host header IPv6 has brackets, and a Unix socket no name. */
static void print_host(const char *instance, char *out, size_t size)
{
    const char *colon = strchr(instance, ':');
    if (strncmp(instance, "unix:", 5) == 0)
        snprintf(out, size, "localhost");
    else if (instance[0] != '[' && colon && strchr(colon + 1, ':'))
        snprintf(out, size, "[%s]", instance);
    else
        snprintf(out, size, "%s", instance);
}

static th_result ask(const member *m, const char *path, char **out_body, size_t *out_size, th_error *err)
{
    char host[300];
    print_host(m->instance, host, sizeof host);
    const th_http_get_desc desc = {
        .address = &m->address,
        .host = host,
        .path = path,
        .token = &m->fleet->token,
        .timeout_ms = TIMEOUT_MS,
        .most_bytes = MOST_BYTES,
        .stop_fd = m->fleet->stop_fd,
    };
    return th_http_get(&desc, out_body, out_size, err);
}

/* A state is an object with the parts that are summed. */
static json_t *read_state(const char *text, size_t size, th_error *err)
{
    json_t *state = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (state && json_is_object(json_object_get(state, "crowd")) && json_is_object(json_object_get(state, "ticks")))
        return state;
    json_decref(state);
    th_fail(err, TH_ERR_ENVIRONMENT, "its state is not that of a throng server");
    return NULL;
}

static void ask_once(member *m)
{
    char *text = NULL, *metrics = NULL;
    size_t size = 0, metrics_size = 0;
    json_t *state = NULL;
    th_error err = {0};
    th_result result = ask(m, "/api/state", &text, &size, &err);
    if (result == TH_OK && !(state = read_state(text, size, &err)))
        result = TH_ERR_ENVIRONMENT;
    if (result == TH_OK)
        result = ask(m, "/metrics", &metrics, &metrics_size, &err);
    free(text);
    if (result != TH_OK) {
        json_decref(state);
        state = NULL;
    }
    pthread_mutex_lock(&m->fleet->lock);
    json_t *old_state = m->state;
    char *old_metrics = m->metrics;
    m->state = state;
    m->metrics = metrics;
    if (state)
        m->answered_ns = th_clock_ns();
    snprintf(m->error, sizeof m->error, "%.150s", state ? "" : err.text);
    pthread_mutex_unlock(&m->fleet->lock);
    json_decref(old_state);
    free(old_metrics);
}

static void *run(void *arg)
{
    member *m = arg;
    struct pollfd stop = {m->fleet->stop_fd, POLLIN, 0};
    do
        ask_once(m);
    while (poll(&stop, 1, ASK_MS) <= 0);
    return NULL;
}

/* ---- creating ---- */

static bool is_same(const th_address *a, const th_address *b)
{
    return a->size == b->size && memcmp(&a->bytes, &b->bytes, a->size) == 0;
}

static th_result parse_all(const char *const *addresses, uint32_t count, th_address parsed[TH_FLEET_MAX_MEMBERS],
                           th_error *err)
{
    th_result result = TH_OK;
    if (count > TH_FLEET_MAX_MEMBERS)
        return th_fail(err, TH_ERR_INPUT, "--join takes at most %d servers, not %u", TH_FLEET_MAX_MEMBERS, count);
    for (uint32_t i = 0; i < count && result == TH_OK; i++) {
        result = th_address_parse("--join", addresses[i], &parsed[i], err);
        for (uint32_t before = 0; before < i && result == TH_OK; before++)
            if (is_same(&parsed[before], &parsed[i]))
                result = th_fail(err, TH_ERR_INPUT, "--join %s and --join %s are one server", addresses[before],
                                 addresses[i]);
    }
    return result;
}

th_result th_fleet_check(const char *const *addresses, uint32_t count, const th_address *own, th_error *err)
{
    th_address parsed[TH_FLEET_MAX_MEMBERS];
    th_result result = parse_all(addresses, count, parsed, err);
    for (uint32_t i = 0; i < count && result == TH_OK; i++)
        if (is_same(&parsed[i], own))
            result = th_fail(err, TH_ERR_INPUT, "--join %s is this server itself", addresses[i]);
    return result;
}

th_result th_fleet_create(const char *const *addresses, uint32_t count, const th_token *token, th_fleet **out,
                          th_error *err)
{
    assert(addresses && count > 0 && token && out);
    th_fleet *fleet = calloc(1, sizeof *fleet);
    *out = NULL;
    if (!fleet)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a fleet");
    fleet->token = *token;
    pthread_mutex_init(&fleet->lock, NULL);
    fleet->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int error = fleet->stop_fd < 0 ? errno : 0;
    th_address parsed[TH_FLEET_MAX_MEMBERS];
    th_result result = parse_all(addresses, count, parsed, err);
    fleet->count = result == TH_OK ? count : 0;
    for (uint32_t i = 0; i < fleet->count && error == 0; i++) {
        fleet->members[i] =
            (member){.fleet = fleet, .instance = addresses[i], .address = parsed[i], .error = "not asked yet"};
        error = pthread_create(&fleet->members[i].thread, NULL, run, &fleet->members[i]);
        fleet->members[i].has_thread = error == 0;
    }
    if (error)
        result = th_fail(err, TH_ERR_ENVIRONMENT, "cannot watch the servers of a fleet: %s", strerror(error));
    if (result != TH_OK) {
        th_fleet_destroy(fleet);
        return result;
    }
    *out = fleet;
    return TH_OK;
}

void th_fleet_destroy(th_fleet *fleet)
{
    if (!fleet)
        return;
    const uint64_t one = 1;
    ssize_t ignored = write(fleet->stop_fd, &one, sizeof one);
    (void)ignored;
    for (uint32_t i = 0; i < fleet->count; i++) {
        if (fleet->members[i].has_thread)
            pthread_join(fleet->members[i].thread, NULL);
        json_decref(fleet->members[i].state);
        free(fleet->members[i].metrics);
    }
    if (fleet->stop_fd >= 0)
        close(fleet->stop_fd);
    pthread_mutex_destroy(&fleet->lock);
    free(fleet);
}

/* ---- all of them ---- */

static const struct {
    const char *name, *part, *field;
} summed[] = {
    {"characters", "crowd", "characters"},
    {"bones", "crowd", "bones"},
    {"ticks_total", "ticks", "total"},
    {"missed_total", "ticks", "missed_total"},
    {"characters_animated_total", "ticks", "characters_animated_total"},
};
enum { SUMMED = sizeof summed / sizeof *summed };

typedef struct sum {
    double values[SUMMED], characters_per_s;
    uint32_t up;
} sum;

static double number(const json_t *object, const char *name)
{
    /* 0 where there is none; what a stranger sends fits an integer */
    return fmin(fmax(json_number_value(json_object_get(object, name)), 0), 0x1p53);
}

static void add_state(sum *s, const json_t *state)
{
    const json_t *second = json_object_get(json_object_get(state, "ticks"), "last_second");
    const double span_s = number(second, "duration_s");
    for (int i = 0; i < SUMMED; i++)
        s->values[i] += number(json_object_get(state, summed[i].part), summed[i].field);
    s->characters_per_s += span_s > 0 ? number(second, "characters_animated") / span_s : 0;
    s->up++;
}

/* state: taken; NULL: it is not up. */
static json_t *instance_json(const char *instance, json_t *state, double age_s, const char *error)
{
    return json_pack("{s:o, s:b, s:o, s:o, s:o}", "instance", th_json_text(instance), "up", state != NULL, "age_s",
                     th_json_real(age_s), "error", error[0] ? th_json_text(error) : json_null(), "state",
                     state ? state : json_null());
}

static json_t *member_json(const member *m, sum *s)
{
    const double age_s = m->answered_ns ? (double)(th_clock_ns() - m->answered_ns) * 1e-9 : (double)NAN;
    if (m->state)
        add_state(s, m->state);
    return instance_json(m->instance, json_deep_copy(m->state), age_s, m->error);
}

json_t *th_fleet_json(th_fleet *fleet, const char *instance, json_t *state)
{
    sum s = {{0}, 0, 0};
    add_state(&s, state);
    json_t *instances = th_json_append(json_array(), instance_json(instance, state, 0, ""));
    for (uint32_t i = 0; fleet && i < fleet->count; i++) {
        pthread_mutex_lock(&fleet->lock);
        instances = th_json_append(instances, member_json(&fleet->members[i], &s));
        pthread_mutex_unlock(&fleet->lock);
    }
    json_t *sums = json_pack("{s:i, s:i, s:o}", "instances", (int)(1 + (fleet ? fleet->count : 0)), "up", (int)s.up,
                             "characters_per_s", th_json_real(s.characters_per_s));
    for (int i = 0; i < SUMMED; i++)
        sums = th_json_set(sums, summed[i].name, th_json_count((uint64_t)s.values[i]));
    return json_pack("{s:o, s:o}", "instances", instances, "sum", sums);
}

char *th_fleet_metrics(th_fleet *fleet, const char *instance, const char *own, size_t *out_size)
{
    th_labelled_text texts[1 + TH_FLEET_MAX_MEMBERS] = {{instance, own}};
    const uint32_t count = 1 + (fleet ? fleet->count : 0);
    char *text = NULL;
    FILE *file = open_memstream(&text, out_size);
    if (!file)
        return NULL;
    if (fleet)
        pthread_mutex_lock(&fleet->lock);
    for (uint32_t i = 1; i < count; i++)
        texts[i] = (th_labelled_text){fleet->members[i - 1].instance, fleet->members[i - 1].metrics};
    th_labelled_metrics_write(file, texts, count);
    th_prometheus_begin(file, "throng_fleet_up", TH_METRIC_GAUGE, "Whether a server of the fleet answers.");
    for (uint32_t i = 0; i < count; i++)
        th_prometheus_sample(file, "throng_fleet_up", texts[i].text != NULL,
                             (const char *[]){"instance", texts[i].instance, NULL});
    if (fleet)
        pthread_mutex_unlock(&fleet->lock);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}
