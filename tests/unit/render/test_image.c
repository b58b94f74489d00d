/* Inside, since pictures reach it only within models. Pictures, sound ones and others. */
#include "fixture_render_mesh.h"
#include "render/mesh/image.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t red_png[69] = {/* one pixel */
                                    0x89, 'P',  'N',  'G',  0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 'I',  'H',
                                    'D',  'R',  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
                                    0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 'I',  'D',  'A',  'T',  0x08,
                                    0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0x18, 0xdd, 0x8d,
                                    0xb0, 0x00, 0x00, 0x00, 0x00, 'I',  'E',  'N',  'D',  0xae, 0x42, 0x60, 0x82};

/* 16 x 16, grey, as small as can be: a baseline JPEG with one table of each kind, of three symbols and of one. */
static const uint8_t jpeg[] = {
    0xff, 0xd8, 0xff, 0xdb, 0x00, 0x43, 0x00, 16,   11,  10,  16,   24, 40,   51,   61,   12,   12,   14,
    19,   26,   58,   60,   55,   14,   13,   16,   24,  40,  57,   69, 56,   14,   17,   22,   29,   51,
    87,   80,   62,   18,   22,   37,   56,   68,   109, 103, 77,   24, 35,   55,   64,   81,   104,  113,
    92,   49,   64,   78,   87,   103,  121,  120,  101, 72,  92,   95, 98,   112,  100,  103,  99,   0xff,
    0xc0, 0x00, 0x0b, 8,    0,    16,   0,    16,   1,   1,   0x11, 0,  0xff, 0xc4, 0x00, 0x16, 0x00, 0,
    3,    0,    0,    0,    0,    0,    0,    0,    0,   0,   0,    0,  0,    0,    0,    0,    4,    5,
    0xff, 0xc4, 0x00, 0x14, 0x10, 1,    0,    0,    0,   0,   0,    0,  0,    0,    0,    0,    0,    0,
    0,    0,    0,    0,    0xff, 0xda, 0x00, 0x08, 1,   1,   0,    0,  63,   0,    0x64, 0x00, 0xff, 0xd9};
enum { JPEG_TABLE = 84 }; /* where its first Huffman table begins: marker, length, which, 16 counts, symbols */

/* 3 x 2: red, green, blue; half transparent black, white, white. */
static const uint8_t tga[18 + 24] = {0, 0,   2,  0,    0, 0,   0,   0,   0,   0,   0,   0,   3,   0,
                                     2, 0,   32, 0x28, 0, 0,   255, 255, 0,   255, 0,   255, 255, 0,
                                     0, 255, 0,  0,    0, 128, 255, 255, 255, 255, 255, 255, 255, 255};

#ifdef TH_HAVE_WEBP
/* The same six pixels, lossless. */
static const uint8_t webp[] = {82, 73, 70, 70, 28, 0, 0,  0,   87,  69,  66,  80,  86, 80,  56,  76, 16,  0,
                               0,  0,  47, 2,  64, 0, 16, 152, 255, 249, 159, 255, 3,  254, 135, 38, 195, 63};
/* 16 x 16, grey of 146, lossy. */
static const uint8_t webp_lossy[] = {82, 73,  70, 70, 36,  0,  0, 0,   87,  69,  66,  80,  86, 80, 56,
                                     32, 24,  0,  0,  0,   48, 1, 0,   157, 1,   42,  16,  0,  16, 0,
                                     2,  192, 76, 37, 164, 0,  3, 112, 0,   254, 213, 216, 0,  0};
#endif

TestSuite(image, .fini = end_all);

static th_result decode(const uint8_t *bytes, size_t count, th_render_mesh_image *out, th_error *err)
{
    return th_image_decode(bytes, count, TH_RENDER_MESH_MAX_IMAGE_BYTES, out, err);
}

static void check_refused(const uint8_t *bytes, size_t count, th_result code, const char *says)
{
    th_render_mesh_image image;
    th_error err = {0};
    cr_expect_eq(decode(bytes, count, &image, &err), code, "%s", err.text);
    cr_expect_null(image.rgba);
    cr_expect(strstr(err.text, says), "\"%s\" should say \"%s\"", err.text, says);
}

