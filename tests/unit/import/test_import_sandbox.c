/* The importer, taken over (hostile_importer.c), achieves nothing. Kernels that lack something are a filter of system
 * calls here, which says that there are no such calls. */
#include "fixture_attack.h"
#include "fixture_folder.h"
#include "fixture_import.h"

#include <anim/sandbox.h>

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char secret[] = "secret";
static attack_target target;

/* Port 0: some free port. */
static int listen_on(int family, void *address, socklen_t size)
{
    const int s = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(bind(s, address, size) == 0 && listen(s, 64) == 0 && getsockname(s, address, &size) == 0);
    return s;
}

/* Folders: "home", with the secret, beside "models", with the model. */
static void set_up(void)
{
    struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un abstract = {.sun_family = AF_UNIX};
    make_folder();
    snprintf(target.file, sizeof target.file, "%s/home", folder);
    mkdir(target.file, 0700);
    strcat(target.file, "/.ssh");
    mkdir(target.file, 0700);
    strcat(target.file, "/id");
    write_text(target.file, "content");
    snprintf(target.folder, sizeof target.folder, "%s/models", folder);
    mkdir(target.folder, 0700);
    snprintf(target.socket, sizeof target.socket, "throng-test-%d", (int)getpid());
    strcpy(abstract.sun_path + 1, target.socket);
    listen_on(AF_INET, &tcp, sizeof tcp);
    listen_on(AF_UNIX, &abstract, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(target.socket)));
    target.port = ntohs(tcp.sin_port);
    target.secret = (unsigned long)(uintptr_t)secret;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* so that it is not Yama who forbids it */
}

TestSuite(import_sandbox, .init = set_up, .fini = remove_all);

static const char *in_models(const char *name)
{
    static char name_of[192];
    snprintf(name_of, sizeof name_of, "%s/%s", target.folder, name);
    return name_of;
}

static void clean(void)
{
    static const char *const left[] = {"new", "link", "hard", "renamed", "made"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        remove(in_models(left[i]));
    write_text(in_models("old"), "content");
}

/* ---- kernels ---- */

enum { LANDLOCK = 1, SECCOMP = 2, OPENAT2 = 4 };

static void lack(unsigned what)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int result = 0;
    if (what & LANDLOCK)
        result |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_landlock_create_ruleset, 0);
    if (what & SECCOMP)
        result |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_seccomp, 0);
    if (what & OPENAT2)
        result |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_openat2, 0);
    if (what && (result != 0 || seccomp_load(filter) != 0))
        abort();
    seccomp_release(filter);
}

/* ---- attacks ---- */

