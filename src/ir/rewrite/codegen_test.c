/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of writing: bitcode, merged bitcode, and objects that run as those of the compiler do. */
#include "ir/rewrite/rewrite_testing.h"

#include <elf.h>

#include "ir/rewrite/link.h"

/* What goes to the compiler, up to six more words. */
struct flags {
    const char *words[6];
};

static void compile_with(struct workshop *w, const char *source, const char *output,
                         const struct flags *flags)
{
    const char *argv[16] = {RH_CLANG, "-c", source, "-o", output};
    size_t n = 5;
    for (size_t i = 0; i < 6 && flags->words[i]; i++)
        argv[n++] = flags->words[i];
    run_argv(w, argv);
}

/* The whole program as one module, the way racehive-cc gets it: fat objects of two units, merged by
 * the linker. */
static const char *merge_units(struct workshop *w, const char *source, const char *opt,
                               const char *kind)
{
    const char *first = at(w, "first.o"), *second = at(w, "second.o"), *merged = at(w, "merged.bc");
    struct flags flags = {{"-g", opt, kind, "-flto=full", "-ffat-lto-objects", "-DFIRST"}};
    compile_with(w, source, first, &flags);
    flags.words[5] = NULL;
    compile_with(w, source, second, &flags);
    run(w, RH_CLANG, "--driver-mode=g++", "--ld-path=" RH_LLD, "-flto=full", "-ffat-lto-objects",
        "-Wl,--fat-lto-objects,--lto-emit-llvm", kind, first, second, "-o", merged);
    return merged;
}

/* The program as the compiler alone builds it. */
static const char *build_plainly(struct workshop *w, const char *source, const char *opt,
                                 const char *kind)
{
    const char *first = at(w, "first.o"), *second = at(w, "second.o"), *program = at(w, "plain");
    struct flags flags = {{"-g", opt, kind, "-DFIRST"}};
    compile_with(w, source, first, &flags);
    flags.words[3] = NULL;
    compile_with(w, source, second, &flags);
    run(w, RH_CLANG, "--driver-mode=g++", first, second, "-o", program);
    return run(w, program);
}

/* An object file in memory. */
struct object {
    struct rh_strbuf bytes;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const char *names;
};

static void read_object(const char *path, struct object *o)
{
    rh_strbuf_init(&o->bytes);
    assert_ok(rh_fs_read(path, &o->bytes));
    assert_true(o->bytes.len > sizeof *o->header);
    assert_memory_equal(o->bytes.data, ELFMAG, SELFMAG);
    o->header = (const void *)o->bytes.data;
    o->sections = (const void *)(o->bytes.data + o->header->e_shoff);
    o->names = o->bytes.data + o->sections[o->header->e_shstrndx].sh_offset;
}

static const Elf64_Shdr *find_section(const struct object *o, const char *name)
{
    for (unsigned i = 0; i < o->header->e_shnum; i++) {
        if (strcmp(o->names + o->sections[i].sh_name, name) == 0)
            return &o->sections[i];
    }
    return NULL;
}

static void test_order_of_constructors(void **state)
{
    struct workshop *w = *state;
    static const char *const opts[] = {"-O0", "-O2"};
    static const char expected[] = "early middle later +shared +member plain +first +second main 1 "
                                   "-second -first -member -shared unordered sooner last\n";
    for (size_t i = 0; i < sizeof opts / sizeof *opts; i++) {
        assert_string_equal(build_plainly(w, TESTDATA("order.cpp"), opts[i], "-fPIE"), expected);
        const char *merged = merge_units(w, TESTDATA("order.cpp"), opts[i], "-fPIE");
        const char *object = generate(w, open_file(merged), 2);
        assert_string_equal(link_and_run(w, object), expected);

        struct object o;
        read_object(object, &o);
        static const struct {
            const char *name;
            unsigned type;
        } sections[] = {
            {".init_array", SHT_INIT_ARRAY},       {".init_array.00101", SHT_INIT_ARRAY},
            {".init_array.09999", SHT_INIT_ARRAY}, {".init_array.65000", SHT_INIT_ARRAY},
            {".fini_array", SHT_FINI_ARRAY},       {".fini_array.00101", SHT_FINI_ARRAY},
        };
        for (size_t k = 0; k < sizeof sections / sizeof *sections; k++) {
            const Elf64_Shdr *section = find_section(&o, sections[k].name);
            if (!section)
                fail_msg("no section %s", sections[k].name);
            assert_int_equal(section->sh_type, sections[k].type);
            assert_int_equal(section->sh_flags & (SHF_ALLOC | SHF_WRITE), SHF_ALLOC | SHF_WRITE);
        }
        assert_null(find_section(&o, ".ctors"));
        rh_strbuf_release(&o.bytes);
    }
}

