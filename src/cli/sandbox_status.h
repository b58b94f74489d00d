/* throng inspect --sandbox-status: what confines the import of files on this machine. */
#ifndef TH_CLI_SANDBOX_STATUS_H
#define TH_CLI_SANDBOX_STATUS_H

#include "output.h"

/* Returns an exit code, which is not about gaps. */
int th_sandbox_status_print(th_run *run, const th_output_options *options);

#endif
