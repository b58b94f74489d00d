/* The renderer: every way to draw a picture gives the same picture, and what is in it is where it belongs. */
#include "fixture_boxes.h"
#include "fixture_coarse_human.h"
#include "fixture_golden.h"
#include "fixture_picture.h"
#include "fixture_skin.h"
#include "random_model.h"

#include <anim/synthetic.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 320, HEIGHT = 180, PIXELS = WIDTH * HEIGHT, SIDE = 6, PALETTE_ALIGNMENT = 64 };

static const way plainly = {.width = WIDTH, .height = HEIGHT, .fetch = TH_FETCH_TEXTURE};
static const way unlit = {.width = WIDTH, .height = HEIGHT, .fetch = TH_FETCH_TEXTURE, .samples = 4};
static const way with_shadows = {
    .width = WIDTH, .height = HEIGHT, .fetch = TH_FETCH_TEXTURE, .shadow_pixels = 512, .samples = 4};

TestSuite(crowd_renderer, .init = open_gl, .fini = close_gl);

/* ---- what is drawn ---- */

static test_models models_of(th_model *model)
{
    test_models c = {0};
    test_models_add(&c, model);
    return c;
}

static stage stage_humans(uint32_t count, uint32_t side)
{
    const test_models c = models_of(create_coarse_human());
    return stage_crowd(&c, count, side, 1.25, TH_FORMAT_F32);
}

static size_t palette_stride(const th_render_mesh *mesh, th_format palette)
{
    const size_t bytes = th_palette_entries(mesh->bone_count, mesh->weight_count) * th_palette_entry_bytes(palette);
    return (bytes + PALETTE_ALIGNMENT - 1) / PALETTE_ALIGNMENT * PALETTE_ALIGNMENT;
}

static void random_rotation(uint64_t *state, double q[4])
{
    for (int k = 0; k < 4; k++)
        q[k] = random_between(state, -1, 1) + (k == 3 ? 0.1 : 0);
    th_quat_normalize(q);
}

/* Boxes become prisms, stretched along axes that are not their own; some are mirrored. They are on a spiral, so that
 * all can be seen. */
static void random_entry(uint64_t *state, uint32_t i, uint32_t count, bool mirrors, float out[12])
{
    const double part = (i + 0.5) / count, size = 2 / cbrt(count);
    th_trs turn = {.scale = {1, 1, 1}},
           trs = {.translation = {1.5 * sqrt(part) * cos(2.4 * i), 0.3 + 1.2 * random_between(state, 0, 1),
                                  1.5 * sqrt(part) * sin(2.4 * i)}};
    random_rotation(state, turn.rotation);
    random_rotation(state, trs.rotation);
    for (int k = 0; k < 3; k++)
        trs.scale[k] = size * random_between(state, 0.2, 1.4) * (mirrors && random_between(state, 0, 1) < 0.3 ? -1 : 1);
    const th_mat34 matrix = th_mat34_from(th_dmat34_mul(th_dmat34_from_trs(&trs), th_dmat34_from_trs(&turn)));
    memcpy(out, &matrix, 12 * sizeof *out);
}

/* `count` characters of a mesh of boxes in random poses. */
static stage stage_boxes_as(const th_render_mesh *mesh, uint32_t count, th_format palette, bool mirrors)
{
    const size_t stride = palette_stride(mesh, palette);
    stage s = {.meshes = {mesh}, .mesh_count = 1, .palette = palette, .view = view_of_square(4), .draw_count = 1};
    uint64_t state = 5;
    s.draws[0] = (th_draw){.count = count, .palette_stride = stride, .instance_offset = count * stride};
    stage_alloc(&s, count * (stride + sizeof(th_gpu_instance)));
    for (uint32_t k = 0; k < count; k++) {
        char *entries = s.slot + k * stride;
        for (uint32_t i = 0; i < th_palette_entries(mesh->bone_count, mesh->weight_count); i++) {
            float entry[12];
            th_palette_base base = {.step = th_palette_step(mesh->size)};
            if (i < mesh->bone_count)
                memcpy(base.place, mesh->bones[i].center, sizeof base.place);
            if (i < mesh->bone_count)
                random_entry(&state, i, mesh->bone_count, mirrors, entry);
            else
                for (int n = 0; n < 12; n++) /* weights, half of them 0 */
                    entry[n] = fmaxf(0, (float)random_between(&state, -1.5, 1.5)) * (n % 5 == 0 ? -1 : 1);
            th_palette_write(palette, entry, &base, entries + i * th_palette_entry_bytes(palette));
        }
        th_gpu_instance *gpu_instance = (th_gpu_instance *)(s.slot + s.draws[0].instance_offset) + k;
        *gpu_instance = instance_on_square(k, 2, TH_REFERENCE_SIZE_M / (0.6 + 0.2 * k));
        for (int i = 0; i < 3; i += 2)
            gpu_instance->position[i] *= 2.5F;
    }
    return s;
}

