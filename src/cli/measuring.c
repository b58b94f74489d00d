#include "measuring.h"

#include <core/clock.h>
#include <core/subprocess.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- progress ---- */

#define SHOW_NS     100000000u
#define LOG_NS      10000000000u
#define ESTIMATE_NS 2000000000u /* before, there is too little to judge by */
#define CLEARED     "\r\033[K"

static uint64_t begin_ns;
static uint64_t shown_ns; /* time of the last line; 0: none */

bool th_progress_wanted(void)
{
    const char *wanted = getenv("THRONG_PROGRESS");
    return !wanted || strcmp(wanted, "off") != 0;
}

static bool is_terminal(void)
{
    return getenv("THRONG_PROGRESS") ? th_progress_wanted() : isatty(STDERR_FILENO);
}

void th_progress_begin(void)
{
    begin_ns = shown_ns = th_clock_ns();
}

const char *th_progress_left(double done)
{
    static char text[48];
    const uint64_t ns = th_clock_ns() - begin_ns;
    const double left_s = (double)ns / 1e9 * (1 - done) / done;
    if (ns < ESTIMATE_NS || !(done > 0.005))
        return "";
    if (left_s < 90)
        snprintf(text, sizeof text, ", about %.0f s left", left_s);
    else
        snprintf(text, sizeof text, ", about %.0f min left", left_s / 60);
    return text;
}

void th_progress_show(const char *format, ...)
{
    va_list args;
    const bool replaces = is_terminal();
    if (!replaces && shown_ns == 0)
        shown_ns = th_clock_ns(); /* in a log what takes less than LOG_NS shows nothing */
    if (th_clock_ns() - shown_ns < (replaces ? SHOW_NS : LOG_NS))
        return;
    va_start(args, format);
    fputs(replaces ? CLEARED : "throng: ", stderr);
    vfprintf(stderr, format, args);
    fputs(replaces ? "" : "\n", stderr);
    va_end(args);
    fflush(stderr);
    shown_ns = th_clock_ns();
}

void th_progress_end(void)
{
    if (!is_terminal())
        return;
    if (shown_ns > 0)
        fputs(CLEARED, stderr);
    fflush(stderr);
    shown_ns = 0;
}

/* ---- interruption ---- */

static volatile sig_atomic_t received; /* the signal; 0: none */
static volatile sig_atomic_t measuring_child;
static pthread_t main_thread;

/* Passes the signal to the main thread if another one got it, since only that one can be protected. */
static void handle(int number)
{
    const int before = errno;
    if (!pthread_equal(pthread_self(), main_thread)) {
        pthread_kill(main_thread, number);
    } else if (!received) {
        received = number;
        if (measuring_child > 0)
            kill(measuring_child, SIGKILL);
    } else {
        signal(number, SIG_DFL);
        raise(number); /* takes effect when the handler returns; children die with this process */
    }
    errno = before;
}

const volatile sig_atomic_t *th_interrupt_begin(void)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, before;
    main_thread = pthread_self();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* as nohup and background jobs of a shell ask for */
            sigaction(signals[i], &action, NULL);
    }
    return &received;
}

bool th_interrupt_is_requested(void)
{
    return received != 0;
}

int th_interrupt_code(void)
{
    return 128 + received;
}

/* The handler must not kill a process that was waited for: its number may be another's by then. */
int th_interrupt_wait(pid_t child)
{
    siginfo_t end;
    measuring_child = child;
    if (received)
        kill(child, SIGKILL);
    while (waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    measuring_child = 0;
    return th_subprocess_wait(child);
}

/* ---- the options ---- */

static void show(void *ctx, const th_measure_state *s)
{
    char known[32] = "";
    (void)ctx;
    if (isfinite(s->precision))
        snprintf(known, sizeof known, ", 95 %% CI +-%.2g %%", 100 * s->precision);
    th_progress_show("%u of %u: %.40s and its like, %u repetition%s%s%s", s->comparison, s->comparisons, s->name,
                     s->rounds, th_plural(s->rounds), known, th_progress_left(s->done));
}

int th_measure_options_complete(const th_run *run, th_measure_desc *measure)
{
    static const char *const adaptive[] = {"precision", "max-time"};
    for (size_t i = 0; i < sizeof adaptive / sizeof *adaptive; i++)
        if (measure->repetitions > 0 && th_run_has_option(run, adaptive[i]))
            return th_refuse("--repetitions fixes how often everything is repeated, so --%s cannot be given with it",
                             adaptive[i]);
    if (measure->iterations > 0 && th_run_has_option(run, "repetition-time"))
        return th_refuse("--frames fixes how much a repetition is, so --repetition-time cannot be given with it");
    measure->progress = th_progress_wanted() ? show : NULL;
    measure->stop = th_interrupt_begin();
    return TH_EXIT_GOOD;
}
