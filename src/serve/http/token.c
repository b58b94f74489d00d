#include "token.h"

#include <core/text_format.h>
#include <serve/log.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static th_result read_file(const char *path, char *out, size_t size, th_error *err)
{
    struct stat status;
    FILE *file = fopen(path, "re");
    if (!file)
        return th_fail(err, TH_ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
    if (fstat(fileno(file), &status) == 0 && (status.st_mode & (S_IRGRP | S_IROTH)))
        th_log(TH_LOG_WARNING, "%s can be read by other users; use chmod 600", path);
    const bool there = fgets(out, (int)size, file) != NULL;
    fclose(file);
    if (!there)
        return th_fail(err, TH_ERR_INPUT, "%s is empty; its first line must be the token", path);
    out[strcspn(out, "\r\n")] = '\0';
    return TH_OK;
}

static th_result check(const char *text, const char *source, th_error *err)
{
    const size_t length = strlen(text);
    if (length < TH_TOKEN_MIN || length > TH_TOKEN_MAX)
        return th_fail(err, TH_ERR_INPUT, "the token in %s has %zu character%s; %d to %d are needed", source, length,
                       th_plural(length), TH_TOKEN_MIN, TH_TOKEN_MAX);
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return th_fail(err, TH_ERR_INPUT, "the token in %s has a character that is not visible ASCII", source);
    return TH_OK;
}

th_result th_token_read(const char *path, th_token *out, th_error *err)
{
    char text[TH_TOKEN_MAX + 3] = ""; /* a line that is too long must not look like one that fits */
    *out = (th_token){""};
    if (!path)
        return TH_OK;
    th_result result = read_file(path, text, sizeof text, err);
    if (result == TH_OK)
        result = check(text, path, err);
    if (result != TH_OK)
        return result;
    strcpy(out->text, text);
    prctl(PR_SET_DUMPABLE, 0); /* no other program of this user may look into the memory that has it */
    return TH_OK;
}

bool th_token_matches(const th_token *token, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return false;
    const char *shown = authorization + sizeof scheme - 1;
    const size_t length = strlen(shown), wanted = strlen(token->text);
    volatile size_t difference = length ^ wanted;
    for (size_t i = 0; i < length; i++)
        difference |= (size_t)(unsigned char)(shown[i] ^ token->text[wanted ? i % wanted : 0]);
    return difference == 0;
}
