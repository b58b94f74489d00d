/* Texts held against stored ones, the golden documents: what people and programs read of Throng, as files of
 * tests/golden/documents that can be read as they are. Folder: one there. */
#ifndef FIXTURE_DOCUMENT_H
#define FIXTURE_DOCUMENT_H

#include <stddef.h>
#include <stdio.h>

typedef struct golden_document {
    const char *name; /* of the file, with its ending */
    void (*print)(FILE *out);
} golden_document;

/* Fails unless the text is that of the file, and shows the difference. THRONG_GOLDEN_UPDATE=1 stores it instead. */
void check_text(const char *path, const char *text);

/* The same for NAME of the folder, which is made when it is stored. */
void check_document(const char *folder, const char *name, const char *text);

/* Fails for a file of the folder that is none of these; THRONG_GOLDEN_UPDATE=1 leaves it. */
void check_folder(const char *folder, const char *const *names, size_t count);

/* All of a folder, and no file there but these. */
void check_documents(const char *folder, const golden_document *rows, size_t count);

#endif
