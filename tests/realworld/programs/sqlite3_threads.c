/* SPDX-License-Identifier: Apache-2.0 */
/* Drives SQLite from several threads and verifies that no update was lost: sqlite3_threads DB
 * THREADS TRANSACTIONS. Each thread moves money between accounts over a connection of its own, and
 * appends to a log over one connection that all threads share. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ACCOUNTS = 100, BALANCE = 1000, BUSY_MILLISECONDS = 600000 };

struct worker {
    pthread_t thread;
    const char *path;
    sqlite3 *shared;
    int number;
    int transactions;
};

static void fail(sqlite3 *db, const char *what)
{
    fprintf(stderr, "sqlite3_threads: %s: %s\n", what, db ? sqlite3_errmsg(db) : "no memory");
    exit(1);
}

static sqlite3 *open_database(const char *path)
{
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;

    if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK)
        fail(db, path);
    sqlite3_busy_timeout(db, BUSY_MILLISECONDS);
    return db;
}

static void execute(sqlite3 *db, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);

    if (!sql || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(db, sql ? sql : format);
    sqlite3_free(sql);
}

static long long query(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        fail(db, sql);
    long long value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    sqlite3 *own = open_database(worker->path);

    for (int i = 0; i < worker->transactions; i++) {
        int from = (worker->number * 31 + i * 7) % ACCOUNTS;
        int to = (from + 1 + i) % ACCOUNTS;

        execute(own, "BEGIN IMMEDIATE");
        execute(own, "UPDATE account SET balance = balance - %d WHERE id = %d", i % 9, from);
        execute(own, "UPDATE account SET balance = balance + %d WHERE id = %d", i % 9, to);
        execute(own, "UPDATE total SET transfers = transfers + 1");
        execute(own, i % 10 == 9 ? "ROLLBACK" : "COMMIT");
        execute(worker->shared, "INSERT INTO log VALUES(%d, %d)", worker->number, i);
        if (query(own, "SELECT sum(balance) FROM account") != (long long)ACCOUNTS * BALANCE)
            fail(own, "a reader saw half a transfer");
    }
    if (sqlite3_close(own) != SQLITE_OK)
        fail(own, "close");
    return NULL;
}

static void create_tables(sqlite3 *db)
{
    execute(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
                "CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER);"
                "CREATE TABLE total(transfers INTEGER);"
                "CREATE TEMP TABLE log(worker INTEGER, step INTEGER, UNIQUE(worker, step));"
                "INSERT INTO total VALUES(0);");
    for (int i = 0; i < ACCOUNTS; i++)
        execute(db, "INSERT INTO account VALUES(%d, %d)", i, (int)BALANCE);
}

static void expect(const char *what, long long found, long long expected)
{
    if (found != expected) {
        fprintf(stderr, "sqlite3_threads: %s is %lld, not %lld\n", what, found, expected);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: sqlite3_threads DB THREADS TRANSACTIONS\n");
        return 2;
    }
    int threads = atoi(argv[2]), transactions = atoi(argv[3]);
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    sqlite3 *shared = open_database(argv[1]);
    create_tables(shared);

    for (int i = 0; i < threads; i++) {
        workers[i] = (struct worker){
            .path = argv[1], .shared = shared, .number = i, .transactions = transactions};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            fail(NULL, "pthread_create");
    }
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);

    long long all = (long long)threads * transactions;
    long long rolled_back = (long long)threads * (transactions / 10);
    expect("sum of balances", query(shared, "SELECT sum(balance) FROM account"),
           (long long)ACCOUNTS * BALANCE);
    expect("number of transfers", query(shared, "SELECT transfers FROM total"), all - rolled_back);
    expect("number of log entries", query(shared, "SELECT count(*) FROM log"), all);
    expect("integrity", query(shared, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"),
           1);
    if (sqlite3_close(shared) != SQLITE_OK)
        fail(shared, "close");
    free(workers);
    printf("%d threads, %lld transactions verified\n", threads, all);
    return 0;
}
