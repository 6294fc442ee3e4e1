/* What callbacks may call: every function from every callback. callbacks URL */
#include <stdatomic.h>
#include <unistd.h>

#include "expect.h"

static sluice_context context;
static sluice_subscription changes;
static int places;

/* The call waits for what the callback is part of. */
#define WAITS(call) EXPECT(SLUICE_ERROR_REENTRANT, call)
/* The call is allowed, whatever it finds, except inside of a transaction's body. */
#define READS(call)                                                                                     \
    do {                                                                                                \
        int32_t code = (call);                                                                          \
        sluice_text_free(&out);                                                                         \
        if ((code == SLUICE_ERROR_REENTRANT) != in_body) {                                              \
            failures++;                                                                                 \
            printf("%s:%d: %s gives %s\n", __FILE__, __LINE__, #call, sluice_code_name(code));          \
        }                                                                                               \
    } while (0)

static void every_function(int in_body) {
    sluice_options options = {.size = sizeof options, .store = ":memory:"};
    sluice_context other;
    sluice_subscription own = 0;
    int descriptor;
    places++;
    READS(sluice_insert(context, "t", "{}", T, &out));
    READS(sluice_update(context, "t", "{\"id\": \"nobody\"}", T, &out));
    READS(sluice_delete(context, "t", "nobody", &out));
    READS(sluice_undelete(context, "t", "nobody", &out));
    READS(sluice_lookup(context, "t", "nobody", &out));
    READS(sluice_query(context, "t", NULL, 0, &out));
    READS(sluice_sql(context, "SELECT 1", T, NULL, 0, &out));
    READS(sluice_status(context, &out));
    READS(sluice_queue_list(context, NULL, 0, &out));
    READS(sluice_queue_retry(context, "nobody", &out));
    READS(sluice_subscribe(context, SLUICE_CHANGES, NULL, NULL, &own, &out));
    if (own) READS(sluice_unsubscribe(own, &out));
    READS(sluice_descriptor(changes, &descriptor, &out));
    READS(sluice_next(changes, 0, &out));
    WAITS(sluice_next(changes, -1, &out));
    WAITS(sluice_push(context, NULL, 0, &out));
    WAITS(sluice_pull(context, "t", NULL, 0, &out));
    WAITS(sluice_reconcile(context, "t", "{\"named\": \"all\"}", T, &out));
    WAITS(sluice_purge(context, "t", NULL, 0, &out));
    WAITS(sluice_queue_discard(context, "nobody", &out));
    WAITS(sluice_queue_resolve(context, "nobody", SLUICE_DECIDE_SERVER, NULL, 0, &out));
    WAITS(sluice_open(&options, &other, &out));
    WAITS(sluice_close(context, &out));
}

static int32_t body(sluice_transaction transaction, void *data) {
    (void)transaction, (void)data;
    WAITS(sluice_write(context, 0, body, NULL, &out));
    every_function(1);
    return 0;
}

static int32_t token(void *data, const char *refused, sluice_text *answer) {
    static int asked;
    (void)data, (void)refused;
    if (asked++ == 0) every_function(0);
    return sluice_text_set(answer, "no token that the server knows", T);
}

static sluice_subscription itself;
static atomic_int events;

static void event(void *data, const char *text, size_t length) {
    (void)data, (void)text, (void)length;
    if (events++ > 0) return;
    every_function(0);
    EXPECT(SLUICE_OK, sluice_unsubscribe(itself, &out));
}

static int32_t decide(void *data, const char *conflict, size_t length, sluice_text *answer) {
    (void)conflict, (void)length;
    every_function(0);
    sluice_text_set(answer, data ? "{\"title\": \"\xff\"}" : "a reason \xff", T);
    return data ? SLUICE_DECIDE_MERGE : SLUICE_DECIDE_FAIL;
}

/* Two contexts change one record; the second to push is `context`, whose callback answers with bytes that are no text. */
static void conflict(const char *endpoint, const char *id, void *data) {
    char text[100];
    sluice_options options = {
        .size = sizeof options, .store = ":memory:", .endpoint = endpoint, .on_conflict = decide, .on_conflict_data = data};
    sluice_context other = opened(":memory:", endpoint);
    EXPECT(SLUICE_OK, sluice_open(&options, &context, &out));
    EXPECT(SLUICE_OK, sluice_subscribe(context, SLUICE_CHANGES, NULL, NULL, &changes, &out));
    snprintf(text, sizeof text, "{\"id\": \"%s\", \"title\": \"begun\"}", id);
    EXPECT(SLUICE_OK, sluice_insert(other, "films", text, T, &out));
    EXPECT(SLUICE_OK, sluice_push(other, NULL, 0, &out));
    EXPECT(SLUICE_OK, sluice_pull(context, "films", NULL, 0, &out));
    snprintf(text, sizeof text, "{\"id\": \"%s\", \"title\": \"theirs\"}", id);
    EXPECT(SLUICE_OK, sluice_update(other, "films", text, T, &out));
    EXPECT(SLUICE_OK, sluice_push(other, NULL, 0, &out));
    snprintf(text, sizeof text, "{\"id\": \"%s\", \"title\": \"ours\"}", id);
    EXPECT(SLUICE_OK, sluice_update(context, "films", text, T, &out));
    GIVES(SLUICE_OK, sluice_push(context, "{\"tables\": [\"films\"]}", T, &out));
    TRUE(has("a conflict handler failed"));
    sluice_text_free(&out);
    GIVES(SLUICE_OK, sluice_lookup(context, "films", id, &out));
    TRUE(has("ours"));
    sluice_text_free(&out);
    EXPECT(SLUICE_OK, sluice_unsubscribe(changes, &out));
    EXPECT(SLUICE_OK, sluice_close(context, &out));
    EXPECT(SLUICE_OK, sluice_close(other, &out));
}

int main(int count, char **arguments) {
    const char *endpoint = count > 1 ? arguments[1] : "";
    sluice_options options = {.size = sizeof options, .store = ":memory:", .endpoint = endpoint, .on_token = token};
    EXPECT(SLUICE_OK, sluice_open(&options, &context, &out));
    EXPECT(SLUICE_OK, sluice_subscribe(context, SLUICE_CHANGES, NULL, NULL, &changes, &out));
    EXPECT(SLUICE_OK, sluice_write(context, 0, body, NULL, &out));
    EXPECT(SLUICE_ERROR_UNAUTHORIZED, sluice_pull(context, "secrets", NULL, 0, &out));
    EXPECT(SLUICE_OK, sluice_subscribe(context, SLUICE_CHANGES, event, NULL, &itself, &out));
    EXPECT(SLUICE_OK, sluice_insert(context, "t", "{}", T, &out));
    for (int i = 0; i < 3000 && events == 0; i++) usleep(10000);
    EXPECT(SLUICE_OK, sluice_unsubscribe(changes, &out));
    EXPECT(SLUICE_OK, sluice_close(context, &out));
    conflict(endpoint, "of-a-reason", NULL);
    conflict(endpoint, "of-a-merge", &options);
    TRUE(places == 5);
    return finished();
}
