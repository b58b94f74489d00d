/* Atomic replacement of files, and opening what may not lead out of a folder. */
#ifndef THRONG_CORE_FILE_H
#define THRONG_CORE_FILE_H

#include <core/error.h>

#include <stdbool.h>
#include <sys/uio.h>

/* Writes the concatenated parts, at least one, to a temporary file in the folder of `path`, syncs it, and renames it to
 * `path`. So `path` has either the old or the new content. Keeps the permissions of an existing file. Follows symbolic
 * links, also to a file that does not exist yet. Does not replace a file without write permission. Writes directly to
 * what th_file_is_in_place says; a pipe without a reader is an error, and so is a socket.
 *
 * Blocks signals to this thread while the temporary file exists. A signal that another thread receives may still end
 * the program and leave the file. Beyond the file size limit it returns an error, without SIGXFSZ. On failure
 * (TH_ERR_INPUT, TH_ERR_MEMORY) it removes the temporary file and `path` is unchanged. */
th_result th_file_replace(const char *path, const struct iovec *parts, int part_count, th_error *err);

/* Whether no other file can take the place of this one: a pipe (/dev/stdout, /dev/fd/63), a device, a file that has
 * lost its name. */
bool th_file_is_in_place(const char *path);

/* Opens a path that may not lead out of an open folder, neither by its name nor by a link on its way. flags: as of
 * open, without O_CREAT. Kernels without openat2 follow no link. Returns -1 and errno: EXDEV if it leads outside. */
int th_open_beneath(int folder, const char *path, int flags);

/* Opens a folder for that, under a number that a subprocess may keep: none of its standard files. -1 and errno. */
int th_open_folder(const char *path);

/* Names a file in an open folder, out of which th_import lets no link lead. A subprocess gets the folders that its
 * arguments name so. */
#define TH_PATH_IN_FOLDER "/proc/self/fd/%d/%s"

/* The name in such a path, and the folder; NULL: it is another path. */
const char *th_path_in_folder(const char *path, int *out_folder);

/* Returns the absolute path that th_file_replace would replace, with links resolved. The file need not exist, its
 * folder must. The caller releases it with free(). Returns NULL and sets errno on failure. */
char *th_file_resolve(const char *path);

/* Creates the folders that lie above a file, where they are missing. On failure (TH_ERR_INPUT, TH_ERR_MEMORY) those
 * that it created stay. */
th_result th_file_make_folders(const char *path, th_error *err);

/* Removes temporary files that killed programs of this user and this kernel have left in a folder. */
void th_file_remove_leftovers(const char *folder);

/* Checks whether th_file_replace could write `path`; use it before long work. Leaves no file behind, and removes those
 * that killed programs of this user have left in its folder. */
th_result th_file_probe(const char *path, th_error *err);

#endif
