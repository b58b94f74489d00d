/* Help texts, generated from the tables of commands and options. */
#ifndef TH_CLI_HELP_H
#define TH_CLI_HELP_H

#include "command.h"

#include <stdio.h>

void th_help_program(FILE *file);
void th_help_command(const th_command *command, FILE *file);

#endif
