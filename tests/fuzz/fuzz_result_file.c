/* Result files: one that is read is compared with itself, and shown. */
#include <bench/compare.h>

#include "fuzz.h"

#include <stdlib.h>

static void show(const th_comparison *comparison)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    th_comparison_print(comparison, TH_OUTPUT_HTML, file);
    th_comparison_print(comparison, TH_OUTPUT_TEXT, file);
    th_comparison_csv(comparison, file);
    fclose(file);
    free(text);
    json_decref(th_comparison_json(comparison));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    th_result_file *results;
    th_comparison comparison;
    th_error err;
    if (th_result_file_parse((const char *)data, size, "fuzz", &results, &err) != TH_OK)
        return 0;
    const th_compare_desc desc = {.old_results = results, .new_results = results, .threshold = 0.025, .force = true};
    if (th_compare(&desc, &comparison, &err) == TH_OK) {
        show(&comparison);
        th_comparison_fini(&comparison);
    }
    th_result_file_free(results);
    return 0;
}
