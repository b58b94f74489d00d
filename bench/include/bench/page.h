/* A result as one HTML page: its plots, tables, conditions, the command that made it, and all of its JSON, from which
 * the page's own script draws the plots. Without scripts it still has the rest.
 *
 * A page is a single file. It makes no network requests, and its Content-Security-Policy lets it run no script but its
 * own, known by a hash. So it opens from a disk, a mail or CI artifacts. It is laid out for windows from 400 pixels up,
 * for light and dark mode, and for print. */
#ifndef THRONG_BENCH_PAGE_H
#define THRONG_BENCH_PAGE_H

#include <stdbool.h>
#include <stdio.h>

/* The page's script as the source of a Content-Security-Policy: 'sha256-...', with the quotes. */
extern const char th_page_script[];

/* command: the shell command that made the result. report: it as HTML (th_bench_print and the like). json: the
 * document. title, command and strings in json may hold any text. False when writing to the stream failed. */
bool th_page_write(const char *title, const char *command, const char *report, const char *json, FILE *file);

#endif
