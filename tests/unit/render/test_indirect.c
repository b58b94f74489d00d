/* Inside, since draws are made up that no crowd needs. Draws of which the GPU knows the counts give the picture of
 * draws of which the CPU knows them: for all that a mesh can be, whatever the level, in chunks. The commands are
 * written by the CPU here; tests/unit/render/test_gpu_cull.c has the shader's. */
#include "fixture_boxes.h"
#include "fixture_golden.h"
#include "fixture_picture.h"

#include "view/indirect.h"
#include "view/upload.h"

#include <criterion/criterion.h>
#include <glad/gl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 320, HEIGHT = 180, BONES = 11, WEIGHTS = 14, CHARACTERS = 7, CHUNK = 4, LODS = TH_RENDER_MESH_LODS };

static const way wanted_way = {
    .width = WIDTH, .height = HEIGHT, .fetch = TH_FETCH_TEXTURE, .shadow_pixels = 256, .samples = 4};

TestSuite(indirect, .init = open_llvmpipe, .fini = close_gl);

/* ---- what is drawn ---- */

/* Two groups in the picture, at levels 0 and 1, and one that is only in the shadow map. */
static stage make_stage(const th_render_mesh *mesh, uint32_t shadow_lod)
{
    const size_t bytes = th_palette_entries(BONES, WEIGHTS) * th_palette_entry_bytes(TH_FORMAT_F32),
                 stride = (bytes + 255) / 256 * 256;
    static const struct {
        uint32_t lod, first, count;
        bool shadow_only;
    } groups[] = {{0, 0, 3, false}, {1, 3, 3, false}, {0, 6, 1, true}};
    stage s = {.meshes = {mesh}, .mesh_count = 1, .view = view_of_square(3), .draw_count = 3};
    stage_alloc(&s, CHARACTERS * (stride + sizeof(th_gpu_instance)));
    for (uint32_t k = 0; k < CHARACTERS; k++) {
        th_gpu_instance instance = instance_on_square(k, 3, TH_REFERENCE_SIZE_M);
        instance.palette = k % CHUNK & (TH_GPU_INSTANCE_PALETTES - 1);
        memcpy(s.slot + CHARACTERS * stride + k * sizeof instance, &instance, sizeof instance);
        /* Boxes about the places of their bones, and weights. */
        float *out = (float *)(void *)(s.slot + k * stride);
        for (uint32_t e = 0; e < BONES; e++, out += 12) {
            const float turn = 0.3F * (float)(e + k), at = (float)e / BONES;
            const float entry[12] = {
                0.4F * cosf(turn),  0, 0.4F * sinf(turn), at - 0.5F,          0, 0.3F, 0, 0.3F + at,
                -0.4F * sinf(turn), 0, 0.4F * cosf(turn), 0.3F * sinf(7 * at)};
            memcpy(out, entry, sizeof entry);
        }
        for (uint32_t w = 0; w < WEIGHTS; w++)
            out[w] = (w + k) % 3 == 0 ? 0.4F : 0;
    }
    for (uint32_t g = 0; g < 3; g++)
        s.draws[g] = (th_draw){.lod = groups[g].lod,
                               .shadow_lod = shadow_lod,
                               .count = groups[g].count,
                               .palette_offset = groups[g].first * stride,
                               .palette_stride = stride,
                               .instance_offset = CHARACTERS * stride + groups[g].first * sizeof(th_gpu_instance),
                               .footprint = 0.4F,
                               .shadow_only = groups[g].shadow_only};
    return s;
}

/* ---- the same, indirectly ---- */

/* Of a part at a level: where it begins, and how many. */
static th_indirect_command command_of(const th_upload *upload, uint32_t part, uint32_t lod)
{
    if (part == TH_INDIRECT_SKELETON)
        return (th_indirect_command){.count = upload->line_end_count};
    if (part == TH_INDIRECT_CONTACTS)
        return (th_indirect_command){.count = 4};
    const th_render_mesh_lod *level = &upload->parts[part - TH_INDIRECT_PARTS].lods[th_upload_level(upload, lod)];
    return (th_indirect_command){.count = level->index_count, .first = level->first_index};
}

