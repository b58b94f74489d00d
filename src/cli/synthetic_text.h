/* Parses --model synthetic:KEY=VALUE,... */
#ifndef TH_CLI_SYNTHETIC_TEXT_H
#define TH_CLI_SYNTHETIC_TEXT_H

#include <throng/anim/synthetic.h>

#include <stdio.h>

/* True for "synthetic" and anything that begins with "synthetic:". A file of such a name can be given as ./synthetic.
 */
bool th_synthetic_named(const char *text);

/* Missing keys get the values of TH_SYNTHETIC_DEFAULT. On failure err names the key and the values that it takes. The
 * model's name is `text`, borrowed. */
th_result th_synthetic_parse(const char *text, th_synthetic_desc *out, th_error *err);

/* Prints `throng help synthetic`. */
void th_help_synthetic(FILE *file);

#endif
