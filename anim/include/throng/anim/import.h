/* Model files, through Assimp, in a process of their own.
 *
 * Assimp is not safe on hostile files, so it is linked into the program throng-import alone. It is started afresh for
 * each file under limits of time and memory, and sends the finished model through a pipe; whatever it does wrong (a
 * crash, a hang, rubbish in the pipe) becomes an error here. Nothing is written to disk. */
#ifndef THRONG_ANIM_IMPORT_H
#define THRONG_ANIM_IMPORT_H

#include <throng/anim/model.h>

#define TH_IMPORT_DEFAULT_TIMEOUT_S 8.0
#define TH_IMPORT_DEFAULT_MEMORY    (4ull << 30)

typedef struct th_import_desc {
    const char *path;      /* required */
    const char *importer;  /* path of throng-import; NULL: beside the running program */
    double timeout_s;      /* wall clock; 0 = TH_IMPORT_DEFAULT_TIMEOUT_S */
    uint64_t memory_bytes; /* address space of the child; 0 = TH_IMPORT_DEFAULT_MEMORY */
} th_import_desc;

/* Any thread; several at a time are fine. Errors name the file. TH_ERR_INPUT: the file is missing, not a model, broken,
 * or crashed or outlasted the importer. TH_ERR_LIMIT: larger than a limit. TH_ERR_ENVIRONMENT: the importer could not
 * be started, or ended without an answer, or is no importer. The caller frees the model with th_model_free. */
th_result th_import(const th_import_desc *desc, th_model **out, th_error *err);

#endif
