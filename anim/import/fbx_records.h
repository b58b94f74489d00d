/* An FBX file as it is stored: records with a name, values, and records inside. Read to find out what Assimp leaves
 * out (fbx_limits.c). Both encodings, version 7.0 and later; what is not understood ends the reading of the record that
 * it is in, since Assimp is the one to complain.
 *
 * All of it lives as long as the model. */
#ifndef TH_IMPORT_FBX_RECORDS_H
#define TH_IMPORT_FBX_RECORDS_H

#include "scene.h"

#define FBX_VALUES 8 /* that are kept of a record */

typedef enum fbx_type { FBX_NUMBER, FBX_TEXT, FBX_ARRAY } fbx_type;

typedef struct fbx_value {
    fbx_type type;
    char element; /* of an array: i l f d b, as the file has it; '\0': text to be read */
    double number;
    int64_t integer;  /* the same, exact, if it is a whole number; of a single letter its code */
    const char *text; /* of a text, not terminated; of an array the bytes as stored */
    size_t size;      /* of text */
    uint32_t count;   /* of an array */
    bool deflated;
} fbx_value;

typedef struct fbx_record {
    const char *name; /* not terminated */
    size_t name_size;
    uint32_t value_count; /* at most FBX_VALUES */
    fbx_value *values;
    struct fbx_record *first, *next; /* inside of it; beside it */
} fbx_record;

/* The file's records, beneath one without a name. NULL when there are none. They point into `file`. */
const fbx_record *parse_fbx_records(scene *s, const char *file, size_t size);

/* The first record of this name inside, or behind `after` in the same list when that is not NULL; else NULL. */
const fbx_record *find_fbx_record(const fbx_record *inside, const fbx_record *after, const char *name);

/* Whether value `index` is this text. */
bool is_fbx_text(const fbx_record *record, uint32_t index, const char *text);

/* Value `index` as a number, or `otherwise` when it is none. */
double fbx_number(const fbx_record *record, uint32_t index, double otherwise);

/* Value `index` as a whole number; a single letter is its code, as some versions write it. */
int64_t fbx_integer(const fbx_record *record, uint32_t index, int64_t otherwise);

/* The array that is the record's first value. NULL when there is none, or it is broken; then *out_count is 0. Exact but
 * for whole numbers beyond 2^53; times are far from that. */
const double *read_fbx_numbers(scene *s, const fbx_record *record, uint32_t *out_count);

#endif
