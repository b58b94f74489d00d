/* Results of the reference scenes, to be kept beside those of other machines. */
#ifndef TH_CLI_SUBMISSION_H
#define TH_CLI_SUBMISSION_H

#include <throng/core/error.h>

enum { TH_SUBMISSION_MAX_PATH = 4096 };

/* Writes the path of this machine's result of today, FOLDER/CPU-CORES-DATE/throng-1.json, and makes its folders. Where
 * there is a result already, of this machine or of one like it, "-2" and so on follow the date. TH_ERR_INPUT when that
 * is not possible. */
th_result th_submission_prepare(const char *folder, char path[TH_SUBMISSION_MAX_PATH], th_error *err);

#endif
