/* What callers can do wrong: each mistake gives a code and a text, and none ends the process. */
#include <stddef.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

static sluice_context context;

static void pointers(void) {
    sluice_options options = {.size = sizeof options};
    sluice_context other = 7;
    EXPECT(SLUICE_ERROR_NULL, sluice_open(NULL, &other, &out));
    TRUE(other == 0);
    EXPECT(SLUICE_ERROR_NULL, sluice_open(&options, &other, &out));
    options.store = ":memory:";
    EXPECT(SLUICE_ERROR_NULL, sluice_open(&options, NULL, &out));
    GIVES(SLUICE_ERROR_NULL, sluice_insert(context, NULL, "{}", T, &out));
    TRUE(has("\"code\":\"null\"") && has("the table is NULL"));
    sluice_text_free(&out);
    EXPECT(SLUICE_ERROR_NULL, sluice_insert(context, "t", NULL, T, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_update(context, "t", NULL, 0, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_delete(context, "t", NULL, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_lookup(context, NULL, "1", &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_sql(context, NULL, 3, NULL, 0, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_write(context, 0, NULL, NULL, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_queue_discard(context, NULL, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_subscribe(context, SLUICE_CHANGES, NULL, NULL, NULL, &out));
    TRUE(sluice_text_set(NULL, "x", T) == SLUICE_ERROR_NULL);
    TRUE(sluice_text_set(&out, NULL, 0) == SLUICE_ERROR_NULL);
    sluice_text_free(NULL);
    /* Without a text for the answer. */
    TRUE(sluice_insert(context, "t", "{\"id\": \"kept\"}", T, NULL) == SLUICE_OK);
    TRUE(sluice_insert(context, "t", "{\"id\": \"kept\"}", T, NULL) == SLUICE_ERROR_RECORD_EXISTS);
}

static void texts(void) {
    EXPECT(SLUICE_ERROR_UTF8, sluice_insert(context, "t\xff", "{}", T, &out));
    EXPECT(SLUICE_ERROR_UTF8, sluice_insert(context, "t", "{\"a\": \"\xc3\"}", T, &out));
    EXPECT(SLUICE_ERROR_UTF8, sluice_lookup(context, "t", "\xed\xa0\x80", &out));
    EXPECT(SLUICE_ERROR_UTF8, sluice_sql(context, "SELECT '\xff'", T, NULL, 0, &out));
    EXPECT(SLUICE_ERROR_JSON, sluice_insert(context, "t", "{\"a\": ", T, &out));
    EXPECT(SLUICE_ERROR_JSON, sluice_insert(context, "t", "", 0, &out));
    EXPECT(SLUICE_ERROR_JSON, sluice_insert(context, "t", "{} {}", T, &out));
    EXPECT(SLUICE_ERROR_RECORD, sluice_insert(context, "t", "[]", T, &out));
    /* The length counts, not a NUL. */
    EXPECT(SLUICE_OK, sluice_insert(context, "t", "{\"id\": \"counted\"}???", 17, &out));
    EXPECT(SLUICE_ERROR_TOO_LARGE, sluice_insert(context, "t", "{}", (size_t)1 << 40, &out));
    EXPECT(SLUICE_ERROR_TOO_LARGE, sluice_insert(context, "t", "{}", (size_t)-2, &out));
    EXPECT(SLUICE_ERROR_TOO_LARGE, sluice_insert(context, "t", "{}", (size_t)1 << 63, &out));
    char *name = malloc(5000);
    memset(name, 'x', 4999);
    name[4999] = 0;
    EXPECT(SLUICE_ERROR_TOO_LARGE, sluice_insert(context, name, "{}", T, &out));
    EXPECT(SLUICE_ERROR_TOO_LARGE, sluice_lookup(context, "t", name, &out));
    free(name);
    EXPECT(SLUICE_ERROR_TABLE, sluice_insert(context, "sluice_operations", "{}", T, &out));
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_query(context, "t", "{\"filtre\": \"a eq 1\"}", T, &out));
    EXPECT(SLUICE_ERROR_QUERY, sluice_query(context, "t", "{\"filter\": \"a eq\"}", T, &out));
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_query(context, "t", "{\"top\": -1}", T, &out));
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_query(context, "t", "{\"top\": 1e300}", T, &out));
    EXPECT(SLUICE_ERROR_QUERY, sluice_sql(context, "DELETE FROM t", T, NULL, 0, &out));
    TRUE(sluice_text_set(&out, "a\0b", 3) == SLUICE_OK && out.length == 3 && out.bytes[3] == 0);
    sluice_text_free(&out);
    sluice_text_free(&out);
    TRUE(out.bytes == NULL && out.length == 0);
}

static void options(void) {
    sluice_context other;
    struct {
        sluice_options known;
        char newer[64];
    } grown = {.known = {.size = sizeof grown, .store = ":memory:"}};
    EXPECT(SLUICE_OK, sluice_open(&grown.known, &other, &out));
    EXPECT(SLUICE_OK, sluice_close(other, &out));
    grown.newer[40] = 1;
    EXPECT(SLUICE_ERROR_SIZE, sluice_open(&grown.known, &other, &out));
    for (size_t size = 0; size < sizeof(sluice_options); size += 8) {
        grown.known.size = size;
        EXPECT(SLUICE_ERROR_SIZE, sluice_open(&grown.known, &other, &out));
    }
    grown.known.size = (size_t)-1;
    EXPECT(SLUICE_ERROR_SIZE, sluice_open(&grown.known, &other, &out));
    sluice_options bad = {.size = sizeof bad, .store = ":memory:", .dialect = "azure-v9"};
    GIVES(SLUICE_ERROR_ARGUMENT, sluice_open(&bad, &other, &out));
    TRUE(has("datasync"));
    sluice_text_free(&out);
    bad = (sluice_options){.size = sizeof bad, .store = ":memory:", .endpoint = "not a url"};
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_open(&bad, &other, &out));
    bad = (sluice_options){.size = sizeof bad, .store = "x.db", .key = (const uint8_t *)"short", .key_length = 5};
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_open(&bad, &other, &out));
    bad = (sluice_options){.size = sizeof bad, .store = ":memory:", .settings = "{\"batch\": 0}", .settings_length = T};
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_open(&bad, &other, &out));
    bad = (sluice_options){.size = sizeof bad, .store = "/nowhere/at/all.db"};
    EXPECT(SLUICE_ERROR_STORE_INPUT_OUTPUT, sluice_open(&bad, &other, &out));
    /* Programs that were built with the header of 0.1 go on to work. */
    TRUE(offsetof(sluice_options, on_token_data) + sizeof(void *) == 160);
    const size_t texts[] = {
        offsetof(sluice_options, store), offsetof(sluice_options, endpoint), offsetof(sluice_options, dialect),
        offsetof(sluice_options, user), offsetof(sluice_options, conflicts), offsetof(sluice_options, token),
        offsetof(sluice_options, token_scheme), offsetof(sluice_options, application_key),
        offsetof(sluice_options, passphrase), offsetof(sluice_options, plugins), offsetof(sluice_options, secrets)};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bad = (sluice_options){.size = sizeof bad, .store = ":memory:"};
        *(const char **)((char *)&bad + texts[i]) = "no text: \xff";
        EXPECT(SLUICE_ERROR_UTF8, sluice_open(&bad, &other, &out));
    }
}

