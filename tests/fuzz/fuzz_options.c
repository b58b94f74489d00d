/* A command line: a line for each word. */
#include "cases.h"
#include "fuzz.h"

#include <cli/options.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 64 };

/* What those options are given that take neither numbers nor choices. */
static const struct {
    th_parse_fn *parse;
    const char *values[3];
} known[] = {{th_parse_text, {"walk", "0", "all"}},
             {th_parse_word, {"walk", "a.b:8347", "idle,weight=0.5"}},
             {th_parse_file, {"human", "a.glb", "synthetic:joints=24,keys=16"}},
             {th_parse_name, {"base", "a-1.b", "_"}},
             {th_parse_regex, {"^pose/", "(a|b)+", "x{1,3}$"}},
             {th_parse_counts, {"10", "10,200,30", "100/thread"}},
             {th_parse_whole_list, {"1", "1,2,4", "7,64"}},
             {th_parse_schedulers, {"all", "serial", "work-stealing,serial"}},
             {th_parse_camera, {"90", ",,4", "90,10,4"}},
             {th_parse_threads, {"1", "2", "max"}},
             {th_parse_thread_list, {"1", "1-3,5", "2,4"}},
             {th_parse_size, {"16x16", "640x360", "64x8192"}},
             {th_parse_budget, {"bones:100", "0.5", "2"}}};

static void make_value(const th_option *o)
{
    const bool whole = o->parse == th_parse_whole || o->parse == th_parse_seed;
    uint32_t choices = 0;
    while (o->choices && o->choices[choices])
        choices++;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].parse == o->parse) {
            print_word(known[k].values[below(3)]);
            return;
        }
    if (choices > 0)
        print_word(o->choices[below(choices)]);
    else if (whole)
        print_number(floor(between(o->low, o->high < 1e6 ? o->high : 1e6)));
    else
        print_number(one_in(4) ? o->low : between(o->low, o->high < 1e6 ? o->high : 1e6));
}

void make_case(void)
{
    uint32_t commands = 0;
    while (th_command_table[commands].name)
        commands++;
    const th_command *command = &th_command_table[below(commands)];
    print_word(command->name);
    for (const th_option *o = th_option_table; o->name; o++) {
        /* --share and --animation-budget exclude each other. */
        if (!(o->commands & command->bit) || !one_in(4) || strcmp(o->name, "share") == 0)
            continue;
        print("\n--");
        print_word(o->name);
        if (o->argument)
            print(one_in(2) ? "=" : "\n");
        if (o->argument)
            make_value(o);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static th_options options;
    static th_run run;
    char *text = malloc(size + 1), *words[MOST_WORDS + 1], *rest = text;
    int count = 0;
    memcpy(text, data, size);
    text[size] = '\0';
    while (rest && count < MOST_WORDS)
        words[count++] = strsep(&rest, "\n");
    words[count] = NULL;
    const th_command *command = th_command_find(words[0]);
    th_error err = {0};
    memset(&options, 0, sizeof options);
    case_taken = !command || th_options_parse(&options, &run, command, count - 1, words + 1, &err) == TH_OK;
    if (strnlen(err.text, sizeof err.text) == sizeof err.text)
        abort();
    snprintf(case_refusal, sizeof case_refusal, "%s", err.text);
    free(text);
    return 0;
}
