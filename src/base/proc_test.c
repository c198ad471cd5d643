/* Tests of child processes: ends, capture, environment and signals. */
#define _GNU_SOURCE 1
#include "base/proc.h"
#include "base/testing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

static enum rh_status run_shell(const char *script, struct rh_strbuf *out, struct rh_strbuf *err,
                                struct rh_proc_result *result)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    return rh_proc_run(&(struct rh_proc){.argv = argv, .out = out, .err = err}, result);
}

static void test_exit_statuses(void **state)
{
    (void)state;
    static const int statuses[] = {0, 1, 77, 255};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        char *script = rh_format("exit %d", statuses[i]);
        struct rh_proc_result result;
        assert_int_equal(run_shell(script, NULL, NULL, &result), RH_OK);
        assert_int_equal(result.exit_status, statuses[i]);
        assert_int_equal(result.signal, 0);
        assert_int_equal(result.interrupted, 0);
        assert_int_equal(rh_proc_exit_status(&result), statuses[i]);
        assert_int_equal(rh_proc_check(&result, "sh"), statuses[i] ? RH_ERR_INPUT : RH_OK);
        free(script);
    }
    assert_string_equal(rh_error_text(), "sh ended with exit status 255");
}

static void test_death_by_signal(void **state)
{
    (void)state;
    static const int signals[] = {SIGKILL, SIGTERM, SIGSEGV};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        char *script = rh_format("ulimit -c 0; kill -%d $$", signals[i]);
        struct rh_proc_result result;
        assert_int_equal(run_shell(script, NULL, NULL, &result), RH_OK);
        assert_int_equal(result.signal, signals[i]);
        assert_int_equal(rh_proc_exit_status(&result), 128 + signals[i]);
        assert_int_equal(rh_proc_check(&result, "clang"), RH_ERR_INPUT);
        free(script);
    }
    assert_string_equal(rh_error_text(), "clang was killed by signal 11 (Segmentation fault)");
}

static void test_programs_that_cannot_run(void **state)
{
    (void)state;
    struct rh_proc_result result;
    struct rh_strbuf out = RH_STRBUF_INIT;
    const char *nowhere[] = {"no-such-program-here", NULL}, *missing[] = {"./no-such-one", NULL},
               *folder[] = {"/", NULL};
    assert_int_equal(rh_proc_run(&(struct rh_proc){.argv = nowhere, .out = &out}, &result),
                     RH_ERR_NOT_FOUND);
    assert_string_equal(rh_error_text(), "no program 'no-such-program-here' in PATH");
    assert_int_equal(rh_proc_run(&(struct rh_proc){.argv = missing}, &result), RH_ERR_NOT_FOUND);
    assert_string_equal(rh_error_text(), "cannot run ./no-such-one: No such file or directory");
    assert_int_equal(rh_proc_run(&(struct rh_proc){.argv = folder}, &result), RH_ERR_IO);
    assert_string_equal(rh_error_text(), "cannot run /: Permission denied");
    rh_strbuf_release(&out);
}

static void test_capture(void **state)
{
    (void)state;
    struct rh_strbuf out = RH_STRBUF_INIT, err = RH_STRBUF_INIT, both = RH_STRBUF_INIT;
    struct rh_proc_result result;
    rh_strbuf_add(&out, "kept ");
    assert_int_equal(run_shell("printf out; printf err >&2; exit 3", &out, &err, &result), RH_OK);
    assert_int_equal(result.exit_status, 3);
    assert_string_equal(rh_strbuf_text(&out), "kept out");
    assert_string_equal(rh_strbuf_text(&err), "err");
    assert_int_equal(run_shell("printf 1; printf 2 >&2; printf 3", &both, &both, &result), RH_OK);
    assert_string_equal(rh_strbuf_text(&both), "123");

    rh_strbuf_reset(&out);
    assert_int_equal(run_shell("printf 'a\\000b'", &out, NULL, &result), RH_OK);
    assert_int_equal(out.len, 3);
    rh_strbuf_reset(&out);
    assert_int_equal(run_shell("exec >&-; printf late >&2", &out, &err, &result), RH_OK);
    assert_int_equal(out.len, 0);
    assert_string_equal(rh_strbuf_text(&err), "errlate");
    rh_strbuf_release(&out);
    rh_strbuf_release(&err);
    rh_strbuf_release(&both);
}

