/* Files replaced as a whole or not at all. */
#ifndef THRONG_CORE_FILE_H
#define THRONG_CORE_FILE_H

#include <throng/core/error.h>

#include <sys/uio.h>

/* Writes the parts, one behind the other, to a temporary file beside `path`, and renames it to `path` once the disk has
 * it: `path` holds the old bytes or the new ones, never half. Permissions of a file that is there are kept, symbolic
 * links are followed, even to a file that is not there yet, a file that may not be written is not replaced. What is no
 * regular file (a pipe, a device) is written straight: replacing it by a file would do harm.
 *
 * Signals to this thread wait while there is a temporary file; another thread that hears one may still end the program
 * and leave the file. Beyond the limit of file sizes there is an error and no SIGXFSZ. On failure (TH_ERR_INPUT, or
 * TH_ERR_MEMORY) nothing is left behind and `path` is what it was. */
th_result th_file_replace(const char *path, const struct iovec *parts, int part_count, th_error *err);

/* The absolute name of what th_file_replace would write, links followed: the file need not be there, its folder must.
 * free() it. NULL: errno says why. */
char *th_file_resolve(const char *path);

/* Whether th_file_replace could begin: to be asked before long work. Leaves nothing behind. */
th_result th_file_probe(const char *path, th_error *err);

#endif
