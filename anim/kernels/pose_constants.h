/* Numbers that the kernels and the shaders of shaders/pose.glsl share, so that both compute the same bits. C and GLSL:
 * nothing but defines. Private to anim and to the embedded shaders. */
#ifndef TH_ANIM_KERNELS_POSE_CONSTANTS_H
#define TH_ANIM_KERNELS_POSE_CONSTANTS_H

/* Flags of ops; pose.h says what they mean. */
#define TH_OP_ROTATION    1u
#define TH_OP_SCALE       2u
#define TH_OP_TRANSLATION 4u
#define TH_OP_OFFSET      8u
#define TH_OP_PIVOT       16u
#define TH_OP_WEIGHTS     32u
#define TH_OP_NEAR        64u

#define TH_SHARES 32768 /* of two frames together; a power of two, so that a frame alone is exact */

/* Slerp without a sine (pose_body.h): polynomials in u and in the square of an angle. */
#define TH_SLERP_ANGLE                                                                                                 \
    2.00000054F, 0.333281933F, 0.089671648F, 0.0241791118F, 0.0215496053F, -0.0104504602F, 0.00916799137F
#define TH_SLERP_SINE 1.0F, -0.16666658F, 0.00833305062F, -0.000198090464F, 2.60516628e-6F

/* 1 / sqrt(d) where d is about 1: (SQUARE d + LINEAR) d + CONSTANT. */
#define TH_UNIT_SQUARE   0.375F
#define TH_UNIT_LINEAR   -1.25F
#define TH_UNIT_CONSTANT 1.875F

#define TH_ROUNDING 12582912.0F /* 3 * 2^22: added to a number of less than 2^22, it rounds it to a whole one */

/* Words of a program on a device (device_program.c). First a header: */
#define TH_DEVICE_OP_COUNT    0u
#define TH_DEVICE_FRAME_KEYS  1u /* keys of a frame */
#define TH_DEVICE_ENTRY_COUNT 2u
#define TH_DEVICE_PRODUCTS    3u /* where they begin, */
#define TH_DEVICE_RANGES      4u /* and these */
#define TH_DEVICE_OUTPUTS     5u
#define TH_DEVICE_PLACE_STEPS 6u /* th_quat_program.steps */
#define TH_DEVICE_LEVEL_COUNT 7u
#define TH_DEVICE_LEVELS      8u
#define TH_DEVICE_RESULTS     9u
#define TH_DEVICE_HEADER      10u

/* Then ops, */
#define TH_DEVICE_FLAGS           0u
#define TH_DEVICE_PARENT_SLOT     1u
#define TH_DEVICE_SLOT            2u /* that keeps its M for its children */
#define TH_DEVICE_KEY             3u /* as a number of keys from the beginning of a frame; quat: of the rotation */
#define TH_DEVICE_OUTPUT          4u /* its range in outputs: the palette entries that are its M */
#define TH_DEVICE_OUTPUT_COUNT    5u
#define TH_DEVICE_PRODUCT         6u
#define TH_DEVICE_PRODUCT_COUNT   7u
#define TH_DEVICE_LOCAL           8u  /* 12 numbers, */
#define TH_DEVICE_OFFSET          20u /* 3; or in the quaternion form: */
#define TH_DEVICE_ROTATION        8u  /* 4, */
#define TH_DEVICE_STEP            12u /* 3 */
#define TH_DEVICE_PARENT_SCALE    15u
#define TH_DEVICE_SCALE           16u
#define TH_DEVICE_TRANSLATION_KEY 17u
#define TH_DEVICE_PARENT          23u /* an op; 0 without one */
#define TH_DEVICE_OP_WORDS        24u

#define TH_DEVICE_NO_SLOT 0xffffffffu

/* products: the range in outputs, then 12 numbers, or rotation, step and scale, */
#define TH_DEVICE_PRODUCT_OUTPUT       0u
#define TH_DEVICE_PRODUCT_OUTPUT_COUNT 1u
#define TH_DEVICE_PRODUCT_OP           2u /* whose M it is of */
#define TH_DEVICE_PRODUCT_NUMBERS      4u
#define TH_DEVICE_PRODUCT_WORDS        16u

/* ranges of 16-bit keys: base, span and share_span, 4 numbers each, */
#define TH_DEVICE_RANGE_WORDS 12u

/* outputs: entries, sorted by the result that they are; levels: for each depth in the hierarchy the word where its ops
 * are listed, and where the last level ends; those lists; and results, by entry: M of an op, or a product, counted on
 * from the ops. */

#endif
