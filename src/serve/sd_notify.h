/* Notifies systemd of the service's state, if it runs under systemd and is built with libsystemd. */
#ifndef TH_SERVE_SD_NOTIFY_H
#define TH_SERVE_SD_NOTIFY_H

#include <stdbool.h>

/* Whether this build supports it. */
bool th_sd_notify_available(void);

void th_sd_notify_ready(const char *where);
void th_sd_notify_watchdog(void); /* resets the watchdog */
void th_sd_notify_stopping(void);

#endif
