/* throng pose: prints every joint's matrix and palette entry, and the weights of morph targets, at one time. */
#include <cli/options.h>

#include <anim/clip_choice.h>
#include <anim/exact.h>
#include <bench/figures.h>
#include <core/cache_line.h>
#include <core/suggest.h>
#include <render/gl.h>
#include <render/gpu_evaluator.h>
#include <runtime/frame.h>
#include <runtime/parallel.h>
#include <throng/throng.h>

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- layers: --layer CLIP[,KEY=VALUE]... ---- */

/* Up to TH_MAX_LAYERS layers and their masks. A mask has the name of its first joint. */
typedef struct layer_list {
    th_layer layers[TH_MAX_LAYERS];
    double times_s[TH_MAX_LAYERS];
    th_mask masks[TH_MAX_LAYERS];
    uint32_t count, mask_count;
} layer_list;

/* What the keys say, apart from the clip. */
typedef struct wishes {
    double weight, time_s;
    th_layer_mode mode;
    const char *joint;
} wishes;

static const char *const modes[] = {"override", "add", "add-rest", NULL};
_Static_assert(sizeof modes / sizeof *modes == TH_LAYER_MODE_COUNT + 1, "a name for each mode");

#define PREFIX    "--layer "
#define AT(field) offsetof(wishes, field)

