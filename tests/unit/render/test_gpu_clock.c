/* Inside, since a GPU's answers are made up. The GPU's own clock: answers come, late and in order, and nothing is
 * asked where they would be lies. */
#include "fixture_gl.h"
#include "render/gl/gl_backend.h"

#include <render/gpu_clock.h>

#include <criterion/criterion.h>
#include <glad/gl.h>

static th_gpu_clock *gpu_clock;
static uint64_t ns;

END_BY(th_gpu_clock_destroy)

TestSuite(gpu_clock, .init = open_gl, .fini = close_gl);

static void make_clock(bool trusted)
{
    gl->info.timer_queries = trusted;
    cr_assert_eq(th_gpu_clock_create(gl, &gpu_clock, NULL), TH_OK);
    at_end(end_by_th_gpu_clock_destroy, gpu_clock);
    th_target_bind(make_target(16, 16, 1));
}

static void clear_once(void)
{
    th_gpu_clock_begin(gpu_clock);
    glClear(GL_COLOR_BUFFER_BIT);
    th_gpu_clock_end(gpu_clock);
}

CHECK(gpu_clock, answers_when_the_gpu_is_done_and_can_be_trusted)
{
    for (int trusted = 0; trusted < 2; trusted++) {
        make_clock(trusted);
        cr_expect(!th_gpu_clock_read(gpu_clock, &ns), "nothing was asked");
        for (int frame = 0; frame < 20; frame++) {
            clear_once();
            glFinish();
            cr_expect_eq(th_gpu_clock_read(gpu_clock, &ns), trusted, "frame %d", frame);
            cr_expect(!th_gpu_clock_read(gpu_clock, &ns), "frame %d is told twice", frame);
        }
    }
}

CHECK(gpu_clock, goes_on_when_nobody_reads)
{
    make_clock(true);
    for (int frame = 0; frame < 50; frame++)
        clear_once();
    glFinish();
    cr_expect(th_gpu_clock_read(gpu_clock, &ns));
    clear_once();
    glFinish();
    cr_expect(th_gpu_clock_read(gpu_clock, &ns), "there is room again");
}

Test(gpu_clock, checks)
{
    run_checks("gpu_clock");
}
