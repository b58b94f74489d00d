#include "command.h"

#include <throng/core/table.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const th_command th_command_table[] = {
    {
        .name = "inspect",
        .bit = TH_COMMAND_INSPECT,
        .operand = "[MODEL]",
        .summary = "what is in a model, and what it becomes when it is played",
        .details =
            "Lists clips, meshes, textures, joints and everything that was repaired on the way in. Each clip is\n"
            "compiled for playing: the table shows its rate, its size and the largest error this makes,\n"
            "measured on a virtual vertex 3 cm from its joint on a human of 1.8 m, and scaled to the model.\n",
        .run = th_command_inspect,
    },
    {
        .name = "pose",
        .bit = TH_COMMAND_POSE,
        .operand = "[MODEL]",
        .summary = "every joint's matrix and palette entry at one moment",
        .details =
            "Matrices are 3x4, row-major, in scene units. The model matrix is always that of the authored keys,\n"
            "in double precision; the palette entry is that, too, with --sampling exact, and what the kernel\n"
            "writes with --sampling compiled. In JSON a joint has model[12] and palette[12]; \"entry\" is the\n"
            "index of its palette entry, or null where no mesh follows the joint; then the palette shows how\n"
            "the joint has moved from its rest. Further entries of the same joint are in more_palettes.\n",
        .run = th_command_pose,
    },
    {
        .name = "bench",
        .bit = TH_COMMAND_BENCH,
        .summary = "how fast and how exact poses are, and what the job system costs",
        .details =
            "Poses a crowd on one thread with every kernel this machine has, with authored keys, and the way the\n"
            "tutorials teach it; the write limit is the cost of writing the palettes and nothing else. Poses are\n"
            "checked against double precision first, and wrong ones fail (exit code 1). The interp/ entries play\n"
            "all tracks in one way each, and say how far that is from what the file says; crowd/, play/ and\n"
            "clips/ compare sizes of the crowd, time that jumps and more clips. The jobs/ entries compare\n"
            "schedulers at the same work. The frame/ entries draw whole frames of small pictures, and say where\n"
            "the time goes; without OpenGL they are left out. What is compared is repeated in rounds, in random\n"
            "order, so that a slow moment of the machine hits all alike, until the medians are known to\n"
            "--precision or --max-time is over. Figures that deserve doubt come with a note that says why.\n",
        .run = th_command_bench,
    },
    {
        .name = "scale",
        .bit = TH_COMMAND_SCALE,
        .summary = "the same crowd on more and more threads, and what stops it",
        .details =
            "Animates the crowd with each number of threads, in random order, and compares: frame time, speed-up,\n"
            "efficiency, and the share of the threads' time that went into posing. All thread counts must\n"
            "write the same bytes, shown by the palette hash; otherwise the command fails (exit code 1).\n"
            "Amdahl's law and the Universal Scalability Law are fitted to four points or more, and frames of\n"
            "which a part is left out, with the bandwidth of the memory, tell what is the limit: computing,\n"
            "memory, cores, imbalance, wake-ups or a serial part. Several --grain, --count or --scheduler are\n"
            "compared in a map; what is said of one curve is said of the first.\n",
        .run = th_command_scale,
    },
    {
        .name = "stress",
        .bit = TH_COMMAND_STRESS,
        .summary = "the largest crowd whose frames hold a time budget",
        .details =
            "Looks for the most characters of which the 99th percentile of frame times is within --budget-ms, and\n"
            "confirms them with three runs of --frames frames, or six and more where these differ: with 95 %\n"
            "confidence no more than 1 % of all frames take longer. A frame wakes the threads and animates every\n"
            "character; with --draw it draws them, too, into a picture without a window, and waits as a program\n"
            "does that shows frames: not for this picture, but for that of three frames before. Frames begin on\n"
            "the ticks of a clock, as those of a game do. Frames in which others had a CPU that a thread waited\n"
            "for are counted, and count. With --count there is no search, and one run: exit code 1 when so many\n"
            "do not hold the budget. Takes two to five minutes for each number of threads.\n",
        .run = th_command_stress,
    },
    {
        .name = "compare",
        .bit = TH_COMMAND_COMPARE,
        .operand = "OLD NEW",
        .summary = "what became slower, faster or wrong from one result to another",
        .details =
            "Compares two results of bench, scale, or stress --count, files or names given to --save, and fails\n"
            "(exit code 1) when an entry became slower by more than chance, --threshold and noise allow, or when\n"
            "palettes are others than before, or errors larger. Results of another machine, compiler, flags,\n"
            "model, scene or seed are not comparable (exit code 3). Measure both in several processes: one\n"
            "process may be faster than the next by where its memory came to lie. Yardsticks (limit/, memory_,\n"
            "schedulers of others) tell how the machine was, and fail nothing. Google Benchmark's JSON can be\n"
            "compared, too.\n"
            "\n"
            "  throng bench --save main; ...; throng bench --save work; throng compare main work\n",
        .run = th_command_compare,
    },
    {
        .name = "render",
        .bit = TH_COMMAND_RENDER,
        .summary = "pictures of a crowd, without a window",
        .details =
            "Draws frames at equal distances of time and writes them as PNG files: --out crowd-%03d.png. The same\n"
            "options give the same pictures on the same driver. Characters out of sight are neither posed nor\n"
            "drawn. Works without a display and without a GPU, where it is slow.\n",
        .run = th_command_render,
    },
    {
        .name = "serve",
        .bit = TH_COMMAND_SERVE,
        .summary = "a crowd that keeps running, watched and steered over HTTP",
        .details =
            "Animates the crowd at a set rate until SIGTERM or SIGINT. Prints its address when it is ready; there\n"
            "are a page for browsers, /metrics for Prometheus, /healthz, and an API of JSON and server-sent\n"
            "events under /api, which /api/openapi.json describes. Count, threads, rate, models, clips and\n"
            "interpolation can be changed while it runs, and other commands be run and their results read.\n"
            "\n"
            "Only this machine can reach it unless --listen says otherwise; then it takes a token of 16\n"
            "characters or more, in --token-file or the environment variable THRONG_TOKEN, that clients show as\n"
            "\"Authorization: Bearer TOKEN\". It speaks no TLS: that is for a proxy in front. Where built with\n"
            "libsystemd it tells systemd when it is ready, and feeds the watchdog. docs/serving.md has it all.\n",
        .run = th_command_serve,
    },
    {
        .name = "view",
        .bit = TH_COMMAND_VIEW,
        .summary = "a window in which the crowd moves, and how long that takes",
        .details =
            "Drag to turn, wheel to come nearer; c flies or follows somebody who walks. Keys change the crowd's\n"
            "size, threads, scheduler, palettes, interpolation, clip, layout and look while it moves; F1 shows\n"
            "all of them. F12 writes throng-0001.png, or the first such name that is free, into the current\n"
            "folder. Escape or closing the window ends, with exit code 0 and a summary of all frames. Needs a\n"
            "display. Where a CPU draws, --count is 100 unless given.\n",
        .run = th_command_view,
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

void th_complain(const char *format, ...)
{
    char text[2048], clean[2048]; /* what comes from a file's name or inside must not command the terminal */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "throng: %s\n", th_printable(text, clean, sizeof clean));
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