CHECK(image, has_its_pixels_from_the_top_left)
{
    static const uint8_t want[] = {255, 0, 0, 255, 0,   255, 0,   255, 0,   0,   255, 255,
                                   0,   0, 0, 128, 255, 255, 255, 255, 255, 255, 255, 255};
    th_render_mesh_image image;
    cr_assert_eq(decode(tga, sizeof tga, &image, NULL), TH_OK);
    cr_expect(image.width == 3 && image.height == 2);
    cr_expect_arr_eq(image.rgba, want, sizeof want);
    th_image_free(&image);

    cr_assert_eq(decode(red_png, sizeof red_png, &image, NULL), TH_OK);
    cr_expect(image.width == 1 && image.height == 1);
    cr_expect_arr_eq(image.rgba, ((uint8_t[]){255, 0, 0, 255}), 4);
    th_image_free(&image);

    th_error err = {0};
    cr_assert_eq(decode(jpeg, sizeof jpeg, &image, &err), TH_OK, "%s", err.text);
    cr_expect(image.width == 16 && image.height == 16);
    for (uint32_t p = 0; p < 256; p++)
        cr_expect_arr_eq(image.rgba + 4 * p, ((uint8_t[]){146, 146, 146, 255}), 4, "pixel %u", p);
    th_image_free(&image);
}

#ifdef TH_HAVE_WEBP
CHECK(image, may_be_a_webp)
{
    th_render_mesh_image image, same;
    th_error err = {0};
    cr_assert_eq(decode(webp, sizeof webp, &image, &err), TH_OK, "%s", err.text);
    cr_assert_eq(decode(tga, sizeof tga, &same, NULL), TH_OK);
    cr_expect(image.width == 3 && image.height == 2);
    cr_expect_arr_eq(image.rgba, same.rgba, 24);
    th_image_free(&image);
    th_image_free(&same);

    cr_assert_eq(decode(webp_lossy, sizeof webp_lossy, &image, &err), TH_OK, "%s", err.text);
    cr_expect(image.width == 16 && image.height == 16);
    for (uint32_t p = 0; p < 1024; p++)
        cr_expect_float_eq(image.rgba[p], p % 4 == 3 ? 255 : 146, 2, "byte %u: %u", p, image.rgba[p]);
    th_image_free(&image);
}

CHECK(image, may_be_a_damaged_webp)
{
    check_refused(webp, 20, TH_ERR_INPUT, "cannot be read (a damaged WebP)");
    check_refused(webp, sizeof webp - 6, TH_ERR_INPUT, "a damaged WebP)");
    th_render_mesh_image image;
    th_error err;
    cr_expect_eq(th_image_decode(webp, sizeof webp, 23, &image, &err), TH_ERR_LIMIT);
}
#endif

CHECK(image, that_is_none_is_refused)
{
    static const uint8_t text[] = "P6 this is no image of a kind we read, but long enough to be one";
    check_refused(NULL, 0, TH_ERR_INPUT, "is missing");
    check_refused(text, 0, TH_ERR_INPUT, "is missing");
    check_refused(text, sizeof text, TH_ERR_INPUT, "cannot be read (unknown image type)");
    check_refused(red_png, sizeof red_png - 20, TH_ERR_INPUT, "cannot be decoded");
    check_refused(text, (size_t)3 << 30, TH_ERR_LIMIT, "is a file of 3221225472 bytes, the limit is 268435456");
}

CHECK(image, that_is_too_large_is_refused_by_its_header)
{
    uint8_t large[sizeof red_png]; /* its pixels are not looked at */
    memcpy(large, red_png, sizeof large);
    memcpy(large + 16, (uint8_t[]){0, 0, 64, 0, 0, 0, 16, 1}, 8);
    check_refused(large, sizeof large, TH_ERR_LIMIT,
                  "has 16384 x 4097 pixels, 268500992 bytes; there is room for 268435456");
    uint8_t wide[sizeof tga];
    memcpy(wide, tga, sizeof tga);
    wide[12] = 1;
    wide[13] = 64;
    check_refused(wide, sizeof wide, TH_ERR_LIMIT, "has 16385 x 2 pixels, the limit is 16384 each way");

    th_render_mesh_image image;
    cr_expect_eq(th_image_decode(tga, sizeof tga, 23, &image, NULL), TH_ERR_LIMIT);
    cr_assert_eq(th_image_decode(tga, sizeof tga, 24, &image, NULL), TH_OK);
    th_image_free(&image);
}

/* ---- Huffman tables that are too large ---- */

