#include "columns.h"

#define COLUMN(name) {name, sizeof name - 1}

const floor_column floor_columns[FLOOR_COLUMN_COUNT] = {
    COLUMN("id"), COLUMN("createdAt"), COLUMN("updatedAt"), COLUMN("version"), COLUMN("deleted"), COLUMN("title"),
    COLUMN("note"), COLUMN("quantity"), COLUMN("price"), COLUMN("active"), COLUMN("due"),
};

// SQLite's own automatic checkpoints, at 1000 pages, are the store's policy too.
const char *const floor_schema =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA wal_autocheckpoint = 1000;"
    "PRAGMA cache_size = -8000;"
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
