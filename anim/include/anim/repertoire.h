/* The repertoire of a model: which of its clips stand, walk and gesture, as its motion shows. */
#ifndef THRONG_ANIM_REPERTOIRE_H
#define THRONG_ANIM_REPERTOIRE_H

#include <anim/model.h>
#include <throng/throng.h>

/* A clip that walks in place (TH_ROOT_MOTION_IN_PLACE) and ends as it begins. */
typedef struct th_gait {
    uint32_t clip;
    double speed; /* over the ground, scene units per clip second */
} th_gait;

/* A clip that stands and moves the legs, such as a dance. */
typedef struct th_stand {
    uint32_t clip;
    bool loops; /* ends as it begins; others are played once */
} th_stand;

/* A clip that stands and moves only a part of the body, such as an arm that waves. */
typedef struct th_gesture {
    uint32_t clip;
    uint32_t moved, others; /* masks: 1 for the joints that it moves and those below, and the opposite */
} th_gesture;

typedef struct th_repertoire {
    uint32_t idle;  /* the clip that stands and has the shortest name with idle or stand in it, else the one that moves
                       least; TH_NO_INDEX if none stands */
    th_gait *gaits; /* from slow to fast; all in the direction of the slowest, within 45 degrees */
    th_stand *stands;
    th_gesture *gestures;
    th_mask *masks; /* of the gestures */
    uint32_t gait_count, stand_count, gesture_count, mask_count;
    double heading_rad; /* of the gaits, as in th_root_motion */
} th_repertoire;

/* Clips that carry the model away (TH_ROOT_MOTION_BAKED) belong to nothing; see th_compiled_model_desc.in_place. Poses
 * the model about a thousand times. The only error is TH_ERR_MEMORY. The caller frees *out with th_repertoire_destroy.
 */
th_result th_repertoire_create(const th_model *model, th_interpolation interpolation, th_repertoire **out,
                               th_error *err);
void th_repertoire_destroy(th_repertoire *repertoire);                              /* NULL is allowed */
size_t th_repertoire_bytes(const th_repertoire *repertoire, const th_model *model); /* NULL: 0 */

#endif
