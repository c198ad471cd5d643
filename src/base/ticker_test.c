/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the line that says what takes so long, on a terminal of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ticker.h"

static char text[4096];

static void work(unsigned milliseconds)
{
    rh_ticker_begin("prog");
    rh_ticker_say("looking around");
    usleep(milliseconds * 1000);
    rh_ticker_end();
    rh_ticker_end();
}

/* What a process that works as long writes to its terminal. */
static const char *watch(unsigned milliseconds)
{
    int terminal;
    size_t len = 0;
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    assert_true(child >= 0);
    if (child == 0) {
        setenv("TERM", "xterm", 1);
        work(milliseconds);
        _exit(0);
    }
    for (ssize_t n; (n = read(terminal, text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)n;
    text[len] = '\0';
    close(terminal);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return text;
}

static void a_line_appears_and_goes(void **unused)
{
    (void)unused;
    const char *all = watch(2700), *line = strstr(all, "prog: looking around, 2 s");
    assert_non_null(line);
    assert_non_null(strchr(line, '\r')); /* and is erased */
    assert_null(strchr(all, '\n'));
}

static void short_work_shows_nothing(void **unused)
{
    (void)unused;
    assert_string_equal(watch(0), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_appears_and_goes),
        cmocka_unit_test(short_work_shows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
