/* throng pose: prints every joint's matrix and palette entry, and the weights of morph targets, at one time. */
#include "cli/layer_text.h"
#include <cli/options.h>

#include <core/json.h>
#include <core/table.h>
#include <runtime/parallel.h>
#include <throng/anim/exact.h>
#include <throng/core/cache_line.h>
#include <throng/render/gl.h>
#include <throng/render/gpu_evaluator.h>
#include <throng/runtime/frame.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pose {
    const th_options *options;
    const th_model *model;
    const th_clip *clip; /* NULL: the rest pose */
    double ticks;
    th_layer_list layers;    /* that are blended, if any, instead of the clip */
    const char *isa;         /* NULL with exact sampling and on the GPU, which use no kernel */
    char renderer[128];      /* "": not on the GPU */
    const char *gpu_mapping; /* NULL: not on the GPU */
    double difference;       /* of the GPU's palette from the scalar kernel's, the largest of a number */
    th_dmat34 *joints;       /* scene_from_joint at the time, double precision */
    th_dmat34 *rest;         /* the same in the rest pose */
    th_dmat34 *palette;      /* [bone] */
    double *weights;
} pose;

/* ---- evaluating ---- */

static bool is_on_gpu(const th_options *o)
{
    return o->pose.evaluator == TH_EVALUATOR_GPU;
}

/* The GPU has no other keys. */
static bool is_compiled(const th_options *o)
{
    return o->crowd.compile.sampling == TH_SAMPLING_COMPILED || is_on_gpu(o);
}

static th_result pose_init(pose *p, const th_options *o, const th_model *model, uint32_t clip, th_error *err)
{
    const bool plays = o->pose.layers.count == 0 && clip < model->clip_count;
    *p = (pose){.options = o, .model = model, .clip = plays ? &model->clips[clip] : NULL};
    size_t joints = model->joint_count;
    p->joints = calloc(2 * joints + model->bone_count, sizeof *p->joints);
    p->weights = calloc((size_t)model->weight_count + 1, sizeof *p->weights);
    if (!p->joints || !p->weights)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a pose of %zu joints", joints);
    p->rest = p->joints + joints;
    p->palette = p->rest + joints;
    p->ticks = p->clip ? th_clip_ticks(p->clip, o->pose.time_s) : 0;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, p->rest);
    const th_result result =
        th_layer_list_init(model, o->pose.layers.paths, o->pose.layers.count, o->pose.time_s, &p->layers, err);
    if (result != TH_OK)
        return result;
    const th_layer_list *l = &p->layers;
    if (l->count > 0) {
        th_exact_layers(model, l->layers, l->count, l->masks, o->crowd.compile.interpolation, p->joints, p->weights);
        th_exact_resolve(model, p->joints, p->joints);
    } else {
        th_exact_pose(model, p->clip, p->ticks, o->crowd.compile.interpolation, p->joints);
        th_exact_weights(model, p->clip, p->ticks, o->crowd.compile.interpolation, p->weights);
    }
    th_exact_palette(model, p->joints, p->palette);
    return TH_OK;
}

/* Reads an entry of a palette: of a bone, or of the weights behind them. */
static th_mat34 read_entry(const pose *p, const char *palette, uint32_t entry)
{
    const th_palette format = p->options->crowd.palette;
    const bool is_bone = entry < p->model->bone_count;
    const th_palette_base base = is_bone ? th_model_palette_base(p->model, entry) : (th_palette_base){0};
    th_mat34 out;
    th_palette_read(format, palette + entry * th_palette_entry_bytes(format), is_bone ? &base : NULL, out.m);
    return out;
}

/* Takes over what a crowd of one character was posed to. */
static void read_palette(pose *p, const char *palette)
{
    for (uint32_t b = 0; b < p->model->bone_count; b++)
        p->palette[b] = th_dmat34_from(read_entry(p, palette, b));
    for (uint32_t w = 0; w < p->model->weight_count; w++)
        p->weights[w] = (double)read_entry(p, palette, p->model->bone_count + w / 12).m[w % 12];
}

/* Poses a crowd of one character with the kernels of bench and scale. */
static th_result pose_by_kernel(pose *p, const th_crowd *crowd, void *palette, th_error *err)
{
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd));
    if (!scratch)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the scratch of one thread");
    const uint8_t count = (uint8_t)p->layers.count;
    const th_crowd_layers layers = {p->layers.layers, &count, TH_MAX_LAYERS};
    th_crowd_update_layers(crowd, 0, th_crowd_batch_count(crowd), p->options->pose.time_s, &layers, palette, scratch);
    free(scratch);
    return TH_OK;
}

