/* What a program does with the library, function by function, against a server: work URL. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "expect.h"

/* ---- Records and transactions */

static int32_t add_two(sluice_transaction transaction, void *data) {
    (void)data;
    EXPECT(SLUICE_OK, sluice_transaction_insert(transaction, "films", "{\"id\":\"t1\",\"year\":1}", T, &out));
    EXPECT(SLUICE_OK, sluice_transaction_insert(transaction, "films", "{\"id\":\"t2\",\"year\":2}", T, &out));
    GIVES(SLUICE_OK, sluice_transaction_update(transaction, "films", "{\"id\":\"t2\",\"year\":3}", T, &out));
    TRUE(has("\"year\":3"));
    sluice_text_free(&out);
    GIVES(SLUICE_OK, sluice_transaction_query(transaction, "films", "{\"filter\":\"year lt 9\",\"count\":true}", T, &out));
    TRUE(has("\"count\":2"));
    sluice_text_free(&out);
    EXPECT(SLUICE_OK, sluice_transaction_delete(transaction, "films", "t1", &out));
    EXPECT(SLUICE_ERROR_RECORD_MISSING, sluice_transaction_lookup(transaction, "films", "t1", &out));
    EXPECT(SLUICE_ERROR_RECORD_MISSING, sluice_transaction_delete(transaction, "films", "t1", &out));
    EXPECT(SLUICE_OK, sluice_transaction_lookup(transaction, "films", "t2", &out));
    return 0;
}

static int32_t undelete(sluice_transaction transaction, void *data) {
    return sluice_transaction_undelete(transaction, "films", data, NULL);
}

static void records(sluice_context context) {
    GIVES(SLUICE_OK, sluice_insert(context, "films", "{\"title\":\"Łódź 🎬\",\"year\":1999}", T, &out));
    TRUE(has("Łódź 🎬") && has("\"id\":\""));
    sluice_text_free(&out);
    EXPECT(SLUICE_OK, sluice_insert(context, "films", "{\"id\":\"a\",\"title\":\"A\",\"year\":2001}", T, &out));
    EXPECT(SLUICE_ERROR_RECORD_EXISTS, sluice_insert(context, "films", "{\"id\":\"a\"}", T, &out));
    GIVES(SLUICE_OK, sluice_update(context, "films", "{\"id\":\"a\",\"year\":2002}", T, &out));
    TRUE(has("\"title\":\"A\"") && has("\"year\":2002"));
    sluice_text_free(&out);
    GIVES(SLUICE_ERROR_RECORD_MISSING, sluice_update(context, "films", "{\"id\":\"zz\",\"year\":1}", T, &out));
    TRUE(has("\"code\":\"recordMissing\"") && has("\"table\":\"films\"") && has("\"record\":\"zz\""));
    sluice_text_free(&out);
    GIVES(SLUICE_OK, sluice_lookup(context, "films", "a", &out));
    TRUE(has("\"year\":2002") && out.bytes[out.length] == 0 && strlen(out.bytes) == out.length);
    sluice_text_free(&out);
    GIVES(SLUICE_OK, sluice_query(context, "films",
        "{\"filter\":\"year ge 2000\",\"orderby\":\"year desc\",\"top\":1,\"select\":\"id\",\"count\":true}", T, &out));
    TRUE(strcmp(out.bytes, "{\"items\":[{\"id\":\"a\"}],\"count\":1}") == 0);
    sluice_text_free(&out);
    GIVES(SLUICE_OK, sluice_sql(context, "SELECT id, year FROM films WHERE year > ?", T, "[2000]", T, &out));
    TRUE(strcmp(out.bytes, "{\"columns\":[\"id\",\"year\"],\"rows\":[[\"a\",2002]]}") == 0);
    sluice_text_free(&out);
    GIVES(SLUICE_OK, sluice_sql(context, "SELECT :x + 1 AS y", T, "{\"x\":41}", T, &out));
    TRUE(has("42"));
    sluice_text_free(&out);
    EXPECT(SLUICE_OK, sluice_delete(context, "films", "a", &out));
    EXPECT(SLUICE_ERROR_RECORD_MISSING, sluice_lookup(context, "films", "a", &out));
    EXPECT(SLUICE_OK, sluice_write(context, 0, add_two, NULL, &out));
    EXPECT(SLUICE_OK, sluice_lookup(context, "films", "t2", &out));
}

/* ---- Sync: a conflict that waits, one that is decided, one that is refused */

