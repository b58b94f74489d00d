#include "sandbox_status.h"

#include <throng/anim/sandbox.h>
#include <throng/core/json.h>
#include <throng/core/table.h>

/* From which ABI on Landlock confines this. */
static const struct {
    const char *name, *text;
    int abi;
} rights[] = {{"files", "files", 1},
              {"truncate", "truncating", 3},
              {"tcp", "TCP", 4},
              {"devices", "devices", 5},
              {"signals", "signals and abstract sockets", 6}};

enum { RIGHTS = sizeof rights / sizeof *rights };

static json_t *status_json(const th_sandbox *s)
{
    json_t *landlock = json_pack("{s:i}", "abi", s->landlock_abi), *gaps = json_array();
    for (int r = 0; r < RIGHTS; r++)
        json_object_set_new(landlock, rights[r].name, json_boolean(s->landlock_abi >= rights[r].abi));
    const char *texts[TH_SANDBOX_MAX_GAPS];
    const uint32_t count = th_sandbox_gaps(s, texts);
    for (uint32_t g = 0; g < count; g++)
        gaps = th_json_append(gaps, th_json_text(texts[g]));
    return json_pack("{s:{s:o, s:b, s:b, s:o}}", "sandbox", "landlock", landlock, "seccomp", s->seccomp, "memory_limit",
                     !s->sanitized, "gaps", gaps);
}

static bool print_status(const th_sandbox *s, FILE *file)
{
    th_table *table = th_table_create("<import is confined by|<which covers");
    th_table_cell(table, s->landlock_abi ? "Landlock, ABI %d" : "no Landlock", s->landlock_abi);
    char covers[128] = "", *end = covers;
    for (int r = 0; r < RIGHTS && s->landlock_abi >= rights[r].abi; r++)
        end += sprintf(end, "%s%s", r ? ", " : "", rights[r].text);
    th_table_cell(table, "%s", covers);
    th_table_cell(table, s->seccomp ? "seccomp" : "no seccomp");
    th_table_cell(table, s->seccomp ? "all system calls but those that read and compute" : "");
    th_table_cell(table, "limits");
    th_table_cell(table, "processes, written files, core dumps, time%s",
                  s->sanitized ? "; not memory, because this build has a sanitizer" : ", memory");
    const bool printed = th_table_print(table, file);
    th_table_destroy(table);
    const char *gaps[TH_SANDBOX_MAX_GAPS];
    const uint32_t count = th_sandbox_gaps(s, gaps);
    for (uint32_t g = 0; g < count; g++)
        fprintf(file, "%s  - %s\n", g ? "" : "\n", gaps[g]);
    return printed;
}

static bool write_status(const void *result, th_form form, const char *command, FILE *file)
{
    (void)command;
    return form == TH_FORM_TEXT ? print_status(result, file) : th_output_json(status_json(result), 12, file);
}

int th_sandbox_status_print(th_run *run, const th_output_options *options)
{
    const th_sandbox sandbox = th_sandbox_read();
    return th_output_write(run, options, write_status, &sandbox);
}
