/* glTF files, both kinds: everything that reads them. */
#include "fuzz.h"
#include "importer.h"

static void import(scene *s)
{
    if (read_gltf(s))
        finish_scene(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    importer_run(data, size, import);
    return 0;
}