static stage stage_boxes(const th_render_mesh *mesh, uint32_t count)
{
    return stage_boxes_as(mesh, count, TH_FORMAT_F32, false);
}

/* ---- comparing ---- */

static void expect_same(const char *what, const stage *s, const way *w, const uint8_t *wanted)
{
    const uint8_t *rgba = shoot(s, w);
    const difference d = compare_pictures(rgba, wanted, w->width, w->height);
    cr_expect_arr_eq(rgba, wanted, (size_t)w->width * w->height * 4, "%s: %u pixels off, RMSE %.2g", what, d.pixels_off,
                     d.rmse);
}

static uint32_t count_other_pixels(const uint8_t *a, const uint8_t *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < PIXELS; i++)
        count += memcmp(a + 4 * i, b + 4 * i, 4) != 0;
    return count;
}

/* The ways to draw a picture: fetches, uploads, and blocks that hold 1, 2, 7 and all characters. */
static void check_ways(const stage *s, const uint8_t *wanted)
{
    const size_t stride = s->draws[0].palette_stride;
    const size_t blocks[] = {0, 1, 2 * stride, 7 * stride + 100};
    way w = plainly;
    for (int fetch = TH_FETCH_STORAGE; fetch <= TH_FETCH_TEXTURE; fetch++)
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
            char what[100];
            w.fetch = (th_fetch)fetch;
            w.block_bytes = blocks[b];
            w.upload = b % 2 ? TH_RING_UNSYNCHRONIZED : TH_RING_AUTO;
            snprintf(what, sizeof what, "%u of %s by %s, blocks of %zu bytes", s->draws[0].count,
                     th_format_name(s->palette), th_fetch_name(w.fetch), w.block_bytes);
            expect_same(what, s, &w, wanted);
        }
}

/* ---- every way gives the same picture ---- */

CHECK(crowd_renderer, all_ways_give_the_same_picture)
{
    const uint32_t counts[] = {0, 1, 16};
    const test_models c = models_of(create_coarse_human());
    for (int palette = 0; palette < TH_FORMAT_COUNT; palette++) {
        const uint8_t *nobody = NULL;
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            stage s = stage_crowd(&c, counts[i], SIDE, 1.25, (th_format)palette);
            const uint8_t *wanted = shoot(&s, &plainly);
            nobody = nobody ? nobody : wanted;
            cr_expect_geq(count_other_pixels(wanted, nobody), 100 * counts[i], "%u characters hardly to be seen",
                          counts[i]);
            check_ways(&s, wanted);
        }
    }
}

/* Characters a long way from each other reach the driver's own limit, 128 MiB on llvmpipe, without there being many.
 * Where it is far higher they are one piece. */
CHECK(crowd_renderer, more_than_the_driver_binds_at_once)
{
    enum { FEW = 4 };
    const stage near = stage_boxes(boxes_create(5), FEW);
    const uint8_t *wanted = shoot(&near, &plainly);
    const size_t limit = th_gl_get_info(gl)->storage_block_bytes, most = (size_t)128 << 20;
    const size_t stride = (limit < most ? limit : most) / 3 / PALETTE_ALIGNMENT * PALETTE_ALIGNMENT;
    const size_t instances = (FEW - 1) * stride + near.draws[0].palette_stride;
    const th_ring_desc desc = {.bytes = instances + FEW * sizeof(th_gpu_instance)};
    stage far = near;
    th_ring *ring;
    far.draws[0].palette_stride = stride;
    far.draws[0].instance_offset = instances;
    cr_assert_eq(th_ring_create(gl, &desc, &ring, NULL), TH_OK);
    for (int fetch = TH_FETCH_STORAGE; fetch <= TH_FETCH_TEXTURE; fetch++) {
        const way w = {.width = WIDTH, .height = HEIGHT, .fetch = (th_fetch)fetch};
        char *slot = th_ring_begin(ring);
        for (uint32_t k = 0; k < FEW; k++)
            memcpy(slot + k * stride, near.slot + k * near.draws[0].palette_stride, near.draws[0].palette_stride);
        memcpy(slot + instances, near.slot + near.draws[0].instance_offset, FEW * sizeof(th_gpu_instance));
        th_ring_end(ring);
        const uint8_t *rgba = shoot_slot(&far, &w, ring);
        cr_expect_arr_eq(rgba, wanted, PIXELS * 4, "%s: %u pixels differ", th_fetch_name(w.fetch),
                         count_other_pixels(rgba, wanted));
    }
    th_ring_destroy(ring);
}