/* The JPEG with 16 counts of `each` in place of its first table's, and as many symbols. */
static size_t make_hostile(uint8_t each, uint8_t out[8192])
{
    const size_t symbols = 16 * (size_t)each, rest = JPEG_TABLE + 24;
    memcpy(out, jpeg, JPEG_TABLE);
    const uint8_t head[] = {0xff, 0xc4, (uint8_t)((19 + symbols) >> 8), (uint8_t)(19 + symbols), 0};
    memcpy(out + JPEG_TABLE, head, sizeof head);
    memset(out + JPEG_TABLE + 5, each, 16);
    memset(out + JPEG_TABLE + 21, 1, symbols);
    memcpy(out + JPEG_TABLE + 21 + symbols, jpeg + rest, sizeof jpeg - rest);
    return JPEG_TABLE + 21 + symbols + sizeof jpeg - rest;
}

CHECK(image, with_a_table_that_overflows_is_refused)
{
    static uint8_t bytes[8192];
    cr_assert(jpeg[JPEG_TABLE] == 0xff && jpeg[JPEG_TABLE + 1] == 0xc4 && jpeg[JPEG_TABLE + 24] == 0xff);
    cr_expect(th_image_jpeg_sound(jpeg, sizeof jpeg));
    cr_expect(th_image_jpeg_sound(bytes, make_hostile(16, bytes)), "256 symbols are as many as there may be");
    check_refused(bytes, make_hostile(17, bytes), TH_ERR_INPUT, "a Huffman table has too many symbols");
    check_refused(bytes, make_hostile(255, bytes), TH_ERR_INPUT, "a Huffman table has too many symbols");
}

/* Wherever stb would find it: behind filling, behind a second table, behind the data of a scan, beyond the end. */
CHECK(image, with_a_hidden_table_that_overflows_is_refused)
{
    static uint8_t table[8192], bytes[16384];
    const size_t whole = make_hostile(17, table);
    const uint8_t *bad = table + JPEG_TABLE;
    const size_t bad_count = whole - JPEG_TABLE;
    static const uint8_t fill[] = {0xff, 0xff, 0xff}, app[] = {0xff, 0xe1, 0, 4, 0xff, 0xd9};

    memcpy(bytes, jpeg, 2); /* an end that is none, in a segment */
    memcpy(bytes + 2, app, sizeof app);
    memcpy(bytes + 2 + sizeof app, bad, bad_count);
    check_refused(bytes, 2 + sizeof app + bad_count, TH_ERR_INPUT, "too many symbols");

    memcpy(bytes, jpeg, 2);
    memcpy(bytes + 2, fill, sizeof fill);
    memcpy(bytes + 5, bad, bad_count);
    check_refused(bytes, 5 + bad_count, TH_ERR_INPUT, "too many symbols");

    memcpy(bytes, jpeg, sizeof jpeg - 2); /* behind a scan, with data and a restart between */
    memcpy(bytes + sizeof jpeg - 2, (uint8_t[]){0xff, 0x00, 0xff, 0xd3, 1}, 5);
    memcpy(bytes + sizeof jpeg + 3, bad, bad_count);
    check_refused(bytes, sizeof jpeg + 3 + bad_count, TH_ERR_INPUT, "too many symbols");

    memcpy(bytes, jpeg, JPEG_TABLE); /* the second table of a segment */
    const uint8_t two[] = {0xff, 0xc4, 0x10, 0, 0};
    memcpy(bytes + JPEG_TABLE, two, sizeof two);
    memset(bytes + JPEG_TABLE + 5, 0, 17);
    memset(bytes + JPEG_TABLE + 22, 100, 16);
    check_refused(bytes, JPEG_TABLE + 38, TH_ERR_INPUT, "too many symbols");
}

/* ---- images of render_meshes ---- */

/* In two materials, each with a texture. */
static stick *make_textured_stick(void)
{
    static const uint32_t indices[] = {0, 1, 2};
    static th_vertex corners[3];
    stick *s = make_stick();
    for (uint32_t v = 0; v < 3; v++)
        corners[v] = stick_vertex((float)(v == 1), (float)(v == 2), 0, 0);
    for (uint32_t m = 0; m < 2; m++) {
        s->meshes[m] = (th_mesh){
            .name = "", .material = m, .vertex_count = 3, .index_count = 3, .vertices = corners, .indices = indices};
        s->materials[m].texture = m;
    }
    s->model.mesh_count = s->model.texture_count = 2;
    return s;
}

