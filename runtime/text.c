/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text without printf, and the log: see text.h. */
#include "text.h"

#include <fcntl.h>

#include "options.h"
#include "sys.h"

size_t rt_length(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

bool rt_equal(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

void rt_line_text(struct rt_line *line, const char *text)
{
    while (*text && line->length < sizeof line->bytes)
        line->bytes[line->length++] = *text++;
}

static void add_digits(struct rt_line *line, uint64_t number, unsigned base)
{
    char digits[24];
    size_t n = sizeof digits;
    digits[--n] = '\0';
    do {
        digits[--n] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number);
    rt_line_text(line, digits + n);
}

void rt_line_number(struct rt_line *line, uint64_t number)
{
    add_digits(line, number, 10);
}

void rt_line_hex(struct rt_line *line, uint64_t number)
{
    add_digits(line, number, 16);
}

static void write_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        long done = rt_sys_write(fd, bytes, size);
        if (done == -4) /* EINTR */
            continue;
        if (done <= 0)
            return; /* the reader is gone or the disk is full: the program goes on */
        bytes += done;
        size -= (size_t)done;
    }
}

static void write_line(int fd, const struct rt_line *line)
{
    struct rt_line whole = {0};
    rt_line_text(&whole, "racehive: ");
    for (size_t i = 0; i < line->length && whole.length < sizeof whole.bytes - 1; i++)
        whole.bytes[whole.length++] = line->bytes[i];
    whole.bytes[whole.length++] = '\n';
    write_all(fd, whole.bytes, whole.length);
}

void rt_complain(const char *before, const char *what, const char *after)
{
    struct rt_line line = {0};
    rt_line_text(&line, before);
    rt_line_text(&line, what);
    rt_line_text(&line, after);
    write_line(2, &line);
}

int rt_log_open(void)
{
    static _Atomic bool complained;
    if (!rt_options.log_path || !rt_options.log_path[0])
        return 2;
    struct rt_line path = {0};
    rt_line_text(&path, rt_options.log_path);
    rt_line_text(&path, ".");
    rt_line_number(&path, (uint64_t)rt_sys_getpid());
    path.bytes[path.length < sizeof path.bytes ? path.length : sizeof path.bytes - 1] = '\0';
    long fd = rt_sys_open(path.bytes, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0)
        return (int)fd;
    if (!atomic_exchange(&complained, true))
        rt_complain("cannot write the log ", path.bytes, "; using standard error");
    return 2;
}

void rt_log_line(int log, struct rt_line *line)
{
    write_line(log, line);
}

void rt_log_close(int log)
{
    if (log != 2)
        rt_sys_close(log);
}

void rt_log(struct rt_line *line)
{
    int log = rt_log_open();
    rt_log_line(log, line);
    rt_log_close(log);
}

void rt_say(const char *text)
{
    struct rt_line line = {0};
    rt_line_text(&line, text);
    rt_log(&line);
}