/* ---- what is in it is where it belongs ---- */

/* Of somebody out of sight there is the shadow, and without a shadow map nothing. */
CHECK(crowd_renderer, shadow_only_is_a_shadow_and_no_more)
{
    stage s = stage_humans(2, SIDE);
    s.draws[1] = s.draws[0]; /* the second character by himself */
    s.draws[1].palette_offset += s.draws[1].palette_stride;
    s.draws[1].instance_offset += sizeof(th_gpu_instance);
    s.draws[0].count = s.draws[1].count = s.draw_count = 1;
    const uint8_t *alone = shoot(&s, &with_shadows), *alone_unlit = shoot(&s, &unlit);
    s.draw_count = 2;
    const uint8_t *both = shoot(&s, &with_shadows);
    s.draws[1].shadow_only = true;
    const uint8_t *shadow = shoot(&s, &with_shadows);
    expect_same("without a map", &s, &unlit, alone_unlit);
    uint32_t darker = 0, brighter = 0;
    for (uint32_t i = 0; i < 4 * PIXELS; i++) {
        darker += shadow[i] < alone[i];
        brighter += shadow[i] > alone[i];
    }
    cr_expect(darker > 200 && brighter == 0, "%u darker, %u brighter", darker, brighter);
    cr_expect_gt(count_other_pixels(shadow, both), 100);
}

/* Normals are rounded to 10 bits once more on the way, colours of appearances to bytes, and edges move by the rounding
 * of single precision. */
static void expect_skinned(const char *what, const stage *s)
{
    stage skinned = stage_skinned(s);
    const uint32_t most_off = PIXELS / 5000;
    const double most = s->meshes[0]->appearances.count > 0 ? 1.3e-3 : 1e-3;
    const uint8_t *rgba = shoot(s, &with_shadows), *wanted = shoot(&skinned, &with_shadows);
    const difference d = compare_pictures(rgba, wanted, WIDTH, HEIGHT);
    cr_log_info("%s: %u pixels off, RMSE %.2g", what, d.pixels_off, d.rmse);
    cr_expect(d.pixels_off <= most_off && d.rmse <= most, "%s: %u pixels off, RMSE %.2g", what, d.pixels_off, d.rmse);
}

CHECK(crowd_renderer, humans_are_skinned_as_on_the_cpu)
{
    test_models c = models_of(create_human());
    for (int palette = 0; palette < TH_FORMAT_COUNT; palette++) {
        stage s = stage_crowd(&c, 4, 2, 1.25, (th_format)palette);
        expect_skinned(th_format_name(s.palette), &s);
    }
}

/* The second level is the first one again, which is drawn with four influences. */
CHECK(crowd_renderer, boxes_follow_eight_bones_as_on_the_cpu)
{
    th_render_mesh *mesh = boxes_create(11);
    boxes_add_influences(mesh);
    th_render_mesh_part parts[2] = {mesh->parts[0], mesh->parts[1]};
    for (int p = 0; p < 2; p++)
        parts[p].lods[1] = parts[p].lods[0];
    mesh->parts = parts;
    mesh->lod_count = 2;
    stage s = stage_boxes(mesh, 6);
    const uint8_t *drawn[2];
    for (uint32_t lod = 0; lod < 2; lod++) {
        s.draws[0].lod = lod;
        expect_skinned(lod == 0 ? "eight" : "four", &s);
        drawn[lod] = shoot(&s, &plainly);
        check_ways(&s, drawn[lod]);
    }
    cr_expect_gt(count_other_pixels(drawn[0], drawn[1]), 1000);
}

/* The second part is a mask that cuts nothing, so that all programs take part. */
CHECK(crowd_renderer, boxes_are_morphed_as_on_the_cpu)
{
    th_render_mesh *mesh = boxes_create(7);
    boxes_add_morphs(mesh, 14);
    boxes_add_influences(mesh);
    th_render_mesh_material materials[2] = {mesh->materials[0], mesh->materials[1]};
    materials[1].alpha = TH_ALPHA_MASK;
    materials[1].alpha_cutoff = 0.5F;
    mesh->materials = materials;
    for (int palette = 0; palette < TH_FORMAT_QUAT; palette++) { /* which has no weights */
        stage s = stage_boxes_as(mesh, 6, (th_format)palette, false);
        expect_skinned(th_format_name(s.palette), &s);
        const uint8_t *wanted = shoot(&s, &plainly);
        check_ways(&s, wanted);
        for (uint32_t k = 0; k < 6; k++) /* without weights it is another picture */
            memset(s.slot + k * s.draws[0].palette_stride + 7 * th_palette_entry_bytes(s.palette), 0,
                   2 * th_palette_entry_bytes(s.palette));
        const uint8_t *still = shoot(&s, &plainly);
        cr_expect_gt(count_other_pixels(wanted, still), 2000);
    }
}

