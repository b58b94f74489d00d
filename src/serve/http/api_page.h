/* The page that describes the API to people: the OpenAPI document as HTML. */
#ifndef TH_SERVE_HTTP_API_PAGE_H
#define TH_SERVE_HTTP_API_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the document, `size` bytes of JSON, as a page: well-formed XML without scripts, whose only style element has
 * this nonce. It shows the parts of OpenAPI 3.1 that openapi.json uses. False when memory is out or `text` is no JSON;
 * the page is not complete then. */
bool th_api_page_write(const char *text, size_t size, const char *nonce, FILE *file);

#endif
