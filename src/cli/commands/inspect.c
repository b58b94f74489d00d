/* throng inspect: lists a model's contents and compiles its clips. */
#include <cli/options.h>

#include <anim/joint_lod.h>
#include <anim/palette.h>
#include <bench/figures.h>
#include <core/json.h>
#include <render/render_mesh.h>
#include <runtime/parallel.h>
#include <throng/throng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A joint's position in the skeleton and in the palette. */
typedef struct node_info {
    uint32_t depth, entries;
    bool moves; /* in some clip */
} node_info;

/* What both the text and the JSON show. */
typedef struct subject {
    const th_model *model;
    const th_compiled_model *compiled;
    node_info *nodes; /* [joint] */
    const th_joint_lod *lod;
    const th_render_mesh *drawn; /* its materials alone */
} subject;

static size_t palette_bytes(const th_model *model)
{
    return th_palette_stride(TH_FORMAT_F32,
                             th_palette_entries(model->bone_count, model->weight_count)); /* as in a crowd */
}

typedef struct counts {
    uint64_t keys, splines; /* of all tracks; those of curves are splines if they move */
} counts;

static void count_track(counts *sum, const th_track *track, bool curves)
{
    sum->keys += track->key_count;
    sum->splines += track->tangents || (curves && track->key_count > 1);
}

/* Scene units to millimetres on a human of 1.8 m. */
static double millimetres(const th_model *model, double length)
{
    return length * TH_REFERENCE_SIZE_M / model->size * 1000;
}

/* What the clip is for a behaviour; NULL: nothing. *speed: over the ground, NAN if it does not walk. */
static const char *role_of(const subject *s, uint32_t clip, double *speed)
{
    const th_repertoire *r = th_compiled_model_repertoire(s->compiled);
    *speed = (double)NAN;
    for (uint32_t g = 0; g < r->gait_count; g++)
        if (r->gaits[g].clip == clip) {
            *speed = r->gaits[g].speed;
            return "gait";
        }
    for (uint32_t n = 0; n < r->stand_count; n++)
        if (r->stands[n].clip == clip)
            return "stand";
    for (uint32_t n = 0; n < r->gesture_count; n++)
        if (r->gestures[n].clip == clip)
            return "gesture";
    return clip == r->idle ? "idle" : NULL;
}

/* ---- lists, each a table and an array of JSON objects ---- */

