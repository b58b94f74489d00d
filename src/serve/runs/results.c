#include "results.h"

#include <serve/log.h>

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

th_result_name th_result_name_of(const char *kind, const char *started, uint32_t id)
{
    assert(strlen(kind) < TH_RESULT_KIND && strlen(started) < TH_RESULT_STARTED);
    th_result_name name;
    char stamp[TH_RESULT_STARTED];
    int used = 0;
    for (const char *c = started; *c && used + 1 < TH_RESULT_STARTED; c++) /* 20260131T120000Z */
        if (*c != '-' && *c != ':')
            stamp[used++] = *c;
    stamp[used] = '\0';
    snprintf(name.text, sizeof name.text, "%s-%s-%u", kind, stamp, id);
    return name;
}

/* ---- names ---- */

/* Parses a name. The caller checks it by formatting it again. */
static bool parse(const char *file, const char *const *kinds, th_result_entry *out)
{
    int year, month, day, hour, minute, second;
    char rebuilt[TH_RESULT_NAME + 8];
    const size_t kind = strcspn(file, "-");
    if (kind >= sizeof out->kind || sscanf(file + kind, "-%4d%2d%2dT%2d%2d%2dZ-%9u.json", &year, &month, &day, &hour,
                                           &minute, &second, &out->id) != 7)
        return false;
    memcpy(out->kind, file, kind);
    out->kind[kind] = '\0';
    if (snprintf(out->started, sizeof out->started, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, hour, minute,
                 second) >= (int)sizeof out->started)
        return false;
    out->name = th_result_name_of(out->kind, out->started, out->id);
    snprintf(rebuilt, sizeof rebuilt, "%s.json", out->name.text);
    for (; *kinds; kinds++)
        if (strcmp(*kinds, out->kind) == 0)
            return strcmp(rebuilt, file) == 0;
    return false;
}

static int compare(const th_result_entry *a, const th_result_entry *b)
{
    const int order = strcmp(a->started, b->started);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

/* Inserts in order. If there are too many, drops the oldest. */
static uint32_t keep(th_result_entry *kept, uint32_t count, uint32_t most, const th_result_entry *fresh)
{
    uint32_t place = count;
    while (place > 0 && compare(&kept[place - 1], fresh) > 0)
        place--;
    if (count == most) {
        if (place == 0)
            return count;
        memmove(kept, kept + 1, --place * sizeof *kept);
    } else {
        memmove(kept + place + 1, kept + place, (count++ - place) * sizeof *kept);
    }
    kept[place] = *fresh;
    return count;
}

/* ---- files ---- */

int th_result_open(int folder, const char *file, const char **out_why)
{
    struct stat status;
    const int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *out_why = NULL;
    if (fd < 0)
        *out_why = strerror(errno);
    else if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        *out_why = "not a regular file";
    else if (status.st_size > TH_RESULT_BYTES)
        *out_why = "larger than 32 MB";
    if (!*out_why || fd < 0)
        return fd;
    close(fd);
    return -1;
}

static int open_document(int folder, const char *file, bool *out_partial, const char **out_why)
{
    const int fd = th_result_open(folder, file, out_why);
    json_t *whole = fd >= 0 ? json_loadfd(fd, 0, NULL) : NULL;
    const bool good = json_is_array(json_object_get(whole, "benchmarks"));
    *out_partial = json_is_true(json_object_get(json_object_get(whole, "context"), "partial"));
    json_decref(whole);
    if (fd < 0 || good)
        return fd;
    *out_why = "not a complete result";
    close(fd);
    return -1;
}

static bool open_files(int folder, const char *path, th_result_entry *e)
{
    const char *why, *ignored;
    char document[TH_RESULT_NAME + 8], report[TH_RESULT_NAME + 8];
    snprintf(document, sizeof document, "%s.json", e->name.text);
    snprintf(report, sizeof report, "%s.html", e->name.text);
    e->document = open_document(folder, document, &e->is_partial, &why);
    if (e->document < 0) {
        th_log(TH_LOG_WARNING, "%s/%s is ignored: %s", path, document, why);
        return false;
    }
    e->report = th_result_open(folder, report, &ignored);
    return true;
}

uint32_t th_results_read(const char *folder, const char *const *kinds, th_result_entry *out, uint32_t most)
{
    uint32_t count = 0, good = 0;
    th_result_entry entry;
    DIR *files = opendir(folder);
    for (struct dirent *e; files && (e = readdir(files));)
        if (parse(e->d_name, kinds, &entry))
            count = keep(out, count, most, &entry);
    for (uint32_t i = 0; i < count; i++)
        if (open_files(dirfd(files), folder, &out[i]))
            out[good++] = out[i];
    if (files)
        closedir(files);
    return good;
}