/* How many pixels shadows change. */
static uint32_t count_shadow_pixels(const stage *s)
{
    return count_other_pixels(shoot(s, &with_shadows), shoot(s, &unlit));
}

/* The sphere of the map holds the body, and the ground only as far as the feet; the shadow of the head lies beyond.
 * Then the map is a small piece of the ground, where the head's shadow falls; the head is nearer to the sun than the
 * map. */
CHECK(crowd_renderer, shadows_come_from_and_fall_beyond_the_map)
{
    stage s = stage_humans(1, 1);
    const uint32_t whole = count_shadow_pixels(&s);
    s.view.shadow_center[1] = 0.9F;
    s.view.shadow_radius = 1.1F;
    const uint32_t beyond = count_shadow_pixels(&s);
    cr_expect(beyond > whole * 93 / 100 && beyond < whole * 107 / 100, "%u, of the whole %u", beyond, whole);
    const float *sun = s.view.to_sun, head = 1.6F;
    for (int k = 0; k < 3; k++)
        s.view.shadow_center[k] = k == 1 ? 0 : -head / sun[1] * sun[k];
    s.view.shadow_radius = 0.4F;
    cr_expect_gt(count_shadow_pixels(&s), 100);
}

CHECK(crowd_renderer, skeletons_throw_shadows_of_lines)
{
    stage s = stage_humans(1, 1);
    const uint32_t of_mesh = count_shadow_pixels(&s);
    s.view.skeletons = true;
    const uint32_t of_lines = count_shadow_pixels(&s);
    cr_expect(of_lines > 300 && of_lines < of_mesh / 2, "%u, of the mesh %u", of_lines, of_mesh);
}

/* Axes of different lengths, mirrors, and more than 256 bones. */
CHECK(crowd_renderer, boxes_are_lit_as_on_the_cpu)
{
    for (int palette = 0; palette < TH_FORMAT_COUNT; palette++) {
        for (int mirrors = 0; mirrors < 2; mirrors++) {
            const stage s = stage_boxes_as(boxes_create(12), 4, (th_format)palette, mirrors);
            expect_skinned(mirrors ? "mirrors" : th_format_name(s.palette), &s);
        }
        const stage many = stage_boxes_as(boxes_create(300), 4, (th_format)palette, false);
        expect_skinned("300 bones", &many);
    }
}

