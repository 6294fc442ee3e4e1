#include "cfloor.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Sends what a push sends over sockets: one document, or each of its requests by itself, some at a time.

enum { most = 100 };

struct answer {
    char *words;
    size_t length;
};

// One handle for the life of the process, so that its connections stay open.
static CURLM *multi;
static CURL *handles[most];

static size_t take(char *data, size_t size, size_t count, void *context) {
    struct answer *answer = context;
    char *words = realloc(answer->words, answer->length + size * count + 1);
    if (!words) return 0;
    answer->words = words;
    memcpy(words + answer->length, data, size * count);
    answer->length += size * count;
    words[answer->length] = 0;
    return size * count;
}

static void prepare(CURL *handle, const char *url, const char *body, struct curl_slist *fields, struct answer *answer) {
    curl_easy_reset(handle);
    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, answer);
}

static struct curl_slist *fields_of(json_t *headers) {
    struct curl_slist *fields = curl_slist_append(NULL, "ZUMO-API-VERSION: 2.0.0");
    const char *name;
    json_t *value;
    char field[256];
    json_object_foreach(headers, name, value) {
        snprintf(field, sizeof field, "%s: %s", name, json_string_value(value));
        fields = curl_slist_append(fields, field);
    }
    return fields;
}

static int run(int count) {
    int running = count;
    while (running > 0) {
        if (curl_multi_perform(multi, &running) != CURLM_OK) return -1;
        if (running > 0 && curl_multi_poll(multi, NULL, 0, 1000, NULL) != CURLM_OK) return -1;
    }
    return 0;
}

static int set_up(long width) {
    if (multi) return 0;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    if (!multi) return -1;
    curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, width > 0 ? width : 1);
    for (int place = 0; place < most; place++)
        if (!(handles[place] = curl_easy_init())) return -1;
    return 0;
}

static char *single(const char *server, json_t *requests) {
    struct answer answers[most] = {{NULL, 0}};
    struct curl_slist *fields[most];
    char *bodies[most], url[256];
    json_t *request, *responses = json_array();
    size_t place, count = json_array_size(requests);
    json_array_foreach(requests, place, request) {
        snprintf(url, sizeof url, "%s/%s", server, json_string_value(json_object_get(request, "url")));
        bodies[place] = json_dumps(json_object_get(request, "body"), JSON_COMPACT);
        fields[place] = fields_of(json_object_get(request, "headers"));
        prepare(handles[place], url, bodies[place], fields[place], &answers[place]);
        curl_multi_add_handle(multi, handles[place]);
    }
    int failed = run((int)count);
    for (place = 0; place < count; place++) {
        long status = 0;
        curl_easy_getinfo(handles[place], CURLINFO_RESPONSE_CODE, &status);
        json_t *body = answers[place].words ? json_loads(answers[place].words, 0, NULL) : NULL;
        if (!body) failed = 1;
        json_array_append_new(responses, json_pack("{s:I, s:o}", "status", (json_int_t)status, "body", body ? body : json_null()));
        curl_multi_remove_handle(multi, handles[place]);
        curl_slist_free_all(fields[place]);
        free(bodies[place]);
        free(answers[place].words);
    }
    json_t *document = json_pack("{s:o}", "responses", responses);
    char *words = failed ? NULL : json_dumps(document, JSON_COMPACT);
    json_decref(document);
    return words;
}

char *cfloor_exchange(const char *server, long width, const char *requests) {
    if (set_up(width)) return NULL;
    if (width > 0) {
        json_t *document = json_loads(requests, 0, NULL);
        char *words = single(server, json_object_get(document, "requests"));
        json_decref(document);
        return words;
    }
    struct answer answer = {NULL, 0};
    struct curl_slist *fields = curl_slist_append(fields_of(NULL), "Content-Type: application/json");
    char url[256];
    snprintf(url, sizeof url, "%s/tables/$batch", server);
    prepare(handles[0], url, requests, fields, &answer);
    curl_multi_add_handle(multi, handles[0]);
    int failed = run(1);
    curl_multi_remove_handle(multi, handles[0]);
    curl_slist_free_all(fields);
    if (!failed) return answer.words;
    free(answer.words);
    return NULL;
}
