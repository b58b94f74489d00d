#include <render/crowd_renderer.h>

#include "chunk.h"
#include "gl/program.h"
#include "indirect.h"
#include "surroundings.h"
#include "upload.h"

#include <render/gpu_evaluator.h>

#include <cglm/cglm.h>
#include <shaders.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACT_LOD = 6 }; /* the coarsest level with a shadow at the feet, which is a few pixels there */

enum { PALETTE_UNIT, IMAGE_UNIT, SHADOW_UNIT, DELTAS_UNIT, PLACES_UNIT, APPEARANCES_UNIT }; /* texture units */

/* A line of a skeleton: so many of the picture's pixels make one wide. A driver may know no wide lines. */
#define PIXELS_OF_A_LINE 400.0F
#define MOST_LINE_WIDTH  8.0F

/* clang-format off */
#define UNIFORMS(X)                                                                                                    \
    X(first_row) X(row_stride) X(shares) X(clip_from_world) X(world_from_clip) X(eye) X(to_sun) X(shadow_from_world)   \
    X(fog_density) X(base_color) X(emissive) X(cutoff) X(plain) X(center) X(reach) X(height) X(cell) X(unit) X(shape)  \
    X(footprint) X(first_weight) X(influences) X(smooth) X(regions)
/* clang-format on */

/* A program and its uniform locations. A location is -1, which GL ignores, if the program lacks the uniform. */
typedef struct pipeline {
    GLuint program;
#define DECLARE(name) GLint name;
    UNIFORMS(DECLARE)
} pipeline;

/* What characters are drawn with: in colour or into the shadow map, whole or cut where alpha is low. */
enum { CROWD, CROWD_DEPTH, CUT, CUT_DEPTH, KINDS };

/* And the rest: the last two only if there are surroundings. */
enum { SKELETON, SKELETON_DEPTH, CONTACT, GROUND, SKY, SURROUNDINGS, SURROUNDINGS_DEPTH, OTHERS };

/* Part of a picture: what is drawn with one program. */
typedef struct draw_pass {
    const pipeline *with;
    uint32_t variant; /* of the meshes */
    th_alpha alpha;   /* of the parts */
    bool skeletons;   /* instead of parts */
    bool contacts;    /* the shadows at their feet */
    bool into_map;    /* depth only, with characters that are out of sight */
    bool coverage;    /* parts cover a share of the samples, masks at their edges; otherwise they are cut */
} draw_pass;

/* Where the characters are: draws of which the CPU knows the counts, in the ring; or indirect ones. */
typedef struct source {
    const th_draw *draws;
    uint32_t count;
    const th_ring *ring;
    const th_indirect *indirect; /* NULL: the above */
} source;

/* What is drawn of a mesh at once: its first part, of who is out of sight in the shadow map. */
typedef struct draw_call {
    uint32_t mesh, count; /* count: instances */
    th_render_mesh_lod triangles;
    uint32_t commands, first_command; /* a buffer, in which one for each level says these; or 0 */
    bool is_skeleton, shadow_only, shares;
    th_ring_binding palettes, instances;
    size_t palette_stride;
} draw_call;

/* The crowd's depth seen from the sun. */
typedef struct shadow {
    uint32_t pixels; /* width and height; 0: no shadows */
    GLuint map, framebuffer;
    float clip_from_world[16]; /* of the last picture; what is nearer to the sun than the near plane is clamped to it */
    float map_from_world[16];  /* the same, scaled to 0 to 1 */
} shadow;

struct th_crowd_renderer {
    th_format palette;
    th_fetch fetch;
    th_layout_kind ground_of;
    size_t driver_bytes, block_bytes, block_alignment; /* driver_bytes: the driver's limit */
    pipeline crowd[KINDS][TH_UPLOAD_VARIANTS];         /* no programs of what no mesh needs */
    pipeline others[OTHERS];
    uint32_t alphas, variants; /* of all uploads: bits 1 << TH_ALPHA_..., 1 << variant */
    shadow shadow;
    GLuint palette_texture, empty_array; /* empty_array: a vertex array without attributes */
    draw_call *calls;                    /* of the last picture */
    uint32_t call_count, call_capacity;
    uint32_t draw_calls; /* of the last picture, to OpenGL */
    uint32_t upload_count;
    th_upload uploads[]; /* [mesh] */
};

/* ---- programs ---- */