/* A skeleton's lines are those between the places where its joints came to be. */
CHECK(crowd_renderer, skeleton_lines_end_at_joints)
{
    th_render_mesh *mesh = boxes_create(300);
    stage s = stage_boxes(mesh, 1);
    s.view.skeletons = true;
    const uint8_t *wanted = shoot(&s, &plainly);
    check_ways(&s, wanted);

    th_render_mesh still = *mesh;
    th_render_mesh_line_end *ends = borrow(still.line_end_count * sizeof *ends);
    for (uint32_t i = 0; i < still.line_end_count; i++) {
        float entry[12];
        th_palette_read(TH_FORMAT_F32, s.slot + mesh->line_ends[i].bone * sizeof entry, NULL, entry);
        ends[i] = (th_render_mesh_line_end){{entry[3], entry[7], entry[11]}, 0};
    }
    th_palette_write(TH_FORMAT_F32, (const float[]){1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, NULL, s.slot);
    still.line_ends = ends;
    s.meshes[0] = &still;
    expect_same("joints", &s, &plainly, wanted);
}

/* Among them a skeleton without meshes. Whoever is drawn first: what is nearer hides what is farther. */
CHECK(crowd_renderer, several_figures_in_one_picture)
{
    test_models c = models_of(create_human());
    th_synthetic_desc tree = TH_SYNTHETIC_DEFAULT;
    th_model *model;
    tree.joints = 300;
    cr_assert_eq(th_synthetic_create(&tree, &model, NULL), TH_OK);
    test_models_add(&c, model);
    th_render_mesh *boxes = boxes_create(5);
    const stage people = stage_crowd(&c, 6, 3, 1.25, TH_FORMAT_F32);
    const stage more = stage_boxes_as(boxes, 4, TH_FORMAT_F32, true);
    const size_t behind = (people.slot_bytes + PALETTE_ALIGNMENT - 1) / PALETTE_ALIGNMENT * PALETTE_ALIGNMENT;
    stage s = people;
    stage_alloc(&s, behind + more.slot_bytes);
    memcpy(s.slot, people.slot, people.slot_bytes);
    memcpy(s.slot + behind, more.slot, more.slot_bytes);
    s.draws[s.draw_count] = more.draws[0];
    s.draws[s.draw_count].mesh += s.mesh_count;
    s.draws[s.draw_count].palette_offset += behind;
    s.draws[s.draw_count++].instance_offset += behind;
    s.meshes[s.mesh_count++] = more.meshes[0];
    expect_skinned("three meshes", &s);

    const uint8_t *wanted = shoot(&s, &with_shadows);
    const th_draw first = s.draws[0];
    s.draws[0] = s.draws[2];
    s.draws[2] = first;
    expect_same("in another order", &s, &with_shadows, wanted);
}

/* ---- materials ---- */

/* One box of a metre in the middle of the picture, whose part and material a test may change. */
typedef struct box {
    th_render_mesh *mesh;
    th_render_mesh_part *part;
    th_render_mesh_material material;
    th_render_mesh_image image;
    uint8_t pixels[2 * 2 * 4];
    stage stage, nobody;
} box;

static box *make_box(void)
{
    box *b = borrow(sizeof *b);
    b->mesh = boxes_create(1);
    b->part = (th_render_mesh_part *)b->mesh->parts;
    b->part->culling = TH_CULL_BACK;
    memset(b->pixels, 255, sizeof b->pixels);
    b->image = (th_render_mesh_image){.width = 2, .height = 2, .rgba = b->pixels, .name = "leaf.png"};
    b->mesh->images = &b->image;
    b->material =
        (th_render_mesh_material){.base_color = {0.8F, 0.7F, 0.5F, 1}, .image = TH_NO_INDEX, .alpha_cutoff = 0.5F};
    b->mesh->materials = &b->material;
    b->mesh->material_count = 1;
    b->part[1].material = 0;
    b->stage = stage_boxes(b->mesh, 1);
    b->stage.view = view_of_square(1);
    th_palette_write(TH_FORMAT_F32, (const float[]){2, 0, 0, 0, 0, 2, 0, 0.7F, 0, 0, 2, 0}, NULL, b->stage.slot);
    th_gpu_instance *instance = (th_gpu_instance *)(b->stage.slot + b->stage.draws[0].instance_offset);
    *instance = (th_gpu_instance){.scale = 1, .heading = {1, 0}};
    b->nobody = b->stage;
    b->nobody.draw_count = 0;
    return b;
}

/* How many pixels a box, or the shadow of one, changes. */
static uint32_t count_box_pixels(const box *b, const way *w)
{
    return count_other_pixels(shoot(&b->stage, w), shoot(&b->nobody, w));
}

/* In the picture, and in the shadow: there two walls are in the sun's way, so that more than half is left. */
CHECK(crowd_renderer, masks_have_holes)
{
    for (int shadow = 0; shadow < 2; shadow++) {
        box *b = make_box();
        const way *how = shadow ? &with_shadows : &unlit;
        b->pixels[3] = b->pixels[11] = 0; /* half of the image */
        b->material.image = 0;
        b->stage.draws[0].shadow_only = shadow;
        const uint32_t whole = count_box_pixels(b, how);
        cr_assert_gt(whole, shadow ? 2000 : 5000);
        b->material.alpha = TH_ALPHA_MASK;
        const uint32_t part = count_box_pixels(b, how);
        cr_expect(part > whole * (shadow ? 25 : 40) / 100 && part < whole * (shadow ? 95 : 60) / 100, "%u of %u", part,
                  whole);
        b->material.alpha_cutoff = 1.5F;
        cr_expect_eq(count_box_pixels(b, &with_shadows), 0);
    }
}

/* What the middle row of a picture shows of an image that is red and green: y where they are mixed. */
static const char *read_row(const uint8_t *rgba)
{
    static char out[PIXELS];
    uint32_t count = 0;
    for (const uint8_t *at = rgba + 4 * (PIXELS / 2), *end = at + 4 * WIDTH; at < end; at += 4) {
        const char color = at[0] > 2 * at[1] ? 'r' : at[1] > 2 * at[0] ? 'g' : 2 * at[2] < at[0] ? 'y' : 0;
        if (color && (count == 0 || out[count - 1] != color))
            out[count++] = color;
    }
    out[count] = '\0';
    return out;
}

CHECK(crowd_renderer, images_are_read_as_their_sampler_says)
{
    static const struct {
        th_sampler sampler;
        const char *row;
    } cases[] = {{{.large = TH_FILTER_LINEAR}, "yrygyrygy"},
                 {{.large = TH_FILTER_NEAREST}, "rgrg"},
                 {{.large = TH_FILTER_NEAREST, .wrap = {TH_WRAP_CLAMP, TH_WRAP_REPEAT}}, "rg"},
                 {{.large = TH_FILTER_NEAREST, .wrap = {TH_WRAP_MIRROR, TH_WRAP_REPEAT}}, "rgr"}};
    box *b = make_box();
    th_render_mesh_vertex *vertices = (th_render_mesh_vertex *)b->mesh->vertices;
    for (uint32_t v = 0; v < b->mesh->vertex_count; v++) {
        vertices[v].uv[0] = vertices[v].uv[0] ? 0x4000 : 0; /* 2 */
        if (vertices[v].normal >> 20 != 511)                /* not the front */
            memset(vertices[v].color, 0, 3);
    }
    b->material = (th_render_mesh_material){.base_color = {1, 1, 1, 1}};
    memcpy(b->pixels, (const uint8_t[]){255, 0, 0, 255, 0, 255, 0, 255, 255, 0, 0, 255, 0, 255, 0, 255}, 16);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        b->image.sampler = cases[c].sampler;
        const char *row = read_row(shoot(&b->stage, &unlit));
        cr_expect_str_eq(row, cases[c].row, "%s instead of %s", row, cases[c].row);
    }
}

