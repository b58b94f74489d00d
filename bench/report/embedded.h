/* page.css of this folder, embedded in the program. Private to bench. */
#ifndef TH_BENCH_REPORT_EMBEDDED_H
#define TH_BENCH_REPORT_EMBEDDED_H

#include <stddef.h>

extern const unsigned char th_embedded_report_style[];
extern const size_t th_embedded_report_style_size;

#endif