/* More than a pipe holds, on each stream before the other: reading one to its end would hang. */
static void test_capture_does_not_deadlock(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2",
        "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero",
    };
    for (size_t i = 0; i < 2; i++) {
        struct rh_strbuf out = RH_STRBUF_INIT, err = RH_STRBUF_INIT;
        struct rh_proc_result result;
        assert_int_equal(run_shell(scripts[i], &out, &err, &result), RH_OK);
        assert_int_equal(result.exit_status, 0);
        assert_int_equal(out.len, 300000);
        assert_int_equal(err.len, 300000);
        rh_strbuf_release(&out);
        rh_strbuf_release(&err);
    }
}

static void test_environment(void **state)
{
    (void)state;
    setenv("RH_TEST_KEPT", "kept", 1);
    setenv("RH_TEST_CHANGED", "old", 1);
    setenv("RH_TEST_CHANGED_TOO", "untouched", 1);
    const char *argv[] = {"sh", "-c",
                          "echo $RH_TEST_KEPT $RH_TEST_CHANGED $RH_TEST_CHANGED_TOO $RH_TEST_NEW; "
                          "env | grep -c '^RH_TEST_CHANGED='",
                          NULL};
    const char *env[] = {"RH_TEST_CHANGED=new", "RH_TEST_NEW=a=b", NULL};
    struct rh_strbuf out = RH_STRBUF_INIT;
    struct rh_proc_result result;
    assert_int_equal(rh_proc_run(&(struct rh_proc){.argv = argv, .env = env, .out = &out}, &result),
                     RH_OK);
    assert_string_equal(rh_strbuf_text(&out), "kept new untouched a=b\n1\n");
    assert_string_equal(getenv("RH_TEST_CHANGED"), "old");
    rh_strbuf_release(&out);
}

/* The lowest free descriptor: it moves when one is left open. */
static int find_free_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY);
    assert_return_code(fd, 0);
    close(fd);
    return fd;
}

static void test_no_descriptor_leaks(void **state)
{
    (void)state;
    int before = find_free_descriptor();
    const char *missing[] = {"no-such-program-here", NULL};
    struct rh_strbuf out = RH_STRBUF_INIT, err = RH_STRBUF_INIT;
    struct rh_proc_result result;
    assert_int_equal(run_shell("echo x", &out, &err, &result), RH_OK);
    assert_int_equal(find_free_descriptor(), before);
    struct rh_proc proc = {.argv = missing, .out = &out, .err = &err};
    assert_int_equal(rh_proc_run(&proc, &result), RH_ERR_NOT_FOUND);
    assert_int_equal(find_free_descriptor(), before);
    rh_strbuf_release(&out);
    rh_strbuf_release(&err);
}

static void assert_handler(int signal_number, void (*expected)(int))
{
    struct sigaction action;
    assert_return_code(sigaction(signal_number, NULL, &action), 0);
    assert_true(action.sa_handler == expected);
}

/*
 * The child signals the tool, then waits on a pipe that nobody opens: it can only end, and the
 * test with it, by the signal being passed on.
 */
static void test_signals_are_passed_on(void **state)
{
    char *fifo = rh_path_join(*state, "fifo");
    assert_return_code(mkfifo(fifo, 0600), 0);
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        signal(signals[i], SIG_DFL);
        char *script = rh_format("kill -%d $PPID; read line <'%s'", signals[i], fifo);
        struct rh_proc_result result;
        assert_int_equal(run_shell(script, NULL, NULL, &result), RH_OK);
        assert_int_equal(result.signal, signals[i]);
        assert_int_equal(result.interrupted, signals[i]);
        assert_handler(signals[i], SIG_DFL);
        free(script);
    }
    free(fifo);
}

