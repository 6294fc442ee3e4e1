// A hook called straight through lua_pcall: what a plain C program would do to show a request to a script and to take
// what the script has made of it. No sandbox, no budget, no protection of the machine.
#include "cfloor.h"

#include <jansson.h>
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/// A JSON document as the script sees it. What is written to is copied first.
typedef struct {
    json_t *document;
    int is_own;
} view;

static const char request_type[] = "floor.request", headers_type[] = "floor.headers";

static void push(lua_State *L, const json_t *value) {
    switch (value == NULL ? JSON_NULL : json_typeof(value)) {
    case JSON_STRING: lua_pushlstring(L, json_string_value(value), json_string_length(value)); return;
    case JSON_INTEGER: lua_pushinteger(L, json_integer_value(value)); return;
    case JSON_REAL: lua_pushnumber(L, json_real_value(value)); return;
    case JSON_TRUE:
    case JSON_FALSE: lua_pushboolean(L, json_is_true(value)); return;
    default: lua_pushnil(L);
    }
}

static int request_index(lua_State *L) {
    view *request = luaL_checkudata(L, 1, request_type);
    size_t length;
    const char *name = luaL_checklstring(L, 2, &length);
    if (strcmp(name, "headers") == 0) {
        *(view **)lua_newuserdatauv(L, sizeof(view *), 0) = request;
        luaL_setmetatable(L, headers_type);
    } else {
        push(L, json_object_getn(request->document, name, length));
    }
    return 1;
}

static int headers_set(lua_State *L) {
    view *request = *(view **)luaL_checkudata(L, 1, headers_type);
    size_t name_length, value_length;
    const char *name = luaL_checklstring(L, 2, &name_length), *value = luaL_checklstring(L, 3, &value_length);
    if (!request->is_own) {
        json_t *copy = json_copy(request->document);
        json_object_set_new(copy, "headers", json_copy(json_object_get(copy, "headers")));
        json_decref(request->document);
        request->document = copy;
        request->is_own = 1;
    }
    json_t *headers = json_object_get(request->document, "headers");
    for (size_t index = json_array_size(headers); index-- > 0;) {
        json_t *field = json_array_get(headers, index);
        if (strcasecmp(json_string_value(json_array_get(field, 0)), name) == 0) json_array_remove(headers, index);
    }
    json_t *field = json_array();
    json_array_append_new(field, json_stringn(name, name_length));
    json_array_append_new(field, json_stringn(value, value_length));
    json_array_append_new(headers, field);
    return 0;
}

/// One call: the request goes in, what the script has made of it is looked at, and let go. Says whether it has one header
/// field more.
__attribute__((noinline)) int cfloor_request(lua_State *L, int hook, json_t *document, json_t *context) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, hook);
    view *request = lua_newuserdatauv(L, sizeof(view), 0);
    *request = (view){.document = json_incref(document)};
    luaL_setmetatable(L, request_type);
    view *other = lua_newuserdatauv(L, sizeof(view), 0);
    *other = (view){.document = context};
    luaL_setmetatable(L, request_type);
    // The script may drop its own references to it.
    lua_pushvalue(L, -2);
    lua_insert(L, -4);
    int is_set = lua_pcall(L, 2, 1, 0) == LUA_OK && lua_isnil(L, -1)
        && json_array_size(json_object_get(request->document, "headers"))
            == json_array_size(json_object_get(document, "headers")) + 1;
    json_decref(request->document);
    lua_pop(L, 2);
    return is_set;
}

static lua_State *prepare(const char *script, int *hook) {
    lua_State *L = luaL_newstate();
    if (L == NULL) return NULL;
    luaL_openlibs(L);
    luaL_newmetatable(L, request_type);
    lua_pushcfunction(L, request_index);
    lua_setfield(L, -2, "__index");
    luaL_newmetatable(L, headers_type);
    lua_newtable(L);
    lua_pushcfunction(L, headers_set);
    lua_setfield(L, -2, "set");
    lua_setfield(L, -2, "__index");
    lua_settop(L, 0);
    if (luaL_dostring(L, script) == LUA_OK && lua_getfield(L, -1, "request") == LUA_TFUNCTION) {
        *hook = luaL_ref(L, LUA_REGISTRYINDEX);
        lua_settop(L, 0);
        return L;
    }
    lua_close(L);
    return NULL;
}

long cfloor_requests(const char *script, const char *text, long count, char *reason, size_t capacity) {
    int hook = 0;
    lua_State *L = prepare(script, &hook);
    json_t *document = json_loads(text, 0, NULL), *context = json_pack("{s:s}", "hook", "request");
    long changed = 0;
    for (long index = 0; L != NULL && document != NULL && index < count; index++) {
        changed += cfloor_request(L, hook, document, context);
    }
    json_decref(document);
    json_decref(context);
    if (L != NULL) lua_close(L);
    if (changed == count) return count;
    snprintf(reason, capacity, "the script has set %ld headers in %ld calls", changed, count);
    return -1;
}
