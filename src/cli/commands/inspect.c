/* throng inspect: lists a model's contents and compiles its clips. */
#include <cli/options.h>

#include <core/json.h>
#include <core/table.h>
#include <runtime/parallel.h>
#include <throng/anim/joint_lod.h>
#include <throng/anim/layer.h>
#include <throng/anim/palette.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A joint's position in the skeleton and in the palette. */
typedef struct node_info {
    uint32_t depth, entries;
    bool moves; /* in some clip */
} node_info;

/* Input of both the text and the JSON output. */
typedef struct subject {
    const th_model *model;
    const th_compiled_model *compiled;
    node_info *nodes; /* [joint] */
    const th_joint_lod *lod;
} subject;

static size_t palette_bytes(const th_model *model)
{
    return th_palette_stride(TH_PALETTE_F32,
                             th_palette_entries(model->bone_count, model->weight_count)); /* as in a crowd */
}

static double seconds(const th_clip *clip)
{
    return clip->duration_ticks / clip->ticks_per_second;
}

typedef struct counts {
    uint64_t keys, splines; /* of all tracks */
} counts;

static void count_track(counts *sum, const th_track *track)
{
    sum->keys += track->key_count;
    sum->splines += track->tangents != NULL;
}

static counts count_tracks(const th_clip *clip)
{
    counts sum = {0};
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        const th_channel *channel = &clip->channels[c];
        count_track(&sum, &channel->translation);
        count_track(&sum, &channel->rotation);
        count_track(&sum, &channel->scale);
    }
    for (uint32_t t = 0; t < clip->weight_track_count; t++)
        count_track(&sum, &clip->weight_tracks[t].track);
    return sum;
}

/* Scene units to millimetres on a human of 1.8 m. */
static double millimetres(const th_model *model, double length)
{
    return length * TH_REFERENCE_SIZE_M / model->size * 1000;
}

/* NULL when out of memory. */
static node_info *create_nodes(const th_model *model)
{
    node_info *nodes = calloc((size_t)model->joint_count + 1, sizeof *nodes);
    for (uint32_t j = 0; nodes && j < model->joint_count; j++) {
        uint32_t parent = model->joints[j].parent; /* comes before its children */
        nodes[j].depth = parent == TH_NO_INDEX ? 0 : nodes[parent].depth + 1;
    }
    for (uint32_t b = 0; nodes && b < model->bone_count; b++)
        nodes[model->bones[b].joint].entries++;
    for (uint32_t c = 0; nodes && c < model->clip_count; c++)
        for (uint32_t i = 0; i < model->clips[c].channel_count; i++)
            nodes[model->clips[c].channels[i].joint].moves = true;
    return nodes;
}

/* Whether the level of joints does not repeat the one before. */
static bool is_distinct(const subject *s, uint32_t level)
{
    return level == 0 || s->lod->levels[level].model != s->lod->levels[level - 1].model;
}

static bool newly_held(const subject *s, uint32_t level, uint32_t joint)
{
    const th_joint_level *l = &s->lod->levels[level];
    return l->held[joint] && (s->nodes[joint].moves || s->nodes[joint].entries > 0) &&
           !(level > 0 && l[-1].held[joint]);
}

static const char *texture_state(const th_texture *texture)
{
    if (!texture->bytes)
        return "missing";
    return texture->name[0] == '*' ? "embedded" : "file";
}

/* ---- JSON ---- */

static json_t *joints_json(const subject *s)
{
    const th_model *model = s->model;
    json_t *array = json_array();
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const th_joint *joint = &model->joints[j];
        int parent = joint->parent == TH_NO_INDEX ? -1 : (int)joint->parent;
        array = th_json_append(array, json_pack("{s:o, s:i, s:i}", "name", th_json_text(joint->name), "parent", parent,
                                                "bones", (int)s->nodes[j].entries));
    }
    return array;
}

