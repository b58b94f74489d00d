#include "interrupt.h"

#include <core/subprocess.h>

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

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
