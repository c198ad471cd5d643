/* SPDX-License-Identifier: Apache-2.0 */
/* `racehive symbolize`: puts names into the log of a program that was run directly. */
#include "base/args.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/suppressions.h"
#include "report/locations.h"
#include "report/phrases.h"
#include "report/symbols/symbols.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How the runtime begins its lines, and what stands for the executable in them. */
#define PREFIX      "racehive: "
#define THE_PROGRAM "the program"
#define PROGRAM_IS  PREFIX "the program is "

/* What is known while a log is read. A finding is collected until it is complete: a rule may hide
 * it. */
struct work {
    const char *programs[2];
    char *program; /* as the log names it */
    bool full;
    struct rh_arena arena;
    struct rh_symbols *symbols;
    struct rh_locations locations;
    struct rh_suppressions rules;
    struct rh_strbuf finding;
    bool in_finding, hidden;
    uint64_t hidden_count;
};

static struct rh_symbols *get_symbols(struct work *w)
{
    if (w->symbols)
        return w->symbols;
    if (!w->programs[0])
        w->programs[0] = w->program;
    w->symbols = rh_symbols_open(&w->arena, w->programs);
    if (w->full)
        rh_symbols_want_full_names(w->symbols);
    return w->symbols;
}

/* --- frames --- */

/* Takes "racehive:     #0 IMAGE + 0xOFFSET" apart; the image is a heap string. */
static bool parse_frame(const char *line, int *number, char **image, uint64_t *offset)
{
    const char *hash = strncmp(line, PREFIX, strlen(PREFIX)) == 0 ? strchr(line, '#') : NULL;
    const char *plus = hash ? strstr(hash, " + 0x") : NULL;
    const char *blank = hash ? strchr(hash, ' ') : NULL;
    if (!plus || !blank || plus <= blank ||
        strspn(line + strlen(PREFIX), " ") != (size_t)(hash - line) - strlen(PREFIX))
        return false;
    *number = atoi(hash + 1);
    *image = rh_strndup(blank + 1, (size_t)(plus - blank - 1));
    *offset = strtoull(plus + strlen(" + 0x"), NULL, 16);
    return true;
}

static void find_frames(struct work *w, const char *image, uint64_t offset,
                        struct rh_symbols_frames *frames)
{
    struct rh_image_name name = {.ready = 1};
    if (strcmp(image, THE_PROGRAM) != 0)
        snprintf(name.path, sizeof name.path, "%s", image);
    rh_symbols_add_frames(get_symbols(w), &name, offset, frames);
}

static void add_frames(struct work *w, const char *line, int number,
                       const struct rh_symbols_frames *frames, struct rh_strbuf *out)
{
    rh_vec_each (const struct rh_symbols_frame, it, frames) {
        rh_strbuf_addn(out, line, (size_t)(strchr(line, '#') - line));
        rh_strbuf_addf(out, "#%d %s ", number, it->function ? it->function : "?");
        rh_phrase_location(it, &w->locations, out);
        rh_strbuf_add(out, it->inlined ? ", inlined\n" : "\n");
    }
}

/* Adds the line with names, if it is a frame of which something is known. */
static bool add_frame(struct work *w, const char *line, struct rh_strbuf *out)
{
    struct rh_symbols_frames frames = RH_VEC_INIT;
    char *image;
    int number;
    uint64_t offset;
    if (!parse_frame(line, &number, &image, &offset))
        return false;
    find_frames(w, image, offset, &frames);
    bool known = frames.len > 0 && frames.data[0].function;
    if (known)
        add_frames(w, line, number, &frames, out);
    w->hidden |= rh_suppressions_hide_frames(&w->rules, &frames, number == 0);
    rh_vec_free(&frames);
    free(image);
    return known;
}

/* --- findings --- */

static bool begins_finding(const char *line)
{
    return strncmp(line, PREFIX, strlen(PREFIX)) == 0 && line[strlen(PREFIX)] != ' ' &&
           strstr(line, " race, ");
}