static json_t *compiled_json(const subject *s, const th_clip_report *report)
{
    if (!report->compiled)
        return json_pack("{s:b, s:s}", "compiled", 0, "reason", report->reason);
    return json_pack(
        "{s:b, s:n, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "compiled", 1, "reason", "rate_hz",
        th_json_real(report->rate_hz), "stretches", (int)report->stretch_count, "frames",
        th_json_count(report->frame_count), "bytes", th_json_count(report->bytes), "authored_bytes",
        th_json_count(report->raw_bytes), "compression",
        th_json_real((double)report->raw_bytes / (double)report->bytes), "max_error", th_json_real(report->max_error),
        "max_error_mm", th_json_real(millimetres(s->model, report->max_error)), "error_joint",
        th_json_text(s->model->joints[report->error_joint].name), "error_time_s", th_json_real(report->error_time_s));
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

static json_t *clips_json(const subject *s)
{
    json_t *array = json_array();
    for (uint32_t c = 0; c < s->model->clip_count; c++) {
        const th_clip *clip = &s->model->clips[c];
        const counts sum = count_tracks(clip);
        double speed;
        const char *role = role_of(s, c, &speed);
        json_t *json = json_pack(
            "{s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "name", th_json_text(clip->name), "duration_s",
            th_json_real(seconds(clip)), "duration_ticks", th_json_real(clip->duration_ticks), "ticks_per_second",
            th_json_real(clip->ticks_per_second), "channels", (int)clip->channel_count, "weights",
            (int)clip->weight_track_count, "keys", th_json_count(sum.keys), "splines", th_json_count(sum.splines),
            "add_obstacle", th_json_text(th_layer_add_obstacle(s->model, c, TH_LAYER_ADD)), "behaviour",
            th_json_text(role), "speed", th_json_real(speed));
        array =
            th_json_append(array, th_json_merge(json, compiled_json(s, th_compiled_model_clip_report(s->compiled, c))));
    }
    return array;
}

static json_t *meshes_json(const th_model *model)
{
    json_t *array = json_array();
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        const th_material *material = &model->materials[mesh->material];
        array = th_json_append(
            array, json_pack("{s:o, s:i, s:i, s:i, s:o, s:s, s:b}", "name", th_json_text(mesh->name), "vertices",
                             (int)mesh->vertex_count, "triangles", (int)(mesh->index_count / 3), "targets",
                             (int)mesh->target_count, "material", th_json_text(material->name), "alpha",
                             th_alpha_name(material->alpha), "double_sided", material->double_sided));
    }
    return array;
}

static json_t *weights_json(const th_model *model)
{
    json_t *array = json_array();
    for (uint32_t w = 0; w < model->weight_count; w++) {
        const th_weight *weight = &model->weights[w];
        array = th_json_append(
            array, json_pack("{s:o, s:o, s:o}", "node", th_json_text(model->joints[weight->joint].name), "target",
                             th_json_text(weight->name), "rest", th_json_real((double)weight->rest)));
    }
    return array;
}

/* Names of the joints that a level holds and the one before does not. */
static json_t *held_json(const subject *s, uint32_t level)
{
    json_t *array = json_array();
    for (uint32_t j = 0; j < s->model->joint_count; j++)
        if (newly_held(s, level, j))
            array = th_json_append(array, th_json_text(s->model->joints[j].name));
    return array;
}

static json_t *levels_json(const subject *s)
{
    json_t *array = json_array();
    for (uint32_t l = 0; l < TH_LOD_LEVELS; l++) {
        const th_joint_level *level = &s->lod->levels[l];
        const bool moves = level->error_clip != TH_NO_INDEX;
        if (!is_distinct(s, l))
            continue;
        array = th_json_append(
            array, json_pack("{s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "level", (int)l, "moving_joints",
                             (int)level->moving_count, "bones", (int)level->model->bone_count, "bytes_per_character",
                             th_json_count(palette_bytes(level->model)), "error_limit",
                             th_json_real(th_lod_limit(l) * s->model->size), "error", th_json_real(level->error),
                             "error_mm", th_json_real(millimetres(s->model, level->error)), "clip",
                             moves ? th_json_text(s->model->clips[level->error_clip].name) : json_null(), "time_s",
                             moves ? th_json_real(level->error_time_s) : json_null(), "held", held_json(s, l)));
    }
    return array;
}

static json_t *textures_json(const th_model *model)
{
    json_t *array = json_array();
    for (uint32_t t = 0; t < model->texture_count; t++) {
        const th_texture *texture = &model->textures[t];
        array = th_json_append(array, json_pack("{s:o, s:s, s:o}", "name", th_json_text(texture->name), "state",
                                                texture_state(texture), "bytes", th_json_count(texture->byte_count)));
    }
    return array;
}

