/* SPDX-License-Identifier: Apache-2.0 */
/* `racehive doctor`: says what this machine can do for Racehive, and what to install. */
#include "base/args.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "report/members.h"
#include "report/table.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* What a check found; the detail is collected, the advice is for when it did not succeed. */
struct finding {
    bool ok;
    struct rh_strbuf detail;
    const char *advice;
};

/* --- checks: each sets `ok` and adds a detail --- */

static void check_processor(struct finding *f)
{
    struct utsname name;
    bool known = uname(&name) == 0;
    f->ok = known && strcmp(name.machine, "x86_64") == 0;
    rh_strbuf_addf(&f->detail, "%s, Linux %s", known ? name.machine : "unknown",
                   known ? name.release : "?");
    f->advice = "only x86-64 is supported";
}

static void find_tool(struct finding *f, const char *name, const char *advice)
{
    char *path = NULL;
    f->ok = rh_path_which(name, &path) == RH_OK;
    rh_strbuf_add(&f->detail, f->ok ? path : name);
    rh_strbuf_add(&f->detail, f->ok ? "" : " was not found");
    f->advice = advice;
    free(path);
}

#define TEXT(number) #number
#define WITH(number) TEXT(number)
#define LLVM         WITH(RH_LLVM_VERSION)

static void check_compiler(struct finding *f)
{
    find_tool(f, "clang-" LLVM, "install clang-" LLVM " (apt install clang-" LLVM ")");
}

static void check_linker(struct finding *f)
{
    find_tool(f, "ld.lld-" LLVM, "install lld-" LLVM " (apt install lld-" LLVM ")");
}

static void check_runtime(struct finding *f)
{
    char *bin = NULL;
    if (rh_path_self_dir(&bin) == RH_OK)
        rh_strbuf_addf(&f->detail, "%s/../lib/racehive/rt.o", bin);
    f->ok = access(rh_strbuf_text(&f->detail), R_OK) == 0;
    f->advice = "install Racehive as a whole: bin and lib/racehive belong together";
    free(bin);
}

/* As keys are switched: code that was readable and executable becomes writable too. */
static void check_patching(struct finding *f)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool direct =
        code != MAP_FAILED && mprotect(code, page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
    if (code != MAP_FAILED)
        munmap(code, page);
    bool memory = access("/proc/self/mem", W_OK) == 0;
    f->ok = direct || memory;
    rh_strbuf_add(&f->detail, direct   ? "by mprotect"
                              : memory ? "through /proc/self/mem"
                                       : "code cannot be changed");
    f->advice = "build programs with --rh-keys=flag";
}

static void check_membarrier(struct finding *f)
{
    long found = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    f->ok = found > 0 && found & MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE;
    rh_strbuf_add(&f->detail, f->ok ? "available" : "not available");
    f->advice = "keys are switched without it, only slower; a newer kernel has it";
}

static void check_watchpoints(struct finding *f)
{
    static uint64_t word;
    struct perf_event_attr attr = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof attr,
        .bp_type = HW_BREAKPOINT_W,
        .bp_addr = (uint64_t)(uintptr_t)&word,
        .bp_len = HW_BREAKPOINT_LEN_8,
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    f->ok = fd >= 0;
    rh_strbuf_add(&f->detail, f->ok ? "available" : strerror(errno));
    f->advice = "racechaser then compares values only; allow them with sysctl "
                "kernel.perf_event_paranoid=2";
    if (fd >= 0)
        close((int)fd);
}

static void check_shared_memory(struct finding *f)
{
    f->ok = access("/dev/shm", W_OK | X_OK) == 0;
    rh_strbuf_add(&f->detail, f->ok ? "/dev/shm" : "/dev/shm cannot be written");
    f->advice = "runs use the folder for temporary files instead; mount a tmpfs there";
}

static void check_proc(struct finding *f)
{
    f->ok = access("/proc/self/maps", R_OK) == 0;
    rh_strbuf_add(&f->detail, f->ok ? "/proc" : "/proc is not mounted");
    f->advice = "mount it: mount -t proc proc /proc";
}

/* The nearest folder that exists must be writable: the others are made when they are needed. */
static void check_store(struct finding *f)
{
    char *folder = NULL;
    if (rh_path_user_data(&folder) != RH_OK) {
        rh_strbuf_add(&f->detail, "there is no home folder");
    } else {
        char *at = rh_format("%s", folder);
        while (access(at, F_OK) != 0 && strcmp(at, "/") != 0 && strcmp(at, ".") != 0) {
            char *up = rh_path_dirname(at);
            free(at);
            at = up;
        }
        f->ok = access(at, W_OK | X_OK) == 0;
        rh_strbuf_add(&f->detail, folder);
        free(at);
    }
    f->advice = "set XDG_DATA_HOME to a folder that can be written, or use --store";
    free(folder);
}

