/* Inside, since its shaders are its own. The ring: what is drawn is what was written for that frame, however far the
 * CPU is ahead. Mesa's own thread (mesa_glthread) lets it be far ahead even where the CPU draws. */
#include "fixture_gl.h"
#include "render/gl/program.h"

#include <render/ring.h>

#include <criterion/criterion.h>
#include <glad/gl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A frame is a row of the picture; a pixel looks at a run of words, which should all hold the number of the frame. */
enum { FRAMES = 400, ROWS = 400, PIXELS = 64, RUN = 64, WORDS = PIXELS * RUN };

static const th_shader vertices = {"row.vert",
                                   "void main()\n"
                                   "{\n"
                                   "    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;\n"
                                   "    gl_Position = vec4(corner, 0, 1);\n"
                                   "}\n"};

/* Red, green and blue: the first word. Alpha: 0 when the words are not all the same. */
static const th_shader fragments = {
    "words.frag", "layout(std430, binding = 0) readonly buffer Slot { uint words[]; };\n"
                  "layout(location = 0) out vec4 o_color;\n"
                  "void main()\n"
                  "{\n"
                  "    uint at = uint(gl_FragCoord.x) * 64u, first = words[at], same = 255u;\n"
                  "    for (uint i = 1u; i < 64u; i++)\n"
                  "        if (words[at + i] != first)\n"
                  "            same = 0u;\n"
                  "    o_color = vec4(first & 255u, first >> 8 & 255u, first >> 16 & 255u, same) / 255.0;\n"
                  "}\n"};

static const th_program_desc words_of_row = {.name = "words", .vertex = {&vertices}, .fragment = {&fragments}};

typedef struct scene {
    th_ring *ring;
    th_target *target;
    size_t more_bytes; /* that each frame needs beyond the one before */
    uint32_t ago;      /* each frame draws what was written so many frames before */
} scene;

static GLuint program, nothing; /* nothing: a vertex array without vertices */

static th_error err;

END_BY(th_ring_destroy)

TestSuite(ring, .fini = close_gl);

/* ---- making ---- */

static th_ring *make_ring(const th_ring_desc *desc)
{
    th_ring *ring;
    cr_assert_eq(th_ring_create(gl, desc, &ring, &err), TH_OK, "%s", err.text);
    return at_end(end_by_th_ring_destroy, ring);
}

/* By mesa_glthread=true Mesa draws on a thread of its own. */
static void open_threaded(bool threaded)
{
    close_gl();
    setenv("mesa_glthread", threaded ? "true" : "false", 1);
    open_gl();
    if (is_llvmpipe()) /* Mesa names its own thread so; without it these tests would say nothing */
        cr_expect_eq(system("grep -qs :gl0 /proc/$PPID/task/*/comm") == 0, threaded, "mesa_glthread does nothing");
    cr_assert_eq(th_program_create(&words_of_row, &program, &err), TH_OK, "%s", err.text);
    glGenVertexArrays(1, &nothing);
}

static scene make_scene(const th_ring_desc *desc)
{
    return (scene){.ring = make_ring(desc), .target = make_target(PIXELS, ROWS, 0)};
}

/* ---- frames ---- */

typedef struct filling {
    uint32_t *words;
    uint32_t value;
} filling;

static void *write_words(void *arg)
{
    const filling *w = arg;
    for (uint32_t i = 0; i < WORDS; i++)
        w->words[i] = w->value;
    return NULL;
}

/* As a program has it: workers write, the context's thread waits for them. */
static void write_frame(scene *s, uint32_t frame)
{
    filling w = {th_ring_begin(s->ring), frame};
    pthread_t worker;
    cr_assert_not_null(w.words);
    if (s->more_bytes > 0) {
        w.words = th_ring_reserve(s->ring, WORDS * sizeof(uint32_t) + frame * s->more_bytes);
        cr_assert_not_null(w.words);
        memset(w.words + WORDS, 0xFF, frame * s->more_bytes);
    }
    cr_assert_eq((uintptr_t)w.words % 64, 0);
    if (frame % 8 == 0) {
        cr_assert_eq(pthread_create(&worker, NULL, write_words, &w), 0);
        pthread_join(worker, NULL);
    } else {
        write_words(&w);
    }
    cr_assert(th_ring_end(s->ring));
}

