/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of control flow: examples, and thousands of random graphs against the definitions.
 */
#include "ir/graph/cfg.h"

#include <stdlib.h>

#include "base/mem.h"
#include "ir/testing.h"

/* A graph on its own, without LLVM: block i goes to the blocks j with edge[i][j]. */
#define MAX_BLOCKS 14

struct shape {
    uint32_t n;
    bool edge[MAX_BLOCKS][MAX_BLOCKS];
};

struct graph {
    struct rh_function fn;
    struct rh_block blocks[MAX_BLOCKS];
    struct rh_block *list[MAX_BLOCKS];
    struct rh_block *succs[MAX_BLOCKS][MAX_BLOCKS], *preds[MAX_BLOCKS][MAX_BLOCKS];
};

static void fill_graph(struct graph *g, const struct shape *shape)
{
    memset(g, 0, sizeof *g);
    g->fn.block_count = shape->n;
    g->fn.blocks = g->list;
    for (uint32_t i = 0; i < shape->n; i++) {
        g->list[i] = &g->blocks[i];
        g->blocks[i].id = i;
        g->blocks[i].fn = &g->fn;
        g->blocks[i].succs = g->succs[i];
        g->blocks[i].preds = g->preds[i];
    }
    for (uint32_t i = 0; i < shape->n; i++) {
        for (uint32_t j = 0; j < shape->n; j++) {
            if (!shape->edge[i][j])
                continue;
            g->succs[i][g->blocks[i].succ_count++] = &g->blocks[j];
            g->preds[j][g->blocks[j].pred_count++] = &g->blocks[i];
        }
    }
}

/* The definitions, straight from reachability. */

/* What `from` reaches without entering `avoided`, itself included. */
static void reach(const struct shape *s, uint32_t nodes, uint32_t from, uint32_t avoided,
                  bool *reached)
{
    uint32_t stack[MAX_BLOCKS], depth = 0;

    memset(reached, 0, nodes);
    if (from == avoided)
        return;
    reached[from] = true;
    stack[depth++] = from;
    while (depth > 0) {
        uint32_t v = stack[--depth];

        for (uint32_t w = 0; w < nodes; w++) {
            if (s->edge[v][w] && !reached[w] && w != avoided) {
                reached[w] = true;
                stack[depth++] = w;
            }
        }
    }
}

static bool reaches(const struct shape *s, uint32_t nodes, uint32_t from, uint32_t to,
                    uint32_t avoided)
{
    bool reached[MAX_BLOCKS];

    reach(s, nodes, from, avoided, reached);
    return reached[to];
}

#define NOTHING UINT32_MAX

static bool is_live(const struct shape *s, uint32_t v)
{
    return reaches(s, s->n, 0, v, NOTHING);
}

static bool dominates(const struct shape *s, uint32_t a, uint32_t b)
{
    return is_live(s, a) && is_live(s, b) && (a == b || !reaches(s, s->n, 0, b, a));
}

/* Of the blocks that are strictly above b, the one that all others are above as well. */
static void check_parent(const struct rh_block *found, uint32_t n, uint32_t b,
                         bool above[MAX_BLOCKS][MAX_BLOCKS])
{
    uint32_t expected = NOTHING;

    for (uint32_t a = 0; a < n; a++) {
        bool nearest = a != b && above[a][b];

        for (uint32_t c = 0; c < n && nearest; c++)
            nearest = c == b || !above[c][b] || above[c][a];
        if (nearest)
            expected = a;
    }
    assert_int_equal(found ? found->id : NOTHING, expected);
}

static void check_trees(const struct rh_cfg *cfg, const struct graph *g, const struct shape *s)
{
    bool dom[MAX_BLOCKS][MAX_BLOCKS];

    for (uint32_t a = 0; a < s->n; a++) {
        assert_int_equal(rh_cfg_reachable(cfg, &g->blocks[a]), is_live(s, a));
        for (uint32_t b = 0; b < s->n; b++) {
            dom[a][b] = dominates(s, a, b);
            assert_int_equal(rh_cfg_dominates(cfg, &g->blocks[a], &g->blocks[b]), dom[a][b]);
        }
    }
    for (uint32_t b = 0; b < s->n; b++)
        check_parent(rh_cfg_idom(cfg, &g->blocks[b]), s->n, b, dom);
}

/* The natural loop of a header: what reaches one of its latches without passing the header. */
static bool find_loop(const struct shape *s, uint32_t header, bool *inside)
{
    bool found = false;

    memset(inside, 0, s->n);
    for (uint32_t latch = 0; latch < s->n; latch++) {
        if (!s->edge[latch][header] || !dominates(s, header, latch))
            continue;
        found = inside[header] = true;
        for (uint32_t v = 0; v < s->n; v++)
            inside[v] |= is_live(s, v) && reaches(s, s->n, v, latch, header);
    }
    return found;
}