static void add_clips(const subject *s, th_sheet *sheet)
{
    for (uint32_t c = 0; c < s->model->clip_count; c++) {
        const th_clip *clip = &s->model->clips[c];
        const th_clip_report *r = th_compiled_model_clip_report(s->compiled, c);
        counts sum = {0};
        for (uint32_t i = 0; i < clip->channel_count; i++) {
            const th_channel *channel = &clip->channels[i];
            count_track(&sum, &channel->translation, channel->curves);
            count_track(&sum, &channel->rotation, channel->curves);
            count_track(&sum, &channel->scale, channel->curves);
        }
        for (uint32_t t = 0; t < clip->weight_track_count; t++)
            count_track(&sum, &clip->weight_tracks[t].track, clip->weight_tracks[t].curves);
        const bool is_compiled = r->compiled;
        const char *error_joint = is_compiled ? s->model->joints[r->error_joint].name : NULL;
        const double error_mm = millimetres(s->model, r->max_error);
        double speed;
        const char *role = role_of(s, c, &speed);
        char worst[512];
        if (is_compiled)
            snprintf(worst, sizeof worst, "%.4f mm (%.3g units), %s at %.2f s", error_mm, r->max_error, error_joint,
                     r->error_time_s);
        else
            snprintf(worst, sizeof worst, "exact: %s", r->reason);
        const th_figure figures[] = {
            TH_FIGURE("name", "<clip", TH_TEXT(clip->name)),
            TH_FIGURE("duration_s", ">seconds", TH_REAL(clip->duration_ticks / clip->ticks_per_second, "%.2f")),
            TH_FIELD("duration_ticks", TH_NUMBER(clip->duration_ticks)),
            TH_FIGURE("ticks_per_second", ">ticks/s", TH_REAL(clip->ticks_per_second, "%g")),
            TH_FIGURE("channels", ">channels", TH_COUNT(clip->channel_count)),
            TH_FIGURE("weights", ">weights", TH_COUNT(clip->weight_track_count)),
            TH_FIGURE("keys", ">keys", TH_DIGITS(sum.keys)),
            TH_FIGURE("splines", ">splines", TH_DIGITS(sum.splines)),
            TH_FIELD("add_obstacle", TH_TEXT(th_layer_add_obstacle(s->model, c, TH_LAYER_ADD))),
            TH_FIELD("behaviour", TH_TEXT(role)),
            TH_FIELD("speed", TH_NUMBER(speed)),
            TH_FIELD("compiled", TH_FLAG(is_compiled)),
            TH_FIELD("reason", TH_TEXT(is_compiled ? NULL : r->reason)),
            TH_FIGURE("rate_hz", ">Hz", TH_IF_GIVEN(is_compiled, TH_REAL(r->rate_hz, "%.4g"))),
            TH_FIGURE("stretches", ">stretches", TH_IF_GIVEN(is_compiled, TH_COUNT(r->stretch_count))),
            TH_FIGURE("frames", ">frames", TH_IF_GIVEN(is_compiled, TH_COUNT(r->frame_count))),
            TH_FIGURE("bytes", ">bytes", TH_IF_GIVEN(is_compiled, TH_DIGITS(r->bytes))),
            TH_COLUMN(">of authored",
                      TH_IF_GIVEN(is_compiled, TH_SHARE((double)r->bytes / (double)r->raw_bytes, "%.0f %%"))),
            TH_FIELD("authored_bytes", TH_IF_GIVEN(is_compiled, TH_COUNT(r->raw_bytes))),
            TH_FIELD("compression", TH_IF_GIVEN(is_compiled, TH_NUMBER((double)r->raw_bytes / (double)r->bytes))),
            TH_FIELD("max_error", TH_IF_GIVEN(is_compiled, TH_NUMBER(r->max_error))),
            TH_FIELD("max_error_mm", TH_IF_GIVEN(is_compiled, TH_NUMBER(error_mm))),
            TH_FIELD("error_joint", TH_IF_GIVEN(is_compiled, TH_TEXT(error_joint))),
            TH_FIELD("error_time_s", TH_IF_GIVEN(is_compiled, TH_NUMBER(r->error_time_s))),
            TH_COLUMN("<worst error", TH_TEXT(worst)),
        };
        TH_SHEET_ADD(sheet, figures);
    }
}

static void add_meshes(const subject *s, th_sheet *sheet)
{
    for (uint32_t m = 0; m < s->model->mesh_count; m++) {
        const th_mesh *mesh = &s->model->meshes[m];
        const th_material *material = &s->model->materials[mesh->material];
        const th_figure figures[] = {
            TH_FIGURE("name", "<mesh", TH_TEXT(mesh->name)),
            TH_FIGURE("vertices", ">vertices", TH_DIGITS(mesh->vertex_count)),
            TH_FIGURE("triangles", ">triangles", TH_DIGITS(mesh->index_count / 3)),
            TH_FIGURE("targets", ">targets", TH_COUNT(mesh->target_count)),
            TH_FIGURE("material", "<material", TH_TEXT(material->name)),
            TH_FIGURE("alpha", "<alpha", TH_TEXT(th_alpha_name(material->alpha))),
            TH_FIELD("double_sided", TH_FLAG(material->double_sided)),
            TH_COLUMN("<sides", TH_TEXT(material->double_sided ? "both" : "front")),
        };
        TH_SHEET_ADD(sheet, figures);
    }
}

static void add_weights(const subject *s, th_sheet *sheet)
{
    for (uint32_t w = 0; w < s->model->weight_count; w++) {
        const th_weight *weight = &s->model->weights[w];
        const th_figure figures[] = {
            TH_COLUMN(">#", TH_COUNT(w)),
            TH_FIGURE("node", "<node", TH_TEXT(s->model->joints[weight->joint].name)),
            TH_FIGURE("target", "<morph target", TH_TEXT(weight->name)),
            TH_FIGURE("rest", ">rest", TH_REAL((double)weight->rest, "%g")),
        };
        TH_SHEET_ADD(sheet, figures);
    }
}

enum { NAMES = 6 }; /* of joints in a row of the table */

