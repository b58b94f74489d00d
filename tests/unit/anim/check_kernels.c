/* All kernels of this machine on models made up from seeds: check_kernels FILE [MODELS]. Each poses within the bound of
 * the exact pose, and writes the same bytes in any split of a crowd, batches apart, streamed and among fewer
 * others, and no byte more.
 *
 * A plain program that needs nothing but anim, so that it can be built for another machine and run in an emulator (the
 * preset arm64). FILE holds hashes of the palettes, of the kernels with fused multiply-add and of those without, of
 * matrices and of quaternions: what NEON writes is so held against what AVX2 wrote elsewhere. THRONG_GOLDEN_UPDATE=1
 * stores them anew. */
#include "fixture_crowd.h"
#include "fixture_isa.h"
#include "fixture_morph.h"
#include "fixture_nightly.h"

#include <core/cache_line.h>
#include <core/random.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of stored models: a new mode does not belong here, check_unstored has it. */
static const th_interpolation interpolations[] = {TH_INTERPOLATION_AUTHORED, TH_INTERPOLATION_STEP,
                                                  TH_INTERPOLATION_NLERP, TH_INTERPOLATION_SLERP,
                                                  TH_INTERPOLATION_CUBIC};

enum {
    MODELS = 1500, /* stored; a third of them is enough by day */
    GROUP = 100,
    MOST_GROUPS = 1000,
    WAYS = sizeof interpolations / sizeof *interpolations * TH_KEYS_COUNT
};

/* With fused multiply-add and without; 0: not computed here. */
typedef struct family_hash {
    uint64_t fused, plain;
} family_hash;

/* Of the palettes of a group of models. */
typedef struct group_hash {
    family_hash matrices, quats;
} group_hash;

static struct {
    uint32_t model;
    th_isa isa;
    double bound; /* of an instance's distance from the exact pose */
} at;             /* what is being checked */

static uint32_t compiled[WAYS]; /* clips */
static double farthest;         /* from the scalar kernel, in sizes of the model and joints */
static double farthest_quat;    /* from matrices of the same kernel, likewise */
static uint32_t rigid, small;   /* models that can have quaternion palettes, and those of 16 bytes */

static void insist(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "check_kernels: model %u, %s: %s\n", at.model, th_isa_name(at.isa), what);
    exit(1);
}

/* ---- one kernel ---- */

static void erase(crowd_fixture *s)
{
    memset(s->palette, GUARD, s->palette_bytes + 64);
}

static void expect_guard(const crowd_fixture *s)
{
    for (size_t i = 0; i < 64; i++)
        insist(s->palette[s->palette_bytes + i] == GUARD, "written past the end");
}

/* Padding and all. */
static void expect_bytes(const crowd_fixture *s, const unsigned char *want, const char *what)
{
    insist(memcmp(s->palette, want, s->palette_bytes) == 0, what);
    expect_guard(s);
}

/* The numbers of each palette from byte `begin` on are `value` up to the end of its last cache line. The rest of its
 * stride is not written; where the crowd plays exact clips, it may be 0. */
static void expect_rest(const crowd_fixture *s, size_t begin, size_t used, float value, const char *what)
{
    const size_t stride = s->count > 0 ? s->palette_bytes / s->count : 0, end = th_cache_line_round(used);
    const bool is_exact = th_compiled_model_exact_clips(s->compiled) > 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const unsigned char *palette = s->palette + th_crowd_palette_offset(s->crowd, i);
        for (size_t b = begin; b < end; b += sizeof value)
            insist(memcmp(palette + b, &value, sizeof value) == 0, what);
        for (size_t b = end; b < stride; b++)
            insist(palette[b] == GUARD || (is_exact && palette[b] == 0), "written between two palettes");
    }
    expect_guard(s);
}

static size_t used_bytes(const crowd_fixture *s)
{
    const th_model *model = th_compiled_model_source(s->compiled);
    return th_palette_entries(model->bone_count, model->weight_count) *
           th_palette_entry_bytes(th_crowd_format(s->crowd));
}

