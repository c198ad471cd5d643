/* SPDX-License-Identifier: Apache-2.0 */
/* What all ways to link share: running tools, temporary files, and what is said about it. */
#include "driver/link.h"

#include "base/fs.h"
#include "base/log.h"
#include "driver/child.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Half of what Linux lets a command line take with the usual stack; the environment needs some. */
#define MAX_COMMAND_LINE ((size_t)1 << 20)

enum rh_status rh_link_make_temps(struct rh_link *link)
{
    if (link->temps)
        return RH_OK;
    if (!link->settings.keep_temps)
        return rh_fs_make_temp_dir(&link->temps);
    char *folder = rh_format("%s.racehive-temps", link->ld.output);
    enum rh_status status = rh_fs_remove_tree(folder);
    if (status == RH_OK)
        status = rh_fs_make_dirs(folder);
    if (status == RH_OK)
        link->temps = folder;
    else
        free(folder);
    return status;
}

const char *rh_link_own_file(struct rh_link *link, const char *name)
{
    return rh_arena_printf(&link->ld.arena, "%s/%s", link->folder, name);
}

void rh_link_log(const struct rh_wordlist *argv)
{
    if (!rh_log_verbose())
        return;
    struct rh_strbuf line = RH_STRBUF_INIT;
    rh_vec_each (const char *, word, argv) {
        rh_strbuf_addc(&line, ' ');
        rh_strbuf_add_quoted(&line, *word);
    }
    rh_log_step("%s", rh_strbuf_text(&line) + (line.len > 0));
    rh_strbuf_release(&line);
}

static size_t measure(const struct rh_wordlist *argv)
{
    size_t total = 0;
    rh_vec_each (const char *, word, argv)
        total += strlen(*word) + 1 + sizeof *word;
    return total;
}

static bool write_whole(int fd, const struct rh_strbuf *text)
{
    size_t done = 0;
    while (done < text->len) {
        ssize_t n = write(fd, text->data + done, text->len - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Puts all words but the first into a response file in memory that the child inherits as *fd. */
static enum rh_status shorten(struct rh_link *link, const struct rh_wordlist *argv,
                              struct rh_wordlist *shorter, int *fd)
{
    struct rh_wordlist rest = {argv->data + 1, argv->len - 1, argv->len - 1};
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_wordlist_join(&rest, &text);
    *fd = memfd_create("racehive-response", 0);
    bool good = *fd >= 0 && write_whole(*fd, &text);
    rh_strbuf_release(&text);
    if (!good)
        return rh_fail_errno(RH_ERR_IO, "cannot make a response file");
    rh_vec_push(shorter, argv->data[0]);
    rh_vec_push(shorter, rh_arena_printf(&link->ld.arena, "@/dev/fd/%d", *fd));
    return RH_OK;
}

void rh_link_forget(struct rh_link *link)
{
    rh_strbuf_reset(&link->out);
    rh_strbuf_reset(&link->err);
    link->status = 1;
}

static enum rh_status run(struct rh_link *link, const struct rh_wordlist *argv)
{
    struct rh_child child;
    struct rh_child_end end;
    rh_link_forget(link);
    enum rh_status status = rh_child_start(&child, argv, RH_CHILD_HOLD);
    if (status == RH_OK)
        status = rh_child_wait(&child, &end, &link->out, &link->err);
    if (status != RH_OK)
        return status;
    link->status = rh_child_exit_status(&end);
    const char *error = end.signal ? "" : rh_link_first_error(link, rh_strbuf_text(&link->err));
    status = rh_child_check(&end, argv->data[0]);
    return status == RH_OK || !*error ? status : rh_fail(status, "%s", error);
}

enum rh_status rh_link_run(struct rh_link *link, const struct rh_wordlist *argv)
{
    rh_link_log(argv);
    if (measure(argv) <= MAX_COMMAND_LINE)
        return run(link, argv);
    struct rh_wordlist shorter = RH_VEC_INIT;
    int fd = -1;
    enum rh_status status = shorten(link, argv, &shorter, &fd);
    if (status == RH_OK)
        status = run(link, &shorter);
    if (fd >= 0)
        close(fd);
    rh_vec_free(&shorter);
    return status;
}

void rh_link_show(struct rh_link *link)
{
    write_whole(STDOUT_FILENO, &link->out);
    write_whole(STDERR_FILENO, &link->err);
}

const char *rh_link_first_error(struct rh_link *link, const char *text)
{
    static const char mark[] = "error: ";
    const char *error = strstr(text, mark);
    const char *line = error ? error + strlen(mark) : text;
    while (*line == '\n')
        line++;
    return rh_arena_strndup(&link->ld.arena, line, strcspn(line, "\n"));
}
