/*
 * sluice.h: offline data sync for programs that are not written in Swift.
 *
 * A context is a local store together with a server. Your program reads and writes the store at any time; push and
 * pull carry the changes when the network allows. docs/c.md of Sluice is a guide to this header by example.
 *
 * THE RULES, WHICH HOLD FOR EVERY FUNCTION
 *
 * Results. A function returns SLUICE_OK or another code below; codes keep their numbers. A function that takes
 *   `sluice_text *out` always writes it: the result's JSON on success, and otherwise an object with `code` (the code's
 *   name), `message` (for a person) and, where there are such, `table`, `record`, `operation`, `status`. Pass NULL for
 *   an `out` that you do not need. Where no result is described the text is empty.
 * Ownership. What a function writes into `out` is yours: free it with sluice_text_free, once. It needs no
 *   initialisation before the call, and what it held before is not freed by the call. `bytes[length]` is always NUL.
 *   What you pass to a function stays yours, and no function keeps a pointer to it after it returned, except callbacks
 *   and their `data`.
 * Texts. All texts are UTF-8. Names, ids and paths are NUL-terminated, at most 4,095 bytes. Documents have a length in
 *   bytes, at most 64 MiB; SLUICE_TERMINATED as the length means that the document ends with a NUL. NULL is no
 *   document where one may be left out, and else SLUICE_ERROR_NULL.
 * Handles. Contexts, transactions and subscriptions are numbers, never 0, and none is given out twice. One that is
 *   closed, was never given out, or is of another kind gives SLUICE_ERROR_HANDLE.
 * Threads. Any function may be called from any thread at any time, except that a transaction belongs to the thread
 *   that its body runs on. Functions block their caller only; sluice_interrupt ends what others wait for.
 * Callbacks. A conflict callback, a token callback and a transaction's body run on the thread whose call they are part
 *   of. Event callbacks run on a thread of the library, one at a time for each context. A callback returns; it does not
 *   leave by longjmp, an exception or the end of its thread. Inside of any callback, calls that would wait for what the
 *   callback is part of give SLUICE_ERROR_REENTRANT: push, pull, reconcile, purge, discard, resolve, write, open and
 *   close, and sluice_next with a timeout other than 0. Inside of a transaction's body, only the functions
 *   sluice_transaction_…, those without a handle and sluice_interrupt can be called; all others give
 *   SLUICE_ERROR_REENTRANT.
 * Processes. A child that was forked from a process that had used the library gets SLUICE_ERROR_FORKED from every
 *   function with a handle, until it calls exec. The library ignores SIGPIPE, starts threads of its own, and stays
 *   loaded after dlclose.
 *
 * WHAT CANNOT BE REACHED FROM HERE
 *
 * Filters and hooks in code (a plugin in Lua can be both), a store or transport of your own, TLS files, observed queries,
 * online tables and custom calls, the online, offline and mixed stores (docs/data-stores.md; their two codes stand below),
 * schedules, tags, headers and exemption from merging of operations, limits of a pull, migrations, export and import of the
 * queue, edit and undo of operations, the server's copies of their records and the audit, the quarantine, several users in
 * one store and taking over another's operations, breaking a lease, information about a store, its check, conversion and repair, loading
 * plugins anew, their decisions, and the engine's log.
 */
#ifndef SLUICE_H
#define SLUICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header: sluice_version() of a library that a program can run with is not smaller, and has the
 * same major number. */
#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0
#define SLUICE_VERSION ((SLUICE_VERSION_MAJOR << 16) | (SLUICE_VERSION_MINOR << 8) | SLUICE_VERSION_PATCH)

/* A length that says: the text ends with a NUL. */
#define SLUICE_TERMINATED ((size_t)-1)

typedef uint64_t sluice_context;
typedef uint64_t sluice_transaction;
typedef uint64_t sluice_subscription;

/* A text that belongs to whoever asked for it: free it with sluice_text_free. */
typedef struct sluice_text {
    char *bytes;
    size_t length;
} sluice_text;

/* What a function returns. */
enum {
    SLUICE_OK = 0,

