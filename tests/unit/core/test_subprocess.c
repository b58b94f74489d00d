/* Subprocesses: what they get of the caller, and that they never outlive it. */
#include "fixture_folder.h"

#include <core/subprocess.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(subprocess, .init = make_folder, .fini = remove_folder);

static pid_t start_as(th_subprocess_desc desc)
{
    pid_t pid;
    cr_assert_eq(th_subprocess_start(&desc, &pid), 0);
    cr_assert_gt(pid, 0);
    return pid;
}

/* Runs a shell script with these files. */
static pid_t start(const char *script, int in, int out, int err)
{
    return start_as((th_subprocess_desc){"sh", (const char *[]){"sh", "-c", script, NULL}, .files = {in, out, err}});
}

static int memory_file(const char *text)
{
    const int file = memfd_create("test", 0); /* not close-on-exec: the subprocess must not get it all the same */
    cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    lseek(file, 0, SEEK_SET);
    return file;
}

static const char *text_of(int file)
{
    static char text[4096];
    const ssize_t count = pread(file, text, sizeof text - 1, 0);
    cr_assert_geq(count, 0);
    text[count] = '\0';
    return text;
}

static void check_exit(pid_t pid, int code)
{
    const int status = th_subprocess_wait(pid);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == code, "%x", (unsigned)status);
}

Test(subprocess, gets_its_files_and_gives_its_exit_code)
{
    const int in = memory_file("one two"), out = memory_file(""), err = memory_file("");
    check_exit(start("cat; echo three >&2; exit 7", in, out, err), 7);
    cr_expect_str_eq(text_of(out), "one two");
    cr_expect_str_eq(text_of(err), "three\n");
}

/* Each of the three is at the number of another. */
Test(subprocess, gets_its_files_whatever_their_numbers)
{
    const int in = memory_file("in"), out = memory_file(""), err = memory_file("");
    const int saved[] = {dup(0), dup(1), dup(2)};
    dup2(out, 0), dup2(err, 1), dup2(in, 2);
    const pid_t pid = start("cat; echo err >&2", 2, 0, 1);
    for (int i = 0; i < 3; i++)
        dup2(saved[i], i);
    check_exit(pid, 0);
    cr_expect_str_eq(text_of(out), "in");
    cr_expect_str_eq(text_of(err), "err\n");
}

Test(subprocess, reads_nothing_and_writes_nowhere_without_files)
{
    const int out = memory_file("");
    check_exit(start("cat; echo x >&2; readlink /proc/$$/fd/0 /proc/$$/fd/2", -1, out, -1), 0);
    cr_expect_str_eq(text_of(out), "/dev/null\n/dev/null\n");
}

Test(subprocess, gets_no_other_files)
{
    const int out = memory_file(""), other = memory_file("secret");
    cr_assert_geq(dup2(other, 9), 0);
    check_exit(start("test ! -e /proc/$$/fd/9 && test ! -e /proc/$$/fd/3", -1, out, -1), 0);
}

Test(subprocess, gets_additional_variables_which_win)
{
    const int out = memory_file("");
    const char *arguments[] = {"sh", "-c", "echo $ONE $TWO $THREE", NULL}, *variables[] = {"ONE=1", "TWO=new", NULL};
    setenv("TWO", "old", 1);
    setenv("THREE", "3", 1);
    check_exit(start_as((th_subprocess_desc){"sh", arguments, variables, .files = {-1, out, -1}}), 0);
    cr_expect_str_eq(text_of(out), "1 new 3\n");
}

Test(subprocess, gets_nothing_of_the_callers_environment_where_asked)
{
    const int out = memory_file("");
    const char *arguments[] = {"env", NULL}, *variables[] = {"ONE=1", NULL};
    setenv("TWO", "secret", 1);
    check_exit(start_as((th_subprocess_desc){"env", arguments, variables, true, {-1, out, -1}}), 0);
    cr_expect_str_eq(text_of(out), "ONE=1\n");
}

