#include "LuaReference.h"

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <stdlib.h>
#include <string.h>

static int run(lua_State *L) {
    const char *text = lua_touserdata(L, 1);
    if (luaL_loadbuffer(L, text, strlen(text), "=main") != LUA_OK) return lua_error(L);
    lua_call(L, 0, 1);
    lua_getfield(L, -1, "run");
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, 2);
    lua_setfield(L, -2, "seed");
    lua_pushvalue(L, 3);
    lua_setfield(L, -2, "count");
    lua_call(L, 1, 1);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (lua_Integer index = 1; lua_geti(L, 5, index) != LUA_TNIL; index++) {
        luaL_addvalue(&buffer);
        luaL_addchar(&buffer, '\n');
    }
    lua_pop(L, 1);
    luaL_pushresult(&buffer);
    return 1;
}

char *lua_reference_run(const char *text, long seed, long count) {
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, (void *)text);
    lua_pushinteger(L, seed);
    lua_pushinteger(L, count);
    int is_failed = lua_pcall(L, 3, 1, 0);
    const char *answer = lua_tostring(L, -1);
    char *copy = malloc(strlen(answer) + 8);
    strcpy(copy, is_failed ? "error: " : "");
    strcat(copy, answer);
    lua_close(L);
    return copy;
}
