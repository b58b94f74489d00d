/* What is read of small model files, against what is stored beside them: tests/golden/models, whose README says how
 * such a pair is made. */
#include "fixture_document.h"
#include "fixture_import.h"

#include <anim/exact.h>

#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[256]; /* of tests/golden/models, with "/" */

TestSuite(import_models, .init = keep_signals);

/* ---- numbers: five digits, so that no processor and no compiler has others ---- */

static void put_number(FILE *out, double x)
{
    fprintf(out, " %.5g", fabs(x) < 1e-6 ? 0 : x);
}

static void put_floats(FILE *out, const float *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put_number(out, (double)x[i]);
}

/* Row by row. */
static void put_matrix(FILE *out, const th_dmat34 *m)
{
    for (int i = 0; i < 12; i++) {
        put_number(out, m->m[i]);
        fputs(i == 3 || i == 7 ? " |" : "", out);
    }
    fputc('\n', out);
}

/* ---- joints ---- */

static const char *joint_name(const th_model *model, uint32_t joint)
{
    return model->joints[joint].name;
}

/* Of a joint. */
static void put_joint(FILE *out, const th_model *model, uint32_t joint, th_dmat34 matrix)
{
    fprintf(out, "  %s:", joint_name(model, joint));
    put_matrix(out, &matrix);
}

static int depth_of(const th_model *model, uint32_t joint)
{
    int depth = 1;
    while ((joint = model->joints[joint].parent) != TH_NO_INDEX)
        depth++;
    return depth;
}

static void show_joints(FILE *out, const th_model *model)
{
    fputs("joints\n", out);
    for (uint32_t j = 0; j < model->joint_count; j++)
        fprintf(out, "%*s%s\n", 2 * depth_of(model, j), "", joint_name(model, j));
}

static void show_rest(FILE *out, const th_model *model)
{
    fputs("rest, from the parent\n", out);
    for (uint32_t j = 0; j < model->joint_count; j++)
        put_joint(out, model, j, th_dmat34_from(model->joints[j].rest));
}

static void show_bones(FILE *out, const th_model *model)
{
    fputs("bones, inverse bind matrices\n", out);
    for (uint32_t b = 0; b < model->bone_count; b++)
        put_joint(out, model, model->bones[b].joint, th_dmat34_from(model->bones[b].inverse_bind));
}

static void show_palette(FILE *out, const th_model *model)
{
    th_dmat34 *pose = calloc(model->joint_count, sizeof *pose), *palette = calloc(model->bone_count, sizeof *palette);
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(model, pose, palette);
    fputs("palette at rest\n", out);
    for (uint32_t b = 0; b < model->bone_count; b++)
        put_joint(out, model, model->bones[b].joint, palette[b]);
    free(pose);
    free(palette);
}

/* ---- meshes ---- */

static void show_meshes(FILE *out, const th_model *model)
{
    fprintf(out, "size %.5g, %u mesh%s\n", model->size, model->mesh_count, model->mesh_count == 1 ? "" : "es");
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        fprintf(out, "  %s: %u vertices, %u corners, material \"%s\"\n", mesh->name, mesh->vertex_count,
                mesh->index_count, model->materials[mesh->material].name);
    }
}

static void put_color(FILE *out, const th_model *model, const th_vertex *vertex)
{
    (void)model;
    for (int i = 0; i < 4; i++)
        fprintf(out, " %u", vertex->color[i]);
}

static void put_weights(FILE *out, const th_model *model, const th_vertex *vertex)
{
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
        fprintf(out, "%s %s", k > 0 ? "," : "", joint_name(model, model->bones[vertex->bone[k]].joint));
        put_number(out, (double)vertex->weight[k]);
    }
}

static void show_triangles(FILE *out, const th_model *model)
{
    fputs("triangles\n", out);
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const uint32_t *index = model->meshes[m].indices;
        fprintf(out, "  %s:", model->meshes[m].name);
        for (uint32_t i = 0; i < model->meshes[m].index_count; i += 3)
            fprintf(out, "%s %u %u %u", i > 0 ? " |" : "", index[i], index[i + 1], index[i + 2]);
        fputc('\n', out);
    }
}

/* ---- materials ---- */

