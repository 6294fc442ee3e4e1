/* Four threads use one context at once, with transactions and events, while its server is synchronised with; then one
 * closes it while the others go on: threads [SECONDS] [URL]. For ThreadSanitizer and LeakSanitizer to watch. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"

static sluice_context context;
static const char *endpoint;
static atomic_int stop = 0, wrong = 0;
static atomic_long done = 0, events = 0;

/* What every call may give while others change the same records, and one closes the context. */
static void allow(int32_t code, sluice_text *answer, const char *call) {
    done++;
    switch (code) {
    case SLUICE_OK: case SLUICE_ERROR_HANDLE: case SLUICE_ERROR_CANCELLED: case SLUICE_ERROR_RECORD_MISSING:
    case SLUICE_ERROR_RECORD_EXISTS: case SLUICE_ERROR_OPERATION_REFUSED: case SLUICE_ERROR_NETWORK:
    case SLUICE_ERROR_TIMEOUT: case SLUICE_ERROR_STORE_CLOSED: case SLUICE_ERROR_OPERATIONS_PENDING: break;
    default: printf("%s gives %d: %s\n", call, code, answer->bytes), wrong++;
    }
    sluice_text_free(answer);
}

#define ALLOW(call) allow(call, &answer, #call)

static int32_t both(sluice_transaction transaction, void *data) {
    sluice_text answer;
    ALLOW(sluice_transaction_query(transaction, "films", "{\"top\":3}", T, &answer));
    ALLOW(sluice_transaction_insert(transaction, "films", data, T, &answer));
    return rand() % 2;
}

static void noted(void *data, const char *event, size_t length) {
    (void)data, (void)event, (void)length;
    sluice_text answer;
    ALLOW(sluice_status(context, &answer));
    events++;
}

static int32_t decide(void *data, const char *conflict, size_t length, sluice_text *answer) {
    (void)data, (void)conflict, (void)length, (void)answer;
    return SLUICE_DECIDE_CLIENT;
}

static void *work(void *data) {
    unsigned seed = (unsigned)(intptr_t)data;
    sluice_text answer;
    sluice_subscription subscription = 0, called = 0;
    ALLOW(sluice_subscribe(context, SLUICE_CHANGES | SLUICE_PHASES, NULL, NULL, &subscription, &answer));
    ALLOW(sluice_subscribe(context, SLUICE_CHANGES | SLUICE_PROGRESS, noted, NULL, &called, &answer));
    while (!stop) {
        char id[16], record[64];
        snprintf(id, sizeof id, "id-%d", rand_r(&seed) % 40);
        snprintf(record, sizeof record, "{\"id\":\"%s\",\"year\":%d}", id, rand_r(&seed) % 100);
        switch (rand_r(&seed) % 10) {
        case 0: ALLOW(sluice_insert(context, "films", record, T, &answer)); break;
        case 1: ALLOW(sluice_update(context, "films", record, T, &answer)); break;
        case 2: ALLOW(sluice_delete(context, "films", id, &answer)); break;
        case 3: ALLOW(sluice_query(context, "films", "{\"filter\":\"year gt 50\"}", T, &answer)); break;
        case 4: ALLOW(sluice_sql(context, "SELECT count(*) FROM films", T, NULL, 0, &answer)); break;
        case 5: {
            int32_t code = sluice_write(context, 0, both, "{\"year\":7}", &answer);
            allow(code == SLUICE_ERROR_CALLBACK ? SLUICE_OK : code, &answer, "sluice_write");
            break;
        }
        case 6: ALLOW(sluice_next(subscription, 1, &answer)); break;
        case 7: ALLOW(sluice_queue_list(context, NULL, 0, &answer)); break;
        case 8: if (endpoint) ALLOW(sluice_push(context, NULL, 0, &answer)); break;
        case 9: if (endpoint) ALLOW(sluice_pull(context, "films", "{\"named\":\"all\"}", T, &answer)); break;
        }
        ALLOW(sluice_lookup(context, "films", id, &answer));
    }
    ALLOW(sluice_unsubscribe(called, &answer));
    ALLOW(sluice_unsubscribe(subscription, &answer));
    return NULL;
}

int main(int count, char **arguments) {
    int seconds = count > 1 ? atoi(arguments[1]) : 2;
    endpoint = count > 2 ? arguments[2] : NULL;
    for (int round = 0; round < 2; round++) {
        sluice_options options = {.size = sizeof options, .store = "threads.db", .endpoint = endpoint};
        options.on_conflict = decide;
        options.settings = "{\"tables\":{\"films\":{}}}";
        options.settings_length = T;
        EXPECT(SLUICE_OK, sluice_open(&options, &context, &out));
        stop = 0;
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)(i + 10 * round));
        sleep(seconds);
        if (round == 1) {
            /* The others find a context that is gone. */
            EXPECT(SLUICE_OK, sluice_close(context, &out));
            usleep(100000);
        }
        stop = 1;
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
        if (round == 0) EXPECT(SLUICE_OK, sluice_close(context, &out));
    }
    printf("%ld calls, %ld events\n", done, events);
    TRUE(done > 100 && events > 0);
    failures += wrong;
    return finished();
}
