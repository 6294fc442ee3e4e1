// A heap sort over a Lua table: it has no bad case, and a comparator that says anything cannot lead it astray.
#include "internal.h"

/// Lets the value at `parent` sink to where nothing under it comes after it.
static void sink(lua_State *L, int table, lua_Integer parent, lua_Integer last, sb_order is_before) {
    int top = lua_gettop(L), left = top + 1, right = top + 2;
    for (lua_Integer child; parent <= last / 2; parent = child) {
        child = parent * 2;
        lua_rawgeti(L, table, child);
        if (child < last) {
            lua_rawgeti(L, table, child + 1);
            if (is_before(L, left, right)) {
                lua_replace(L, left);
                child++;
            } else {
                lua_pop(L, 1);
            }
        }
        lua_rawgeti(L, table, parent);
        if (!is_before(L, right, left)) break;
        lua_rawseti(L, table, child);
        lua_rawseti(L, table, parent);
    }
    lua_settop(L, top);
}

/// Sorts the first `count` values of the table at `table`, an index from the bottom.
void sb_heap_sort(lua_State *L, int table, lua_Integer count, sb_order is_before) {
    luaL_checkstack(L, 8, "sort");
    for (lua_Integer root = count / 2; root > 0; root--) sink(L, table, root, count, is_before);
    for (lua_Integer last = count; last > 1; last--) {
        lua_rawgeti(L, table, 1);
        lua_rawgeti(L, table, last);
        lua_rawseti(L, table, 1);
        lua_rawseti(L, table, last);
        sink(L, table, 1, last - 1, is_before);
    }
}
