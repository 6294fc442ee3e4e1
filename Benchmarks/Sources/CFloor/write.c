#include "cfloor.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

// The records' table as the store makes it of its declaration, and the engine's table of operations with its indexes.
static const char *const schema =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA wal_autocheckpoint = 0;"
    "PRAGMA cache_size = -40000;"
    "CREATE TABLE \"items\" (\"id\" TEXT PRIMARY KEY NOT NULL, \"title\" TEXT, \"quantity\" INTEGER, \"price\","
    " \"active\" BOOLEAN, \"_extra\" TEXT, \"_absent\" TEXT);"
    "CREATE TABLE \"operations\" (\"id\" TEXT PRIMARY KEY NOT NULL, \"sequence\" INTEGER, \"table\" TEXT,"
    " \"record\" TEXT, \"kind\" TEXT, \"state\" TEXT, \"revision\" INTEGER, \"attempts\" INTEGER,"
    " \"uncertain\" BOOLEAN, \"createdAt\" TEXT, \"failure\" TEXT, \"sent\" TEXT, \"tags\" TEXT, \"group\" TEXT,"
    " \"mergeable\" BOOLEAN, \"failedAttempts\" INTEGER, \"frozen\" TEXT, \"notBefore\" TEXT, \"user\" TEXT,"
    " \"_extra\" TEXT, \"_absent\" TEXT);"
    "CREATE INDEX \"o1\" ON \"operations\" (\"table\", \"record\");"
    "CREATE INDEX \"o2\" ON \"operations\" (\"sequence\");"
    "CREATE INDEX \"o3\" ON \"operations\" (\"group\");"
    "CREATE INDEX \"o4\" ON \"operations\" (\"state\");";

static const char *const insert_record =
    "INSERT INTO \"items\" (\"id\", \"title\", \"quantity\", \"price\", \"active\") VALUES (?1, ?2, ?3, ?4, ?5)";

static const char *const insert_operation =
    "INSERT INTO \"operations\" (\"id\", \"sequence\", \"table\", \"record\", \"kind\", \"state\", \"revision\","
    " \"attempts\", \"uncertain\", \"createdAt\", \"sent\")"
    " VALUES (?1, ?2, 'items', ?3, 'insert', 'pending', 1, 0, 0, ?4, '[]')";

// As many ids as the other side makes, in the form of a UUID of version 7: a time, then what tells them apart.
static void make_id(char *id, unsigned long long number) {
    snprintf(
        id, 40, "019aa000-%04llx-7%03llx-8%03llx-%012llx", (number >> 12) & 0xffff, number & 0xfff, (number * 7) & 0xfff,
        number * 2654435761u & 0xffffffffffff);
}

static int text(sqlite3_stmt *statement, int index, const char *value) {
    return sqlite3_bind_text(statement, index, value, (int)strlen(value), SQLITE_STATIC);
}

static int write_one(sqlite3_stmt *record, sqlite3_stmt *operation, long number) {
    char id[40], own[40], title[64];
    make_id(id, (unsigned long long)number * 2);
    make_id(own, (unsigned long long)number * 2 + 1);
    snprintf(title, sizeof title, "item number %ld of the list", number);
    if (text(record, 1, id) || text(record, 2, title) || sqlite3_bind_int64(record, 3, number % 1000) ||
        sqlite3_bind_double(record, 4, (double)number * 0.25) || sqlite3_bind_int64(record, 5, number % 2))
        return SQLITE_ERROR;
    if (sqlite3_step(record) != SQLITE_DONE || sqlite3_reset(record)) return SQLITE_ERROR;
    if (text(operation, 1, own) || sqlite3_bind_int64(operation, 2, number + 1) || text(operation, 3, id) ||
        text(operation, 4, "2026-11-24T10:00:00.0000000Z"))
        return SQLITE_ERROR;
    return sqlite3_step(operation) != SQLITE_DONE || sqlite3_reset(operation) ? SQLITE_ERROR : SQLITE_OK;
}

long cfloor_write(long count, long step, const char *path, char *reason, size_t capacity) {
    sqlite3 *database = NULL;
    sqlite3_stmt *record = NULL, *operation = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    long written = -1;
    if (sqlite3_open_v2(path, &database, flags, NULL) == SQLITE_OK &&
        sqlite3_exec(database, schema, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v3(database, insert_record, -1, SQLITE_PREPARE_PERSISTENT, &record, NULL) == SQLITE_OK &&
        sqlite3_prepare_v3(database, insert_operation, -1, SQLITE_PREPARE_PERSISTENT, &operation, NULL) == SQLITE_OK) {
        long number = 0;
        int failed = 0;
        while (number < count && !failed) {
            failed = sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL);
            for (long last = number + step; number < last && number < count && !failed; number++)
                failed = write_one(record, operation, number);
            failed = failed || sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
        }
        if (!failed) written = count;
    }
    if (written < 0) snprintf(reason, capacity, "%s", database ? sqlite3_errmsg(database) : "no memory");
    sqlite3_finalize(record);
    sqlite3_finalize(operation);
    sqlite3_close(database);
    return written;
}
