/* Completion of command lines, for shells: scripts/completion.bash and scripts/completion.zsh. */
#ifndef TH_CLI_COMPLETE_H
#define TH_CLI_COMPLETE_H

#include <stdio.h>

#define TH_COMPLETE_COMMAND "complete-words" /* in no help: the first argument of the process */

/* words: those behind the program's name up to the cursor; the last is being written, and may be empty. Writes
 *   none | folders | files [.ENDING ...]    what else fits: names of files, of any ending or of these
 *   WORD<tab>WHAT                           a line for each word that can stand there, whatever it begins with
 * Of "--name=VALUE" the words are values alone. Bash breaks words at "=": "--name", "=" and "VALUE" are the same. */
void th_complete(int count, char *const *words, FILE *file);

#endif