static void show_materials(FILE *out, const th_model *model)
{
    fputs("materials\n", out);
    for (uint32_t m = 0; m < model->material_count; m++) {
        const th_material *material = &model->materials[m];
        fprintf(out, "  \"%s\": color", material->name);
        put_floats(out, material->base_color, 4);
        fprintf(out, ", %s", th_alpha_name(material->alpha));
        if (material->alpha == TH_ALPHA_MASK)
            put_number(out, (double)material->alpha_cutoff);
        fputs(", light", out);
        put_floats(out, material->emissive, 3);
        fputs(material->double_sided ? ", double-sided" : "", out);
        if (material->texture != TH_NO_INDEX)
            fprintf(out, ", texture %s", model->textures[material->texture].name);
        fputc('\n', out);
    }
}

static void show_sampler(FILE *out, const th_sampler *sampler)
{
    static const char *const wraps[] = {"repeat", "clamp", "mirror"}, *const filters[] = {"linear", "nearest", "none"};
    fprintf(out, "    %s along u, %s along v, large %s, small %s, copies %s\n", wraps[sampler->wrap[0]],
            wraps[sampler->wrap[1]], filters[sampler->large], filters[sampler->small], filters[sampler->copies]);
}

/* Their bytes are text in these files. */
static void show_textures(FILE *out, const th_model *model)
{
    fputs("textures\n", out);
    for (uint32_t t = 0; t < model->texture_count; t++) {
        const th_texture *texture = &model->textures[t];
        if (texture->bytes)
            fprintf(out, "  %s: \"%.*s\"\n", texture->name, (int)texture->byte_count, (const char *)texture->bytes);
        else
            fprintf(out, "  %s: none\n", texture->name);
        if (memcmp(&texture->sampler, &(th_sampler){0}, sizeof texture->sampler) != 0)
            show_sampler(out, &texture->sampler);
    }
}

/* ---- clips: in seconds, whatever the ticks are ---- */

static void show_track(FILE *out, const th_clip *clip, const char *name, const th_track *track, uint32_t width,
                       bool is_filled)
{
    if (is_filled) {
        fprintf(out, "    %s, from the rest:", name);
        put_floats(out, track->values, width);
        fputc('\n', out);
        return;
    }
    fprintf(out, "    %s%s\n", name, track->steps ? ", steps" : "");
    for (uint32_t k = 0; k < track->key_count; k++) {
        const float *tangents = track->tangents ? track->tangents + (size_t)2 * k * width : NULL;
        fprintf(out, "      %.5g s:", track->times[k] / clip->ticks_per_second);
        put_floats(out, track->values + (size_t)k * width, width);
        for (uint32_t i = 0; tangents && i < 2 * width; i++) {
            fputs(i == 0 ? ", in" : i == width ? ", out" : "", out);
            put_number(out, (double)tangents[i] * clip->ticks_per_second);
        }
        fputc('\n', out);
    }
}

static void show_channel(FILE *out, const th_model *model, const th_clip *clip, const th_channel *channel)
{
    fprintf(out, "  %s\n", joint_name(model, channel->joint));
    show_track(out, clip, "translation", &channel->translation, 3, channel->filled & TH_TRANSLATION);
    show_track(out, clip, "rotation", &channel->rotation, 4, channel->filled & TH_ROTATION);
    show_track(out, clip, "scale", &channel->scale, 3, channel->filled & TH_SCALE);
}

static void show_keys(FILE *out, const th_model *model)
{
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const th_clip *clip = &model->clips[c];
        fprintf(out, "clip %s, %.5g s\n", clip->name, clip->duration_ticks / clip->ticks_per_second);
        for (uint32_t k = 0; k < clip->channel_count; k++)
            show_channel(out, model, clip, &clip->channels[k]);
        for (uint32_t k = 0; k < clip->weight_track_count; k++) {
            const th_weight *weight = &model->weights[clip->weight_tracks[k].weight];
            fprintf(out, "  %s, target \"%s\"\n", joint_name(model, weight->joint), weight->name);
            show_track(out, clip, "weight", &clip->weight_tracks[k].track, 1, false);
        }
    }
}

static void put_pose(FILE *out, const th_model *model, const th_clip *clip, double ticks)
{
    th_dmat34 *pose = calloc(model->joint_count, sizeof *pose);
    th_exact_pose(model, clip, ticks, TH_INTERPOLATION_AUTHORED, pose);
    for (uint32_t j = 0; j < model->joint_count; j++)
        put_joint(out, model, j, pose[j]);
    free(pose);
}

static void put_morph(FILE *out, const th_model *model, const th_clip *clip, double ticks)
{
    double *weights = calloc(model->weight_count, sizeof *weights);
    th_exact_weights(model, clip, ticks, TH_INTERPOLATION_AUTHORED, weights);
    for (uint32_t w = 0; w < model->weight_count; w++) {
        const th_weight *weight = &model->weights[w];
        fprintf(out, "%s %s, target \"%s\":", w > 0 ? ";" : " ", joint_name(model, weight->joint), weight->name);
        put_number(out, weights[w]);
    }
    fputc('\n', out);
    free(weights);
}