/* Adds to the defines in `desc`. */
static th_result make_pipeline(const th_crowd_renderer *r, th_program_desc desc, uint32_t variant, pipeline *out,
                               th_error *err)
{
    static const char *const samplers[] = {
        [PALETTE_UNIT] = "u_palette", [IMAGE_UNIT] = "u_texture", [SHADOW_UNIT] = "u_shadow",
        [DELTAS_UNIT] = "u_deltas",   [PLACES_UNIT] = "u_places", [APPEARANCES_UNIT] = "u_appearances"};
    const struct {
        bool is_set;
        const char *name;
    } defines[] = {{variant & TH_UPLOAD_MORPH, "MORPH"},
                   {variant & TH_UPLOAD_EIGHT, "EIGHT"},
                   {variant & TH_UPLOAD_APPEARANCES, "APPEARANCES"},
                   {r->fetch == TH_FETCH_TEXTURE, "PALETTE_TEXTURE"},
                   {r->palette == TH_FORMAT_QUAT, "PALETTE_QUAT"},
                   {r->palette == TH_FORMAT_QUAT16, "PALETTE_QUAT16"},
                   {r->shadow.pixels == 0, "NO_SHADOW"}};
    uint32_t count = 0;
    while (desc.defines[count])
        count++;
    for (size_t d = 0; d < sizeof defines / sizeof *defines; d++)
        if (defines[d].is_set)
            desc.defines[count++] = defines[d].name;
    const th_result result = th_program_create(&desc, &out->program, err);
    if (result != TH_OK)
        return result;
#define FIND(name) out->name = glGetUniformLocation(out->program, "u_" #name);
    UNIFORMS(FIND)
    for (GLint unit = 0; unit < (GLint)(sizeof samplers / sizeof *samplers); unit++)
        glProgramUniform1i(out->program, glGetUniformLocation(out->program, samplers[unit]), unit);
    return TH_OK;
}

static th_result make_pipelines(th_crowd_renderer *r, th_error *err)
{
    static const th_shader *const grounds[TH_LAYOUT_COUNT] = {[TH_LAYOUT_GRID] = &th_shader_ground_plain_glsl,
                                                              [TH_LAYOUT_RING] = &th_shader_ground_plain_glsl,
                                                              [TH_LAYOUT_STREET] = &th_shader_ground_street_glsl,
                                                              [TH_LAYOUT_PLAZA] = &th_shader_ground_plaza_glsl,
                                                              [TH_LAYOUT_STADIUM] = &th_shader_ground_stadium_glsl};
    const th_shader *palette = &th_shader_palette_glsl, *instance = &th_shader_instance_glsl,
                    *light = &th_shader_light_glsl, *cover = &th_shader_cover_glsl, *bones = &th_shader_skeleton_vert,
                    *mesh = &th_shader_crowd_vert, *around = &th_shader_surroundings_vert,
                    *depth = &th_shader_depth_frag, *color = &th_shader_crowd_frag, *ground = grounds[r->ground_of];
    const th_program_desc others[OTHERS] = {
        [SKELETON] = {"skeleton", {palette, instance, bones}, {&th_shader_skeleton_frag}, {0}, {0}},
        [SKELETON_DEPTH] = {"skeleton_depth", {palette, instance, bones}, {depth}, {0}, {"DEPTH_ONLY"}},
        [CONTACT] = {"contact", {palette, instance, &th_shader_contact_vert}, {&th_shader_contact_frag}, {0}, {0}},
        [GROUND] = {"ground", {&th_shader_ground_vert}, {light, cover, ground, &th_shader_ground_frag}, {0}, {0}},
        [SKY] = {"sky", {&th_shader_sky_vert}, {light, cover, &th_shader_sky_frag}, {0}, {0}},
        [SURROUNDINGS] = {"surroundings", {around}, {light, cover, &th_shader_surroundings_frag}, {0}, {0}},
        [SURROUNDINGS_DEPTH] = {"surroundings_depth", {around}, {depth}, {0}, {"DEPTH_ONLY"}},
    };
    /* Those that draw meshes, of each variant; only opaque ones need no cutting. */
    const th_program_desc kinds[KINDS] = {
        [CROWD] = {"crowd", {palette, instance, mesh}, {light, color}, {0}, {0}},
        [CROWD_DEPTH] = {"crowd_depth", {palette, instance, mesh}, {depth}, {0}, {"DEPTH_ONLY"}},
        [CUT] = {"cut", {palette, instance, mesh}, {light, color}, {0}, {"CUT"}},
        [CUT_DEPTH] = {"cut_depth", {palette, instance, mesh}, {depth}, {0}, {"DEPTH_ONLY", "CUT"}},
    };
    const uint32_t count = th_surroundings_has(r->ground_of) ? OTHERS : SURROUNDINGS;
    const uint32_t kind_count = r->alphas & ~(1u << TH_ALPHA_OPAQUE) ? KINDS : CUT;
    th_result result = TH_OK;
    for (uint32_t i = 0; i < count && result == TH_OK; i++)
        result = make_pipeline(r, others[i], 0, &r->others[i], err);
    for (uint32_t v = 0; v < TH_UPLOAD_VARIANTS; v++)
        for (uint32_t k = 0; k < kind_count && r->variants & 1u << v && result == TH_OK; k++)
            result = make_pipeline(r, kinds[k], v, &r->crowd[k][v], err);
    return result;
}

/* ---- creation ---- */

static th_result init_shadow(shadow *s, uint32_t pixels, th_error *err)
{
    GLint most = 0;
    s->pixels = pixels;
    glGenTextures(1, &s->map); /* bound even without shadows, because the sampler needs a texture */
    if (pixels == 0)
        return TH_OK;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    if (pixels > (uint32_t)most)
        return th_fail(err, TH_ERR_ENVIRONMENT, "a shadow map of %u pixels a side; the driver takes %d", pixels, most);
    glBindTexture(GL_TEXTURE_2D, s->map);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_DEPTH_COMPONENT32F, (GLsizei)pixels, (GLsizei)pixels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glBindTexture(GL_TEXTURE_2D, 0);
    glGenFramebuffers(1, &s->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, s->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, s->map, 0);
    const bool complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    return complete ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for a shadow map of %u pixels a side", pixels);
}