CHECK(image, that_cannot_be_decoded_is_a_note)
{
    static const uint8_t bmp[] = {'B', 'M', 70, 0, 0, 0, 0, 0, 0, 0};
    stick *s = make_textured_stick();
    s->textures[0] = (th_texture){.name = "skin.png"};
    s->textures[1] = (th_texture){.name = "cloth.bmp", .bytes = bmp, .byte_count = sizeof bmp};
    th_render_mesh *render_mesh = create_render_mesh(&s->model);
    cr_expect_eq(render_mesh->image_count, 0);
    cr_expect_eq(render_mesh->warning_count, 1, "what is missing the model warns of");
    cr_expect(has_warning(render_mesh, "texture cloth.bmp cannot be read ("));
    for (uint32_t m = 0; m < 2; m++) {
        cr_expect_eq(render_mesh->materials[m].image, TH_NO_INDEX);
        cr_expect_arr_eq(render_mesh->materials[m].base_color, s->materials[m].base_color, sizeof(float[4]));
    }
}

CHECK(image, of_two_materials_is_decoded_once)
{
    stick *s = make_textured_stick();
    s->textures[0] = (th_texture){.name = "unused.png"};
    s->textures[1] = (th_texture){.name = "cloth.tga", .bytes = tga, .byte_count = sizeof tga};
    s->materials[0].texture = 1;
    th_render_mesh *render_mesh = create_render_mesh(&s->model);
    cr_expect_eq(render_mesh->warning_count, 0, "what nobody uses may be missing");
    cr_assert_eq(render_mesh->image_count, 1);
    cr_expect(render_mesh->materials[0].image == 0 && render_mesh->materials[1].image == 0);
    cr_expect_eq(render_mesh->images[0].width, 3);
}

/* ---- smaller levels ---- */

static void check_halved(uint32_t width, uint32_t height, const uint8_t *rgba, uint32_t count, const uint8_t *wanted)
{
    uint8_t out[64];
    th_mipmap_halve(rgba, width, height, out);
    for (uint32_t i = 0; i < 4 * count; i++)
        cr_expect_leq(abs(out[i] - wanted[i]), 1, "%u x %u, byte %u: %u, not %u", width, height, i, out[i], wanted[i]);
}

/* Of black and white in equal parts sRGB has 188: half of the light. */
CHECK(image, halves_weigh_colours_by_alpha)
{
    const uint8_t board[] = {0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 255};
    check_halved(2, 2, board, 1, (const uint8_t[]){188, 188, 188, 255});
    const uint8_t leaf[] = {10, 200, 30, 255, 255, 255, 255, 0, 255, 255, 255, 0, 10, 200, 30, 255};
    check_halved(2, 2, leaf, 1, (const uint8_t[]){10, 200, 30, 128});
    const uint8_t faint[] = {255, 0, 0, 64, 0, 0, 0, 192, 255, 0, 0, 64, 0, 0, 0, 192};
    check_halved(2, 2, faint, 1, (const uint8_t[]){137, 0, 0, 128});
    const uint8_t nothing[] = {90, 90, 90, 0, 90, 90, 90, 0, 90, 90, 90, 0, 90, 90, 90, 0};
    check_halved(2, 2, nothing, 1, (const uint8_t[]){90, 90, 90, 0});
}

/* Odd sizes leave out the last row and column; one row or column is halved along itself. */
CHECK(image, halves_of_any_size)
{
    uint8_t row[4 * 5];
    for (uint8_t i = 0; i < 5; i++)
        memcpy(row + 4 * i, (uint8_t[]){(uint8_t)(50 * i), 0, 0, 255}, 4);
    const uint8_t halves[] = {34, 0, 0, 255, 128, 0, 0, 255};
    check_halved(5, 1, row, 2, halves);
    check_halved(1, 5, row, 2, halves);
    uint8_t odd[4 * 9];
    memset(odd, 255, sizeof odd);
    for (uint32_t i = 0; i < 9; i++)
        odd[4 * i] = i % 3 == 2 || i / 3 == 2 ? 0 : 200;
    check_halved(3, 3, odd, 1, (const uint8_t[]){200, 255, 255, 255});
}

Test(image, checks)
{
    run_checks("image");
}