static void draw_row(const scene *s, uint32_t row)
{
    const th_ring_binding binding = th_ring_get_held(s->ring, s->ago);
    th_target_bind(s->target);
    glDisable(GL_FRAMEBUFFER_SRGB); /* numbers, not light */
    glViewport(0, (GLint)row, PIXELS, 1);
    glUseProgram(program);
    glBindVertexArray(nothing);
    cr_assert_eq(binding.offset % 4096, 0);
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, binding.buffer, (GLintptr)binding.offset, WORDS * sizeof(uint32_t));
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

/* The rows of frames [first, first + count). Returns how many pixels are wrong. */
static uint32_t check_rows(const scene *s, uint32_t first, uint32_t count)
{
    static uint8_t picture[ROWS][PIXELS][4];
    uint32_t late = 0, mixed = 0;
    th_target_read(s->target, picture[0][0]);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t x = 0; x < PIXELS; x++) {
            const uint8_t *pixel = picture[ROWS - 1 - i][x]; /* the top row comes first */
            const uint32_t frame = pixel[0] | (uint32_t)pixel[1] << 8 | (uint32_t)pixel[2] << 16;
            mixed += pixel[3] != 255;
            late += pixel[3] == 255 && frame != first + i - s->ago;
        }
    cr_expect(late + mixed == 0, "frames %u to %u: %u pixels of another frame and %u of several, of %u", first,
              first + count - 1, late, mixed, count * PIXELS);
    return late + mixed;
}

static void run_frames(scene *s)
{
    for (uint32_t before = s->ago; before > 0; before--)
        write_frame(s, 1000 - before);
    for (uint32_t done = 0; done < FRAMES;) {
        const uint32_t count = FRAMES - done < ROWS ? FRAMES - done : ROWS;
        for (uint32_t i = 0; i < count; i++) {
            write_frame(s, 1000 + done + i);
            draw_row(s, i);
            th_ring_fence(s->ring);
        }
        if (check_rows(s, 1000 + done, count) > 0)
            return;
        done += count;
    }
}

/* ---- uploads ---- */

static void check_upload(th_ring_upload asked, th_ring_upload wanted)
{
    scene s = make_scene(&(th_ring_desc){.bytes = WORDS * sizeof(uint32_t), .upload = asked});
    cr_assert_eq(th_ring_get_info(s.ring).upload, wanted, "%s", th_ring_upload_name(th_ring_get_info(s.ring).upload));
    run_frames(&s);
}

/* The first kind of upload that this driver has. */
static th_ring_upload first_upload(void)
{
    return th_gl_get_info(gl)->buffer_storage ? TH_RING_PERSISTENT : TH_RING_UNSYNCHRONIZED;
}

CHECK(ring_frames, frames_arrive_whole_and_in_time)
{
    for (th_ring_upload upload = first_upload(); upload <= TH_RING_COPIED; upload++)
        check_upload(upload, upload);
}

/* Slots are drawn from last when they are as old as they may be. */
CHECK(ring_frames, keeps_slots_for_later_frames)
{
    for (th_ring_upload upload = first_upload(); upload <= TH_RING_COPIED; upload++)
        for (uint32_t held = 1; held <= TH_RING_MAX_HELD; held += 3) {
            scene s = make_scene(&(th_ring_desc){.bytes = WORDS * sizeof(uint32_t), .upload = upload, .held = held});
            s.ago = held;
            cr_expect_eq(th_ring_get_info(s.ring).bytes, (TH_RING_SLOTS + held) * th_ring_get_info(s.ring).slot_bytes);
            run_frames(&s);
        }
}

/* Numbers of frames say for how long what was written can be drawn. */
CHECK(ring, numbers_its_frames)
{
    scene s = make_scene(&(th_ring_desc){.bytes = WORDS * sizeof(uint32_t), .held = 2});
    write_frame(&s, 0);
    const uint32_t first = th_ring_get_info(s.ring).frame;
    write_frame(&s, 1);
    cr_expect_eq(th_ring_get_info(s.ring).frame, first + 1);
    cr_assert_not_null(th_ring_begin(s.ring));
    cr_assert_not_null(th_ring_reserve(s.ring, th_ring_get_info(s.ring).slot_bytes));
    cr_expect_eq(th_ring_get_info(s.ring).frame, first + 2);
    cr_assert_not_null(th_ring_reserve(s.ring, th_ring_get_info(s.ring).slot_bytes + 1));
    cr_expect_gt(th_ring_get_info(s.ring).frame, first + 2 + TH_RING_MAX_HELD, "all that was written is lost");
    cr_expect(th_ring_end(s.ring));
}

