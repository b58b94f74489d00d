/* Pages, read back as the XML that they are. */
#ifndef FIXTURE_PAGE_H
#define FIXTURE_PAGE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct web_page {
    char *text;
    size_t size;
    FILE *file; /* to write it to */
    void *document, *xpath;
} web_page;

/* Write to page.file in between; the second one fails the test where the text is no well-formed XML. page_free. */
web_page page_begin(void);
void page_read(web_page *page);
void page_free(web_page *page);

/* How many nodes the XPath has, and the text of the first, "" where there is none: until the next call. Names of HTML
 * have the prefix h, of SVG s. */
int page_count(const web_page *page, const char *path);
const char *page_text(const web_page *page, const char *path);

/* No script, nothing to fetch, and no number that is none. */
void expect_clean(const web_page *page);

/* The value at a place of the figure with this heading, as its ticks say. is_vertical: of the axis at the left, */
double value_at(const web_page *page, const char *figure, bool is_vertical, bool is_log, double place);

/* and the numbers of an attribute of its `index`th (from 1) element of the class: how many there are, at most `most`.
 */
int numbers_of(const web_page *page, const char *figure, const char *class, int index, const char *attribute,
               double *out, int most);

#endif
