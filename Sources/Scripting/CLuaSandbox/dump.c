// JSON text of a value, into a Lua string: numbers in the fewest digits that read back as the same.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(luaL_Buffer *to, const char *bytes, size_t length) {
    lua_State *L = to->L;
    sb_vm(L)->current->dumped += length;
    sb_check_result(L, sb_vm(L)->current->dumped);
    luaL_addlstring(to, bytes, length);
}

static void add_real(luaL_Buffer *to, double number) {
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text - 2, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    if (strpbrk(text, ".eE") == NULL) strcat(text, ".0");
    add(to, text, strlen(text));
}

static void add_string(luaL_Buffer *to, const char *text, size_t length) {
    static const char shorts[] = "btn?fr";
    char escape[8];
    add(to, "\"", 1);
    size_t start = 0;
    for (size_t index = 0; index < length; index++) {
        unsigned char byte = (unsigned char)text[index];
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        add(to, text + start, index - start);
        start = index + 1;
        if (byte >= 0x20) {
            snprintf(escape, sizeof escape, "\\%c", byte);
        } else if (byte >= 8 && byte <= 13 && byte != 11) {
            snprintf(escape, sizeof escape, "\\%c", shorts[byte - 8]);
        } else {
            snprintf(escape, sizeof escape, "\\u%04x", byte);
        }
        add(to, escape, strlen(escape));
    }
    add(to, text + start, length - start);
    add(to, "\"", 1);
}

static void dump(luaL_Buffer *to, const json_t *value) {
    char text[32];
    const json_t *number = sb_long_number(value);
    switch (json_typeof(value)) {
    case JSON_NULL: add(to, "null", 4); return;
    case JSON_TRUE: add(to, "true", 4); return;
    case JSON_FALSE: add(to, "false", 5); return;
    case JSON_REAL: add_real(to, json_real_value(value)); return;
    case JSON_STRING: add_string(to, json_string_value(value), json_string_length(value)); return;
    case JSON_INTEGER:
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        add(to, text, strlen(text));
        return;
    case JSON_ARRAY:
        add(to, "[", 1);
        for (size_t index = 0; index < json_array_size(value); index++) {
            if (index > 0) add(to, ",", 1);
            dump(to, json_array_get(value, index));
        }
        add(to, "]", 1);
        return;
    case JSON_OBJECT: break;
    }
    if (number != NULL) {
        add(to, json_string_value(number), json_string_length(number));
        return;
    }
    const char *comma = "";
    add(to, "{", 1);
    for (void *member = json_object_iter((json_t *)value); member != NULL;
         member = json_object_iter_next((json_t *)value, member)) {
        add(to, comma, strlen(comma));
        comma = ",";
        add_string(to, json_object_iter_key(member), json_object_iter_key_len(member));
        add(to, ":", 1);
        dump(to, json_object_iter_value(member));
    }
    add(to, "}", 1);
}

/// Leaves the text on the stack. The value's depth and size are bounded already.
void sb_push_dump(lua_State *L, const json_t *value) {
    luaL_Buffer buffer;
    sb_vm(L)->current->dumped = 0;
    luaL_buffinit(L, &buffer);
    dump(&buffer, value);
    luaL_pushresult(&buffer);
    sb_charge(L, (int64_t)(sb_vm(L)->current->dumped / 16));
}
