#include "job.h"

#include <cli/command.h>

#include <core/clock.h>

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROLL_CALL = 1, HERE = 2, LOOKS_A_POLL = 64, IDLE_NS = 200000 };

/* How long rank 0 waits for answers: after a time-out; and after a signal, when it has waited as long for all ranks to
 * learn of it. Then mpirun kills its ranks. */
#define ROLL_S   2.0
#define SIGNAL_S 0.3
/* How much longer than rank 0 the others wait, each a little longer than the one before. */
#define OTHERS_S 4.0
#define NEXT_S   0.05

static volatile sig_atomic_t received; /* a signal; 0: none */

static void handle(int number)
{
    received = number;
}

/* ---- calls that cannot be polled ---- */

static void handle_alarm(int number)
{
    static const char text[] =
        "throng: MPI waits for all ranks, and one does not answer within the time-out: it has died, "
        "hangs or is cut off\n";
    (void)number;
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(TH_EXIT_ENVIRONMENT);
}

static void set_alarm(double seconds)
{
    const struct sigaction action = {.sa_handler = handle_alarm};
    sigaction(SIGALRM, &action, NULL);
    alarm((unsigned)ceil(seconds));
}

void th_mpi_guard_begin(th_mpi_job *job)
{
    th_mpi_barrier(job, job->world, "the other ranks", false);
    set_alarm(job->timeout_s + (job->rank > 0 ? OTHERS_S : 0));
}

void th_mpi_guard_end(void)
{
    alarm(0);
}

/* ---- begin and end ---- */

void th_mpi_begin(th_mpi_job *job, double timeout_s)
{
    int provided;
    char here[TH_HOST_MAX] = "";
    gethostname(here, sizeof here - 1);
    *job = (th_mpi_job){.timeout_s = timeout_s};
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    set_alarm(timeout_s);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &job->world);
    MPI_Comm_set_errhandler(job->world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(job->world, &job->rank);
    MPI_Comm_size(job->world, &job->size);
    job->hosts = calloc((size_t)job->size, sizeof *job->hosts);
    if (provided < MPI_THREAD_FUNNELED || !job->hosts || job->size > TH_RANKS_MAX) {
        th_complain("rank %d on %s cannot run with %d ranks: %s", job->rank, here, job->size,
                    !job->hosts                ? "out of memory"
                    : job->size > TH_RANKS_MAX ? "there are at most 4096"
                                               : "this MPI lacks MPI_THREAD_FUNNELED");
        MPI_Abort(job->world, TH_EXIT_ENVIRONMENT);
    }

    /* Who shares this host, and whether mpirun has bound them to CPUs. */
    MPI_Comm local;
    int local_rank, local_ranks;
    cpu_set_t own, all, any;
    MPI_Allgather(here, sizeof here, MPI_CHAR, job->hosts, sizeof here, MPI_CHAR, job->world);
    MPI_Comm_split_type(job->world, MPI_COMM_TYPE_SHARED, job->rank, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &local_rank);
    MPI_Comm_size(local, &local_ranks);
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BAND, local);
    MPI_Allreduce(&own, &any, sizeof own, MPI_BYTE, MPI_BOR, local);
    MPI_Comm_free(&local);
    job->shares_cpus = CPU_EQUAL(&all, &any);
    job->local_rank = (uint32_t)local_rank;
    job->local_ranks = (uint32_t)local_ranks;

    th_mpi_guard_end();
}

void th_mpi_end(th_mpi_job *job)
{
    th_mpi_guard_begin(job);
    MPI_Comm_free(&job->world);
    MPI_Finalize();
    th_mpi_guard_end();
    free(job->hosts);
}

/* ---- the roll ---- */

static double since_s(uint64_t start_ns)
{
    return (double)(th_clock_ns() - start_ns) / 1e9;
}

/* Rank 0 has had enough. It calls the roll and names who does not answer. */
static _Noreturn void end_job(th_mpi_job *job, double wait_s, const char *what)
{
    enum { NAMED = 8 };
    static bool is_here[TH_RANKS_MAX];
    int missing = job->size - 1, named = 0;
    const uint64_t start_ns = th_clock_ns();
    for (int r = 1; r < job->size; r++) {
        MPI_Request request;
        MPI_Isend(NULL, 0, MPI_BYTE, r, ROLL_CALL, job->world, &request);
        MPI_Request_free(&request);
    }
    while (missing > 0 && since_s(start_ns) < wait_s) {
        int has_answer = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, HERE, job->world, &has_answer, &status);
        if (!has_answer)
            continue;
        MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, HERE, job->world, MPI_STATUS_IGNORE);
        missing -= !is_here[status.MPI_SOURCE];
        is_here[status.MPI_SOURCE] = true;
    }
    for (int r = 1; r < job->size && named < NAMED; r++)
        if (!is_here[r]) {
            th_complain("rank %d on %s does not answer, while rank 0 waits for %s: it has died, hangs or is cut off", r,
                        job->hosts[r], what);
            named++;
        }
    if (missing > named)
        th_complain("%d more ranks do not answer", missing - named);

    const bool is_lost = missing > 0;
    if (received)
        th_complain("the job is ended by signal %d%s", (int)received,
                    is_lost ? ", which mpirun sends when it has lost a rank" : "");
    else if (!is_lost)
        th_complain("all ranks answer, but %s takes longer than %g s; a longer --timeout allows for that", what,
                    job->timeout_s);
    if (job->on_loss)
        job->on_loss(job->ctx);
    fflush(NULL);
    MPI_Abort(job->world, is_lost || !received ? TH_EXIT_ENVIRONMENT : 128 + received);
    _exit(TH_EXIT_ENVIRONMENT);
}

