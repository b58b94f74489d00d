/* Pictures come back as they went, videos too, and whatever fails says so and leaves nothing behind. */
#include "fixture_end.h"
#include "fixture_folder.h"
#include "random_model.h"

#include <render/frame_writer.h>

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#include <stb/stb_image.h>

#define WIDTH  61u
#define HEIGHT 33u
#define PIXELS (WIDTH * HEIGHT)
#define SEED   9001u

static uint8_t noise[4 * PIXELS];
static char search_path[4096]; /* where ffmpeg is */
static th_error err;           /* empty at first */

static void make_noise(void)
{
    uint64_t state = SEED;
    make_folder();
    err = (th_error){0};
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)random_between(&state, 0, 256);
}

static void end_check(const char *name)
{
    (void)name;
    remove_folder();
    setenv("PATH", search_path, 1);
}

static void open_checks(void)
{
    snprintf(search_path, sizeof search_path, "%s", getenv("PATH"));
    before_check = make_noise;
    after_check = end_check;
}

TestSuite(frame_writer, .init = open_checks);

static th_frame_writer_desc desc_of(const char *name, uint32_t frame_count)
{
    return (th_frame_writer_desc){
        .path = in_folder(name), .width = WIDTH, .height = HEIGHT, .frame_count = frame_count, .frames_per_s = 25};
}

static th_frame_writer *open_good(const char *name, uint32_t frame_count)
{
    th_frame_writer *writer;
    th_frame_writer_desc desc = desc_of(name, frame_count);
    cr_assert_eq(th_frame_writer_open(&desc, &writer, &err), TH_OK, "%s", err.text);
    return writer;
}

#define expect_ok(result) cr_expect_eq(result, TH_OK, "%s", err.text)

/* Adds frames until one fails, or all of them and closes. */
static th_result shoot(const char *name, uint32_t frames)
{
    th_frame_writer *writer = open_good(name, frames);
    th_result result = TH_OK;
    for (uint32_t i = 0; i < frames && result == TH_OK; i++)
        result = th_frame_writer_add(writer, noise, &err);
    if (result == TH_OK)
        return th_frame_writer_close(writer, &err);
    th_frame_writer_abandon(writer);
    return result;
}

/* ---- pictures ---- */

static void expect_picture(const char *name, const uint8_t *rgba)
{
    int width = 0, height = 0, channels = 0;
    uint8_t *rgb = stbi_load(in_folder(name), &width, &height, &channels, 3);
    cr_assert(rgb, "%s: %s", name, stbi_failure_reason());
    cr_expect(width == WIDTH && height == HEIGHT && channels == 3, "%d x %d, %d channels", width, height, channels);
    for (size_t i = 0; i < PIXELS; i++)
        cr_assert(memcmp(rgb + 3 * i, rgba + 4 * i, 3) == 0, "pixel %zu", i);
    free(rgb);
    unlink(in_folder(name));
}

CHECK(frame_writer, writes_a_picture_that_reads_back)
{
    th_frame_writer *writer = open_good("one.PNG", 1);
    cr_expect_eq(count_files(), 0, "not before there is one");
    expect_ok(th_frame_writer_add(writer, noise, &err));
    expect_ok(th_frame_writer_close(writer, &err));
    cr_expect_eq(count_files(), 1);
    expect_picture("one.PNG", noise);
}

CHECK(frame_writer, encodes_a_picture_without_a_file)
{
    unsigned char *png = NULL;
    size_t size = 0;
    expect_ok(th_png_encode(noise, WIDTH, HEIGHT, &png, &size, &err));
    cr_expect_eq(count_files(), 0);
    FILE *file = fopen(in_folder("two.png"), "wb");
    cr_assert(png && fwrite(png, 1, size, file) == size);
    fclose(file);
    free(png);
    expect_picture("two.png", noise);
}