static void nothing(void) {
    EXPECT(SLUICE_ERROR_NULL, sluice_undelete(context, "t", NULL, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_undelete(context, NULL, "1", &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_query(context, NULL, NULL, 0, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_pull(context, NULL, NULL, 0, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_reconcile(context, NULL, NULL, 0, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_purge(context, NULL, NULL, 0, &out));
    EXPECT(SLUICE_ERROR_NULL, sluice_queue_resolve(context, NULL, SLUICE_DECIDE_SERVER, NULL, 0, &out));
    EXPECT(SLUICE_ERROR_UTF8, sluice_query(context, "t", "{\"filter\": \"a eq '\xff'\"}", T, &out));
    EXPECT(SLUICE_ERROR_UTF8, sluice_sql(context, "SELECT ?", T, "[\"\xff\"]", T, &out));
    EXPECT(SLUICE_ERROR_UTF8, sluice_queue_retry(context, "\xff", &out));
    EXPECT(SLUICE_ERROR_UTF8, sluice_push(context, "\xff", T, &out));
}

static void handles(void) {
    sluice_context gone = opened(":memory:", NULL);
    sluice_subscription ended;
    EXPECT(SLUICE_OK, sluice_subscribe(gone, SLUICE_CHANGES, NULL, NULL, &ended, &out));
    EXPECT(SLUICE_OK, sluice_close(gone, &out));
    EXPECT(SLUICE_ERROR_HANDLE, sluice_next(ended, -1, &out));
    EXPECT(SLUICE_OK, sluice_unsubscribe(ended, &out));
    EXPECT(SLUICE_ERROR_HANDLE, sluice_unsubscribe(ended, &out));
    sluice_subscription subscription;
    EXPECT(SLUICE_OK, sluice_subscribe(context, SLUICE_CHANGES, NULL, NULL, &subscription, &out));
    const uint64_t wrong[] = {0, 1, 2, 3, gone, subscription, ended, (uint64_t)-1, (uint64_t)1 << 63, 0xDEADBEEF};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t handle = wrong[i];
        int fd;
        EXPECT(SLUICE_ERROR_HANDLE, sluice_close(handle, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_interrupt(handle, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_insert(handle, "t", "{}", T, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_update(handle, "t", "{}", T, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_delete(handle, "t", "1", &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_undelete(handle, "t", "1", &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_lookup(handle, "t", "1", &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_query(handle, "t", NULL, 0, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_sql(handle, "SELECT 1", T, NULL, 0, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_write(handle, 0, NULL, NULL, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_push(handle, NULL, 0, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_pull(handle, "t", NULL, 0, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_reconcile(handle, "t", NULL, 0, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_purge(handle, "t", NULL, 0, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_status(handle, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_queue_list(handle, NULL, 0, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_queue_retry(handle, NULL, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_queue_discard(handle, "x", &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_queue_resolve(handle, "x", SLUICE_DECIDE_SERVER, NULL, 0, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_subscribe(handle, SLUICE_CHANGES, NULL, NULL, &ended, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_transaction_insert(handle, "t", "{}", T, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_transaction_update(handle, "t", "{}", T, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_transaction_delete(handle, "t", "1", &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_transaction_undelete(handle, "t", "1", &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_transaction_lookup(handle, "t", "1", &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_transaction_query(handle, "t", NULL, 0, &out));
        if (handle == subscription) continue;
        EXPECT(SLUICE_ERROR_HANDLE, sluice_next(handle, 0, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_descriptor(handle, &fd, &out));
        EXPECT(SLUICE_ERROR_HANDLE, sluice_unsubscribe(handle, &out));
    }
    EXPECT(SLUICE_ERROR_TIMEOUT, sluice_next(subscription, 20, &out));
    EXPECT(SLUICE_OK, sluice_unsubscribe(subscription, &out));
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_subscribe(context, 0, NULL, NULL, &ended, &out));
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_subscribe(context, 1u << 20, NULL, NULL, &ended, &out));
}

static sluice_transaction kept;

static void *elsewhere(void *data) {
    sluice_text answer;
    sluice_transaction transaction = *(sluice_transaction *)data;
    int32_t code = sluice_transaction_insert(transaction, "t", "{}", T, &answer);
    sluice_text_free(&answer);
    return (void *)(intptr_t)code;
}

static int32_t body(sluice_transaction transaction, void *data) {
    kept = transaction;
    sluice_subscription other;
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_insert(context, "t", "{}", T, &out));
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_lookup(context, "t", "kept", &out));
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_write(context, 0, body, NULL, &out));
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_push(context, NULL, 0, &out));
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_close(context, &out));
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_status(context, &out));
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_subscribe(context, SLUICE_CHANGES, NULL, NULL, &other, &out));
    sluice_options options = {.size = sizeof options, .store = ":memory:"};
    sluice_context fresh;
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_open(&options, &fresh, &out));
    EXPECT(SLUICE_OK, sluice_interrupt(0, NULL) == SLUICE_ERROR_HANDLE ? SLUICE_OK : -1);
    EXPECT(SLUICE_ERROR_NULL, sluice_transaction_insert(transaction, "t", NULL, 0, &out));
    EXPECT(SLUICE_ERROR_RECORD_MISSING, sluice_transaction_lookup(transaction, "t", "nobody", &out));
    pthread_t thread;
    void *code;
    pthread_create(&thread, NULL, elsewhere, &transaction);
    pthread_join(thread, &code);
    TRUE((intptr_t)code == SLUICE_ERROR_HANDLE);
    EXPECT(SLUICE_OK, sluice_transaction_insert(transaction, "t", "{\"id\": \"undone\"}", T, &out));
    return *(int32_t *)data;
}

static void transactions(void) {
    int32_t answer = 5;
    GIVES(SLUICE_ERROR_CALLBACK, sluice_write(context, 0, body, &answer, &out));
    TRUE(has("returned 5"));
    sluice_text_free(&out);
    EXPECT(SLUICE_ERROR_RECORD_MISSING, sluice_lookup(context, "t", "undone", &out));
    answer = 0;
    EXPECT(SLUICE_OK, sluice_write(context, 0, body, &answer, &out));
    EXPECT(SLUICE_OK, sluice_lookup(context, "t", "undone", &out));
    EXPECT(SLUICE_ERROR_HANDLE, sluice_transaction_lookup(kept, "t", "undone", &out));
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_write(context, 8, body, &answer, &out));
    /* A group takes a server with batches. */
    EXPECT(SLUICE_ERROR_OPERATION_REFUSED, sluice_write(context, SLUICE_GROUP, body, &answer, &out));
}

static int child(void) {
    pid_t pid = fork();
    if (pid == 0) {
        sluice_options options = {.size = sizeof options, .store = ":memory:"};
        sluice_context other;
        int isRefused = sluice_status(context, &out) == SLUICE_ERROR_FORKED;
        sluice_text_free(&out);
        isRefused = isRefused && sluice_open(&options, &other, &out) == SLUICE_ERROR_FORKED;
        _exit(isRefused ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void) {
    TRUE(sluice_version() == SLUICE_VERSION);
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", SLUICE_VERSION_MAJOR, SLUICE_VERSION_MINOR, SLUICE_VERSION_PATCH);
    TRUE(strcmp(sluice_version_text(), version) == 0);
    // A test's build is no release: it has no commit, or the hash of the archive that it was built from.
    TRUE(strspn(sluice_commit(), "0123456789abcdef") == strlen(sluice_commit()));
    TRUE(strcmp(sluice_code_name(SLUICE_ERROR_RECORD_MISSING), "recordMissing") == 0);
    TRUE(strcmp(sluice_code_name(-12345), "unknown") == 0);
    context = opened("rules.db", NULL);
    pointers();
    texts();
    options();
    nothing();
    handles();
    transactions();
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_push(context, NULL, 0, &out));
    TRUE(child());
    EXPECT(SLUICE_OK, sluice_close(context, &out));
    EXPECT(SLUICE_ERROR_HANDLE, sluice_close(context, &out));
    EXPECT(SLUICE_ERROR_HANDLE, sluice_status(context, &out));
    return finished();
}
