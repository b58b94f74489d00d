/* A command line: a line for each word. */
#include <cli/options.h>

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 64 };

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
    th_error err;
    memset(&options, 0, sizeof options);
    if (command && th_options_parse(&options, &run, command, count - 1, words + 1, &err) != TH_OK &&
        strnlen(err.text, sizeof err.text) == sizeof err.text)
        abort();
    free(text);
    return 0;
}