static bool is_listed(struct rh_block *const *list, uint32_t count, uint32_t id)
{
    uint32_t times = 0;

    for (uint32_t i = 0; i < count; i++)
        times += list[i]->id == id;
    assert_true(times <= 1);
    return times == 1;
}

static void check_borders(const struct rh_loop *l, const struct shape *s, const bool *inside)
{
    uint32_t outside = NOTHING, outsiders = 0, ways = 0;

    for (uint32_t v = 0; v < s->n; v++) {
        bool entered = false;

        if (s->edge[v][l->header->id] && !inside[v]) {
            outside = v;
            outsiders++;
        }
        for (uint32_t u = 0; u < s->n; u++)
            entered |= inside[u] && s->edge[u][v];
        assert_int_equal(is_listed(l->exits, l->exit_count, v), entered && !inside[v]);
        assert_int_equal(is_listed(l->latches, l->latch_count, v),
                         inside[v] && s->edge[v][l->header->id]);
    }
    for (uint32_t w = 0; outsiders == 1 && w < s->n; w++)
        ways += s->edge[outside][w];
    if (outsiders == 1 && ways == 1)
        assert_int_equal(l->preheader->id, outside);
    else
        assert_null(l->preheader);
}

static void check_nesting(const struct rh_cfg *cfg, const struct rh_loop *l)
{
    uint32_t depth = 0;
    bool innermost = true;

    for (uint32_t i = 0; i < cfg->loop_count; i++) {
        const struct rh_loop *other = &cfg->loops[i];

        depth += rh_cfg_loop_contains(other, l->header);
        innermost &= other == l || !rh_cfg_loop_contains(l, other->header);
    }
    assert_int_equal(l->depth, depth);
    assert_int_equal(l->innermost, innermost);
    assert_true(!l->parent || l->parent->id < l->id);
    assert_true(!l->parent || rh_cfg_loop_contains(l->parent, l->header));
    assert_int_equal(l->parent ? l->parent->depth + 1 : 1, depth);
}

static void check_loops(const struct rh_cfg *cfg, const struct graph *g, const struct shape *s)
{
    uint32_t count = 0;

    for (uint32_t header = 0; header < s->n; header++) {
        bool inside[MAX_BLOCKS];
        const struct rh_loop *l;

        if (!find_loop(s, header, inside))
            continue;
        count++;
        l = rh_cfg_loop_of(cfg, &g->blocks[header]);
        assert_non_null(l);
        assert_int_equal(l->header->id, header);
        assert_ptr_equal(l->blocks[0], l->header);
        assert_ptr_equal(l, &cfg->loops[l->id]);
        for (uint32_t v = 0; v < s->n; v++) {
            assert_int_equal(rh_cfg_loop_contains(l, &g->blocks[v]), inside[v]);
            assert_int_equal(is_listed(l->blocks, l->block_count, v), inside[v]);
        }
        check_borders(l, s, inside);
        check_nesting(cfg, l);
    }
    assert_int_equal(cfg->loop_count, count);
}

/* Without its back edges a reducible graph has no cycle. */
static bool is_irreducible(const struct shape *s)
{
    struct shape rest = *s;

    for (uint32_t v = 0; v < s->n; v++) {
        for (uint32_t w = 0; w < s->n; w++)
            rest.edge[v][w] &= is_live(s, v) && !dominates(s, w, v);
    }
    for (uint32_t v = 0; v < s->n; v++) {
        for (uint32_t w = 0; w < s->n; w++) {
            if (rest.edge[v][w] && reaches(&rest, s->n, w, v, NOTHING))
                return true;
        }
    }
    return false;
}

static void check_shape(const struct shape *s)
{
    struct graph *g = rh_calloc(1, sizeof *g);
    struct rh_cfg *cfg;

    fill_graph(g, s);
    cfg = rh_cfg_build(&g->fn);
    check_trees(cfg, g, s);
    check_loops(cfg, g, s);
    assert_int_equal(rh_cfg_irreducible(cfg), is_irreducible(s));
    rh_cfg_free(cfg);
    free(g);
}

/* Small generator of its own, so that a failing seed fails everywhere. */
static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void make_random(struct shape *s, uint64_t seed)
{
    uint64_t state = seed;

    memset(s, 0, sizeof *s);
    s->n = 1 + next_random(&state) % MAX_BLOCKS;
    for (uint32_t v = 0; v < s->n; v++) {
        uint32_t ways = next_random(&state) % 4;

        /* Mostly short jumps, as in code; the others make irreducible graphs. LLVM's entry block
         * has no predecessors, and neither has ours. */
        for (uint32_t i = 0; i < ways && s->n > 1; i++) {
            uint32_t to = next_random(&state) % 4 ? v + next_random(&state) % 5
                                                  : 2 + next_random(&state) % s->n;

            s->edge[v][1 + (to + s->n - 2) % (s->n - 1)] = true;
        }
    }
}

static void test_random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct shape s;

        make_random(&s, seed);
        check_shape(&s);
    }
}

