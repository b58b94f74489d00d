/* Help texts and completions, generated from the tables of commands and options. */
#ifndef TH_CLI_HELP_H
#define TH_CLI_HELP_H

#include <cli/command.h>
#include <cli/option.h>

#include <stdio.h>

#define TH_SUMMARY "animates crowds of skinned characters on all cores and measures how fast that is"

#define TH_HELP_OPTIONS "options" /* the word behind `throng help` for those that commands share */

enum { TH_OPTION_TEXT = 1024 };

/* What the exit codes mean. Ends with a row whose codes are NULL. */
typedef struct th_exit_meaning {
    const char *codes, *meaning;
} th_exit_meaning;
extern const th_exit_meaning th_exit_meanings[];

/* What an option does, with its default and whether it is repeatable. */
void th_help_option(const th_option *option, char text[TH_OPTION_TEXT]);

void th_help_program(FILE *file);
void th_help_command(const th_command *command, FILE *file);
void th_help_options(FILE *file);
void th_help_synthetic(FILE *file); /* the keys of synthetic models */

#define TH_COMPLETE_COMMAND "complete-words" /* in no help: the first argument of the process */

/* Completes a command line, for scripts/completion.bash and scripts/completion.zsh.
 * words: those behind the program's name up to the cursor; the last is being written, and may be empty. Writes
 *   none | folders | files [.ENDING ...]    what else fits: names of files, of any ending or of these
 *   WORD<tab>WHAT                           a line for each word that can stand there, whatever it begins with
 * Of "--name=VALUE" the words are values alone. Bash breaks words at "=": "--name", "=" and "VALUE" are the same. */
void th_complete(int count, char *const *words, FILE *file);

#endif