/* Units that are linked only as machine code: what both have, with its constructor, stays once. */
static void test_groups_survive(void **state)
{
    struct workshop *w = *state;
    const char *expected = build_plainly(w, TESTDATA("order.cpp"), "-O2", "-fPIE");
    const char *objects[] = {at(w, "first.o"), at(w, "second.o")};
    const char *bitcode = at(w, "unit.bc"), *program = at(w, "program");
    struct flags flags = {{"-O2", "-fPIE", "-emit-llvm", "-DFIRST"}};
    for (size_t i = 0; i < 2; i++) {
        compile_with(w, TESTDATA("order.cpp"), bitcode, &flags);
        struct rh_module *m = open_file(bitcode);
        struct rh_codegen cg = {.opt_level = 2, .pic = true};
        assert_ok(rh_ir_write_object(m, &cg, objects[i]));
        rh_ir_close(m);
        flags.words[3] = NULL;
    }
    struct object o;
    read_object(objects[1], &o);
    size_t grouped = 0;
    for (unsigned i = 0; i < o.header->e_shnum; i++)
        grouped += o.sections[i].sh_type == SHT_INIT_ARRAY && (o.sections[i].sh_flags & SHF_GROUP);
    assert_int_equal(grouped, 2); /* of the inline variable and of the template's member */
    rh_strbuf_release(&o.bytes);
    run(w, RH_CLANG, "--driver-mode=g++", objects[0], objects[1], "-o", program);
    assert_string_equal(run(w, program), expected);
}

static void test_features_survive(void **state)
{
    struct workshop *w = *state;
    static const char *const opts[] = {"-O0", "-O2"};
    for (size_t i = 0; i < sizeof opts / sizeof *opts; i++) {
        const char *expected = build_plainly(w, TESTDATA("features.c"), opts[i], "-fcommon");
        assert_string_equal(expected, "42 38 3\n16 105 13\n-1 2 22\nzero features.c many\n");
        const char *merged = merge_units(w, TESTDATA("features.c"), opts[i], "-fcommon");
        for (unsigned level = 0; level <= 3; level++) {
            const char *object = generate(w, open_file(merged), level);
            check_dwarf(w, object);
            assert_string_equal(link_and_run(w, object), expected);
        }
    }
}

static void test_exceptions_survive(void **state)
{
    struct workshop *w = *state;
    static const char *const opts[] = {"-O0", "-O2"};
    for (size_t i = 0; i < sizeof opts / sizeof *opts; i++) {
        const char *expected = compile_and_run(w, TESTDATA("unwind.cpp"), opts[i]);
        const char *bitcode = compile(w, TESTDATA("unwind.cpp"), opts[i]);
        for (unsigned level = 0; level <= 2; level += 2) {
            const char *object = generate(w, open_file(bitcode), level);
            check_dwarf(w, object);
            assert_string_equal(link_and_run(w, object), expected);
        }
    }
}

