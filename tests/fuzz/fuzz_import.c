/* Model files of any format, through throng-import in a process of its own, as every command reads them: the first
 * line is how the file's name ends, the rest the file. The importer may crash; the program that asked may not, and it
 * loses neither memory nor descriptors. */
#include "cases.h"
#include "fuzz.h"

#include <throng/throng.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENDING = 8, MOST_FILES = 64 };

void make_case(void)
{
    const uint32_t kind = below(4);
    print("%s", kind == 0 ? "fbx\n" : kind == 1 ? "gltf\n" : "");
    (kind == 0 ? make_fbx : kind == 1 ? make_gltf : make_from_file)();
}

static char folder[] = "/tmp/throng-fuzz-XXXXXX";
static bool has_folder;

static void remove_folder(void)
{
    char beside[sizeof folder + 16];
    snprintf(beside, sizeof beside, "%s/beside.bin", folder);
    unlink(beside);
    rmdir(folder);
}

static void write_model(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void import(const char *path)
{
    th_model *model;
    th_error err;
    const th_import_desc desc = {.path = path, .importer = TEST_IMPORTER, .timeout_s = 0.5};
    switch (th_import(&desc, &model, &err)) {
    case TH_OK:
        case_taken = true;
        th_model_destroy(model);
        break;
    case TH_ERR_INPUT:
    case TH_ERR_LIMIT:
        snprintf(case_refusal, sizeof case_refusal, "%s", err.text);
        if (!strstr(err.text, path))
            abort();
        break;
    default:
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size < ENDING ? size : ENDING);
    const int length = end ? (int)(end - data) : 0;
    char path[sizeof folder + 16 + ENDING];
    if (!end || memchr(data, '/', (size_t)length) || memchr(data, '\0', (size_t)length))
        return 0;
    if (!has_folder) {
        if (!mkdtemp(folder))
            abort();
        static const uint8_t beside[4096] = {0};
        snprintf(path, sizeof path, "%s/beside.bin", folder);
        write_model(path, beside, sizeof beside);
        has_folder = true;
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/model.%.*s", folder, length, (const char *)data);
    write_model(path, end + 1, size - (size_t)length - 1);
    import(path);
    unlink(path);
    const int file = open("/dev/null", O_RDONLY);
    if (file < 0 || file >= MOST_FILES)
        abort();
    close(file);
    return 0;
}
