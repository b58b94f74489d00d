/* A crowd by the slots of its characters, which are called instances here: who is active, and batches [begin, end) for
 * whoever runs them. */
#ifndef THRONG_ANIM_CROWD_H
#define THRONG_ANIM_CROWD_H

#include <throng/throng.h>

#include <anim/compiled_model.h>

/* Whom to spawn, and what it plays: at time 0 it is at phase_s. */
typedef struct th_spawn {
    uint32_t model, clip;
    double phase_s, speed;
} th_spawn;

/* What th_crowd_scatter spawns in a crowd of these models, as a list. */
void th_spawns_scatter(const th_compiled_model *const *compiled_models, uint32_t compiled_model_count, uint32_t clip,
                       uint64_t seed, th_spawn *out, uint32_t count);

/* th_crowd_create with those of a list, in slots by their order in it. Nobody may be added or removed. So
 * th_crowd_palette_bytes is that of the active instances, and not more. */
th_result th_crowd_create_with(const th_crowd_desc *desc, const th_spawn *spawns, uint32_t count, th_crowd **out,
                               th_error *err);

uint64_t th_crowd_bone_count(const th_crowd *crowd); /* bones of all instances */
th_writes th_crowd_writes(const th_crowd *crowd);    /* of the active instances; never TH_WRITES_AUTO */
uint32_t th_crowd_capacity(const th_crowd *crowd);   /* slots are below */
uint32_t th_crowd_max_layers(const th_crowd *crowd);
uint32_t th_crowd_model_count(const th_crowd *crowd);
uint64_t th_crowd_entry_count(const th_crowd *crowd);  /* palette entries of all instances: bones, and weights */
uint32_t th_crowd_batch_count(const th_crowd *crowd);  /* a batch, the unit of work, is 16 instances of one model; its
                                                          last batch has 1 to 31 */
uint32_t th_crowd_most_batches(const th_crowd *crowd); /* whoever is active */
uint32_t th_crowd_batch_of(const th_crowd *crowd, uint32_t instance); /* of an active instance */
uint32_t th_crowd_batch_instances(const th_crowd *crowd, uint32_t batch,
                                  const uint32_t **out);             /* returns how many; valid until others are active;
                                                                        TH_NO_INDEX: a shared pose */
uint32_t th_crowd_batch_cost(const th_crowd *crowd, uint32_t batch); /* relative to other batches */
size_t th_crowd_scratch_bytes(const th_crowd *crowd); /* for each concurrent caller of the functions below */
size_t th_crowd_batch_bytes(const th_crowd *crowd);   /* most bytes of the palettes of a batch */
size_t th_crowd_bytes(const th_crowd *crowd);         /* owned by the crowd, without compiled models and palettes */

/* How often somebody came, went or was made active. */
uint32_t th_crowd_changes(const th_crowd *crowd);

/* Of the character in a slot. */
uint32_t th_crowd_generation(const th_crowd *crowd, uint32_t instance);

/* The most sockets of a compiled model, and those of an instance's own one. */
uint32_t th_crowd_socket_stride(const th_crowd *crowd);
uint32_t th_crowd_socket_count(const th_crowd *crowd, uint32_t instance);

/* Sets the active instances: only these are posed from now on. No index may occur twice. The numbers of
 * bones and batches, costs, and the size of palettes above then refer to them; none of them grows. Palettes
 * are grouped by model, and within a model in the order given here. NULL: all, as in a new crowd, and after somebody
 * was added or removed; `count` is theirs. Takes some nanoseconds per active instance. Not concurrently with an
 * update. */
void th_crowd_set_active(th_crowd *crowd, const uint32_t *instances, uint32_t count);

/* th_crowd_set_active in parts, for callers who share the work among threads. First [model] how many instances will be
 * active, which takes no time for each of them. Then which: the active instances from the first-th on, in the order of
 * palettes, one model after the other. Ranges that do not overlap may run at the same time. Every active instance must
 * be set before the next update. */
void th_crowd_set_active_counts(th_crowd *crowd, const uint32_t *counts);
void th_crowd_set_active_range(th_crowd *crowd, uint32_t first, const uint32_t *instances, uint32_t count);

/* The same, posed in compiled model `model`, which has the same clips as their own. Until they are set again, what the
 * functions here say about these instances is that of this model. */
void th_crowd_set_active_in(th_crowd *crowd, uint32_t model, uint32_t first, const uint32_t *instances, uint32_t count);

