/* What a hostile file may make of throng-import's answer. A model that is taken has passed th_model_check, so what
 * reads models may do so. */
#include <anim/archive.h>

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    th_model *model;
    th_error err;
    /* The head says the length, which a mutation of another place would not keep. */
    uint8_t *bytes = malloc(size ? size : 1);
    const uint64_t length = size;
    memcpy(bytes, data, size);
    if (size >= TH_ARCHIVE_HEAD_BYTES && (data[0] & 1) == 0)
        memcpy(bytes + 16, &length, sizeof length);
    const th_result result = th_archive_read(bytes, size, &model, &err);
    free(bytes);
    if (result != TH_OK)
        return 0;
    size_t again_size, third_size;
    uint8_t *again = th_archive_write(model, &again_size), *third;
    th_model *copy;
    if (th_model_check(model, &err) != TH_OK)
        abort();
    if (again && th_archive_read(again, again_size, &copy, &err) != TH_OK)
        abort();
    third = again ? th_archive_write(copy, &third_size) : NULL;
    if (third && (third_size != again_size || memcmp(third, again, again_size) != 0))
        abort();
    if (again)
        th_model_destroy(copy);
    free(third);
    free(again);
    th_model_destroy(model);
    return 0;
}
