/* Files embedded in the program: page.html and openapi.json of this folder. */
#ifndef TH_SERVE_HTTP_EMBEDDED_H
#define TH_SERVE_HTTP_EMBEDDED_H

#include <stddef.h>

extern const unsigned char th_embedded_page[], th_embedded_openapi[];
extern const size_t th_embedded_page_size, th_embedded_openapi_size;

#endif
