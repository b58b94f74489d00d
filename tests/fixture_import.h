/* Importing with the program that was just built. */
#ifndef FIXTURE_IMPORT_H
#define FIXTURE_IMPORT_H

#include <throng/anim/import.h>

/* th_import with default limits; *err is empty when nothing went wrong. */
th_result import(const char *path, th_model **model, th_error *err);

/* The test fails unless the file can be imported and the model is sound. Free with th_model_free. */
th_model *import_good(const char *path);

/* The path of a file of Debian's assimp-testmodels, until the next call; without that the test is skipped. */
const char *testmodel(const char *file);

#endif
