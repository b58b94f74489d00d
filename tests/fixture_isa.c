#include "fixture_isa.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct criterion_test_params each_isa(void)
{
    static th_isa isas[TH_ISA_COUNT];
    size_t count = 0;
    for (int isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++)
        isas[count++] = (th_isa)isa;
    return cr_make_param_array(th_isa, isas, count);
}

void skip_without(th_isa isa)
{
    if (!th_isa_available(isa))
        cr_skip("this machine lacks %s", th_isa_name(isa));
}