static const th_option keys[] = {
    {.name = "weight", .prefix = PREFIX, .parse = th_parse_real, .offset = AT(weight), .low = 0, .high = 1},
    {.name = "time", .prefix = PREFIX, .parse = th_parse_real, .offset = AT(time_s), .low = -1e9, .high = 1e9},
    {.name = "mode", .prefix = PREFIX, .parse = th_parse_choice, .offset = AT(mode), .choices = modes},
    {.name = "mask", .prefix = PREFIX, .parse = th_parse_text, .offset = AT(joint), .argument = "a joint's name"},
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

/* time_s: of a layer that names no time. On failure err names the layer, the key and what it takes. */
static th_result read_layer(const th_model *model, const char *text, double time_s, layer_list *out, th_error *err)
{
    char words[512], *next;
    wishes w = {.weight = 1, .time_s = time_s};
    if (snprintf(words, sizeof words, "%s", text) >= (int)sizeof words)
        return th_fail(err, TH_ERR_USAGE, PREFIX "CLIP,KEY=VALUE,... longer than %zu letters", sizeof words - 1);
    if ((next = strchr(words, ',')))
        *next++ = '\0';
    const uint32_t clip = th_clip_find(model, words);
    if (clip == TH_NO_INDEX)
        return th_clip_not_found(words, (th_model *const[]){(th_model *)model}, 1, err);
    for (char *item = next; item; item = next) { /* "weight=0.5" */
        if ((next = strchr(item, ',')))
            *next++ = '\0';
        char *equals = strchr(item, '=');
        if (!equals)
            return th_fail(err, TH_ERR_USAGE, PREFIX "takes CLIP,KEY=VALUE,..., not \"%s\" after the clip", item);
        *equals = '\0';
        th_suggestion s = {.typed = item};
        int k = 0;
        for (; k < KEY_COUNT && strcmp(keys[k].name, item) != 0; k++)
            th_suggestion_consider(&s, keys[k].name);
        if (k == KEY_COUNT && s.best)
            return th_fail(err, TH_ERR_USAGE, PREFIX "has no key \"%s\"; did you mean %s?", item, s.best);
        if (k == KEY_COUNT)
            return th_fail(err, TH_ERR_USAGE, PREFIX "has no key \"%s\": its keys are weight, time, mode and mask",
                           item);
        th_error why; /* the parsers do not know that they read an option of a command */
        if (keys[k].parse(&keys[k], equals + 1, (char *)&w + keys[k].offset, &why) != TH_OK)
            return th_fail(err, TH_ERR_USAGE, "%s", why.text);
    }

    const th_clip *c = &model->clips[clip];
    const char *obstacle = w.mode == TH_LAYER_OVERRIDE ? NULL : th_layer_add_obstacle(model, clip, w.mode);
    if (obstacle)
        return th_fail(err, TH_ERR_INPUT, PREFIX "%s cannot be added: it starts from a scale of 0 at joint %s", c->name,
                       obstacle);
    const double ticks = th_clip_ticks(c, w.time_s);
    th_layer *layer = &out->layers[out->count];
    out->times_s[out->count++] = w.time_s;
    *layer = (th_layer){.ratio = c->duration_ticks > 0 ? ticks / c->duration_ticks : 0,
                        .weight = (float)w.weight,
                        .clip = (uint16_t)clip,
                        .mode = (uint8_t)w.mode,
                        .mask = TH_NO_MASK};
    if (!w.joint)
        return TH_OK;
    const uint32_t joint = th_model_find_joint(model, w.joint);
    if (joint == TH_NO_INDEX)
        return th_fail(err, TH_ERR_USAGE, PREFIX "mask: no joint \"%s\"; `throng inspect` lists a model's joints",
                       w.joint);
    float *weights = calloc(model->joint_count, sizeof *weights);
    if (!weights)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a mask of %u joints", model->joint_count);
    th_mask_from_joint(model, joint, weights);
    layer->mask = (uint8_t)out->mask_count;
    out->masks[out->mask_count++] = (th_mask){model->joints[joint].name, weights};
    return TH_OK;
}

/* ---- evaluating ---- */

typedef struct pose {
    const th_options *options;
    const th_model *model;
    const th_clip *clip; /* NULL: the rest pose */
    double ticks;
    layer_list layers;       /* that are blended, if any, instead of the clip */
    const char *isa;         /* NULL with exact sampling and on the GPU, which use no kernel */
    char renderer[128];      /* "": not on the GPU */
    const char *gpu_mapping; /* NULL: not on the GPU */
    double difference;       /* of the GPU's palette from the scalar kernel's, the largest of a number */
    th_dmat34 *joints;       /* scene_from_joint at the time, double precision */
    th_dmat34 *rest;         /* the same in the rest pose */
    th_dmat34 *palette;      /* [bone] */
    double *weights;
} pose;

static bool is_on_gpu(const th_options *o)
{
    return o->pose.evaluator == TH_EVALUATOR_GPU;
}

/* The GPU has no other keys. */
static bool is_compiled(const th_options *o)
{
    return o->crowd.compile.sampling == TH_SAMPLING_COMPILED || is_on_gpu(o);
}

/* Reads an entry of a palette: of a bone, or of the weights behind them. */
static th_mat34 read_entry(const pose *p, const char *palette, uint32_t entry)
{
    const th_format format = p->options->crowd.palette;
    const bool is_bone = entry < p->model->bone_count;
    const th_palette_base base = is_bone ? th_model_palette_base(p->model, entry) : (th_palette_base){0};
    th_mat34 out;
    th_palette_read(format, palette + entry * th_palette_entry_bytes(format), is_bone ? &base : NULL, out.m);
    return out;
}

/* Poses a crowd of one character with the kernels of bench and scale. */
static th_result pose_by_kernel(pose *p, const th_crowd *crowd, void *palette, th_error *err)
{
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd));
    if (!scratch)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the scratch of one thread");
    const uint8_t count = (uint8_t)p->layers.count;
    const th_crowd_layers layers = {p->layers.layers, &count, TH_MAX_LAYERS};
    th_crowd_pose_layers(crowd, 0, th_crowd_batch_count(crowd), p->options->pose.time_s, &layers, palette, NULL,
                         scratch);
    free(scratch);
    return TH_OK;
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
    void *of_kernel = NULL; /* other drivers than llvmpipe may round otherwise */
    if (result == TH_OK)
        result = th_palettes_create(crowd, &of_kernel, err);
    if (result == TH_OK)
        result = pose_by_kernel(p, crowd, of_kernel, err);
    for (uint32_t e = 0; result == TH_OK && e < p->model->bone_count + (p->model->weight_count + 11) / 12; e++) {
        const th_mat34 a = read_entry(p, palette, e), b = read_entry(p, of_kernel, e);
        for (int i = 0; i < 12; i++)
            p->difference = fmax(p->difference, fabs((double)a.m[i] - (double)b.m[i]));
    }
    th_palettes_destroy(of_kernel);
    snprintf(p->renderer, sizeof p->renderer, "%s", th_gl_get_info(gl)->renderer);
    th_gpu_evaluator_destroy(evaluator);
    th_gl_destroy(gl);
    return result;
}

