#include "fixture_import.h"

#include <criterion/criterion.h>

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
