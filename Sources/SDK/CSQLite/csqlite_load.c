#define _GNU_SOURCE
#define _DEFAULT_SOURCE

#include "csqlite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0
#endif

// One library for the whole process: who encrypts uses the same for every store.
static csqlite_api loaded;
static void *handle;

static int (*variadic_config)(sqlite3 *, int, ...);
static int (*pbkdf2)(
    const char *, int, const unsigned char *, int, int, const void *digest, int, unsigned char *);
static const void *(*sha512)(void);

// sqlite3_db_config is variadic, which Swift cannot call.
static int config_flag(sqlite3 *database, int option, int flag) {
    return variadic_config(database, option, flag, (int *)0);
}

static int find(const char *name, void *place, char *reason, int size) {
    // POSIX has dlsym's result stand for a function too; only a copy of its bytes says so in ISO C.
    void *symbol = dlsym(handle, name);
    if (!symbol) {
        snprintf(reason, (size_t)size, "it has no %s", name);
        return 0;
    }
    memcpy(place, &symbol, sizeof symbol);
    return 1;
}

static int fill(char *reason, int size) {
#define TAKE(name) if (!find("sqlite3_" #name, &loaded.name, reason, size)) return 0
    // First what a library without encryption has not.
    TAKE(key_v2);
    TAKE(libversion);
    TAKE(libversion_number);
    TAKE(open_v2);
    TAKE(close_v2);
    TAKE(errmsg);
    TAKE(errstr);
    TAKE(extended_errcode);
    TAKE(system_errno);
    TAKE(busy_timeout);
    TAKE(interrupt);
    TAKE(progress_handler);
    TAKE(set_authorizer);
    TAKE(limit);
    TAKE(get_autocommit);
    TAKE(changes);
    TAKE(last_insert_rowid);
    TAKE(db_readonly);
    TAKE(wal_checkpoint_v2);
    TAKE(wal_hook);
    TAKE(exec);
    TAKE(prepare_v3);
    TAKE(finalize);
    TAKE(step);
    TAKE(reset);
    TAKE(clear_bindings);
    TAKE(stmt_readonly);
    TAKE(bind_parameter_count);
    TAKE(bind_parameter_name);
    TAKE(bind_null);
    TAKE(bind_int64);
    TAKE(bind_double);
    TAKE(bind_text64);
    TAKE(bind_blob64);
    TAKE(column_count);
    TAKE(column_name);
    TAKE(column_decltype);
    TAKE(column_type);
    TAKE(column_bytes);
    TAKE(column_int64);
    TAKE(column_double);
    TAKE(column_text);
    TAKE(column_blob);
    TAKE(create_function_v2);
    TAKE(user_data);
    TAKE(value_type);
    TAKE(value_bytes);
    TAKE(value_int64);
    TAKE(value_double);
    TAKE(value_text);
    TAKE(value_blob);
    TAKE(result_null);
    TAKE(result_int64);
    TAKE(result_double);
    TAKE(result_text64);
    TAKE(result_blob64);
    TAKE(result_error);
    TAKE(vfs_register);
    TAKE(vfs_unregister);
    TAKE(vfs_find);
#undef TAKE
    if (!find("sqlite3_db_config", &variadic_config, reason, size)) return 0;
    loaded.db_config = config_flag;
    char ignored[64];
    // Only in a library that was built with them.
    find("sqlite3_column_table_name", &loaded.column_table_name, ignored, sizeof ignored);
    find("sqlite3_column_origin_name", &loaded.column_origin_name, ignored, sizeof ignored);
    // Of the library that does the encrypting, if it is OpenSSL; without it passphrases are left to SQLCipher itself.
    if (!find("PKCS5_PBKDF2_HMAC", &pbkdf2, ignored, sizeof ignored)
        || !find("EVP_sha512", &sha512, ignored, sizeof ignored)) {
        pbkdf2 = NULL;
    }
    return 1;
}

const csqlite_api *csqlite_load(const char *name, char *reason, int size) {
    if (handle) return &loaded;
    // Deep: its calls of SQLite are to stay its own, and not to end at the linked library.
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!handle) {
        const char *error = dlerror();
        snprintf(reason, (size_t)size, "%s", error ? error : "it cannot be opened");
        return NULL;
    }
    if (fill(reason, size)) return &loaded;
    csqlite_unload();
    return NULL;
}

void csqlite_unload(void) {
    if (handle) dlclose(handle);
    handle = NULL;
}

const csqlite_api *csqlite_loaded(void) { return handle ? &loaded : NULL; }

int csqlite_derive(
    const void *passphrase, int count, const unsigned char *salt, int saltCount, int rounds, unsigned char *key) {
    return pbkdf2 && pbkdf2(passphrase, count, salt, saltCount, rounds, sha512(), 32, key) == 1;
}

const char *csqlite_variable(const char *name) {
#ifdef __GLIBC__
    return secure_getenv(name);
#else
    return issetugid() ? NULL : getenv(name);
#endif
}

void csqlite_wipe(void *memory, uint64_t count) {
    memset(memory, 0, (size_t)count);
    // What reads the memory afterwards is not known to the compiler, so it has to write it first.
    __asm__ __volatile__("" : : "r"(memory) : "memory");
}