    /* Of this header alone. */
    SLUICE_ERROR_HANDLE = 1,    /* the handle is closed, or was never one */
    SLUICE_ERROR_NULL = 2,      /* a pointer is NULL that may not be */
    SLUICE_ERROR_UTF8 = 3,      /* a text is not UTF-8 */
    SLUICE_ERROR_JSON = 4,      /* a document is not JSON */
    SLUICE_ERROR_REENTRANT = 5, /* a callback cannot call this: see the rules */
    SLUICE_ERROR_CALLBACK = 6,  /* a transaction's body returned something else than 0 */
    SLUICE_ERROR_SIZE = 7,      /* a struct's size is of no version of this header */
    SLUICE_ERROR_TIMEOUT = 8,   /* nothing came in that time */
    SLUICE_ERROR_FORKED = 9,    /* the process is a child of the one that used the library */
    SLUICE_ERROR_OTHER = 10,    /* none of these; the message says more */

    /* Of the network and the server. */
    SLUICE_ERROR_NETWORK = 20,
    SLUICE_ERROR_SERVER_TIMEOUT = 21,
    SLUICE_ERROR_CANCELLED = 22, /* sluice_interrupt or sluice_close ended the call */
    SLUICE_ERROR_UNAUTHORIZED = 23,
    SLUICE_ERROR_FORBIDDEN = 24,
    SLUICE_ERROR_NOT_FOUND = 25,
    SLUICE_ERROR_CONFLICT = 26,
    SLUICE_ERROR_PRECONDITION_FAILED = 27,
    SLUICE_ERROR_REJECTED = 28,
    SLUICE_ERROR_SERVER_FAILURE = 29,
    SLUICE_ERROR_BROKEN_PROTOCOL = 30,
    SLUICE_ERROR_TOO_LARGE = 31,
    SLUICE_ERROR_FILTER = 32,
    SLUICE_ERROR_ABORTED = 33,

    /* Of what was asked. */
    SLUICE_ERROR_ARGUMENT = 40,
    SLUICE_ERROR_QUERY = 41,
    SLUICE_ERROR_RECORD = 42,
    SLUICE_ERROR_TABLE = 43,
    SLUICE_ERROR_LIMIT = 44,
    SLUICE_ERROR_REMOVALS_HELD = 45,
    SLUICE_ERROR_RECORD_EXISTS = 46,
    SLUICE_ERROR_RECORD_MISSING = 47,
    SLUICE_ERROR_OPERATION_REFUSED = 48,
    SLUICE_ERROR_OPERATIONS_PENDING = 49,
    SLUICE_ERROR_REFUSED_BY_HOOK = 50,
    SLUICE_ERROR_HOOK_FAILED = 51,
    SLUICE_ERROR_POSTPONED = 52,
    SLUICE_ERROR_UNSUPPORTED = 53, /* it can be read, and is not done here */
    SLUICE_ERROR_NOT_COVERED = 54, /* no defining request holds all that was asked for */
    SLUICE_ERROR_NOT_AVAILABLE_OFFLINE = 55,
    SLUICE_ERROR_MAYBE_APPLIED = 56, /* a creation went out, and its answer was lost: it may have taken effect */

    /* Of the local store. */
    SLUICE_ERROR_STORE_NOT_A_DATABASE = 60,
    SLUICE_ERROR_STORE_BUSY = 61,
    SLUICE_ERROR_STORE_FULL = 62,
    SLUICE_ERROR_STORE_INPUT_OUTPUT = 63,
    SLUICE_ERROR_STORE_CORRUPT = 64,
    SLUICE_ERROR_STORE_SCHEMA = 65,
    SLUICE_ERROR_STORE_CLOSED = 66,
    SLUICE_ERROR_STORE_LEASE_LOST = 67,
    SLUICE_ERROR_STORE_KEY_REFUSED = 68,
    SLUICE_ERROR_STORE_ENCRYPTED = 69,
    SLUICE_ERROR_STORE_NOT_ENCRYPTED = 70,
    SLUICE_ERROR_STORE_LIBRARY_MISSING = 71
};

