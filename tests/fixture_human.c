#include "fixture_human.h"

#include <throng/anim/human.h>

#include <criterion/criterion.h>

th_model *human;

void make_human(void)
{
    th_error err;
    cr_assert_eq(th_human_create(&human, &err), TH_OK, "%s", err.text);
}

void free_human(void)
{
    th_model_free(human);
}