/* Other drivers than llvmpipe may round otherwise. */
static th_result compare_with_kernel(pose *p, const th_crowd *crowd, const void *palette, th_error *err)
{
    void *of_kernel;
    th_result result = th_palette_create(crowd, &of_kernel, err);
    if (result == TH_OK)
        result = pose_by_kernel(p, crowd, of_kernel, err);
    for (uint32_t e = 0; result == TH_OK && e < p->model->bone_count + (p->model->weight_count + 11) / 12; e++) {
        const th_mat34 a = read_entry(p, palette, e), b = read_entry(p, of_kernel, e);
        for (int i = 0; i < 12; i++)
            p->difference = fmax(p->difference, fabs((double)a.m[i] - (double)b.m[i]));
    }
    free(of_kernel);
    return result;
}

/* The same with the shader. */
static th_result pose_by_gpu(pose *p, const th_compiled_model *compiled, const th_crowd *crowd, void *palette,
                             th_error *err)
{
    th_gl *gl;
    th_gpu_evaluator *evaluator = NULL;
    const th_gl_desc gl_desc = {.want = TH_GL_HEADLESS};
    th_result result = th_crowd_check_device(crowd, NULL, err);
    if (result == TH_OK)
        result = th_gl_create(&gl_desc, &gl, err);
    if (result != TH_OK)
        return result;
    const th_gpu_evaluator_desc desc = {
        .gl = gl,
        .compiled_models = &compiled,
        .compiled_model_count = 1,
        .palette = p->options->crowd.palette,
    };
    result = th_gpu_evaluator_create(&desc, &evaluator, err);
    if (result == TH_OK) {
        p->gpu_mapping = th_gpu_mapping_name(th_gpu_evaluator_choice(evaluator).mapping);
        result = th_gpu_evaluator_read(evaluator, crowd, p->options->pose.time_s, palette, err);
    }
    if (result == TH_OK)
        result = compare_with_kernel(p, crowd, palette, err);
    snprintf(p->renderer, sizeof p->renderer, "%s", th_gl_get_info(gl)->renderer);
    th_gpu_evaluator_destroy(evaluator);
    th_gl_destroy(gl);
    return result;
}

static th_result evaluate_crowd(pose *p, const th_compiled_model *compiled, const th_crowd *crowd, th_error *err)
{
    void *palette = NULL;
    th_result result = th_palette_create(crowd, &palette, err);
    if (result == TH_OK)
        result = is_on_gpu(p->options) ? pose_by_gpu(p, compiled, crowd, palette, err)
                                       : pose_by_kernel(p, crowd, palette, err);
    if (result == TH_OK)
        read_palette(p, palette);
    if (!is_on_gpu(p->options))
        p->isa = th_isa_name(th_crowd_isa(crowd));
    if (p->difference > 0)
        th_complain("%s rounds otherwise than the scalar kernel: numbers of the palette differ by at most %.2g",
                    p->renderer, p->difference);
    free(palette);
    return result;
}

static th_result evaluate_compiled(pose *p, th_error *err)
{
    th_compiled_model *compiled;
    th_crowd *crowd = NULL;
    th_compiled_model_desc compiled_desc = p->options->crowd.compile;
    compiled_desc.model = p->model;
    compiled_desc.masks = p->layers.masks;
    compiled_desc.mask_count = p->layers.mask_count;
    compiled_desc.parallel = th_parallel_run;
    compiled_desc.sampling = TH_SAMPLING_COMPILED;
    th_result result = th_compiled_model_create(&compiled_desc, &compiled, err);
    if (result != TH_OK)
        return result;
    th_instance instance = {.clip = p->clip ? (uint32_t)(p->clip - p->model->clips) : TH_NO_INDEX, .speed = 1};
    th_crowd_desc crowd_desc = {
        .compiled_models = (const th_compiled_model *const[]){compiled},
        .compiled_model_count = 1,
        .instances = &instance,
        .instance_count = 1,
        .isa = is_on_gpu(p->options) ? TH_ISA_SCALAR : p->options->crowd.isa, /* the shader is its twin */
        .palette = p->options->crowd.palette,
    };
    result = th_crowd_create(&crowd_desc, &crowd, err);
    if (result == TH_OK)
        result = evaluate_crowd(p, compiled, crowd, err);
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
    return result;
}

/* ---- JSON ---- */

static json_t *matrix_json(const th_dmat34 *matrix)
{
    return th_json_reals(matrix->m, 12);
}

/* A joint without a bone. Its palette entry would be its motion from the rest pose. */
static json_t *unbound_json(const pose *p, uint32_t joint)
{
    th_dmat34 inverse;
    if (!th_dmat34_invert(&p->rest[joint], &inverse))
        return json_null();
    th_dmat34 moved = th_dmat34_mul(p->joints[joint], inverse);
    return matrix_json(&moved);
}