/* ---- The library ------------------------------------------------------------------------------------------------ */

/* The library's version, as SLUICE_VERSION. */
uint32_t sluice_version(void);

/* The library's version as a text, "0.1.0"; belongs to the library. */
const char *sluice_version_text(void);

/* The hash of the commit that the library was built from; empty for a build that does not know it. Belongs to the library. */
const char *sluice_commit(void);

/* A code's name, "recordMissing", as it stands in `code` of an error's text; "unknown" for other numbers. Belongs to
 * the library. */
const char *sluice_code_name(int32_t code);

/* Makes `text` a copy of the bytes. For answers of callbacks; what `text` held before is not freed. */
int32_t sluice_text_set(sluice_text *text, const char *bytes, size_t length);

/* Frees what the library wrote into `text`, and makes it empty, so that freeing it twice does nothing. NULL is
 * allowed. */
void sluice_text_free(sluice_text *text);

/* ---- Contexts --------------------------------------------------------------------------------------------------- */

/* What a conflict callback returns. */
enum {
    SLUICE_DECIDE_NEXT = 0,    /* not decided here: the plugins, then the policy of `conflicts` */
    SLUICE_DECIDE_SERVER = 1,  /* the server's record stands, the local change is given up */
    SLUICE_DECIDE_CLIENT = 2,  /* what was changed here is sent again, on top of the server's record */
    SLUICE_DECIDE_MERGE = 3,   /* the record that the callback wrote into `answer` is stored and sent; a property that it
                                  leaves as `base` has it is of the side that changed it, where one alone did */
    SLUICE_DECIDE_DELETE = 4,  /* the record is deleted here and on the server */
    SLUICE_DECIDE_DISCARD = 5, /* the local change is given up: nobody wants it */
    SLUICE_DECIDE_DEFER = 6,   /* the operation waits for the next push */
    SLUICE_DECIDE_ASK = 7,     /* the operation is held until someone decides: sluice_queue_resolve */
    SLUICE_DECIDE_ABORT = 8,   /* as ASK, and the push ends */
    SLUICE_DECIDE_FAIL = 9     /* as ASK, because the callback failed; `answer` may have a reason, in words */
};

/* Decides a conflict: the server refused a change because its record is not the one the change was made on.
 *
 * `conflict` is valid until the callback returns: {"table", "id", "kind": "insert"|"update"|"delete"|"undelete",
 * "operation", "client", "server", "base", "maybeApplied", "status", "deletedOnServer"}. `client`, `server` and `base`
 * are records or null: ours, the server's, and the server's on which ours was made.
 *
 * Returns a decision. Any other number is SLUICE_DECIDE_FAIL: the operation is held, nothing is lost. Write a record
 * into `answer` with sluice_text_set; the library frees it. */
typedef int32_t (*sluice_conflict_callback)(
    void *data, const char *conflict, size_t length, sluice_text *answer);

/* Returns the token for the server, when one is needed: in `answer`, with sluice_text_set; the library frees it.
 * `refused` is the token that the server did not accept, NULL for the first. Returns 0, and anything else for "there is
 * none": requests are then sent without one, or end as SLUICE_ERROR_UNAUTHORIZED. */
typedef int32_t (*sluice_token_callback)(void *data, const char *refused, sluice_text *answer);

/* How a context is opened. Set `size` to sizeof(sluice_options) and everything that is not used to 0: a library that is
 * newer than the header a program was built with knows by `size` what the program can have set. */
