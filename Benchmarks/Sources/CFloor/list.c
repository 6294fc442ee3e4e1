#include "cfloor.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

static void append_value(output *to, sqlite3_stmt *row, int column) {
    char number[40];
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_TEXT:
        output_append_string(to, (const char *)sqlite3_column_text(row, column), (size_t)sqlite3_column_bytes(row, column));
        break;
    case SQLITE_INTEGER:
        output_append(to, number, (size_t)snprintf(number, sizeof number, "%lld", sqlite3_column_int64(row, column)));
        break;
    case SQLITE_FLOAT:
        output_append(to, number, (size_t)snprintf(number, sizeof number, "%.17g", sqlite3_column_double(row, column)));
        break;
    default: output_append(to, "null", 4);
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
            output_append(&to, "[", 1);
            while ((code = sqlite3_step(row)) == SQLITE_ROW) {
                output_append(&to, to.length > 1 ? ",{" : "{", to.length > 1 ? 2 : 1);
                for (int column = 0; column < columns; column++) {
                    const char *name = sqlite3_column_name(row, column);
                    if (column > 0) output_append(&to, ",", 1);
                    output_append_string(&to, name, strlen(name));
                    output_append(&to, ":", 1);
                    append_value(&to, row, column);
                }
                output_append(&to, "}", 1);
                rows++;
            }
            output_append(&to, "]", 1);
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
