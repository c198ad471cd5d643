/* SPDX-License-Identifier: Apache-2.0 */
/* Exit statuses, and the calling thread's last failure message. */
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const int exit_statuses[] = {
#define STATUS_ROW(code, exit_status) [code] = (exit_status),
    RH_STATUS_TABLE(STATUS_ROW)
#undef STATUS_ROW
};

static _Thread_local char message[4096];

static const char ellipsis[] = "...";

int rh_exit_status(enum rh_status status)
{
    return exit_statuses[status];
}

const char *rh_error_text(void)
{
    return message;
}

/* The text is built aside first because its arguments may point into the message itself. */
static RH_PRINTF(1, 0) void record(const char *fmt, va_list args, const char *suffix)
{
    char text[sizeof message];
    int len = vsnprintf(text, sizeof text, fmt, args);
    if (len < 0)
        len = snprintf(text, sizeof text, "%s", fmt);
    size_t room = sizeof text;
    if ((size_t)len < room && *suffix)
        len += snprintf(text + len, room - (size_t)len, ": %s", suffix);
    if ((size_t)len >= room)
        memcpy(text + room - sizeof ellipsis, ellipsis, sizeof ellipsis);
    memcpy(message, text, sizeof message);
}

enum rh_status rh_fail(enum rh_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    record(fmt, args, "");
    va_end(args);
    return status;
}

enum rh_status rh_fail_errno(enum rh_status status, const char *fmt, ...)
{
    const char *reason = strerror(errno);
    va_list args;
    va_start(args, fmt);
    record(fmt, args, reason);
    va_end(args);
    return status;
}

enum rh_status rh_fail_prefix(enum rh_status status, const char *fmt, ...)
{
    if (status == RH_OK)
        return status;
    va_list args;
    va_start(args, fmt);
    record(fmt, args, message);
    va_end(args);
    return status;
}