/* Where it would have to stay mapped, it is an error. */
Test(ring, a_driver_without_buffer_storage_gets_another_upload)
{
    th_ring *ring;
    setenv("MESA_EXTENSION_OVERRIDE", "-GL_ARB_buffer_storage", 1);
    open_gl();
    if (th_gl_get_info(gl)->buffer_storage)
        cr_skip_test("this driver cannot hide an extension");
    cr_assert_eq(th_ring_create(gl, &(th_ring_desc){.bytes = 64, .upload = TH_RING_PERSISTENT}, &ring, &err),
                 TH_ERR_ENVIRONMENT);
    cr_expect(strstr(err.text, "ARB_buffer_storage"), "%s", err.text);
    cr_expect_null(ring);
    for (int threaded = 0; threaded < 2; threaded++) {
        open_threaded(threaded);
        check_upload(TH_RING_AUTO, TH_RING_UNSYNCHRONIZED);
    }
}

/* ---- sizes ---- */

CHECK(ring, slots_of_nothing_and_of_odd_sizes)
{
    const size_t sizes[] = {0, 1, 4095, 4096, 4097, 1000000};
    const th_ring_upload uploads[] = {TH_RING_AUTO, TH_RING_UNSYNCHRONIZED};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        const size_t bytes = sizes[i / 2];
        th_ring *ring = make_ring(&(th_ring_desc){.bytes = bytes, .upload = uploads[i % 2], .guard = true});
        uint32_t offsets = 0;
        for (int frame = 0; frame < 7; frame++) {
            void *slot = th_ring_begin(ring);
            cr_assert_not_null(slot);
            memset(slot, frame, bytes);
            cr_assert(th_ring_end(ring));
            offsets |= th_ring_get_binding(ring).offset == 0;
            th_ring_fence(ring);
        }
        cr_expect_eq(offsets, 1);
    }
    th_ring_destroy(NULL);
}

CHECK(ring_frames, grows_between_frames_and_loses_none)
{
    for (th_ring_upload upload = first_upload(); upload <= TH_RING_COPIED; upload++) {
        scene s = make_scene(&(th_ring_desc){.upload = upload, .guard = true});
        s.more_bytes = 2000;
        uint32_t growths = 0;
        for (uint32_t i = 0; i < ROWS; i++) { /* the frames before are still being drawn */
            const size_t bytes = th_ring_get_info(s.ring).bytes;
            write_frame(&s, i);
            draw_row(&s, i);
            th_ring_fence(s.ring);
            growths += th_ring_get_info(s.ring).bytes > bytes;
            cr_assert_geq(th_ring_get_info(s.ring).bytes, 3 * (WORDS * sizeof(uint32_t) + i * s.more_bytes));
        }
        cr_expect(growths > 5 && growths < 25, "%s, with room to spare each time: %u", th_ring_upload_name(upload),
                  growths);
        check_rows(&s, 0, ROWS);
        end_all();
    }
}

/* The frames before read the slots that are replaced. */
CHECK(ring, grows_when_the_gpu_is_done)
{
    scene s = make_scene(&(th_ring_desc){.bytes = WORDS * sizeof(uint32_t)});
    write_frame(&s, 0);
    for (uint32_t i = 0; i < 3000; i++)
        draw_row(&s, i % ROWS);
    th_ring_fence(s.ring);
    th_gl_point *drawn = th_gl_point_now(gl);
    th_gl_swap(gl);
    cr_assert_not_null(th_ring_begin(s.ring));
    cr_assert_not_null(th_ring_reserve(s.ring, 1000000));
    cr_expect(th_gl_passed(gl, drawn, 0));
    cr_assert(th_ring_end(s.ring));
}

CHECK(ring, stays_as_it_is_when_there_is_no_memory_to_grow)
{
    scene s = make_scene(&(th_ring_desc){.bytes = WORDS * sizeof(uint32_t)});
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 7}, bytes = th_ring_get_info(s.ring).bytes;
    for (uint32_t i = 0; i < 3; i++) {
        write_frame(&s, 2 * i);
        draw_row(&s, 2 * i);
        th_ring_fence(s.ring);
        cr_assert_not_null(th_ring_begin(s.ring));
        cr_expect_null(th_ring_reserve(s.ring, sizes[i]));
        cr_expect_eq(th_ring_get_info(s.ring).bytes, bytes);
        write_frame(&s, 2 * i + 1);
        draw_row(&s, 2 * i + 1);
        th_ring_fence(s.ring);
    }
    check_rows(&s, 0, 6);
    cr_expect_eq(th_gl_check(gl, "while it could not grow", &err), TH_OK, "%s", err.text);
}

