#ifndef SLUICE_CSQLITE_H
#define SLUICE_CSQLITE_H

#include <stdint.h>

// The SQLite API as a table of functions. Swift calls SQLite through such a table only, so that two libraries (plain
// SQLite, and SQLCipher opened at run time) can live in one process. The types and constants are declared here and not
// taken from sqlite3.h, so that no symbol of the linked library can be called past the table by accident; csqlite.c
// checks at compile time that they agree.

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_context sqlite3_context;
struct sqlite3_vfs;

typedef void (*csqlite_destructor)(void *_Nullable);
typedef void (*csqlite_function)(
    sqlite3_context *_Nonnull context, int count, sqlite3_value *_Nullable *_Nonnull arguments);
typedef int (*csqlite_authorizer)(
    void *_Nullable context, int action, const char *_Nullable first, const char *_Nullable second,
    const char *_Nullable schema, const char *_Nullable accessor);
typedef int (*csqlite_wal_hook)(
    void *_Nullable context, sqlite3 *_Nonnull database, const char *_Nonnull schema, int pages);

enum {
    CSQLITE_OK = 0, CSQLITE_ERROR = 1, CSQLITE_PERM = 3, CSQLITE_BUSY = 5, CSQLITE_LOCKED = 6, CSQLITE_NOMEM = 7,
    CSQLITE_READONLY = 8, CSQLITE_INTERRUPT = 9, CSQLITE_IOERR = 10, CSQLITE_CORRUPT = 11, CSQLITE_FULL = 13,
    CSQLITE_CANTOPEN = 14, CSQLITE_PROTOCOL = 15, CSQLITE_SCHEMA = 17, CSQLITE_TOOBIG = 18, CSQLITE_CONSTRAINT = 19,
    CSQLITE_MISUSE = 21, CSQLITE_AUTH = 23, CSQLITE_NOTADB = 26, CSQLITE_ROW = 100, CSQLITE_DONE = 101,

    CSQLITE_INTEGER = 1, CSQLITE_FLOAT = 2, CSQLITE_TEXT = 3, CSQLITE_BLOB = 4, CSQLITE_NULL = 5,

    CSQLITE_OPEN_READONLY = 0x1, CSQLITE_OPEN_READWRITE = 0x2, CSQLITE_OPEN_CREATE = 0x4,
    CSQLITE_OPEN_NOMUTEX = 0x8000, CSQLITE_OPEN_EXRESCODE = 0x2000000,

    CSQLITE_PREPARE_PERSISTENT = 1, CSQLITE_UTF8 = 1, CSQLITE_DETERMINISTIC = 0x800, CSQLITE_DIRECTONLY = 0x80000,
    CSQLITE_INNOCUOUS = 0x200000,

    CSQLITE_DBCONFIG_NO_CKPT_ON_CLOSE = 1006, CSQLITE_DBCONFIG_DEFENSIVE = 1010, CSQLITE_DBCONFIG_DQS_DML = 1013,
    CSQLITE_DBCONFIG_DQS_DDL = 1014, CSQLITE_DBCONFIG_TRUSTED_SCHEMA = 1017,

    CSQLITE_CHECKPOINT_PASSIVE = 0, CSQLITE_CHECKPOINT_FULL = 1, CSQLITE_CHECKPOINT_RESTART = 2,
    CSQLITE_CHECKPOINT_TRUNCATE = 3,

    CSQLITE_DENY = 1, CSQLITE_DELETE = 9, CSQLITE_INSERT = 18, CSQLITE_READ = 20, CSQLITE_SELECT = 21,
    CSQLITE_UPDATE = 23, CSQLITE_FUNCTION = 31, CSQLITE_RECURSIVE = 33,

    CSQLITE_LIMIT_LENGTH = 0,
};