/* Levels that repeat the one before are left out. */
static void add_levels(const subject *s, th_sheet *sheet)
{
    const th_model *model = s->model;
    for (uint32_t l = 0; l < TH_LOD_LEVELS; l++) {
        const th_joint_level *level = &s->lod->levels[l];
        if (l > 0 && level->model == level[-1].model)
            continue;
        const bool moves = level->error_clip != TH_NO_INDEX;
        const size_t bytes = palette_bytes(level->model);
        const double error_mm = millimetres(model, level->error);
        json_t *held = json_array(); /* joints that it holds and the level before does not */
        uint32_t held_count = 0;
        char names[512] = "", name[64], error[64];
        for (uint32_t j = 0; j < model->joint_count; j++) {
            const bool is_of_use = s->nodes[j].moves || s->nodes[j].entries > 0;
            if (!level->held[j] || !is_of_use || (l > 0 && level[-1].held[j]))
                continue;
            held = th_json_append(held, th_json_text(model->joints[j].name));
            if (held_count++ < NAMES)
                th_append(names, sizeof names, "%s%s", names[0] ? ", " : "",
                          th_printable(model->joints[j].name, name, sizeof name));
        }
        if (held_count > NAMES)
            th_append(names, sizeof names, " and %u more", held_count - NAMES);
        snprintf(error, sizeof error, "%.2f mm (%.3g units)", error_mm, level->error);
        const th_figure figures[] = {
            TH_FIGURE("level", ">joint level", TH_COUNT(l)),
            TH_FIGURE("moving_joints", ">joints that move", TH_COUNT(level->moving_count)),
            TH_FIGURE("bones", ">bones", TH_COUNT(level->model->bone_count)),
            TH_COLUMN(">of all", TH_SHARE((double)level->model->bone_count / model->bone_count, "%.0f %%")),
            TH_FIGURE("bytes_per_character", ">bytes a character", TH_DIGITS(bytes)),
            TH_FIELD("error_limit", TH_NUMBER(th_lod_limit(l) * model->size)),
            TH_FIELD("error", TH_NUMBER(level->error)),
            TH_FIELD("error_mm", TH_NUMBER(error_mm)),
            TH_COLUMN(">error", TH_TEXT(error)),
            TH_FIELD("clip", TH_TEXT(moves ? model->clips[level->error_clip].name : NULL)),
            TH_FIELD("time_s", TH_IF_KNOWN(moves, TH_NUMBER(level->error_time_s))),
            TH_FIELD("held", TH_JSON(held)),
            TH_COLUMN("<holds still", TH_TEXT(held_count > 0 ? names : NULL)),
        };
        TH_SHEET_ADD(sheet, figures);
        json_decref(held);
    }
}

/* Whether a mesh that has this texture is drawn without it. */
static bool is_plain(const subject *s, uint32_t texture)
{
    for (uint32_t m = 0; m < s->model->mesh_count; m++) {
        const th_mesh *mesh = &s->model->meshes[m];
        if (s->model->materials[mesh->material].texture == texture && mesh->index_count > 0)
            return s->drawn->materials[mesh->material].image == TH_NO_INDEX;
    }
    return false;
}

static void add_textures(const subject *s, th_sheet *sheet)
{
    for (uint32_t t = 0; t < s->model->texture_count; t++) {
        const th_texture *texture = &s->model->textures[t];
        const char *where = is_plain(s, t) ? "plain colour" : texture->name[0] == '*' ? "embedded" : "file";
        const th_figure figures[] = {
            TH_FIGURE("name", "<texture", TH_TEXT(texture->name)),
            TH_FIGURE("state", "<state", TH_TEXT(texture->bytes ? where : "missing")),
            TH_FIGURE("bytes", ">bytes", TH_DIGITS(texture->byte_count)),
        };
        TH_SHEET_ADD(sheet, figures);
    }
}

static void add_joints(const subject *s, th_sheet *sheet)
{
    for (uint32_t j = 0; j < s->model->joint_count; j++) {
        const th_joint *joint = &s->model->joints[j];
        const node_info *node = &s->nodes[j];
        char indented[512];
        snprintf(indented, sizeof indented, "%*s%s", 2 * (node->depth < 40 ? (int)node->depth : 40), "", joint->name);
        const th_figure figures[] = {
            TH_COLUMN(">#", TH_COUNT(j)),
            TH_FIELD("name", TH_TEXT(joint->name)),
            TH_COLUMN("<joint", TH_TEXT(indented)),
            TH_FIELD("parent", TH_INDEX(joint->parent)),
            TH_FIELD("bones", TH_COUNT(node->entries)),
            TH_COLUMN(">bones", TH_IF_GIVEN(node->entries > 0, TH_COUNT(node->entries))),
        };
        TH_SHEET_ADD(sheet, figures);
    }
}

typedef void add_fn(const subject *s, th_sheet *sheet);