/* Three times this is little, in 64 bits. */
CHECK(ring, more_than_there_is_memory_is_an_error)
{
    th_ring *ring;
    cr_assert_eq(th_ring_create(gl, &(th_ring_desc){.bytes = SIZE_MAX / 3 + 4096}, &ring, &err), TH_ERR_MEMORY);
    cr_expect(strstr(err.text, "palette slots"), "%s", err.text);
    cr_expect_null(ring);
}

/* ---- the guard ---- */

static scene make_guarded(void)
{
    return make_scene(&(th_ring_desc){.bytes = WORDS * sizeof(uint32_t), .guard = true});
}

CHECK(ring_guard, a_guarded_ring_draws_the_same)
{
    scene s = make_guarded();
    run_frames(&s);
}

/* The driver gets its pages back as it gave them. */
CHECK(ring_guard, a_guard_ends_with_its_ring)
{
    for (int i = 0; i < 5; i++) {
        th_ring *ring;
        cr_assert_eq(th_ring_create(gl, &(th_ring_desc){.bytes = 1 << 20, .guard = true}, &ring, NULL), TH_OK);
        memset(th_ring_begin(ring), i, 1 << 20);
        th_ring_end(ring);
        th_ring_destroy(ring);
        GLuint buffer;
        glGenBuffers(1, &buffer);
        glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
        glBufferData(GL_COPY_WRITE_BUFFER, 4 << 20, NULL, GL_STREAM_DRAW);
        memset(glMapBuffer(GL_COPY_WRITE_BUFFER, GL_WRITE_ONLY), i, 4 << 20);
        glUnmapBuffer(GL_COPY_WRITE_BUFFER);
        glDeleteBuffers(1, &buffer);
    }
}

static sigjmp_buf before_write;

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(before_write, 1);
}

/* Criterion's .signal would want one of a test that is skipped, too. */
static bool is_caught(volatile char *at)
{
    const struct sigaction fault = {.sa_handler = on_fault};
    struct sigaction other;
    volatile bool caught = true;
    sigaction(SIGSEGV, &fault, &other);
    if (sigsetjmp(before_write, 1) == 0) {
        *at = 1;
        caught = false;
    }
    sigaction(SIGSEGV, &other, NULL);
    return caught;
}

CHECK(ring_guard, a_guard_catches_a_write_to_a_slot_that_has_ended)
{
    scene s = make_guarded();
    char *slot = th_ring_begin(s.ring);
    cr_expect_not(is_caught(slot));
    cr_expect_not(is_caught(slot + WORDS));
    th_ring_end(s.ring);
    cr_expect(is_caught(slot));
    cr_expect(is_caught(slot + WORDS));
    th_ring_fence(s.ring);
    run_frames(&s);
}

CHECK(ring_guard, a_guard_catches_a_write_beyond_the_slot)
{
    scene s = make_guarded();
    const size_t bytes = WORDS * sizeof(uint32_t);
    for (int frame = 0; frame < 3; frame++) {
        char *slot = th_ring_begin(s.ring);
        cr_expect_not(is_caught(slot + bytes - 1));
        if (th_ring_get_binding(s.ring).offset <= bytes)
            cr_expect(is_caught(slot + (bytes + 4096) / 4096 * 4096));
        else
            cr_expect(is_caught(slot - 1));
        th_ring_end(s.ring);
        th_ring_fence(s.ring);
    }
}

/* ---- all of it ---- */

Test(ring, frames_and_sizes)
{
    open_threaded(false);
    run_checks("ring_frames");
    run_checks("ring");
    if (!th_gl_get_info(gl)->buffer_storage || !th_gl_get_info(gl)->software)
        cr_skip_test("slots can be guarded only where they stay mapped and the CPU draws");
    run_checks("ring_guard");
}

Test(ring, frames_from_far_ahead)
{
    open_threaded(true);
    run_checks("ring_frames");
}