static void test_symbol_versions_survive(void **state)
{
    struct workshop *w = *state;
    static const char script_text[] = "V1 { global: greet; local: *; };\nV2 {} V1;\n";
    static const char user_text[] = "#include <stdio.h>\n"
                                    "int greet(void), old(void);\n"
                                    "__asm__(\".symver old, greet@V1\");\n"
                                    "int main(void) { printf(\"%d %d\\n\", greet(), old()); }\n";
    const char *script = at(w, "versions"), *user = at(w, "user.c"), *library = at(w, "libv.so");
    const char *program = at(w, "program"), *bitcode = at(w, "versions.bc");
    assert_ok(rh_fs_write(script, script_text, strlen(script_text), 0666));
    assert_ok(rh_fs_write(user, user_text, strlen(user_text), 0666));
    compile_with(w, TESTDATA("versions.c"), bitcode,
                 &(struct flags){{"-O2", "-fPIC", "-emit-llvm"}});
    const char *object = generate(w, open_file(bitcode), 2);
    run(w, RH_CLANG, "--ld-path=" RH_LLD, "-shared", object, "-o", library,
        rh_arena_printf(&w->arena, "-Wl,--version-script=%s", script));
    run(w, RH_CLANG, user, library, rh_arena_printf(&w->arena, "-Wl,-rpath,%s", w->dir), "-o",
        program);
    assert_string_equal(run(w, program), "2 1\n");
}

static void test_code_models(void **state)
{
    struct workshop *w = *state;
    static const struct {
        const char *model;
        bool wide; /* calls go through 64-bit addresses */
    } cases[] = {{"-mcmodel=small", false}, {"-mcmodel=large", true}};
    const char *expected = compile_and_run(w, TESTDATA("loops.c"), "-O1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *bitcode = at(w, "model.bc"), *object = at(w, "model.o");
        const char *program = at(w, "program");
        compile_with(w, TESTDATA("loops.c"), bitcode,
                     &(struct flags){{"-fwrapv", "-O1", "-fno-pic", "-emit-llvm", cases[i].model}});
        struct rh_module *m = open_file(bitcode);
        assert_ok(rh_ir_write_object(m, &(struct rh_codegen){.opt_level = 2}, object));
        rh_ir_close(m);
        struct object o;
        read_object(object, &o);
        const Elf64_Shdr *relocations = find_section(&o, ".rela.text.main");
        assert_non_null(relocations);
        const Elf64_Rela *rela = (const void *)(o.bytes.data + relocations->sh_offset);
        bool wide = false;
        for (size_t k = 0; k < relocations->sh_size / sizeof *rela; k++)
            wide |= ELF64_R_TYPE(rela[k].r_info) == R_X86_64_64;
        assert_int_equal(wide, cases[i].wide);
        rh_strbuf_release(&o.bytes);
        run(w, RH_CLANG, "-no-pie", object, "-o", program);
        assert_string_equal(run(w, program), expected);
    }
}

