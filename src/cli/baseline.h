/* Baselines: results stored under a name, to compare with. They are files NAME.json in $XDG_DATA_HOME/throng/baselines,
 * or where that is not set, $HOME/.local/share/throng/baselines. */
#ifndef TH_CLI_BASELINE_H
#define TH_CLI_BASELINE_H

#include <throng/core/error.h>

#include <stdbool.h>

enum { TH_BASELINE_MAX_PATH = 4096 };

/* Valid names: up to 64 letters, digits, dots, dashes and underscores; a dot or a dash must not come first. */
bool th_baseline_is_name(const char *text);

/* Whether `word`, a file or a baseline, means a baseline: no file has this name. */
bool th_baseline_is_meant(const char *word);

/* Writes the file's path; path: TH_BASELINE_MAX_PATH bytes. TH_ERR_ENVIRONMENT when the environment names no folder. */
th_result th_baseline_path(const char *name, char *path, th_error *err);

/* The same, and creates the folder. */
th_result th_baseline_prepare(const char *name, char *path, th_error *err);

#endif