/* bone: the joint's first palette entry, or the next joint's if it has none. */
static json_t *joint_json(const pose *p, uint32_t joint, uint32_t bone)
{
    const th_model *model = p->model;
    uint32_t end = bone, parent = model->joints[joint].parent;
    while (end < model->bone_count && model->bones[end].joint == joint)
        end++;
    json_t *json = json_pack("{s:o, s:i, s:o, s:o, s:o}", "name", th_json_text(model->joints[joint].name), "parent",
                             parent == TH_NO_INDEX ? -1 : (int)parent, "model", matrix_json(&p->joints[joint]),
                             "palette", bone < end ? matrix_json(&p->palette[bone]) : unbound_json(p, joint), "entry",
                             bone < end ? th_json_count(bone) : json_null());
    if (end - bone < 2)
        return json;
    json_t *more = json_array();
    for (uint32_t b = bone + 1; b < end; b++)
        more = th_json_append(more, json_pack("{s:i, s:o}", "entry", (int)b, "palette", matrix_json(&p->palette[b])));
    return th_json_merge(json, json_pack("{s:o}", "more_palettes", more));
}

static json_t *weights_json(const pose *p)
{
    json_t *weights = json_array();
    for (uint32_t w = 0; w < p->model->weight_count; w++) {
        const th_weight *weight = &p->model->weights[w];
        weights = th_json_append(weights, json_pack("{s:o, s:o, s:o}", "node",
                                                    th_json_text(p->model->joints[weight->joint].name), "target",
                                                    th_json_text(weight->name), "value", th_json_real(p->weights[w])));
    }
    return weights;
}

/* NULL: it has none. */
static const char *mask_name(const pose *p, const th_layer *layer)
{
    return layer->mask == TH_NO_MASK ? NULL : p->layers.masks[layer->mask].name;
}

static json_t *layers_json(const pose *p)
{
    json_t *layers = json_array();
    for (uint32_t k = 0; k < p->layers.count; k++) {
        const th_layer *l = &p->layers.layers[k];
        layers = th_json_append(
            layers,
            json_pack("{s:o, s:o, s:o, s:s, s:o}", "clip", th_json_text(p->model->clips[l->clip].name), "time_s",
                      th_json_real(p->layers.times_s[k]), "weight", th_json_real((double)l->weight), "mode",
                      th_layer_mode_name((th_layer_mode)l->mode), "mask", th_json_text(mask_name(p, l))));
    }
    return layers;
}

static json_t *pose_json(const pose *p)
{
    json_t *joints = json_array();
    uint32_t bone = 0; /* bones are sorted by joint */
    for (uint32_t j = 0; j < p->model->joint_count; j++) {
        joints = th_json_append(joints, joint_json(p, j, bone));
        while (bone < p->model->bone_count && p->model->bones[bone].joint == j)
            bone++;
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "model",
                     th_json_text(p->model->name), "clip", th_json_text(p->clip ? p->clip->name : NULL), "layers",
                     layers_json(p), "time_s", th_json_real(p->options->pose.time_s), "ticks", th_json_real(p->ticks),
                     "sampling", is_compiled(p->options) ? "compiled" : "exact", "interpolation",
                     th_interpolation_name(p->options->crowd.compile.interpolation), "model_sampling", "exact",
                     "evaluator", th_evaluator_name(p->options->pose.evaluator), "gpu_mapping",
                     th_json_text(p->gpu_mapping), "isa", th_json_text(p->isa), "joints", joints, "weights",
                     weights_json(p));
}

/* ---- text ---- */

static bool print_weights(const pose *p, FILE *file)
{
    if (p->model->weight_count == 0)
        return true;
    fputc('\n', file);
    th_table *table = th_table_create(">#|<node|<morph target|>weight");
    for (uint32_t w = 0; w < p->model->weight_count; w++) {
        const th_weight *weight = &p->model->weights[w];
        th_table_cell(table, "%u", w);
        th_table_cell(table, "%s", p->model->joints[weight->joint].name);
        th_table_cell(table, "%s", weight->name);
        th_table_cell(table, "%.4f", p->weights[w]);
    }
    const bool printed = th_table_print(table, file);
    th_table_destroy(table);
    return printed;
}

/* "walk 0.7 at 0 s, run 0.3 at 0.5 s, wave add 1 at 0 s below Spine" */
static void print_layers(const pose *p, FILE *file)
{
    char name[256];
    for (uint32_t k = 0; k < p->layers.count; k++) {
        const th_layer *l = &p->layers.layers[k];
        fprintf(file, "%s%s ", k > 0 ? ", " : "", th_printable(p->model->clips[l->clip].name, name, sizeof name));
        if (l->mode != TH_LAYER_OVERRIDE)
            fprintf(file, "%s ", th_layer_mode_name((th_layer_mode)l->mode));
        fprintf(file, "%g at %g s", (double)l->weight, p->layers.times_s[k]);
        if (mask_name(p, l))
            fprintf(file, " from %s on", th_printable(mask_name(p, l), name, sizeof name));
    }
}