/* ---- morph targets ---- */

static void show_targets(FILE *out, const th_model *model)
{
    fputs("weights of targets at rest\n", out);
    for (uint32_t w = 0; w < model->weight_count; w++) {
        const th_weight *weight = &model->weights[w];
        fprintf(out, "  %u: %s, target \"%s\":", w, joint_name(model, weight->joint), weight->name);
        put_number(out, (double)weight->rest);
        fputc('\n', out);
    }
    for (uint32_t m = 0; m < model->mesh_count; m++)
        for (uint32_t t = 0; t < model->meshes[m].target_count; t++) {
            const th_morph_target *target = &model->meshes[m].targets[t];
            fprintf(out, "%s, target of weight %u\n", model->meshes[m].name, target->weight);
            for (uint32_t d = 0; d < target->delta_count; d++) {
                fprintf(out, "  %u: moves", target->deltas[d].vertex);
                put_floats(out, target->deltas[d].position, 3);
                fputs(", normal", out);
                put_floats(out, target->deltas[d].normal, 3);
                fputc('\n', out);
            }
        }
}

/* ---- documents ---- */

/* One way to show it. */
static const struct {
    const char *name;
    void (*model)(FILE *out, const th_model *model);
    struct {
        size_t at, count;
    } floats; /* of each vertex */
    void (*vertex)(FILE *out, const th_model *model, const th_vertex *vertex);
    void (*moment)(FILE *out, const th_model *model, const th_clip *clip, double ticks); /* of each clip */
} parts[] = {
    {"joints", .model = show_joints},
    {"rest", .model = show_rest},
    {"bones", .model = show_bones},
    {"palette", .model = show_palette},
    {"meshes", .model = show_meshes},
    {"triangles", .model = show_triangles},
    {"positions", .floats = {offsetof(th_vertex, position), 3}},
    {"normals", .floats = {offsetof(th_vertex, normal), 3}},
    {"uvs", .floats = {offsetof(th_vertex, uv), 2}},
    {"colors", .vertex = put_color},
    {"weights", .vertex = put_weights},
    {"targets", .model = show_targets},
    {"materials", .model = show_materials},
    {"textures", .model = show_textures},
    {"keys", .model = show_keys},
    {"pose", .moment = put_pose},
    {"morph", .moment = put_morph},
};

static void show_vertices(FILE *out, const th_model *model, size_t part)
{
    fprintf(out, "%s\n", parts[part].name);
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        fprintf(out, "  %s\n", model->meshes[m].name);
        for (uint32_t v = 0; v < model->meshes[m].vertex_count; v++) {
            const th_vertex *vertex = &model->meshes[m].vertices[v];
            const void *floats = (const char *)vertex + parts[part].floats.at;
            fprintf(out, "    %u:", v);
            put_floats(out, floats, (uint32_t)parts[part].floats.count);
            if (parts[part].vertex)
                parts[part].vertex(out, model, vertex);
            fputc('\n', out);
        }
    }
}

/* times: in seconds, "0 0.5". */
static void show_moments(FILE *out, const th_model *model, size_t part, const char *times)
{
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const th_clip *clip = &model->clips[c];
        char *end;
        for (const char *text = times;; text = end) {
            double time_s = strtod(text, &end);
            if (end == text)
                break;
            fprintf(out, "clip %s at %.9g s\n", clip->name, time_s);
            parts[part].moment(out, model, clip, time_s * clip->ticks_per_second);
        }
    }
}

/* "joints, pose 0 0.5". */
static void show(FILE *out, const th_model *model, const char *wishes)
{
    while (*wishes) {
        size_t length = strcspn(wishes, " ,"), part = 0;
        while (part < sizeof parts / sizeof *parts &&
               (strlen(parts[part].name) != length || memcmp(parts[part].name, wishes, length) != 0))
            part++;
        cr_assert_lt(part, sizeof parts / sizeof *parts, "there is nothing to show at \"%s\"", wishes);
        if (parts[part].model)
            parts[part].model(out, model);
        else if (parts[part].moment)
            show_moments(out, model, part, wishes + length);
        else
            show_vertices(out, model, part);
        wishes += strcspn(wishes, ",");
        wishes += strspn(wishes, ", ");
    }
}