th_result th_crowd_renderer_create(const th_crowd_renderer_desc *desc, th_crowd_renderer **out, th_error *err)
{
    assert(desc && desc->gl && out);
    assert(desc->meshes || desc->mesh_count == 0);
    assert((unsigned)desc->palette < TH_FORMAT_COUNT);
    assert((unsigned)desc->fetch <= TH_FETCH_TEXTURE);
    *out = NULL;
    th_crowd_renderer *r = calloc(1, sizeof *r + desc->mesh_count * sizeof *r->uploads);
    if (!r)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a renderer");
    r->palette = desc->palette;
    r->ground_of = desc->ground;

    const th_gl_info *info = th_gl_get_info(desc->gl);
    r->fetch = desc->fetch;
    if (r->fetch == TH_FETCH_AUTO)
        r->fetch = info->software ? TH_FETCH_TEXTURE : TH_FETCH_STORAGE;
    r->block_alignment = info->storage_offset_alignment;
    r->driver_bytes = info->storage_block_bytes;
    if (r->fetch == TH_FETCH_TEXTURE) {
        GLint alignment = 1;
        glGetIntegerv(GL_TEXTURE_BUFFER_OFFSET_ALIGNMENT, &alignment);
        r->block_alignment = (size_t)alignment;
        r->driver_bytes = info->texture_buffer_texels * TH_PALETTE_ROW_BYTES;
    }
    r->block_bytes = r->driver_bytes;
    if (desc->block_bytes > 0 && desc->block_bytes < r->block_bytes)
        r->block_bytes = desc->block_bytes;

    glGenVertexArrays(1, &r->empty_array);
    glGenTextures(1, &r->palette_texture);
    th_result result = init_shadow(&r->shadow, desc->shadow_pixels, err);
    for (uint32_t m = 0; m < desc->mesh_count && result == TH_OK; m++) {
        const th_render_mesh *mesh = desc->meshes[m];
        const th_upload *base = NULL; /* of the mesh whose images it has */
        assert(mesh);
        /* The block's start is aligned, so it may lie some bytes before the first palette. */
        const size_t bytes =
            th_palette_entries(mesh->bone_count, mesh->weight_count) * th_palette_entry_bytes(desc->palette);
        for (uint32_t b = 0; b < m && !base; b++)
            base = desc->meshes[b] == mesh->base ? &r->uploads[b] : NULL;
        if (bytes + r->block_alignment > r->driver_bytes) {
            result = th_fail(err, TH_ERR_ENVIRONMENT, "mesh %u has palettes of %zu bytes; the driver takes %zu", m,
                             bytes, r->driver_bytes);
            break;
        }
        result = th_upload_init(&r->uploads[m], mesh, base, err);
        r->upload_count = m + 1;
        r->alphas |= r->uploads[m].alphas;
        r->variants |= 1u << r->uploads[m].variant;
    }
    if (result == TH_OK)
        result = make_pipelines(r, err);
    if (result == TH_OK)
        result = th_gl_check((th_gl *)desc->gl, "while meshes were uploaded", err);
    if (result == TH_OK)
        *out = r;
    else
        th_crowd_renderer_destroy(r);
    return result;
}

void th_crowd_renderer_destroy(th_crowd_renderer *r)
{
    if (!r)
        return;
    for (uint32_t f = 0; f < r->upload_count; f++)
        th_upload_fini(&r->uploads[f]);
    glDeleteFramebuffers(1, &r->shadow.framebuffer);
    glDeleteTextures(1, &r->shadow.map);
    for (uint32_t i = 0; i < OTHERS; i++)
        glDeleteProgram(r->others[i].program);
    for (uint32_t i = 0; i < KINDS * TH_UPLOAD_VARIANTS; i++)
        glDeleteProgram(r->crowd[i / TH_UPLOAD_VARIANTS][i % TH_UPLOAD_VARIANTS].program);
    glDeleteTextures(1, &r->palette_texture);
    glDeleteVertexArrays(1, &r->empty_array);
    free(r->calls);
    free(r);
}

size_t th_crowd_renderer_most_shared_bytes(const th_crowd_renderer *renderer)
{
    assert(renderer);
    const size_t bytes = renderer->block_bytes, alignment = renderer->block_alignment;
    return bytes > alignment ? bytes - alignment : 1;
}

const th_upload *th_crowd_renderer_upload(const th_crowd_renderer *renderer, uint32_t mesh)
{
    assert(renderer && mesh < renderer->upload_count);
    return &renderer->uploads[mesh];
}

th_fetch th_crowd_renderer_get_fetch(const th_crowd_renderer *renderer)
{
    assert(renderer);
    return renderer->fetch;
}

uint32_t th_crowd_renderer_draw_calls(const th_crowd_renderer *renderer)
{
    assert(renderer);
    return renderer->draw_calls;
}

const char *th_fetch_name(th_fetch fetch)
{
    return fetch == TH_FETCH_TEXTURE ? "texture" : "storage";
}