static double linear(uint8_t byte)
{
    return pow(byte / 255.0, 2.2);
}

/* The sum of how much brighter a picture is than the background. */
static double brightness(const uint8_t *rgba, const uint8_t *background)
{
    double sum = 0;
    for (uint32_t i = 0; i < 4 * PIXELS; i++)
        sum += i % 4 < 3 ? linear(rgba[i]) - linear(background[i]) : 0;
    return sum;
}

/* A black box that glows, so that it is brighter than everything behind it. */
CHECK(crowd_renderer, blending_mixes_with_the_background)
{
    box *b = make_box();
    b->material = (th_render_mesh_material){.base_color = {0, 0, 0, 1}, .image = TH_NO_INDEX, .emissive = {1, 1, 1}};
    const uint8_t *nobody = shoot(&b->nobody, &unlit), *whole = shoot(&b->stage, &unlit);
    b->material.alpha = TH_ALPHA_BLEND;
    expect_same("alpha 1", &b->stage, &unlit, whole);
    for (int quarters = 0; quarters <= 4; quarters++) {
        b->material.base_color[3] = (float)quarters / 4;
        const uint8_t *mixed = shoot(&b->stage, &unlit);
        const double share = brightness(mixed, nobody) / brightness(whole, nobody);
        cr_expect(fabs(share - quarters / 4.0) < 0.03, "%g instead of %g", share, quarters / 4.0);
        for (uint32_t i = 3; i < 4 * PIXELS; i += 4)
            cr_assert_eq(mixed[i], 255, "the picture is transparent");
    }
}

/* So does blending where there are no samples to share, and its shadow. */
CHECK(crowd_renderer, blending_is_cut_at_a_half)
{
    box *b = make_box();
    const uint8_t *whole = shoot(&b->stage, &plainly);
    const uint32_t shadow = count_shadow_pixels(&b->stage);
    b->material.alpha = TH_ALPHA_BLEND;
    b->material.base_color[3] = 0.6F;
    expect_same("more than a half", &b->stage, &plainly, whole);
    b->stage.draws[0].shadow_only = true;
    cr_expect_gt(count_shadow_pixels(&b->stage), shadow / 3);
    b->material.base_color[3] = 0.5F;
    cr_expect_eq(count_shadow_pixels(&b->stage), 0, "a half casts a shadow");
    b->stage.draws[0].shadow_only = false;
    cr_expect_eq(count_box_pixels(b, &plainly), 0, "a half is drawn");
}

/* Keeps only the wall of the box that faces away from the camera, or the same wall turned around. */
static void keep_far_wall(box *b, bool turned)
{
    enum { FAR_WALL = 4, CORNERS = 4, INDICES = 6 };
    b->part->lods[0] = (th_render_mesh_lod){.first_index = FAR_WALL * INDICES, .index_count = INDICES};
    if (!turned)
        return;
    uint32_t *indices = (uint32_t *)b->mesh->indices + FAR_WALL * INDICES;
    for (int i = 0; i < INDICES; i += 3) {
        const uint32_t second = indices[i + 1];
        indices[i + 1] = indices[i + 2];
        indices[i + 2] = second;
    }
    for (uint32_t v = FAR_WALL * CORNERS; v < (FAR_WALL + 1) * CORNERS; v++)
        ((th_render_mesh_vertex *)b->mesh->vertices)[v].normal = 511u << 20;
}

