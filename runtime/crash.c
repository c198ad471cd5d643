/* Records of crashes: see crash.h. Everything reached from the handler is async-signal-safe. */
#include "crash.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "arch/x86_64/context.h"
#include "shared.h"
#include "sys.h"
#include "text.h"

static const struct crash_signal {
    int number;
    const char *name;
} signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"},
};
enum { SIGNAL_COUNT = sizeof signals / sizeof signals[0] };

static const char *signal_name(int number)
{
    for (int i = 0; i < SIGNAL_COUNT; i++)
        if (signals[i].number == number)
            return signals[i].name;
    return "signal";
}

static void record(int number, uint32_t thread, uintptr_t pc)
{
    struct rt_line line = {0};
    rt_line_text(&line, "crash: ");
    rt_line_text(&line, signal_name(number));
    rt_line_text(&line, " in thread ");
    rt_line_number(&line, thread);
    rt_line_text(&line, " at 0x");
    rt_line_hex(&line, pc);
    rt_log(&line);
    rt_post(RH_EVENT_CRASH, thread, (uint64_t)number, pc, 0, 0);
}

/* A fault happens again when we return; a signal that was sent must be sent again. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    static _Atomic bool recorded;
    struct rt_thread *self = rt_thread_self();
    if (!atomic_exchange(&recorded, true)) {
        record(number, self ? self->id : 0, rt_arch_context_pc(context));
        if (self && !self->in_hook) /* else the detector may hold what finish needs */
            rt_finish();
    }
    signal(number, SIG_DFL);
    if (info->si_code <= 0)
        rt_arch_syscall(SYS_tgkill, rt_sys_getpid(), rt_sys_gettid(), number, 0, 0, 0);
}

void rt_crash_start(void)
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction now;
        struct sigaction ours = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&ours.sa_mask);
        if (sigaction(signals[i].number, NULL, &now) == 0 && now.sa_handler == SIG_DFL &&
            !(now.sa_flags & SA_SIGINFO))
            sigaction(signals[i].number, &ours, NULL);
    }
}
