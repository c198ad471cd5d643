/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of children that overlap, talk, and are killed with the tool. */
#include "base/testing.h"

#include "driver/child.h"

#include <signal.h>
#include <string.h>

static void start_shell(struct rh_child *child, const char *script, enum rh_child_mode mode)
{
    const char *words[] = {"sh", "-c", script};
    struct rh_wordlist argv = {words, 3, 3};
    assert_int_equal(rh_child_start(child, &argv, mode), RH_OK);
}

static void output_is_held_back(void **state)
{
    (void)state;
    struct rh_child child;
    struct rh_child_end end;
    struct rh_strbuf out = RH_STRBUF_INIT, err = RH_STRBUF_INIT;
    start_shell(&child, "echo out; echo err >&2; exit 3", RH_CHILD_HOLD);
    assert_int_equal(rh_child_wait(&child, &end, &out, &err), RH_OK);
    assert_string_equal(rh_strbuf_text(&out), "out\n");
    assert_string_equal(rh_strbuf_text(&err), "err\n");
    assert_int_equal(end.exit_status, 3);
    assert_int_equal(end.signal, 0);
    rh_strbuf_release(&out);
    rh_strbuf_release(&err);
}

static void two_children_overlap(void **state)
{
    (void)state;
    struct rh_child talker, holder;
    struct rh_child_end end;
    struct rh_strbuf line = RH_STRBUF_INIT, out = RH_STRBUF_INIT, err = RH_STRBUF_INIT;
    start_shell(&talker, "echo ready; read line; test \"$line\" = 'go on'", RH_CHILD_TALK);
    assert_int_equal(rh_child_read_line(&talker, &line), RH_OK);
    assert_string_equal(rh_strbuf_text(&line), "ready");
    start_shell(&holder, "echo held", RH_CHILD_HOLD);
    assert_int_equal(rh_child_wait(&holder, &end, &out, &err), RH_OK);
    assert_string_equal(rh_strbuf_text(&out), "held\n");
    assert_int_equal(rh_child_write(&talker, "go on\n"), RH_OK);
    assert_int_equal(rh_child_wait(&talker, &end, &out, &err), RH_OK);
    assert_int_equal(end.exit_status, 0);
    rh_strbuf_release(&line);
    rh_strbuf_release(&out);
    rh_strbuf_release(&err);
}

static void closed_pipe_is_seen_on_both_sides(void **state)
{
    (void)state;
    struct rh_child child;
    struct rh_child_end end;
    struct rh_strbuf line = RH_STRBUF_INIT, text = RH_STRBUF_INIT;
    start_shell(&child, "read line && exit 1; exit 7", RH_CHILD_TALK);
    assert_int_equal(rh_child_wait(&child, &end, &text, &text), RH_OK);
    assert_int_equal(end.exit_status, 7);
    start_shell(&child, "exec <&-; exec >&-; exit 0", RH_CHILD_TALK);
    assert_int_equal(rh_child_read_line(&child, &line), RH_ERR_INPUT);
    enum rh_status written;
    do
        written = rh_child_write(&child, "anyone there?\n");
    while (written == RH_OK);
    assert_int_equal(written, RH_ERR_IO);
    assert_int_equal(rh_child_wait(&child, &end, &text, &text), RH_OK);
    rh_strbuf_release(&line);
    rh_strbuf_release(&text);
}

static void missing_program_is_not_found(void **state)
{
    (void)state;
    struct rh_child child;
    const char *words[] = {"/nosuch/program"};
    struct rh_wordlist argv = {words, 1, 1};
    assert_int_equal(rh_child_start(&child, &argv, RH_CHILD_HOLD), RH_ERR_NOT_FOUND);
}

static void await_interruption(void)
{
    kill(getpid(), SIGTERM);
    while (!rh_child_interrupted())
        continue;
}

/* Below, in a child process: the tool gets a signal while it has children of each kind. */
static void be_interrupted(void)
{
    struct rh_child holder, talker, spared;
    struct rh_child_end end;
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_child_guard();
    start_shell(&holder, "while :; do sleep 60; done", RH_CHILD_HOLD);
    start_shell(&talker, "while :; do sleep 60; done", RH_CHILD_TALK);
    start_shell(&spared, "echo ready; read line || exit 5", RH_CHILD_TALK);
    rh_child_spare(&spared);
    rh_child_read_line(&spared, &text);
    await_interruption();
    if (rh_child_wait(&holder, &end, &text, &text) != RH_OK || end.signal != SIGTERM)
        _exit(1);
    if (rh_child_wait(&talker, &end, &text, &text) != RH_OK || end.signal != SIGKILL)
        _exit(2);
    if (rh_child_wait(&spared, &end, &text, &text) != RH_OK || end.exit_status != 5)
        _exit(3);
    const char *words[] = {"true"};
    struct rh_wordlist argv = {words, 1, 1};
    if (rh_child_start(&holder, &argv, RH_CHILD_HOLD) == RH_OK)
        _exit(4);
    rh_strbuf_release(&text);
    rh_child_end_by_signal();
}

static void signal_ends_children_and_tool(void **state)
{
    (void)state;
    struct rh_strbuf said = RH_STRBUF_INIT;
    int status = sacrifice(be_interrupted, &said);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status));
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    rh_strbuf_release(&said);
}

static void ignored_signals_stay_ignored(void **state)
{
    (void)state;
    struct sigaction before, after;
    sigaction(SIGHUP, NULL, &before);
    signal(SIGHUP, SIG_IGN);
    rh_child_guard();
    sigaction(SIGHUP, NULL, &after);
    assert_true(after.sa_handler == SIG_IGN);
    sigaction(SIGHUP, &before, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_is_held_back),
        cmocka_unit_test(two_children_overlap),
        cmocka_unit_test(closed_pipe_is_seen_on_both_sides),
        cmocka_unit_test(missing_program_is_not_found),
        cmocka_unit_test(signal_ends_children_and_tool),
        cmocka_unit_test(ignored_signals_stay_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
