#include "columns.h"

// What the store keeps of a plain file; the program on SQLCipher says otherwise, as the store does.
#ifndef FLOOR_CACHE
#define FLOOR_CACHE "PRAGMA cache_size = -40000;"
#define FLOOR_MOST_LOG 16000
#endif

#define COLUMN(name) {name, sizeof name - 1}

const floor_column floor_columns[FLOOR_COLUMN_COUNT] = {
    COLUMN("id"), COLUMN("createdAt"), COLUMN("updatedAt"), COLUMN("version"), COLUMN("deleted"), COLUMN("title"),
    COLUMN("note"), COLUMN("quantity"), COLUMN("price"), COLUMN("active"), COLUMN("due"),
};

// Checkpoints are the program's own, by the store's rule: see floor_checkpoints.
const char *const floor_schema =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA wal_autocheckpoint = 0;"
    FLOOR_CACHE
    "CREATE TABLE \"movements\" ("
    "\"id\" TEXT PRIMARY KEY NOT NULL, \"createdAt\" TEXT, \"updatedAt\" TEXT, \"version\" TEXT, \"deleted\" BOOLEAN,"
    " \"title\" TEXT, \"note\" TEXT, \"quantity\" INTEGER, \"price\", \"active\" BOOLEAN, \"due\" TEXT,"
    " \"_extra\" TEXT, \"_absent\" TEXT)";

const char *const floor_upsert =
    "INSERT INTO \"movements\" (\"id\", \"createdAt\", \"updatedAt\", \"version\", \"deleted\", \"title\", \"note\","
    " \"quantity\", \"price\", \"active\", \"due\", \"_extra\", \"_absent\")"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, NULL, NULL)"
    " ON CONFLICT (\"id\") DO UPDATE SET \"createdAt\" = excluded.\"createdAt\","
    " \"updatedAt\" = excluded.\"updatedAt\", \"version\" = excluded.\"version\", \"deleted\" = excluded.\"deleted\","
    " \"title\" = excluded.\"title\", \"note\" = excluded.\"note\", \"quantity\" = excluded.\"quantity\","
    " \"price\" = excluded.\"price\", \"active\" = excluded.\"active\", \"due\" = excluded.\"due\","
    " \"_extra\" = excluded.\"_extra\", \"_absent\" = excluded.\"_absent\"";

// A checkpoint is due when the log has a quarter of the file's pages: at least 1000, at most 16000.
static int log_grew(void *context, sqlite3 *database, const char *name, int pages) {
    (void)context;
    if (pages < 1000) return SQLITE_OK;
    sqlite3_stmt *count = NULL;
    int file = 0;
    if (sqlite3_prepare_v2(database, "PRAGMA page_count", -1, &count, NULL) == SQLITE_OK &&
        sqlite3_step(count) == SQLITE_ROW)
        file = sqlite3_column_int(count, 0);
    sqlite3_finalize(count);
    int due = file / 4 < 1000 ? 1000 : file / 4 > FLOOR_MOST_LOG ? FLOOR_MOST_LOG : file / 4;
    if (pages >= due) sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

void floor_checkpoints(sqlite3 *database) { sqlite3_wal_hook(database, log_grew, NULL); }
