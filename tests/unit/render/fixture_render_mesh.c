#include "fixture_render_mesh.h"
#include "random_model.h"

#include <anim/exact.h>
#include <core/half.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

END_BY(th_render_mesh_destroy)

/* ---- making ---- */

stick *make_stick(void)
{
    stick *s = borrow(sizeof *s);
    for (uint32_t j = 0; j < STICK_JOINTS; j++) {
        s->joints[j] = (th_joint){"joint", j > 0 ? j - 1 : TH_NO_INDEX, TH_MAT34_IDENTITY, NULL};
        s->joints[j].rest.m[7] = j > 0 ? 0.01F : 0;
        s->bones[j] = (th_bone){j, TH_MAT34_IDENTITY};
        s->bones[j].inverse_bind.m[7] = -0.01F * (float)j;
    }
    for (int m = 0; m < 2; m++)
        s->materials[m] = (th_material){
            .name = m == 0 ? "skin" : "cloth", .base_color = {0.5F, 0.25F, 0.125F, 1}, .texture = TH_NO_INDEX};
    s->model = (th_model){.name = "stick",
                          .joint_count = STICK_JOINTS,
                          .joints = s->joints,
                          .bone_count = STICK_JOINTS,
                          .bones = s->bones,
                          .meshes = s->meshes,
                          .material_count = 2,
                          .materials = s->materials,
                          .textures = s->textures,
                          .size = 3,
                          .arena = OWN_ARENA};
    return s;
}

th_vertex stick_vertex(float x, float y, float z, uint16_t bone)
{
    return (th_vertex){.position = {x, y, z},
                       .normal = {0, 0, 1},
                       .color = {255, 255, 255, 255},
                       .bone = {bone, 0, 0, 0},
                       .weight = {1, 0, 0, 0}};
}

th_render_mesh *create_render_mesh(const th_model *model)
{
    th_error err = {0};
    th_render_mesh *render_mesh;
    cr_assert_eq(th_model_check(model, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_render_mesh_create(model, NULL, &render_mesh, &err), TH_OK, "%s", err.text);
    return at_end(end_by_th_render_mesh_destroy, render_mesh);
}

bool has_warning(const th_render_mesh *render_mesh, const char *part)
{
    for (uint32_t n = 0; n < render_mesh->warning_count; n++)
        if (strstr(render_mesh->warnings[n], part))
            return true;
    return false;
}

/* ---- what is true of any render_mesh ---- */

void check_render_mesh(const th_model *model, const th_render_mesh *f)
{
    uint32_t part = 0, vertices = 0;
    bool *used = calloc(f->vertex_count + (size_t)1, sizeof *used);
    cr_assert_eq(f->bone_count, model->bone_count);
    cr_assert_eq(f->material_count, model->material_count);
    cr_assert_eq(f->size, model->size);
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        if (model->meshes[m].index_count == 0)
            continue;
        cr_assert_lt(part, f->part_count);
        const th_render_mesh_part *p = &f->parts[part++];
        cr_assert_eq(p->mesh, m);
        cr_assert_eq(p->material, model->meshes[m].material);
        cr_assert_lt(p->material, f->material_count);
        cr_assert_str_eq(p->name, model->meshes[m].name);
        cr_assert_eq(p->lods[0].index_count, model->meshes[m].index_count);
        cr_assert_eq(p->base_vertex, vertices);
        vertices += p->vertex_count;
        for (uint32_t l = 0; l < f->lod_count; l++) {
            const th_render_mesh_lod *lod = &p->lods[l];
            cr_assert(lod->index_count % 3 == 0 && lod->first_index <= f->index_count &&
                      lod->index_count <= f->index_count - lod->first_index);
            for (uint32_t i = 0; i < lod->index_count; i++) {
                cr_assert_lt(f->indices[lod->first_index + i], p->vertex_count);
                used[p->base_vertex + f->indices[lod->first_index + i]] = true;
            }
        }
    }
    cr_assert_eq(f->part_count, part);
    cr_assert_eq(vertices, f->vertex_count);
    for (uint32_t v = 0; v < f->vertex_count; v++) {
        const th_render_mesh_vertex *vertex = &f->vertices[v];
        int sum = 0;
        cr_assert(used[v], "vertex %u is in no triangle", v);
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
            sum += vertex->weight[k];
            cr_assert_lt(vertex->bone[k], f->bone_count);
            cr_assert(k == 0 || vertex->weight[k] <= vertex->weight[k - 1], "vertex %u", v);
            cr_assert(vertex->weight[k] > 0 || vertex->bone[k] == vertex->bone[0], "vertex %u", v);
        }
        cr_assert_eq(sum, 255, "vertex %u", v);
    }
    free(used);

    uint64_t before = UINT64_MAX;
    cr_assert(f->lod_count >= 1 && f->lod_count <= TH_RENDER_MESH_LODS);
    cr_assert_eq(f->lod_error[0], 0);
    for (uint32_t l = 0; l < f->lod_count; l++) {
        uint64_t count = 0;
        float error = 0;
        for (uint32_t p = 0; p < f->part_count; p++) {
            count += f->parts[p].lods[l].index_count;
            error = fmaxf(error, f->parts[p].lods[l].error);
            cr_assert(l == 0 || f->parts[p].lods[l].error >= f->parts[p].lods[l - 1].error);
        }
        const bool is_last = l > 0 && l + 1 == f->lod_count;
        cr_assert(is_last ? count < before : count <= before, "level %u: %llu after %llu", l, (unsigned long long)count,
                  (unsigned long long)before);
        cr_assert_eq(f->lod_error[l], error);
        cr_assert_leq((double)error, th_render_mesh_lod_limit(l) * f->size * 1.000001);
        before = count;
    }
}

