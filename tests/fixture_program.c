#include "fixture_program.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/throng-cli-XXXXXX";
char out[1 << 20], err[1 << 14];

void make_folder(void)
{
    cr_assert_neq(mkdtemp(folder), NULL);
    cr_assert_eq(chdir(folder), 0);
    setenv("THRONG_PROGRESS", "off", 1); /* which a slow machine would show among what is expected */
}

void need_opengl(void)
{
    if (throng("render --count 1 --size 16x16 --model synthetic:joints=2 --out try.png") == 4)
        cr_skip_test("no OpenGL here: %s", err);
}

void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

void slurp(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    cr_assert_neq(file, NULL, "%s", path);
    size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    fclose(file);
}

int throng(const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof command, "{ '%s' %s ; } >.out 2>.err", TEST_PROGRAM, arguments);
    int status = system(command);
    slurp(".out", out, sizeof out);
    slurp(".err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void expect(int code, const char *arguments, const char *message)
{
    int got = throng(arguments);
    cr_expect_eq(got, code, "%s: exit code %d, not %d; %s", arguments, got, code, err);
    cr_expect(strstr(err, message), "%s: %s", arguments, err);
    cr_expect(code == 0 || strncmp(err, "throng: ", 8) == 0, "%s: %s", arguments, err);
}

json_t *document(const char *arguments)
{
    json_error_t error;
    int code = throng(arguments);
    cr_assert_eq(code, 0, "%s: %s", arguments, err);
    json_t *json = json_loads(out, JSON_REJECT_DUPLICATES, &error); /* refuses anything behind the document */
    cr_assert_neq(json, NULL, "%s: %s in line %d", arguments, error.text, error.line);
    return json;
}
