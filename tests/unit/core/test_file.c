/* Files replaced as a whole or not at all, whatever comes between. */
#include "fixture_folder.h"

#include <core/file.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE ((size_t)1 << 18)
#define SEED 11u

TestSuite(file, .init = make_folder, .fini = remove_folder);

static th_error err;

/* SIZE times the letter. */
static th_result write_letters(const char *where, char letter)
{
    static char bytes[SIZE];
    memset(bytes, letter, sizeof bytes);
    err = (th_error){0};
    return th_file_replace(where, &(struct iovec){bytes, sizeof bytes}, 1, &err);
}

static void check_letters(const char *where)
{
    static char bytes[SIZE + 1];
    int file = open(where, O_RDONLY);
    cr_assert_geq(file, 0);
    cr_assert_eq(read(file, bytes, sizeof bytes), (ssize_t)SIZE);
    close(file);
    for (size_t i = 0; i < SIZE; i++)
        cr_assert_eq(bytes[i], bytes[0], "byte %zu", i);
}

static void write_until_killed(void)
{
    for (char letter = 'a';; letter = letter == 'a' ? 'b' : 'a')
        if (th_file_probe(path, &err) != TH_OK || write_letters(path, letter) != TH_OK)
            _exit(1);
}

Test(file, leaves_nothing_behind_when_a_signal_ends_the_program)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    cr_assert_eq(write_letters(path, 'a'), TH_OK, "%s", err.text);
    srand(SEED);
    for (int round = 0; round < 20; round++) {
        int signal_number = signals[round % 3], status;
        signal(signal_number, SIG_DFL); /* before the fork: a signal that is ignored is lost */
        pid_t child = fork();
        if (child == 0)
            write_until_killed();
        usleep(3000 + (useconds_t)rand() % 5000);
        kill(child, signal_number);
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == signal_number, "status %d", status);
        cr_assert_eq(count_files(), 1, "round %d", round);
        check_letters(path);
    }
}

/* Were SIGXFSZ heard, now or later, it would end this test. */
Test(file, survives_the_limit_of_file_sizes)
{
    sigset_t blocked;
    cr_assert_eq(write_letters(path, 'a'), TH_OK, "%s", err.text);
    signal(SIGXFSZ, SIG_DFL);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, before.rlim_max});
    cr_expect_eq(write_letters(path, 'b'), TH_ERR_INPUT);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_expect(strstr(err.text, strerror(EFBIG)), "%s", err.text);
    cr_expect_eq(count_files(), 1);
    check_letters(path);
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    cr_expect_eq(sigismember(&blocked, SIGTERM), 0, "the mask is what it was");
}

static const char *read_boot(void)
{
    static char boot[9];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    cr_assert(file && fgets(boot, sizeof boot, file));
    fclose(file);
    return boot;
}

/* The child is stopped while its temporary file has some of its bytes. Others: another kernel's, and a user's. */
/* None takes the temporary file of another for a leftover, or writes in place what another replaces. */
Test(file, is_written_by_several_programs_at_once)
{
    for (int p = 0; p < 4; p++)
        if (fork() == 0) {
            bool is_good = true;
            for (int i = 0; i < 300 && is_good; i++)
                is_good = th_file_probe(path, &err) == TH_OK && write_letters(path, 'a') == TH_OK;
            _exit(!is_good);
        }
    int status = 0, in_place = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) >= 0; in_place += th_file_is_in_place(path))
        cr_expect(ended == 0 || status == 0);
    cr_expect_eq(in_place, 0);
    check_letters(path);
    cr_expect_eq(count_files(), 1);
}

Test(file, of_a_killed_program_is_removed_by_the_next)
{
    enum { OTHERS = 3 };
    static const char *const others[OTHERS] = {"throng.1-0.0123abcd.tmp", "throng.1-0.0123abcd.tmp~", "throng.1-0.tmp"};
    char left[sizeof path + 64] = "";
    struct stat status = {0};
    pid_t child;
    for (int tries = 0; tries < 5000; tries++) {
        if ((child = fork()) == 0)
            write_until_killed();
        usleep(3000 + (useconds_t)tries % 5000);
        kill(child, SIGSTOP);
        cr_assert_eq(waitpid(child, NULL, WUNTRACED), child);
        snprintf(left, sizeof left, "%s/throng.%ld-0.%s.tmp", folder, (long)child, read_boot());
        if (stat(left, &status) == 0 && status.st_size > 0)
            break;
        kill(child, SIGKILL);
        cr_assert_eq(waitpid(child, NULL, 0), child);
    }
    unlink(path);
    cr_expect_eq(th_file_probe(path, &err), TH_OK);
    cr_expect_eq(count_files(), 1, "it lives");
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    for (int i = 0; i < OTHERS; i++)
        cr_assert_eq(link(left, in_folder(others[i])), 0);
    cr_expect_eq(th_file_probe(path, &err), TH_OK);
    cr_expect_eq(count_files(), OTHERS, "others are left");
    utimensat(AT_FDCWD, in_folder(others[0]), (struct timespec[]){{0, 0}, {0, 0}}, 0);
    cr_expect_eq(th_file_probe(path, &err), TH_OK);
    cr_expect_eq(count_files(), OTHERS - 1, "old ones are not");
    for (int i = 1; i < OTHERS; i++)
        cr_expect_eq(unlink(in_folder(others[i])), 0, "%s", others[i]);
}

