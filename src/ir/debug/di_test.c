/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the operand positions of debug-information nodes against metadata that clang wrote.
 */
#include "ir/debug/di.h"

#include <stdlib.h>

#include "ir/module.h"
#include "ir/testing.h"
#include "ir/testing_debug.h"

static void assert_text(const struct rh_module *m, LLVMMetadataRef node, enum rh_di_field field,
                        const char *expected)
{
    size_t len;
    const char *text = rh_di_text(m->context, node, field, &len);

    assert_int_equal(len, strlen(expected));
    assert_memory_equal(text, expected, len);
}

static LLVMMetadataRef get_subprogram(const struct rh_module *m, const char *function)
{
    return LLVMGetSubprogram(get_function(m, function)->handle);
}

static void test_functions(void **state)
{
    struct rh_module *m = open_text(queue_module);
    LLVMMetadataRef push = get_subprogram(m, "_ZN4work5queue4pushEi");
    LLVMMetadataRef queue = rh_di_get(m->context, push, RH_DI_SCOPE);
    LLVMMetadataRef declared = rh_di_get(m->context, push, RH_DI_DECLARED);

    (void)state;
    assert_text(m, push, RH_DI_NAME, "push");
    assert_text(m, push, RH_DI_LINKAGE, "_ZN4work5queue4pushEi");
    assert_text(m, queue, RH_DI_NAME, "queue");
    assert_text(m, rh_di_get(m->context, queue, RH_DI_SCOPE), RH_DI_NAME, "work");
    assert_int_equal(LLVMDISubprogramGetLine(declared), 4);
    assert_int_equal(LLVMGetMetadataKind(rh_di_get(m->context, push, RH_DI_UNIT)),
                     LLVMDICompileUnitMetadataKind);
    assert_ptr_equal(rh_di_get(m->context, push, RH_DI_FILE), LLVMDIScopeGetFile(push));
    rh_ir_close(m);
}

static void test_function_types(void **state)
{
    struct rh_module *m = open_text(queue_module);
    LLVMMetadataRef push = get_subprogram(m, "_ZN4work5queue4pushEi");
    LLVMMetadataRef type = rh_di_get(m->context, push, RH_DI_TYPE);
    size_t count;
    LLVMMetadataRef *types =
        rh_di_tuple(m->context, rh_di_get(m->context, type, RH_DI_ELEMENTS), &count);
    LLVMMetadataRef self;

    (void)state;
    assert_int_equal(count, 3);
    assert_null(types[0]);
    self = rh_di_get(m->context, types[1], RH_DI_TYPE);
    assert_text(m, self, RH_DI_NAME, "queue");
    assert_text(m, types[2], RH_DI_NAME, "int");
    free(types);
    rh_ir_close(m);
}

static void test_struct_members(void **state)
{
    struct rh_module *m = open_text(bank_module);
    LLVMMetadataRef unit = rh_di_get(m->context, get_subprogram(m, "transfer"), RH_DI_UNIT);
    size_t global_count, member_count;
    LLVMMetadataRef *globals =
        rh_di_tuple(m->context, rh_di_get(m->context, unit, RH_DI_GLOBALS), &global_count);
    LLVMMetadataRef variable, type, *members;

    (void)state;
    assert_int_equal(global_count, 1);
    assert_non_null(rh_di_get(m->context, globals[0], RH_DI_EXPRESSION));
    variable = rh_di_get(m->context, globals[0], RH_DI_VARIABLE);
    assert_text(m, variable, RH_DI_NAME, "bank");
    assert_text(m, variable, RH_DI_LINKAGE, "");
    assert_ptr_equal(rh_di_get(m->context, variable, RH_DI_SCOPE), unit);
    type = rh_di_get(m->context, variable, RH_DI_TYPE);
    assert_text(m, type, RH_DI_NAME, "account");
    members = rh_di_tuple(m->context, rh_di_get(m->context, type, RH_DI_ELEMENTS), &member_count);
    assert_int_equal(member_count, 2);
    assert_text(m, members[1], RH_DI_NAME, "count");
    assert_text(m, rh_di_get(m->context, members[1], RH_DI_TYPE), RH_DI_NAME, "int");
    assert_int_equal(LLVMDITypeGetOffsetInBits(members[1]), 64);
    free(members);
    free(globals);
    rh_ir_close(m);
}

