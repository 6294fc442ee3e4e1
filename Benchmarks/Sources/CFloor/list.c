#include "cfloor.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *data;
    size_t length;
    size_t capacity;
} output;

static void append(output *to, const char *bytes, size_t count) {
    if (to->length + count > to->capacity) {
        to->capacity = (to->length + count) * 2;
        to->data = realloc(to->data, to->capacity);
        if (!to->data) abort();
    }
    memcpy(to->data + to->length, bytes, count);
    to->length += count;
}

// A JSON string: what JSON obliges is escaped.
static void append_string(output *to, const char *text, size_t count) {
    append(to, "\"", 1);
    size_t start = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        append(to, text + start, i - start);
        char escape[8];
        int length = byte == '"' || byte == '\\' ? snprintf(escape, sizeof escape, "\\%c", byte)
                                                 : snprintf(escape, sizeof escape, "\\u%04x", byte);
        append(to, escape, (size_t)length);
        start = i + 1;
    }
    append(to, text + start, count - start);
    append(to, "\"", 1);
}

static void append_value(output *to, sqlite3_stmt *row, int column) {
    char number[40];
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_TEXT:
        append_string(to, (const char *)sqlite3_column_text(row, column), (size_t)sqlite3_column_bytes(row, column));
        break;
    case SQLITE_INTEGER:
        append(to, number, (size_t)snprintf(number, sizeof number, "%lld", sqlite3_column_int64(row, column)));
        break;
    case SQLITE_FLOAT:
        append(to, number, (size_t)snprintf(number, sizeof number, "%.17g", sqlite3_column_double(row, column)));
        break;
    default: append(to, "null", 4);
    }
}

long cfloor_list(const char *path, const char *select, long times, char *reason, size_t capacity) {
    sqlite3 *database = NULL;
    sqlite3_stmt *row = NULL;
    long rows = -1;
    output to = {NULL, 0, 0};
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
        sqlite3_prepare_v3(database, select, -1, SQLITE_PREPARE_PERSISTENT, &row, NULL) == SQLITE_OK) {
        int columns = sqlite3_column_count(row), code = SQLITE_DONE;
        rows = 0;
        for (long turn = 0; turn < times && code == SQLITE_DONE; turn++) {
            to.length = 0;
            append(&to, "[", 1);
            while ((code = sqlite3_step(row)) == SQLITE_ROW) {
                append(&to, to.length > 1 ? ",{" : "{", to.length > 1 ? 2 : 1);
                for (int column = 0; column < columns; column++) {
                    const char *name = sqlite3_column_name(row, column);
                    if (column > 0) append(&to, ",", 1);
                    append_string(&to, name, strlen(name));
                    append(&to, ":", 1);
                    append_value(&to, row, column);
                }
                append(&to, "}", 1);
                rows++;
            }
            append(&to, "]", 1);
            sqlite3_reset(row);
        }
        if (code != SQLITE_DONE) rows = -1;
    }
    if (rows < 0) snprintf(reason, capacity, "%s", database ? sqlite3_errmsg(database) : "no memory");
    free(to.data);
    sqlite3_finalize(row);
    sqlite3_close(database);
    return rows;
}
