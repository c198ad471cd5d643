/* SPDX-License-Identifier: Apache-2.0 */
/* Names for places, against libraries that are compiled on the spot in several ways. */
#include "report/symbols/symbols.h"

#include "base/fs.h"
#include "base/testing.h"
#include "report/symbols/binary.h"

#include <string.h>

#define BUILD_ID "\x11\x22\x33\x44\x55\x66\x77\x88"
#define SOURCES  RH_SOURCE_DIR "/src/report/symbols/testdata/"

static void run(const char *const *argv)
{
    assert_int_equal(run_program(argv, NULL), 0);
}

/* Compiles a source to a library of the build id above; `extra` may be NULL. */
static char *compile(const char *folder, const char *source, const char *debug, const char *extra)
{
    char *path = rh_format("%s/libnames.so", folder);
    char *from = rh_format(SOURCES "%s", source);
    const char *argv[] = {RH_CLANG,    debug, "-O1", "-fPIC", "-shared",
                          "-nostdlib", "-o",  path,  from,    "-Wl,--build-id=0x1122334455667788",
                          extra,       NULL};
    run(argv);
    free(from);
    return path;
}

static void copy_with(const char *from, const char *to, const char *option, const char *more)
{
    const char *argv[] = {RH_OBJCOPY,       option,           more ? more : from,
                          more ? from : to, more ? to : NULL, NULL};
    run(argv);
}

/* The place of a line of the source, by the words in it. */
static uint32_t line_with(const char *source, const char *words)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    char *path = rh_format(SOURCES "%s", source);
    assert_status(RH_OK, rh_fs_read(path, &text));
    const char *at = strstr(text.data, words);
    assert_non_null(at);
    uint32_t line = 1;
    for (const char *c = text.data; c < at; c++)
        line += *c == '\n';
    rh_strbuf_release(&text);
    free(path);
    return line;
}

static struct rh_image_name name_image(const char *path)
{
    struct rh_image_name image = {.ready = 1, .build_id_size = sizeof BUILD_ID - 1};
    memcpy(image.build_id, BUILD_ID, sizeof BUILD_ID - 1);
    snprintf(image.path, sizeof image.path, "%s", path);
    return image;
}

/* A library, its symbols, and where its functions and variables really are. */
struct subject {
    struct rh_arena arena;
    struct rh_symbols *symbols;
    struct rh_image_name image;
    struct rh_symbols_frames frames;
};

static const char *const no_programs[] = {NULL};

static void open_subject(struct subject *s, const char *path)
{
    *s = (struct subject){.image = name_image(path)};
    s->symbols = rh_symbols_open(&s->arena, no_programs);
}

static void close_subject(struct subject *s)
{
    rh_vec_free(&s->frames);
    rh_symbols_close(s->symbols);
    rh_arena_release(&s->arena);
}

static struct rh_binary_symbol find_symbol(const char *path, const char *name)
{
    struct rh_binary binary;
    assert_true(rh_binary_open(&binary, path, (struct rh_build_id){NULL, 0}));
    const struct rh_binary_symbol *found = rh_binary_get(&binary.functions, name);
    if (!found)
        found = rh_binary_get(&binary.variables, name);
    assert_non_null(found);
    struct rh_binary_symbol copy = *found;
    rh_binary_close(&binary);
    return copy;
}

static void look_at(struct subject *s, uint64_t offset)
{
    rh_vec_clear(&s->frames);
    rh_symbols_add_frames(s->symbols, &s->image, offset, &s->frames);
}

/* The stack at the first place of a function whose innermost frame is of `inner`. */
static void look_for(struct subject *s, struct rh_binary_symbol function, const char *inner)
{
    for (uint64_t at = 1; at <= function.size; at++) {
        look_at(s, function.address + at);
        if (s->frames.len > 0 && s->frames.data[0].function &&
            strcmp(s->frames.data[0].function, inner) == 0)
            return;
    }
    fail_msg("no place of %s", inner);
}

static void assert_frame(const struct rh_symbols_frame *frame, const char *function,
                         const char *words, bool inlined)
{
    assert_string_equal(frame->function, function);
    assert_string_equal(frame->file, SOURCES "names.c");
    assert_int_equal(frame->line, line_with("names.c", words));
    assert_true(frame->column > 0);
    assert_int_equal(frame->inlined, inlined);
    assert_string_equal(frame->image, "libnames.so");
}

static void assert_inlining(const char *path, struct rh_binary_symbol hidden)
{
    struct subject s;
    open_subject(&s, path);
    look_for(&s, hidden, "inner");
    assert_int_equal(s.frames.len, 3);
    assert_frame(&s.frames.data[0], "inner", "/* in inner */", true);
    assert_frame(&s.frames.data[1], "middle", "/* in middle */", true);
    assert_frame(&s.frames.data[2], "hidden", "/* in hidden */", false);
    close_subject(&s);
}