static void test_function_sections(void **state)
{
    struct workshop *w = *state;
    struct rh_module *m = open_text("target triple = \"x86_64-unknown-linux-gnu\"\n"
                                    "$grouped = comdat any\n"
                                    "define void @alone() { ret void }\n"
                                    "define void @placed() section \".mine\" { ret void }\n"
                                    "define void @grouped() comdat { ret void }\n"
                                    "define void @\"\\01exact\"() { ret void }\n");
    struct object o;
    read_object(generate(w, m, 2), &o);
    static const char *const present[] = {".text.alone", ".mine", ".text.grouped", ".text.exact"};
    for (size_t i = 0; i < sizeof present / sizeof *present; i++) {
        if (!find_section(&o, present[i]))
            fail_msg("no section %s", present[i]);
    }
    assert_null(find_section(&o, ".text.placed"));
    assert_int_equal(find_section(&o, ".text.grouped")->sh_flags & SHF_GROUP, SHF_GROUP);
    rh_strbuf_release(&o.bytes);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void test_failures(void **state)
{
    struct workshop *w = *state;
    struct rh_codegen cg = {.opt_level = 2};
    const char *path = at(w, "out");
    static const struct {
        const char *text;
        enum rh_status status;
        const char *message;
    } cases[] = {
        {"target triple = \"x86_64-unknown-linux-gnu\"\n"
         "define void @f() { call void asm sideeffect \"frobnicate %eax\", \"\"() ret void }",
         RH_ERR_INPUT, "frobnicate"},
        {"target triple = \"x86_64-unknown-linux-gnu\"\n"
         "define void @f(i32 %x) {"
         " call void asm sideeffect \"nop\", \"{nowhere}\"(i32 %x) ret void }",
         RH_ERR_INPUT, "nowhere"},
        {"target triple = \"x86_64-unknown-linux-gnu\"\n"
         "module asm \"garbage here\"\n"
         "define void @f() { ret void }",
         RH_ERR_INPUT, "garbage"},
        {"target triple = \"nosuch-unknown-linux-gnu\"\n"
         "define void @f() { ret void }",
         RH_ERR_UNSUPPORTED, "nosuch"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rh_module *m = open_text(cases[i].text);
        assert_int_equal(rh_ir_write_object(m, &cg, path), cases[i].status);
        assert_non_null(strstr(rh_error_text(), cases[i].message));
        assert_false(exists(path));
        rh_ir_close(m);
    }
}

static void test_invalid_module_is_not_written(void **state)
{
    struct workshop *w = *state;
    struct rh_module *m = open_text("target triple = \"x86_64-unknown-linux-gnu\"\n"
                                    "define i32 @f(i32 %x) {\n"
                                    "  %y = add i32 %x, 1\n"
                                    "  ret i32 %y\n"
                                    "}\n");
    const char *path = at(w, "out");
    struct rh_value *add = find_inst(m, "f", RH_OP_ADD, NULL);
    LLVMSetOperand(add->handle, 0, add->handle);
    assert_int_equal(rh_ir_verify(m), RH_ERR_INTERNAL);
    assert_non_null(strstr(rh_error_text(), "own value"));
    assert_int_equal(rh_ir_write_object(m, &(struct rh_codegen){0}, path), RH_ERR_INTERNAL);
    assert_false(exists(path));
    rh_ir_close(m);
}

static void test_link(void **state)
{
    struct workshop *w = *state;
    const char *first = at(w, "first.bc"), *second = at(w, "second.bc"), *both = at(w, "both.bc");
    const char *missing = at(w, "missing.bc"), *bad = at(w, "bad.bc");
    compile_with(w, TESTDATA("features.c"), first,
                 &(struct flags){{"-g", "-O2", "-fcommon", "-emit-llvm", "-DFIRST"}});
    compile_with(w, TESTDATA("features.c"), second,
                 &(struct flags){{"-g", "-O2", "-fcommon", "-emit-llvm"}});
    assert_ok(rh_fs_write(bad, "BC\xC0\xDE and then nothing", 22, 0666));

    assert_int_equal(rh_ir_link((const char *const[]){first, missing}, 2, both), RH_ERR_NOT_FOUND);
    assert_int_equal(rh_ir_link((const char *const[]){first, bad}, 2, both), RH_ERR_INPUT);
    assert_int_equal(rh_ir_link((const char *const[]){second, second}, 2, both), RH_ERR_INPUT);
    assert_non_null(strstr(rh_error_text(), "multiply defined"));
    assert_false(exists(both));

    assert_ok(rh_ir_link((const char *const[]){first, second}, 2, both));
    const char *object = generate(w, open_file(both), 2);
    check_dwarf(w, object);
    assert_string_equal(link_and_run(w, object),
                        build_plainly(w, TESTDATA("features.c"), "-O2", "-fcommon"));
    assert_ok(rh_ir_link((const char *const[]){both}, 1, both));
}

#define TEST(body) cmocka_unit_test_setup_teardown(body, open_workshop, close_workshop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_order_of_constructors),
        TEST(test_groups_survive),
        TEST(test_features_survive),
        TEST(test_exceptions_survive),
        TEST(test_symbol_versions_survive),
        TEST(test_code_models),
        TEST(test_function_sections),
        TEST(test_failures),
        TEST(test_invalid_module_is_not_written),
        TEST(test_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
