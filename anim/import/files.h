/* The files that a model names, which are opened here and nowhere else: only in the model's folder and below it,
 * because their names are as untrusted as all of the file. */
#ifndef TH_ANIM_IMPORT_FILES_H
#define TH_ANIM_IMPORT_FILES_H

#include "scene.h"

#include <assimp/cfileio.h>

/* The files that were opened for this import: the model's, which is closed when it has been read, and its folder. */
void take_files(int model, int folder);

/* Lets names lead anywhere. Call before the first file is opened. */
void allow_files_outside(void);

/* How much of the path is its folder, with the slash. */
int folder_length(const char *path);

/* The path without its folders, whichever slashes are between them. */
const char *file_part(const char *path);

/* Whether a name ends so, with its dot, in letters of any case. */
bool has_ending(const char *name, const char *ending);

/* Replaces %20 and the like. */
char *decode_percents(scene *s, const char *uri);

/* Opens a regular file for reading, by its name in the model: relative to the model's folder. Returns -1 and errno if
 * there is none; EXDEV: the name, or a link on its way, leads out of the folder. */
int open_beside(scene *s, const char *name);

/* For such a name, if the model is nothing without it. */
_Noreturn void give_up_outside(const char *name);

/* Reads a whole open file into memory from malloc, and closes it. NULL if it is -1, cannot be read or is empty. */
char *read_open_file(int file, size_t *out_size);

/* Sets s->bytes to what the model's file has. */
void read_model_file(scene *s);

/* For Assimp. The first name that led outside, where no other place had such a file, is s->refused. */
struct aiFileIO assimp_files(scene *s);

#endif
