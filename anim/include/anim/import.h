/* Import of model files in a separate process: glTF 2.0 by a reader of our own, other formats through Assimp.
 *
 * Assimp is not safe on hostile files, so only the program throng-import links it. Each file starts a new process with
 * limits on time and memory, which can read the model's folder and nothing else (sandbox.h), and sends the model back
 * through a pipe. A crash, a hang or invalid data becomes an error. Nothing is written to disk. */
#ifndef THRONG_ANIM_IMPORT_H
#define THRONG_ANIM_IMPORT_H

#include <anim/model.h>
#include <core/api.h>

TH_API_BEGIN

#define TH_IMPORT_DEFAULT_TIMEOUT_S 8.0
#define TH_IMPORT_DEFAULT_MEMORY    (4ull << 30)
#define TH_IMPORT_BASE_MEMORY       (64ull << 20) /* address space of its program and libraries, with room to spare */

typedef struct th_import_desc {
    const char *path;      /* required */
    const char *importer;  /* path of throng-import; NULL: beside the running program, else in the libexec folder of the
                              installation that the program is in, else of that which the shared library is in,
                              wherever these were moved to, else where the library was configured to have it */
    double timeout_s;      /* of the processor's time, so that a busy machine refuses no model, and ten times that of
                              the wall clock; not negative; 0 = TH_IMPORT_DEFAULT_TIMEOUT_S */
    uint64_t memory_bytes; /* address space of the process; 0 = TH_IMPORT_DEFAULT_MEMORY */
    uint64_t answer_bytes; /* that it may send; to read them takes TH_ARCHIVE_GROWTH times as many more; 0: as many as
                              memory_bytes */
    bool allow_outside;    /* files that the model names may lie outside of its folder */
} th_import_desc;

/* Any thread may call; calls may run concurrently. The caller frees *out with th_model_destroy. Errors name the file:
 *   TH_ERR_INPUT        the file is missing, no model or broken, or the importer crashed or timed out on it
 *   TH_ERR_LIMIT        a limit of model.h or of memory is exceeded
 *   TH_ERR_MEMORY       out of memory
 *   TH_ERR_ENVIRONMENT  the importer could not be started, ended without an answer, or is another program */
th_result th_import(const th_import_desc *desc, th_model **out, th_error *err);

TH_API_END

#endif
