/* Tells systemd how the service is, where there is a systemd and this program was built with its library. */
#ifndef TH_SERVE_SD_NOTIFY_H
#define TH_SERVE_SD_NOTIFY_H

#include <stdbool.h>

/* Whether this build can. */
bool th_sd_notify_available(void);

void th_sd_notify_ready(const char *where);
void th_sd_notify_watchdog(void); /* for its watchdog */
void th_sd_notify_stopping(void);

#endif