/* Backwards, in ranges of random length. */
static void check_splits(crowd_fixture *s, double time_s, const unsigned char *want)
{
    for (uint32_t way = 0; way < 3; way++) {
        erase(s);
        for (uint32_t end = th_crowd_batch_count(s->crowd); end > 0;) {
            const uint32_t begin = (uint32_t)(th_random_bits(at.model + way, end) % end);
            th_crowd_pose(s->crowd, begin, end, time_s, s->palette, s->scratch);
            end = begin;
        }
        expect_bytes(s, want, "a split changes the palettes");
    }
}

/* Each in the same memory. Its padding may be that of the batch before. */
static void check_apart(const crowd_fixture *s, double time_s, const unsigned char *want)
{
    const size_t bytes = th_crowd_batch_bytes(s->crowd), stride = s->count > 0 ? s->palette_bytes / s->count : 0;
    unsigned char *palettes = th_cache_line_alloc(bytes + 64);
    insist(palettes != NULL, "no memory");
    memset(palettes, GUARD, bytes + 64);
    for (uint32_t b = th_crowd_batch_count(s->crowd); b-- > 0;) {
        const uint32_t *instances, count = th_crowd_batch_instances(s->crowd, b, &instances);
        th_crowd_pose_apart(s->crowd, b, time_s, palettes, s->scratch);
        for (uint32_t i = 0; i < count; i++)
            insist(memcmp(palettes + i * stride, want + th_crowd_palette_offset(s->crowd, instances[i]),
                          used_bytes(s)) == 0,
                   "a batch has other palettes apart");
    }
    for (size_t i = 0; i < 64; i++)
        insist(palettes[bytes + i] == GUARD, "written behind the palettes of a batch");
    free(palettes);
}

/* Each as among all. */
static void check_fewer(const crowd_fixture *s, double time_s, const unsigned char *want)
{
    crowd_fixture few, first = *s;
    first.count = (uint32_t)(th_random_bits(at.model, 2) % (s->count + 1));
    crowd_fixture_init_twin(&few, &first, (th_crowd_desc){.isa = at.isa, .format = th_crowd_format(s->crowd)});
    crowd_fixture_update(&few, time_s);
    for (uint32_t i = 0; i < few.count; i++)
        insist(memcmp(few.palette + th_crowd_palette_offset(few.crowd, i), want + th_crowd_palette_offset(s->crowd, i),
                      used_bytes(s)) == 0,
               "a palette depends on neighbours");
    crowd_fixture_fini_twin(&few);
}

static void check_fill(crowd_fixture *s)
{
    erase(s);
    th_crowd_fill(s->crowd, 0, th_crowd_batch_count(s->crowd), 1.25F, s->palette);
    expect_rest(s, 0, used_bytes(s), 1.25F, "a number is not filled");
}

static void check_streamed(const crowd_fixture *s, double time_s, const unsigned char *want)
{
    crowd_fixture streamed;
    crowd_fixture_init_twin(
        &streamed, s,
        (th_crowd_desc){.isa = at.isa, .format = th_crowd_format(s->crowd), .writes = TH_WRITES_STREAMED});
    crowd_fixture_update(&streamed, time_s);
    expect_bytes(&streamed, want, "streamed palettes are others");
    crowd_fixture_fini_twin(&streamed);
}

/* In double precision, of all characters or, where another kernel writes nearly the same, of some. rounding: of the
 * format. */
static void check_errors(const crowd_fixture *s, double time_s, double rounding)
{
    const bool all = at.isa == TH_ISA_SCALAR && th_crowd_format(s->crowd) == TH_FORMAT_F32;
    for (uint32_t i = 0; i < s->count; i += all ? 1 : 1 + s->count / 3)
        insist(instance_error(s, i, time_s) <= at.bound + rounding, "further from the exact pose than the bound");
}