CHECK(crowd_renderer, backs_are_drawn_of_double_sided_parts_alone)
{
    box *b = make_box(), *turned = make_box();
    keep_far_wall(b, false);
    keep_far_wall(turned, true);
    cr_expect_eq(count_box_pixels(b, &unlit), 0, "the back of a single-sided part");
    const uint8_t *front = shoot(&turned->stage, &unlit);
    b->part->culling = TH_CULL_NONE;
    cr_expect_gt(count_box_pixels(b, &unlit), 2000);
    expect_same("a back is lit as a front is", &b->stage, &unlit, front);
}

/* The other side of a closed box is never seen, mirrored or not. */
CHECK(crowd_renderer, culling_changes_nothing_that_is_closed)
{
    box *b = make_box();
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        const float x = mirrored ? -2 : 2;
        th_palette_write(TH_FORMAT_F32, (const float[]){x, 0, 0, 0, 0, 2, 0, 0.7F, 0, 0, 2, 0}, NULL, b->stage.slot);
        b->part->culling = TH_CULL_NONE;
        const uint8_t *both = shoot(&b->stage, &with_shadows);
        b->part->culling = mirrored ? TH_CULL_FRONT : TH_CULL_BACK;
        expect_same(mirrored ? "mirrored" : "plain", &b->stage, &with_shadows, both);
    }
}

/* ---- what the view and the draws ask for ---- */

CHECK(crowd_renderer, a_plain_picture_is_of_tints_alone)
{
    th_render_mesh *mesh = boxes_create(5);
    stage s = stage_boxes(mesh, 4);
    const uint8_t *materials = shoot(&s, &plainly);
    s.view.plain = true;
    const uint8_t *plain = shoot(&s, &plainly);
    cr_expect_gt(count_other_pixels(plain, materials), 500);
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        memset(((th_render_mesh_vertex *)mesh->vertices)[v].color, 0, 3);
    expect_same("black boxes", &s, &plainly, plain);
    ((th_gpu_instance *)(s.slot + s.draws[0].instance_offset))[0].tint[3] ^= 255;
    cr_expect_gt(count_other_pixels(plain, shoot(&s, &plainly)), 100);
}

/* Of people in an appearance, and of a model that th_model_dress dressed the same. Its dark colours are rounded to
 * bytes. */
CHECK(crowd_renderer, appearances_are_drawn_as_they_are_exported)
{
    test_models c = models_of(create_coarse_human());
    stage s = stage_crowd(&c, 4, 2, 0.3, TH_FORMAT_F32);
    th_gpu_instance *instances = (th_gpu_instance *)(s.slot + s.draws[0].instance_offset);
    for (uint32_t appearance = 0; appearance < 5; appearance++) {
        th_model *dressed;
        th_error err;
        cr_assert_eq(th_model_dress(c.models[0], appearance, &dressed, &err), TH_OK, "%s", err.text);
        const test_models alone = models_of(dressed);
        for (uint32_t k = 0; k < s.draws[0].count; k++) {
            instances[k].appearance = appearance & (TH_MAX_APPEARANCES - 1);
            instances[k].tint[3] = 0;
        }
        s.meshes[0] = c.meshes[0];
        const uint8_t *rgba = shoot(&s, &with_shadows);
        s.meshes[0] = alone.meshes[0];
        const difference d = compare_pictures(rgba, shoot(&s, &with_shadows), WIDTH, HEIGHT);
        cr_expect_lt(d.pixels_off, 60, "appearance %u: %u pixels off", appearance, d.pixels_off);
    }
}

CHECK(crowd_renderer, a_level_of_detail_that_is_not_there_is_the_last_one)
{
    stage s = stage_humans(4, 2);
    const uint8_t *finest = shoot(&s, &plainly);
    s.draws[0].lod = s.meshes[0]->lod_count - 1;
    const uint8_t *coarsest = shoot(&s, &plainly);
    cr_assert_gt(s.draws[0].lod, 0);
    cr_expect_gt(count_other_pixels(finest, coarsest), 100);
    s.draws[0].lod = 101;
    expect_same("level 101", &s, &plainly, coarsest);
}

/* Only the shadow map gets the coarser level, and never a finer one than the picture. */
CHECK(crowd_renderer, shadows_may_be_coarser_than_the_picture)
{
    stage s = stage_humans(4, 2);
    const uint8_t *whole = shoot(&s, &with_shadows), *lit = shoot(&s, &plainly);
    s.draws[0].shadow_lod = s.meshes[0]->lod_count - 1;
    expect_same("no shadows", &s, &plainly, lit);
    const uint8_t *coarse = shoot(&s, &with_shadows);
    cr_expect_gt(count_other_pixels(whole, coarse), 20);
    s.draws[0].lod = s.draws[0].shadow_lod;
    const uint8_t *coarsest = shoot(&s, &with_shadows);
    cr_expect_gt(count_other_pixels(coarse, coarsest), 100);
    s.draws[0].shadow_lod = 0;
    expect_same("the picture's level", &s, &with_shadows, coarsest);
}