/* What came of it: an errno value, or -1 for no answer. Runs in a child, whose filters end with it. */
static int attack_importer(const attack *a, unsigned lacking)
{
    clean();
    const pid_t child = fork();
    if (child == 0) {
        th_model *model;
        th_error err;
        const char *file = in_models("model.x");
        target.parent = getpid();
        attack_write(&target, a->name, file);
        lack(lacking);
        int code = 255;
        th_import(&(th_import_desc){.path = file, .importer = TEST_HOSTILE_IMPORTER}, &model, &err);
        const char *says = strstr(err.text, "errno=");
        if (says)
            sscanf(says, "errno=%d", &code);
        else
            code = strstr(err.text, "without an answer (exit code 0)") ? 0 : 255; /* it became /bin/true */
        _exit(code);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1;
}

static bool is_one_of(const attack *a, const char *names)
{
    const char *at = strstr(names, a->name);
    const size_t length = strlen(a->name);
    return at && (at == names || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
}

/* free: names of attacks that succeed there, separated by spaces. */
static void check_attacks(unsigned lacking, const char *free)
{
    for (size_t i = 0; i < attack_count; i++) {
        const int result = attack_importer(&attacks[i], lacking);
        if (is_one_of(&attacks[i], free))
            cr_expect_eq(result, 0, "%s: %s", attacks[i].name, strerror(result));
        else
            cr_expect(result == EPERM || result == EACCES || result == EXDEV, "%s: %d", attacks[i].name, result);
    }
}

static void skip_without(bool it, const char *what)
{
    if (!it)
        cr_skip_test("this kernel has no %s", what);
}

Test(import_sandbox, stops_all_attacks)
{
    const th_sandbox kernel = th_sandbox_read();
    skip_without(kernel.seccomp, "seccomp");
    skip_without(kernel.landlock_abi > 0, "Landlock");
    check_attacks(0, "");
}

/* The same functions, or none of this would prove anything. */
Test(import_sandbox, is_what_stops_the_attacks)
{
    for (size_t i = 0; i < attack_count; i++) {
        clean();
        target.parent = getpid();
        const pid_t child = fork();
        if (child == 0)
            _exit(attacks[i].run(&target));
        int status;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_expect(WIFEXITED(status), "%s", attacks[i].name);
        cr_expect_eq(WEXITSTATUS(status), 0, "%s: %s", attacks[i].name, strerror(WEXITSTATUS(status)));
    }
}

/* Each layer stops what it can where the other is missing. */
Test(import_sandbox, stops_all_but_reading_without_landlock)
{
    skip_without(th_sandbox_read().seccomp, "seccomp");
    check_attacks(LANDLOCK, "read-passwd read-secret proc-mem proc-environ");
}

Test(import_sandbox, stops_files_and_signals_without_seccomp)
{
    const th_sandbox kernel = th_sandbox_read();
    skip_without(kernel.landlock_abi >= TH_LANDLOCK_ABI, "recent Landlock");
    skip_without(getuid() == 0, "limit of root's processes, and this is not root: its attacks fail in other ways");
    check_attacks(SECCOMP, "fork map-code protect-code memfd namespace chmod");
}

Test(import_sandbox, has_nothing_of_the_environment)
{
    setenv("THRONG_TOKEN", "a secret of the parent's", 1);
    write_text(in_models("model.x"), "content");
    th_model *model;
    th_error err;
    char script[256], importer[192];
    snprintf(script, sizeof script, "#!/bin/sh\nenv > %s/environment\n", target.folder);
    strcpy(importer, in_models("importer"));
    write_text(importer, script);
    chmod(importer, 0700);
    th_import(&(th_import_desc){.path = in_models("model.x"), .importer = importer}, &model, &err);
    char text[4096] = "";
    FILE *file = fopen(in_models("environment"), "r");
    cr_assert(file);
    cr_assert_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    cr_expect(strstr(text, "PWD=")); /* the shell's own */
    cr_expect_null(strstr(text, "TOKEN"));
    cr_expect_null(strstr(text, "HOME="));
}

/* ---- kernels that lack something ---- */

static int import_lacking(const char *file, unsigned lacking)
{
    const pid_t child = fork();
    if (child == 0) {
        th_model *model;
        th_error err;
        lack(lacking);
        _exit((int)import(file, &model, &err));
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_gltf(const char *uri)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{\"bufferView\":0,"
        "\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
        "\"buffers\":[{\"byteLength\":36,\"uri\":\"%s\"}]}",
        uri);
    write_text(in_models("model.gltf"), text);
}

static void write_triangle(const char *name)
{
    static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    FILE *file = fopen(name, "w");
    cr_assert(file);
    fwrite(triangle, sizeof triangle, 1, file);
    fclose(file);
}

Test(import_sandbox, reads_the_folder_whatever_the_kernel_lacks)
{
    static const unsigned kernels[] = {0, LANDLOCK, SECCOMP, OPENAT2, LANDLOCK | SECCOMP | OPENAT2};
    char link[192];
    mkdir(in_models("sub"), 0700);
    write_triangle(in_models("sub/buffer.bin"));
    write_triangle(target.file);
    strcpy(link, in_models("linked"));
    cr_assert_eq(symlink(target.file, link), 0);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        write_gltf("./sub/../sub/buffer.bin");
        cr_expect_eq(import_lacking(in_models("model.gltf"), kernels[k]), TH_OK, "%x", kernels[k]);
        write_gltf("../home/.ssh/id");
        cr_expect_eq(import_lacking(in_models("model.gltf"), kernels[k]), TH_ERR_INPUT, "%x", kernels[k]);
        write_gltf("linked");
        cr_expect_eq(import_lacking(in_models("model.gltf"), kernels[k]), TH_ERR_INPUT, "%x", kernels[k]);
    }
}

static const char *gaps_lacking(unsigned lacking)
{
    static char *text;
    text = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t child = fork();
    if (child == 0) {
        const char *gaps[TH_SANDBOX_MAX_GAPS];
        lack(lacking);
        const th_sandbox kernel = th_sandbox_read();
        const uint32_t count = th_sandbox_gaps(&kernel, gaps);
        for (uint32_t g = 0; g < count; g++)
            strcat(strcat(text, gaps[g]), "\n");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return text;
}

Test(import_sandbox, says_what_the_kernel_lacks)
{
    cr_expect(strstr(gaps_lacking(LANDLOCK), "no Landlock"));
    cr_expect(strstr(gaps_lacking(SECCOMP), "no seccomp"));
    const char *old[TH_SANDBOX_MAX_GAPS];
    cr_assert_eq(th_sandbox_gaps(&(th_sandbox){.landlock_abi = 1, .seccomp = true}, old), 1);
    cr_expect(strstr(old[0], "old Landlock"));
    cr_expect_eq(th_sandbox_gaps(&(th_sandbox){.landlock_abi = TH_LANDLOCK_ABI, .seccomp = true}, old), 0);
}