/* ---- crowds ---- */

/* lead: of it, bytes before the first palette. shares: instances say which palette is theirs. */
static void bind_palettes(const th_crowd_renderer *r, const pipeline *with, th_ring_binding from, size_t bytes,
                          size_t lead, size_t stride, bool shares)
{
    assert(from.offset % r->block_alignment == 0);
    const GLintptr offset = (GLintptr)from.offset;
    if (r->fetch == TH_FETCH_TEXTURE) {
        static const GLenum formats[TH_FORMAT_COUNT] = {GL_RGBA32F, GL_RGBA32F, GL_RGBA32UI};
        glActiveTexture(GL_TEXTURE0 + PALETTE_UNIT);
        glBindTexture(GL_TEXTURE_BUFFER, r->palette_texture);
        glTexBufferRange(GL_TEXTURE_BUFFER, formats[r->palette], from.buffer, offset, (GLsizeiptr)bytes);
    } else {
        glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, from.buffer, offset, (GLsizeiptr)bytes);
    }
    glUniform1ui(with->first_row, (GLuint)lead / TH_PALETTE_ROW_BYTES);
    glUniform1ui(with->row_stride, (GLuint)stride / TH_PALETTE_ROW_BYTES);
    glUniform1i(with->shares, shares);
}

/* Shadows are cast by both sides of everything. */
static void set_material(const draw_pass *pass, const th_upload_part *part)
{
    const pipeline *with = pass->with;
    const th_render_mesh_material *material = &part->material;
    const float half = pass->coverage ? 0 : 0.501F; /* between 127 and 128 of 255, so that rounding decides nothing */
    if (!pass->into_map) {
        (part->culling == TH_CULL_NONE ? glDisable : glEnable)(GL_CULL_FACE);
        glCullFace(part->culling == TH_CULL_FRONT ? GL_FRONT : GL_BACK);
        glUniform3fv(with->emissive, 1, material->emissive);
    }
    if (with->base_color < 0)
        return;
    glUniform4fv(with->base_color, 1, material->base_color);
    glUniform1f(with->cutoff, material->alpha == TH_ALPHA_MASK ? material->alpha_cutoff : half);
    glUniform1f(with->smooth, pass->coverage && material->alpha == TH_ALPHA_MASK ? 1 : 0);
    glActiveTexture(GL_TEXTURE0 + IMAGE_UNIT);
    glBindTexture(GL_TEXTURE_2D, part->image);
}

/* Everything of a mesh but palettes and instances. */
static void bind_mesh(const th_upload *upload, const draw_pass *pass)
{
    glBindVertexArray(upload->part_count == 0 || pass->skeletons ? upload->skeleton_array : upload->mesh_array);
    if (upload->deltas) {
        glActiveTexture(GL_TEXTURE0 + DELTAS_UNIT);
        glBindTexture(GL_TEXTURE_BUFFER, upload->deltas);
        glUniform1ui(pass->with->first_weight, 3 * upload->bone_count);
    }
    if (upload->appearances) {
        glActiveTexture(GL_TEXTURE0 + APPEARANCES_UNIT);
        glBindTexture(GL_TEXTURE_BUFFER, upload->appearances);
        glUniform1i(pass->with->regions, (GLint)upload->region_count);
    }
    glActiveTexture(GL_TEXTURE0 + PLACES_UNIT);
    glBindTexture(GL_TEXTURE_BUFFER, upload->places);
}

/* Whether the pass has anything of this mesh. */
static bool takes(const draw_pass *pass, const th_crowd_renderer *r, const th_view *view, uint32_t mesh)
{
    assert(mesh < r->upload_count);
    const th_upload *upload = &r->uploads[mesh];
    const bool skeleton = view->skeletons || upload->part_count == 0;
    if (pass->contacts)
        return true;
    if (skeleton != pass->skeletons)
        return false;
    return skeleton || (upload->variant == pass->variant && upload->alphas & 1u << pass->alpha);
}

static void draw_arrays(th_crowd_renderer *r, GLenum mode, uint32_t first, uint32_t count)
{
    r->draw_calls++;
    glMultiDrawArraysIndirect(mode, (const void *)(first * sizeof(th_indirect_command)), (GLsizei)count,
                              sizeof(th_indirect_command));
}

/* Keeps a call with the first part of the mesh. lod: of those of the part. */
static void note(th_crowd_renderer *r, const draw_pass *pass, uint32_t lod, draw_call call)
{
    const th_upload_part *first = r->uploads[call.mesh].parts;
    call.is_skeleton = pass->skeletons;
    if (pass->contacts || (!pass->skeletons && first->material.alpha != pass->alpha) ||
        pass->into_map != call.shadow_only)
        return;
    if (!pass->skeletons)
        call.triangles = first->lods[lod];
    if (r->call_count == r->call_capacity) {
        const uint32_t capacity = 2 * r->call_capacity + 64;
        draw_call *more = realloc(r->calls, capacity * sizeof *more);
        if (!more) /* a check misses it */
            return;
        r->calls = more;
        r->call_capacity = capacity;
    }
    r->calls[r->call_count++] = call;
}

