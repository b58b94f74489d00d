#include "submission.h"

#include <throng/bench/context.h>
#include <throng/core/file.h>

#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

/* "AMD EPYC 9R45 (Zen 5)" becomes "amd-epyc-9r45-zen-5". */
static void write_slug(const char *text, size_t size, char *out)
{
    size_t length = 0;
    for (; *text && length + 2 < size; text++) {
        const bool is_plain = isalnum((unsigned char)*text);
        const bool is_gap = !is_plain && length > 0 && out[length - 1] != '-';
        if (is_plain || is_gap)
            out[length++] = is_plain ? (char)tolower((unsigned char)*text) : '-';
    }
    length -= length > 0 && out[length - 1] == '-';
    out[length] = '\0';
}

th_result th_submission_prepare(const char *folder, char path[TH_SUBMISSION_MAX_PATH], th_error *err)
{
    th_context context;
    char cpu[sizeof context.cpu], number[16] = "";
    th_context_read(&context);
    write_slug(context.cpu, sizeof cpu, cpu);
    const unsigned cores = context.cores > 0 ? context.cores : context.cpus.usable;
    for (unsigned n = 2;; n++) {
        if (snprintf(path, TH_SUBMISSION_MAX_PATH, "%s/%s-%u-%.10s%s/throng-1.json", folder, cpu[0] ? cpu : "cpu",
                     cores, context.date, number) >= TH_SUBMISSION_MAX_PATH)
            return th_fail(err, TH_ERR_INPUT, "the path of --submit %.64s... is too long", folder);
        if (access(path, F_OK) != 0)
            return th_file_make_folders(path, err);
        snprintf(number, sizeof number, "-%u", n);
    }
}