static bool continues_finding(const char *line)
{
    return strncmp(line, PREFIX "  ", strlen(PREFIX "  ")) == 0;
}

static void end_finding(struct work *w)
{
    if (!w->in_finding)
        return;
    if (w->hidden)
        w->hidden_count++;
    else
        fputs(rh_strbuf_text(&w->finding), stdout);
    rh_strbuf_reset(&w->finding);
    w->in_finding = w->hidden = false;
}

static void read_line(struct work *w, const char *line)
{
    if (strncmp(line, PROGRAM_IS, strlen(PROGRAM_IS)) == 0) {
        free(w->program);
        w->program = rh_strdup(line + strlen(PROGRAM_IS));
    }
    if (!w->in_finding || !continues_finding(line)) {
        end_finding(w);
        w->in_finding = begins_finding(line);
    }
    if (!add_frame(w, line, &w->finding))
        rh_strbuf_addf(&w->finding, "%s\n", line);
    if (!w->in_finding) {
        fputs(rh_strbuf_text(&w->finding), stdout);
        rh_strbuf_reset(&w->finding);
    }
}

static void read_log(struct work *w, char *text)
{
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        read_line(w, line);
    }
    end_finding(w);
    if (w->hidden_count > 0)
        printf(PREFIX "%" PRIu64 " findings are hidden by suppressions (--no-suppressions shows "
                      "all)\n",
               w->hidden_count);
}

static enum rh_status read_all(const char *path, struct rh_strbuf *text)
{
    char buffer[4096];
    size_t got;
    if (path)
        return rh_fs_read(path, text);
    while ((got = fread(buffer, 1, sizeof buffer, stdin)) > 0)
        rh_strbuf_addn(text, buffer, got);
    return ferror(stdin) ? rh_fail_errno(RH_ERR_IO, "cannot read standard input") : RH_OK;
}

enum rh_status rh_cmd_symbolize(int argc, char **argv)
{
    struct work w = {.finding = RH_STRBUF_INIT};
    struct rh_cli_suppressions suppressions = {0};
    struct rh_strbuf text = RH_STRBUF_INIT;
    const struct rh_option table[] = {
        RH_OPTION_STRING("program", &w.programs[0], "PROG",
                         "the program, if it is not where the log says"),
        RH_OPTION_FLAG("full", &w.full, "show names of C++ in full"),
        RH_CLI_SUPPRESSIONS(&suppressions),
        RH_OPTION_END,
    };
    const struct rh_command command = {
        .name = "racehive symbolize",
        .synopsis = "[OPTIONS] [FILE]",
        .summary =
            "Puts functions, files and lines into the log of a program that was run directly\n"
            "with RACEHIVE_OPTIONS. Reads FILE, or standard input.",
        .examples = "  RACEHIVE_OPTIONS=detector=racemob ./bank 2>&1 | racehive symbolize\n"
                    "  racehive symbolize --program=./bank x.1234",
        .options = table,
    };
    struct rh_args args;
    enum rh_status status;
    if (!rh_cli_parse(&command, argc, argv, &args, &status))
        return status;
    if (args.argc > 1)
        return rh_fail(RH_ERR_USAGE, "one log at a time (see 'racehive symbolize --help')");
    rh_locations_init(&w.locations);
    status = read_all(args.argc == 1 ? args.argv[0] : NULL, &text);
    if (status == RH_OK)
        status = rh_cli_read_suppressions(&suppressions, w.programs[0], &w.rules);
    if (status == RH_OK) {
        char *log = rh_strbuf_detach(&text);
        read_log(&w, log);
        free(log);
    }
    if (w.symbols)
        rh_symbols_close(w.symbols);
    rh_suppressions_release(&w.rules);
    rh_locations_release(&w.locations);
    rh_arena_release(&w.arena);
    rh_strbuf_release(&w.finding);
    rh_strbuf_release(&text);
    free(w.program);
    return status;
}