/* A moment of a clip of a compiled model, for instances to share. */
typedef struct th_shared_pose {
    uint32_t model; /* index into th_crowd_desc.compiled_models */
    uint32_t clip;  /* index into the model's clips; their number: the rest pose */
    double ratio;   /* position within the clip, from 0 to 1 */
} th_shared_pose;

/* As th_crowd_set_active_range, but poses take the places of instances: they are posed the same at any time, and belong
 * to no instance (TH_NO_INDEX in th_crowd_batch_instances) until th_crowd_set_palettes_of says to which. */
void th_crowd_set_active_poses(th_crowd *crowd, uint32_t first, const th_shared_pose *poses, uint32_t count);

/* From now on palettes[k], an index among the active ones, is the palette of instances[k]: what the functions here say
 * about that instance, they say of that palette. It is of compiled model `model`. For instances that share; calls for
 * others may run at the same time. */
void th_crowd_set_palettes_of(th_crowd *crowd, uint32_t model, const uint32_t *instances, const uint32_t *palettes,
                              uint32_t count);

/* Changes how palettes are stored, for callers that learn later what kind of memory they get. The written bytes stay
 * the same. Not concurrently with an update. */
void th_crowd_set_writes(th_crowd *crowd, th_writes writes);

/* Offset of the palette of an active instance in the palette memory, in bytes. */
size_t th_crowd_palette_offset(const th_crowd *crowd, uint32_t instance);

/* Writes the palettes of batches [begin, end) at time_s.
 * palette: th_crowd_palette_bytes, aligned to 64. scratch: th_crowd_scratch_bytes, aligned to 64, one per thread. The
 * two, and poses below, do not overlap.
 * Never allocates and never fails. */
void th_crowd_pose(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, void *palette, void *scratch);

/* What instances play in a frame: counts[i] layers from layers[i * stride] on. 0: the instance's own clip. Each layer
 * is valid (layer.h). */
typedef struct th_crowd_layers {
    const th_layer *layers; /* finite ratios in [0, 1] */
    const uint8_t *counts;  /* by instance; at most TH_MAX_LAYERS */
    uint32_t stride;
} th_crowd_layers;

/* The layers that an instance has at a time, and returns how many. out: th_crowd_max_layers. */
uint32_t th_crowd_layers_at(const th_crowd *crowd, uint32_t instance, double time_s, th_layer *out);

/* th_crowd_pose with layers, which may be NULL, and sockets. Instances with the same number of layers are posed
 * together, out of several batches; the bytes depend on that as little as on threads. Poses with a clip that plays
 * exact are computed from authored keys.
 *
 * sockets: [instance][th_crowd_socket_stride][12], or NULL. Gets row-major 3x4 matrices that take the space of a
 * socket's joint to the space to which palettes lead, as many as the compiled model has in which the instance is posed.
 * Those of instances that are not posed, or share a pose, stay as they are. */
void th_crowd_pose_layers(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s,
                          const th_crowd_layers *layers, void *palette, float *sockets, void *scratch);

/* Parts of a frame, to measure what the others cost. First: a batch whose palettes go to the beginning of `palettes`,
 * of th_crowd_batch_bytes, with ordinary stores. Second: only from keys to local transforms of joints, which overwrite
 * each other in the scratch. */
void th_crowd_pose_apart(const th_crowd *crowd, uint32_t batch, double time_s, void *palettes, void *scratch);
void th_crowd_sample(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, void *scratch);

/* The memory floor: writes the same number of bytes as th_crowd_pose to the same addresses, as th_crowd_writes says,
 * instance by instance, and computes nothing. palette: as for th_crowd_pose. */
void th_crowd_fill(const th_crowd *crowd, uint32_t begin, uint32_t end, float value, void *palette);

/* A number of 128 bits. */
typedef struct th_hash128 {
    uint64_t high, low;
} th_hash128;

/* Modulo 2^128. */
th_hash128 th_hash128_add(th_hash128 a, th_hash128 b);

/* XXH3 of 128 bits over the palette of one instance, which is active or shares it, without padding, seeded with the
 * number it has in a crowd of which this one may be a part. */
th_hash128 th_crowd_instance_hash(const th_crowd *crowd, const void *palette, uint32_t instance, uint64_t number);

/* The sum of these hashes, where instance i has the number first + i: that of a whole crowd is the sum of those of its
 * parts, in any order. Of the instances as th_crowd_hash. */
th_hash128 th_crowd_sum(const th_crowd *crowd, const void *palette, uint64_t first);

#endif