/* Draws the levels of a part with as few calls as the number of influences of their vertices allows. first: command. */
static void draw_part_levels(th_crowd_renderer *r, const th_upload *upload, const draw_pass *pass,
                             const th_upload_part *part, const th_indirect_mesh *mesh, uint32_t first)
{
    const uint32_t count = pass->into_map ? 2 * TH_RENDER_MESH_LODS : TH_RENDER_MESH_LODS; /* those of the map twice */
    const uint32_t least = pass->into_map ? mesh->shadow_lod : 0;
    set_material(pass, part);
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        const uint32_t lod = begin % TH_RENDER_MESH_LODS;
        const bool is_finest = th_upload_level(upload, lod > least ? lod : least) == 0;
        end = begin + 1;
        if (!(upload->variant & TH_UPLOAD_EIGHT))
            end = count;
        else if (!is_finest)
            end = begin - lod + TH_RENDER_MESH_LODS;
        glUniform1ui(pass->with->influences, is_finest ? 8 : 4);
        r->draw_calls++;
        glMultiDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_INT,
                                    (const void *)((first + begin) * sizeof(th_indirect_command)),
                                    (GLsizei)(end - begin), sizeof(th_indirect_command));
    }
}

/* Crowds of which the GPU knows the counts. */
static void draw_counted(th_crowd_renderer *r, const draw_pass *pass, const th_view *view, const th_indirect *indirect)
{
    const uint32_t map_levels = pass->into_map ? TH_RENDER_MESH_LODS : 0; /* behind those of the picture, and twice */
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, indirect->commands);
    for (uint32_t m = 0; m < r->upload_count; m++) {
        const th_upload *upload = &r->uploads[m];
        const th_indirect_mesh *mesh = &indirect->meshes[m];
        const uint32_t commands = mesh->chunk_count * TH_INDIRECT_COMMANDS; /* of a part */
        if (mesh->chunk_count == 0 || (pass->contacts && !(mesh->footprint > 0)) || !takes(pass, r, view, m))
            continue;
        bind_mesh(upload, pass);
        glBindVertexBuffer(TH_UPLOAD_INSTANCES, indirect->instances, 0, sizeof(th_gpu_instance));
        for (uint32_t k = 0; k < mesh->chunk_count; k++) {
            const size_t begin = mesh->palette_offset + (size_t)k * mesh->chunk * mesh->palette_stride;
            const uint32_t first = mesh->first_command + k * TH_INDIRECT_COMMANDS + map_levels;
            bind_palettes(r, pass->with, (th_ring_binding){indirect->palettes, begin},
                          th_indirect_chunk(mesh, k) * mesh->palette_stride, 0, mesh->palette_stride, true);
            if (pass->contacts) {
                glUniform1f(pass->with->footprint, mesh->footprint);
                draw_arrays(r, GL_TRIANGLE_STRIP, first + TH_INDIRECT_CONTACTS * commands, CONTACT_LOD + 1);
            }
            if (pass->skeletons)
                draw_arrays(r, GL_LINES, first + TH_INDIRECT_SKELETON * commands, TH_RENDER_MESH_LODS + map_levels);
            for (uint32_t i = 0; !pass->skeletons && !pass->contacts && i < upload->part_count; i++)
                if (upload->parts[i].material.alpha == pass->alpha)
                    draw_part_levels(r, upload, pass, &upload->parts[i], mesh,
                                     first + (TH_INDIRECT_PARTS + i) * commands);
            note(r, pass, 0,
                 (draw_call){.mesh = m,
                             .commands = indirect->commands,
                             .first_command = first + map_levels +
                                              (pass->skeletons ? TH_INDIRECT_SKELETON : TH_INDIRECT_PARTS) * commands,
                             .shadow_only = pass->into_map,
                             .shares = true,
                             .palettes = {indirect->palettes, begin},
                             .instances = {indirect->instances, 0},
                             .palette_stride = mesh->palette_stride});
        }
        glBindVertexBuffer(TH_UPLOAD_INSTANCES, 0, 0, sizeof(th_gpu_instance)); /* as below */
    }
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, 0);
}

