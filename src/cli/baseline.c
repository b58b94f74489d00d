#include "baseline.h"

#include <core/file.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool th_baseline_is_name(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t length = strlen(text);
    return length > 0 && length <= 64 && strspn(text, letters) == length && text[0] != '.' && text[0] != '-';
}

bool th_baseline_is_meant(const char *word)
{
    struct stat status;
    const bool is_file = stat(word, &status) == 0 && !S_ISDIR(status.st_mode);
    return !is_file && th_baseline_is_name(word);
}

/* Paths that are not absolute must be ignored (XDG Base Directory Specification 0.8). */
static bool is_absolute(const char *path)
{
    return path && path[0] == '/';
}

th_result th_baseline_path(const char *name, char *path, th_error *err)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = 0;
    if (is_absolute(data))
        length = snprintf(path, TH_BASELINE_MAX_PATH, "%s/throng/baselines/%s.json", data, name);
    else if (is_absolute(home))
        length = snprintf(path, TH_BASELINE_MAX_PATH, "%s/.local/share/throng/baselines/%s.json", home, name);
    else
        return th_fail(err, TH_ERR_ENVIRONMENT, "no place for baselines: neither XDG_DATA_HOME nor HOME is a folder");
    if (length >= TH_BASELINE_MAX_PATH)
        return th_fail(err, TH_ERR_ENVIRONMENT, "the path of the baselines is too long");
    return TH_OK;
}

th_result th_baseline_prepare(const char *name, char *path, th_error *err)
{
    const th_result result = th_baseline_path(name, path, err);
    return result == TH_OK ? th_file_make_folders(path, err) : result;
}