static int decisions = 0;
static pthread_t caller;

static int32_t decide(void *data, const char *conflict, size_t length, sluice_text *answer) {
    decisions++;
    TRUE(pthread_equal(pthread_self(), caller));
    TRUE(strlen(conflict) == length && strstr(conflict, "\"table\":\"films\"") && strstr(conflict, "\"base\":{"));
    sluice_context context = *(sluice_context *)data;
    /* Reads and writes are allowed here, and what waits for the push is not. */
    EXPECT(SLUICE_OK, sluice_lookup(context, "films", "t2", &out));
    EXPECT(SLUICE_OK, sluice_insert(context, "films", "{}", T, &out));
    EXPECT(SLUICE_OK, sluice_status(context, &out));
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_push(context, NULL, 0, &out));
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_pull(context, "films", NULL, 0, &out));
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_close(context, &out));
    EXPECT(SLUICE_ERROR_REENTRANT, sluice_queue_discard(context, "x", &out));
    if (decisions == 1) return SLUICE_DECIDE_ASK;
    if (decisions == 2) return sluice_text_set(answer, "I do not know", T), 77;
    if (decisions == 3) return sluice_text_set(answer, "not json", T), SLUICE_DECIDE_MERGE;
    sluice_text_set(answer, "{\"id\":\"t2\",\"year\":500}", T);
    return SLUICE_DECIDE_MERGE;
}

/* The id of the first operation of the last answer, which is freed. */
static char *operation(void) {
    static char id[128];
    const char *start = out.bytes ? strstr(out.bytes, "\"id\":\"") : NULL;
    snprintf(id, sizeof id, "%.*s", start ? (int)strcspn(start + 6, "\"") : 0, start ? start + 6 : "");
    sluice_text_free(&out);
    return id;
}

static void conflict(sluice_context ours, sluice_context theirs, int year) {
    char text[64];
    EXPECT(SLUICE_OK, sluice_pull(theirs, "films", "{\"named\":\"all\"}", T, &out));
    snprintf(text, sizeof text, "{\"id\":\"t2\",\"year\":%d}", year);
    EXPECT(SLUICE_OK, sluice_update(theirs, "films", text, T, &out));
    EXPECT(SLUICE_OK, sluice_push(theirs, NULL, 0, &out));
    snprintf(text, sizeof text, "{\"id\":\"t2\",\"year\":%d}", year + 1);
    EXPECT(SLUICE_OK, sluice_update(ours, "films", text, T, &out));
    GIVES(SLUICE_OK, sluice_push(ours, "{\"tables\":[\"films\"]}", T, &out));
    TRUE(has("\"end\":\"completed\"") && has("\"conflicts\":1"));
    sluice_text_free(&out);
}

