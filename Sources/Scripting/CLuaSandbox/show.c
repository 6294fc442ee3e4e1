// What a script wants to show, said in JSON whatever it is: no value is refused, for no work depends on a line of a
// log. Reading is raw, as in values.c; depth, nodes and bytes are bounded, and what is beyond them is left out.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_values = 1000, most_bytes = 16 << 10, longest_text = 4 << 10, deepest = 16, key_bytes = 256 };

typedef struct showing {
    lua_State *L;
    sb_writer writer;
    const void *path[deepest];
} showing;

static json_t *show(showing *showing, int index, int depth);

/// How much of a text is shown: never a part of a character.
static size_t clip(const char *bytes, size_t length, size_t most) {
    if (length <= most) return length;
    while (most > 0 && ((unsigned char)bytes[most] & 0xc0) == 0x80) most--;
    return most;
}

/// The text; what is not UTF-8 has question marks for its bytes.
static json_t *text_of(showing *showing, const char *bytes, size_t length) {
    length = clip(bytes, length, longest_text);
    showing->writer.bytes += length;
    json_t *text = json_stringn(bytes, length);
    if (text != NULL) return text;
    char *plain = malloc(length + 1);
    if (plain == NULL) return json_null();
    for (size_t index = 0; index < length; index++) plain[index] = (unsigned char)bytes[index] < 0x80 ? bytes[index] : '?';
    text = json_stringn(plain, length);
    free(plain);
    return text == NULL ? json_null() : text;
}

/// A key as text, whatever kind it is. The key itself must stay as it is: lua_next goes on from it.
static void name_key(lua_State *L, int index, char name[key_bytes]) {
    if (lua_isinteger(L, index)) {
        snprintf(name, key_bytes, "%lld", (long long)lua_tointeger(L, index));
    } else if (lua_type(L, index) == LUA_TNUMBER) {
        snprintf(name, key_bytes, "%.14g", lua_tonumber(L, index));
    } else if (lua_type(L, index) == LUA_TBOOLEAN) {
        snprintf(name, key_bytes, "%s", lua_toboolean(L, index) ? "true" : "false");
    } else if (lua_type(L, index) == LUA_TSTRING) {
        size_t length;
        const char *bytes = lua_tolstring(L, index, &length);
        length = clip(bytes, length, key_bytes - 1);
        memcpy(name, bytes, length);
        name[length] = 0;
        json_t *checked = json_string(name);
        for (char *letter = name; checked == NULL && *letter != 0; letter++) {
            if ((unsigned char)*letter >= 0x80) *letter = '?';
        }
        json_decref(checked);
    } else {
        snprintf(name, key_bytes, "a %s", luaL_typename(L, index));
    }
}

/// Whether there is room for another value.
static bool has_room(const showing *showing) {
    return showing->writer.nodes < most_values && showing->writer.bytes < most_bytes && sb_may_go_on(showing->writer.vm);
}

/// Whether the keys are 1 to n, as many as are looked at.
static bool is_list(showing *showing, int table) {
    lua_State *L = showing->L;
    lua_Integer count = 0, largest = 0;
    bool is_list = true;
    lua_pushnil(L);
    while (is_list && lua_next(L, table)) {
        lua_pop(L, 1);
        lua_Integer key = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
        is_list = key > 0;
        if (key > largest) largest = key;
        if (++count <= most_values) continue;
        lua_pop(L, 1);
        return is_list;
    }
    if (!is_list) lua_pop(L, 1);
    if (count > 0) return is_list && count == largest;
    bool is_marked = false;
    if (lua_getmetatable(L, table)) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &sb_key_array);
        is_marked = lua_rawequal(L, -1, -2);
        lua_pop(L, 2);
    }
    return is_marked;
}

static json_t *show_members(showing *showing, int table, int depth) {
    lua_State *L = showing->L;
    if (is_list(showing, table)) {
        json_t *array = json_array();
        for (lua_Integer index = 1; has_room(showing); index++) {
            bool is_end = lua_rawgeti(L, table, index) == LUA_TNIL;
            if (!is_end) json_array_append_new(array, show(showing, lua_gettop(L), depth));
            lua_pop(L, 1);
            if (is_end) break;
        }
        return array;
    }
    json_t *object = json_object();
    lua_pushnil(L);
    while (lua_next(L, table)) {
        if (!has_room(showing)) {
            lua_pop(L, 2);
            break;
        }
        char name[key_bytes];
        name_key(L, lua_gettop(L) - 1, name);
        showing->writer.bytes += strlen(name);
        json_object_set_new(object, name, show(showing, lua_gettop(L), depth));
        lua_pop(L, 1);
    }
    return object == NULL ? NULL : sb_sorted(object);
}

static json_t *show_table(showing *showing, int index, int depth) {
    lua_State *L = showing->L;
    if (depth == deepest || !lua_checkstack(L, 8)) return json_string("nested too deep");
    int base = lua_gettop(L);
    lua_pushvalue(L, index);
    if (sb_push_frozen(L, index)) lua_remove(L, -2);
    const void *identity = lua_topointer(L, -1);
    json_t *shown = NULL;
    for (int level = 0; level < depth && shown == NULL; level++) {
        if (showing->path[level] == identity) shown = json_string("a cycle");
    }
    showing->path[depth] = identity;
    if (shown == NULL) shown = show_members(showing, base + 1, depth + 1);
    lua_settop(L, base);
    return shown;
}

/// A value under `depth` others.
static json_t *show(showing *showing, int index, int depth) {
    lua_State *L = showing->L;
    showing->writer.nodes++;
    json_t *shown = NULL;
    char text[64];
    size_t length;
    switch (lua_type(L, index)) {
    case LUA_TSTRING: {
        const char *bytes = lua_tolstring(L, index, &length);
        return text_of(showing, bytes, length);
    }
    case LUA_TTABLE: shown = show_table(showing, index, depth); break;
    case LUA_TFUNCTION: shown = json_string("a function"); break;
    case LUA_TNUMBER:
        if (lua_isinteger(L, index)) return json_integer(lua_tointeger(L, index));
        shown = json_real(lua_tonumber(L, index));
        if (shown != NULL) break;
        snprintf(text, sizeof text, "%g", lua_tonumber(L, index));
        shown = json_string(text);
        break;
    default: {
        sb_writer writer = {.vm = showing->writer.vm, .L = L, .mode = SB_SHARE};
        shown = sb_write(&writer, index, 0);
        showing->writer.bytes += writer.bytes;
        if (shown == NULL) shown = json_string(writer.why == NULL ? "out of memory" : writer.why);
    }
    }
    return shown == NULL ? json_null() : shown;
}

/// A new JSON value for the value at the index. Raises nothing but the end of a budget.
json_t *sb_show(lua_State *L, int index) {
    sluice_vm *vm = sb_vm(L);
    showing showing = {.L = L, .writer = {.vm = vm, .L = L}};
    json_t *shown = show(&showing, lua_absindex(L, index), 0);
    sb_account(vm, &showing.writer);
    return shown;
}