CHECK(frame_writer, numbers_pictures)
{
    static const char *const names[][4] = {{"a%03d.png", "a000.png", "a001.png", "a002.png"},
                                           {"%d.png", "0.png", "1.png", "2.png"},
                                           {"%09d-b.png", "000000000-b.png", "000000001-b.png", "000000002-b.png"}};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        th_frame_writer *writer = open_good(names[n][0], 3);
        for (int i = 0; i < 3; i++) {
            noise[0] = (uint8_t)i;
            expect_ok(th_frame_writer_add(writer, noise, &err));
        }
        expect_ok(th_frame_writer_close(writer, &err));
        cr_expect_eq(count_files(), 3);
        for (int i = 0; i < 3; i++) {
            noise[0] = (uint8_t)i;
            expect_picture(names[n][i + 1], noise);
        }
    }
    expect_ok(shoot("only%02d.png", 1));
    expect_picture("only00.png", noise);
}

static void expect_refused(const th_frame_writer_desc *desc, th_result result, const char *word)
{
    th_frame_writer *writer;
    err.text[0] = '\0';
    cr_expect_eq(th_frame_writer_open(desc, &writer, &err), result, "%s: %s", desc->path, err.text);
    cr_expect_null(writer);
    cr_expect(strstr(err.text, word), "%s: %s", desc->path, err.text);
    cr_expect_eq(count_files(), 0, "%s", desc->path);
}

CHECK(frame_writer, takes_no_name_that_is_not_plain)
{
    static const char *const bad[] = {"a%s.png",   "a%5d.png", "a%-5d.png", "a%d%d.png",  "a%%d.png",
                                      "a%d%.png",  "a%0d.png", "a%00d.png", "a%012d.png", "a%ld.png",
                                      "a%.2d.png", "a%.png",   "a%n.png",   "%x.png"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (uint32_t count = 1; count < 3; count++) {
            th_frame_writer_desc desc = desc_of(bad[i], count);
            expect_refused(&desc, TH_ERR_INPUT, "%04d");
        }
    static const char *const unknown[] = {"a", "a.jpg", "a.png.", "png", ".png", "a.mp4 ", "a.mp4/", "%d"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        th_frame_writer_desc desc = desc_of(unknown[i], 1);
        expect_refused(&desc, TH_ERR_INPUT, "end with .png");
    }
    th_frame_writer_desc many = desc_of("a.png", 2), nameless = desc_of("", 1);
    expect_refused(&many, TH_ERR_INPUT, "need a number");
    nameless.path = "";
    expect_refused(&nameless, TH_ERR_INPUT, "is empty");
}

CHECK(frame_writer, takes_no_size_or_speed_that_is_not)
{
    static const struct {
        uint32_t width, height;
        th_result result;
        const char *word;
    } sizes[] = {{0, 5, TH_ERR_INPUT, "0 by 5"},
                 {5, 0, TH_ERR_INPUT, "5 by 0"},
                 {16385, 1, TH_ERR_LIMIT, "16384 a side"},
                 {16384, 16384, TH_ERR_LIMIT, "67108864"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        th_frame_writer_desc desc = desc_of("a.png", 1);
        desc.width = sizes[i].width;
        desc.height = sizes[i].height;
        expect_refused(&desc, sizes[i].result, sizes[i].word);
    }
    static const double speeds[] = {0, -1, (double)NAN, 1001};
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
        th_frame_writer_desc desc = desc_of("a.mp4", 1);
        desc.frames_per_s = speeds[i];
        expect_refused(&desc, TH_ERR_INPUT, "frame rate");
    }
}

CHECK(frame_writer, finds_out_early_that_it_cannot_write)
{
    static const char *const names[] = {"no/such/folder/a%d.png", "no/such/folder/a.mp4"};
    for (size_t i = 0; i < 2; i++) {
        th_frame_writer_desc desc = desc_of(names[i], 2);
        expect_refused(&desc, TH_ERR_INPUT, "No such file");
    }
    static const char *const folders[] = {"folder.png", "folder.mp4"};
    for (size_t i = 0; i < 2; i++) {
        th_frame_writer *writer;
        th_frame_writer_desc desc = desc_of(folders[i], 1);
        mkdir(desc.path, 0700);
        err.text[0] = '\0';
        cr_expect_eq(th_frame_writer_open(&desc, &writer, &err), TH_ERR_INPUT);
        cr_expect(strstr(err.text, folders[i]), "%s", err.text);
        rmdir(in_folder(folders[i]));
    }
}

/* ---- full disks ---- */

/* What a full disk does, but for the number of the error. */
static struct rlimit limit_files(rlim_t bytes)
{
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, before.rlim_max});
    return before;
}