/* ---- distances ---- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double along_segment(const double p[3], const double a[3], const double b[3])
{
    double ab[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, ap[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    double length = dot(ab, ab), t = length > 0 ? dot(ap, ab) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int i = 0; i < 3; i++)
        ap[i] -= t * ab[i];
    return sqrt(dot(ap, ap));
}

/* By the foot's barycentric coordinates. */
static double from_triangle(const double p[3], double corner[3][3])
{
    double e[3], f[3], g[3];
    for (int i = 0; i < 3; i++) {
        e[i] = corner[1][i] - corner[0][i];
        f[i] = corner[2][i] - corner[0][i];
        g[i] = p[i] - corner[0][i];
    }
    double ee = dot(e, e), ef = dot(e, f), ff = dot(f, f), eg = dot(e, g), fg = dot(f, g), all = ee * ff - ef * ef;
    double u = (ff * eg - ef * fg) / all, v = (ee * fg - ef * eg) / all;
    if (all > 0 && u >= 0 && v >= 0 && u + v <= 1) {
        for (int i = 0; i < 3; i++)
            g[i] -= u * e[i] + v * f[i];
        return sqrt(dot(g, g));
    }
    return fmin(along_segment(p, corner[0], corner[1]),
                fmin(along_segment(p, corner[1], corner[2]), along_segment(p, corner[2], corner[0])));
}

th_dmat34 *make_error_poses(const th_model *model)
{
    th_dmat34 *local = malloc(2 * model->joint_count * sizeof *local), *pose = local + model->joint_count;
    th_dmat34 *palettes = borrow(ERROR_POSES * (size_t)model->bone_count * sizeof *palettes);
    for (int p = 0; p < ERROR_POSES; p++) {
        const double half = (p - 1) * M_PI / 12, axis = sin(half) / sqrt(3);
        const th_dmat34 turn =
            th_dmat34_from_trs(&(th_trs){.rotation = {axis, axis, axis, cos(half)}, .scale = {1, 1, 1}});
        th_exact_sample(model, NULL, 0, TH_INTERPOLATION_AUTHORED, local);
        for (uint32_t j = 0; j < model->joint_count; j++)
            local[j] = th_dmat34_mul(local[j], turn);
        th_exact_resolve(model, local, pose);
        th_exact_palette(model, pose, palettes + (size_t)p * model->bone_count);
    }
    free(local);
    return palettes;
}

/* To scene space. */
static void skin_vertex(const th_dmat34 *palette, const th_render_mesh_vertex *vertex, double out[3])
{
    const float *at = vertex->position;
    double part[3];
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
        th_dmat34_point(&palette[vertex->bone[k]], (double[3]){(double)at[0], (double)at[1], (double)at[2]}, part);
        for (int i = 0; i < 3; i++)
            out[i] += vertex->weight[k] / 255.0 * part[i];
    }
}

/* Stops as soon as it is at most `enough`. */
static double from_level(const th_render_mesh *f, uint32_t lod, double (*places)[3], uint32_t vertex, double enough)
{
    double nearest = HUGE_VAL, corner[3][3];
    for (uint32_t p = 0; p < f->part_count; p++)
        for (uint32_t i = 0; i < f->parts[p].lods[lod].index_count && nearest > enough; i += 3) {
            const uint32_t *index = f->indices + f->parts[p].lods[lod].first_index + i;
            for (int c = 0; c < 3; c++)
                memcpy(corner[c], places[f->parts[p].base_vertex + index[c]], sizeof corner[c]);
            nearest = fmin(nearest, from_triangle(places[vertex], corner));
        }
    return nearest;
}

/* All vertices, and room for one more place. */
static double (*skin_all(const th_render_mesh *f, const th_dmat34 *palette))[3]
{
    double(*places)[3] = malloc((f->vertex_count + (size_t)2) * sizeof *places);
    for (uint32_t v = 0; v < f->vertex_count; v++)
        skin_vertex(palette, &f->vertices[v], places[v]);
    return places;
}