/* A file may hold joints and nothing that follows them. */
CHECK(crowd_renderer, a_figure_of_nothing_draws_nothing)
{
    th_render_mesh *mesh = boxes_create(0);
    for (int skeletons = 0; skeletons < 2; skeletons++)
        for (int fetch = TH_FETCH_STORAGE; fetch <= TH_FETCH_TEXTURE; fetch++) {
            stage s = stage_boxes(mesh, 4);
            way w = with_shadows;
            w.fetch = (th_fetch)fetch;
            s.view.skeletons = skeletons;
            const uint8_t *drawn = shoot(&s, &w);
            s.draw_count = 0;
            expect_same(th_fetch_name(w.fetch), &s, &w, drawn);
        }
}

static void expect_error(const th_render_mesh *mesh, th_fetch fetch, uint32_t shadow_pixels, const char *text)
{
    const th_crowd_renderer_desc desc = {
        .gl = gl, .meshes = &mesh, .mesh_count = mesh != NULL, .fetch = fetch, .shadow_pixels = shadow_pixels};
    th_crowd_renderer *renderer;
    th_error err = {0};
    cr_expect_eq(th_crowd_renderer_create(&desc, &renderer, &err), TH_ERR_ENVIRONMENT);
    cr_expect(strstr(err.text, text), "%s", err.text);
    cr_expect_null(renderer);
}

CHECK(crowd_renderer, what_is_too_large_is_an_error)
{
    th_render_mesh *mesh = boxes_create(2);
    const th_render_mesh_image wide = {.width = 1 << 20, .height = 1, .rgba = mesh->images[0].rgba, .name = "sail.png"};
    mesh->images = &wide;
    expect_error(NULL, TH_FETCH_AUTO, 1 << 20, "1048576 pixels a side");
    expect_error(mesh, TH_FETCH_AUTO, 0, "texture sail.png has 1048576 x 1 pixels");
    mesh->bone_count = UINT32_MAX;
    for (int fetch = TH_FETCH_STORAGE; fetch <= TH_FETCH_TEXTURE; fetch++)
        expect_error(mesh, (th_fetch)fetch, 0, "mesh 0 has palettes of 206158430160 bytes");
}

CHECK(crowd_renderer, the_driver_decides_how_palettes_are_read)
{
    th_crowd_renderer *renderer;
    th_error err;
    cr_assert_eq(th_crowd_renderer_create(&(th_crowd_renderer_desc){.gl = gl}, &renderer, &err), TH_OK, "%s", err.text);
    cr_expect_eq(th_crowd_renderer_get_fetch(renderer),
                 th_gl_get_info(gl)->software ? TH_FETCH_TEXTURE : TH_FETCH_STORAGE);
    th_crowd_renderer_destroy(renderer);
    th_crowd_renderer_destroy(NULL);
}

/* ---- what anybody would see ---- */

/* The lowest pixel of a character in a picture without shadows touches the shadow that it casts in the other: the
 * ground is darker there. */
CHECK(crowd_renderer, characters_stand_where_their_shadows_begin)
{
    test_models c = models_of(create_coarse_human());
    stage s = stage_crowd(&c, 1, 1, 0, TH_FORMAT_F32);
    stage nobody = stage_crowd(&c, 0, 1, 0, TH_FORMAT_F32);
    const uint8_t *standing = shoot(&s, &plainly), *empty = shoot(&nobody, &plainly);
    way shadows = plainly;
    shadows.shadow_pixels = 1024;
    const uint8_t *shaded = shoot(&s, &shadows);
    int foot = -1, near = 0, shadow = 0;
    for (int i = 0; i < PIXELS; i++)
        if (memcmp(standing + 4 * i, empty + 4 * i, 4) != 0)
            foot = i;
    for (int i = 0; i < PIXELS; i++) {
        const bool ground = memcmp(standing + 4 * i, empty + 4 * i, 4) == 0;
        const bool dark = ground && shaded[4 * i] + 10 < empty[4 * i];
        shadow += dark;
        near += dark && abs(i % WIDTH - foot % WIDTH) <= 4 && abs(i / WIDTH - foot / WIDTH) <= 4;
    }
    cr_expect_gt(shadow, 300);
    cr_expect_gt(near, 3, "the lowest pixel, %d %d, is away from any shadow", foot % WIDTH, foot / WIDTH);
}

Test(crowd_renderer, checks)
{
    run_checks("crowd_renderer");
}