CHECK(frame_writer, keeps_the_old_picture_when_the_new_one_does_not_fit)
{
    expect_ok(shoot("a%d.png", 1));
    static uint8_t other[4 * PIXELS];
    for (size_t i = 0; i < sizeof other; i++)
        other[i] = noise[sizeof noise - 1 - i];
    th_frame_writer *writer = open_good("a%d.png", 1);
    struct rlimit before = limit_files(1000);
    cr_expect_eq(th_frame_writer_add(writer, other, &err), TH_ERR_INPUT);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_expect(strstr(err.text, "a0.png"), "%s", err.text);
    th_frame_writer_abandon(writer);
    cr_expect_eq(count_files(), 1);
    expect_picture("a0.png", noise);
}

/* ---- an ffmpeg of our own ---- */

static void make_ffmpeg(const char *script)
{
    FILE *file = fopen(in_folder("ffmpeg"), "w");
    cr_assert(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    chmod(in_folder("ffmpeg"), 0700);
    setenv("PATH", folder, 1);
}

static void write_old(const char *name)
{
    FILE *file = fopen(in_folder(name), "w");
    fputs("old", file);
    fclose(file);
}

static void expect_old(const char *name)
{
    char text[8] = {0};
    FILE *file = fopen(in_folder(name), "r");
    cr_assert(file);
    cr_expect_eq(fread(text, 1, sizeof text, file), 3);
    fclose(file);
    cr_expect_str_eq(text, "old");
    unlink(in_folder(name));
}

CHECK(frame_writer, says_that_ffmpeg_is_missing)
{
    setenv("PATH", folder, 1);
    th_frame_writer_desc desc = desc_of("a.mp4", 2);
    expect_refused(&desc, TH_ERR_ENVIRONMENT, "ffmpeg");
}

/* SIGPIPE would end the test. More frames than a socket holds, or few enough that only closing tells. */
CHECK(frame_writer, says_what_ffmpeg_said)
{
    static const struct {
        const char *script, *words[2];
    } failures[] = {
        {"echo 'Unknown encoder' >&2; echo 'and so on' >&2; exit 1", {"Unknown encoder; and so on", "gave up"}},
        {"exit 3", {"gave up", "did not say why"}},
        {"kill -9 $$", {"signal", "Killed"}},
        {"exec 0</dev/null; /bin/sleep 0.1; exit 0", {"ffmpeg", ""}},
        {"/bin/cat >/dev/null", {"wrote nothing", ""}},
    };
    signal(SIGPIPE, SIG_DFL);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        for (uint32_t frames = 1; frames <= 500; frames += 499) {
            make_ffmpeg(failures[i].script);
            write_old("a.mp4");
            err.text[0] = '\0';
            cr_expect_eq(shoot("a.mp4", frames), TH_ERR_ENVIRONMENT, "%s", failures[i].script);
            for (int w = 0; w < 2; w++)
                cr_expect(strstr(err.text, failures[i].words[w]) || frames > 1, "%s: %s", failures[i].script, err.text);
            cr_expect(strstr(err.text, "ffmpeg") && !strchr(err.text, '\n'), "%s", err.text);
            unlink(in_folder("ffmpeg"));
            cr_expect_eq(count_files(), 1, "%s", failures[i].script);
            expect_old("a.mp4");
        }
}

CHECK(frame_writer, puts_the_video_in_place_when_it_is_closed)
{
    make_ffmpeg("exec /bin/cat >/proc/self/fd/1");
    write_old("a%s.webm");
    th_frame_writer *writer = open_good("a%s.webm", 40);
    for (int i = 0; i < 40; i++)
        expect_ok(th_frame_writer_add(writer, noise, &err));
    cr_expect_eq(count_files(), 2, "ffmpeg and the old file: what is on its way has no name");
    expect_ok(th_frame_writer_close(writer, &err));
    unlink(in_folder("ffmpeg"));
    cr_expect_eq(count_files(), 1);

    static uint8_t got[4 * (WIDTH + 1) * (HEIGHT + 1)];
    FILE *file = fopen(in_folder("a%s.webm"), "r");
    for (int i = 0; i < 40; i++) {
        cr_expect_eq(fread(got, 1, sizeof got, file), sizeof got);
        for (uint32_t y = 0; y < HEIGHT; y++)
            cr_expect(memcmp(got + 4 * (WIDTH + 1) * y, noise + 4 * WIDTH * y, 4 * WIDTH) == 0, "frame %d, row %u", i,
                      y);
    }
    cr_expect_eq(fread(got, 1, 1, file), 0);
    fclose(file);
    unlink(in_folder("a%s.webm"));
}

CHECK(frame_writer, needs_no_standard_input_or_output)
{
    make_ffmpeg("exec /bin/cat >/proc/self/fd/1");
    for (int open = 0; open < 8; open++) {
        pid_t child = fork();
        if (child == 0) {
            th_frame_writer *writer;
            th_frame_writer_desc desc = desc_of("a.mkv", 1);
            for (int fd = 0; fd < 3; fd++)
                if (!(open >> fd & 1))
                    close(fd);
            _exit(th_frame_writer_open(&desc, &writer, &err) != TH_OK ||
                  th_frame_writer_add(writer, noise, &err) != TH_OK || th_frame_writer_close(writer, &err) != TH_OK);
        }
        int status;
        struct stat file;
        waitpid(child, &status, 0);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", open);
        cr_expect(stat(in_folder("a.mkv"), &file) == 0 && file.st_size == 4 * (WIDTH + 1) * (HEIGHT + 1), "%d", open);
        unlink(in_folder("a.mkv"));
    }
    unlink(in_folder("ffmpeg"));
}

CHECK(frame_writer, abandons_a_video_that_hangs)
{
    make_ffmpeg("exec /bin/sleep 1000");
    write_old("a.mp4");
    th_frame_writer *writer = open_good("a.mp4", 2);
    expect_ok(th_frame_writer_add(writer, noise, &err));
    th_frame_writer_abandon(writer);
    th_frame_writer_abandon(NULL);
    unlink(in_folder("ffmpeg"));
    cr_expect_eq(count_files(), 1);
    expect_old("a.mp4");
}

CHECK(frame_writer, makes_no_video_of_nothing)
{
    make_ffmpeg("exec /bin/cat >/proc/self/fd/1");
    cr_expect_eq(th_frame_writer_close(open_good("a.mp4", 2), &err), TH_ERR_INPUT);
    cr_expect(strstr(err.text, "at least one frame"), "%s", err.text);
    unlink(in_folder("ffmpeg"));
    cr_expect_eq(count_files(), 0);
}

/* ---- the real one ---- */

/* A colour that moves with the frame, darker to the right and below. */
static void paint(uint32_t frame, uint8_t *rgba)
{
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            uint8_t *p = rgba + 4 * (y * WIDTH + x);
            p[0] = (uint8_t)(250 - 3 * x);
            p[1] = (uint8_t)(40 + 20 * frame);
            p[2] = (uint8_t)(230 - 5 * y);
            p[3] = (uint8_t)(x + y);
        }
}