static json_t *list_json(const subject *s, add_fn *add)
{
    th_sheet sheet = th_sheet_json(0);
    add(s, &sheet);
    return sheet.objects;
}

static bool print_list(const subject *s, add_fn *add, FILE *file)
{
    th_sheet sheet = th_sheet_table(0);
    add(s, &sheet);
    if (sheet.count > 0)
        fputc('\n', file);
    return th_sheet_write(&sheet, TH_OUTPUT_TEXT, file);
}

/* ---- the whole ---- */

/* What a layer that adds may be off by, in bounds (compiled_model.h). */
enum { ADDED_BOUNDS = 2 };

static json_t *subject_json(const subject *s)
{
    const th_model *model = s->model;
    const double bound_mm = millimetres(model, th_compiled_model_bound(s->compiled));
    json_t *warnings = json_array();
    for (uint32_t n = 0; n < model->warning_count; n++)
        warnings = th_json_append(warnings, th_json_text(model->warnings[n]));
    for (uint32_t n = 0; n < s->drawn->warning_count; n++)
        warnings = th_json_append(warnings, th_json_text(s->drawn->warnings[n]));
    return json_pack(
        "{s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
        th_json_text(model->name), "size", th_json_real(model->size), "joint_count", (int)model->joint_count, "bones",
        (int)model->bone_count, "bytes_per_character", th_json_count(palette_bytes(model)), "bytes_per_clip",
        th_json_real(th_compiled_model_bytes_per_clip(s->compiled)), "quat_obstacle",
        th_json_text(th_compiled_model_obstacle(s->compiled, TH_FORMAT_QUAT)), "quat16_obstacle",
        th_json_text(th_compiled_model_obstacle(s->compiled, TH_FORMAT_QUAT16)), "compiled_bytes",
        th_json_count(th_compiled_model_bytes(s->compiled)), "error_bound_mm", th_json_real(bound_mm),
        "error_bound_added_mm", th_json_real(ADDED_BOUNDS * bound_mm), "clips", list_json(s, add_clips), "meshes",
        list_json(s, add_meshes), "weights", list_json(s, add_weights), "joint_levels", list_json(s, add_levels),
        "textures", list_json(s, add_textures), "warnings", warnings, "joints", list_json(s, add_joints));
}

/* The names of the clips with a role, after what they do. */
static void print_role(const subject *s, const char *role, const char *what, FILE *file)
{
    char name[256];
    double speed;
    const char *between = what;
    for (uint32_t c = 0; c < s->model->clip_count; c++) {
        const char *own = role_of(s, c, &speed);
        if (!own || strcmp(own, role) != 0)
            continue;
        fprintf(file, "%s%s", between, th_printable(s->model->clips[c].name, name, sizeof name));
        if (isfinite(speed))
            fprintf(file, " (%.3g units/s)", speed);
        between = ", ";
    }
    if (between != what)
        fputc('\n', file);
}