static const struct check {
    const char *name, *what;
    bool needed; /* without it nothing works */
    void (*run)(struct finding *finding);
} checks[] = {
    {"processor", "processor and system", true, check_processor},
    {"clang", "compiler", true, check_compiler},
    {"lld", "linker", true, check_linker},
    {"runtime", "runtime for programs", true, check_runtime},
    {"patching", "code can be patched", false, check_patching},
    {"membarrier", "barriers across cores", false, check_membarrier},
    {"watchpoints", "watchpoints", false, check_watchpoints},
    {"shared_memory", "shared memory", false, check_shared_memory},
    {"proc", "process information", false, check_proc},
    {"store", "store of runs", true, check_store},
};

enum { CHECK_COUNT = sizeof checks / sizeof checks[0] };

/* --- what is said --- */

static void print_text(const struct finding *findings, bool coloured)
{
    static const struct rh_table_column columns[3] = {{0}};
    struct rh_table table;
    rh_table_init(&table, columns, 3);
    for (int i = 0; i < CHECK_COUNT; i++) {
        const struct finding *f = &findings[i];
        enum rh_colour colour = f->ok              ? RH_COLOUR_GREEN
                                : checks[i].needed ? RH_COLOUR_RED
                                                   : RH_COLOUR_YELLOW;
        rh_table_add(&table, f->ok ? "ok" : checks[i].needed ? "missing" : "without", colour);
        rh_table_add(&table, checks[i].what, RH_COLOUR_NONE);
        rh_table_addf(&table, RH_COLOUR_NONE, "%s%s%s", rh_strbuf_text(&f->detail),
                      f->ok ? "" : ": ", f->ok ? "" : f->advice);
    }
    rh_table_print(&table, stdout, coloured);
    rh_table_release(&table);
}

static enum rh_status print_json(const struct finding *findings, bool usable)
{
    struct rh_json json;
    rh_json_init_file(&json, stdout);
    rh_json_begin_object(&json);
    rh_members_text(&json, "tool", "racehive");
    rh_members_text(&json, "version", RH_VERSION);
    rh_json_key(&json, "usable");
    rh_json_bool(&json, usable);
    rh_json_key(&json, "checks");
    rh_json_begin_array(&json);
    for (int i = 0; i < CHECK_COUNT; i++) {
        rh_json_begin_object(&json);
        rh_members_text(&json, "name", checks[i].name);
        rh_json_key(&json, "ok");
        rh_json_bool(&json, findings[i].ok);
        rh_json_key(&json, "needed");
        rh_json_bool(&json, checks[i].needed);
        rh_members_text(&json, "detail", rh_strbuf_text(&findings[i].detail));
        rh_members_text(&json, "advice", findings[i].ok ? NULL : findings[i].advice);
        rh_json_end_object(&json);
    }
    rh_json_end_array(&json);
    rh_json_end_object(&json);
    return rh_json_finish(&json);
}

enum rh_status rh_cmd_doctor(int argc, char **argv)
{
    bool as_json = false, usable = true;
    const struct rh_option table[] = {
        RH_OPTION_FLAG("json", &as_json, "for programs"),
        RH_OPTION_END,
    };
    const struct rh_command command = {
        .name = "racehive doctor",
        .synopsis = "[--json]",
        .summary =
            "Says what this machine can do for Racehive, and what to install. The exit status is\n"
            "1 if something is missing without which nothing works.",
        .examples = "  racehive doctor",
        .options = table,
    };
    struct rh_args args;
    enum rh_status status;
    if (!rh_cli_parse(&command, argc, argv, &args, &status))
        return status;
    if (args.argc > 0)
        return rh_fail(RH_ERR_USAGE, "doctor takes no operands (see 'racehive doctor --help')");
    struct finding findings[CHECK_COUNT];
    for (int i = 0; i < CHECK_COUNT; i++) {
        findings[i] = (struct finding){.detail = RH_STRBUF_INIT};
        checks[i].run(&findings[i]);
        usable &= findings[i].ok || !checks[i].needed;
    }
    if (as_json)
        status = print_json(findings, usable);
    else
        print_text(findings, rh_cli_coloured(stdout));
    for (int i = 0; i < CHECK_COUNT; i++)
        rh_strbuf_release(&findings[i].detail);
    rh_cli_exit_status = usable ? 0 : 1;
    return status;
}
