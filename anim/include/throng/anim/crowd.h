/* A crowd: many instances of rigs, each in its own clip at its own time. Writes bone palettes.
 *
 * No threads, no GL: "do batches [begin, end)". A crowd does not change but by th_crowd_show and th_crowd_set_writes;
 * the time is an argument.
 * So any thread may update any range, ranges may run at the same time, and the bytes written depend on nothing but the
 * crowd, the time and the instruction set.
 *
 * Palette memory is the caller's: an instance's palette is bind_count entries of the crowd's format (palette.h), and
 * starts on a 64-byte line. Nothing is read. Palettes are written in whole lines, each from front to back, the rest of
 * the last one zero. */
#ifndef THRONG_ANIM_CROWD_H
#define THRONG_ANIM_CROWD_H

#include <throng/anim/compiled_model.h>
#include <throng/anim/palette.h>

typedef enum th_isa {
    TH_ISA_AUTO = 0, /* the best that was built in and that this CPU has */
    TH_ISA_SCALAR,
    TH_ISA_SSE4, /* 4.1 */
    TH_ISA_AVX2, /* with FMA */
    TH_ISA_AVX512,
    TH_ISA_NEON, /* of 64-bit ARM, with FMA */
    TH_ISA_COUNT,
} th_isa;

/* "scalar", "sse4", "avx2", "avx512", "neon". */
const char *th_isa_name(th_isa isa);

/* Whether this CPU, this operating system and this build can run it. */
bool th_isa_available(th_isa isa);

/* What TH_ISA_AUTO stands for here. */
th_isa th_isa_best(void);

typedef struct th_instance {
    uint32_t rig;   /* index into th_crowd_desc.rigs */
    uint32_t clip;  /* index into the model's clips, TH_NO_INDEX for the rest pose */
    double phase_s; /* added to the time */
    double speed;   /* clip seconds per second; finite, may be 0 or negative */
} th_instance;

/* Deals out a crowd: rigs in turn, clips, phases over a whole clip and speeds of 0.9 to 1.1 at random. Instance i
 * depends on the seed and on i alone, so a larger crowd begins with the smaller one.
 * clip: the clip for all, where models that have fewer clips stand in the rest pose; TH_NO_INDEX for a mix of all. */
void th_instances_scatter(const th_rig *const *rigs, uint32_t rig_count, uint32_t clip, uint64_t seed, th_instance *out,
                          uint32_t count);

typedef struct th_crowd_desc {
    const th_rig *const *rigs; /* required; borrowed, must outlive the crowd */
    uint32_t rig_count;
    const th_instance *instances; /* copied */
    uint32_t instance_count;      /* 0 is fine */
    th_isa isa;
    th_palette palette;
    th_writes writes;
} th_crowd_desc;

typedef struct th_crowd th_crowd;

/* TH_ERR_MEMORY, or TH_ERR_ENVIRONMENT when this machine lacks the instruction set. */
th_result th_crowd_create(const th_crowd_desc *desc, th_crowd **out, th_error *err);
void th_crowd_destroy(th_crowd *crowd);

th_isa th_crowd_isa(const th_crowd *crowd); /* never TH_ISA_AUTO */
th_palette th_crowd_palette(const th_crowd *crowd);
th_writes th_crowd_writes(const th_crowd *crowd); /* of those shown; never TH_WRITES_AUTO */
uint32_t th_crowd_instance_count(const th_crowd *crowd);
uint64_t th_crowd_joint_count(const th_crowd *crowd); /* palette entries of all instances: the unit of "ns per joint" */
uint32_t th_crowd_batch_count(const th_crowd *crowd); /* the unit of work: 16 instances of one rig; fewer, or up to 31,
                                                         at the end of its instances */
uint32_t th_crowd_batch_of(const th_crowd *crowd, uint32_t instance); /* of one that is shown */
uint32_t th_crowd_batch_cost(const th_crowd *crowd, uint32_t batch);  /* how long it takes, compared with others */
size_t th_crowd_palette_bytes(const th_crowd *crowd);                 /* for all instances; a multiple of 64 */
size_t th_crowd_scratch_bytes(const th_crowd *crowd);                 /* for one caller of a function below at a time */
size_t th_crowd_pose_bytes(const th_crowd *crowd); /* of all instances, for th_crowd_sample; a multiple of 64 */
size_t th_crowd_bytes(const th_crowd *crowd);      /* held by the crowd itself, without rigs and palettes */

/* Poses only these instances from now on, none of them twice; counts and sizes above, none of which grow, then speak of
 * them. Palettes lie by rig, those of a rig in the order given here. NULL: all, as a new crowd does. Takes some
 * nanoseconds for each of them, and nothing for the others; not while anybody updates the crowd. */
void th_crowd_show(th_crowd *crowd, const uint32_t *instances, uint32_t count);

/* For who learns later what kind of memory palettes go to; the bytes are the same. Not while anybody updates the crowd.
 */
void th_crowd_set_writes(th_crowd *crowd, th_writes writes);

/* The palettes of a rig's instances that are shown: from `offset` on, `stride` bytes apart. */
typedef struct th_palette_run {
    size_t offset, stride;
    uint32_t count;
} th_palette_run;

th_palette_run th_crowd_palettes(const th_crowd *crowd, uint32_t rig);

/* Where the palette of an instance that is shown starts, in bytes from the start of the palettes. */
size_t th_crowd_palette_offset(const th_crowd *crowd, uint32_t instance);

/* Writes the palettes of batches [begin, end) at time_s.
 * palette: th_crowd_palette_bytes, aligned to 64; scratch: th_crowd_scratch_bytes, aligned to 64, one per thread.
 * Never allocates, never fails. */
void th_crowd_update(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, void *palette, void *scratch);

/* th_crowd_update in two halves, to see what each costs: keys to the transforms of joints relative to their parents,
 * and these to palettes, the same bytes. Slower: poses, as large as palettes and larger, go out to memory and back.
 * poses: th_crowd_pose_bytes, aligned to 64, read only by th_crowd_resolve of the same crowd and the same batches.
 * Clips that are played exact have halves, too; poses then hold double precision. */
void th_crowd_sample(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, void *poses);
void th_crowd_resolve(const th_crowd *crowd, uint32_t begin, uint32_t end, const void *poses, void *palette,
                      void *scratch);

/* Writes as many bytes as th_crowd_update to the same places, cached or streamed as that does, character by character,
 * and computes nothing: the floor that no pose evaluation can go below. */
void th_crowd_fill(const th_crowd *crowd, uint32_t begin, uint32_t end, float value, void *palette);

/* XXH3 over the palettes of all instances, which must all be shown, in order, padding left out. */
uint64_t th_crowd_hash(const th_crowd *crowd, const void *palette);

#endif