/* Poses a crowd of one character as bench and scale do, and takes over what its palette holds. */
static th_result evaluate_compiled(pose *p, th_error *err)
{
    const th_options *o = p->options;
    th_compiled_model *compiled = NULL;
    th_crowd *crowd = NULL;
    void *palette = NULL;
    th_compiled_model_desc compiled_desc = o->crowd.compile;
    compiled_desc.model = p->model;
    compiled_desc.masks = p->layers.masks;
    compiled_desc.mask_count = p->layers.mask_count;
    compiled_desc.parallel = th_parallel_run;
    compiled_desc.sampling = TH_SAMPLING_COMPILED;
    th_result result = th_compiled_model_create(&compiled_desc, &compiled, err);
    const th_spawn spawn = {.clip = p->clip ? (uint32_t)(p->clip - p->model->clips) : TH_NO_INDEX, .speed = 1};
    th_crowd_desc crowd_desc = {
        .compiled_models = (const th_compiled_model *const[]){compiled},
        .compiled_model_count = 1,
        .isa = is_on_gpu(o) ? TH_ISA_SCALAR : o->crowd.isa, /* the shader is its twin */
        .format = o->crowd.palette,
    };
    if (result == TH_OK)
        result = th_crowd_create_with(&crowd_desc, &spawn, 1, &crowd, err);
    if (result == TH_OK)
        result = th_palettes_create(crowd, &palette, err);
    if (result == TH_OK)
        result = is_on_gpu(o) ? pose_by_gpu(p, compiled, crowd, palette, err) : pose_by_kernel(p, crowd, palette, err);
    if (result == TH_OK) {
        for (uint32_t b = 0; b < p->model->bone_count; b++)
            p->palette[b] = th_dmat34_from(read_entry(p, palette, b));
        for (uint32_t w = 0; w < p->model->weight_count; w++)
            p->weights[w] = (double)read_entry(p, palette, p->model->bone_count + w / 12).m[w % 12];
        if (!is_on_gpu(o))
            p->isa = th_isa_name(th_crowd_isa(crowd));
        if (p->difference > 0)
            th_complain("%s rounds otherwise than the scalar kernel: numbers of the palette differ by at most %.2g",
                        p->renderer, p->difference);
    }
    th_palettes_destroy(palette);
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
    return result;
}

/* ---- what it shows, as JSON and as text ---- */

static void add_joints(const pose *p, th_sheet *sheet)
{
    const th_model *model = p->model;
    uint32_t bone = 0; /* bones are sorted by joint, which may have none or several */
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const uint32_t first = bone;
        while (bone < model->bone_count && model->bones[bone].joint == j)
            bone++;
        const bool is_bound = bone > first;
        const th_dmat34 *at = &p->joints[j], *entry = &p->palette[is_bound ? first : 0];
        json_t *matrix = NULL, *palette = NULL, *more = NULL;
        if (!sheet->is_table) {
            /* The entry of a joint without a bone would be its motion from the rest pose. */
            th_dmat34 moved, inverse;
            const bool is_known = is_bound || th_dmat34_invert(&p->rest[j], &inverse);
            if (!is_bound && is_known)
                moved = th_dmat34_mul(*at, inverse);
            matrix = th_json_reals(at->m, 12);
            palette = is_known ? th_json_reals((is_bound ? entry : &moved)->m, 12) : json_null();
            more = json_array();
            for (uint32_t b = first + 1; b < bone; b++)
                more = th_json_append(
                    more, json_pack("{s:i, s:o}", "entry", (int)b, "palette", th_json_reals(p->palette[b].m, 12)));
        }
        const th_figure figures[] = {
            TH_COLUMN(">#", TH_COUNT(j)),
            TH_FIGURE("name", "<joint", TH_TEXT(model->joints[j].name)),
            TH_FIGURE("parent", ">parent", TH_INDEX(model->joints[j].parent)),
            TH_FIELD("model", TH_JSON(matrix)),
            TH_COLUMN(">x", TH_REAL(at->m[3], "%.4f")),
            TH_COLUMN(">y", TH_REAL(at->m[7], "%.4f")),
            TH_COLUMN(">z", TH_REAL(at->m[11], "%.4f")),
            TH_FIELD("palette", TH_JSON(palette)),
            TH_FIGURE("entry", ">entry", TH_IF_KNOWN(is_bound, TH_COUNT(first))),
            TH_COLUMN(">palette x", TH_IF_KNOWN(is_bound, TH_REAL(entry->m[3], "%.4f"))),
            TH_COLUMN(">y", TH_IF_KNOWN(is_bound, TH_REAL(entry->m[7], "%.4f"))),
            TH_COLUMN(">z", TH_IF_KNOWN(is_bound, TH_REAL(entry->m[11], "%.4f"))),
            TH_FIELD("more_palettes", TH_IF_GIVEN(bone > first + 1, TH_JSON(more))),
        };
        TH_SHEET_ADD(sheet, figures);
        json_decref(matrix);
        json_decref(palette);
        json_decref(more);
    }
}

