#ifndef SLUICE_CFLOOR_H
#define SLUICE_CFLOOR_H

#include <stddef.h>

/// Parses the pages `directory`/0.json, 1.json, … up to the first that is not there, and upserts their rows into a new
/// database at `database`, one transaction a page.
///
/// Returns the number of rows, or -1 with the reason in `reason` (a text of at most `capacity` bytes).
long cfloor_pull(const char *directory, const char *database, char *reason, size_t capacity);

/// Inserts `count` records and an operation for each into the tables of a new database at `database`: two prepared
/// statements, `step` records in a transaction.
///
/// Returns the number of records, or -1 with the reason in `reason`.
long cfloor_write(long count, long step, const char *database, char *reason, size_t capacity);

/// Pushes the operations of a store of the engine's own, whose table is that of ``cfloor_write``: in pages of a hundred,
/// each read, written down, sent as one document, and settled, in three transactions. Without `server` the answer is made
/// within this function; else it is that address's, by ``cfloor_exchange``.
///
/// Returns the number of operations, or -1 with the reason in `reason`.
long cfloor_push(const char *database, const char *server, long width, char *reason, size_t capacity);

/// Sends the requests of a batch document to the server by libcurl: as the batch, or with a `width` above 0 each by itself,
/// that many at a time.
///
/// Returns the document of answers, which the caller frees; NULL where one was not answered.
char *cfloor_exchange(const char *server, long width, const char *requests);

/// Steps the statement `select` of the database `times` times and writes its rows as a JSON array, each time anew.
///
/// Returns the number of rows of all times, or -1 with the reason in `reason`.
long cfloor_list(const char *database, const char *select, long times, char *reason, size_t capacity);

/// Compares the table of movies of two databases value by value, types included.
///
/// Returns the number of rows they both hold, or -1 with the reason in `reason` if they differ.
long cfloor_compare(const char *first, const char *second, char *reason, size_t capacity);

/// Calls the function `request` of the table that `script` returns, through lua_pcall, `count` times with the request whose
/// JSON document is `text`. Each call has to set one header.
///
/// Returns `count`, or -1 with the reason in `reason`.
long cfloor_requests(const char *script, const char *text, long count, char *reason, size_t capacity);

/// Sends what the backend sends to PostgreSQL at `url` for `count` pages of a hundred changes, or inserts, over `width`
/// connections at once, and writes the pages as JSON.
///
/// Returns the number of rows, or -1 with the reason in `reason`.
long cfloor_postgres(const char *url, long inserts, long count, long width, char *reason, size_t capacity);

#endif
