/* Inside, since the program around it has a process, which hides what is wrong. glTF files, both kinds: everything
 * that reads them. */
#include "anim/import/scene.h"

#include "fuzz.h"
#include "importer.h"

static void import(const char *path)
{
    read_scene(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    importer_run(data, size, import);
    return 0;
}