/* Without the folder, wherever it is. */
static void put_error(FILE *out, const char *text)
{
    fputs("error: ", out);
    for (const char *at; (at = strstr(text, folder)); text = at + strlen(folder))
        fprintf(out, "%.*s", (int)(at - text), text);
    fprintf(out, "%s\n", text);
}

static void print_model(FILE *out, const char *file, const char *wishes)
{
    char path[512];
    th_model *model;
    th_error err;
    snprintf(path, sizeof path, "%s%s", folder, file);
    const th_result result = import(path, &model, &err);
    if (result != TH_OK) {
        cr_expect(result == TH_ERR_INPUT || result == TH_ERR_LIMIT, "%s", err.text);
        put_error(out, err.text);
        return;
    }
    cr_expect_eq(th_model_check(model, &err), TH_OK, "%s: %s", file, err.text);
    for (uint32_t w = 0; w < model->warning_count; w++)
        fprintf(out, "warning: %s\n", model->warnings[w]);
    if (model->warning_count == 0)
        fputs("no warnings\n", out);
    show(out, model, wishes);
    th_model_destroy(model);
}

typedef struct head {
    char model[64], show[256]; /* "": no such line */
} head;

/* The lines that a stored document begins with. */
static head read_head(const char *path)
{
    head h = {0};
    char line[512];
    FILE *file = fopen(path, "r");
    cr_assert(file, "%s: a model has no such text", path);
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "model: %63[^\n]", h.model);
        sscanf(line, "show: %255[^\n]", h.show);
    }
    fclose(file);
    return h;
}

/* file: NULL if the document names one. */
static void check_model(const char *name, const char *file)
{
    char path[512], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s%s.txt", folder, name);
    const head h = read_head(path);
    if (!file && !h.model[0]) {
        cr_expect_fail("%s: there is no such model", path);
        return;
    }
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    if (h.model[0])
        fprintf(out, "model: %s\n", h.model);
    if (h.show[0])
        fprintf(out, "show: %s\n", h.show);
    print_model(out, file ? file : h.model, h.show);
    cr_assert_eq(fclose(out), 0);
    check_text(path, text);
    free(text);
}

/* NAME.bin, NAME.mtl, NAME.png and NAME.skeleton.xml are what a model of that name names. */
static bool is_part(const char *ending)
{
    return strcmp(ending, ".bin") == 0 || strcmp(ending, ".mtl") == 0 || strcmp(ending, ".png") == 0 ||
           strcmp(ending, ".skeleton.xml") == 0;
}

static int is_shown(const struct dirent *file)
{
    return file->d_name[0] != '.';
}

/* Those of a folder. */
static void check_models(const char *name_of_folder)
{
    snprintf(folder, sizeof folder, TEST_GOLDEN "/models/%.40s/", name_of_folder);
    struct dirent **files;
    const int count = scandir(folder, &files, is_shown, alphasort);
    cr_assert_gt(count, 0);
    for (int i = 0; i < count;) {
        char name[64] = "";
        const char *model = NULL;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(files[i]->d_name, "."), files[i]->d_name);
        for (size_t length = strlen(name);
             i < count && strncmp(files[i]->d_name, name, length) == 0 && files[i]->d_name[length] == '.'; i++)
            if (strcmp(files[i]->d_name + length, ".txt") != 0 && !is_part(files[i]->d_name + length)) {
                cr_expect(!model, "%s and %s have one name", model, files[i]->d_name);
                model = files[i]->d_name;
            }
        check_model(name, model);
    }
    for (int i = 0; i < count; i++)
        free(files[i]);
    free(files);
}

/* A test for each folder, so that --filter import_models/clips runs one, and stores one anew. */
#define FOLDERS(each)                                                                                                  \
    each(accessors) each(clips) each(collada) each(fbx) each(files) each(keys) each(materials) each(meshes)            \
        each(morphs) each(skins) each(splines) each(trees)
#define MODELS_OF(name)                                                                                                \
    Test(import_models, name)                                                                                          \
    {                                                                                                                  \
        check_models(#name);                                                                                           \
    }
FOLDERS(MODELS_OF)

#define NAME_OF(name) #name,
Test(import_models, each_folder_has_a_test)
{
    static const char *const names[] = {FOLDERS(NAME_OF)};
    struct dirent **folders;
    const int count = scandir(TEST_GOLDEN "/models", &folders, is_shown, alphasort);
    cr_assert_eq(count, sizeof names / sizeof *names);
    for (int i = 0; i < count; i++) {
        cr_expect_str_eq(folders[i]->d_name, names[i]);
        free(folders[i]);
    }
    free(folders);
}