static bool print_pose(const pose *p, FILE *file)
{
    char name[256], clip[256];
    fprintf(file, "%s, ", th_printable(p->model->name, name, sizeof name));
    if (p->layers.count > 0)
        print_layers(p, file);
    else
        fprintf(file, "%s at %g s", p->clip ? th_printable(p->clip->name, clip, sizeof clip) : "rest pose",
                p->options->pose.time_s);
    if (p->clip)
        fprintf(file, " (tick %g of %g)", p->ticks, p->clip->duration_ticks);
    if (is_compiled(p->options))
        fprintf(file, ", compiled, %s", p->isa ? p->isa : p->renderer);
    else
        fputs(", exact", file);
    if (p->options->crowd.compile.interpolation != TH_INTERPOLATION_AUTHORED)
        fprintf(file, ", %s", th_interpolation_name(p->options->crowd.compile.interpolation));
    fputs("\n\n", file);
    th_table *table = th_table_create(">#|<joint|>parent|>x|>y|>z|>entry|>palette x|>y|>z");
    uint32_t bone = 0;
    for (uint32_t j = 0; j < p->model->joint_count; j++) {
        const th_joint *joint = &p->model->joints[j];
        bool bound = bone < p->model->bone_count && p->model->bones[bone].joint == j;
        th_table_cell(table, "%u", j);
        th_table_cell(table, "%s", joint->name);
        th_table_cell(table, joint->parent == TH_NO_INDEX ? "-" : "%u", joint->parent);
        for (int i = 3; i < 12; i += 4)
            th_table_cell(table, "%.4f", p->joints[j].m[i]);
        th_table_cell(table, bound ? "%u" : "-", bone);
        for (int i = 3; i < 12; i += 4)
            th_table_cell(table, bound ? "%.4f" : "-", bound ? p->palette[bone].m[i] : 0);
        while (bone < p->model->bone_count && p->model->bones[bone].joint == j)
            bone++;
    }
    bool printed = th_table_print(table, file);
    th_table_destroy(table);
    return printed && print_weights(p, file);
}

/* ---- command ---- */

static bool write_pose(const void *result, th_form form, FILE *file)
{
    return form == TH_FORM_TEXT ? print_pose(result, file) : th_output_json(pose_json(result), 17, file);
}

static int show_pose(const th_options *o, th_run *run, const th_model *model, uint32_t clip)
{
    th_error err;
    pose p;
    if (model->clip_count == 0)
        th_complain("%s has no clip: this is its rest pose", model->name);
    th_result result = pose_init(&p, o, model, clip, &err);
    if (result == TH_OK && is_compiled(o))
        result = evaluate_compiled(&p, &err);
    const int code = result == TH_OK ? th_output_write(run, &o->output, write_pose, &p) : th_fail_with(&err);
    th_layer_list_fini(&p.layers);
    free(p.joints);
    free(p.weights);
    return code;
}

/* Returns what is wrong with the options; NULL: nothing. */
static const char *find_conflict(const th_options *o, const th_run *run)
{
    const char *clip = o->models.clip;
    if (clip && strcmp(clip, "all") == 0)
        return "pose shows one clip at a time: --clip NAME";
    if (clip && o->pose.layers.count > 0)
        return "pose shows --clip or --layer, not both";
    if (!is_on_gpu(o))
        return NULL;
    if (o->pose.layers.count > 0)
        return "--evaluator gpu blends no layers: leave out --layer, or take --evaluator cpu";
    if (th_run_has_option(run, "isa"))
        return "--evaluator gpu runs no kernel: leave out --isa";
    if (th_run_has_option(run, "sampling") && o->crowd.compile.sampling == TH_SAMPLING_EXACT)
        return "--evaluator gpu has compiled keys only: leave out --sampling exact, or take --evaluator cpu";
    return NULL;
}

int th_command_pose(const th_options *o, th_run *run)
{
    static const char *const of_kernels[] = {"isa", "palette", "keys"};
    const char *clip = o->models.clip, *conflict = find_conflict(o, run);
    if (conflict) {
        th_complain("%s", conflict);
        return TH_EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof of_kernels / sizeof *of_kernels; i++)
        if (!is_compiled(o) && th_run_has_option(run, of_kernels[i]))
            th_complain("--%s makes no difference to exact sampling; --sampling compiled runs the kernel",
                        of_kernels[i]);
    th_model_set model_set;
    th_error err;
    const th_result result = th_model_set_init(&model_set, &o->models, run->tracer, &err);
    const int code =
        result == TH_OK ? show_pose(o, run, model_set.models[0], clip ? model_set.clips[0] : 0) : th_fail_with(&err);
    th_model_set_fini(&model_set);
    return code;
}