Test(file, leaves_the_temporary_file_of_another_alone)
{
    char other[sizeof path + 64];
    snprintf(other, sizeof other, "%s/throng.%ld-0.%s.tmp", folder, (long)getpid(), read_boot());
    cr_assert_eq(mkdir(other, 0777), 0);
    cr_expect_eq(write_letters(path, 'a'), TH_OK, "%s", err.text);
    cr_expect_eq(count_files(), 2);
    cr_expect_eq(rmdir(other), 0);
}

Test(file, leaves_permissions_to_the_umask)
{
    umask(027);
    cr_expect_eq(write_letters(path, 'a'), TH_OK, "%s", err.text);
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0640);
}

static void check_unwritable(const char *where, int reason)
{
    cr_expect_eq(write_letters(where, 'a'), TH_ERR_INPUT);
    cr_expect(strstr(err.text, where) && strstr(err.text, strerror(reason)), "%s", err.text);
}

Test(file, fails_where_it_may_not_write)
{
    char nowhere[sizeof path + 16];
    snprintf(nowhere, sizeof nowhere, "%s/none/model.glb", folder);
    check_unwritable(nowhere, ENOENT);
    const uid_t user = geteuid(), nobody = 65534;
    cr_assert_eq(chmod(folder, 0555), 0);
    if (user == 0) /* who may write everywhere */
        cr_assert_eq(seteuid(nobody), 0);
    check_unwritable(path, EACCES);
    cr_assert_eq(seteuid(user), 0);
    cr_assert_eq(chmod(folder, 0700), 0);
    cr_expect_eq(count_files(), 0);
    cr_assert_eq(mkdir(path, 0777), 0);
    check_unwritable(path, EISDIR);
    cr_expect_eq(count_files(), 1);
}

/* As long as a name may be. */
Test(file, takes_every_name_that_the_system_takes)
{
    char name[256], where[sizeof path + sizeof name];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(where, sizeof where, "%s/%s", folder, name);
    cr_expect_eq(th_file_probe(where, &err), TH_OK, "%s", err.text);
    cr_expect_eq(write_letters(where, 'a'), TH_OK, "%s", err.text);
    check_letters(where);
    cr_expect_eq(count_files(), 1);
    unlink(where);
}

static bool is_link(const char *where)
{
    struct stat status;
    return lstat(where, &status) == 0 && S_ISLNK(status.st_mode);
}

Test(file, follows_links)
{
    char link[sizeof path + 8];
    snprintf(link, sizeof link, "%s.link", path);
    cr_assert_eq(write_letters(path, 'a'), TH_OK, "%s", err.text);
    cr_assert_eq(symlink("model.glb", link), 0);
    cr_expect_eq(write_letters(link, 'b'), TH_OK, "%s", err.text);
    cr_expect(is_link(link));
    check_letters(path);
    cr_expect_eq(count_files(), 2);
    unlink(link);
}

/* One link to another, and that to nothing; and one to itself. */
Test(file, follows_links_to_what_is_not_there_yet)
{
    char far[sizeof path + 8], near[sizeof path + 8];
    snprintf(far, sizeof far, "%s.far", path);
    snprintf(near, sizeof near, "%s.near", path);
    cr_assert_eq(symlink("model.glb.near", far), 0);
    cr_assert_eq(symlink(path, near), 0);
    cr_expect_eq(th_file_probe(far, &err), TH_OK, "%s", err.text);
    cr_expect_eq(count_files(), 2);
    cr_expect_eq(write_letters(far, 'a'), TH_OK, "%s", err.text);
    cr_expect(is_link(far) && is_link(near));
    check_letters(path);
    cr_expect_eq(count_files(), 3);

    unlink(near);
    cr_assert_eq(symlink(near, near), 0);
    cr_expect_eq(write_letters(near, 'b'), TH_ERR_INPUT);
    cr_expect(strstr(err.text, strerror(ELOOP)), "%s", err.text);
    cr_expect(is_link(near));
    unlink(near);
    unlink(far);
}

/* A pipe stands for all that is no file. Never a device: should this fail, a privileged user would lose it. */
Test(file, writes_straight_to_what_is_no_file)
{
    cr_assert_eq(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    cr_expect_eq(th_file_probe(path, &err), TH_OK);
    cr_expect_eq(th_file_replace(path, &(struct iovec){(char[]){"hello"}, 5}, 1, &err), TH_OK, "%s", err.text);
    char got[8] = {0};
    cr_expect_eq(read(reader, got, sizeof got), 5);
    cr_expect_str_eq(got, "hello");
    close(reader);
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    cr_expect(S_ISFIFO(status.st_mode));
    cr_expect_eq(count_files(), 1);
}

/* A pipe that is full and never read: a signal must still end the program. */
Test(file, hears_signals_while_it_waits_for_a_pipe)
{
    cr_assert_eq(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK), status;
    signal(SIGTERM, SIG_DFL);
    pid_t child = fork();
    if (child == 0) {
        alarm(20); /* not for ever, should it hear nothing else */
        write_letters(path, 'a');
        _exit(0);
    }
    usleep(50000);
    kill(child, SIGTERM);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "status %d", status);
    close(reader);
}
