#include "csqlite.h"

#include <sqlite3.h>

#define AGREES(name) _Static_assert(CSQLITE_##name == SQLITE_##name, "csqlite.h and sqlite3.h differ in " #name)

AGREES(OK);
AGREES(ERROR);
AGREES(PERM);
AGREES(BUSY);
AGREES(LOCKED);
AGREES(NOMEM);
AGREES(READONLY);
AGREES(INTERRUPT);
AGREES(IOERR);
AGREES(CORRUPT);
AGREES(FULL);
AGREES(CANTOPEN);
AGREES(PROTOCOL);
AGREES(SCHEMA);
AGREES(TOOBIG);
AGREES(CONSTRAINT);
AGREES(MISUSE);
AGREES(AUTH);
AGREES(NOTADB);
AGREES(ROW);
AGREES(DONE);
AGREES(INTEGER);
AGREES(FLOAT);
AGREES(TEXT);
AGREES(BLOB);
AGREES(NULL);
AGREES(OPEN_READONLY);
AGREES(OPEN_READWRITE);
AGREES(OPEN_CREATE);
AGREES(OPEN_NOMUTEX);
AGREES(OPEN_EXRESCODE);
AGREES(PREPARE_PERSISTENT);
AGREES(UTF8);
AGREES(DETERMINISTIC);
AGREES(DIRECTONLY);
AGREES(INNOCUOUS);
AGREES(DBCONFIG_NO_CKPT_ON_CLOSE);
AGREES(DBCONFIG_DEFENSIVE);
AGREES(DBCONFIG_DQS_DML);
AGREES(DBCONFIG_DQS_DDL);
AGREES(DBCONFIG_TRUSTED_SCHEMA);
AGREES(CHECKPOINT_PASSIVE);
AGREES(CHECKPOINT_FULL);
AGREES(CHECKPOINT_RESTART);
AGREES(CHECKPOINT_TRUNCATE);
AGREES(DENY);
AGREES(DELETE);
AGREES(INSERT);
AGREES(READ);
AGREES(SELECT);
AGREES(UPDATE);
AGREES(FUNCTION);
AGREES(RECURSIVE);
AGREES(LIMIT_LENGTH);

// A library without column metadata has neither; their members of the table are NULL then.
#pragma weak sqlite3_column_table_name
#pragma weak sqlite3_column_origin_name

// sqlite3_db_config is variadic, which Swift cannot call.
static int config_flag(sqlite3 *database, int option, int flag) {
    return sqlite3_db_config(database, option, flag, (int *)0);
}

// SQLite's 64-bit integer is `long long`, the table's is `int64_t`: the same thing, but not to a function pointer.
static int bind_integer(sqlite3_stmt *statement, int index, int64_t value) {
    return sqlite3_bind_int64(statement, index, value);
}
static int bind_text(
    sqlite3_stmt *statement, int index, const char *text, uint64_t count, csqlite_destructor destructor,
    unsigned char encoding) {
    return sqlite3_bind_text64(statement, index, text, count, destructor, encoding);
}
static int bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, uint64_t count, csqlite_destructor destructor) {
    return sqlite3_bind_blob64(statement, index, bytes, count, destructor);
}
static int64_t column_integer(sqlite3_stmt *statement, int index) { return sqlite3_column_int64(statement, index); }
static int64_t value_integer(sqlite3_value *value) { return sqlite3_value_int64(value); }
static int64_t last_rowid(sqlite3 *database) { return sqlite3_last_insert_rowid(database); }
static void result_integer(sqlite3_context *context, int64_t value) { sqlite3_result_int64(context, value); }
static void result_text(
    sqlite3_context *context, const char *text, uint64_t count, csqlite_destructor destructor,
    unsigned char encoding) {
    sqlite3_result_text64(context, text, count, destructor, encoding);
}
static void result_blob(
    sqlite3_context *context, const void *bytes, uint64_t count, csqlite_destructor destructor) {
    sqlite3_result_blob64(context, bytes, count, destructor);
}

static const csqlite_api linked = {
    .libversion = sqlite3_libversion,
    .libversion_number = sqlite3_libversion_number,
    .open_v2 = sqlite3_open_v2,
    .close_v2 = sqlite3_close_v2,
    .errmsg = sqlite3_errmsg,
    .errstr = sqlite3_errstr,
    .extended_errcode = sqlite3_extended_errcode,
    .system_errno = sqlite3_system_errno,
    .busy_timeout = sqlite3_busy_timeout,
    .interrupt = sqlite3_interrupt,
    .progress_handler = sqlite3_progress_handler,
    .set_authorizer = sqlite3_set_authorizer,
    .limit = sqlite3_limit,
    .get_autocommit = sqlite3_get_autocommit,
    .changes = sqlite3_changes,
    .last_insert_rowid = last_rowid,
    .db_readonly = sqlite3_db_readonly,
    .db_config = config_flag,
    .wal_checkpoint_v2 = sqlite3_wal_checkpoint_v2,
    .wal_hook = sqlite3_wal_hook,
    .exec = sqlite3_exec,
    .prepare_v3 = sqlite3_prepare_v3,
    .finalize = sqlite3_finalize,
    .step = sqlite3_step,
    .reset = sqlite3_reset,
    .clear_bindings = sqlite3_clear_bindings,
    .stmt_readonly = sqlite3_stmt_readonly,
    .bind_parameter_count = sqlite3_bind_parameter_count,
    .bind_parameter_name = sqlite3_bind_parameter_name,
    .bind_null = sqlite3_bind_null,
    .bind_int64 = bind_integer,
    .bind_double = sqlite3_bind_double,
    .bind_text64 = bind_text,
    .bind_blob64 = bind_blob,
    .column_count = sqlite3_column_count,
    .column_name = sqlite3_column_name,
    .column_decltype = sqlite3_column_decltype,
    .column_type = sqlite3_column_type,
    .column_bytes = sqlite3_column_bytes,
    .column_int64 = column_integer,
    .column_double = sqlite3_column_double,
    .column_text = sqlite3_column_text,
    .column_blob = sqlite3_column_blob,
    .create_function_v2 = sqlite3_create_function_v2,
    .user_data = sqlite3_user_data,
    .value_type = sqlite3_value_type,
    .value_bytes = sqlite3_value_bytes,
    .value_int64 = value_integer,
    .value_double = sqlite3_value_double,
    .value_text = sqlite3_value_text,
    .value_blob = sqlite3_value_blob,
    .result_null = sqlite3_result_null,
    .result_int64 = result_integer,
    .result_double = sqlite3_result_double,
    .result_text64 = result_text,
    .result_blob64 = result_blob,
    .result_error = sqlite3_result_error,
    .vfs_register = sqlite3_vfs_register,
    .vfs_unregister = sqlite3_vfs_unregister,
    .vfs_find = sqlite3_vfs_find,
    .column_table_name = sqlite3_column_table_name,
    .column_origin_name = sqlite3_column_origin_name,
};

const csqlite_api *csqlite_system(void) { return &linked; }
