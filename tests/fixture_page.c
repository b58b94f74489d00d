#include "fixture_page.h"

#include <criterion/criterion.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

web_page page_begin(void)
{
    web_page *p = calloc(1, sizeof *p); /* the stream keeps where text and size are */
    cr_assert_neq(p, NULL);
    p->file = open_memstream(&p->text, &p->size);
    cr_assert_neq(p->file, NULL);
    web_page out = *p;
    out.document = p;
    return out;
}

void page_read(web_page *p)
{
    web_page *kept = p->document;
    fclose(p->file);
    p->text = kept->text;
    p->size = kept->size;
    free(kept);
    xmlDocPtr document = xmlReadMemory(p->text, (int)p->size, "page", NULL, XML_PARSE_NONET);
    cr_assert_neq(document, NULL, "no XML: %s", p->text);
    xmlXPathContextPtr xpath = xmlXPathNewContext(document);
    xmlXPathRegisterNs(xpath, (const xmlChar *)"h", (const xmlChar *)"http://www.w3.org/1999/xhtml");
    xmlXPathRegisterNs(xpath, (const xmlChar *)"s", (const xmlChar *)"http://www.w3.org/2000/svg");
    p->document = document;
    p->xpath = xpath;
}

void page_free(web_page *p)
{
    xmlXPathFreeContext(p->xpath);
    xmlFreeDoc(p->document);
    free(p->text);
}

static xmlXPathObjectPtr find(const web_page *p, const char *path)
{
    xmlXPathObjectPtr found = xmlXPathEvalExpression((const xmlChar *)path, p->xpath);
    cr_assert_neq(found, NULL, "%s", path);
    return found;
}

int page_count(const web_page *p, const char *path)
{
    xmlXPathObjectPtr found = find(p, path);
    const int count = found->nodesetval ? found->nodesetval->nodeNr : 0;
    xmlXPathFreeObject(found);
    return count;
}

const char *page_text(const web_page *p, const char *path)
{
    static char text[1 << 16];
    xmlXPathObjectPtr found = find(p, path);
    xmlChar *value = xmlXPathCastToString(found);
    snprintf(text, sizeof text, "%s", (const char *)value);
    xmlFree(value);
    xmlXPathFreeObject(found);
    return text;
}

/* As a word of its own. */
static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; (at = strcasestr(at, word)); at++)
        if ((at == text || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[length]))
            return true;
    return false;
}

void expect_clean(const web_page *p)
{
    cr_expect_eq(page_count(p, "//h:script | //s:script | //@*[starts-with(name(), 'on')]"), 0);
    cr_expect_eq(page_count(p, "//@src | //@href[not(starts-with(., 'data:'))] | //@style"), 0);
    cr_expect_not(strstr(p->text, "url(") || strstr(p->text, "@import"));
    cr_expect_not(has_word(p->text, "nan") || has_word(p->text, "inf"), "%s", p->text);
    cr_expect_eq(page_count(p, "//s:svg"), page_count(p, "//h:figure/s:svg[@role='img'][@aria-label!='']"));
    cr_expect_eq(page_count(p, "//h:h1"), 1);
}

/* ---- places ---- */

/* "25k" */
static double value_of(const char *label)
{
    char *end;
    const double value = strtod(label, &end);
    return *end == 'k' ? value * 1e3 : *end == 'M' ? value * 1e6 : value;
}

/* The place of a tick and its value; index from 1. */
static void read_tick(const web_page *p, const char *figure, bool is_vertical, const char *index, double *place,
                      double *value)
{
    char path[256];
    const char *anchor = is_vertical ? "end" : "middle";
    snprintf(path, sizeof path, "(//h:figure[.//h:h3='%s']//s:text[@class='tick'][@text-anchor='%s'])[%s]", figure,
             anchor, index);
    *value = value_of(page_text(p, path));
    strcat(path, is_vertical ? "/@y" : "/@x");
    cr_assert_eq(page_count(p, path), 1, "%s", path);
    *place = atof(page_text(p, path)) - (is_vertical ? 4 : 0); /* a text stands that much below its middle */
}

double value_at(const web_page *p, const char *figure, bool is_vertical, bool is_log, double place)
{
    double places[2], values[2];
    read_tick(p, figure, is_vertical, "1", &places[0], &values[0]);
    read_tick(p, figure, is_vertical, "last()", &places[1], &values[1]);
    const double part = (place - places[0]) / (places[1] - places[0]);
    return is_log ? values[0] * pow(values[1] / values[0], part) : values[0] + part * (values[1] - values[0]);
}

int numbers_of(const web_page *p, const char *figure, const char *class, int index, const char *attribute, double *out,
               int most)
{
    char path[256];
    int count = 0;
    snprintf(path, sizeof path,
             "(//h:figure[.//h:h3='%s']//*[starts-with(@class, "
             "'%s')][not(following-sibling::s:text[@class='key'])])[%d]/@%s",
             figure, class, index, attribute);
    const char *text = page_text(p, path);
    for (char *end; *text && count < most; text = end) {
        const double value = strtod(text, &end);
        if (end == text)
            end++;
        else
            out[count++] = value;
    }
    return count;
}
