#include "fixture_small.h"

#include <criterion/criterion.h>

const th_synthetic_desc small_desc = {
    .name = "small", .joints = 12, .clips = 5, .keys = 16, .rate = 15, .moving = 80, .seed = 1};
th_model *small;

void make_small(void)
{
    th_error err;
    cr_assert_eq(th_synthetic_create(&small_desc, &small, &err), TH_OK, "%s", err.text);
}

void free_small(void)
{
    th_model_free(small);
}