typedef struct sluice_options {
    size_t size;
    const char *store;     /* the store's file; it is made if it is not there. ":memory:" for none */
    const char *endpoint;  /* the server's address; NULL for a context that only works locally */
    const char *dialect;   /* azure-v1, azure-v2, azure-v3, datasync, odata-v2 or odata-v4; NULL for azure-v2 */
    const char *user;      /* whose data it is, by any name; NULL for nobody's in particular */
    const char *conflicts; /* what no one decides: hold, server-wins or client-wins; NULL for hold */
    const char *token;     /* the token for the server; NULL for none, or for on_token */
    const char *token_scheme;    /* zumo (X-ZUMO-AUTH), bearer or basic (Authorization; of basic the token is name:password); NULL for zumo */
    const char *application_key; /* of azure-v1 (X-ZUMO-APPLICATION) */
    const uint8_t *key;          /* the key of an encrypted store: 32 bytes; NULL for none */
    size_t key_length;
    const char *passphrase; /* or the passphrase of an encrypted store */
    const char *plugins;    /* the policy of the plugins that take part, a YAML file; NULL for none */
    const char *secrets;    /* a folder with the secrets of plugins, each in a file of its name */
    /* The rest, as JSON; NULL for none. All members may be left out:
     * {"tables": {NAME: {"columns": {NAME: "string"|"integer"|"real"|"boolean"|"date"|"json"},
     *                    "indexes": [NAME or [NAME, ...], ...], "local": true or [NAME, ...]}},
     *  "batch": 1..100, "concurrency": 1..64, "pageSize": 1..1000000, "maximumAttempts": 1..1000000,
     *  "leaseTimeout": MILLISECONDS, "busyTimeout": MILLISECONDS, "readers": 1..64, "durability": "full"|"normal",
     *  "retries": 0..20, "dependencies": [{"child": TABLE, "parent": TABLE, "column": NAME}, ...],
     *  "proxy": "http://NAME:PASSWORD@HOST:PORT" or "none", else the environment's, "noProxy": [HOST, ...]}
     * SQL sees a table's columns where `tables` declares them, and else only "id" and "record". Of the OData dialects
     * alone: "odata": {"update": "merge"|"put", "tunnel": BOOLEAN, "batches": "automatic"|"multipart"|"json"|"off",
     * "remembers-requests": BOOLEAN}, and
     * in a table "odata": {"updated-at": NAME, "client-id": NAME, "assigns-key": BOOLEAN, "delta": BOOLEAN,
     * "key": {NAME: EDM TYPE, ...}}, for what the service's metadata does not say. */
    const char *settings;
    size_t settings_length;
    sluice_conflict_callback on_conflict; /* NULL for none */
    void *on_conflict_data;
    sluice_token_callback on_token; /* NULL for none */
    void *on_token_data;
} sluice_options;

/* Opens a context. Callbacks and their data are used until sluice_close has returned. */
int32_t sluice_open(const sluice_options *options, sluice_context *context, sluice_text *out);

/* Closes a context: ends the calls that are under way in other threads (they give SLUICE_ERROR_CANCELLED) and its
 * subscriptions, waits for them, and closes the store. What waits in the queue stays there. */
int32_t sluice_close(sluice_context context, sluice_text *out);

/* Ends the calls that are under way in other threads as soon as they can be: they give SLUICE_ERROR_CANCELLED, or have
 * done what they were asked. Waits for nothing. */
int32_t sluice_interrupt(sluice_context context, sluice_text *out);

/* ---- Records of the local store: no call here touches the network ----------------------------------------------- */

/* Adds a record; one without an `id` gets a new UUID. `out`: the record as it is stored. */
int32_t sluice_insert(
    sluice_context context, const char *table, const char *record, size_t length, sluice_text *out);

/* Changes the properties that `changes` names of the record whose `id` it names. `out`: the record as it is stored. */
int32_t sluice_update(
    sluice_context context, const char *table, const char *changes, size_t length, sluice_text *out);

/* Deletes a record. */
int32_t sluice_delete(sluice_context context, const char *table, const char *id, sluice_text *out);

/* Brings a deleted record back: at once if its delete was never sent, else by the next push. */
int32_t sluice_undelete(sluice_context context, const char *table, const char *id, sluice_text *out);

/* `out`: the record with that id. SLUICE_ERROR_RECORD_MISSING if there is none. */
int32_t sluice_lookup(sluice_context context, const char *table, const char *id, sluice_text *out);

