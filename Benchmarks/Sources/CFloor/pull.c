#include "cfloor.h"

#include "columns.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    char *data;
    size_t length;
    size_t capacity;
} buffer;

// Reads a file into the buffer, which grows where it must. 1: read, 0: there is no such file, -1: it cannot be read.
static int read_file(const char *path, buffer *into) {
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return errno == ENOENT ? 0 : -1;
    struct stat status;
    int result = -1;
    if (fstat(descriptor, &status) == 0) {
        size_t size = (size_t)status.st_size;
        if (into->capacity < size) {
            free(into->data);
            into->data = malloc(size);
            into->capacity = into->data ? size : 0;
        }
        into->length = 0;
        while (into->length < size && into->data) {
            ssize_t count = read(descriptor, into->data + into->length, size - into->length);
            if (count <= 0) break;
            into->length += (size_t)count;
        }
        result = into->data && into->length == size ? 1 : -1;
    }
    close(descriptor);
    return result;
}

// Binds a value where it lies in the document, which outlives the step.
static int bind(sqlite3_stmt *statement, int index, const json_t *value) {
    if (!value) return sqlite3_bind_null(statement, index);
    switch (json_typeof(value)) {
    case JSON_STRING:
        return sqlite3_bind_text64(
            statement, index, json_string_value(value), json_string_length(value), SQLITE_STATIC, SQLITE_UTF8);
    case JSON_INTEGER: return sqlite3_bind_int64(statement, index, json_integer_value(value));
    case JSON_REAL: return sqlite3_bind_double(statement, index, json_real_value(value));
    case JSON_TRUE: return sqlite3_bind_int64(statement, index, 1);
    case JSON_FALSE: return sqlite3_bind_int64(statement, index, 0);
    default: return sqlite3_bind_null(statement, index);
    }
}

// Binds a row's members, which servers send in the same order in every row: the guess is nearly always right.
static int bind_row(sqlite3_stmt *upsert, json_t *record) {
    int column = 0;
    for (void *member = json_object_iter(record); member; member = json_object_iter_next(record, member)) {
        const floor_column *expected = &floor_columns[column];
        if (column == FLOOR_COLUMN_COUNT || json_object_iter_key_len(member) != expected->length ||
            memcmp(json_object_iter_key(member), expected->name, expected->length) != 0)
            break;
        if (bind(upsert, ++column, json_object_iter_value(member)) != SQLITE_OK) return SQLITE_ERROR;
    }
    for (; column < FLOOR_COLUMN_COUNT; column++) {
        const json_t *value = json_object_getn(record, floor_columns[column].name, floor_columns[column].length);
        if (bind(upsert, column + 1, value) != SQLITE_OK) return SQLITE_ERROR;
    }
    return SQLITE_OK;
}

// Upserts the rows of a page in one transaction. The number of rows, or -1.
static long store_page(sqlite3_stmt *begin, sqlite3_stmt *upsert, sqlite3_stmt *commit, json_t *page) {
    if (sqlite3_step(begin) != SQLITE_DONE) return -1;
    sqlite3_reset(begin);
    size_t count = json_array_size(page);
    for (size_t row = 0; row < count; row++) {
        if (bind_row(upsert, json_array_get(page, row)) != SQLITE_OK) return -1;
        if (sqlite3_step(upsert) != SQLITE_DONE) return -1;
        sqlite3_reset(upsert);
    }
    if (sqlite3_step(commit) != SQLITE_DONE) return -1;
    sqlite3_reset(commit);
    return (long)count;
}

static long pull(sqlite3 *database, const char *directory, char *reason, size_t capacity) {
    const char *sql[] = {"BEGIN IMMEDIATE", floor_upsert, "COMMIT"};
    sqlite3_stmt *statements[3] = {NULL, NULL, NULL};
    buffer bytes = {NULL, 0, 0};
    char path[4096];
    long total = 0;
    int found = 1;
    if (sqlite3_exec(database, floor_schema, NULL, NULL, NULL) != SQLITE_OK) goto database_failure;
    floor_checkpoints(database);
    for (int i = 0; i < 3; i++)
        if (sqlite3_prepare_v3(database, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &statements[i], NULL) != SQLITE_OK)
            goto database_failure;
    for (int number = 0; total >= 0; number++) {
        snprintf(path, sizeof path, "%s/%d.json", directory, number);
        found = read_file(path, &bytes);
        if (found == 0) break;
        if (found < 0) {
            snprintf(reason, capacity, "cannot read %s", path);
            total = -1;
            break;
        }
        json_error_t error;
        json_t *page = json_loadb(bytes.data, bytes.length, 0, &error);
        if (!page) {
            snprintf(reason, capacity, "%s: %s", path, error.text);
            total = -1;
            break;
        }
        long rows = store_page(statements[0], statements[1], statements[2], page);
        json_decref(page);
        if (rows < 0) goto database_failure;
        total += rows;
    }
    goto end;
database_failure:
    snprintf(reason, capacity, "%s", sqlite3_errmsg(database));
    total = -1;
end:
    for (int i = 0; i < 3; i++) sqlite3_finalize(statements[i]);
    free(bytes.data);
    return total;
}

long cfloor_pull(const char *directory, const char *path, char *reason, size_t capacity) {
    sqlite3 *database = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    long total = -1;
    if (sqlite3_open_v2(path, &database, flags, NULL) != SQLITE_OK)
        snprintf(reason, capacity, "cannot open %s", path);
    else
        total = pull(database, directory, reason, capacity);
    sqlite3_close(database);
    return total;
}