/* Adds the characters of a draw. first: of all characters. */
static void add_draw(const th_upload *upload, const th_draw *draw, uint32_t first, uint32_t chunk_count,
                     th_indirect_command *commands)
{
    for (uint32_t part = 0; part < TH_INDIRECT_PARTS + upload->part_count; part++)
        for (uint32_t c = 0; c < chunk_count; c++)
            for (uint32_t step = draw->shadow_only ? 2 : 0; step < (draw->shadow_only ? 3 : 2); step++) {
                const uint32_t lod = step > 0 && draw->shadow_lod > draw->lod ? draw->shadow_lod : draw->lod;
                th_indirect_command command = command_of(upload, part, lod);
                for (uint32_t k = first; k < first + draw->count; k++) {
                    command.base_instance = k / CHUNK == c && command.instance_count == 0 ? k : command.base_instance;
                    command.instance_count += k / CHUNK == c;
                }
                if (part < TH_INDIRECT_PARTS)
                    command.base_vertex = command.base_instance;
                commands[(part * chunk_count + c) * TH_INDIRECT_COMMANDS + step * LODS + draw->lod] = command;
            }
}

static GLuint make_buffer(const void *data, size_t bytes)
{
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
    glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)bytes, data, GL_STATIC_DRAW);
    return buffer;
}

static uint8_t *shoot_indirect(const stage *s, const way *w)
{
    enum { CHUNKS = (CHARACTERS + CHUNK - 1) / CHUNK, PARTS = TH_INDIRECT_PARTS + 2 };
    static th_indirect_command commands[PARTS * CHUNKS * TH_INDIRECT_COMMANDS];
    const size_t stride = s->draws[0].palette_stride;
    th_crowd_renderer *renderer;
    const th_crowd_renderer_desc desc = {
        .gl = gl, .meshes = s->meshes, .mesh_count = 1, .fetch = w->fetch, .shadow_pixels = w->shadow_pixels};
    cr_assert_eq(th_crowd_renderer_create(&desc, &renderer, NULL), TH_OK);
    uint32_t first = 0;
    memset(commands, 0, sizeof commands);
    for (uint32_t d = 0; d < s->draw_count; first += s->draws[d++].count)
        add_draw(th_crowd_renderer_upload(renderer, 0), &s->draws[d], first, CHUNKS, commands);
    const th_indirect_mesh mesh = {.most = CHARACTERS,
                                   .chunk = CHUNK,
                                   .chunk_count = CHUNKS,
                                   .palette_stride = stride,
                                   .shadow_lod = s->draws[0].shadow_lod,
                                   .footprint = s->draws[0].footprint};
    const th_indirect indirect = {make_buffer(commands, sizeof commands),
                                  make_buffer(s->slot + CHARACTERS * stride, CHARACTERS * sizeof(th_gpu_instance)),
                                  make_buffer(s->slot, CHARACTERS * stride), &mesh};
    const th_target *target = make_target(w->width, w->height, w->samples);
    th_crowd_renderer_draw_indirect(renderer, target, &s->view, &indirect);
    uint8_t *rgba = read_target(target);
    th_crowd_renderer_destroy(renderer);
    glDeleteBuffers(3, (const GLuint[]){indirect.commands, indirect.instances, indirect.palettes});
    return rgba;
}

/* ---- comparing ---- */

static void compare(const stage *s, const char *what)
{
    const uint8_t *wanted = shoot(s, &wanted_way);
    for (th_fetch fetch = TH_FETCH_STORAGE; fetch <= TH_FETCH_TEXTURE; fetch++) {
        way w = wanted_way;
        w.fetch = fetch;
        cr_expect_eq(memcmp(shoot_indirect(s, &w), wanted, (size_t)4 * WIDTH * HEIGHT), 0, "%s, %s", what,
                     th_fetch_name(fetch));
    }
}

Test(indirect, draws_the_same_picture)
{
    /* Eight influences and morph targets; of the second part, a mask, level 1 is another part of the mesh. */
    th_render_mesh *mesh = boxes_create(BONES);
    th_render_mesh_part parts[2] = {mesh->parts[0], mesh->parts[1]};
    th_render_mesh_material materials[2] = {mesh->materials[0], mesh->materials[1]};
    boxes_add_morphs(mesh, WEIGHTS);
    boxes_add_influences(mesh);
    for (int p = 0; p < 2; p++)
        parts[p].lods[1] = parts[p].lods[0];
    parts[1].lods[1].first_index += 6;
    parts[1].lods[1].index_count -= 6;
    materials[1].alpha = TH_ALPHA_MASK;
    mesh->parts = parts;
    mesh->materials = materials;
    mesh->lod_count = 2;
    for (uint32_t shadow_lod = 0; shadow_lod < 3; shadow_lod++) {
        const stage s = make_stage(mesh, shadow_lod);
        compare(&s, "meshes");
    }
    stage s = make_stage(mesh, 1);
    s.view.skeletons = true;
    compare(&s, "skeletons");
    s.view.skeletons = false;
    s.view.ground_cell = 0;
    compare(&s, "no ground");
}