static void draw_crowds(th_crowd_renderer *r, const draw_pass *pass, const th_view *view, const source *from)
{
    const th_ring_binding slot = from->indirect ? (th_ring_binding){0} : th_ring_get_binding(from->ring);
    if (from->indirect)
        draw_counted(r, pass, view, from->indirect);
    for (uint32_t d = 0; d < from->count; d++) {
        const th_draw *draw = &from->draws[d];
        assert(draw->palette_offset % TH_CACHE_LINE == 0 && draw->palette_stride % TH_CACHE_LINE == 0);
        assert(draw->instance_offset % 16 == 0);
        const bool shows = pass->contacts ? draw->footprint > 0 && !draw->shadow_only && draw->lod <= CONTACT_LOD
                                          : pass->into_map || !draw->shadow_only;
        if (!shows || !takes(pass, r, view, draw->mesh))
            continue;
        const th_upload *upload = &r->uploads[draw->mesh];
        const th_ring_binding palettes = draw->frames_ago > 0 ? th_ring_get_held(from->ring, draw->frames_ago) : slot;
        const uint32_t lod =
            th_upload_level(upload, pass->into_map && draw->shadow_lod > draw->lod ? draw->shadow_lod : draw->lod);
        const size_t bytes = upload->palette_entries * th_palette_entry_bytes(r->palette);
        th_chunk chunk = {0};
        while (bytes > 0 && th_chunk_next(draw, bytes, r->block_bytes, r->block_alignment, &chunk)) {
            const size_t instances = slot.offset + draw->instance_offset + chunk.first * sizeof(th_gpu_instance);
            const GLsizei count = (GLsizei)chunk.count;
            bind_palettes(r, pass->with, (th_ring_binding){palettes.buffer, palettes.offset + chunk.offset},
                          chunk.bytes, chunk.lead, draw->palette_stride, draw->shared > 0);
            bind_mesh(upload, pass);
            glBindVertexBuffer(TH_UPLOAD_INSTANCES, slot.buffer, (GLintptr)instances, sizeof(th_gpu_instance));
            if (pass->contacts) {
                glUniform1f(pass->with->footprint, draw->footprint);
                r->draw_calls++;
                glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, count);
            }
            if (pass->skeletons) {
                r->draw_calls++;
                glDrawArraysInstanced(GL_LINES, 0, (GLsizei)upload->line_end_count, count);
            }
            for (uint32_t i = 0; !pass->skeletons && !pass->contacts && i < upload->part_count; i++) {
                const th_upload_part *part = &upload->parts[i];
                if (part->material.alpha != pass->alpha)
                    continue;
                set_material(pass, part);
                glUniform1ui(pass->with->influences, lod == 0 ? 8 : 4);
                r->draw_calls++;
                glDrawElementsInstanced(GL_TRIANGLES, (GLsizei)part->lods[lod].index_count, GL_UNSIGNED_INT,
                                        (const void *)(uintptr_t)(part->lods[lod].first_index * sizeof(uint32_t)),
                                        count);
            }
            note(r, pass, lod,
                 (draw_call){.mesh = draw->mesh,
                             .count = (uint32_t)count,
                             .shadow_only = draw->shadow_only,
                             .shares = draw->shared > 0,
                             .palettes = {palettes.buffer, palettes.offset + chunk.offset + chunk.lead},
                             .instances = {slot.buffer, instances},
                             .palette_stride = draw->palette_stride});
            /* Otherwise the vertex array would keep the ring's buffer alive after the ring is destroyed. */
            glBindVertexBuffer(TH_UPLOAD_INSTANCES, 0, 0, sizeof(th_gpu_instance));
        }
    }
}

/* ---- a picture ---- */

static void use(const pipeline *with, const th_crowd_renderer *r, const th_view *view, bool into_map)
{
    glUseProgram(with->program);
    glUniformMatrix4fv(with->clip_from_world, 1, GL_FALSE,
                       into_map ? r->shadow.clip_from_world : view->clip_from_world);
    if (into_map)
        return;
    glUniform3fv(with->eye, 1, view->eye);
    glUniform3fv(with->to_sun, 1, view->to_sun);
    glUniform1f(with->fog_density, view->fog_density);
    glUniform1f(with->plain, view->plain ? 1 : 0);
    glUniformMatrix4fv(with->shadow_from_world, 1, GL_FALSE, r->shadow.map_from_world);
    glActiveTexture(GL_TEXTURE0 + SHADOW_UNIT);
    glBindTexture(GL_TEXTURE_2D, r->shadow.map);
}

/* Draws parts of one alpha, of all variants of meshes; and the skeletons with those that are opaque. */
static void draw_parts(th_crowd_renderer *r, draw_pass pass, const th_view *view, const source *from)
{
    const uint32_t how = 2u * (pass.alpha != TH_ALPHA_OPAQUE) + pass.into_map; /* of CROWD and so on */
    for (pass.variant = 0; pass.variant < TH_UPLOAD_VARIANTS; pass.variant++) {
        pass.with = &r->crowd[how][pass.variant];
        if (pass.with->program == 0)
            continue;
        use(pass.with, r, view, pass.into_map);
        draw_crowds(r, &pass, view, from);
    }
    if (pass.alpha != TH_ALPHA_OPAQUE)
        return;
    pass.with = &r->others[SKELETON + pass.into_map];
    pass.skeletons = true;
    use(pass.with, r, view, pass.into_map);
    draw_crowds(r, &pass, view, from);
}

static void draw_surroundings(th_crowd_renderer *r, bool into_map, const th_view *view)
{
    const draw_pass pass = {.with = &r->others[SURROUNDINGS + into_map], .into_map = into_map};
    if (!view->surroundings)
        return;
    use(pass.with, r, view, pass.into_map);
    glUniform1f(pass.with->unit, view->surroundings->unit);
    (into_map ? glDisable : glEnable)(GL_CULL_FACE); /* shadows are cast by both sides */
    glCullFace(GL_BACK);
    glBindVertexArray(view->surroundings->array);
    r->draw_calls++;
    glDrawElements(GL_TRIANGLES, (GLsizei)view->surroundings->index_count, GL_UNSIGNED_INT, NULL);
    glDisable(GL_CULL_FACE);
}

/* The light's matrix to OpenGL's clip space, for a map that covers the sphere. The map's centre is rounded to whole
 * texels, so that shadows do not shimmer when the camera moves. */
