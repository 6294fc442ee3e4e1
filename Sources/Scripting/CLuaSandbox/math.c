// The math library: Lua's own, with arguments that are no long texts. Random numbers are the same for the same call in
// a deterministic VM.
#include "internal.h"

static int math_random(lua_State *L) {
    sluice_vm *vm = sb_vm(L);
    sb_charge(L, 4);
    for (int index = lua_gettop(L); index > 0; index--) {
        if (!lua_isnoneornil(L, index)) sb_check_integer(L, index);
    }
    if (vm->limits.is_deterministic && vm->current != NULL && vm->random_serial != vm->current->serial) {
        vm->random_serial = vm->current->serial;
        lua_pushvalue(L, lua_upvalueindex(2));
        lua_pushinteger(L, 1);
        lua_call(L, 1, 0);
    }
    int count = lua_gettop(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, count, 1);
    return 1;
}

/// Leaves the library's table.
void sb_open_math(lua_State *L) {
    lua_newtable(L);
    int table = lua_gettop(L);
    luaL_requiref(L, "math", luaopen_math, 0);
    static const char *const plain[] = {
        "abs",  "acos", "asin", "atan", "ceil", "cos",  "deg",       "exp",  "floor", "fmod", "log",
        "max",  "min",  "modf", "rad",  "sin",  "sqrt", "tan",       "tointeger", "type", "ult", NULL,
    };
    sb_guard_stock(L, table + 1, table, plain);
    static const char *const numbers[] = {"huge", "maxinteger", "mininteger", "pi", NULL};
    for (const char *const *name = numbers; *name != NULL; name++) {
        lua_getfield(L, table + 1, *name);
        lua_setfield(L, table, *name);
    }
    lua_getfield(L, table + 1, "random");
    lua_getfield(L, table + 1, "randomseed");
    lua_pushcclosure(L, math_random, 2);
    lua_setfield(L, table, "random");
    sb_block(L, table, "math", "randomseed");
    lua_settop(L, table);
}