/* However they are written. */
static void check_ways(crowd_fixture *s, double time_s)
{
    unsigned char *whole = malloc(s->palette_bytes + 1);
    insist(whole != NULL, "no memory");
    memcpy(whole, s->palette, s->palette_bytes);
    expect_rest(s, used_bytes(s), used_bytes(s), 0, "what fills a cache line is not 0");
    check_streamed(s, time_s, whole);
    check_splits(s, time_s, whole);
    check_apart(s, time_s, whole);
    check_fewer(s, time_s, whole);
    check_fill(s);
    free(whole);
}

/* Against matrices of the same kernel, of time_s. rounding: of the format, in sizes of the model. Returns the hash. */
static uint64_t check_quats(const crowd_fixture *matrices, th_format format, double rounding, double time_s)
{
    const th_model *model = th_compiled_model_source(matrices->compiled);
    crowd_fixture s;
    crowd_fixture_init_twin(&s, matrices, (th_crowd_desc){.isa = at.isa, .format = format, .writes = TH_WRITES_CACHED});
    crowd_fixture_update(&s, time_s);
    const uint64_t hash = th_crowd_hash(s.crowd, s.palette);
    const double distance = fmax(0, crowd_distance(matrices, &s) / model->size - rounding) / model->joint_count;
    insist(distance <= 5e-7, "quaternions are further from matrices than rounding goes");
    farthest_quat = fmax(farthest_quat, distance);
    check_errors(&s, time_s, rounding * model->size);
    check_ways(&s, time_s);
    crowd_fixture_fini_twin(&s);
    return hash;
}

/* Half a step of 2^-20 along each axis, and half a step of 1 / 500000 of the tangent of a quarter of the angle about
 * each axis, at the shell. */
#define ROUNDING_16 (0.87 * (0x1p-20 + 4 * 2e-6 * TH_SHELL_M / TH_REFERENCE_SIZE_M))

static uint64_t check_both_quats(const crowd_fixture *matrices, double time_s)
{
    const uint64_t whole = check_quats(matrices, TH_FORMAT_QUAT, 0, time_s);
    if (th_compiled_model_obstacle(matrices->compiled, TH_FORMAT_QUAT16))
        return whole;
    small += at.isa == TH_ISA_SCALAR;
    return th_random_bits(whole, check_quats(matrices, TH_FORMAT_QUAT16, ROUNDING_16, time_s));
}

typedef struct kernel_hash {
    uint64_t matrices, quats; /* quats: 0 if the model has none */
} kernel_hash;

/* Palettes of scalar are those of time_s. */
static kernel_hash check_kernel(const crowd_fixture *scalar, double time_s)
{
    const th_model *model = th_compiled_model_source(scalar->compiled);
    crowd_fixture s;
    crowd_fixture_init_twin(&s, scalar, (th_crowd_desc){.isa = at.isa, .writes = TH_WRITES_CACHED});
    insist(th_crowd_isa(s.crowd) == at.isa, "another kernel runs");
    crowd_fixture_update(&s, time_s);
    kernel_hash hash = {.matrices = th_crowd_hash(s.crowd, s.palette)};
    const double distance = crowd_distance(scalar, &s) / (model->joint_count * model->size);
    insist(distance <= 5e-7, "further from the scalar kernel than rounding goes");
    farthest = fmax(farthest, distance);
    check_errors(&s, time_s, 0);
    if (!th_compiled_model_obstacle(s.compiled, TH_FORMAT_QUAT))
        hash.quats = check_both_quats(&s, time_s);
    check_ways(&s, time_s);
    crowd_fixture_fini_twin(&s);
    return hash;
}

/* ---- one model ---- */

/* Of the palettes that the current kernel writes. */
static void take(uint64_t hash, family_hash *out)
{
    uint64_t *const family = is_fused(at.isa) ? &out->fused : &out->plain;
    insist(*family == 0 || *family == hash, "palettes are not those of another kernel that rounds alike");
    *family = hash;
}