double farthest_from_level(const th_render_mesh *f, uint32_t lod, const th_dmat34 *palette)
{
    double farthest = 0, (*places)[3] = skin_all(f, palette);
    for (uint32_t v = 0; v < f->vertex_count; v++)
        farthest = fmax(farthest, from_level(f, lod, places, v, farthest));
    free(places);
    return farthest;
}

double farthest_from_mesh(const th_render_mesh *f, uint32_t lod, const th_dmat34 *palette)
{
    double farthest = 0, (*places)[3] = skin_all(f, palette);
    for (uint32_t p = 0; p < f->part_count; p++)
        for (uint32_t i = 0; i < f->parts[p].lods[lod].index_count; i += 3) {
            const uint32_t *index = f->indices + f->parts[p].lods[lod].first_index + i;
            double *middle = places[f->vertex_count];
            for (int k = 0; k < 3; k++) {
                middle[k] = 0;
                for (int c = 0; c < 3; c++)
                    middle[k] += places[f->parts[p].base_vertex + index[c]][k] / 3;
            }
            farthest = fmax(farthest, from_level(f, 0, places, f->vertex_count, farthest));
        }
    free(places);
    return farthest;
}

/* ---- triangles ---- */

/* Of a model's mesh, or of a part. */
typedef struct corner_view {
    const th_vertex *authored;
    const th_render_mesh_vertex *packed;
    float position[3];
} corner_view;

typedef struct triangle {
    corner_view corners[3];
    bool matched;
} triangle;

static int compare_places(const corner_view *a, const corner_view *b)
{
    for (int i = 0; i < 3; i++)
        if (a->position[i] != b->position[i])
            return a->position[i] < b->position[i] ? -1 : 1;
    return 0;
}

static int compare_triangles(const void *one, const void *other)
{
    const triangle *a = one, *b = other;
    int order = 0;
    for (int c = 0; c < 3 && order == 0; c++)
        order = compare_places(&a->corners[c], &b->corners[c]);
    return order;
}

static triangle rotated(const triangle *t, int by)
{
    return (triangle){.corners = {t->corners[by], t->corners[(1 + by) % 3], t->corners[(2 + by) % 3]}};
}

/* The rotation that comes first in the order. */
static triangle normalized(const triangle *t)
{
    triangle best = *t;
    for (int by = 1; by < 3; by++) {
        triangle other = rotated(t, by);
        if (compare_triangles(&other, &best) < 0)
            best = other;
    }
    return best;
}

/* In the order of places. mesh: of the model; NULL: of this part. */
static triangle *list_triangles(const th_mesh *mesh, const th_render_mesh *f, const th_render_mesh_part *part)
{
    const uint32_t *indices = mesh ? mesh->indices : f->indices + part->lods[0].first_index;
    const uint32_t count = (mesh ? mesh->index_count : part->lods[0].index_count) / 3;
    triangle *list = calloc(count, sizeof *list);
    for (uint32_t t = 0; t < count; t++) {
        for (uint32_t c = 0; c < 3; c++) {
            corner_view *to = &list[t].corners[c];
            if (mesh)
                to->authored = &mesh->vertices[indices[3 * t + c]];
            else
                to->packed = &f->vertices[part->base_vertex + indices[3 * t + c]];
            memcpy(to->position, mesh ? to->authored->position : to->packed->position, sizeof to->position);
        }
        list[t] = normalized(&list[t]);
    }
    qsort(list, count, sizeof *list, compare_triangles);
    return list;
}

/* repeats: whole images that the coordinates of the mesh may be off by; infinite as long as that is not known. */
static bool same_corner(const corner_view *a, const corner_view *b, double repeats[2])
{
    const th_vertex *authored = a->authored;
    const th_render_mesh_vertex *packed = b->packed;
    double n[3], sum = 0;
    for (int i = 0; i < 3; i++)
        n[i] = (double)authored->normal[i];
    const double length = sqrt(dot(n, n));
    for (int i = 0; i < 3; i++) {
        const double want = length > 0 ? n[i] / length : i == 2;
        const int ten = (int)(packed->normal >> (10 * i) & 0x3ff), got = ten >= 512 ? ten - 1024 : ten;
        if (!(fabs(got / 511.0 - want) <= 0.5001 / 511))
            return false;
    }
    for (int i = 0; i < 2; i++) {
        const double got = (double)th_half_to_float(packed->uv[i]), off = (double)authored->uv[i] - got;
        const double whole = isinf(repeats[i]) ? round(off) : repeats[i];
        if (!(fabs(off - whole) <= fmax(fabs(got), 0x1p-14) * 0x1p-11 * 1.0001))
            return false;
        repeats[i] = whole;
    }
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
        sum += (double)authored->weight[k];
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
        if (!(fabs(packed->weight[k] / 255.0 - (double)authored->weight[k] / sum) <= 1 / 255.0) ||
            (packed->weight[k] > 0 && packed->bone[k] != authored->bone[k]))
            return false;
    return compare_places(a, b) == 0 && memcmp(authored->color, packed->color, 4) == 0;
}

