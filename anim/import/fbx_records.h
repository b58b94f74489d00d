/* An FBX file as stored: records with a name, values and nested records. Both encodings, version 7.0 and later. Content
 * that is not understood ends the record it is in; reporting errors is left to Assimp.
 *
 * All records live as long as the model. */
#ifndef TH_IMPORT_FBX_RECORDS_H
#define TH_IMPORT_FBX_RECORDS_H

#include "scene.h"

#define FBX_VALUES 8 /* values kept per record */

typedef enum fbx_type { FBX_NUMBER, FBX_TEXT, FBX_ARRAY } fbx_type;

typedef struct fbx_value {
    fbx_type type;
    char element; /* element type of an array as stored: i l f d b; '\0': text, not parsed yet */
    double number;
    int64_t integer;  /* the same value, exact, if it is a whole number; the code of a single letter */
    const char *text; /* text: not terminated; array: the bytes as stored */
    size_t size;      /* of text */
    uint32_t count;   /* of an array */
    bool deflated;
} fbx_value;

typedef struct fbx_record {
    const char *name; /* not terminated */
    size_t name_size;
    uint32_t value_count; /* at most FBX_VALUES */
    fbx_value *values;
    struct fbx_record *first, *next; /* first: of the nested records; next: in the same list */
} fbx_record;

/* Parses the file. Returns a nameless record that holds the top-level records, or NULL if there are none. They point
 * into s->bytes. */
const fbx_record *parse_fbx_records(scene *s);

/* Returns the first record of this name inside `inside`; if `after` is not NULL, the first one behind it in the same
 * list. NULL if there is none. */
const fbx_record *find_fbx_record(const fbx_record *inside, const fbx_record *after, const char *name);

/* Whether value `index` is this text. */
bool is_fbx_text(const fbx_record *record, uint32_t index, const char *text);

/* Value `index` as a number, or `otherwise` if it is not one. */
double fbx_number(const fbx_record *record, uint32_t index, double otherwise);

/* Value `index` as a whole number. A single letter counts as its code, as some versions write it. */
int64_t fbx_integer(const fbx_record *record, uint32_t index, int64_t otherwise);

/* Reads the array that is the record's first value. Returns NULL and sets *out_count to 0 if it is missing or broken.
 * Exact except for whole numbers beyond 2^53; times are far below that. */
const double *read_fbx_numbers(scene *s, const fbx_record *record, uint32_t *out_count);

#endif
