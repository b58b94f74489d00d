/* A file replaced as a whole or not at all. */
#ifndef TH_EXPORT_FILE_H
#define TH_EXPORT_FILE_H

#include <throng/error.h>

#include <sys/uio.h>

/* Writes the parts, one behind the other, to a temporary file beside `path`, and renames it to `path` once the disk has
 * it. On failure (TH_ERR_INPUT) the temporary file is removed and `path` is what it was. */
th_result th_file_replace(const char *path, const struct iovec *parts, int part_count, th_error *err);

#endif