static void *signal_masks(const char *out)
{
    static unsigned long masks[2];
    cr_assert_eq(sscanf(strstr(out, "SigBlk:"), "SigBlk: %lx", &masks[0]), 1);
    cr_assert_eq(sscanf(strstr(out, "SigIgn:"), "SigIgn: %lx", &masks[1]), 1);
    return masks;
}

Test(subprocess, handles_signals_as_a_fresh_program_and_leaves_the_callers_alone)
{
    const int out = memory_file("");
    sigset_t blocked, now;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGPIPE, SIG_IGN);
    const char *arguments[] = {"cat", "/proc/self/status", NULL};
    check_exit(start_as((th_subprocess_desc){"cat", arguments, .files = {-1, out, -1}}), 0);
    const unsigned long *masks = signal_masks(text_of(out));
    cr_expect_eq(masks[0], 0, "%lx is blocked", masks[0]);
    cr_expect_eq(masks[1] & 0x7fffffff, 0, "%lx is ignored", masks[1]);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    cr_expect(sigismember(&now, SIGUSR1) && !sigismember(&now, SIGTERM));
    cr_expect_eq(signal(SIGPIPE, SIG_DFL), SIG_IGN);
}

Test(subprocess, is_a_process_group_of_its_own)
{
    const pid_t pid = start("exec sleep 100", -1, -1, -1);
    cr_expect_eq(getpgid(pid), pid);
    const int status = th_subprocess_kill(pid);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "a child is left");
}

Test(subprocess, says_why_a_program_cannot_be_started)
{
    const struct {
        const char *program;
        int error;
    } cases[] = {{"/no/such/program", ENOENT}, {"no-such-program-in-path", ENOENT}, {folder, EACCES}};
    setenv("PATH", "/usr/bin:/bin", 1); /* of which every folder can be read */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const arguments[] = {"x", NULL};
        const th_subprocess_desc desc = {cases[i].program, arguments, .files = {-1, -1, -1}};
        pid_t pid = 0;
        cr_expect_eq(th_subprocess_start(&desc, &pid), cases[i].error, "%s", cases[i].program);
        cr_expect_eq(pid, -1);
    }
    cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "a child is left");
}

/* ---- ends ---- */

/* Whether the pipe reaches its end, long before the subprocess ends by itself: nobody holds the other end open. */
static bool reaches_end(int pipe_end)
{
    char byte;
    return poll(&(struct pollfd){.fd = pipe_end, .events = POLLIN}, 1, 20000) == 1 && read(pipe_end, &byte, 1) == 0;
}

static void *start_and_end(void *out)
{
    start("exec sleep 100", -1, *(int *)out, -1);
    return NULL;
}

Test(subprocess, dies_with_the_thread_that_started_it)
{
    int ends[2];
    pthread_t thread;
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    cr_assert_eq(pthread_create(&thread, NULL, start_and_end, &ends[1]), 0);
    pthread_join(thread, NULL);
    close(ends[1]);
    cr_expect(reaches_end(ends[0]));
}

Test(subprocess, dies_with_a_caller_that_is_killed)
{
    int ends[2];
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    const pid_t caller = fork();
    if (caller == 0) {
        start("exec sleep 100", -1, ends[1], -1);
        raise(SIGKILL);
    }
    close(ends[1]);
    waitpid(caller, NULL, 0);
    cr_expect(reaches_end(ends[0]));
}

static void *start_many(void *failures)
{
    for (int i = 0; i < 12; i++) {
        const char *const arguments[] = {"true", NULL};
        const th_subprocess_desc desc = {"true", arguments, .files = {-1, -1, -1}};
        pid_t pid;
        *(int *)failures += th_subprocess_start(&desc, &pid) != 0 || th_subprocess_wait(pid) != 0;
    }
    return NULL;
}

Test(subprocess, can_be_started_by_many_threads_at_once)
{
    pthread_t threads[4];
    int failures[4] = {0};
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, start_many, &failures[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_eq(failures[i], 0);
    }
}