static void add(family_hash hash, family_hash *sum)
{
    sum->plain = th_random_bits(sum->plain, hash.plain);
    if (hash.fused != 0)
        sum->fused = th_random_bits(sum->fused, hash.fused);
}

static void check_kernels(const crowd_fixture *scalar, double time_s, group_hash *sum)
{
    family_hash matrices = {0}, quats = {0};
    for (EACH_ISA(isa)) {
        at.isa = isa;
        const kernel_hash hash = check_kernel(scalar, time_s);
        take(hash.matrices, &matrices);
        take(hash.quats, &quats);
    }
    rigid += quats.plain != 0;
    add(matrices, &sum->matrices);
    if (quats.plain != 0)
        add(quats, &sum->quats);
}

/* Small, with few keys: compiling takes most of the time, above all where a floating point unit is emulated. A few that
 * are not compiled, so that they are played exact. */
static random_desc small_variety(uint32_t n)
{
    random_desc desc = variety(n);
    desc.joint_count = 1 + n * 7 % 23;
    desc.clip_count = 1 + n / 5 % 2;
    desc.key_count = 2 + n / 2 % 4;
    desc.uneven_keys = n % 37 == 36;
    desc.splines = n % 41 == 40;
    return desc;
}

/* Returns how many are compiled. */
static uint32_t check_clips(const crowd_fixture *s)
{
    const uint32_t count = th_compiled_model_source(s->compiled)->clip_count;
    for (uint32_t c = 0; c < count; c++) {
        const th_clip_report *report = th_compiled_model_clip_report(s->compiled, c);
        insist(report->max_error <= th_compiled_model_bound(s->compiled), "a clip is compiled beyond the bound");
        insist(report->compiled == (report->reason[0] == '\0'), "a clip is exact for no reason, or is not");
    }
    return count - th_compiled_model_exact_clips(s->compiled);
}

/* The bound was measured with another rounding, and not at these times. 16-bit keys also round how far into an interval
 * a time is. */
static double spare_of(th_compiled_model_desc how)
{
    return how.keys == TH_KEYS_16 ? 1.5 : how.interpolation == TH_INTERPOLATION_AUTHORED ? 1.05 : 1.25;
}

/* spare: bounds that a character may be off by. Returns how many clips are compiled. The model is freed. */
static uint32_t check_crowd(th_model *model, th_compiled_model_desc how, uint32_t count, double spare, group_hash *sum)
{
    const double time_s = -1 + 3 * th_random_unit(at.model, 1);
    crowd_fixture scalar;
    at.isa = TH_ISA_SCALAR;
    crowd_fixture_init_with(&scalar, model, how, count, (th_crowd_desc){.isa = TH_ISA_SCALAR});
    at.bound = spare * th_compiled_model_bound(scalar.compiled) +
               1e-6 * (how.sampling == TH_SAMPLING_EXACT ? 1 : model->joint_count) * model->size;
    const uint32_t clips = check_clips(&scalar);
    crowd_fixture_update(&scalar, time_s);
    check_kernels(&scalar, time_s, sum);
    crowd_fixture_fini(&scalar);
    th_model_destroy(model);
    at.isa = TH_ISA_SCALAR;
    return clips;
}

static void check_model(uint32_t n, group_hash *sum)
{
    const random_desc desc = small_variety(n);
    const uint64_t dice = th_random_bits(n, 0);
    const uint32_t way = (uint32_t)(dice % WAYS);
    const th_compiled_model_desc how = {.interpolation = interpolations[way / TH_KEYS_COUNT],
                                        .keys = (th_keys)(way % TH_KEYS_COUNT)};
    at.model = n;
    compiled[way] += check_crowd(random_model(&desc), how, 1 + (uint32_t)(dice >> 32) % 36, spare_of(how), sum);
}

/* What those above lack: up to 60 joints and 31 keys, many batches or nobody, and by turns every interpolation there
 * is, keys that hold until the next, clips that all play exact, morph weights, and no bones. */
