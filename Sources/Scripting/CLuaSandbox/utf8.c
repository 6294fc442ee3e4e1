// The utf8 library: Lua's own, where a text costs its length.
#include "internal.h"

enum { most_codes = 4096 };

/// utf8.codepoint: not more numbers than string.byte gives.
static int utf8_codepoint(lua_State *L) {
    size_t length;
    sb_check_text(L, 1, &length);
    lua_Integer from = sb_opt_integer(L, 2, 1), to = sb_opt_integer(L, 3, from), size = (lua_Integer)length;
    if (from < 0) from += size + 1;
    if (to < 0) to += size + 1;
    if (to > size) to = size;
    if (from > 0 && from < to && to - from >= most_codes) {
        return luaL_error(L, "more than %d bytes at once", most_codes);
    }
    sb_charge(L, 1 + (from < to ? (to - from) / 16 : 0));
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/// The iterator of utf8.codes: a step goes over one character, and in a broken text over all bytes that begin none.
static int next_code(lua_State *L) {
    size_t length, at;
    const char *text = sb_check_text(L, 1, &length);
    lua_Integer place = sb_opt_integer(L, 2, 0);
    size_t from = place < 0 || (size_t)place > length ? length : (size_t)place;
    for (at = from; at < length && ((unsigned char)text[at] & 0xC0) == 0x80; at++) {}
    sb_charge(L, 1 + (int64_t)((at - from) / 16));
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/// utf8.codes: its iterator reads a number too, so it is guarded like the function itself.
static int utf8_codes(lua_State *L) {
    sb_charge(L, 1);
    int results = lua_tocfunction(L, lua_upvalueindex(1))(L);
    int first = lua_gettop(L) - results + 1;
    lua_pushvalue(L, first);
    lua_pushcclosure(L, next_code, 1);
    lua_replace(L, first);
    lua_settop(L, first + results - 1);
    return results;
}

/// Leaves the library's table.
void sb_open_utf8(lua_State *L) {
    lua_newtable(L);
    int table = lua_gettop(L);
    luaL_requiref(L, "utf8", luaopen_utf8, 0);
    static const char *const plain[] = {"char", "len", "offset", NULL};
    sb_guard_stock(L, table + 1, table, plain);
    lua_getfield(L, table + 1, "codepoint");
    lua_pushcclosure(L, utf8_codepoint, 1);
    lua_setfield(L, table, "codepoint");
    lua_getfield(L, table + 1, "codes");
    lua_pushcclosure(L, utf8_codes, 1);
    lua_setfield(L, table, "codes");
    lua_getfield(L, table + 1, "charpattern");
    lua_setfield(L, table, "charpattern");
    lua_settop(L, table);
}