static json_t *warnings_json(const th_model *model)
{
    json_t *array = json_array();
    for (uint32_t n = 0; n < model->warning_count; n++)
        array = th_json_append(array, th_json_text(model->warnings[n]));
    return array;
}

static json_t *subject_json(const subject *s)
{
    const th_model *model = s->model;
    const char *obstacle = th_compiled_model_obstacle(s->compiled, TH_PALETTE_QUAT);
    return json_pack(
        "{s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
        th_json_text(model->name), "size", th_json_real(model->size), "joint_count", (int)model->joint_count, "bones",
        (int)model->bone_count, "bytes_per_character", th_json_count(palette_bytes(model)), "bytes_per_clip",
        th_json_real(th_compiled_model_bytes_per_clip(s->compiled)), "quat_obstacle", th_json_text(obstacle),
        "quat16_obstacle", th_json_text(th_compiled_model_obstacle(s->compiled, TH_PALETTE_QUAT16)), "compiled_bytes",
        th_json_count(th_compiled_model_bytes(s->compiled)), "error_bound_mm",
        th_json_real(millimetres(model, th_compiled_model_bound(s->compiled))), "clips", clips_json(s), "meshes",
        meshes_json(model), "weights", weights_json(model), "joint_levels", levels_json(s), "textures",
        textures_json(model), "warnings", warnings_json(model), "joints", joints_json(s));
}

/* ---- text ---- */

static bool print_table(th_table *table, FILE *file)
{
    fputc('\n', file);
    bool printed = th_table_print(table, file);
    th_table_destroy(table);
    return printed;
}

static void add_clip(th_table *table, const subject *s, uint32_t index)
{
    const th_clip *clip = &s->model->clips[index];
    const th_clip_report *report = th_compiled_model_clip_report(s->compiled, index);
    const counts sum = count_tracks(clip);
    th_table_cell(table, "%s", clip->name);
    th_table_cell(table, "%.2f", seconds(clip));
    th_table_cell(table, "%g", clip->ticks_per_second);
    th_table_cell(table, "%u", clip->channel_count);
    th_table_cell(table, "%u", clip->weight_track_count);
    th_table_cell(table, "%s", th_digits_from(sum.keys).text);
    th_table_cell(table, "%s", th_digits_from(sum.splines).text);
    if (!report->compiled) {
        for (int i = 0; i < 5; i++)
            th_table_cell(table, "-");
        th_table_cell(table, "exact: %s", report->reason);
        return;
    }
    th_table_cell(table, "%.4g", report->rate_hz);
    th_table_cell(table, "%u", report->stretch_count);
    th_table_cell(table, "%u", report->frame_count);
    th_table_cell(table, "%s", th_digits_from(report->bytes).text);
    if (report->raw_bytes > 0)
        th_table_cell(table, "%.0f %%", 100 * (double)report->bytes / (double)report->raw_bytes);
    else
        th_table_cell(table, "-");
    th_table_cell(table, "%.4f mm (%.3g units), %s at %.2f s", millimetres(s->model, report->max_error),
                  report->max_error, s->model->joints[report->error_joint].name, report->error_time_s);
}

static bool print_add_obstacles(const th_model *model, FILE *file)
{
    char clip[256], joint[256];
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const char *obstacle = th_layer_add_obstacle(model, c, TH_LAYER_ADD);
        if (obstacle)
            fprintf(file, "\n%s cannot be added as a layer: joint %s starts from a scale of 0\n",
                    th_printable(model->clips[c].name, clip, sizeof clip), th_printable(obstacle, joint, sizeof joint));
    }
    return !ferror(file);
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

static bool print_behaviour(const subject *s, FILE *file)
{
    const th_repertoire *r = th_compiled_model_repertoire(s->compiled);
    if (r->idle == TH_NO_INDEX && r->gait_count == 0)
        return !ferror(file);
    fputs("\nwith --behaviour graph\n", file);
    print_role(s, "idle", "  stands: ", file);
    print_role(s, "stand", "  also stands: ", file);
    print_role(s, "gait", "  walks: ", file);
    print_role(s, "gesture", "  gestures: ", file);
    return !ferror(file);
}