static void check_unstored(uint32_t n)
{
    enum { MODES, STEPS, EXACT, MORPHS, BARE, KINDS };
    static group_hash unused;
    const uint32_t kind = n % KINDS, turn = n / KINDS;
    const th_compiled_model_desc how = {
        .sampling = kind == EXACT ? TH_SAMPLING_EXACT : TH_SAMPLING_COMPILED,
        .interpolation = kind == MODES ? (th_interpolation)(turn % TH_INTERPOLATION_COUNT) : TH_INTERPOLATION_AUTHORED,
        .keys = (th_keys)(turn / TH_INTERPOLATION_COUNT % TH_KEYS_COUNT)};
    random_desc desc = variety(turn);
    if (kind == STEPS) {
        desc.splines = desc.uneven_keys = false;
        desc.steps = 1;
    }
    if (kind == BARE && turn % 2) { /* palettes of 4096 bytes, but for a line more */
        desc.joint_count = 85;
        desc.double_bones = false;
    }
    th_model *model = kind == MORPHS ? morph_model(&desc, 5 + turn % 20) : random_model(&desc);
    if (kind == BARE && turn % 2 == 0)
        model->bone_count = 0;
    at.model = MODELS + n;
    const uint32_t clips = model->clip_count, count = turn % 8 == 7 ? 0 : 7 * turn % 150;
    const bool is_exact = kind == EXACT || (kind == STEPS && how.keys == TH_KEYS_32);
    const uint32_t played = check_crowd(model, how, count, is_exact ? 0 : spare_of(how), &unused);
    insist(kind != STEPS || how.keys == TH_KEYS_16 || played == clips, "keys that hold are not compiled");
}

/* ---- numbers that no kernel rounds ---- */

/* Two joints that stand as they are bound, and turn halfway round each axis in turn: all numbers are small integers, so
 * that all kernels write the same bytes, zeros of either sign as well. */
