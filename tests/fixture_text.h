/* What is printed for a terminal. */
#ifndef FIXTURE_TEXT_H
#define FIXTURE_TEXT_H

#include <core/text_format.h>

#include <criterion/criterion.h>
#include <string.h>

/* Of ASCII, so that bytes are columns. */
static inline void expect_narrow(const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line != '\0')
        cr_expect_leq(strcspn(line, "\n"), TH_TEXT_COLUMNS, "%.*s", (int)strcspn(line, "\n"), line);
}

#endif
