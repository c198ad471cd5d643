/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions ask not to be instrumented: see ignored.h. */
#include "ir/read/ignored.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/strbuf.h"
#include "ir/debug/di.h"

/* An entry of llvm.global.annotations: what is annotated, the text, file, line, further arguments.
 */
enum { ENTRY_VALUE, ENTRY_TEXT, ENTRY_ARGS = 4, ENTRY_FIELDS };

static bool is_global(LLVMValueRef value)
{
    return value && LLVMIsAGlobalVariable(value) && LLVMGetInitializer(value);
}

/* Whether a pointer is to this string. */
static bool is_text(LLVMValueRef pointer, const char *text)
{
    size_t len;

    if (!is_global(pointer) || !LLVMIsConstantString(LLVMGetInitializer(pointer)))
        return false;
    const char *found = LLVMGetAsString(LLVMGetInitializer(pointer), &len);
    return len == strlen(text) + 1 && memcmp(found, text, len) == 0;
}

/* The arguments of no_sanitize: the sanitizers that are switched off. */
static bool names_thread(LLVMValueRef args)
{
    LLVMValueRef list = is_global(args) ? LLVMGetInitializer(args) : NULL;

    if (!list || !LLVMIsAConstantStruct(list))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(list); i++)
        if (is_text(LLVMGetOperand(list, (unsigned)i), "thread") ||
            is_text(LLVMGetOperand(list, (unsigned)i), "all"))
            return true;
    return false;
}

static bool hides(LLVMValueRef entry)
{
    LLVMValueRef text = LLVMGetOperand(entry, ENTRY_TEXT);

    return is_text(text, "racehive-ignore") || (is_text(text, "racehive-no-sanitize") &&
                                                names_thread(LLVMGetOperand(entry, ENTRY_ARGS)));
}

/* What copies of a function have in common, whichever file they come from. */
static void describe(struct rh_snapshot *s, LLVMMetadataRef subprogram, struct rh_strbuf *out)
{
    LLVMMetadataRef file = LLVMDIScopeGetFile(subprogram);
    unsigned len = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &len) : "";

    rh_strbuf_addf(out, "%s\n%s\n%.*s:%u", rh_di_text(s->m->context, subprogram, RH_DI_NAME, NULL),
                   rh_di_text(s->m->context, subprogram, RH_DI_LINKAGE, NULL), (int)len, name,
                   LLVMDISubprogramGetLine(subprogram));
}

static void add(struct rh_snapshot *s, LLVMValueRef fn)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(fn);
    struct rh_strbuf text = RH_STRBUF_INIT;

    rh_map_put_ptr(&s->ignored_functions, rh_map_key(fn), fn);
    if (subprogram) {
        describe(s, subprogram, &text);
        rh_strmap_put(&s->ignored, rh_strbuf_text(&text), fn);
    }
    rh_strbuf_release(&text);
}

void rh_ignored_read(struct rh_snapshot *s)
{
    LLVMValueRef table = LLVMGetNamedGlobal(s->m->llvm, "llvm.global.annotations");
    LLVMValueRef list = is_global(table) ? LLVMGetInitializer(table) : NULL;

    for (int i = 0; list && i < LLVMGetNumOperands(list); i++) {
        LLVMValueRef entry = LLVMGetOperand(list, (unsigned)i);

        if (!LLVMIsAConstantStruct(entry) || LLVMGetNumOperands(entry) != ENTRY_FIELDS)
            continue;
        LLVMValueRef fn = LLVMGetOperand(entry, ENTRY_VALUE);
        if (LLVMIsAFunction(fn) && hides(entry))
            add(s, fn);
    }
}

bool rh_ignored_has(struct rh_snapshot *s, LLVMMetadataRef subprogram)
{
    struct rh_strbuf text = RH_STRBUF_INIT;

    if (!subprogram || s->ignored.len == 0)
        return false;
    describe(s, subprogram, &text);
    bool found = rh_strmap_has(&s->ignored, rh_strbuf_text(&text));
    rh_strbuf_release(&text);
    return found;
}

static bool has_attribute(LLVMValueRef fn, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    return kind && LLVMGetEnumAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                               kind) != NULL;
}

/* The enum attribute, or what serves compilers and languages that lack it. */
bool rh_ignored_asks(struct rh_snapshot *s, LLVMValueRef fn)
{
    static const char mark[] = "racehive-ignore";
    const char *section = LLVMGetSection(fn);

    return has_attribute(fn, "disable_sanitizer_instrumentation") ||
           LLVMGetStringAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mark,
                                         sizeof mark - 1) ||
           (section && strcmp(section, ".text.rh_ignore") == 0) ||
           rh_map_get_ptr(&s->ignored_functions, rh_map_key(fn));
}