static bool print_clips(const subject *s, FILE *file)
{
    if (s->model->clip_count == 0) {
        fputs("\nno clip: stands in its bind pose\n", file);
        return true;
    }
    th_table *table =
        th_table_create("<clip|>seconds|>ticks/s|>channels|>weights|>keys|>splines|>Hz|>stretches|>frames|>bytes|>of "
                        "authored|<worst error");
    for (uint32_t c = 0; c < s->model->clip_count; c++)
        add_clip(table, s, c);
    return print_table(table, file) && print_add_obstacles(s->model, file) && print_behaviour(s, file);
}

static bool print_meshes(const th_model *model, FILE *file)
{
    if (model->mesh_count == 0) {
        fputs("\nno mesh: nothing to draw\n", file);
        return true;
    }
    th_table *table = th_table_create("<mesh|>vertices|>triangles|>targets|<material|<alpha|<sides");
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh *mesh = &model->meshes[m];
        const th_material *material = &model->materials[mesh->material];
        th_table_cell(table, "%s", mesh->name);
        th_table_cell(table, "%s", th_digits_from(mesh->vertex_count).text);
        th_table_cell(table, "%s", th_digits_from(mesh->index_count / 3).text);
        th_table_cell(table, "%u", mesh->target_count);
        th_table_cell(table, "%s", material->name);
        th_table_cell(table, "%s", th_alpha_name(material->alpha));
        th_table_cell(table, "%s", material->double_sided ? "both" : "front");
    }
    return print_table(table, file);
}

static bool print_weights(const th_model *model, FILE *file)
{
    if (model->weight_count == 0)
        return true;
    th_table *table = th_table_create(">#|<node|<morph target|>rest");
    for (uint32_t w = 0; w < model->weight_count; w++) {
        const th_weight *weight = &model->weights[w];
        th_table_cell(table, "%u", w);
        th_table_cell(table, "%s", model->joints[weight->joint].name);
        th_table_cell(table, "%s", weight->name);
        th_table_cell(table, "%g", (double)weight->rest);
    }
    return print_table(table, file);
}

enum { NAMES = 6 }; /* in a row */

static void add_held(th_table *table, const subject *s, uint32_t level)
{
    char names[512] = "", name[64];
    uint32_t count = 0;
    for (uint32_t j = 0; j < s->model->joint_count; j++)
        if (newly_held(s, level, j) && count++ < NAMES)
            th_append(names, sizeof names, "%s%s", names[0] ? ", " : "",
                      th_printable(s->model->joints[j].name, name, sizeof name));
    if (count > NAMES)
        th_append(names, sizeof names, " and %u more", count - NAMES);
    th_table_cell(table, "%s", count > 0 ? names : "-");
}

static bool print_levels(const subject *s, FILE *file)
{
    if (s->model->mesh_count == 0 || s->model->clip_count == 0)
        return !ferror(file);
    th_table *table =
        th_table_create(">joint level|>joints that move|>bones|>of all|>bytes a character|>error|<holds still");
    for (uint32_t l = 0; l < TH_LOD_LEVELS; l++) {
        const th_joint_level *level = &s->lod->levels[l];
        if (!is_distinct(s, l))
            continue;
        th_table_cell(table, "%u", l);
        th_table_cell(table, "%u", level->moving_count);
        th_table_cell(table, "%u", level->model->bone_count);
        th_table_cell(table, "%.0f %%", 100.0 * level->model->bone_count / s->model->bone_count);
        th_table_cell(table, "%s", th_digits_from(palette_bytes(level->model)).text);
        th_table_cell(table, "%.2f mm (%.3g units)", millimetres(s->model, level->error), level->error);
        add_held(table, s, l);
    }
    return print_table(table, file);
}

static bool print_textures(const th_model *model, FILE *file)
{
    if (model->texture_count == 0)
        return true;
    th_table *table = th_table_create("<texture|<state|>bytes");
    for (uint32_t t = 0; t < model->texture_count; t++) {
        th_table_cell(table, "%s", model->textures[t].name);
        th_table_cell(table, "%s", texture_state(&model->textures[t]));
        th_table_cell(table, "%s", th_digits_from(model->textures[t].byte_count).text);
    }
    return print_table(table, file);
}