/// Each member is the function of SQLite of the same name, `sqlite3_` left out.
typedef struct csqlite_api {
    const char *_Nonnull (*_Nonnull libversion)(void);
    int (*_Nonnull libversion_number)(void);

    int (*_Nonnull open_v2)(const char *_Nonnull, sqlite3 *_Nullable *_Nonnull, int, const char *_Nullable);
    int (*_Nonnull close_v2)(sqlite3 *_Nullable);
    const char *_Nullable (*_Nonnull errmsg)(sqlite3 *_Nullable);
    const char *_Nonnull (*_Nonnull errstr)(int);
    int (*_Nonnull extended_errcode)(sqlite3 *_Nullable);
    int (*_Nonnull system_errno)(sqlite3 *_Nullable);
    int (*_Nonnull busy_timeout)(sqlite3 *_Nonnull, int);
    void (*_Nonnull interrupt)(sqlite3 *_Nonnull);
    void (*_Nonnull progress_handler)(
        sqlite3 *_Nonnull, int steps, int (*_Nullable)(void *_Nullable), void *_Nullable);
    int (*_Nonnull set_authorizer)(sqlite3 *_Nonnull, csqlite_authorizer _Nullable, void *_Nullable);
    int (*_Nonnull limit)(sqlite3 *_Nonnull, int which, int value);
    int (*_Nonnull get_autocommit)(sqlite3 *_Nonnull);
    int (*_Nonnull changes)(sqlite3 *_Nonnull);
    int64_t (*_Nonnull last_insert_rowid)(sqlite3 *_Nonnull);
    int (*_Nonnull db_readonly)(sqlite3 *_Nonnull, const char *_Nullable);
    /// `sqlite3_db_config` for the options that take one flag and give back none.
    int (*_Nonnull db_config)(sqlite3 *_Nonnull, int option, int flag);
    int (*_Nonnull wal_checkpoint_v2)(
        sqlite3 *_Nonnull, const char *_Nullable, int mode, int *_Nullable frames, int *_Nullable checkpointed);
    void *_Nullable (*_Nonnull wal_hook)(sqlite3 *_Nonnull, csqlite_wal_hook _Nullable, void *_Nullable);

    int (*_Nonnull exec)(
        sqlite3 *_Nonnull, const char *_Nonnull,
        int (*_Nullable)(void *_Nullable, int, char *_Nullable *_Nullable, char *_Nullable *_Nullable),
        void *_Nullable, char *_Nullable *_Nullable);
    int (*_Nonnull prepare_v3)(
        sqlite3 *_Nonnull, const char *_Nonnull, int, unsigned int, sqlite3_stmt *_Nullable *_Nonnull,
        const char *_Nullable *_Nullable);
    int (*_Nonnull finalize)(sqlite3_stmt *_Nullable);
    int (*_Nonnull step)(sqlite3_stmt *_Nonnull);
    int (*_Nonnull reset)(sqlite3_stmt *_Nonnull);
    int (*_Nonnull clear_bindings)(sqlite3_stmt *_Nonnull);
    int (*_Nonnull stmt_readonly)(sqlite3_stmt *_Nonnull);

    int (*_Nonnull bind_parameter_count)(sqlite3_stmt *_Nonnull);
    const char *_Nullable (*_Nonnull bind_parameter_name)(sqlite3_stmt *_Nonnull, int);
    int (*_Nonnull bind_null)(sqlite3_stmt *_Nonnull, int);
    int (*_Nonnull bind_int64)(sqlite3_stmt *_Nonnull, int, int64_t);
    int (*_Nonnull bind_double)(sqlite3_stmt *_Nonnull, int, double);
    int (*_Nonnull bind_text64)(
        sqlite3_stmt *_Nonnull, int, const char *_Nullable, uint64_t, csqlite_destructor _Nullable, unsigned char);
    int (*_Nonnull bind_blob64)(
        sqlite3_stmt *_Nonnull, int, const void *_Nullable, uint64_t, csqlite_destructor _Nullable);

    int (*_Nonnull column_count)(sqlite3_stmt *_Nonnull);
    const char *_Nullable (*_Nonnull column_name)(sqlite3_stmt *_Nonnull, int);
    const char *_Nullable (*_Nonnull column_decltype)(sqlite3_stmt *_Nonnull, int);
    int (*_Nonnull column_type)(sqlite3_stmt *_Nonnull, int);
    int (*_Nonnull column_bytes)(sqlite3_stmt *_Nonnull, int);
    int64_t (*_Nonnull column_int64)(sqlite3_stmt *_Nonnull, int);
    double (*_Nonnull column_double)(sqlite3_stmt *_Nonnull, int);
    const unsigned char *_Nullable (*_Nonnull column_text)(sqlite3_stmt *_Nonnull, int);
    const void *_Nullable (*_Nonnull column_blob)(sqlite3_stmt *_Nonnull, int);

    int (*_Nonnull create_function_v2)(
        sqlite3 *_Nonnull, const char *_Nonnull name, int arguments, int flags, void *_Nullable context,
        csqlite_function _Nullable function, csqlite_function _Nullable step,
        void (*_Nullable final)(sqlite3_context *_Nonnull), csqlite_destructor _Nullable);
    void *_Nullable (*_Nonnull user_data)(sqlite3_context *_Nonnull);
    int (*_Nonnull value_type)(sqlite3_value *_Nonnull);
    int (*_Nonnull value_bytes)(sqlite3_value *_Nonnull);
    int64_t (*_Nonnull value_int64)(sqlite3_value *_Nonnull);
    double (*_Nonnull value_double)(sqlite3_value *_Nonnull);
    const unsigned char *_Nullable (*_Nonnull value_text)(sqlite3_value *_Nonnull);
    const void *_Nullable (*_Nonnull value_blob)(sqlite3_value *_Nonnull);
    void (*_Nonnull result_null)(sqlite3_context *_Nonnull);
    void (*_Nonnull result_int64)(sqlite3_context *_Nonnull, int64_t);
    void (*_Nonnull result_double)(sqlite3_context *_Nonnull, double);
    void (*_Nonnull result_text64)(
        sqlite3_context *_Nonnull, const char *_Nullable, uint64_t, csqlite_destructor _Nullable, unsigned char);
    void (*_Nonnull result_blob64)(
        sqlite3_context *_Nonnull, const void *_Nullable, uint64_t, csqlite_destructor _Nullable);
    void (*_Nonnull result_error)(sqlite3_context *_Nonnull, const char *_Nonnull, int);

    int (*_Nonnull vfs_register)(struct sqlite3_vfs *_Nonnull, int);
    int (*_Nonnull vfs_unregister)(struct sqlite3_vfs *_Nonnull);
    struct sqlite3_vfs *_Nullable (*_Nonnull vfs_find)(const char *_Nullable);

    /// The table and the column that a column of a result comes from: only in a library that was built with
    /// `SQLITE_ENABLE_COLUMN_METADATA`.
    const char *_Nullable (*_Nullable column_table_name)(sqlite3_stmt *_Nonnull, int);
    const char *_Nullable (*_Nullable column_origin_name)(sqlite3_stmt *_Nonnull, int);

    /// Gives a database its key: only in a library that encrypts.
    int (*_Nullable key_v2)(sqlite3 *_Nonnull, const char *_Nullable, const void *_Nullable, int);
} csqlite_api;