static bool print_subject(const subject *s, FILE *file)
{
    const th_model *model = s->model;
    const double clip_bytes = th_compiled_model_bytes_per_clip(s->compiled);
    char name[1024], note[1024], a_clip[64] = "";
    if (clip_bytes > 0)
        snprintf(a_clip, sizeof a_clip, ", %s a clip", th_digits_from((uint64_t)clip_bytes).text);
    fprintf(file, "%s: %u joint%s, %u bone%s, %s bytes a character%s; %.4g unit%s in size\n",
            th_printable(model->name, name, 256), model->joint_count, th_plural(model->joint_count), model->bone_count,
            th_plural(model->bone_count), th_digits_from(palette_bytes(model)).text, a_clip, model->size,
            model->size == 1 ? "" : "s");
    const char *obstacle = th_compiled_model_obstacle(s->compiled, TH_FORMAT_QUAT);
    const char *small = th_compiled_model_obstacle(s->compiled, TH_FORMAT_QUAT16);
    fprintf(file, "palettes: f32%s%s%s%s\n", obstacle ? "" : ", quat", small ? "" : ", quat16",
            obstacle ? "; not quat: "
            : small  ? "; not quat16: "
                     : "",
            small ? th_printable(small, note, 512) : "");

    if (model->clip_count == 0)
        fputs("\nno clip: stands in its bind pose\n", file);
    bool printed = print_list(s, add_clips, file);
    const double bound_mm = millimetres(model, th_compiled_model_bound(s->compiled));
    uint32_t compiled_count = 0;
    for (uint32_t c = 0; c < model->clip_count; c++)
        compiled_count += th_compiled_model_clip_report(s->compiled, c)->compiled;
    if (compiled_count > 0)
        fprintf(file, "  within %.3g mm, in cross-fades and masks too; a layer that adds may add %.3g mm\n", bound_mm,
                ADDED_BOUNDS * bound_mm);
    for (uint32_t c = 0; c < model->clip_count; c++)
        if ((obstacle = th_layer_add_obstacle(model, c, TH_LAYER_ADD)))
            fprintf(file, "\n%s cannot be added as a layer: joint %s starts from a scale of 0\n",
                    th_printable(model->clips[c].name, name, 256), th_printable(obstacle, note, 256));
    const th_repertoire *r = th_compiled_model_repertoire(s->compiled);
    if (r->idle != TH_NO_INDEX || r->gait_count > 0) {
        fputs("\nwith --behaviour graph\n", file);
        print_role(s, "idle", "  stands: ", file);
        print_role(s, "stand", "  also stands: ", file);
        print_role(s, "gait", "  walks: ", file);
        print_role(s, "gesture", "  gestures: ", file);
    }

    if (model->mesh_count == 0)
        fputs("\nno mesh: nothing to draw\n", file);
    printed = print_list(s, add_meshes, file) && print_list(s, add_weights, file) && printed;
    if (model->mesh_count > 0 && model->clip_count > 0)
        printed = print_list(s, add_levels, file) && printed;
    printed = print_list(s, add_textures, file) && printed;
    if (model->warning_count + s->drawn->warning_count > 0)
        fputs("\n  warnings\n", file);
    for (uint32_t n = 0; n < model->warning_count; n++)
        fprintf(file, "  - %s\n", th_printable(model->warnings[n], note, sizeof note));
    for (uint32_t n = 0; n < s->drawn->warning_count; n++)
        fprintf(file, "  - %s\n", th_printable(s->drawn->warnings[n], note, sizeof note));
    return print_list(s, add_joints, file) && printed;
}

/* ---- command ---- */

static bool write_subject(const void *result, th_form form, FILE *file)
{
    return form == TH_FORM_TEXT ? print_subject(result, file) : th_output_json(subject_json(result), 12, file);
}

int th_command_inspect(const th_options *o, th_run *run)
{
    th_model_set model_set;
    th_compiled_model *compiled = NULL;
    th_joint_lod *lod = NULL;
    node_info *nodes = NULL;
    th_error err;
    int code = TH_EXIT_GOOD;
    th_model_options models = o->models;
    models.is_listed = true;
    th_render_mesh *drawn = NULL;
    th_result result = th_model_set_init(&model_set, &models, run->tracer, &err);
    const th_model *model = result == TH_OK ? model_set.models[0] : NULL;
    if (result == TH_OK) {
        th_compiled_model_desc desc = o->crowd.compile;
        desc.model = model;
        desc.in_place = true;
        desc.parallel = th_parallel_run;
        result = th_compiled_model_create_with(&desc, &(th_compiled_more){.repertoire = true}, &compiled, &err);
    }
    if (result == TH_OK)
        result = th_joint_lod_create(model, &lod, &err);
    if (result == TH_OK)
        result = th_render_mesh_create_materials(model, &drawn, &err);
    if (result == TH_OK && !(nodes = calloc((size_t)model->joint_count + 1, sizeof *nodes)))
        result = th_fail(&err, TH_ERR_MEMORY, "no memory for %u joints", model->joint_count);
    if (result == TH_OK) {
        for (uint32_t j = 0; j < model->joint_count; j++) {
            const uint32_t parent = model->joints[j].parent; /* comes before its children */
            nodes[j].depth = parent == TH_NO_INDEX ? 0 : nodes[parent].depth + 1;
        }
        for (uint32_t b = 0; b < model->bone_count; b++)
            nodes[model->bones[b].joint].entries++;
        for (uint32_t c = 0; c < model->clip_count; c++)
            for (uint32_t i = 0; i < model->clips[c].channel_count; i++)
                nodes[model->clips[c].channels[i].joint].moves = true;
        code = th_output_write(run, &o->output, write_subject, &(subject){model, compiled, nodes, lod, drawn});
    }
    free(nodes);
    th_render_mesh_destroy(drawn);
    th_joint_lod_destroy(lod);
    th_compiled_model_destroy(compiled);
    th_model_set_fini(&model_set);
    const int failed = result == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
    return code == TH_EXIT_GOOD ? failed : code;
}
