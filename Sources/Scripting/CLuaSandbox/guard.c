// Guards that library functions have in common: a text costs its length, a long one is no number, and what was taken
// away says its name.
#include "internal.h"

// The longest text that is read as a number.
enum { longest_number = 256 };

/// A string argument; a number is not taken for one.
const char *sb_check_string(lua_State *L, int index, size_t *length) {
    luaL_checktype(L, index, LUA_TSTRING);
    return lua_tolstring(L, index, length);
}

/// A string argument, or a number as one.
const char *sb_check_text(lua_State *L, int index, size_t *length) { return luaL_checklstring(L, index, length); }

static void refuse_long_number(lua_State *L, int index) {
    if (lua_type(L, index) == LUA_TSTRING && lua_rawlen(L, index) > longest_number) {
        luaL_argerror(L, index, "text is too long for a number");
    }
}

lua_Integer sb_check_integer(lua_State *L, int index) {
    refuse_long_number(L, index);
    return luaL_checkinteger(L, index);
}

lua_Integer sb_opt_integer(lua_State *L, int index, lua_Integer otherwise) {
    return lua_isnoneornil(L, index) ? otherwise : sb_check_integer(L, index);
}

/// Raises when a library function is about to make a string over the limit.
void sb_check_result(lua_State *L, size_t length) {
    sluice_vm *vm = sb_vm(L);
    if (length <= sb_string_limit(vm)) return;
    vm->is_string_refused = true;
    sb_trip(vm, SLUICE_FAILED_MEMORY);
    sb_charge(L, 0);
}

/// Calls the function of Lua's own that it guards, after its texts are paid for.
static int call_guarded(lua_State *L) {
    int64_t fuel = 1;
    for (int index = lua_gettop(L); index > 0; index--) {
        if (lua_type(L, index) == LUA_TSTRING) fuel += (int64_t)(lua_rawlen(L, index) / 16);
    }
    sb_charge(L, fuel);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/// table[name] = the guarded function. It must have no upvalues.
void sb_guard(lua_State *L, int table, const char *name, lua_CFunction stock) {
    table = lua_absindex(L, table);
    lua_pushcfunction(L, stock);
    lua_pushcclosure(L, call_guarded, 1);
    lua_setfield(L, table, name);
}

/// Guards functions of one of Lua's own libraries.
void sb_guard_stock(lua_State *L, int stock, int table, const char *const *names) {
    for (; *names != NULL; names++) {
        lua_getfield(L, stock, *names);
        sb_guard(L, table, *names, lua_tocfunction(L, -1));
        lua_pop(L, 1);
    }
}

static int call_blocked(lua_State *L) {
    return sb_raise(L, SLUICE_FAILED_BLOCKED, "%s is not available to plugins",
                    lua_tostring(L, lua_upvalueindex(1)));
}

/// table[name] = a function that says that it was taken away.
void sb_block(lua_State *L, int table, const char *library, const char *name) {
    table = lua_absindex(L, table);
    if (library == NULL) {
        lua_pushstring(L, name);
    } else {
        lua_pushfstring(L, "%s.%s", library, name);
    }
    lua_pushcclosure(L, call_blocked, 1);
    lua_setfield(L, table, name);
}

static int index_blocked(lua_State *L) {
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    return sb_raise(L, SLUICE_FAILED_BLOCKED, "%s.%s is not available to plugins",
                    lua_tostring(L, lua_upvalueindex(1)), name);
}

/// A library that was taken away: whatever is looked up in it says so.
void sb_push_blocked_library(lua_State *L, const char *name) {
    lua_newtable(L);
    lua_newtable(L);
    lua_newtable(L);
    lua_rawsetp(L, -2, &sb_key_frozen);
    lua_pushstring(L, name);
    lua_pushcclosure(L, index_blocked, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__index");
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
}