/// The table of the libsqlite3 that this program is linked with. It lives as long as the program and never changes.
const csqlite_api *_Nonnull csqlite_system(void);

/// Opens a SQLite library at run time, one that encrypts, beside the linked one: neither sees the other's functions. Only
/// one can be open, and its callers take turns.
///
/// Returns its table, or NULL; `reason` then says in at most `size` bytes why.
const csqlite_api *_Nullable csqlite_load(const char *_Nonnull name, char *_Nonnull reason, int size);

/// Closes that library again, before anything was done with it.
void csqlite_unload(void);

/// The table of the library that is open, or NULL.
const csqlite_api *_Nullable csqlite_loaded(void);

/// Makes a key of 32 bytes from a passphrase as SQLCipher 4 does (PBKDF2 with HMAC-SHA512), by the means of the library
/// that was opened.
///
/// Returns 1, or 0 where that has none.
int csqlite_derive(
    const void *_Nullable passphrase, int count, const unsigned char *_Nonnull salt, int saltCount, int rounds,
    unsigned char *_Nonnull key);

/// Gives a file's number and the time of its creation in nanoseconds, 0 where the file system keeps none. Both stay the
/// same when it is renamed or the machine is restarted, and a later file of the same number has another time.
///
/// Returns 1, or 0 where there is no file.
int csqlite_file_birth(const char *_Nonnull path, uint64_t *_Nonnull number, uint64_t *_Nonnull time);

/// The environment's variable of that name; NULL where there is none, and in a program that has more rights than who
/// started it.
const char *_Nullable csqlite_variable(const char *_Nonnull name);

/// Fills memory with zeros in a way that no compiler leaves out.
void csqlite_wipe(void *_Nonnull memory, uint64_t count);

/// The destructor that tells SQLite to copy what it is given (`SQLITE_TRANSIENT`, a macro that Swift cannot import).
static inline csqlite_destructor _Nullable csqlite_transient(void) { return (csqlite_destructor)(intptr_t)-1; }

#endif
