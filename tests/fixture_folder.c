#include "fixture_folder.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char folder[64];
char path[128];

void make_folder(void)
{
    strcpy(folder, "/tmp/throng-test-XXXXXX");
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model.glb", folder);
}

int count_files(void)
{
    DIR *dir = opendir(folder);
    cr_assert(dir);
    int count = -2; /* . and .. */
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

void remove_folder(void)
{
    unlink(path);
    rmdir(path);
    cr_expect_eq(rmdir(folder), 0, "something is left in %s", folder);
}