static void synchronise(const char *endpoint) {
    sluice_context ours = 0, theirs = opened("theirs.db", endpoint);
    sluice_options options = {.size = sizeof options, .store = "ours.db", .endpoint = endpoint, .user = "ann"};
    options.on_conflict = decide;
    options.on_conflict_data = &ours;
    options.settings = "{\"tables\":{\"films\":{\"columns\":{\"year\":\"integer\"},\"indexes\":[\"year\"]}},\"batch\":1}";
    options.settings_length = T;
    EXPECT(SLUICE_OK, sluice_open(&options, &ours, &out));
    records(ours);
    GIVES(SLUICE_OK, sluice_queue_list(ours, "{\"states\":[\"pending\"],\"table\":\"films\"}", T, &out));
    TRUE(has("\"kind\":\"insert\"") && has("\"record\":\"t2\""));
    sluice_text_free(&out);
    GIVES(SLUICE_OK, sluice_push(ours, NULL, 0, &out));
    TRUE(has("\"remaining\":0"));
    sluice_text_free(&out);
    GIVES(SLUICE_OK, sluice_pull(ours, "films", "{\"named\":\"all\"}", T, &out));
    TRUE(has("\"table\":\"films\""));
    sluice_text_free(&out);

    conflict(ours, theirs, 100);
    TRUE(decisions == 1);
    GIVES(SLUICE_OK, sluice_status(ours, &out));
    TRUE(has("\"parked\":1") && has("\"phase\":\"needsAttention\"") && has("\"query\":\"all\""));
    sluice_text_free(&out);
    GIVES(SLUICE_OK, sluice_queue_list(ours, "{\"states\":[\"parked\"]}", T, &out));
    char *id = operation();
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_queue_resolve(ours, id, SLUICE_DECIDE_MERGE, NULL, 0, &out));
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_queue_resolve(ours, id, 77, NULL, 0, &out));
    EXPECT(SLUICE_OK, sluice_queue_resolve(ours, id, SLUICE_DECIDE_SERVER, NULL, 0, &out));
    GIVES(SLUICE_OK, sluice_lookup(ours, "films", "t2", &out));
    TRUE(has("\"year\":100"));
    sluice_text_free(&out);

    conflict(ours, theirs, 200);
    GIVES(SLUICE_OK, sluice_queue_list(ours, "{\"states\":[\"parked\"]}", T, &out));
    TRUE(has("I do not know"));
    id = operation();
    GIVES(SLUICE_OK, sluice_queue_retry(ours, NULL, &out));
    TRUE(strcmp(out.bytes, "{\"retried\":1}") == 0);
    sluice_text_free(&out);
    EXPECT(SLUICE_OK, sluice_queue_discard(ours, id, &out));
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_queue_retry(ours, id, &out));
    GIVES(SLUICE_OK, sluice_lookup(ours, "films", "t2", &out));
    TRUE(has("\"year\":200"));
    sluice_text_free(&out);

    conflict(ours, theirs, 300);
    EXPECT(SLUICE_OK, sluice_queue_retry(ours, NULL, &out));
    EXPECT(SLUICE_OK, sluice_push(ours, NULL, 0, &out));
    TRUE(decisions == 4);
    GIVES(SLUICE_OK, sluice_lookup(ours, "films", "t2", &out));
    TRUE(has("\"year\":500"));
    sluice_text_free(&out);

    EXPECT(SLUICE_OK, sluice_delete(ours, "films", "t2", &out));
    EXPECT(SLUICE_OK, sluice_undelete(ours, "films", "t2", &out));
    EXPECT(SLUICE_OK, sluice_delete(ours, "films", "t2", &out));
    EXPECT(SLUICE_OK, sluice_write(ours, 0, undelete, "t2", &out));
    EXPECT(SLUICE_OK, sluice_lookup(ours, "films", "t2", &out));
    EXPECT(SLUICE_OK, sluice_push(ours, NULL, 0, &out));
    GIVES(SLUICE_OK, sluice_reconcile(ours, "films", "{\"named\":\"all\"}", T, &out));
    TRUE(has("\"compared\":"));
    sluice_text_free(&out);
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_reconcile(ours, "films", NULL, 0, &out));
    GIVES(SLUICE_OK, sluice_purge(ours, "films", NULL, 0, &out));
    TRUE(has("\"removed\":"));
    sluice_text_free(&out);
    EXPECT(SLUICE_OK, sluice_close(ours, &out));
    EXPECT(SLUICE_OK, sluice_close(theirs, &out));
}

/* ---- Tokens */

static int asked = 0, refusals = 0;

static int32_t token(void *data, const char *refused, sluice_text *answer) {
    asked++;
    if (refused) refusals++;
    return sluice_text_set(answer, data, T);
}

static void tokens(const char *endpoint) {
    sluice_options options = {.size = sizeof options, .store = ":memory:", .endpoint = endpoint};
    options.on_token = token;
    options.on_token_data = "a-token";
    options.token_scheme = "bearer";
    sluice_context context;
    EXPECT(SLUICE_OK, sluice_open(&options, &context, &out));
    GIVES(SLUICE_ERROR_UNAUTHORIZED, sluice_pull(context, "secrets", NULL, 0, &out));
    TRUE(!has("a-token") && asked >= 2 && refusals >= 1);
    sluice_text_free(&out);
    EXPECT(SLUICE_OK, sluice_close(context, &out));
}

/* ---- Events */

static atomic_int calls = 0;
static sluice_context watched;
static sluice_subscription watching;

static void changed(void *data, const char *event, size_t length) {
    sluice_text answer;
    if (strlen(event) != length || !strstr(event, "\"event\":\"changes\"") || strcmp(data, "mine")) return;
    /* Reads and writes are allowed; what waits for events or calls is not. */
    if (sluice_lookup(watched, "films", "e1", &answer) != SLUICE_OK) return;
    sluice_text_free(&answer);
    if (sluice_close(watched, NULL) != SLUICE_ERROR_REENTRANT) return;
    if (sluice_push(watched, NULL, 0, NULL) != SLUICE_ERROR_REENTRANT) return;
    if (sluice_next(watching, -1, NULL) != SLUICE_ERROR_REENTRANT) return;
    calls++;
}