static void add_weights(const pose *p, th_sheet *sheet)
{
    for (uint32_t w = 0; w < p->model->weight_count; w++) {
        const th_weight *weight = &p->model->weights[w];
        const th_figure figures[] = {
            TH_COLUMN(">#", TH_COUNT(w)),
            TH_FIGURE("node", "<node", TH_TEXT(p->model->joints[weight->joint].name)),
            TH_FIGURE("target", "<morph target", TH_TEXT(weight->name)),
            TH_FIGURE("value", ">weight", TH_REAL(p->weights[w], "%.4f")),
        };
        TH_SHEET_ADD(sheet, figures);
    }
}

/* NULL: it has none. */
static const char *mask_name(const pose *p, const th_layer *layer)
{
    return layer->mask == TH_NO_MASK ? NULL : p->layers.masks[layer->mask].name;
}

static json_t *pose_json(const pose *p)
{
    th_sheet joints = th_sheet_json(0), weights = th_sheet_json(0), layers = th_sheet_json(0);
    for (uint32_t k = 0; k < p->layers.count; k++) {
        const th_layer *l = &p->layers.layers[k];
        const th_figure figures[] = {
            TH_FIELD("clip", TH_TEXT(p->model->clips[l->clip].name)),
            TH_FIELD("time_s", TH_NUMBER(p->layers.times_s[k])),
            TH_FIELD("weight", TH_NUMBER((double)l->weight)),
            TH_FIELD("mode", TH_TEXT(th_layer_mode_name((th_layer_mode)l->mode))),
            TH_FIELD("mask", TH_TEXT(mask_name(p, l))),
        };
        TH_SHEET_ADD(&layers, figures);
    }
    add_joints(p, &joints);
    add_weights(p, &weights);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "model",
                     th_json_text(p->model->name), "clip", th_json_text(p->clip ? p->clip->name : NULL), "layers",
                     layers.objects, "time_s", th_json_real(p->options->pose.time_s), "ticks", th_json_real(p->ticks),
                     "sampling", is_compiled(p->options) ? "compiled" : "exact", "interpolation",
                     th_interpolation_name(p->options->crowd.compile.interpolation), "model_sampling", "exact",
                     "evaluator", th_evaluator_name(p->options->pose.evaluator), "gpu_mapping",
                     th_json_text(p->gpu_mapping), "isa", th_json_text(p->isa), "joints", joints.objects, "weights",
                     weights.objects);
}