/* Odd sides, which a video cannot have: the last row and column come twice. */
CHECK(frame_writer_ffmpeg, makes_videos_that_play)
{
    static const char *const names[] = {"a.mp4", "a.MKV", "a.webm"};
    static uint8_t frame[4 * PIXELS];
    for (size_t n = 0; n < 3; n++) {
        th_frame_writer *writer = open_good(names[n], 10);
        for (uint32_t f = 0; f < 10; f++) {
            paint(f, frame);
            expect_ok(th_frame_writer_add(writer, frame, &err));
        }
        expect_ok(th_frame_writer_close(writer, &err));
        char command[400];
        static uint8_t got[HEIGHT + 1][WIDTH + 1][3];
        snprintf(command, sizeof command, "ffmpeg -v error -i %s -f rawvideo -pix_fmt rgb24 -", in_folder(names[n]));
        FILE *pipe = popen(command, "r");
        for (uint32_t f = 0; f < 10; f++) {
            double sum = 0;
            cr_expect_eq(fread(got, 1, sizeof got, pipe), sizeof got, "%s has %u frames", names[n], f);
            paint(f, frame);
            for (uint32_t y = 0; y <= HEIGHT; y++)
                for (uint32_t x = 0; x <= WIDTH; x++)
                    for (uint32_t c = 0; c < 3; c++) {
                        const uint32_t row = y < HEIGHT ? y : HEIGHT - 1, column = x < WIDTH ? x : WIDTH - 1;
                        sum += abs(got[y][x][c] - frame[4 * (row * WIDTH + column) + c]);
                    }
            cr_expect_lt(sum / sizeof got, 3, "%s, frame %u: %g", names[n], f, sum / sizeof got);
        }
        cr_expect_eq(fread(got, 1, 1, pipe), 0, "%s has more", names[n]);
        cr_expect_eq(pclose(pipe), 0);
        unlink(in_folder(names[n]));
    }
}

