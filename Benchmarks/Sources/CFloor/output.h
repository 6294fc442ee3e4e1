#ifndef SLUICE_CFLOOR_OUTPUT_H
#define SLUICE_CFLOOR_OUTPUT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A text that grows.
typedef struct {
    char *data;
    size_t length;
    size_t capacity;
} output;

static void output_append(output *to, const char *bytes, size_t count) {
    if (to->length + count > to->capacity) {
        to->capacity = (to->length + count) * 2;
        to->data = realloc(to->data, to->capacity);
        if (!to->data) abort();
    }
    memcpy(to->data + to->length, bytes, count);
    to->length += count;
}

// A JSON string: what JSON obliges is escaped.
static void output_append_string(output *to, const char *text, size_t count) {
    output_append(to, "\"", 1);
    size_t start = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        output_append(to, text + start, i - start);
        char escape[8];
        int length = byte == '"' || byte == '\\' ? snprintf(escape, sizeof escape, "\\%c", byte)
                                                 : snprintf(escape, sizeof escape, "\\u%04x", byte);
        output_append(to, escape, (size_t)length);
        start = i + 1;
    }
    output_append(to, text + start, count - start);
    output_append(to, "\"", 1);
}

#endif
