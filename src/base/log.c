/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and the progress line of a tool on standard error. */
#define _GNU_SOURCE 1
#include "base/log.h"

#include "base/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Atomic members stand in for a lock: messages come from any thread and must not wait. */
static struct {
    _Atomic(const char *) program;
    atomic_bool verbose;
    atomic_bool progress_shown;
} state = {.program = "racehive"};

enum level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_NOTE, LEVEL_STEP };

struct level_look {
    const char *label;
    const char *colour;
};

static const struct level_look looks[] = {
    [LEVEL_ERROR] = {"error: ", "\033[1;31m"},
    [LEVEL_WARNING] = {"warning: ", "\033[1;35m"},
    [LEVEL_NOTE] = {"note: ", "\033[1;36m"},
    [LEVEL_STEP] = {"", ""},
};

#define COLOUR_OFF "\033[0m"
#define ERASE_LINE "\r\033[K"

void rh_log_set_program(const char *name)
{
    atomic_store(&state.program, name);
}

const char *rh_log_program(void)
{
    return atomic_load(&state.program);
}

void rh_log_set_verbose(bool verbose)
{
    atomic_store(&state.verbose, verbose);
}

bool rh_log_verbose(void)
{
    return atomic_load(&state.verbose);
}

/* Asked anew each time, since a tool may redirect its standard error while it runs. */
static bool is_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

static void write_out(const struct rh_strbuf *sb)
{
    for (size_t done = 0; done < sb->len;) {
        ssize_t n = write(STDERR_FILENO, sb->data + done, sb->len - done);
        if (n < 0 && errno != EINTR)
            return; /* there is nowhere left to complain */
        done += n > 0 ? (size_t)n : 0;
    }
}

/* Keeps a message, which may quote file names and other tools, on one line and free of escapes. */
static void flatten(char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\n' || c == '\t' || c == '\r')
            *text = ' ';
        else if (c < 0x20 || c == 0x7F)
            *text = '?';
    }
}

static RH_PRINTF(2, 0) void log_message(enum level level, const char *fmt, va_list args)
{
    int saved_errno = errno;
    bool terminal = is_terminal();
    bool coloured = terminal && !getenv("NO_COLOR") && *looks[level].colour;
    struct rh_strbuf sb = RH_STRBUF_INIT;
    if (atomic_exchange(&state.progress_shown, false) && terminal)
        rh_strbuf_add(&sb, ERASE_LINE);
    rh_strbuf_addf(&sb, "%s: %s%s%s", rh_log_program(), coloured ? looks[level].colour : "",
                   looks[level].label, coloured ? COLOUR_OFF : "");
    size_t start = sb.len;
    rh_strbuf_addv(&sb, fmt, args);
    flatten(sb.data + start);
    while (sb.len > start && sb.data[sb.len - 1] == ' ')
        rh_strbuf_truncate(&sb, sb.len - 1);
    rh_strbuf_addc(&sb, '\n');
    write_out(&sb);
    rh_strbuf_release(&sb);
    errno = saved_errno;
}

void rh_log_error(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_message(LEVEL_ERROR, fmt, args);
    va_end(args);
}

void rh_log_warn(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_message(LEVEL_WARNING, fmt, args);
    va_end(args);
}

void rh_log_note(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_message(LEVEL_NOTE, fmt, args);
    va_end(args);
}

void rh_log_step(const char *fmt, ...)
{
    if (!rh_log_verbose())
        return;
    va_list args;
    va_start(args, fmt);
    log_message(LEVEL_STEP, fmt, args);
    va_end(args);
}

/* A line that wraps cannot be rewritten, so it ends one column early and between characters. */
static void cut_to_terminal(struct rh_strbuf *sb)
{
    struct winsize size;
    size_t columns = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    size_t shown = 0;
    for (size_t i = 0; i < sb->len; i++) {
        bool starts_character = ((unsigned char)sb->data[i] & 0xC0) != 0x80;
        if (starts_character && ++shown >= columns) {
            rh_strbuf_truncate(sb, i);
            return;
        }
    }
}

void rh_progress(const char *fmt, ...)
{
    if (!is_terminal())
        return;
    struct rh_strbuf text = RH_STRBUF_INIT, sb = RH_STRBUF_INIT;
    va_list args;
    va_start(args, fmt);
    rh_strbuf_addv(&text, fmt, args);
    va_end(args);
    flatten(text.data);
    cut_to_terminal(&text);
    rh_strbuf_addf(&sb, ERASE_LINE "%s", rh_strbuf_text(&text));
    atomic_store(&state.progress_shown, true);
    write_out(&sb);
    rh_strbuf_release(&sb);
    rh_strbuf_release(&text);
}

void rh_progress_end(void)
{
    if (!atomic_exchange(&state.progress_shown, false) || !is_terminal())
        return;
    struct rh_strbuf sb = RH_STRBUF_INIT;
    rh_strbuf_add(&sb, ERASE_LINE);
    write_out(&sb);
    rh_strbuf_release(&sb);
}
