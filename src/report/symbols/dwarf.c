/* SPDX-License-Identifier: Apache-2.0 */
/* What debug information says of an address: see dwarf.h. */
#include "report/symbols/dwarf.h"

#include <dwarf.h>
#include <string.h>

/* Real nesting is far below this; a damaged file may contain a cycle. */
enum { DEEPEST = 200 };

struct scopes RH_VEC_BODY(Dwarf_Die);

static void add_ranges(struct rh_dwarf *dwarf, Dwarf_Die *root, size_t unit)
{
    Dwarf_Addr base, begin, end;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(root, at, &base, &begin, &end)) > 0)
        rh_vec_push(&dwarf->ranges, (struct rh_dwarf_range){begin, end, unit});
}

void rh_dwarf_init(struct rh_dwarf *dwarf, Dwarf *from)
{
    memset(dwarf, 0, sizeof *dwarf);
    Dwarf_CU *unit = NULL;
    Dwarf_Die root, split;
    uint8_t kind;
    while (from && dwarf_get_units(from, unit, &unit, NULL, &kind, &root, &split) == 0) {
        if (kind != DW_UT_compile && kind != DW_UT_skeleton)
            continue;
        bool is_split = kind == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit;
        rh_vec_push(&dwarf->units, (struct rh_dwarf_unit){root, is_split ? split : root});
        add_ranges(dwarf, &root, dwarf->units.len - 1);
    }
}

void rh_dwarf_release(struct rh_dwarf *dwarf)
{
    rh_vec_free(&dwarf->units);
    rh_vec_free(&dwarf->ranges);
}

static bool has_pc(Dwarf_Die *die, uint64_t address)
{
    return dwarf_haspc(die, address) == 1;
}

static bool find_scopes(Dwarf_Die *die, uint64_t address, int depth, struct scopes *scopes);

/* Looks into one child; true if the address is in it. */
static bool enter_scope(Dwarf_Die *child, uint64_t address, int depth, struct scopes *scopes)
{
    switch (dwarf_tag(child)) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
        if (!has_pc(child, address))
            return false;
        rh_vec_push(scopes, *child);
        find_scopes(child, address, depth + 1, scopes);
        return true;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        if (!has_pc(child, address))
            return false;
        find_scopes(child, address, depth + 1, scopes);
        return true;
    case DW_TAG_namespace:
        return find_scopes(child, address, depth + 1, scopes);
    default:
        return false;
    }
}

