/* SPDX-License-Identifier: Apache-2.0 */
/* Records of crashes: see crash.h. Everything reached from the handler is async-signal-safe. */
#include "crash.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "arch/x86_64/context.h"
#include "racehive/signals.h"
#include "shared.h"
#include "stack/images.h"
#include "stack/stack.h"
#include "sys.h"
#include "text.h"

static const struct crash_signal {
    int number;
    const char *name;
    bool comes_again;
} signals[] = {
#define SIGNAL_ROW(name, again) {name, #name, again},
    RH_CRASH_SIGNALS(SIGNAL_ROW)
#undef SIGNAL_ROW
};
enum { SIGNAL_COUNT = sizeof signals / sizeof signals[0] };

static const struct crash_signal *find_signal(int number)
{
    int i = 0;
    while (i < SIGNAL_COUNT - 1 && signals[i].number != number)
        i++;
    return &signals[i];
}

/* One line a frame, as an offset in its image where that is known: the same in every run. */
static void record_stack(int log, const struct rt_thread *self, const void *context)
{
    uintptr_t pcs[32];
    uint32_t count = rt_stack_at_signal(self, context, pcs, sizeof pcs / sizeof pcs[0]);
    for (uint32_t i = 0; i < count; i++) {
        struct rt_line line = {0};
        struct rt_stack_image image;
        bool known = rt_stack_image_at(pcs[i] - 1, &image);
        rt_line_text(&line, "crash:   #");
        rt_line_number(&line, i);
        rt_line_text(&line, " 0x");
        rt_line_hex(&line, pcs[i]);
        if (known) {
            rt_line_text(&line, " (code + 0x");
            rt_line_hex(&line, pcs[i] - image.low);
            rt_line_text(&line, ")");
        }
        rt_log_line(log, &line);
    }
}

static void record(int number, const struct rt_thread *self, const void *context)
{
    uint32_t thread = self ? self->id : 0;
    uintptr_t pc = rt_arch_context_pc(context);
    int log = rt_log_open();
    struct rt_line line = {0};
    rt_line_text(&line, "crash: ");
    rt_line_text(&line, find_signal(number)->name);
    rt_line_text(&line, " in thread ");
    rt_line_number(&line, thread);
    rt_line_text(&line, " at 0x");
    rt_line_hex(&line, pc);
    rt_log_line(log, &line);
    record_stack(log, self, context);
    rt_log_close(log);
    rt_post(RH_EVENT_CRASH, thread, (uint64_t)number, pc, 0, 0);
}

/* A fault happens again when we return; any other signal must be sent again. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    static _Atomic bool recorded;
    struct rt_thread *self = rt_thread_self();
    if (!atomic_exchange(&recorded, true)) {
        record(number, self, context);
        if (self && !self->in_hook) /* else the detector may hold what finish needs */
            rt_finish();
    }
    signal(number, SIG_DFL);
    if (info->si_code <= 0 || !find_signal(number)->comes_again)
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