static const char nested[] = "define void @f(i1 %c, i1 %d) {\n"
                             "entry:\n"
                             "  %first = alloca i32\n"
                             "  %second = alloca i32\n"
                             "  br label %outer\n"
                             "outer:\n"
                             "  %third = alloca i32\n"
                             "  br label %inner\n"
                             "inner:\n"
                             "  br i1 %c, label %inner, label %latch\n"
                             "latch:\n"
                             "  br i1 %d, label %outer, label %done\n"
                             "done:\n"
                             "  ret void\n"
                             "dead:\n"
                             "  %fourth = alloca i32\n"
                             "  br label %done\n"
                             "}\n";

static void test_nested_loops(void **state)
{
    struct rh_module *m = open_text(nested);
    struct rh_function *f = get_function(m, "f");
    struct rh_cfg *cfg = rh_cfg_build(f);
    struct rh_block **b = f->blocks; /* entry, outer, inner, latch, done, dead */

    (void)state;
    assert_int_equal(cfg->rpo_count, 5);
    assert_int_equal(cfg->loop_count, 2);
    assert_ptr_equal(cfg->loops[0].header, b[1]);
    assert_int_equal(cfg->loops[0].block_count, 3);
    assert_ptr_equal(cfg->loops[0].preheader, b[0]);
    assert_false(cfg->loops[0].innermost);
    assert_ptr_equal(cfg->loops[1].header, b[2]);
    assert_ptr_equal(cfg->loops[1].parent, &cfg->loops[0]);
    assert_ptr_equal(cfg->loops[1].preheader, b[1]);
    assert_ptr_equal(cfg->loops[1].latches[0], b[2]);
    assert_ptr_equal(cfg->loops[1].exits[0], b[3]);
    assert_null(rh_cfg_idom(cfg, b[0]));
    assert_null(rh_cfg_idom(cfg, b[5]));
    assert_null(rh_cfg_loop_of(cfg, b[5]));
    rh_cfg_free(cfg);
    rh_ir_close(m);
}

static void test_instructions(void **state)
{
    struct rh_module *m = open_text(nested);
    struct rh_function *f = get_function(m, "f");
    struct rh_cfg *cfg = rh_cfg_build(f);
    struct rh_value *first = get_value(f, "first"), *second = get_value(f, "second");
    struct rh_value *third = get_value(f, "third"), *fourth = get_value(f, "fourth");

    (void)state;
    assert_true(rh_cfg_inst_dominates(cfg, first, second));
    assert_false(rh_cfg_inst_dominates(cfg, second, first));
    assert_false(rh_cfg_inst_dominates(cfg, first, first));
    assert_true(rh_cfg_inst_dominates(cfg, second, third));
    assert_false(rh_cfg_inst_dominates(cfg, third, second));
    assert_false(rh_cfg_inst_dominates(cfg, first, fourth));
    assert_false(rh_cfg_inst_dominates(cfg, fourth, f->blocks[5]->last));
    rh_cfg_free(cfg);
    rh_ir_close(m);
}

static void test_declaration(void **state)
{
    struct rh_module *m = open_text("declare void @f()\n");
    struct rh_cfg *cfg = rh_cfg_build(get_function(m, "f"));

    (void)state;
    assert_int_equal(cfg->rpo_count, 0);
    assert_int_equal(cfg->loop_count, 0);
    assert_false(rh_cfg_irreducible(cfg));
    rh_cfg_free(cfg);
    rh_ir_close(m);
}

/* A chain of this length ends a recursive walk; the last block goes back to the second. */
static void test_long_chain(void **state)
{
    enum { N = 100000 };
    struct rh_block *blocks = rh_calloc(N, sizeof *blocks);
    struct rh_block **links = rh_calloc((size_t)N * 5, sizeof *links);
    struct rh_function fn = {.block_count = N, .blocks = links + (size_t)N * 4};
    struct rh_cfg *cfg;

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        fn.blocks[i] = &blocks[i];
        blocks[i].id = i;
        blocks[i].fn = &fn;
        blocks[i].succs = links + (size_t)i * 4;
        blocks[i].preds = links + (size_t)i * 4 + 2;
    }
    for (uint32_t i = 0; i < N; i++) {
        struct rh_block *b = &blocks[i], *to = &blocks[i + 1 < N ? i + 1 : 1];

        b->succs[b->succ_count++] = to;
        to->preds[to->pred_count++] = b;
    }
    cfg = rh_cfg_build(&fn);
    assert_ptr_equal(rh_cfg_idom(cfg, &blocks[N - 1]), &blocks[N - 2]);
    assert_true(rh_cfg_dominates(cfg, &blocks[7], &blocks[N - 1]));
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(cfg->loops[0].block_count, N - 1);
    rh_cfg_free(cfg);
    free(blocks);
    free(links);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs), cmocka_unit_test(test_nested_loops),
        cmocka_unit_test(test_instructions),  cmocka_unit_test(test_declaration),
        cmocka_unit_test(test_long_chain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