/* ffmpeg reads no moving WebP: its chunks are counted, and their times added up. */
CHECK(frame_writer_ffmpeg, makes_a_picture_that_moves)
{
    static uint8_t frame[4 * PIXELS], bytes[1 << 20];
    th_frame_writer *writer = open_good("a.webp", 10);
    for (uint32_t f = 0; f < 10; f++) {
        paint(f, frame);
        expect_ok(th_frame_writer_add(writer, frame, &err));
    }
    expect_ok(th_frame_writer_close(writer, &err));
    FILE *file = fopen(in_folder("a.webp"), "r");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    cr_assert(size > 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0);
    uint32_t frames = 0, ms = 0;
    for (size_t at = 12, length; at + 24 < size; at += 8 + (length + 1) / 2 * 2) {
        length = bytes[at + 4] | (size_t)bytes[at + 5] << 8 | (size_t)bytes[at + 6] << 16;
        if (memcmp(bytes + at, "ANMF", 4) == 0) {
            frames++;
            ms += bytes[at + 20] | (uint32_t)bytes[at + 21] << 8;
        }
    }
    cr_expect(frames == 10 && abs((int)ms - 10 * 1000 / 25) < 20, "%u frames, %u ms", frames, ms);
    unlink(in_folder("a.webp"));
}

CHECK(frame_writer_ffmpeg, says_that_the_disk_is_full)
{
    struct rlimit before = limit_files(500);
    th_result result = shoot("a.mkv", 50);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_expect_eq(result, TH_ERR_ENVIRONMENT);
    cr_expect(strstr(err.text, "ile size limit") || strstr(err.text, "File too large"), "%s", err.text);
    cr_expect_eq(count_files(), 0);
}

Test(frame_writer, checks)
{
    run_checks("frame_writer");
}

Test(frame_writer, with_the_real_ffmpeg)
{
    if (system("ffmpeg -version >/dev/null 2>&1") != 0)
        cr_skip_test("no ffmpeg here");
    run_checks("frame_writer_ffmpeg");
}
