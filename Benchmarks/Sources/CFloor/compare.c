#include "cfloor.h"

#include <sqlite3.h>
#include <stdio.h>

// A row as one comparable set of values; the types go with them, for SQL takes 1 and 1.0 for equal.
#define VALUES                                                                                                         \
    "id, createdAt, updatedAt, version, deleted, title, note, quantity, price, active, due,"                           \
    " typeof(deleted) || typeof(quantity) || typeof(price) || typeof(active)"

static long number(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    long result = -1;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        result = (long)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return result;
}

static long compare(sqlite3 *database, const char *second, char *reason, size_t capacity) {
    char *attach = sqlite3_mprintf("ATTACH %Q AS other", second);
    int code = attach ? sqlite3_exec(database, attach, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(attach);
    long left = -1, right = -1, alike = -1;
    if (code == SQLITE_OK) {
        left = number(database, "SELECT count(*) FROM main.movements");
        right = number(database, "SELECT count(*) FROM other.movements");
        alike = number(
            database,
            "SELECT count(*) FROM (SELECT " VALUES " FROM main.movements INTERSECT SELECT " VALUES
            " FROM other.movements)");
    }
    if (left < 0 || right < 0 || alike < 0) {
        snprintf(reason, capacity, "%s", sqlite3_errmsg(database));
        return -1;
    }
    if (left == right && left == alike) return left;
    snprintf(reason, capacity, "%ld rows here, %ld rows there, %ld of them alike", left, right, alike);
    return -1;
}

long cfloor_compare(const char *first, const char *second, char *reason, size_t capacity) {
    sqlite3 *database = NULL;
    long result = -1;
    if (sqlite3_open_v2(first, &database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        snprintf(reason, capacity, "cannot open %s", first);
    else
        result = compare(database, second, reason, capacity);
    sqlite3_close(database);
    return result;
}
