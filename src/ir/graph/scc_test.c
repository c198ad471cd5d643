/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of strongly connected components: random graphs against mutual reachability.
 */
#include "ir/graph/scc.h"

#include <stdlib.h>

#include "base/mem.h"
#include "ir/testing.h"

#define MAX_NODES 12

struct shape {
    uint32_t n;
    bool reaches[MAX_NODES][MAX_NODES];
    uint32_t at[MAX_NODES + 1], to[MAX_NODES * MAX_NODES];
};

static void close_over(struct shape *s)
{
    for (uint32_t k = 0; k < s->n; k++) {
        for (uint32_t i = 0; i < s->n; i++) {
            for (uint32_t j = 0; j < s->n; j++)
                s->reaches[i][j] |= s->reaches[i][k] && s->reaches[k][j];
        }
    }
}

static void make_random(struct shape *s, uint64_t state)
{
    memset(s, 0, sizeof *s);
    s->n = 1 + (uint32_t)(state % MAX_NODES);
    for (uint32_t v = 0; v < s->n; v++) {
        s->at[v + 1] = s->at[v];
        s->reaches[v][v] = true;
        for (uint32_t w = 0; w < s->n; w++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            if (state >> 33 & 7)
                continue;
            s->to[s->at[v + 1]++] = w;
            s->reaches[v][w] = true;
        }
    }
    close_over(s);
}

static void check_shape(struct shape *s)
{
    struct rh_scc_edges edges = {s->n, s->at, s->to};
    uint32_t component_of[MAX_NODES], order[MAX_NODES], seen = 0;
    uint32_t count = rh_scc_find(&edges, component_of, order);

    for (uint32_t v = 0; v < s->n; v++) {
        assert_true(component_of[v] < count);
        for (uint32_t w = 0; w < s->n; w++) {
            bool same = s->reaches[v][w] && s->reaches[w][v];

            assert_int_equal(component_of[v] == component_of[w], same);
            if (s->reaches[v][w])
                assert_true(component_of[w] <= component_of[v]);
        }
    }
    for (uint32_t i = 0; i < s->n; i++) {
        assert_true(i == 0 || component_of[order[i - 1]] <= component_of[order[i]]);
        seen |= 1u << order[i];
    }
    assert_int_equal(seen, (1u << s->n) - 1);
}

static void test_random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct shape s;

        make_random(&s, seed);
        check_shape(&s);
    }
}

static void test_long_chain(void **state)
{
    enum { N = 200000 };
    uint32_t *at = rh_alloc_array(N + 1, sizeof *at), *to = rh_alloc_array(N, sizeof *to);
    uint32_t *component_of = rh_alloc_array(N, sizeof *component_of);
    struct rh_scc_edges edges = {N, at, to};

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        at[i] = i;
        to[i] = i + 1;
    }
    at[N] = N - 1; /* the last node has no edge */
    assert_int_equal(rh_scc_find(&edges, component_of, NULL), N);
    assert_int_equal(component_of[0], N - 1);
    free(at);
    free(to);
    free(component_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_long_chain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
