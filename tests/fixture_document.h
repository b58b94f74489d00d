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

/* All of a folder. A file there that no row prints fails as well; THRONG_GOLDEN_UPDATE=1 leaves it. */
void check_documents(const char *folder, const golden_document *rows, size_t count);

#endif