/* Adds the functions below `die` that hold the address, outermost first. */
static bool find_scopes(Dwarf_Die *die, uint64_t address, int depth, struct scopes *scopes)
{
    Dwarf_Die child;
    if (depth > DEEPEST || dwarf_child(die, &child) != 0)
        return false;
    do
        if (enter_scope(&child, address, depth, scopes))
            return true;
    while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* A declaration, a definition and an inlined copy share their names by reference. */
static const char *get_text(Dwarf_Die *die, unsigned int name)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static const char *get_linkage(Dwarf_Die *die)
{
    const char *name = get_text(die, DW_AT_linkage_name);
    return name ? name : get_text(die, DW_AT_MIPS_linkage_name);
}

static uint64_t get_number(Dwarf_Die *die, unsigned int name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    return dwarf_formudata(dwarf_attr(die, name, &attribute), &number) == 0 ? number : 0;
}

/* Paths are from the folder that the compiler ran in. */
static const char *complete_path(struct rh_dwarf_unit *unit, struct rh_arena *arena,
                                 const char *path)
{
    const char *folder = get_text(&unit->root, DW_AT_comp_dir);
    if (!path)
        return NULL;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (*path == '/' || !folder)
        return rh_arena_strdup(arena, path);
    return rh_arena_printf(arena, "%s/%s", folder, path);
}

static void set_own_line(struct rh_dwarf_unit *unit, struct rh_arena *arena, uint64_t address,
                         struct rh_dwarf_frame *frame)
{
    Dwarf_Line *line = dwarf_getsrc_die(&unit->root, address);
    int number;
    if (!line)
        return;
    frame->file = complete_path(unit, arena, dwarf_linesrc(line, NULL, NULL));
    if (dwarf_lineno(line, &number) == 0 && number > 0)
        frame->line = (uint32_t)number;
    if (dwarf_linecol(line, &number) == 0 && number > 0)
        frame->column = (uint32_t)number;
}

/* The line of the call that `inlined` stands for. */
static void set_call_line(struct rh_dwarf_unit *unit, struct rh_arena *arena, Dwarf_Die *inlined,
                          struct rh_dwarf_frame *frame)
{
    Dwarf_Files *files;
    size_t count;
    uint64_t file = get_number(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(&unit->root, &files, &count) == 0 && file < count)
        frame->file = complete_path(unit, arena, dwarf_filesrc(files, file, NULL, NULL));
    frame->line = (uint32_t)get_number(inlined, DW_AT_call_line);
    frame->column = (uint32_t)get_number(inlined, DW_AT_call_column);
}

static void add_frames(struct rh_dwarf_unit *unit, struct rh_arena *arena, uint64_t address,
                       struct scopes *scopes, struct rh_dwarf_frames *frames)
{
    for (size_t i = scopes->len; i-- > 0;) {
        Dwarf_Die *die = &scopes->data[i];
        struct rh_dwarf_frame frame = {
            .name = dwarf_diename(die),
            .linkage = get_linkage(die),
            .inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine,
        };
        if (i + 1 == scopes->len)
            set_own_line(unit, arena, address, &frame);
        else
            set_call_line(unit, arena, &scopes->data[i + 1], &frame);
        rh_vec_push(frames, frame);
    }
}

void rh_dwarf_find(const struct rh_dwarf *dwarf, struct rh_arena *arena, uint64_t address,
                   struct rh_dwarf_frames *frames)
{
    rh_vec_each (const struct rh_dwarf_range, range, &dwarf->ranges) {
        if (address < range->begin || address >= range->end)
            continue;
        struct rh_dwarf_unit unit = dwarf->units.data[range->unit];
        struct scopes scopes = RH_VEC_INIT;
        find_scopes(&unit.tree, address, 0, &scopes);
        add_frames(&unit, arena, address, &scopes, frames);
        rh_vec_free(&scopes);
        return;
    }
}

/* False unless the place is one fixed address. */
static bool get_address(Dwarf_Die *variable, uint64_t *address)
{
    Dwarf_Attribute attribute, target;
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_getlocation(dwarf_attr(variable, DW_AT_location, &attribute), &ops, &count) != 0 ||
        count != 1)
        return false;
    *address = ops[0].number;
    if (ops[0].atom == DW_OP_addr)
        return true;
    return ops[0].atom == DW_OP_addrx &&
           dwarf_getlocation_attr(&attribute, &ops[0], &target) == 0 &&
           dwarf_formaddr(&target, address) == 0;
}

static bool is_at(Dwarf_Die *die, uint64_t address, struct rh_dwarf_variable *variable)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Word size;
    uint64_t begin;
    if (!get_address(die, &begin) || address < begin ||
        !dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type) ||
        dwarf_aggregate_size(&type, &size) != 0 || address - begin >= size)
        return false;
    *variable = (struct rh_dwarf_variable){dwarf_diename(die), get_linkage(die), address - begin};
    return variable->name != NULL;
}

static bool search_variable(Dwarf_Die *die, uint64_t address, int depth,
                            struct rh_dwarf_variable *variable)
{
    Dwarf_Die child;
    if (depth > DEEPEST || dwarf_child(die, &child) != 0)
        return false;
    do
        if (dwarf_tag(&child) == DW_TAG_variable
                ? is_at(&child, address, variable)
                : search_variable(&child, address, depth + 1, variable))
            return true;
    while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

bool rh_dwarf_find_variable(const struct rh_dwarf *dwarf, uint64_t address,
                            struct rh_dwarf_variable *variable)
{
    rh_vec_each (const struct rh_dwarf_unit, it, &dwarf->units) {
        Dwarf_Die tree = it->tree;
        if (search_variable(&tree, address, 0, variable))
            return true;
    }
    return false;
}