static void check_whole_numbers(void)
{
    enum { KEYS = 4, COUNT = 21 };
    static const double times[KEYS] = {0, 1, 2, 3};
    static const float turns[KEYS][4] = {{0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    static const float up[3] = {0, 2, 0};
    th_channel channels[] = {turning_channel(0, KEYS, times, turns[0]), turning_channel(1, KEYS, times, turns[0])};
    channels[1].translation.values = up;
    const th_clip clip = clip_of(channels, 2, KEYS - 1, 1);
    th_joint joints[] = {root_joint, {"high", 0, TH_MAT34_IDENTITY, NULL}};
    th_bone bones[] = {root_bone, {1, TH_MAT34_IDENTITY}};
    joints[1].rest.m[7] = 2;
    bones[1].inverse_bind.m[7] = -2;
    th_model model = model_of(joints, bones, 2, &clip);
    model.size = 2;
    crowd_fixture scalar;
    at.isa = TH_ISA_SCALAR;
    crowd_fixture_init_with(&scalar, &model, (th_compiled_model_desc){.interpolation = TH_INTERPOLATION_STEP}, COUNT,
                            (th_crowd_desc){.isa = TH_ISA_SCALAR});
    insist(th_compiled_model_clip_report(scalar.compiled, 0)->compiled, "whole numbers are not compiled");
    crowd_fixture_update(&scalar, 0);
    for (EACH_ISA(isa)) {
        at.isa = isa;
        crowd_fixture s;
        crowd_fixture_init_twin(&s, &scalar, (th_crowd_desc){.isa = at.isa});
        crowd_fixture_update(&s, 0);
        expect_bytes(&s, scalar.palette, "whole numbers, or signs of zeros, are not those of the scalar kernel");
        crowd_fixture_fini_twin(&s);
    }
    crowd_fixture_fini(&scalar);
}

/* ---- what is stored ---- */

static FILE *open_or_exit(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (file)
        return file;
    perror(path);
    exit(1);
}

static void store(const char *path, const group_hash *sums, uint32_t count)
{
    insist(count * GROUP == MODELS && sums[0].matrices.fused != 0,
           "not stored: other models than usual, or not all hashes");
    FILE *file = open_or_exit(path, "w");
    for (uint32_t g = 0; g < count; g++)
        fprintf(file, "%u %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", g * GROUP,
                sums[g].matrices.fused, sums[g].matrices.plain, sums[g].quats.fused, sums[g].quats.plain);
    if (fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static bool agrees(family_hash now, family_hash stored)
{
    return stored.plain == now.plain && (now.fused == 0 || stored.fused == now.fused);
}

/* Beyond the usual models nothing is stored. */
static void compare(const char *path, const group_hash *sums, uint32_t count)
{
    FILE *file = open_or_exit(path, "r");
    bool same = true;
    for (uint32_t g = 0; g < count && g < MODELS / GROUP; g++) {
        uint32_t first;
        group_hash stored;
        const bool read =
            fscanf(file, "%u %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &first, &stored.matrices.fused,
                   &stored.matrices.plain, &stored.quats.fused, &stored.quats.plain) == 5;
        if (read && first == g * GROUP && agrees(sums[g].matrices, stored.matrices) &&
            agrees(sums[g].quats, stored.quats))
            continue;
        fprintf(stderr,
                "models from %u on: with fused multiply-add %016" PRIx64 ", without %016" PRIx64
                "; quaternions %016" PRIx64 ", %016" PRIx64 "\n",
                g * GROUP, sums[g].matrices.fused, sums[g].matrices.plain, sums[g].quats.fused, sums[g].quats.plain);
        same = false;
    }
    fclose(file);
    if (same)
        return;
    fprintf(stderr, "check_kernels: not the hashes of %s; if these are right: THRONG_GOLDEN_UPDATE=1\n", path);
    exit(1);
}

/* THRONG_TEST_ISA, which scripts/test sets up, must hide the kernels above it. */
static void check_limit(void)
{
    const char *limit = getenv("THRONG_TEST_ISA");
    bool above = false;
    for (int isa = TH_ISA_SCALAR; limit && isa < TH_ISA_COUNT; isa++) {
        at.isa = (th_isa)isa;
        insist(!above || !th_isa_available(at.isa), "is there in spite of THRONG_TEST_ISA");
        above |= strcmp(th_isa_name(at.isa), limit) == 0;
    }
}

int main(int argc, char **argv)
{
    static group_hash sums[MOST_GROUPS];
    const bool all = is_nightly() || getenv("THRONG_GOLDEN_UPDATE");
    const uint32_t models = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : all ? MODELS : MODELS / 3;
    if (argc < 2 || models % GROUP != 0 || models / GROUP > MOST_GROUPS) {
        fprintf(stderr, "usage: check_kernels FILE [MODELS], a multiple of %d, %d at most\n", GROUP,
                GROUP * MOST_GROUPS);
        return 2;
    }
    check_limit();
    check_whole_numbers();
    for (uint32_t n = 0; n < models; n++)
        check_model(n, &sums[n / GROUP]);
    for (uint32_t n = 0; n < models / 5; n++)
        check_unstored(n);
    if (getenv("THRONG_GOLDEN_UPDATE"))
        store(argv[1], sums, models / GROUP);
    compare(argv[1], sums, models / GROUP);
    printf("%u models on", models);
    for (EACH_ISA(isa))
        printf(" %s", th_isa_name(isa));
    printf(", at most %.2g of the size and joints away from scalar; %u with quaternions (%u of 16 bytes), at most %.2g "
           "away from matrices; clips compiled:",
           farthest, rigid, small, farthest_quat);
    if (models >= MODELS / 3 && (rigid < 300 || small < 200)) {
        fprintf(stderr, "check_kernels: hardly any models have quaternions\n");
        return 1;
    }
    for (uint32_t way = 0; way < WAYS; way++) {
        printf(" %u", compiled[way]);
        if (models >= MODELS / 3 && compiled[way] < 50) {
            fprintf(stderr, "check_kernels: hardly any clips are compiled that way\n");
            return 1;
        }
    }
    printf("\n");
    return 0;
}