/* Reads records. `query`, NULL for all: {"filter": "year ge 1990 and rating eq 'R'", "orderby": "year desc,title",
 * "top": 10, "skip": 0, "select": "id,title", "count": true}, each a part of an OData query and each optional. `out`:
 * {"items": [record, ...]}, with "count" where it was asked for: how many match, whatever `top` is. */
int32_t sluice_query(
    sluice_context context, const char *table, const char *query, size_t length, sluice_text *out);

/* Reads with one SELECT of SQLite. `bindings`, NULL for none: an array for parameters in order, or an object for named
 * ones. `out`: {"columns": [name, ...], "rows": [[value, ...], ...]}. */
int32_t sluice_sql(
    sluice_context context, const char *statement, size_t length, const char *bindings, size_t bindings_length,
    sluice_text *out);

/* ---- Transactions ----------------------------------------------------------------------------------------------- */

/* Reads and changes records through `transaction`, which is valid until the body returns, on this thread. Returns 0 to
 * commit, anything else to undo everything. */
typedef int32_t (*sluice_transaction_body)(sluice_transaction transaction, void *data);

/* For sluice_write: the changes reach the server all together or not at all. It takes a server with batches (datasync's
 * or Sluice's own), and the setting "batch" above 1. */
#define SLUICE_GROUP 1u

/* Runs `body` in one transaction: all its changes are stored and queued, or none. Other writes wait meanwhile. Where
 * plugins look at local writes the body is run again with their decisions, up to four times; only the last one counts.
 * SLUICE_ERROR_CALLBACK if the body returned something else than 0. */
int32_t sluice_write(
    sluice_context context, uint32_t flags, sluice_transaction_body body, void *data, sluice_text *out);

/* As the functions of contexts, inside of a transaction, which sees what it has changed. */
int32_t sluice_transaction_insert(
    sluice_transaction transaction, const char *table, const char *record, size_t length, sluice_text *out);
int32_t sluice_transaction_update(
    sluice_transaction transaction, const char *table, const char *changes, size_t length, sluice_text *out);
int32_t sluice_transaction_delete(
    sluice_transaction transaction, const char *table, const char *id, sluice_text *out);
int32_t sluice_transaction_undelete(
    sluice_transaction transaction, const char *table, const char *id, sluice_text *out);
int32_t sluice_transaction_lookup(
    sluice_transaction transaction, const char *table, const char *id, sluice_text *out);
int32_t sluice_transaction_query(
    sluice_transaction transaction, const char *table, const char *query, size_t length, sluice_text *out);

/* ---- Sync ------------------------------------------------------------------------------------------------------- */

/* Sends what waits in the queue. `options`, NULL for all of it: {"tables": [NAME, ...]}.
 *
 * SLUICE_OK if every operation was tried. `out`: {"end": "completed", "applied", "conflicts", "remaining", "waiting",
 * "postponed", "ofOthers", "failures": [operation, ...]}: what failed for one operation alone is in `failures` and in
 * the queue. A push that ended early gives the code of what ended it (SLUICE_ERROR_NETWORK), and the error's text has
 * the same counts in `push`. */
int32_t sluice_push(sluice_context context, const char *options, size_t length, sluice_text *out);

/* Brings the server's rows of a table; pushes first if changes of the table wait. `options`, NULL for all rows:
 * {"named": NAME, "filter": "...", "allowsMassRemoval": false}, and without a name also "orderby", "top", "skip". A pull
 * with a name brings what has changed since the last pull of that name. `out`: {"table", "stored", "unchanged",
 * "deleted", "pending", "conflicts", "quarantined", "dropped", "pages", ...}. */
int32_t sluice_pull(
    sluice_context context, const char *table, const char *options, size_t length, sluice_text *out);

/* Compares the rows of a named query here with those of the server, and mends what differs. `options`: as for
 * sluice_pull, with "named". `out`: {"table", "compared", "stored", "removed", "pending", "usedDigest"}. */
int32_t sluice_reconcile(
    sluice_context context, const char *table, const char *options, size_t length, sluice_text *out);

/* Removes rows from the local store alone. `options`, NULL for all rows of the table: {"filter": "...", "named": NAME
 * of the query to forget, "force": whether changes that wait are given up}. `out`: {"removed": count}. */
