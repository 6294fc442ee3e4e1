#include "cfloor.h"

#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// What a push does to the engine's own tables, in transactions of a page: it reads the operations that wait with their
// records, writes down what goes out, sends one document, reads the answer, and settles each operation with its record.

enum { page = 100, statements = 9 };
enum { read_operations, read_of_record, read_state, read_row, seal, put_row, end, note, mark };

static const char *const sql[statements] = {
    "SELECT \"id\", \"record\", \"sequence\" FROM \"sluice_operations\" WHERE \"sequence\" > ?1 ORDER BY \"sequence\" LIMIT 100",
    "SELECT * FROM \"sluice_operations\" WHERE \"table\" = 'items' AND \"record\" = ?1",
    "SELECT * FROM \"sluice_records\" WHERE \"id\" = ?1",
    "SELECT * FROM \"items\" WHERE \"id\" = ?1",
    "UPDATE \"sluice_operations\" SET \"state\" = 'inFlight', \"attempts\" = 1, \"sent\" = ?2 WHERE \"id\" = ?1",
    "INSERT INTO \"items\" (\"id\", \"title\", \"quantity\", \"price\", \"active\", \"_extra\") VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
    " ON CONFLICT (\"id\") DO UPDATE SET \"title\" = excluded.\"title\", \"quantity\" = excluded.\"quantity\","
    " \"price\" = excluded.\"price\", \"active\" = excluded.\"active\", \"_extra\" = excluded.\"_extra\"",
    "DELETE FROM \"sluice_operations\" WHERE \"id\" = ?1",
    "INSERT INTO \"sluice_changes\" (\"id\", \"table\", \"stamp\") VALUES (?1, 'items', ?2)"
    " ON CONFLICT (\"id\") DO UPDATE SET \"stamp\" = excluded.\"stamp\"",
    "INSERT INTO \"sluice_changes\" (\"id\", \"stamp\") VALUES ('items', ?1)"
    " ON CONFLICT (\"id\") DO UPDATE SET \"stamp\" = excluded.\"stamp\"",
};

struct operation {
    char id[40], record[40];
    json_t *body;
};

static int text(sqlite3_stmt *statement, int index, const char *value) {
    return sqlite3_bind_text(statement, index, value, -1, SQLITE_TRANSIENT);
}

static int done(sqlite3_stmt *statement) {
    return sqlite3_step(statement) == SQLITE_DONE && sqlite3_reset(statement) == SQLITE_OK ? 0 : -1;
}

// Steps over all rows, as a reader of all columns does.
static int all(sqlite3_stmt *statement) {
    int step;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW)
        for (int column = 0; column < sqlite3_column_count(statement); column++) sqlite3_column_text(statement, column);
    return step == SQLITE_DONE && sqlite3_reset(statement) == SQLITE_OK ? 0 : -1;
}

static int load(sqlite3_stmt **prepared, struct operation *operations, long *after) {
    int count = 0;
    sqlite3_bind_int64(prepared[read_operations], 1, *after);
    while (sqlite3_step(prepared[read_operations]) == SQLITE_ROW) {
        struct operation *operation = &operations[count++];
        snprintf(operation->id, 40, "%s", sqlite3_column_text(prepared[read_operations], 0));
        snprintf(operation->record, 40, "%s", sqlite3_column_text(prepared[read_operations], 1));
        *after = sqlite3_column_int64(prepared[read_operations], 2);
    }
    sqlite3_reset(prepared[read_operations]);
    for (int place = 0; place < count; place++) {
        struct operation *operation = &operations[place];
        char state[64];
        snprintf(state, sizeof state, "items/%s", operation->record);
        if (text(prepared[read_of_record], 1, operation->record) || all(prepared[read_of_record])) return -1;
        if (text(prepared[read_state], 1, state) || all(prepared[read_state])) return -1;
        sqlite3_stmt *row = prepared[read_row];
        if (text(row, 1, operation->record) || sqlite3_step(row) != SQLITE_ROW) return -1;
        operation->body = json_pack(
            "{s:s, s:s, s:I, s:f, s:b}", "id", sqlite3_column_text(row, 0), "title", sqlite3_column_text(row, 1),
            "quantity", (json_int_t)sqlite3_column_int64(row, 2), "price", sqlite3_column_double(row, 3), "active",
            sqlite3_column_int(row, 4));
        sqlite3_reset(row);
        if (!operation->body) return -1;
    }
    return count;
}

// The document of the page; each operation is written down with its body before.
static char *sealed(sqlite3_stmt **prepared, struct operation *operations, int count) {
    json_t *requests = json_array();
    char now[40];
    time_t seconds = time(NULL);
    strftime(now, sizeof now, "%a, %d %b %Y %H:%M:%S GMT", gmtime(&seconds));
    for (int place = 0; place < count; place++) {
        struct operation *operation = &operations[place];
        json_t *sent = json_pack(
            "[{s:i, s:O, s:O, s:s, s:s}]", "revision", 1, "request", operation->body, "local", operation->body,
            "firstSent", "2026-11-24T10:00:00.0000000Z", "digest", "18cd50c0f860405");
        char *words = json_dumps(sent, JSON_COMPACT);
        json_decref(sent);
        int failed = !words || text(prepared[seal], 1, operation->id) || text(prepared[seal], 2, words) || done(prepared[seal]);
        free(words);
        if (failed) return NULL;
        char number[12];
        snprintf(number, sizeof number, "%d", place);
        json_array_append_new(
            requests, json_pack(
                          "{s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:O}", "id", number, "method", "POST", "url", "tables/items", "headers",
                          "content-type", "application/json", "repeatability-request-id", operation->id,
                          "repeatability-first-sent", now, "body", operation->body));
    }
    json_t *document = json_pack("{s:o}", "requests", requests);
    char *words = json_dumps(document, JSON_COMPACT);
    json_decref(document);
    return words;
}

