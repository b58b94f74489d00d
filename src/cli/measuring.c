#include "measuring.h"

#include <core/clock.h>
#include <core/random.h>
#include <core/subprocess.h>
#include <core/text_format.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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

/* ", about 3 min left", when this share of the work is done; "" while too little is. Static storage. */
static const char *time_left(double done)
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

/* Columns of the terminal. */
static int line_length(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void th_progress_show(const char *format, ...)
{
    char text[256];
    va_list args;
    const bool replaces = is_terminal();
    if (!replaces && shown_ns == 0)
        shown_ns = th_clock_ns(); /* in a log what takes less than LOG_NS shows nothing */
    if (th_clock_ns() - shown_ns < (replaces ? SHOW_NS : LOG_NS))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (replaces) /* a line that wraps would not be cleared whole */
        fprintf(stderr, CLEARED "%.*s", line_length() - 1, text);
    else
        fprintf(stderr, "throng: %s\n", text);
    fflush(stderr);
    shown_ns = th_clock_ns();
}

void th_progress_frames(uint32_t done, uint32_t count)
{
    if (done < count && th_progress_wanted())
        th_progress_show("%3u %% of %u frame%s%s", 100 * done / count, count, th_plural(count),
                         time_left((double)done / count));
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

/* Waits for a child of a process group of its own; kills it when a signal comes. The handler must not kill a process
 * that was waited for: its number may be another's by then. */
static int wait_for(pid_t child)
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
                     s->rounds, th_plural(s->rounds), known, time_left(s->done));
}

uint64_t th_check_seed(void)
{
    const char *given = getenv("THRONG_CHECK_SEED");
    uint64_t seed = 0;
    if (given && !th_read_whole(given, 0, HUGE_VAL, &seed))
        th_complain("THRONG_CHECK_SEED is a whole number, not \"%s\"; what is checked is drawn anew", given);
    return seed ? seed : th_entropy();
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
    measure->check_seed = th_check_seed();
    measure->progress = th_progress_wanted() ? show : NULL;
    measure->stop = th_interrupt_begin();
    return TH_EXIT_GOOD;
}

/* ---- several processes ---- */

enum { SAVED_PROCESSES = 12 }; /* when bench saves the result, to be compared */

uint32_t th_processes_plan(uint32_t wanted, bool is_saved, th_measure_desc *measure)
{
    const bool is_fixed = measure->repetitions > 0 || measure->is_dry_run;
    const uint32_t count = wanted > 0 ? wanted : is_saved && !is_fixed ? SAVED_PROCESSES : 1;
    if (count > 1 && measure->repetition_ns == 0)
        measure->repetition_ns = (uint64_t)(TH_PROCESSES_REPETITION_MS * 1e6);
    return count;
}

static bool is_passed_on(const th_run *own, const char *option)
{
    const size_t length = strlen(option);
    for (uint32_t i = 0; i < own->process_word_count; i++) {
        const char *word = own->process_words[i];
        if (strncmp(word, option, length) == 0 && (word[length] == '=' || !word[length]))
            return true;
    }
    return false;
}

/* Reads a file's contents, zero-terminated; NULL when memory is out. Release it with free(). */
static char *text_of(int fd, size_t *size)
{
    const off_t end = lseek(fd, 0, SEEK_END);
    char *text = end < 0 ? NULL : calloc(1, (size_t)end + 1);
    *size = 0;
    while (text && *size < (size_t)end) {
        const ssize_t got = TEMP_FAILURE_RETRY(pread(fd, text + *size, (size_t)end - *size, (off_t)*size));
        if (got <= 0)
            break;
        *size += (size_t)got;
    }
    return text;
}

th_result th_processes_measure(const char *program, const th_run *own, th_result_file **results, th_error *err)
{
    static const char *const variables[] = {"THRONG_PROGRESS=off", NULL};
    const char *command = program ? "bench" : own->command->name;
    const char *words[TH_RUN_MAX_WORDS + 8] = {"throng", command, "--json", "--processes=1"};
    uint32_t count = 4;
    char repetition[48];
    if (strcmp(command, "bench") == 0 && !is_passed_on(own, "--repetition-time") && !is_passed_on(own, "--frames")) {
        snprintf(repetition, sizeof repetition, "--repetition-time=%g", TH_PROCESSES_REPETITION_MS);
        words[count++] = repetition;
    }
    for (uint32_t i = 0; i < own->process_word_count; i++)
        words[count++] = own->process_words[i];

    /* Its output goes to anonymous files: a pipe would have to be read meanwhile. */
    const int out = memfd_create("out", MFD_CLOEXEC), said = memfd_create("err", MFD_CLOEXEC);
    const th_subprocess_desc throng = {program ? program : "/proc/self/exe", words, variables,
                                       .files = {-1, out, said}};
    pid_t pid;
    int status = -1; /* it could not be run, as errno says */
    if (out >= 0 && said >= 0 && (errno = th_subprocess_start(&throng, &pid)) == 0)
        status = wait_for(pid);

    const th_result code = program ? TH_ERR_INPUT : TH_ERR_ENVIRONMENT;
    const char *name = program ? program : "a process of the measurement";
    /* A process that found wrong palettes also writes a result, which reports them. */
    const bool has_result = status >= 0 && WIFEXITED(status) &&
                            (WEXITSTATUS(status) == TH_EXIT_GOOD || WEXITSTATUS(status) == TH_EXIT_CHECK);
    const char *why = strerror(errno);
    th_result result;
    size_t size;
    char *text = status < 0 ? NULL : text_of(has_result ? out : said, &size);
    *results = NULL;
    if (status < 0)
        result = th_fail(err, code, "cannot run %s: %s", program ? program : "another process", why);
    else if (has_result && text)
        result = th_result_file_parse(text, size, program ? program : "the result of another process", results, err);
    else if (has_result)
        result = th_fail(err, TH_ERR_MEMORY, "no memory for the result of another process");
    else if (WIFSIGNALED(status))
        result = th_fail(err, code, "%s was ended by signal %d", name, WTERMSIG(status));
    else
        result = th_fail(err, code, "%s ended with exit code %d: %.*s", name, WEXITSTATUS(status),
                         (int)strcspn(text ? text : "", "\n"), text ? text : "");
    free(text);
    if (out >= 0)
        close(out);
    if (said >= 0)
        close(said);
    return result;
}

int th_processes_add(const th_run *own, uint32_t count, th_processes_merge *merge, void *result, th_report *report)
{
    th_error err;
    th_result code = TH_OK;
    const bool is_seen = th_progress_wanted();
    for (uint32_t p = 1; p < count && code == TH_OK && !report->is_partial; p++) {
        th_result_file *other;
        if (is_seen)
            th_progress_show("process %u of %u%s", p + 1, count, time_left((double)p / count));
        code = th_processes_measure(NULL, own, &other, &err);
        if (code == TH_OK)
            code = merge(result, other, &err);
        th_result_file_free(other);
        th_progress_end();
        report->is_partial = th_interrupt_is_requested();
        if (report->is_partial)
            code = TH_OK; /* the process was killed */
    }
    return code == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
}