static void inlined_functions_have_frames_of_their_own(void **state)
{
    static const char *const forms[][2] = {{"-gdwarf-5", NULL},
                                           {"-gdwarf-4", NULL},
                                           {"-g", "-gz=zlib"},
                                           {"-g", "-gsplit-dwarf"},
                                           {"-g", "-ffunction-sections"}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char *path = compile(*state, "names.c", forms[i][0], forms[i][1]);
        assert_inlining(path, find_symbol(path, "hidden"));
        free(path);
    }
}

static void a_call_belongs_to_the_byte_before_its_return_address(void **state)
{
    char *path = compile(*state, "names.c", "-g", NULL);
    struct rh_binary_symbol hidden = find_symbol(path, "hidden");
    struct subject s;
    open_subject(&s, path);
    look_at(&s, hidden.address + hidden.size);
    assert_string_equal(s.frames.data[s.frames.len - 1].function, "hidden");
    look_at(&s, hidden.address);
    assert_true(s.frames.len == 1 &&
                (!s.frames.data[0].function || strcmp(s.frames.data[0].function, "hidden") != 0));
    close_subject(&s);
    free(path);
}

static void debug_files_apart_are_found_by_name(void **state)
{
    char *path = compile(*state, "names.c", "-g", NULL);
    char *apart = rh_format("%s/names.debug", (const char *)*state);
    struct rh_binary_symbol hidden = find_symbol(path, "hidden");
    copy_with(path, apart, "--only-keep-debug", NULL);
    char *link = rh_format("--add-gnu-debuglink=%s", apart);
    copy_with(path, path, "--strip-all", link);
    assert_inlining(path, hidden);
    free(link);
    free(apart);
    free(path);
}

static void symbols_alone_give_functions(void **state)
{
    char *path = compile(*state, "names.c", "-g0", NULL);
    struct rh_binary_symbol hidden = find_symbol(path, "hidden");
    struct subject s;
    open_subject(&s, path);
    look_at(&s, hidden.address + 2);
    assert_int_equal(s.frames.len, 1);
    assert_string_equal(s.frames.data[0].function, "hidden");
    assert_null(s.frames.data[0].file);
    assert_int_equal(s.frames.data[0].line, 0);
    close_subject(&s);
    free(path);
}

static void a_stripped_library_has_what_it_exports(void **state)
{
    char *path = compile(*state, "names.c", "-g", NULL);
    struct rh_binary_symbol hidden = find_symbol(path, "hidden");
    struct rh_binary_symbol outer = find_symbol(path, "outer");
    struct rh_binary_symbol table = find_symbol(path, "table");
    struct subject s;
    copy_with(path, path, "--strip-all", NULL);
    open_subject(&s, path);
    look_at(&s, outer.address + 2);
    assert_string_equal(s.frames.data[0].function, "outer");
    look_at(&s, hidden.address + 2);
    assert_int_equal(s.frames.len, 1);
    assert_null(s.frames.data[0].function);
    assert_string_equal(s.frames.data[0].image, "libnames.so");
    assert_null(rh_symbols_variable(s.symbols, &s.image, table.address));
    close_subject(&s);
    free(path);
}

static void variables_have_names_and_offsets(void **state)
{
    char *path = compile(*state, "names.c", "-g", NULL);
    struct rh_binary_symbol table = find_symbol(path, "table");
    struct rh_binary_symbol calls = find_symbol(path, "hidden.calls");
    struct subject s;
    open_subject(&s, path);
    assert_string_equal(rh_symbols_variable(s.symbols, &s.image, table.address), "table");
    assert_string_equal(rh_symbols_variable(s.symbols, &s.image, table.address + 9), "table+9");
    assert_string_equal(rh_symbols_variable(s.symbols, &s.image, calls.address), "hidden.calls");
    assert_null(rh_symbols_variable(s.symbols, &s.image, 1));
    close_subject(&s);
    free(path);
}

static void assert_named(const char *expected, const char *name)
{
    assert_non_null(name);
    assert_string_equal(name, expected);
}

/* Without local symbols, debug information still knows them, also those of functions. */
static void variables_without_symbols_are_found_too(void **state)
{
    char *path = compile(*state, "names.c", "-g", NULL);
    uint64_t table = find_symbol(path, "table").address;
    uint64_t calls = find_symbol(path, "hidden.calls").address;
    free(path);
    path = compile(*state, "names.c", "-g", "-Wl,--discard-all");
    struct subject s;
    open_subject(&s, path);
    assert_named("table+8", rh_symbols_variable(s.symbols, &s.image, table + 8));
    assert_named("calls", rh_symbols_variable(s.symbols, &s.image, calls));
    close_subject(&s);
    free(path);
}

