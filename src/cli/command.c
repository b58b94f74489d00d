#include <cli/command.h>

#include <core/table.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const th_command th_command_table[] = {
    {
        .name = "inspect",
        .bit = TH_COMMAND_INSPECT,
        .operand = "[MODEL]",
        .summary = "list a model's contents and compile its clips",
        .details = "Lists clips, meshes, textures, joints and every repair made during import. Compiles each clip and\n"
                   "shows its rate, size and largest error. The error is measured at a virtual vertex 3 cm from each\n"
                   "joint on a human of 1.8 m, and scaled to the model's size.\n",
        .run = th_command_inspect,
    },
    {
        .name = "pose",
        .bit = TH_COMMAND_POSE,
        .operand = "[MODEL]",
        .summary = "print every joint's matrix and palette entry at one time",
        .details =
            "Matrices are 3x4, row-major, in scene units. The model matrix always comes from the authored keys,\n"
            "in double precision. The palette entry does too with --sampling exact; with --sampling compiled\n"
            "the kernel writes it. In JSON a joint has model[12] and palette[12]; \"entry\" is the index of its\n"
            "palette entry. It is null for a joint without a bone; palette then holds the joint's motion from\n"
            "its rest pose. Further entries of the same joint are in more_palettes.\n",
        .run = th_command_pose,
    },
    {
        .name = "bench",
        .bit = TH_COMMAND_BENCH,
        .summary = "measure speed and error of posing, and the cost of the job system",
        .details =
            "Poses a crowd on one thread with every kernel of this machine, with authored keys, and as the\n"
            "tutorials do. The write limit is the cost of writing the palettes alone. Poses are first checked\n"
            "against double precision; a wrong pose fails (exit code 1). The interp/ entries play all tracks in\n"
            "one interpolation mode and show the error against the source; crowd/, play/ and clips/ vary the\n"
            "crowd size, jumps in time and the number of clips; threads/ uses more than one. import/, compile/,\n"
            "start/ and memory/ are what comes before frames. The jobs/ entries compare schedulers on the same\n"
            "work. The frame/ entries draw whole frames of small pictures and time each stage; they are\n"
            "skipped without OpenGL. --external adds entries of other programs, which are compared with poses.\n"
            "Compared entries are repeated in rounds, in random order, so that a slow phase of the machine\n"
            "affects all of them, until the medians reach --precision or --max-time is over. Doubtful results\n"
            "come with a warning that says why. Rows are printed as they finish. Ctrl-C ends it after the\n"
            "current round and keeps what was measured; a second one ends it at once.\n",
        .run = th_command_bench,
    },
    {
        .name = "scale",
        .bit = TH_COMMAND_SCALE,
        .summary = "measure how a crowd scales with threads, and find the bottleneck",
        .details =
            "Animates the crowd with each number of threads, in random order, and compares frame time, speed-up,\n"
            "efficiency and the share of thread time spent posing. All thread counts must write the same bytes,\n"
            "as the palette hash shows; otherwise the command fails (exit code 1). With four points or more it\n"
            "fits Amdahl's law and the Universal Scalability Law. Ablations (frames with a part left out) and\n"
            "the memory bandwidth name the bottleneck: computing, memory, cores, imbalance, wake-ups or a serial\n"
            "part. Several values of --grain, --count or --scheduler are compared in a map; only the first curve\n"
            "is analysed.\n",
        .run = th_command_scale,
    },
    {
        .name = "stress",
        .bit = TH_COMMAND_STRESS,
        .summary = "find the largest crowd that meets a frame time budget",
        .details =
            "Searches for the most characters whose 99th percentile frame time is within --budget-ms, and\n"
            "confirms the result with three runs of --frames frames, or six and more if they differ: with 95 %\n"
            "confidence at most 1 % of all frames take longer. A frame wakes the threads and animates every\n"
            "character. With --draw it also draws them into a picture without a window, and waits for the\n"
            "picture of three frames before, as a program does that shows frames. Frames start on the ticks of a\n"
            "clock, as in a game. Frames delayed by other processes are reported, and still count. With --count\n"
            "it skips the search and makes one run; exit code 1 means that N characters miss the budget. A\n"
            "search takes two to five minutes per number of threads.\n",
        .run = th_command_stress,
    },
    {
        .name = "compare",
        .bit = TH_COMMAND_COMPARE,
        .operand = "OLD NEW [-- BENCH OPTIONS]",
        .summary = "compare two results: what is slower, faster, equivalent, undecided or wrong",
        .details = "Compares two results of bench, given as files or names from --save, or with --run measures two\n"
                   "programs in turns. An entry is slower or faster if its wall time, by the median, the mean or the\n"
                   "mean of the slowest 5 %, changed by more than chance and --threshold explain; equivalent if all\n"
                   "three intervals lie within the threshold; otherwise inconclusive. CPU time only tells whether\n"
                   "work or waiting grew. Exit code 1: something is slower, palettes changed, or errors grew; 5:\n"
                   "nothing is, but something is inconclusive, gone or not compared. Results of another machine,\n"
                   "compiler, flags, model, scene or seed are not comparable (exit code 3). Each result needs 8\n"
                   "processes or more, as where a process's memory lies changes its speed. Baseline entries (limit/,\n"
                   "memory_, other schedulers) show the state of the machine and never fail. JSON of Google\n"
                   "Benchmark can be read as well; each file is one process.\n"
                   "\n"
                   "  throng bench --save main; ...; throng bench --save work; throng compare main work\n"
                   "  throng compare --run old/throng new/throng -- --filter '^pose/'\n",
        .run = th_command_compare,
    },
    {
        .name = "render",
        .bit = TH_COMMAND_RENDER,
        .summary = "render pictures or a video of a crowd, without a window",
        .details =
            "Draws frames at equal time steps and writes them as PNG files, as in --out crowd-%03d.png, or as a\n"
            "video. The same options give the same pictures on the same driver. Characters out of sight are\n"
            "neither posed nor drawn. Works without a display, and without a GPU, where it is slow.\n",
        .run = th_command_render,
    },
    {
        .name = "serve",
        .bit = TH_COMMAND_SERVE,
        .summary = "run a crowd as a service with an HTTP API and metrics",
        .details =
            "Animates the crowd at a fixed rate until SIGTERM or SIGINT, and prints its address when it is ready.\n"
            "It serves a page for browsers, /metrics for Prometheus, /healthz, and an API of JSON and server-sent\n"
            "events under /api, described by /api/openapi.json. Clients can change count, threads, rate, models,\n"
            "clips and interpolation while it runs, start other commands and read their results.\n"
            "\n"
            "Only this machine can reach it unless --listen says otherwise; then it takes a token of 16\n"
            "characters or more, in --token-file, that clients show as\n"
            "\"Authorization: Bearer TOKEN\". It speaks no TLS: that is for a proxy in front. Where built with\n"
            "libsystemd it tells systemd when it is ready, and feeds the watchdog.\n"
            "docs/guide/serving.md has it all.\n",
        .run = th_command_serve,
    },
    {
        .name = "view",
        .bit = TH_COMMAND_VIEW,
        .summary = "show the crowd in a window, with frame times",
        .details =
            "Drag turns the camera and the wheel zooms; c flies or follows a walking character. Keys change the\n"
            "crowd's size, threads, scheduler, palettes, interpolation, clip, layout and look while it runs; F1\n"
            "lists all keys, and buttons do the most usual. F12 writes throng-0001.png, or the next free name,\n"
            "into the current folder. Escape or closing the window quits with exit code 0 and a summary of all\n"
            "frames; Ctrl-C with the summary, too. Needs a display. With a software renderer --count is 100\n"
            "unless given.\n",
        .run = th_command_view,
    },
    {
        .name = "demo",
        .bit = TH_COMMAND_DEMO,
        .summary = "show the scenes in 40 seconds, and a card of figures",
        .details =
            "Flies through a plaza, a street and a stadium of embedded humans, in a window or with --out into a\n"
            "film, and ends with a card: characters, bones posed a second, frame times, machine. With\n"
            "--count a film shows the same scenes on every machine, whatever time it takes; a window shows what\n"
            "the machine can do. The plaza has 25 %, the street 30 % of --count, which is 1000 with a software\n"
            "renderer unless given.\n"
            "Escape or closing the window ends it. A film needs no display.\n"
            "\n"
            "  throng demo --out demo.mp4 --size 640x360 --frames 300\n",
        .run = th_command_demo,
    },
    {0},
};

const th_command *th_command_find(const char *name)
{
    for (const th_command *c = th_command_table; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* Text from file names or contents must not send control sequences to the terminal. */
__attribute__((format(printf, 1, 0))) static void complain(const char *format, va_list args)
{
    char text[2048], clean[2048];
    vsnprintf(text, sizeof text, format, args);
    fprintf(stderr, "throng: %s\n", th_printable(text, clean, sizeof clean));
}

void th_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
}

int th_refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    return TH_EXIT_USAGE;
}

int th_exit_code(const th_error *err)
{
    switch (err->code) {
    case TH_ERR_USAGE:
        return TH_EXIT_USAGE;
    case TH_ERR_INPUT:
    case TH_ERR_LIMIT:
        return TH_EXIT_INPUT;
    default:
        return TH_EXIT_ENVIRONMENT;
    }
}

int th_fail_with(const th_error *err)
{
    th_complain("%s", err->text);
    return th_exit_code(err);
}