int32_t sluice_purge(
    sluice_context context, const char *table, const char *options, size_t length, sluice_text *out);

/* `out`: {"phase": "idle"|"offline"|"pulling"|"pushing"|"waiting"|"needsAttention", "pending", "inFlight", "parked",
 * "dead", "ofOthers", "cursors": [{"table", "query", "updatedAt", "grade"}, ...]}. */
int32_t sluice_status(sluice_context context, sluice_text *out);

/* ---- The queue -------------------------------------------------------------------------------------------------- */

/* The queued operations. `filter`, NULL for all: {"states": ["pending"|"inFlight"|"parked"|"dead", ...], "table",
 * "record"}. `out`: {"operations": [{"id", "table", "record", "kind", "state", "revision", "attempts", "uncertain",
 * "tags", "group", "createdAt", "notBefore", "failure": null or {"code", "message", "status"}, "user"}, ...]}. */
int32_t sluice_queue_list(sluice_context context, const char *filter, size_t length, sluice_text *out);

/* Has the next push try a parked or dead operation again; NULL for all of them. `out`: {"retried": count}. */
int32_t sluice_queue_retry(sluice_context context, const char *operation, sluice_text *out);

/* Gives an operation up and restores the record as the server last had it. */
int32_t sluice_queue_discard(sluice_context context, const char *operation, sluice_text *out);

/* Decides a conflict that is held: SLUICE_DECIDE_SERVER, CLIENT, MERGE (with the record), DELETE or DISCARD. `record` is
 * NULL for all but MERGE. */
int32_t sluice_queue_resolve(
    sluice_context context, const char *operation, int32_t decision, const char *record, size_t length,
    sluice_text *out);

/* ---- Events ----------------------------------------------------------------------------------------------------- */

/* What a subscription brings; add them up. */
#define SLUICE_CHANGES 1u  /* commits of the local store: {"event": "changes", "id", "changes": [{"table", "record",
                              "kind": "inserted"|"updated"|"removed", "source"}, ...], "reload": [table, ...] or null}.
                              `reload` names tables to read again whole because not every change is listed; null: all */
#define SLUICE_PROGRESS 2u /* {"event": "progress", "step": "pushing"|"pulling", "table", "rows", "bytes", "total"} */
#define SLUICE_PHASES 4u   /* {"event": "phase", "phase": as sluice_status, "until", "count"}, first what is so now */

/* Receives an event, valid until it returns. */
typedef void (*sluice_event_callback)(void *data, const char *event, size_t length);

/* Subscribes to events from now on. With a callback, events go there; without one (NULL) sluice_next takes them. A slow
 * consumer holds nobody up: what waits is bounded, and older changes become names of tables in `reload`. */
int32_t sluice_subscribe(
    sluice_context context, uint32_t kinds, sluice_event_callback callback, void *data,
    sluice_subscription *subscription, sluice_text *out);

/* Takes the next event, waiting for it up to so many milliseconds; -1 waits without a limit, 0 not at all. `out`: the
 * event. SLUICE_ERROR_TIMEOUT if none came; SLUICE_ERROR_HANDLE once the context is closed: then unsubscribe. */
int32_t sluice_next(sluice_subscription subscription, int32_t milliseconds, sluice_text *out);

/* A file descriptor that is readable while an event waits, and once the context is closed, for poll or an event loop:
 * call sluice_next with 0 until it gives another code than SLUICE_OK. It belongs to the library, and sluice_unsubscribe
 * closes it: take it out of your loop first, and do not read from it. SLUICE_ERROR_ARGUMENT for a subscription with a
 * callback. */
int32_t sluice_descriptor(sluice_subscription subscription, int *descriptor, sluice_text *out);

/* Ends a subscription, also one whose context is closed. Waits for a callback of it that runs in another thread: after
 * that, `data` is used no more. Inside of an event callback it does not wait. */
int32_t sluice_unsubscribe(sluice_subscription subscription, sluice_text *out);

#ifdef __cplusplus
}
#endif

#endif
