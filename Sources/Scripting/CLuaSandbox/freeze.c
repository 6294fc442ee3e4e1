// Read-only tables: an empty table in front of a hidden copy. Lua has none of its own.
#include "internal.h"

char sb_key_frozen;

static int refuse_write(lua_State *L) {
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    return sb_raise(L, SLUICE_FAILED_RUNTIME, "a read-only table cannot be changed: '%s'", name);
}

static int frozen_length(lua_State *L) {
    lua_pushinteger(L, sb_push_frozen(L, 1) ? (lua_Integer)lua_rawlen(L, -1) : 0);
    return 1;
}

/// Pushes the hidden table if the value is a read-only one, else nothing. Allocates nothing.
bool sb_push_frozen(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return false;
    bool is_frozen = lua_rawgetp(L, -1, &sb_key_frozen) == LUA_TTABLE;
    if (is_frozen) {
        lua_remove(L, -2);
    } else {
        lua_pop(L, 2);
    }
    return is_frozen;
}

static bool is_frozen(lua_State *L, int index) {
    if (!sb_push_frozen(L, index)) return false;
    lua_pop(L, 1);
    return true;
}

/// Pushes the read-only form of the table at `index`; `seen` has those already made, so cycles end.
static void push_proxy(lua_State *L, int index, int seen, int depth) {
    if (depth > sb_path_depth) sb_raise(L, SLUICE_FAILED_RUNTIME, "a table is nested too deep to be frozen");
    luaL_checkstack(L, 10, "freeze");
    lua_pushvalue(L, index);
    if (lua_rawget(L, seen) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_newtable(L);
    int proxy = lua_gettop(L);
    lua_pushvalue(L, index);
    lua_pushvalue(L, proxy);
    lua_rawset(L, seen);
    lua_newtable(L);
    int copy = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        sb_charge(L, 1);
        lua_pushvalue(L, -2);
        if (lua_type(L, -2) == LUA_TTABLE && !is_frozen(L, -2)) {
            push_proxy(L, lua_gettop(L) - 1, seen, depth + 1);
        } else {
            lua_pushvalue(L, -2);
        }
        lua_rawset(L, copy);
        lua_pop(L, 1);
    }
    if (lua_getmetatable(L, index)) lua_setmetatable(L, copy);
    lua_createtable(L, 0, 4);
    lua_pushvalue(L, copy);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_write);
    lua_setfield(L, -2, "__newindex");
    lua_pushcfunction(L, frozen_length);
    lua_setfield(L, -2, "__len");
    lua_pushvalue(L, copy);
    lua_rawsetp(L, -2, &sb_key_frozen);
    lua_setmetatable(L, proxy);
    lua_settop(L, proxy);
}

/// freeze(table): a read-only copy, with all tables inside. Anything else comes back as it is.
int sb_freeze(lua_State *L) {
    lua_settop(L, 1);
    if (lua_type(L, 1) != LUA_TTABLE || is_frozen(L, 1)) return 1;
    lua_newtable(L);
    push_proxy(L, 1, 2, 0);
    return 1;
}
