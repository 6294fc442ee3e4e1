// The table library: raw lengths only, and everything that moves is paid for before it moves.
#include "internal.h"

enum { longest_move = 100000, longest_unpack = 250 };

static bool is_read_only(lua_State *L, int index) {
    if (!sb_push_frozen(L, index)) return false;
    lua_pop(L, 1);
    return true;
}

/// The raw length of the table at `index`. A read-only one is refused, and one with a __len of its own, which may say
/// anything.
static lua_Integer check_length(lua_State *L, int index) {
    luaL_checktype(L, index, LUA_TTABLE);
    if (is_read_only(L, index)) luaL_argerror(L, index, "a read-only table cannot be changed");
    if (luaL_getmetafield(L, index, "__len") != LUA_TNIL) {
        luaL_argerror(L, index, "a table with a length of its own");
    }
    return (lua_Integer)lua_rawlen(L, index);
}

/// As above, for a function that only reads: of a read-only table the hidden one takes its place.
static lua_Integer check_readable(lua_State *L, int index) {
    if (!sb_push_frozen(L, index)) return check_length(L, index);
    lua_replace(L, index);
    return (lua_Integer)lua_rawlen(L, index);
}

/// Moves what is at `from` and on, up to the one before `to`, one place back against the step. It was paid for; where
/// there is no bound on fuel, the clock ends it.
static void shift(lua_State *L, lua_Integer from, lua_Integer to, int step) {
    for (lua_Integer index = from; index != to; index += step) {
        lua_rawgeti(L, 1, index);
        lua_rawseti(L, 1, index - step);
        if ((index & 1023) == 0) sb_tick(L, 1024);
    }
}

static int table_insert(lua_State *L) {
    lua_Integer next = check_length(L, 1) + 1, position = next;
    int count = lua_gettop(L);
    if (count != 2 && count != 3) return luaL_error(L, "wrong number of arguments to 'insert'");
    if (count == 3) {
        position = sb_check_integer(L, 2);
        luaL_argcheck(L, (lua_Unsigned)position - 1u < (lua_Unsigned)next, 2, "position out of bounds");
    }
    sb_charge(L, 1 + next - position);
    shift(L, next - 1, position - 1, -1);
    lua_rawseti(L, 1, position);
    return 0;
}

static int table_remove(lua_State *L) {
    lua_Integer size = check_length(L, 1), position = sb_opt_integer(L, 2, size);
    if (position != size) {
        luaL_argcheck(L, (lua_Unsigned)position - 1u <= (lua_Unsigned)size, 2, "position out of bounds");
    }
    sb_charge(L, 1 + (size > position ? size - position : 0));
    lua_rawgeti(L, 1, position);
    if (position < size) shift(L, position + 1, size + 1, 1);
    lua_pushnil(L);
    lua_rawseti(L, 1, position < size ? size : position);
    return 1;
}

static int table_concat(lua_State *L) {
    lua_Integer size = check_readable(L, 1), from = sb_opt_integer(L, 3, 1), to = sb_opt_integer(L, 4, size);
    size_t gap = 0, bytes = 0, length;
    const char *between = lua_isnoneornil(L, 2) ? "" : sb_check_text(L, 2, &gap);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (lua_Integer index = from; index <= to; index++) {
        int type = lua_rawgeti(L, 1, index);
        if (type != LUA_TSTRING && type != LUA_TNUMBER) {
            return luaL_error(L, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(L, -1),
                              (LUAI_UACINT)index);
        }
        lua_tolstring(L, -1, &length);
        bytes += length + gap;
        sb_charge(L, 1 + (int64_t)(length / 32));
        sb_check_result(L, bytes > gap ? bytes - gap : 0);
        luaL_addvalue(&buffer);
        if (index < to) {
            luaL_addlstring(&buffer, between, gap);
        } else {
            break;  // `to` may be the largest number there is
        }
    }
    luaL_pushresult(&buffer);
    return 1;
}

static int table_unpack(lua_State *L) {
    lua_Integer size = check_readable(L, 1), from = sb_opt_integer(L, 2, 1), to = sb_opt_integer(L, 3, size);
    if (from > to) return 0;
    lua_Unsigned count = (lua_Unsigned)to - (lua_Unsigned)from;
    if (count >= longest_unpack) return luaL_error(L, "more than %d values to unpack", longest_unpack);
    luaL_checkstack(L, longest_unpack, "unpack");
    sb_charge(L, (int64_t)count + 1);
    for (lua_Unsigned index = 0; index <= count; index++) lua_rawgeti(L, 1, (lua_Integer)((lua_Unsigned)from + index));
    return (int)count + 1;
}

static int table_pack(lua_State *L) {
    int count = lua_gettop(L);
    sb_charge(L, count);
    lua_createtable(L, count, 1);
    lua_insert(L, 1);
    for (int index = count; index >= 1; index--) lua_rawseti(L, 1, index);
    lua_pushinteger(L, count);
    lua_setfield(L, 1, "n");
    return 1;
}

static int table_move(lua_State *L) {
    lua_Integer from = sb_check_integer(L, 2), to = sb_check_integer(L, 3), place = sb_check_integer(L, 4);
    int target = lua_isnoneornil(L, 5) ? 1 : 5;
    check_length(L, target);
    if (target == 5) check_readable(L, 1);
    if (to >= from) {
        lua_Unsigned count = (lua_Unsigned)to - (lua_Unsigned)from;
        if (count >= longest_move) return luaL_error(L, "more than %d values to move", longest_move);
        luaL_argcheck(L, place <= LUA_MAXINTEGER - (lua_Integer)count, 4, "destination wrap around");
        sb_charge(L, (int64_t)count + 1);
        bool is_forward = place > to || place <= from || target == 5;
        for (lua_Integer step = 0; step <= (lua_Integer)count; step++) {
            lua_Integer offset = is_forward ? step : (lua_Integer)count - step;
            lua_rawgeti(L, 1, from + offset);
            lua_rawseti(L, target, place + offset);
        }
    }
    lua_pushvalue(L, target);
    return 1;
}

/// What the script's comparator says, or Lua's own order.
static bool is_before(lua_State *L, int left, int right) {
    if (lua_isnil(L, 2)) {
        int64_t bytes = 0;
        if (lua_type(L, left) == LUA_TSTRING) bytes = (int64_t)lua_rawlen(L, left);
        sb_charge(L, 1 + bytes / 16);
        return lua_compare(L, left, right, LUA_OPLT);
    }
    sb_charge(L, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, left);
    lua_pushvalue(L, right);
    lua_call(L, 2, 1);
    bool is_so = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is_so;
}

/// table.sort: each comparison is paid for. The comparator is a function of the script, whose steps are counted; those
/// of a function in C would not be.
static int table_sort(lua_State *L) {
    lua_Integer size = check_length(L, 1);
    lua_settop(L, 2);
    if (!lua_isnil(L, 2)) {
        luaL_checktype(L, 2, LUA_TFUNCTION);
        if (lua_iscfunction(L, 2)) return luaL_argerror(L, 2, "a function of the plugin is expected");
    }
    sb_heap_sort(L, 1, size, is_before);
    return 0;
}

/// Leaves the library's table.
void sb_open_table(lua_State *L) {
    static const luaL_Reg own[] = {
        {"insert", table_insert}, {"remove", table_remove}, {"concat", table_concat}, {"unpack", table_unpack},
        {"pack", table_pack},     {"move", table_move},     {"sort", table_sort},     {NULL, NULL},
    };
    luaL_newlib(L, own);
}