static void events(const char *endpoint) {
    watched = opened("watched.db", endpoint);
    sluice_subscription pulled, called;
    int descriptor = -1;
    EXPECT(SLUICE_OK, sluice_subscribe(watched, SLUICE_CHANGES, NULL, NULL, &pulled, &out));
    watching = pulled;
    EXPECT(SLUICE_OK, sluice_subscribe(watched, SLUICE_CHANGES, changed, "mine", &called, &out));
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_next(called, 0, &out));
    EXPECT(SLUICE_ERROR_ARGUMENT, sluice_descriptor(called, &descriptor, &out));
    EXPECT(SLUICE_OK, sluice_descriptor(pulled, &descriptor, &out));
    struct pollfd readable = {.fd = descriptor, .events = POLLIN};
    TRUE(poll(&readable, 1, 0) == 0);
    EXPECT(SLUICE_OK, sluice_insert(watched, "films", "{\"id\":\"e1\"}", T, &out));
    TRUE(poll(&readable, 1, 10000) == 1);
    GIVES(SLUICE_OK, sluice_next(pulled, 0, &out));
    TRUE(has("\"event\":\"changes\"") && has("\"record\":\"e1\"") && has("\"kind\":\"inserted\""));
    sluice_text_free(&out);
    EXPECT(SLUICE_ERROR_TIMEOUT, sluice_next(pulled, 0, &out));
    TRUE(poll(&readable, 1, 0) == 0);
    for (int i = 0; i < 1000 && calls == 0; i++) usleep(10000);
    TRUE(calls == 1);
    EXPECT(SLUICE_OK, sluice_unsubscribe(called, &out));

    sluice_subscription both;
    EXPECT(SLUICE_OK, sluice_subscribe(watched, SLUICE_PHASES | SLUICE_PROGRESS, NULL, NULL, &both, &out));
    EXPECT(SLUICE_OK, sluice_push(watched, NULL, 0, &out));
    int phases = 0, progress = 0;
    for (int32_t code = SLUICE_OK; code == SLUICE_OK && (phases < 1 || progress < 1);) {
        code = sluice_next(both, 10000, &out);
        phases += has("\"event\":\"phase\"");
        progress += has("\"event\":\"progress\"") && has("\"step\":\"pushing\"");
        sluice_text_free(&out);
    }
    TRUE(phases >= 1 && progress >= 1);
    EXPECT(SLUICE_OK, sluice_unsubscribe(both, &out));
    EXPECT(SLUICE_OK, sluice_close(watched, &out));
    /* Closing wakes whoever polls. */
    TRUE(poll(&readable, 1, 10000) == 1);
    EXPECT(SLUICE_ERROR_HANDLE, sluice_next(pulled, 0, &out));
    EXPECT(SLUICE_OK, sluice_unsubscribe(pulled, &out));
}

/* ---- Interruption */

static void *pull_for_ever(void *data) {
    sluice_text answer;
    int32_t code = sluice_pull(*(sluice_context *)data, "films", NULL, 0, &answer);
    sluice_text_free(&answer);
    return (void *)(intptr_t)code;
}

/* A server that takes connections and never answers. */
static void interruption(const char *silent) {
    for (int how = 0; how < 2; how++) {
        sluice_context context = opened(":memory:", silent);
        pthread_t thread;
        void *code;
        pthread_create(&thread, NULL, pull_for_ever, &context);
        usleep(200000);
        if (how == 0) EXPECT(SLUICE_OK, sluice_interrupt(context, &out));
        EXPECT(SLUICE_OK, sluice_close(context, &out));
        pthread_join(thread, &code);
        TRUE((intptr_t)code == SLUICE_ERROR_CANCELLED);
    }
    sluice_context context = opened("unreached.db", "http://127.0.0.1:1");
    EXPECT(SLUICE_OK, sluice_insert(context, "films", "{\"id\":\"1\"}", T, &out));
    GIVES(SLUICE_ERROR_NETWORK, sluice_push(context, NULL, 0, &out));
    TRUE(has("\"push\":{\"end\":\"network\"") && has("\"remaining\":1"));
    sluice_text_free(&out);
    EXPECT(SLUICE_OK, sluice_close(context, &out));
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    caller = pthread_self();
    synchronise(arguments[1]);
    tokens(arguments[1]);
    events(arguments[1]);
    interruption(arguments[2]);
    return finished();
}
