/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the line that says what takes so long, on a terminal of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pty.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ticker.h"

static char text[4096];

/* Works until `stop` is closed. */
static void work(int stop)
{
    char byte;
    rh_ticker_begin("prog");
    rh_ticker_say("looking around");
    assert_int_equal(read(stop, &byte, 1), 0);
    rh_ticker_end();
    rh_ticker_end();
}

/* What a process writes to its terminal that works until it has written `awaited`. */
static const char *watch(const char *awaited)
{
    int terminal, stop[2];
    size_t len = 0;
    assert_int_equal(pipe(stop), 0);
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    assert_true(child >= 0);
    if (child == 0) {
        close(stop[1]);
        setenv("TERM", "xterm", 1);
        work(stop[0]);
        _exit(0);
    }
    close(stop[0]);
    bool works = true;
    for (ssize_t n; len < sizeof text - 1; len += (size_t)n) {
        text[len] = '\0';
        if (works && strstr(text, awaited)) {
            close(stop[1]);
            works = false;
        }
        n = read(terminal, text + len, sizeof text - 1 - len);
        if (n <= 0)
            break;
    }
    text[len] = '\0';
    close(terminal);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return text;
}

static void a_line_appears_and_goes(void **unused)
{
    (void)unused;
    const char *all = watch("2 s"), *line = strstr(all, "prog: looking around, 2 s");
    assert_non_null(line);
    assert_non_null(strchr(line, '\r')); /* and is erased */
    assert_null(strchr(all, '\n'));
}

static void short_work_shows_nothing(void **unused)
{
    (void)unused;
    assert_string_equal(watch(""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_appears_and_goes),
        cmocka_unit_test(short_work_shows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
