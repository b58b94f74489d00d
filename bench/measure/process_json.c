#include "process_json.h"

#include <core/json.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static json_t *command_json(void)
{
    json_t *words = json_array();
    char *word = NULL;
    size_t room = 0;
    FILE *file = fopen("/proc/self/cmdline", "re");
    while (file && getdelim(&word, &room, '\0', file) > 0)
        words = th_json_append(words, th_json_text(word));
    free(word);
    if (file)
        fclose(file);
    return words;
}

/* Of OpenMP (also GNU's and LLVM's own), and of Mesa's software renderer. */
static bool is_recorded(const char *variable)
{
    static const char *const prefixes[] = {"OMP_", "GOMP_", "KMP_", "LIBOMP_", "LP_NUM_THREADS="};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* A name may be any bytes too, and JSON takes only UTF-8. */
static json_t *set_variable(json_t *variables, const char *variable)
{
    char name[256];
    const char *value = strchr(variable, '=');
    if (!value)
        return variables;
    snprintf(name, sizeof name, "%.*s", (int)(value - variable), variable);
    json_t *key = th_json_text(name);
    variables = th_json_set(variables, key ? json_string_value(key) : "", key ? th_json_text(value + 1) : NULL);
    json_decref(key);
    return variables;
}

static json_t *environment_json(void)
{
    json_t *variables = json_object();
    for (char **variable = environ; *variable; variable++)
        if (is_recorded(*variable))
            variables = set_variable(variables, *variable);
    return variables;
}

static const char *policy_name(int policy)
{
    switch (policy & ~SCHED_RESET_ON_FORK) {
    case SCHED_OTHER:
        return "other";
    case SCHED_BATCH:
        return "batch";
    case SCHED_IDLE:
        return "idle";
    case SCHED_FIFO:
        return "fifo";
    case SCHED_RR:
        return "rr";
    default:
        return NULL;
    }
}

json_t *th_process_json(void)
{
    struct sched_param parameters = {0};
    const int policy = sched_getscheduler(0);
    sched_getparam(0, &parameters);
    errno = 0;
    const int nice = getpriority(PRIO_PROCESS, 0);
    return json_pack("{s:o, s:o, s:o, s:i, s:o}", "command", command_json(), "environment", environment_json(),
                     "scheduling_policy", th_json_text(policy < 0 ? NULL : policy_name(policy)), "scheduling_priority",
                     parameters.sched_priority, "nice", errno ? json_null() : json_integer(nice));
}
