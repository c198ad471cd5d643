# SPDX-License-Identifier: Apache-2.0
# sqlite3 (C): the shell on a script with known results, a threaded driver of ours on the static
# library, and the project's own thread test.

rw_packages() {
    echo tcl
}

rw_source() {
    echo sqlite3
}

# build_programs TARGET...: and the driver.
build_programs() {
    cd sqlite3 || exit
    ./configure --disable-shared --disable-tcl --disable-readline --enable-threadsafe \
        --enable-fts5 --enable-rtree BUILD_CC="$CC"
    make -j2 "$@"
    # shellcheck disable=SC2086 # several flags
    "$CC" $CFLAGS -I. "$RW_HERE/programs/sqlite3_threads.c" .libs/libsqlite3.a \
        -o sqlite3_threads -pthread -lm -ldl
}

rw_build() {
    build_programs sqlite3 threadtest3
}

rw_build_bench() {
    build_programs sqlite3
}

# make_script ROWS: SQL over ROWS rows of numbers, text, JSON and full text. What it must print
# follows from ROWS in print_expected.
make_script() {
    cat <<END
CREATE TABLE item(id INTEGER PRIMARY KEY, square INTEGER, name TEXT, extra TEXT);
BEGIN;
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < $1)
INSERT INTO item SELECT i, i * i, printf('item-%08d', $1 - i), json_object('half', i / 2) FROM n;
COMMIT;
CREATE INDEX item_name ON item(name);
SELECT count(*), sum(id), min(name), max(name) FROM item;
SELECT sum(json_extract(extra, '\$.half') * 2 + id % 2 = id) FROM item;
UPDATE item SET square = square - id * id WHERE id % 2 = 0;
SELECT count(*) FROM item WHERE square = 0;
SELECT count(*) FROM item a JOIN item b ON a.name = printf('item-%08d', b.id);
SELECT count(DISTINCT substr(name, -2)) FROM (SELECT name FROM item ORDER BY extra, name DESC);
CREATE VIRTUAL TABLE words USING fts5(body);
INSERT INTO words SELECT 'word' || (id % 10) || ' common' FROM item;
SELECT count(*) FROM words WHERE words MATCH 'word3 AND common';
DELETE FROM item WHERE id > $1 / 2;
VACUUM;
SELECT count(*) FROM item;
PRAGMA integrity_check;
END
}

# print_expected ROWS: for a multiple of 100.
print_expected() {
    printf '%d|%d|item-00000000|item-%08d\n' "$1" $(($1 * ($1 + 1) / 2)) $(($1 - 1))
    printf '%d\n' "$1" $(($1 / 2)) $(($1 - 1)) 100 $(($1 / 10)) $(($1 / 2))
    echo ok
}

rw_test() {
    local rows threads database
    rows=$(rw_scaled 300000 10000)
    make_script "$rows" >"$RW_TMP/script.sql"
    print_expected "$rows" >"$RW_TMP/expected"
    for database in :memory: "$RW_TMP/shell.db"; do
        sqlite3/sqlite3 -batch -bail "$database" <"$RW_TMP/script.sql" >"$RW_TMP/found"
        diff "$RW_TMP/expected" "$RW_TMP/found"
    done
    for threads in 1 2 4; do
        sqlite3/sqlite3_threads "$RW_TMP/threads-$threads.db" "$threads" "$(rw_scaled 4000 300)"
    done
    # Its other tests run for a fixed time, however much or little they get done in it.
    (
        cd "$RW_TMP" || exit
        "$RW_DIR/sqlite3/threadtest3" walthread5 create_drop_index_1
    )
}

rw_bench() {
    make_script 150000 >"$RW_TMP/script.sql"
    echo "$(rw_command "$RW_DIR/sqlite3/sqlite3" -batch -bail :memory:) <$RW_TMP/script.sql"
}

rw_load() {
    echo "rm -f $RW_TMP/threads.db*; $(rw_command "$RW_DIR/sqlite3/sqlite3_threads" \
        "$RW_TMP/threads.db" 2 "$(rw_scaled 5000 500)")"
}