// The server: takes every insert, and answers with a version and the times.
static char *answered(const char *words) {
    json_t *document = json_loads(words, 0, NULL), *request, *answers = json_array();
    size_t place;
    json_array_foreach(json_object_get(document, "requests"), place, request) {
        json_t *stored = json_object_get(request, "body");
        json_object_set_new(stored, "createdAt", json_string("2026-11-24T10:00:00.000Z"));
        json_object_set_new(stored, "updatedAt", json_string("2026-11-24T10:00:00.000Z"));
        json_object_set_new(stored, "version", json_string("AAAAAAAAB9E="));
        json_object_set_new(stored, "deleted", json_false());
        json_array_append_new(
            answers, json_pack(
                         "{s:O, s:i, s:{s:s}, s:O}", "id", json_object_get(request, "id"), "status", 201, "headers",
                         "content-type", "application/json", "body", stored));
    }
    json_t *answer = json_pack("{s:o}", "responses", answers);
    char *result = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    json_decref(document);
    return result;
}

static int settle(sqlite3_stmt **prepared, struct operation *operations, const char *words, long *stamp) {
    json_t *document = json_loads(words, 0, NULL), *response, *responses = json_object_get(document, "responses");
    size_t place;
    int failed = !document;
    json_array_foreach(responses, place, response) {
        json_t *body = json_object_get(response, "body");
        const char *id = json_string_value(json_object_get(body, "id"));
        if (failed || !id || json_integer_value(json_object_get(response, "status")) != 201) break;
        json_t *extra = json_pack(
            "{s:O, s:O, s:O, s:O}", "createdAt", json_object_get(body, "createdAt"), "updatedAt",
            json_object_get(body, "updatedAt"), "version", json_object_get(body, "version"), "deleted",
            json_object_get(body, "deleted"));
        char *rest = json_dumps(extra, JSON_COMPACT), key[64];
        json_decref(extra);
        sqlite3_stmt *row = prepared[put_row];
        snprintf(key, sizeof key, "items/%s", id);
        failed = !rest || text(row, 1, id) || text(row, 2, json_string_value(json_object_get(body, "title"))) ||
                 sqlite3_bind_int64(row, 3, json_integer_value(json_object_get(body, "quantity"))) ||
                 sqlite3_bind_double(row, 4, json_number_value(json_object_get(body, "price"))) ||
                 sqlite3_bind_int(row, 5, json_is_true(json_object_get(body, "active"))) || text(row, 6, rest) || done(row) ||
                 text(prepared[end], 1, operations[place].id) || done(prepared[end]) || text(prepared[note], 1, key) ||
                 sqlite3_bind_int64(prepared[note], 2, ++*stamp) || done(prepared[note]) ||
                 sqlite3_bind_int64(prepared[mark], 1, *stamp) || done(prepared[mark]);
        free(rest);
    }
    json_decref(document);
    return failed ? -1 : 0;
}

static int step(sqlite3 *database, const char *statement) { return sqlite3_exec(database, statement, NULL, NULL, NULL); }

static int push_page(
    sqlite3 *database, sqlite3_stmt **prepared, const char *server, long width, long *after, long *stamp) {
    struct operation operations[page];
    if (step(database, "BEGIN")) return -1;
    int count = load(prepared, operations, after);
    if (count < 0 || step(database, "COMMIT") || count == 0) return count;
    if (step(database, "BEGIN IMMEDIATE")) return -1;
    char *request = sealed(prepared, operations, count);
    if (!request || step(database, "COMMIT")) return -1;
    char *answer = server ? cfloor_exchange(server, width, request) : answered(request);
    int failed = !answer || step(database, "BEGIN IMMEDIATE") || settle(prepared, operations, answer, stamp) ||
                 step(database, "COMMIT");
    for (int place = 0; place < count; place++) json_decref(operations[place].body);
    free(request);
    free(answer);
    return failed ? -1 : count;
}

long cfloor_push(const char *path, const char *server, long width, char *reason, size_t capacity) {
    sqlite3 *database = NULL;
    sqlite3_stmt *prepared[statements] = {NULL};
    long pushed = -1, after = 0, stamp = 0;
    int isReady = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
                  step(database, "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -40000;") == SQLITE_OK;
    for (int place = 0; isReady && place < statements; place++)
        isReady = sqlite3_prepare_v3(database, sql[place], -1, SQLITE_PREPARE_PERSISTENT, &prepared[place], NULL) == SQLITE_OK;
    if (isReady) {
        int count;
        pushed = 0;
        while ((count = push_page(database, prepared, server, width, &after, &stamp)) > 0) pushed += count;
        if (count < 0) pushed = -1;
    }
    if (pushed < 0) snprintf(reason, capacity, "%s", database ? sqlite3_errmsg(database) : "no memory");
    for (int place = 0; place < statements; place++) sqlite3_finalize(prepared[place]);
    sqlite3_close(database);
    return pushed;
}