static void shadow_matrix(uint32_t pixels, const th_view *to, float out_clip_from_world[16])
{
    const float *to_sun = to->to_sun, *center = to->shadow_center, radius = to->shadow_radius;
    assert(pixels > 0 && radius > 0);
    assert(fabsf(glm_vec3_norm2((float[3]){to_sun[0], to_sun[1], to_sun[2]}) - 1) < 1e-2F);
    mat4 view, projection, clip;
    vec3 up = {0, 1, 0}, origin = {0, 0, 0}, sun = {to_sun[0], to_sun[1], to_sun[2]}, middle;
    if (fabsf(sun[1]) > 0.99F)
        glm_vec3_copy((vec3){0, 0, 1}, up);
    glm_lookat(sun, origin, up, view);
    glm_mat4_mulv3(view, (vec3){center[0], center[1], center[2]}, 1, middle);
    const float texel = 2 * radius / (float)pixels;
    for (int i = 0; i < 2; i++)
        middle[i] = roundf(middle[i] / texel) * texel;
    glm_ortho(middle[0] - radius, middle[0] + radius, middle[1] - radius, middle[1] + radius, -middle[2] - radius,
              -middle[2] + radius, projection);
    glm_mat4_mul(projection, view, clip);
    memcpy(out_clip_from_world, clip, sizeof clip);
}

bool th_crowd_renderer_shadow_frustum(const th_crowd_renderer *r, const th_view *view, th_frustum *out)
{
    assert(r && view && out);
    float clip_from_world[16];
    *out = (th_frustum){0};
    if (r->shadow.pixels == 0)
        return false;
    shadow_matrix(r->shadow.pixels, view, clip_from_world);
    th_frustum_from_matrix(clip_from_world, out);
    return true;
}

static bool has_skeletons(const th_crowd_renderer *r, const th_view *view)
{
    bool has = view->skeletons;
    for (uint32_t m = 0; m < r->upload_count; m++)
        has |= r->uploads[m].part_count == 0;
    return has;
}

static void draw_picture(th_crowd_renderer *r, const th_target *target, const th_view *view, const source *from)
{
    const bool has_shadows = r->shadow.pixels > 0, has_ground = view->ground_cell > 0;
    draw_pass pass = {.alpha = TH_ALPHA_OPAQUE, .into_map = true};
    mat4 clip_from_world, other;
    r->call_count = 0;
    r->draw_calls = 1u + has_ground; /* and the sky */
    glEnable(GL_DEPTH_TEST);

    /* The shadow map, in which what is before the near plane is clamped to it. */
    if (has_shadows) {
        shadow *s = &r->shadow;
        mat4 to_map = {{0.5F, 0, 0, 0}, {0, 0.5F, 0, 0}, {0, 0, 0.5F, 0}, {0.5F, 0.5F, 0.5F, 1}};
        assert(s->framebuffer);
        shadow_matrix(s->pixels, view, s->clip_from_world);
        memcpy(clip_from_world, s->clip_from_world, sizeof clip_from_world);
        glm_mat4_mul(to_map, clip_from_world, other);
        memcpy(s->map_from_world, other, sizeof s->map_from_world);
        glBindFramebuffer(GL_FRAMEBUFFER, s->framebuffer);
        glViewport(0, 0, (GLsizei)s->pixels, (GLsizei)s->pixels);
        glClear(GL_DEPTH_BUFFER_BIT);
        glEnable(GL_DEPTH_CLAMP);
        glEnable(GL_POLYGON_OFFSET_FILL);
        glPolygonOffset(1.5F, 2);
        for (; pass.alpha <= TH_ALPHA_BLEND; pass.alpha++)
            draw_parts(r, pass, view, from);
        draw_surroundings(r, true, view);
        glDisable(GL_POLYGON_OFFSET_FILL);
        glDisable(GL_DEPTH_CLAMP);
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
    }

    /* Characters: opaque parts first, because they hide most. Blended ones need no order: which samples a part covers
     * depends on its alpha, not on what is behind it. Alpha is cleared to 1 and kept by these, because no picture is
     * transparent. */
    th_target_bind(target);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    pass = (draw_pass){.alpha = TH_ALPHA_OPAQUE};
    uint32_t width, height;
    th_target_size(target, &width, &height);
    if (has_skeletons(r, view)) /* lines that are a pixel wide are lost in a large picture */
        glLineWidth(fminf(fmaxf((float)height / PIXELS_OF_A_LINE, 1), MOST_LINE_WIDTH));
    draw_parts(r, pass, view, from);
    if (has_skeletons(r, view))
        glLineWidth(1);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_FALSE);
    pass.coverage = th_target_samples(target) > 0;
    (pass.coverage ? glEnable : glDisable)(GL_SAMPLE_ALPHA_TO_COVERAGE);
    for (pass.alpha = TH_ALPHA_MASK; pass.alpha <= TH_ALPHA_BLEND; pass.alpha++)
        draw_parts(r, pass, view, from);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    glDisable(GL_CULL_FACE);

    draw_surroundings(r, false, view);
    if (has_ground) {
        const pipeline *ground = &r->others[GROUND];
        use(ground, r, view, false);
        glUniform2f(ground->center, view->eye[0], view->eye[2]);
        glUniform1f(ground->reach, view->ground_reach);
        glUniform1f(ground->height, view->ground_height);
        glUniform1f(ground->cell, view->ground_cell);
        if (view->surroundings) {
            glUniform1f(ground->unit, view->surroundings->unit);
            glUniform4fv(ground->shape, 1, view->surroundings->shape);
        }
        glBindVertexArray(r->empty_array);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }

    /* Shadows at their feet, blended over the ground, with which they share their height. Alpha stays 1. */
    if (has_ground && has_shadows) {
        pass = (draw_pass){.with = &r->others[CONTACT], .contacts = true};
        use(pass.with, r, view, false);
        glUniform1f(pass.with->height, view->ground_height);
        glEnable(GL_BLEND);
        glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ZERO, GL_ONE);
        glEnable(GL_POLYGON_OFFSET_FILL);
        glPolygonOffset(-1, -2);
        glDepthMask(GL_FALSE);
        draw_crowds(r, &pass, view, from);
        glDepthMask(GL_TRUE);
        glDisable(GL_POLYGON_OFFSET_FILL);
        glDisable(GL_BLEND);
    }

    /* The sky at the far plane, behind everything else. */
    memcpy(clip_from_world, view->clip_from_world, sizeof clip_from_world);
    glm_mat4_inv(clip_from_world, other);
    use(&r->others[SKY], r, view, false);
    glUniformMatrix4fv(r->others[SKY].world_from_clip, 1, GL_FALSE, other[0]);
    glBindVertexArray(r->empty_array);
    glDepthFunc(GL_LEQUAL);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glDepthFunc(GL_LESS);
    glBindVertexArray(0);
    glUseProgram(0);
}

