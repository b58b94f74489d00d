#include "sd_notify.h"

#if TH_HAVE_SYSTEMD

#include <systemd/sd-daemon.h>

bool th_sd_notify_available(void)
{
    return true;
}

void th_sd_notify_ready(const char *where)
{
    sd_notifyf(0, "READY=1\nSTATUS=%s", where);
}

void th_sd_notify_watchdog(void)
{
    sd_notify(0, "WATCHDOG=1");
}

void th_sd_notify_stopping(void)
{
    sd_notify(0, "STOPPING=1");
}

#else

bool th_sd_notify_available(void)
{
    return false;
}

void th_sd_notify_ready(const char *where)
{
    (void)where;
}

void th_sd_notify_watchdog(void)
{
}

void th_sd_notify_stopping(void)
{
}

#endif