static void cxx_names_are_demangled(void **state)
{
    static const char *const forms[] = {"-g", "-g0"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char *path = compile(*state, "names.cc", forms[i], NULL);
        struct rh_binary_symbol add = find_symbol(path, "_ZN4shop7Counter3addEl");
        struct rh_binary_symbol calls = find_symbol(path, "_ZN4shop7Counter5callsE");
        struct subject s;
        open_subject(&s, path);
        look_at(&s, add.address + 2);
        assert_string_equal(s.frames.data[0].function, "shop::Counter::add(long)");
        assert_string_equal(rh_symbols_variable(s.symbols, &s.image, calls.address),
                            "shop::Counter::calls");
        assert_string_equal(rh_symbols_demangle(s.symbols, "_Znonsense"), "_Znonsense");
        assert_string_equal(rh_symbols_demangle(s.symbols, "main"), "main");
        close_subject(&s);
        free(path);
    }
}

static void other_builds_give_no_names(void **state)
{
    char *path = compile(*state, "names.c", "-g", NULL);
    struct rh_binary_symbol outer = find_symbol(path, "outer");
    struct subject s;
    open_subject(&s, path);
    s.image.build_id[0]++;
    look_at(&s, outer.address + 2);
    assert_int_equal(s.frames.len, 1);
    assert_null(s.frames.data[0].function);
    s.image.build_id_size = 0; /* an image without one is taken at its path */
    look_at(&s, outer.address + 2);
    assert_string_equal(s.frames.data[s.frames.len - 1].function, "outer");
    snprintf(s.image.path, sizeof s.image.path, "/no/such/file");
    look_at(&s, outer.address + 2);
    assert_int_equal(s.frames.len, 1);
    assert_null(s.frames.data[0].function);
    assert_string_equal(s.frames.data[0].image, "file");
    snprintf(s.image.path, sizeof s.image.path, SOURCES "names.c");
    look_at(&s, outer.address + 2);
    assert_null(s.frames.data[0].function);
    close_subject(&s);
    free(path);
}

static void the_executable_is_sought_where_the_caller_says(void **state)
{
    char *path = compile(*state, "names.c", "-g", NULL);
    const char *programs[] = {"/no/such/file", SOURCES "names.c", path, NULL};
    struct rh_binary_symbol outer = find_symbol(path, "outer");
    struct subject s = {.image = name_image("")};
    s.symbols = rh_symbols_open(&s.arena, programs);
    look_at(&s, outer.address + 2);
    assert_string_equal(s.frames.data[0].function, "outer");
    assert_null(s.frames.data[0].image);
    close_subject(&s);
    free(path);
}

static void the_runtime_is_not_in_stacks(void **state)
{
    char *path = compile(*state, "runtime.c", "-g0", NULL);
    static const char *const shown[] = {"call_before", "call_after"};
    static const char *const left_out[] = {"__rh_image_register", "run_thread", "__rh_benign_race"};
    struct subject s;
    open_subject(&s, path);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        look_at(&s, find_symbol(path, shown[i]).address + 2);
        assert_int_equal(s.frames.len, 1);
        assert_string_equal(s.frames.data[0].function, shown[i]);
    }
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
        look_at(&s, find_symbol(path, left_out[i]).address + 2);
        assert_int_equal(s.frames.len, 0);
    }
    close_subject(&s);
    free(path);
}

/* What the runtime really is: see find_runtime of symbols.c. */
static void all_of_the_runtime_that_calls_back_lies_between_its_marks(void **state)
{
    (void)state;
    static const char *const calling[] = {"pthread_create", "run_thread",  "thrd_create",
                                          "pthread_once",   "rt_once_run", "call_once"};
    static const char path[] = RH_BINARY_DIR "/lib/racehive/rt.o";
    struct rh_binary_symbol first = find_symbol(path, "__rh_image_register");
    struct rh_binary_symbol last = find_symbol(path, "__rh_benign_race");
    for (size_t i = 0; i < sizeof calling / sizeof calling[0]; i++) {
        struct rh_binary_symbol it = find_symbol(path, calling[i]);
        assert_true(it.address > first.address && it.address < last.address);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(inlined_functions_have_frames_of_their_own),
        SCRATCH_TEST(a_call_belongs_to_the_byte_before_its_return_address),
        SCRATCH_TEST(debug_files_apart_are_found_by_name),
        SCRATCH_TEST(symbols_alone_give_functions),
        SCRATCH_TEST(a_stripped_library_has_what_it_exports),
        SCRATCH_TEST(variables_have_names_and_offsets),
        SCRATCH_TEST(variables_without_symbols_are_found_too),
        SCRATCH_TEST(cxx_names_are_demangled),
        SCRATCH_TEST(other_builds_give_no_names),
        SCRATCH_TEST(the_executable_is_sought_where_the_caller_says),
        SCRATCH_TEST(the_runtime_is_not_in_stacks),
        cmocka_unit_test(all_of_the_runtime_that_calls_back_lies_between_its_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
