#include "fixture_attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int result_of(long result)
{
    return result < 0 ? errno : 0;
}

/* One that is a call. */
#define ATTACK(name, result)                                                                                           \
    static int name(const attack_target *t)                                                                            \
    {                                                                                                                  \
        (void)t;                                                                                                       \
        return result;                                                                                                 \
    }

static int connect_to(int family, const void *address, size_t size)
{
    const int s = socket(family, SOCK_STREAM, 0);
    return s < 0 ? errno : result_of(connect(s, address, (socklen_t)size));
}

static int connect_tcp(const attack_target *t)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)t->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return connect_to(AF_INET, &to, sizeof to);
}

static int connect_abstract(const attack_target *t)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strcpy(to.sun_path + 1, t->socket);
    return connect_to(AF_UNIX, &to, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(t->socket));
}

static int read_from(const char *path)
{
    char byte;
    const int file = open(path, O_RDONLY);
    return file < 0 ? errno : read(file, &byte, 1) == 1 ? 0 : errno ? errno : EIO;
}

ATTACK(read_passwd, read_from("/etc/passwd"))
ATTACK(read_secret, read_from(t->file))

static const char *in_folder(const attack_target *t, const char *name)
{
    static char path[192];
    snprintf(path, sizeof path, "%s/%s", t->folder, name);
    return path;
}

ATTACK(write_new, result_of(open(in_folder(t, "new"), O_WRONLY | O_CREAT, 0600)))
ATTACK(write_old, result_of(open(in_folder(t, "old"), O_WRONLY)))

/* Two ways that a list of system calls cannot look into, or may have forgotten. */
static int truncate_by_openat2(const attack_target *t)
{
    const struct open_how how = {.flags = O_RDONLY | O_TRUNC};
    return result_of(syscall(SYS_openat2, AT_FDCWD, in_folder(t, "old"), &how, sizeof how));
}

ATTACK(truncate_by_path, result_of(truncate(in_folder(t, "old"), 0)))
ATTACK(remove_old, result_of(unlink(in_folder(t, "old"))))

static int rename_old(const attack_target *t)
{
    char to[192];
    snprintf(to, sizeof to, "%s/renamed", t->folder);
    return result_of(rename(in_folder(t, "old"), to));
}

ATTACK(make_link, result_of(symlink("/etc/passwd", in_folder(t, "link"))))
ATTACK(make_hard_link, result_of(link(t->file, in_folder(t, "hard"))))
ATTACK(make_folder, result_of(mkdir(in_folder(t, "made"), 0700)))
ATTACK(change_mode, result_of(chmod(in_folder(t, "old"), 0777)))

static int execute(const attack_target *t)
{
    (void)t;
    execl("/bin/true", "true", NULL); /* whose exit code is that of success */
    return errno;
}

static int start_process(const attack_target *t)
{
    (void)t;
    const pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return pid < 0 ? errno : result_of(waitpid(pid, NULL, 0));
}

ATTACK(trace_parent, result_of(ptrace(PTRACE_SEIZE, t->parent, NULL, NULL)))

static int read_memory(const attack_target *t)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)t->secret, 1};
    return result_of(process_vm_readv(t->parent, &to, 1, &from, 1, 0));
}

static int read_of_parent(const attack_target *t, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)t->parent, name);
    return result_of(open(path, O_RDONLY));
}

ATTACK(open_memory, read_of_parent(t, "mem"))
ATTACK(open_environment, read_of_parent(t, "environ"))

static int map_code(const attack_target *t)
{
    (void)t;
    const void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? errno : 0;
}

static int turn_data_into_code(const attack_target *t)
{
    (void)t;
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? errno : result_of(mprotect(at, 4096, PROT_READ | PROT_EXEC));
}

ATTACK(kill_parent, result_of(kill(t->parent, SIGURG)))
ATTACK(kill_thread_of_parent, result_of(syscall(SYS_tgkill, t->parent, t->parent, SIGURG)))
ATTACK(make_memory_file, result_of(memfd_create("code", 0)))
ATTACK(have_own_namespace, result_of(unshare(CLONE_NEWUSER)))

const attack attacks[] = {
    {"connect-tcp", connect_tcp},
    {"connect-abstract", connect_abstract},
    {"read-passwd", read_passwd},
    {"read-secret", read_secret},
    {"write-new", write_new},
    {"write-old", write_old},
    {"truncate-openat2", truncate_by_openat2},
    {"truncate", truncate_by_path},
    {"unlink", remove_old},
    {"rename", rename_old},
    {"symlink", make_link},
    {"link", make_hard_link},
    {"mkdir", make_folder},
    {"chmod", change_mode},
    {"execute", execute},
    {"fork", start_process},
    {"ptrace", trace_parent},
    {"process-vm", read_memory},
    {"proc-mem", open_memory},
    {"proc-environ", open_environment},
    {"map-code", map_code},
    {"protect-code", turn_data_into_code},
    {"kill", kill_parent},
    {"tgkill", kill_thread_of_parent},
    {"memfd", make_memory_file},
    {"namespace", have_own_namespace},
};
const size_t attack_count = sizeof attacks / sizeof *attacks;

void attack_write(const attack_target *t, const char *name, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file || fprintf(file, "%s %d %lu %d %s %s %s\n", name, (int)t->parent, t->secret, t->port, t->file, t->folder,
                         t->socket) < 0)
        abort();
    fclose(file);
}

const attack *attack_read(const char *path, attack_target *out)
{
    char name[32];
    int parent;
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%31s %d %lu %d %127s %127s %63s", name, &parent, &out->secret, &out->port, out->file,
                        out->folder, out->socket) != 7)
        abort();
    fclose(file);
    out->parent = parent;
    for (size_t a = 0; a < attack_count; a++)
        if (strcmp(attacks[a].name, name) == 0)
            return &attacks[a];
    abort();
}
