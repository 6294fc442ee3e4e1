// The string library, guarded.
#include "internal.h"

#include <string.h>

/// string.rep: the size is known before anything is made, and an empty unit costs nothing.
static int string_rep(lua_State *L) {
    size_t unit, gap;
    const char *text = sb_check_text(L, 1, &unit);
    lua_Integer times = sb_check_integer(L, 2);
    const char *between = lua_isnoneornil(L, 3) ? "" : sb_check_text(L, 3, &gap);
    if (lua_isnoneornil(L, 3)) gap = 0;
    if (times <= 0 || unit + gap == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    size_t limit = sb_string_limit(sb_vm(L));
    // Each unit has at least one byte, so more of them than the limit is too many.
    if ((lua_Unsigned)times > limit + 1 || unit + gap > (limit + gap) / (size_t)times) sb_check_result(L, limit + 1);
    size_t size = (size_t)times * unit + (size_t)(times - 1) * gap;
    sb_charge(L, times / 16 + (int64_t)(size / 64) + 1);
    luaL_Buffer buffer;
    char *place = luaL_buffinitsize(L, &buffer, size);
    // A unit with its gap, and then as much again of what is there.
    memcpy(place, text, unit);
    if (times > 1) memcpy(place + unit, between, gap);
    for (size_t done = unit + gap; done < size;) {
        size_t more = done < size - done ? done : size - done;
        memcpy(place + done, place, more);
        done += more;
    }
    luaL_pushresultsize(&buffer, size);
    return 1;
}

/// string.byte: at most as many numbers as a page of text has letters.
static int string_byte(lua_State *L) {
    enum { most = 4096 };
    size_t length;
    sb_check_text(L, 1, &length);
    lua_Integer from = sb_opt_integer(L, 2, 1), to = sb_opt_integer(L, 3, from), size = (lua_Integer)length;
    if (from < 0) from = from < -size ? 1 : size + from + 1;
    if (to < 0) to = to < -size ? 0 : size + to + 1;
    if (to > size) to = size;
    if (from < to && to - from >= most) return luaL_error(L, "more than %d bytes at once", most);
    sb_charge(L, 1 + (from < to ? (to - from) / 16 : 0));
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

static int string_sub(lua_State *L) {
    sb_check_text(L, 1, NULL);
    sb_check_integer(L, 2);
    sb_opt_integer(L, 3, 0);
    sb_charge(L, 1);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

static int string_len(lua_State *L) {
    size_t length;
    sb_check_text(L, 1, &length);
    lua_pushinteger(L, (lua_Integer)length);
    return 1;
}

static bool make_number(lua_State *L, int index) {
    if (lua_type(L, index) == LUA_TNUMBER) return true;
    size_t length = 0;
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &length) : NULL;
    if (text == NULL || length > 256 || lua_stringtonumber(L, text) != length + 1) return false;
    lua_replace(L, index);
    return true;
}

/// Arithmetic with texts that are numbers: "10" + 1. Lua's own would read a text of any length.
static int arithmetic(lua_State *L) {
    int operation = (int)lua_tointeger(L, lua_upvalueindex(1));
    lua_settop(L, 2);
    sb_charge(L, 4);
    if (!make_number(L, 1) || !make_number(L, 2)) {
        return luaL_error(L, "attempt to %s a '%s' with a '%s'", lua_tostring(L, lua_upvalueindex(2)),
                          luaL_typename(L, 1), luaL_typename(L, 2));
    }
    if (operation == LUA_OPUNM) lua_settop(L, 1);
    lua_arith(L, operation);
    return 1;
}

static void set_arithmetic(lua_State *L) {
    static const struct {
        const char *event;
        int operation;
    } operations[] = {
        {"__add", LUA_OPADD}, {"__sub", LUA_OPSUB}, {"__mul", LUA_OPMUL},   {"__div", LUA_OPDIV},
        {"__mod", LUA_OPMOD}, {"__pow", LUA_OPPOW}, {"__idiv", LUA_OPIDIV}, {"__unm", LUA_OPUNM},
    };
    lua_pushliteral(L, "");
    lua_newtable(L);
    for (size_t index = 0; index < sizeof operations / sizeof *operations; index++) {
        lua_pushinteger(L, operations[index].operation);
        lua_pushstring(L, operations[index].event + 2);
        lua_pushcclosure(L, arithmetic, 2);
        lua_setfield(L, -2, operations[index].event);
    }
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

static void wrap(lua_State *L, int stock, int table, const char *name, lua_CFunction function) {
    lua_getfield(L, stock, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, table, name);
}

/// Leaves the library's table.
void sb_open_string(lua_State *L) {
    lua_newtable(L);
    int table = lua_gettop(L);
    luaL_requiref(L, "string", luaopen_string, 0);
    static const char *const plain[] = {"char", "lower", "reverse", "upper", NULL};
    sb_guard_stock(L, table + 1, table, plain);
    wrap(L, table + 1, table, "byte", string_byte);
    wrap(L, table + 1, table, "sub", string_sub);
    wrap(L, table + 1, table, "format", sb_format);
    lua_pushcfunction(L, string_len);
    lua_setfield(L, table, "len");
    lua_pushcfunction(L, string_rep);
    lua_setfield(L, table, "rep");
    sb_add_patterns(L, table);
    static const char *const blocked[] = {"dump", "pack", "packsize", "unpack", NULL};
    for (const char *const *name = blocked; *name != NULL; name++) sb_block(L, table, "string", *name);
    set_arithmetic(L);
    lua_settop(L, table);
}
