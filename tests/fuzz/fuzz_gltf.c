/* glTF files, both kinds: everything that reads them. */
#include "cases.h"
#include "fuzz.h"
#include "importer.h"

void make_case(void)
{
    make_gltf();
}

static bool import(scene *s)
{
    if (!read_gltf(s))
        return false;
    finish_scene(s);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    importer_run(data, size, import);
    return 0;
}
