/* throng COMMAND [OPTIONS]: finds the command, parses its options and runs it. */
#include "help.h"
#include <cli/options.h>

#include <anim/synthetic.h>
#include <bench/baselines.h>
#include <bench/bench.h>
#include <bench/context.h>
#include <core/suggest.h>
#include <serve/snapshot_ipc.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int refuse_command(const char *name)
{
    th_suggestion s = {.typed = name};
    for (const th_command *c = th_command_table; c->name; c++)
        th_suggestion_consider(&s, c->name);
    th_suggestion_consider(&s, "help");
    return s.best ? th_refuse("unknown command %s; did you mean %s?", name, s.best)
                  : th_refuse("unknown command %s; `throng help` lists them", name);
}

static int help(int argc, char *const *argv)
{
    if (argc == 0 || (argc == 1 && strcmp(argv[0], "help") == 0)) {
        th_help_program(stdout);
        return TH_EXIT_GOOD;
    }
    if (argc > 1)
        return th_refuse("help takes one command, not %d", argc);
    if (strcmp(argv[0], TH_HELP_OPTIONS) == 0) {
        th_help_options(stdout);
        return TH_EXIT_GOOD;
    }
    if (strcmp(argv[0], TH_SYNTHETIC_NAME) == 0) {
        th_help_synthetic(stdout);
        return TH_EXIT_GOOD;
    }
    const th_command *c = th_command_find(argv[0]);
    if (!c)
        return refuse_command(argv[0]);
    th_help_command(c, stdout);
    return TH_EXIT_GOOD;
}

static int dispatch(int argc, char *const *argv)
{
    if (argc < 2) {
        th_help_program(stderr);
        return TH_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return help(argc - 2, argv + 2);
    if (strcmp(word, "--version") == 0) {
        printf("throng %s\n", th_context_version());
        return TH_EXIT_GOOD;
    }
    if (strcmp(word, TH_SNAPSHOT_COMMAND) == 0)
        return th_snapshot_renderer_run();
    if (strcmp(word, TH_SCHEDULER_COMMAND) == 0)
        return th_scheduler_process_main();
    if (strcmp(word, TH_COMPLETE_COMMAND) == 0) {
        th_complete(argc - 2, argv + 2, stdout);
        return TH_EXIT_GOOD;
    }
    if (word[0] == '-')
        return th_refuse("a command comes first: throng COMMAND [OPTIONS]; `throng help` lists the commands");
    const th_command *c = th_command_find(word);
    if (!c)
        return refuse_command(word);

    th_options options;
    th_run run;
    th_error err;
    if (th_options_parse(&options, &run, c, argc - 2, argv + 2, &err) != TH_OK)
        return th_refuse("%s", err.text);
    if (options.help) {
        th_help_command(c, stdout);
        return TH_EXIT_GOOD;
    }
    int code = th_options_probe_files(&options);
    FILE *nowhere = th_options_take_stdout(&options) ? fopen("/dev/null", "w") : NULL;
    stdout = nowhere ? nowhere : stdout; /* the descriptor stays what the path leads to */
    if (code == TH_EXIT_GOOD)
        code = th_run_begin_trace(&run, options.trace);
    return code == TH_EXIT_GOOD ? th_run_end_trace(&run, options.trace, c->run(&options, &run)) : code;
}

int main(int argc, char **argv)
{
    /* Opens /dev/null for standard streams that are closed. Otherwise the next file or socket would get their number,
     * and printed text would go into it. Opened for reading only, so that printing still fails and the caller learns
     * that the result is lost. */
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0) {
        th_complain("cannot open /dev/null: %s", strerror(errno));
        return TH_EXIT_ENVIRONMENT;
    }
    close(fd);
    signal(SIGCHLD, SIG_DFL); /* the parent may have set it to ignored, and then children leave no status */
    th_baselines_register();
    int code = dispatch(argc, argv);
    int finish = th_output_finish();
    return code != TH_EXIT_GOOD ? code : finish;
}
