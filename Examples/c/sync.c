/* Two devices, one server, no network for a while: what docs/c.md explains, in C.
 *
 *   cc sync.c -o sync $(pkg-config --cflags --libs sluice jansson) && ./sync http://127.0.0.1:8080 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "sluice.h"

static const size_t T = SLUICE_TERMINATED;

/* Ends the program where a call failed; else gives the result back. */
static json_t *done(int32_t code, sluice_text *out) {
    if (code != SLUICE_OK) {
        fprintf(stderr, "%s: %s\n", sluice_code_name(code), out->bytes);
        exit(1);
    }
    json_t *result = json_loadb(out->bytes, out->length, JSON_DECODE_ANY, NULL);
    sluice_text_free(out);
    return result;
}

/* Both devices changed one movie: the title is ours, everything else the server's. */
static int32_t decide(void *data, const char *text, size_t length, sluice_text *answer) {
    json_t *conflict = json_loadb(text, length, 0, NULL), *ours = json_object_get(conflict, "client");
    json_t *merged = json_object_get(conflict, "server"), *title = json_object_get(ours, "title");
    if (!json_is_object(merged) || !title) return json_decref(conflict), SLUICE_DECIDE_ASK;
    json_object_set(merged, "title", title);
    char *record = json_dumps(merged, 0);
    sluice_text_set(answer, record, T);
    printf("%s: a conflict about %s, merged\n", (const char *)data, json_string_value(title));
    free(record);
    json_decref(conflict);
    return SLUICE_DECIDE_MERGE;
}

static sluice_context device(const char *name, const char *path, const char *endpoint) {
    sluice_options options = {.size = sizeof options, .store = path, .endpoint = endpoint};
    options.on_conflict = decide;
    options.on_conflict_data = (void *)name;
    sluice_context context;
    sluice_text out;
    json_decref(done(sluice_open(&options, &context, &out), &out));
    return context;
}

static void sync_now(sluice_context device, const char *name) {
    sluice_text out;
    json_t *push = done(sluice_push(device, NULL, 0, &out), &out);
    json_t *pull = done(sluice_pull(device, "movies", "{\"named\": \"all\"}", T, &out), &out);
    printf("%s: %lld sent, %lld stored\n", name, json_integer_value(json_object_get(push, "applied")),
           json_integer_value(json_object_get(pull, "stored")));
    json_decref(push), json_decref(pull);
}

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: sync URL\n"), 2;
    sluice_text out;
    sluice_context anna = device("anna", "anna.db", arguments[1]), ben = device("ben", "ben.db", arguments[1]);
    sync_now(anna, "anna"), sync_now(ben, "ben");

    /* From here on until they sync, neither needs the network. */
    json_decref(done(sluice_update(anna, "movies", "{\"id\": \"id-009\", \"duration\": 151}", T, &out), &out));
    json_decref(done(sluice_insert(anna, "movies", "{\"title\": \"Stalker\", \"year\": 1979}", T, &out), &out));
    json_decref(done(sluice_update(ben, "movies", "{\"id\": \"id-009\", \"title\": \"Uncut\"}", T, &out), &out));
    json_decref(done(sluice_delete(ben, "movies", "id-018", &out), &out));
    sync_now(anna, "anna"), sync_now(ben, "ben"), sync_now(anna, "anna");

    json_t *a = done(sluice_query(anna, "movies", NULL, 0, &out), &out);
    json_t *b = done(sluice_query(ben, "movies", NULL, 0, &out), &out);
    int equal = json_equal(a, b);
    printf("%zu and %zu movies: %s\n", json_array_size(json_object_get(a, "items")),
           json_array_size(json_object_get(b, "items")), equal ? "equal copies" : "THEY DIFFER");
    json_decref(a), json_decref(b);
    done(sluice_close(anna, &out), &out), done(sluice_close(ben, &out), &out);
    return equal ? 0 : 1;
}
