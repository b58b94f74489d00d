#include <throng/model.h>

#include <criterion/criterion.h>

Test(model, placeholder_until_suite_is_written)
{
    cr_assert_eq(th_model_find_joint(&(th_model){0}, "x"), TH_NO_INDEX);
}
