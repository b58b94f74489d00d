/* Inside, since it speaks the importer's protocol against its reader. throng-import as a file would make it that has
 * taken it over: all of it is the real program, but that Assimp, told to read the file, does what the file says
 * (fixture_attack.h). */
#include "fixture_attack.h"

#include "anim/import/importer.h"

#include <assimp/cimport.h>
#include <errno.h>

const struct aiScene *__wrap_aiImportFileExWithProperties(const char *path, unsigned flags, struct aiFileIO *io,
                                                          const struct aiPropertyStore *options);

const struct aiScene *__wrap_aiImportFileExWithProperties(const char *path, unsigned flags, struct aiFileIO *io,
                                                          const struct aiPropertyStore *options)
{
    (void)flags;
    (void)io;
    (void)options;
    attack_target target;
    const attack *chosen = attack_read(path, &target);
    errno = 0;
    give_up(TH_ERR_INPUT, "errno=%d", chosen->run(&target));
}
