# SPDX-License-Identifier: Apache-2.0
# FastTree (C, OpenMP): infers trees of made alignments, with LLVM's libomp.

rw_packages() {
    echo
}

rw_source() {
    echo fasttree
}

rw_build() {
    # Its SSE code wants tables on boundaries where clang does not put them.
    # shellcheck disable=SC2086 # several flags
    "$CC" $CFLAGS -DNO_SSE -DOPENMP -fopenmp fasttree/fasttree.c -o FastTreeMP -lm
}

# make_alignment LEAVES: descendants of one sequence, each with some of its letters changed.
make_alignment() {
    python3 - "$1" <<'END_OF_PYTHON'
import random
import sys

random.seed(1)
first = random.choices("ACGT", k=300)
for leaf in range(int(sys.argv[1])):
    letters = (random.choice("ACGT") if random.random() < 0.15 else letter for letter in first)
    print(f">leaf{leaf}\n{''.join(letters)}")
END_OF_PYTHON
}

# check_tree FILE LEAVES: a whole tree, in which every leaf stands once.
check_tree() {
    [[ $(tail -c 2 "$1") == ';' ]] || rw_fail "the tree has no end"
    [[ $(grep -o 'leaf[0-9]*:' "$1" | sort -u | wc -l) -eq $2 ]] || rw_fail "leaves are missing"
}

rw_test() {
    local threads leaves
    leaves=$(rw_scaled 120 30)
    make_alignment "$leaves" >"$RW_TMP/alignment"
    for threads in 1 2 4; do
        OMP_NUM_THREADS=$threads ./FastTreeMP -nt "$RW_TMP/alignment" >"$RW_TMP/tree"
        check_tree "$RW_TMP/tree" "$leaves"
    done
}

rw_bench() {
    make_alignment "$(rw_scaled 120 30)" >"$RW_TMP/alignment"
    echo "OMP_NUM_THREADS=1 $(rw_command "$RW_DIR/FastTreeMP" -nt "$RW_TMP/alignment") >/dev/null"
}

rw_load() {
    make_alignment "$(rw_scaled 120 30)" >"$RW_TMP/alignment"
    echo "OMP_NUM_THREADS=4 $(rw_command "$RW_DIR/FastTreeMP" -nt "$RW_TMP/alignment") >/dev/null"
}
