/* throng-import FILE [MEMORY_BYTES [CPU_SECONDS [outside]]]
 *
 * Reads one model file and writes it to standard output as an archive (archive.h). Not meant for users:
 * th_import starts it, and throng/anim/import.h says why it is a separate program. */
#include "files.h"
#include "ipc.h"
#include "sandbox.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    if (argc < 2 || isatty(STDOUT_FILENO))
        return 2;
    ipc_open();
    /* A folder for Assimp to put before the names of other files. */
    if (snprintf(path, sizeof path, "%s%s", strchr(argv[1], '/') ? "" : "./", argv[1]) >= (int)sizeof path)
        give_up(TH_ERR_INPUT, "its path is too long");
    const sandbox_desc sandbox = {.path = path,
                                  .memory_bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 0,
                                  .cpu_s = argc > 3 ? strtoull(argv[3], NULL, 10) : 0,
                                  .allow_outside = argc > 4};
    sandbox_enter(&sandbox);
    if (sandbox.allow_outside)
        allow_files_outside();
    ipc_send_model(read_scene(path));
}