static void test_scopes_climb_to_their_function(void **state)
{
    struct rh_module *m = open_text(bank_module);
    struct rh_value *store = get_first(get_function(m, "transfer"), RH_OP_STORE);
    LLVMMetadataRef block = LLVMDILocationGetScope(LLVMInstructionGetDebugLoc(store->handle));
    LLVMMetadataRef function = rh_di_subprogram(m->context, block);

    (void)state;
    assert_int_equal(LLVMGetMetadataKind(block), LLVMDILexicalBlockMetadataKind);
    assert_text(m, function, RH_DI_NAME, "deposit");
    assert_ptr_equal(rh_di_subprogram(m->context, function), function);
    assert_null(rh_di_subprogram(m->context, LLVMDIScopeGetFile(function)));
    rh_ir_close(m);
}

static const char ranges[] =
    "!keep = !{!0, !4}\n"
    "!0 = !DICompositeType(tag: DW_TAG_array_type, baseType: !1, size: 96, elements: !2)\n"
    "!1 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)\n"
    "!2 = !{!3}\n"
    "!3 = !DISubrange(count: 3)\n"
    "!4 = !DILocalVariable(name: \"x\", arg: 1, scope: !5, file: !6, line: 7, type: !1)\n"
    "!5 = distinct !DISubprogram(name: \"f\", scope: !6, file: !6, line: 1, unit: !7,\n"
    "                            spFlags: DISPFlagDefinition)\n"
    "!6 = !DIFile(filename: \"a.c\", directory: \"/\")\n"
    "!7 = distinct !DICompileUnit(language: DW_LANG_C11, file: !6, emissionKind: FullDebug)\n"
    "!llvm.dbg.cu = !{!7}\n"
    "!llvm.module.flags = !{!8}\n"
    "!8 = !{i32 2, !\"Debug Info Version\", i32 3}\n";

static void test_array_ranges_and_local_variables(void **state)
{
    struct rh_module *m = open_text(ranges);
    LLVMValueRef kept[2];
    LLVMMetadataRef array, variable, *dimensions;
    LLVMValueRef extent;
    size_t count;

    (void)state;
    LLVMGetNamedMetadataOperands(m->llvm, "keep", kept);
    array = LLVMValueAsMetadata(kept[0]);
    variable = LLVMValueAsMetadata(kept[1]);
    assert_text(m, rh_di_get(m->context, array, RH_DI_TYPE), RH_DI_NAME, "int");
    dimensions = rh_di_tuple(m->context, rh_di_get(m->context, array, RH_DI_ELEMENTS), &count);
    assert_int_equal(count, 1);
    extent = rh_di_constant(m->context, dimensions[0], RH_DI_COUNT);
    assert_int_equal(LLVMConstIntGetZExtValue(extent), 3);
    assert_text(m, variable, RH_DI_NAME, "x");
    assert_text(m, rh_di_get(m->context, variable, RH_DI_TYPE), RH_DI_NAME, "int");
    assert_text(m, rh_di_get(m->context, variable, RH_DI_SCOPE), RH_DI_NAME, "f");
    assert_ptr_equal(rh_di_get(m->context, variable, RH_DI_FILE), LLVMDIVariableGetFile(variable));
    free(dimensions);
    rh_ir_close(m);
}

static void test_absent_fields(void **state)
{
    struct rh_module *m = open_text(bank_module);
    LLVMMetadataRef transfer = get_subprogram(m, "transfer");
    size_t count = 1;

    (void)state;
    assert_null(rh_di_get(m->context, NULL, RH_DI_NAME));
    assert_null(rh_di_get(m->context, transfer, RH_DI_ELEMENTS));
    assert_null(rh_di_get(m->context, transfer, RH_DI_DECLARED));
    assert_text(m, transfer, RH_DI_LINKAGE, "");
    assert_null(rh_di_constant(m->context, transfer, RH_DI_NAME));
    assert_null(rh_di_tuple(m->context, transfer, &count));
    assert_int_equal(count, 0);
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_function_types),
        cmocka_unit_test(test_struct_members),
        cmocka_unit_test(test_scopes_climb_to_their_function),
        cmocka_unit_test(test_array_ranges_and_local_variables),
        cmocka_unit_test(test_absent_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