/* "walk 0.7 at 0 s, run 0.3 at 0.5 s, wave add 1 at 0 s from Spine on" are layers. */
static bool write_pose(const void *result, th_form form, FILE *file)
{
    const pose *p = result;
    if (form != TH_FORM_TEXT)
        return th_output_json(pose_json(p), 17, file);
    char name[256];
    fprintf(file, "%s, ", th_printable(p->model->name, name, sizeof name));
    for (uint32_t k = 0; k < p->layers.count; k++) {
        const th_layer *l = &p->layers.layers[k];
        fprintf(file, "%s%s ", k > 0 ? ", " : "", th_printable(p->model->clips[l->clip].name, name, sizeof name));
        if (l->mode != TH_LAYER_OVERRIDE)
            fprintf(file, "%s ", th_layer_mode_name((th_layer_mode)l->mode));
        fprintf(file, "%g at %g s", (double)l->weight, p->layers.times_s[k]);
        if (mask_name(p, l))
            fprintf(file, " from %s on", th_printable(mask_name(p, l), name, sizeof name));
    }
    if (p->layers.count == 0)
        fprintf(file, "%s at %g s", p->clip ? th_printable(p->clip->name, name, sizeof name) : "rest pose",
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
    th_sheet joints = th_sheet_table(0), weights = th_sheet_table(0);
    add_joints(p, &joints);
    add_weights(p, &weights);
    const bool is_written = th_sheet_write(&joints, TH_OUTPUT_TEXT, file);
    if (weights.count > 0)
        fputc('\n', file);
    return th_sheet_write(&weights, TH_OUTPUT_TEXT, file) && is_written;
}

/* ---- command ---- */

static int show_pose(const th_options *o, th_run *run, const th_model *model, uint32_t clip)
{
    const uint32_t layer_count = o->pose.layers.count;
    const th_interpolation how = o->crowd.compile.interpolation;
    const size_t joints = model->joint_count;
    th_error err;
    pose p = {.options = o,
              .model = model,
              .clip = layer_count == 0 && clip < model->clip_count ? &model->clips[clip] : NULL};
    layer_list *l = &p.layers;
    if (model->clip_count == 0)
        th_complain("%s has no clip: this is its rest pose", model->name);
    p.joints = calloc(2 * joints + model->bone_count, sizeof *p.joints);
    p.weights = calloc((size_t)model->weight_count + 1, sizeof *p.weights);
    th_result result = TH_OK;
    if (!p.joints || !p.weights)
        result = th_fail(&err, TH_ERR_MEMORY, "no memory for a pose of %zu joints", joints);
    else if (layer_count > TH_MAX_LAYERS)
        result = th_fail(&err, TH_ERR_USAGE, PREFIX "can be given %u times", TH_MAX_LAYERS);
    for (uint32_t i = 0; i < layer_count && result == TH_OK; i++)
        result = read_layer(model, o->pose.layers.paths[i], o->pose.time_s, l, &err);
    if (result == TH_OK) {
        p.rest = p.joints + joints;
        p.palette = p.rest + joints;
        p.ticks = p.clip ? th_clip_ticks(p.clip, o->pose.time_s) : 0;
        th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, p.rest);
        if (layer_count > 0) {
            th_exact_layers(model, l->layers, l->count, l->masks, l->mask_count, how, p.joints, p.weights);
            th_exact_resolve(model, p.joints, p.joints);
        } else {
            th_exact_pose(model, p.clip, p.ticks, how, p.joints);
            th_exact_weights(model, p.clip, p.ticks, how, p.weights);
        }
        th_exact_palette(model, p.joints, p.palette);
    }
    if (result == TH_OK && is_compiled(o))
        result = evaluate_compiled(&p, &err);
    const int code = result == TH_OK ? th_output_write(run, &o->output, write_pose, &p) : th_fail_with(&err);
    for (uint32_t i = 0; i < l->mask_count; i++)
        free((float *)l->masks[i].weights);
    free(p.joints);
    free(p.weights);
    return code;
}

int th_command_pose(const th_options *o, th_run *run)
{
    static const char *const of_kernels[] = {"isa", "palette", "keys"};
    const char *clip = o->models.clip;
    const uint32_t layers = o->pose.layers.count;
    const bool is_exact = o->crowd.compile.sampling == TH_SAMPLING_EXACT;
    if (clip && strcmp(clip, "all") == 0)
        return th_refuse("pose shows one clip at a time: --clip NAME");
    if (clip && layers > 0)
        return th_refuse("pose shows --clip or --layer, not both");
    if (is_on_gpu(o) && layers > 0)
        return th_refuse("--evaluator gpu blends no layers: leave out --layer, or take --evaluator cpu");
    if (is_on_gpu(o) && th_run_has_option(run, "isa"))
        return th_refuse("--evaluator gpu runs no kernel: leave out --isa");
    if (is_on_gpu(o) && is_exact && th_run_has_option(run, "sampling"))
        return th_refuse("--evaluator gpu has compiled keys only: leave out --sampling exact, or take --evaluator cpu");
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