/* The tool hears of the signal even when the child ends well in spite of it. */
static void test_interruption_is_told(void **state)
{
    (void)state;
    signal(SIGTERM, SIG_DFL);
    struct rh_proc_result result;
    assert_int_equal(run_shell("trap '' TERM; kill -TERM $PPID", NULL, NULL, &result), RH_OK);
    assert_int_equal(result.signal, 0);
    assert_int_equal(result.exit_status, 0);
    assert_int_equal(result.interrupted, SIGTERM);
    assert_int_equal(run_shell("exit 0", NULL, NULL, &result), RH_OK);
    assert_int_equal(result.interrupted, 0);
}

static volatile sig_atomic_t handled;

static void handle(int signal_number)
{
    handled = signal_number;
}

static void test_own_handlers_are_left_alone(void **state)
{
    (void)state;
    struct rh_proc_result result;
    signal(SIGTERM, SIG_IGN);
    assert_int_equal(run_shell("kill -TERM $PPID; exit 3", NULL, NULL, &result), RH_OK);
    assert_int_equal(result.exit_status, 3);
    assert_int_equal(result.interrupted, 0);
    assert_handler(SIGTERM, SIG_IGN);

    signal(SIGTERM, handle);
    assert_int_equal(run_shell("kill -TERM $PPID; exit 4", NULL, NULL, &result), RH_OK);
    assert_int_equal(result.exit_status, 4);
    assert_int_equal(result.interrupted, 0);
    assert_int_equal(handled, SIGTERM);
    assert_handler(SIGTERM, handle);
    signal(SIGTERM, SIG_DFL);
}

/* A child must have the tool's mask, not the one under which it was made. */
static void test_child_keeps_the_mask(void **state)
{
    (void)state;
    sigset_t usr1, before;
    sigemptyset(&before);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &usr1, &before), 0);
    struct rh_strbuf out = RH_STRBUF_INIT;
    struct rh_proc_result result;
    const char *argv[] = {"grep", "SigBlk", "/proc/self/status", NULL};
    assert_int_equal(rh_proc_run(&(struct rh_proc){.argv = argv, .out = &out}, &result), RH_OK);
    char *expected = rh_format("SigBlk:\t%016llx\n", 1ull << (SIGUSR1 - 1));
    assert_string_equal(rh_strbuf_text(&out), expected);
    sigset_t after;
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, &after), 0);
    assert_int_equal(sigismember(&after, SIGUSR1), 1);
    assert_int_equal(sigismember(&after, SIGTERM), 0);
    free(expected);
    rh_strbuf_release(&out);
}

static void *run_several(void *number)
{
    for (int i = 0; i < 10; i++) {
        char *script = rh_format("echo %d; exit %d", *(int *)number, *(int *)number);
        struct rh_strbuf out = RH_STRBUF_INIT;
        struct rh_proc_result result;
        enum rh_status status = run_shell(script, &out, NULL, &result);
        bool good = status == RH_OK && result.exit_status == *(int *)number &&
                    atoi(rh_strbuf_text(&out)) == *(int *)number;
        free(script);
        rh_strbuf_release(&out);
        if (!good)
            return NULL;
    }
    return number;
}

static void test_threads_run_children(void **state)
{
    (void)state;
    signal(SIGTERM, SIG_DFL);
    pthread_t threads[4];
    int numbers[4] = {10, 20, 30, 40};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_several, &numbers[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *good;
        pthread_join(threads[i], &good);
        assert_ptr_equal(good, &numbers[i]);
    }
    assert_handler(SIGTERM, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_statuses),
        cmocka_unit_test(test_death_by_signal),
        cmocka_unit_test(test_programs_that_cannot_run),
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_capture_does_not_deadlock),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_no_descriptor_leaks),
        cmocka_unit_test_setup_teardown(test_signals_are_passed_on, make_scratch, remove_scratch),
        cmocka_unit_test(test_interruption_is_told),
        cmocka_unit_test(test_own_handlers_are_left_alone),
        cmocka_unit_test(test_child_keeps_the_mask),
        cmocka_unit_test(test_threads_run_children),
    };
    return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