/* The others leave the naming to rank 0, unless it is rank 0 that is missing. */
static _Noreturn void leave_job(th_mpi_job *job, const char *what)
{
    th_complain("rank 0 on %s does not answer rank %d on %s, which waits for %s: it has died, hangs or "
                "is cut off, or is still busy, which a longer --timeout allows for",
                job->hosts[0], job->rank, job->hosts[job->rank], what);
    MPI_Abort(job->world, TH_EXIT_ENVIRONMENT);
    _exit(TH_EXIT_ENVIRONMENT);
}

/* ---- waiting ---- */

static void wait_for(th_mpi_job *job, MPI_Request request, const char *what, bool is_idle)
{
    const struct timespec pause = {0, IDLE_NS};
    const uint64_t start_ns = th_clock_ns();
    static uint64_t signal_ns; /* when it was seen first */
    for (uint32_t looks = 1;; looks++) {
        int is_done = 0, is_called = 0;
        if (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            th_complain("rank %d on %s: MPI failed in %s", job->rank, job->hosts[job->rank], what);
            MPI_Abort(job->world, TH_EXIT_ENVIRONMENT);
        }
        if (is_done)
            return;
        if (is_idle)
            nanosleep(&pause, NULL);
        else
            sched_yield();
        if (!is_idle && looks % LOOKS_A_POLL != 0)
            continue;

        /* Answers a roll call, and ends the job or leaves it where this takes too long. */
        if (job->rank > 0)
            MPI_Iprobe(0, ROLL_CALL, job->world, &is_called, MPI_STATUS_IGNORE);
        if (is_called) {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, ROLL_CALL, job->world, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, HERE, job->world);
        }
        if (received && signal_ns == 0)
            signal_ns = th_clock_ns();
        if (job->rank == 0) {
            const bool is_urgent = received && !job->signal; /* not all ranks know of it */
            if (is_urgent ? since_s(signal_ns) > SIGNAL_S : since_s(start_ns) > job->timeout_s)
                end_job(job, received ? SIGNAL_S : ROLL_S, what);
        } else if (since_s(start_ns) > job->timeout_s + OTHERS_S + NEXT_S * job->rank) {
            leave_job(job, what);
        }
    }
}

void th_mpi_wait(th_mpi_job *job, MPI_Request request, const char *what)
{
    wait_for(job, request, what, false);
}

void th_mpi_wait_idle(th_mpi_job *job, MPI_Request request, const char *what)
{
    wait_for(job, request, what, true);
}

void th_mpi_barrier(th_mpi_job *job, MPI_Comm comm, const char *what, bool is_idle)
{
    MPI_Request request;
    const int own = received;
    int all = 0;
    MPI_Iallreduce(&own, &all, 1, MPI_INT, MPI_MAX, comm, &request);
    wait_for(job, request, what, is_idle);
    job->signal = all;
}

void th_mpi_broadcast(th_mpi_job *job, void *bytes, uint64_t count, const char *what)
{
    enum { PART = 1 << 28 };
    for (uint64_t at = 0; at < count; at += PART) {
        MPI_Request request;
        const int part = (int)(count - at < PART ? count - at : PART);
        MPI_Ibcast((char *)bytes + at, part, MPI_BYTE, 0, job->world, &request);
        th_mpi_wait_idle(job, request, what);
    }
}

/* ---- agreeing ---- */

typedef struct report {
    int code;
    char text[508];
} report;

int th_mpi_agree(th_mpi_job *job, int code, const char *text)
{
    MPI_Request request;
    const int signal = received;
    report own = {.code = code || !signal ? code : 128 + signal};
    static report all[TH_RANKS_MAX];
    snprintf(own.text, sizeof own.text, "%s", code ? text : "");
    if (!code && signal)
        snprintf(own.text, sizeof own.text, "signal %d ends the job", signal);
    MPI_Igather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, 0, job->world, &request);
    th_mpi_wait_idle(job, request, "what each rank reports");
    int first = 0;
    for (int r = 0; job->rank == 0 && first == 0 && r < job->size; r++)
        if (all[r].code) {
            first = all[r].code;
            th_complain("rank %d on %s: %s", r, job->hosts[r], all[r].text);
        }
    th_mpi_broadcast(job, &first, sizeof first, "what rank 0 concludes");
    job->signal = first > 128 ? first - 128 : job->signal;
    return first;
}

int th_mpi_agree_on(th_mpi_job *job, th_result result, const th_error *err)
{
    return th_mpi_agree(job, result == TH_OK ? TH_EXIT_GOOD : th_exit_code(err), result == TH_OK ? "" : err->text);
}

int th_mpi_agree_same(th_mpi_job *job, const char *what, const char *text)
{
    char first[4096], difference[508];
    snprintf(first, sizeof first, "%s", text);
    th_mpi_broadcast(job, first, sizeof first, what);
    const bool is_same = strncmp(first, text, sizeof first - 1) == 0;
    size_t from = 0; /* of what is shown: a little before the difference */
    while (!is_same && first[from] == text[from])
        from++;
    from = from > 100 ? from - 100 : 0;
    snprintf(difference, sizeof difference, "another %s than rank 0: %.200s, not %.200s", what, text + from,
             first + from);
    return th_mpi_agree(job, is_same ? TH_EXIT_GOOD : TH_EXIT_USAGE, difference);
}
