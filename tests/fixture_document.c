#include "fixture_document.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* diff reads standard input as "-". */
static int pipe_into(const char *command, const char *text)
{
    FILE *pipe = popen(command, "w");
    cr_assert(pipe);
    fputs(text, pipe);
    return pclose(pipe);
}

void check_text(const char *path, const char *text)
{
    char command[1200];
    if (getenv("THRONG_GOLDEN_UPDATE")) {
        FILE *file = fopen(path, "w");
        cr_assert(file, "%s: %s", path, strerror(errno));
        fputs(text, file);
        cr_assert_eq(fclose(file), 0);
        return;
    }
    snprintf(command, sizeof command, "diff -u --label stored --label printed '%s' - >&2", path);
    cr_expect_eq(pipe_into(command, text), 0, "not what %s says; if this is right: THRONG_GOLDEN_UPDATE=1", path);
}

void check_document(const char *folder, const char *name, const char *text)
{
    char path[512];
    if (getenv("THRONG_GOLDEN_UPDATE")) {
        snprintf(path, sizeof path, TEST_GOLDEN "/documents/%s", folder);
        cr_assert(mkdir(path, 0777) == 0 || errno == EEXIST, "%s: %s", path, strerror(errno));
    }
    snprintf(path, sizeof path, TEST_GOLDEN "/documents/%s/%s", folder, name);
    check_text(path, text);
}

void check_folder(const char *folder, const char *const *names, size_t count)
{
    char path[512];
    snprintf(path, sizeof path, TEST_GOLDEN "/documents/%s", folder);
    DIR *files = opendir(path);
    cr_assert(files, "%s: %s", path, strerror(errno));
    for (const struct dirent *file; (file = readdir(files));) {
        size_t row = 0;
        while (row < count && strcmp(names[row], file->d_name) != 0)
            row++;
        cr_expect(file->d_name[0] == '.' || row < count, "%s/%s: nothing prints it", path, file->d_name);
    }
    closedir(files);
}

void check_documents(const char *folder, const golden_document *rows, size_t count)
{
    const char **names = calloc(count, sizeof *names);
    cr_assert(names);
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        cr_assert(out);
        names[i] = rows[i].name;
        rows[i].print(out);
        cr_assert_eq(fclose(out), 0);
        check_document(folder, rows[i].name, text);
        free(text);
    }
    check_folder(folder, names, count);
    free(names);
}