static void print_notes(const th_model *model, FILE *file)
{
    char note[1024];
    if (model->warning_count > 0)
        fputs("\n  warnings\n", file);
    for (uint32_t n = 0; n < model->warning_count; n++)
        fprintf(file, "  - %s\n", th_printable(model->warnings[n], note, sizeof note));
}

static bool print_joints(const subject *s, FILE *file)
{
    th_table *table = th_table_create(">#|<joint|>bones");
    for (uint32_t j = 0; j < s->model->joint_count; j++) {
        uint32_t entries = s->nodes[j].entries, depth = s->nodes[j].depth;
        th_table_cell(table, "%u", j);
        th_table_cell(table, "%*s%s", 2 * (depth < 40 ? (int)depth : 40), "", s->model->joints[j].name);
        th_table_cell(table, entries ? "%u" : "-", entries);
    }
    return print_table(table, file);
}

static bool print_subject(const subject *s, FILE *file)
{
    const th_model *model = s->model;
    const double clip_bytes = th_compiled_model_bytes_per_clip(s->compiled);
    char name[256], note[512], a_clip[64] = "";
    if (clip_bytes > 0)
        snprintf(a_clip, sizeof a_clip, ", %s a clip", th_digits_from((uint64_t)clip_bytes).text);
    fprintf(file, "%s: %u joint%s, %u bone%s, %s bytes a character%s; %.4g unit%s in size\n",
            th_printable(model->name, name, sizeof name), model->joint_count, th_plural(model->joint_count),
            model->bone_count, th_plural(model->bone_count), th_digits_from(palette_bytes(model)).text, a_clip,
            model->size, model->size == 1 ? "" : "s");
    const char *obstacle = th_compiled_model_obstacle(s->compiled, TH_PALETTE_QUAT);
    const char *small = th_compiled_model_obstacle(s->compiled, TH_PALETTE_QUAT16);
    fprintf(file, "palettes: f32%s%s%s%s\n", obstacle ? "" : ", quat", small ? "" : ", quat16",
            obstacle ? "; not quat: "
            : small  ? "; not quat16: "
                     : "",
            small ? th_printable(small, note, sizeof note) : "");
    bool printed = print_clips(s, file) && print_meshes(model, file) && print_weights(model, file) &&
                   print_levels(s, file) && print_textures(model, file);
    print_notes(model, file);
    return printed && print_joints(s, file);
}

/* ---- command ---- */

static bool write_subject(const void *result, th_form form, FILE *file)
{
    return form == TH_FORM_TEXT ? print_subject(result, file) : th_output_json(subject_json(result), 12, file);
}

static th_result inspect_model(const th_options *o, th_run *run, const th_model *model, int *out_code, th_error *err)
{
    th_compiled_model *compiled;
    th_compiled_model_desc desc = o->crowd.compile;
    desc.model = model;
    desc.repertoire = desc.in_place = true;
    desc.parallel = th_parallel_run;
    th_result result = th_compiled_model_create(&desc, &compiled, err);
    if (result != TH_OK)
        return result;
    th_joint_lod *lod = NULL;
    subject s = {model, compiled, create_nodes(model), NULL};
    result = th_joint_lod_create(model, &lod, err);
    s.lod = lod;
    if (result == TH_OK && s.nodes)
        *out_code = th_output_write(run, &o->output, write_subject, &s);
    else if (result == TH_OK)
        result = th_fail(err, TH_ERR_MEMORY, "no memory for %u joints", model->joint_count);
    free(s.nodes);
    th_joint_lod_destroy(lod);
    th_compiled_model_destroy(compiled);
    return result;
}

int th_command_inspect(const th_options *o, th_run *run)
{
    th_model_set model_set;
    th_error err;
    int code = TH_EXIT_GOOD;
    th_result result = th_model_set_init(&model_set, &o->models, run->tracer, &err);
    if (result == TH_OK)
        result = inspect_model(o, run, model_set.models[0], &code, &err);
    th_model_set_fini(&model_set);
    const int failed = result == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
    return code == TH_EXIT_GOOD ? failed : code;
}
