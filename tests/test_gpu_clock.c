/* The GPU's own clock: answers come, late and in order, and nothing is asked where they would be lies. */
#include "fixture_gl.h"
#include "render/gl/gl_backend.h"

#include <throng/render/gpu_clock.h>
#include <throng/render/target.h>

#include <criterion/criterion.h>

static th_gpu_clock *gpu_clock;
static th_target *target;
static th_error err;

static void open_clock(bool trusted)
{
    open_headless();
    gl->info.timer_queries = trusted;
    cr_assert_eq(th_gpu_clock_create(gl, &gpu_clock, &err), TH_OK);
    cr_assert_eq(th_target_create(&(th_target_desc){16, 16, 1}, &target, &err), TH_OK);
    th_target_bind(target);
}

static void close_clock(void)
{
    th_gpu_clock_destroy(gpu_clock);
    th_target_destroy(target);
    close_checked();
}

static void clear_once(void)
{
    th_gpu_clock_begin(gpu_clock);
    glClear(GL_COLOR_BUFFER_BIT);
    th_gpu_clock_end(gpu_clock);
}

Test(gpu_clock, answers_when_the_gpu_is_done)
{
    uint64_t ns;
    open_clock(true);
    cr_expect(!th_gpu_clock_read(gpu_clock, &ns), "nothing was asked");
    for (int frame = 0; frame < 20; frame++) {
        clear_once();
        glFinish();
        cr_expect(th_gpu_clock_read(gpu_clock, &ns), "frame %d", frame);
        cr_expect(!th_gpu_clock_read(gpu_clock, &ns), "frame %d is told twice", frame);
    }
    close_clock();
}

Test(gpu_clock, goes_on_when_nobody_reads)
{
    uint64_t ns;
    open_clock(true);
    for (int frame = 0; frame < 50; frame++)
        clear_once();
    glFinish();
    cr_expect(th_gpu_clock_read(gpu_clock, &ns));
    clear_once();
    glFinish();
    cr_expect(th_gpu_clock_read(gpu_clock, &ns), "there is room again");
    close_clock();
}

Test(gpu_clock, asks_nothing_where_it_cannot_be_trusted)
{
    uint64_t ns;
    open_clock(false);
    for (int frame = 0; frame < 5; frame++) {
        clear_once();
        glFinish();
        cr_expect(!th_gpu_clock_read(gpu_clock, &ns));
    }
    close_clock();
}
