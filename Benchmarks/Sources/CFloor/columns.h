#ifndef SLUICE_CFLOOR_COLUMNS_H
#define SLUICE_CFLOOR_COLUMNS_H

#include <sqlite3.h>
#include <stddef.h>

enum { FLOOR_COLUMN_COUNT = 11 };

typedef struct {
    const char *name;
    size_t length;
} floor_column;

/// The members of a row, in the order of the statement's parameters.
extern const floor_column floor_columns[FLOOR_COLUMN_COUNT];

/// Pragmas and table, as the store makes them in `normal` durability.
extern const char *const floor_schema;

/// Has the connection checkpoint as the store does; after the pragmas, which take the hook's place.
void floor_checkpoints(sqlite3 *database);

/// The statement for one row.
extern const char *const floor_upsert;

#endif
