/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of messages and the progress line, in a pipe and on a terminal. */
#define _GNU_SOURCE 1
#include "base/log.h"
#include "base/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

static void log_each_kind(void)
{
    rh_log_error("cannot read %s", "x");
    rh_log_warn("%d sites", 3);
    rh_log_note("done");
    rh_log_step("unseen");
    rh_log_set_verbose(true);
    rh_log_step("clang-19 -c %s", "a.c");
    rh_log_set_verbose(false);
    rh_log_step("unseen");
}

static void show_progress(void)
{
    rh_progress("run %d of %d", 1, 64);
    rh_progress("run %d of %d", 2, 64);
    rh_log_warn("slow");
    rh_log_warn("slower");
    rh_progress("run %d of %d", 3, 64);
    rh_progress_end();
    rh_progress_end();
}

/* The output of `body` with standard error in a pipe. */
static char *say_into_pipe(void (*body)(void))
{
    struct rh_strbuf said = RH_STRBUF_INIT;
    assert_int_equal(sacrifice(body, &said), 0);
    return rh_strbuf_detach(&said);
}

/* A terminal of `columns` that passes bytes unchanged; its two ends, or false if there is none. */
static bool open_terminal(int *near, int *far, unsigned short columns)
{
    *near = posix_openpt(O_RDWR | O_NOCTTY);
    if (*near < 0)
        return false;
    if (grantpt(*near) != 0 || unlockpt(*near) != 0 || !ptsname(*near) ||
        (*far = open(ptsname(*near), O_RDWR | O_NOCTTY)) < 0) {
        close(*near);
        return false;
    }
    struct termios settings;
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    assert_return_code(tcgetattr(*far, &settings), 0);
    cfmakeraw(&settings);
    assert_return_code(tcsetattr(*far, TCSANOW, &settings), 0);
    assert_return_code(ioctl(*far, TIOCSWINSZ, &size), 0);
    return true;
}

/* The output of `body` with standard error on a terminal; skips the test if there is none. */
static char *say_on_terminal(void (*body)(void), unsigned short columns)
{
    int near = -1, far = -1;
    if (!open_terminal(&near, &far, columns))
        skip_for("no pseudo-terminals here");
    int saved = dup(STDERR_FILENO);
    dup2(far, STDERR_FILENO);
    body();
    dup2(saved, STDERR_FILENO);
    close(saved);
    char bytes[4096];
    struct rh_strbuf said = RH_STRBUF_INIT;
    assert_return_code(fcntl(near, F_SETFL, O_NONBLOCK), 0);
    for (ssize_t n; (n = read(near, bytes, sizeof bytes)) > 0;)
        rh_strbuf_addn(&said, bytes, (size_t)n);
    close(far);
    close(near);
    return rh_strbuf_detach(&said);
}

static void assert_taken(char *actual, const char *expected)
{
    assert_string_equal(actual, expected);
    free(actual);
}

static int reset_environment(void **state)
{
    (void)state;
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    return 0;
}

static void test_messages_in_a_pipe(void **state)
{
    (void)state;
    assert_taken(say_into_pipe(log_each_kind), "racehive: error: cannot read x\n"
                                               "racehive: warning: 3 sites\n"
                                               "racehive: note: done\n"
                                               "racehive: clang-19 -c a.c\n");
}

static void log_as_driver(void)
{
    rh_log_set_program("racehive-cc");
    rh_log_error("no input files");
}

static void test_program_name(void **state)
{
    (void)state;
    assert_string_equal(rh_log_program(), "racehive");
    assert_taken(say_into_pipe(log_as_driver), "racehive-cc: error: no input files\n");
}

static void log_ugly(void)
{
    rh_log_error("two\nlines\t\033[31mred\x7f\r\n");
    rh_log_error("%s", "");
    rh_log_error("d\xC3\xA9j\xC3\xA0");
    rh_log_error("%300d|", 5);
}

static void test_one_line_whatever_the_text(void **state)
{
    (void)state;
    char *said = say_into_pipe(log_ugly);
    static const char start[] = "racehive: error: two lines ?[31mred?\n"
                                "racehive: error: \n"
                                "racehive: error: d\xC3\xA9j\xC3\xA0\n"
                                "racehive: error:  ";
    assert_memory_equal(said, start, sizeof start - 1);
    assert_string_equal(said + strlen(said) - 4, " 5|\n");
    free(said);
}

static void log_and_check_errno(void)
{
    errno = ENOSPC;
    rh_log_note("nothing");
    if (errno != ENOSPC)
        _exit(1);
}

static void test_errno_survives(void **state)
{
    (void)state;
    free(say_into_pipe(log_and_check_errno));
}

static void test_colours_on_a_terminal_only(void **state)
{
    (void)state;
    assert_taken(say_on_terminal(log_each_kind, 80),
                 "racehive: \033[1;31merror: \033[0mcannot read x\n"
                 "racehive: \033[1;35mwarning: \033[0m3 sites\n"
                 "racehive: \033[1;36mnote: \033[0mdone\n"
                 "racehive: clang-19 -c a.c\n");
    setenv("NO_COLOR", "", 1);
    char *plain = say_on_terminal(log_each_kind, 80);
    assert_null(strchr(plain, '\033'));
    free(plain);
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    plain = say_on_terminal(log_each_kind, 80);
    assert_null(strchr(plain, '\033'));
    free(plain);
}

static void test_progress_on_a_terminal(void **state)
{
    (void)state;
    setenv("NO_COLOR", "1", 1);
    assert_taken(say_on_terminal(show_progress, 80), "\r\033[Krun 1 of 64"
                                                     "\r\033[Krun 2 of 64"
                                                     "\r\033[Kracehive: warning: slow\n"
                                                     "racehive: warning: slower\n"
                                                     "\r\033[Krun 3 of 64"
                                                     "\r\033[K");
}

static void test_no_progress_in_a_pipe(void **state)
{
    (void)state;
    static const char warnings[] = "racehive: warning: slow\nracehive: warning: slower\n";
    assert_taken(say_into_pipe(show_progress), warnings);
    setenv("TERM", "dumb", 1);
    assert_taken(say_on_terminal(show_progress, 80), warnings);
}

static void show_wide_progress(void)
{
    rh_progress("1234567890\xC3\xA9\n");
    rh_progress("12345678\xC3\xA9\xC3\xA9");
    rh_progress("123456789");
    rh_progress_end();
}

static void test_progress_is_cut_to_the_width(void **state)
{
    (void)state;
    assert_taken(say_on_terminal(show_wide_progress, 10), "\r\033[K123456789"
                                                          "\r\033[K12345678\xC3\xA9"
                                                          "\r\033[K123456789"
                                                          "\r\033[K");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_messages_in_a_pipe, reset_environment),
        cmocka_unit_test_setup(test_program_name, reset_environment),
        cmocka_unit_test_setup(test_one_line_whatever_the_text, reset_environment),
        cmocka_unit_test_setup(test_errno_survives, reset_environment),
        cmocka_unit_test_setup(test_colours_on_a_terminal_only, reset_environment),
        cmocka_unit_test_setup(test_progress_on_a_terminal, reset_environment),
        cmocka_unit_test_setup(test_no_progress_in_a_pipe, reset_environment),
        cmocka_unit_test_setup(test_progress_is_cut_to_the_width, reset_environment),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