void th_crowd_renderer_draw(th_crowd_renderer *r, const th_target *target, const th_view *view, const th_ring *ring,
                            const th_draw *draws, uint32_t draw_count)
{
    assert(r && target && view && ring);
    assert(draws || draw_count == 0);
    draw_picture(r, target, view, &(source){.draws = draws, .count = draw_count, .ring = ring});
}

void th_crowd_renderer_draw_indirect(th_crowd_renderer *r, const th_target *target, const th_view *view,
                                     const th_indirect *indirect)
{
    assert(r && target && view && indirect);
    draw_picture(r, target, view, &(source){.indirect = indirect});
}

/* ---- what was drawn ---- */

static bool add_drawn(const th_crowd_renderer *r, const draw_call *call, th_drawn **out, uint32_t *count)
{
    const th_upload *upload = &r->uploads[call->mesh];
    const bool is_any = call->shadow_only || call->is_skeleton;
    th_gpu_instance *instances = malloc(call->count * sizeof *instances);
    th_drawn *more = realloc(*out, (*count + (size_t)call->count) * sizeof *more);
    *out = more ? more : *out;
    th_drawn one = {.mesh = call->mesh, .shadow_only = call->shadow_only, .finest = is_any ? 0 : TH_NO_INDEX};
    one.coarsest = is_any ? TH_RENDER_MESH_LODS : TH_NO_INDEX;
    for (uint32_t lod = TH_RENDER_MESH_LODS; !is_any && lod-- > 0;) {
        const th_render_mesh_lod *has = &upload->parts[0].lods[th_upload_level(upload, lod)];
        if (has->first_index != call->triangles.first_index || has->index_count != call->triangles.index_count)
            continue;
        one.coarsest = one.coarsest == TH_NO_INDEX ? lod : one.coarsest;
        one.finest = lod;
    }
    if (instances && more)
        th_gpu_read_buffer(call->instances, call->count * sizeof *instances, instances);
    for (uint32_t k = 0; instances && more && k < call->count; k++) {
        one.at = instances[k];
        one.palette = call->palettes;
        one.palette.offset += (call->shares ? one.at.palette : k) * call->palette_stride;
        more[(*count)++] = one;
    }
    free(instances);
    return instances && more;
}

th_result th_crowd_renderer_read(const th_crowd_renderer *r, th_drawn **out, uint32_t *out_count, th_error *err)
{
    assert(r && out && out_count);
    bool ok = (*out = calloc(1, sizeof **out)) != NULL;
    *out_count = 0;
    for (const draw_call *call = r->calls; ok && call < r->calls + r->call_count; call++) {
        th_indirect_command commands[TH_RENDER_MESH_LODS] = {
            {call->triangles.index_count, call->count, call->triangles.first_index, 0, 0}};
        if (call->commands)
            th_gpu_read_buffer((th_ring_binding){call->commands, call->first_command * sizeof *commands},
                               sizeof commands, commands);
        for (const th_indirect_command *c = commands; c < commands + TH_RENDER_MESH_LODS && ok; c++) {
            draw_call one = *call;
            one.count = c->instance_count;
            one.triangles = (th_render_mesh_lod){c->first, c->count, 0};
            one.instances.offset += (call->is_skeleton ? c->base_vertex : c->base_instance) * sizeof(th_gpu_instance);
            ok = one.count == 0 || add_drawn(r, &one, out, out_count);
        }
    }
    return ok ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory to read back what was drawn");
}
