/* The words behind --model synthetic:KEY=VALUE,... */
#ifndef TH_CLI_SYNTHETIC_TEXT_H
#define TH_CLI_SYNTHETIC_TEXT_H

#include <throng/anim/synthetic.h>

#include <stdio.h>

/* "synthetic", or whatever begins with "synthetic:"; a file of such a name can be given as ./synthetic. */
bool th_synthetic_named(const char *text);

/* What is not said is TH_SYNTHETIC_DEFAULT. A text that makes no sense fills err with the key and what it takes. The
 * model's name is `text`, borrowed. */
bool th_synthetic_parse(const char *text, th_synthetic_desc *out, th_error *err);

/* `throng help synthetic`. */
void th_help_synthetic(FILE *file);

#endif
