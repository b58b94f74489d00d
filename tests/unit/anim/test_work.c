/* Inside, since the count is of operations of the kernels' own code. The work of posing, by the constants of
 * anim/work.c, against the kernels' code over numbers that count: so it includes that code. */
#include "wide_counting.h"

/* Nobody needs this kernel fast, and inlining takes the compiler 10 seconds instead of 1.5. */
#define always_inline unused
#include "anim/kernels/pose_body.h"
#undef always_inline

#include "anim/crowd_data.h"
#include "fixture_crowd.h"
#include "fixture_morph.h"

#include <anim/ceilings.h>

#include <criterion/criterion.h>

enum { COUNT = 20 };

static const th_kernels counting = KERNELS;

static uint32_t kinds_seen; /* th_joint_op_flags */

/* Palettes by the counting kernel must be those of the scalar one. */
static void check_work(const crowd_fixture *of, th_format format)
{
    const th_program *program = &of->compiled->program;
    crowd_fixture s;
    crowd_fixture_init_twin(&s, of, (th_crowd_desc){.isa = TH_ISA_SCALAR, .format = format});
    crowd_fixture_update(&s, 0.3);
    const uint64_t hash = th_crowd_hash(s.crowd, s.palette);
    th_crowd counted = *s.crowd;
    counted.kernels = &counting;
    counted_flops = counted_key_bytes = counted_palette_bytes = 0;
    th_crowd_pose(&counted, 0, counted.batch_count, 0.3, s.palette, s.scratch);
    cr_assert_eq(th_crowd_hash(s.crowd, s.palette), hash);
    const th_crowd_work work = th_crowd_count_work(s.crowd);
    const char *model = of->compiled->model->name, *mode = th_interpolation_name(program->curve),
               *name = th_format_name(format);
    cr_expect_eq(work.flops, counted_flops, "%s, %s, %s: %zu operations, not %zu", model, mode, name,
                 (size_t)counted_flops, (size_t)work.flops);
    cr_expect_eq(work.key_bytes, counted_key_bytes, "%s, %s, %s", model, mode, name);
    cr_expect_eq(work.palette_bytes, counted_palette_bytes, "%s, %s, %s", model, mode, name);
    for (uint32_t op = 0; op < program->op_count && work.flops > 0; op++)
        kinds_seen |= program->ops[op].flags | (format == TH_FORMAT_F32 ? 0 : program->quat->ops[op].flags);
    crowd_fixture_fini_twin(&s);
}

static void check_model(const th_model *model)
{
    for (int mode = TH_INTERPOLATION_STEP; mode < TH_INTERPOLATION_COUNT; mode++)
        for (int keys = 0; keys < TH_KEYS_COUNT; keys++) {
            const th_compiled_model_desc how = {.interpolation = (th_interpolation)mode, .keys = (th_keys)keys};
            crowd_fixture s;
            crowd_fixture_init_with(&s, model, how, COUNT, (th_crowd_desc){.isa = TH_ISA_SCALAR});
            for (int format = 0; format < TH_FORMAT_COUNT; format++)
                if (!th_compiled_model_obstacle(s.compiled, (th_format)format))
                    check_work(&s, (th_format)format);
            crowd_fixture_fini(&s);
        }
}

Test(work, is_what_kernels_do)
{
    for (uint32_t n = 0; n < 15; n++) {
        random_desc desc = variety(n);
        desc.clip_count = 1 + n % 2;
        th_model *model = n % 5 == 4 ? morph_model(&desc, 5 + n) : random_model(&desc);
        check_model(model);
        th_model_destroy(model);
    }
    cr_expect_eq(kinds_seen, TH_JOINT_OP_ROTATION | TH_JOINT_OP_SCALE | TH_JOINT_OP_TRANSLATION | TH_JOINT_OP_OFFSET |
                                 TH_JOINT_OP_PIVOT | TH_JOINT_OP_WEIGHTS | TH_JOINT_OP_NEAR);
}
