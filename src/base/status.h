/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes of fallible functions and the text that goes with a failure.
 *
 * A function that can fail returns an enum rh_status and makes its message where it fails:
 *
 *     if (fd < 0)
 *         return rh_fail_errno(RH_ERR_IO, "cannot open %s", path);
 *
 * The message lives in a buffer of the calling thread until that thread's next failure; nothing is
 * printed. The entry point of a tool prints rh_error_text() and ends with rh_exit_status().
 */
#ifndef RH_BASE_STATUS_H
#define RH_BASE_STATUS_H

#define RH_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))

/* The one table of status codes: X(code, exit status of a tool that ends with it). */
#define RH_STATUS_TABLE(X)                                                                         \
    X(RH_OK, 0)                                                                                    \
    X(RH_ERR_USAGE, 2)                                                                             \
    X(RH_ERR_INPUT, 1)                                                                             \
    X(RH_ERR_IO, 1)                                                                                \
    X(RH_ERR_NOT_FOUND, 1)                                                                         \
    X(RH_ERR_UNSUPPORTED, 1)                                                                       \
    X(RH_ERR_INTERNAL, 1)

enum rh_status {
#define RH_STATUS_ENUM(code, exit_status) code,
    RH_STATUS_TABLE(RH_STATUS_ENUM)
#undef RH_STATUS_ENUM
};

/* What a process should exit with: 0, 2 for bad usage, 1 for every other failure. */
int rh_exit_status(enum rh_status status);

/*
 * Records the message and returns `status`. The arguments may include rh_error_text(). Messages
 * that outgrow the buffer end in "...".
 */
enum rh_status rh_fail(enum rh_status status, const char *fmt, ...) RH_PRINTF(2, 3);

/* The same with ": " and the text of errno at the end. */
enum rh_status rh_fail_errno(enum rh_status status, const char *fmt, ...) RH_PRINTF(2, 3);

/*
 * Puts context and ": " in front of the recorded message and returns `status`; does nothing when
 * `status` is RH_OK, so that it can wrap any call's result.
 */
enum rh_status rh_fail_prefix(enum rh_status status, const char *fmt, ...) RH_PRINTF(2, 3);

/* The calling thread's last recorded message, "" if there is none. */
const char *rh_error_text(void);

#endif