static bool same_triangle(const triangle *authored, const triangle *packed, double repeats[2])
{
    bool same = false;
    for (int by = 0; by < 3 && !same; by++) {
        const triangle other = rotated(packed, by);
        double kept[2] = {repeats[0], repeats[1]};
        same = true;
        for (int c = 0; c < 3 && same; c++)
            same = same_corner(&authored->corners[c], &other.corners[c], kept);
        if (same)
            memcpy(repeats, kept, sizeof kept);
    }
    return same;
}

void check_same_triangles(const th_model *model, const th_render_mesh *render_mesh)
{
    for (uint32_t p = 0; p < render_mesh->part_count; p++) {
        const th_mesh *mesh = &model->meshes[render_mesh->parts[p].mesh];
        triangle *want = list_triangles(mesh, NULL, NULL);
        triangle *got = list_triangles(NULL, render_mesh, &render_mesh->parts[p]);
        double repeats[2] = {HUGE_VAL, HUGE_VAL};
        /* Where several lie at the same place, any order will do. */
        for (uint32_t t = 0, run = 0; t < mesh->index_count / 3; t++) {
            bool found = false;
            if (compare_triangles(&want[run], &want[t]) != 0)
                run = t;
            for (uint32_t o = run; !found && o < mesh->index_count / 3; o++) {
                if (compare_triangles(&got[o], &want[t]) != 0)
                    break;
                found = !got[o].matched && same_triangle(&want[t], &got[o], repeats);
                got[o].matched |= found;
            }
            cr_assert(found, "mesh %s: triangle %u of %u, in the order of places, is missing or different", mesh->name,
                      t, mesh->index_count / 3);
        }
        free(want);
        free(got);
    }
}

/* ---- gaps ---- */

typedef struct weld {
    float position[3];
    uint8_t weight[4];
    uint16_t bone[4];
    uint32_t vertex;
} weld;

static int compare_welds(const void *one, const void *other)
{
    return memcmp(one, other, offsetof(weld, vertex));
}

/* One number for all vertices that are at the same place. */
static uint32_t *weld_vertices(const th_render_mesh *f, bool weights)
{
    weld *welds = calloc(f->vertex_count, sizeof *welds);
    uint32_t *ids = calloc(f->vertex_count, sizeof *ids);
    for (uint32_t v = 0; v < f->vertex_count; v++) {
        memcpy(welds[v].position, f->vertices[v].position, sizeof welds[v].position);
        memcpy(welds[v].weight, f->vertices[v].weight, weights ? sizeof welds[v].weight : 0);
        memcpy(welds[v].bone, f->vertices[v].bone, weights ? sizeof welds[v].bone : 0);
        welds[v].vertex = v;
    }
    qsort(welds, f->vertex_count, sizeof *welds, compare_welds);
    for (uint32_t v = 0, id = 0; v < f->vertex_count; v++) {
        id += v > 0 && compare_welds(&welds[v - 1], &welds[v]) != 0;
        ids[welds[v].vertex] = id;
    }
    free(welds);
    return ids;
}

typedef struct edge {
    uint32_t low, high;
    int direction;
} edge;

static int compare_edges(const void *one, const void *other)
{
    const edge *a = one, *b = other;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return a->high < b->high ? -1 : a->high > b->high;
}

uint32_t count_open_edges(const th_render_mesh *f, uint32_t lod, bool weights)
{
    uint32_t *ids = weld_vertices(f, weights), count = 0, open = 0;
    edge *edges = calloc(f->index_count, sizeof *edges);
    for (uint32_t p = 0; p < f->part_count; p++)
        for (uint32_t i = 0; i < f->parts[p].lods[lod].index_count; i++) {
            const uint32_t *indices = f->indices + f->parts[p].lods[lod].first_index;
            uint32_t a = ids[f->parts[p].base_vertex + indices[i]];
            uint32_t b = ids[f->parts[p].base_vertex + indices[i % 3 == 2 ? i - 2 : i + 1]];
            if (a != b)
                edges[count++] = a < b ? (edge){a, b, 1} : (edge){b, a, -1};
        }
    qsort(edges, count, sizeof *edges, compare_edges);
    for (uint32_t i = 0, next; i < count; i = next) {
        int sum = 0;
        for (next = i; next < count && compare_edges(&edges[i], &edges[next]) == 0; next++)
            sum += edges[next].direction;
        open += sum != 0;
    }
    free(ids);
    free(edges);
    return open;
}
