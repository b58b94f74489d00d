#include "fixture_import.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

th_result import(const char *path, th_model **model, th_error *err)
{
    *err = (th_error){0};
    return th_import(&(th_import_desc){.path = path, .importer = TEST_IMPORTER}, model, err);
}

th_model *import_good(const char *path)
{
    th_model *model;
    th_error err;
    cr_assert_eq(import(path, &model, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_model_check(model, &err), TH_OK, "%s: %s", path, err.text);
    return model;
}

const char *testmodel(const char *file)
{
    static char path[512];
    snprintf(path, sizeof path, TEST_MODELS "/%s", file);
    if (access(path, R_OK) != 0)
        cr_skip_test("no %s (Debian: assimp-testmodels)", path);
    return path;
}
