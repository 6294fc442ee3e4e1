// The functions without a library, guarded.
#include "internal.h"

char sb_key_shadow;

// How deep calls of pcall may stand in each other: Lua itself has no such bound where a script can wait, and what it
// does for each error depends on how deep it is.
enum { deepest_pcall = 150 };

static int finish_pcall(lua_State *L, int status, lua_KContext context) {
    sb_vm(L)->current->pcalls = (int)context;
    if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L);
    sluice_vm *vm = sb_vm(L);
    if (status == LUA_ERRMEM) sb_trip(vm, SLUICE_FAILED_MEMORY);
    // A kill goes through every pcall there is.
    if (vm->current->latch != SLUICE_DONE) return sb_kill(L);
    vm->raised = SLUICE_FAILED_RUNTIME;
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
}

static int base_pcall(lua_State *L) {
    luaL_checkany(L, 1);
    sb_charge(L, 1);
    sluice_call *call = sb_vm(L)->current;
    int depth = call->pcalls;
    if (depth == deepest_pcall) return luaL_error(L, "pcall is nested over %d levels", deepest_pcall);
    call->pcalls = depth + 1;
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    return finish_pcall(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, depth, finish_pcall), depth);
}

/// What the metatable of a script's table may say. Everything else is not taken over.
static const char *const events[] = {
    "__index", "__newindex", "__call",  "__eq",   "__lt",   "__le",  "__len",  "__concat", "__tostring", "__pairs",
    "__add",   "__sub",      "__mul",   "__div",  "__idiv", "__mod", "__pow",  "__unm",    "__band",     "__bor",
    "__bxor",  "__shl",      "__shr",   "__bnot", NULL,
};

/// These let a script run where no budget is, or change what the sandbox relies on.
static const char *const forbidden[] = {"__gc", "__close", "__mode", "__metatable", "__name", NULL};

static bool is_same_shadow(lua_State *L, int metatable, int shadow) {
    bool is_same = true;
    for (const char *const *event = events; is_same && *event != NULL; event++) {
        lua_pushstring(L, *event);
        lua_pushvalue(L, -1);
        lua_rawget(L, metatable);
        lua_insert(L, -2);
        lua_rawget(L, shadow);
        is_same = lua_rawequal(L, -1, -2);
        lua_pop(L, 2);
    }
    return is_same;
}

/// Pushes a copy of the metatable's events: the one the script holds may get others later, this one does not. Objects
/// of one class come one after the other, so the last copy is kept.
static void push_shadow(lua_State *L, int metatable) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sb_key_shadow);
    int cache = lua_gettop(L);
    lua_rawgeti(L, cache, 1);
    bool is_cached = lua_rawequal(L, -1, metatable);
    lua_rawgeti(L, cache, 2);
    if (is_cached && is_same_shadow(L, metatable, cache + 2)) {
        lua_replace(L, cache);
        lua_settop(L, cache);
        return;
    }
    lua_settop(L, cache);
    lua_newtable(L);
    for (const char *const *event = events; *event != NULL; event++) {
        lua_pushstring(L, *event);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, metatable) == LUA_TNIL) {
            lua_pop(L, 2);
        } else {
            lua_rawset(L, cache + 1);
        }
    }
    lua_pushvalue(L, metatable);
    lua_rawseti(L, cache, 1);
    lua_pushvalue(L, -1);
    lua_rawseti(L, cache, 2);
    lua_replace(L, cache);
}

/// setmetatable: the metamethods as they are now; those that a sandbox cannot have are refused.
static int base_setmetatable(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, lua_isnil(L, 2) || lua_istable(L, 2), 2, "nil or table");
    sb_charge(L, 8);
    lua_settop(L, 2);
    if (sb_push_frozen(L, 1)) return sb_raise(L, SLUICE_FAILED_RUNTIME, "a read-only table cannot be changed");
    if (lua_isnil(L, 2)) {
        lua_setmetatable(L, 1);
        return 1;
    }
    if (sb_push_frozen(L, 2)) lua_replace(L, 2);
    for (const char *const *event = forbidden; *event != NULL; event++) {
        lua_pushstring(L, *event);
        if (lua_rawget(L, 2) != LUA_TNIL) {
            return sb_raise(L, SLUICE_FAILED_BLOCKED, "setmetatable with %s is not available to plugins", *event);
        }
        lua_pop(L, 1);
    }
    push_shadow(L, 2);
    lua_setmetatable(L, 1);
    lua_settop(L, 1);
    return 1;
}

static int finish_tostring(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    if (lua_type(L, -1) != LUA_TSTRING) return luaL_error(L, "'__tostring' must return a string");
    return 1;
}

/// tostring: a table is "table", whichever it is.
int sb_tostring(lua_State *L) {
    luaL_checkany(L, 1);
    sb_charge(L, 1);
    const sb_handle *handle;
    switch (lua_type(L, 1)) {
    case LUA_TNUMBER: lua_pushvalue(L, 1); lua_tostring(L, -1); return 1;
    case LUA_TSTRING: lua_pushvalue(L, 1); return 1;
    case LUA_TBOOLEAN: lua_pushstring(L, lua_toboolean(L, 1) ? "true" : "false"); return 1;
    case LUA_TNIL: lua_pushliteral(L, "nil"); return 1;
    case LUA_TLIGHTUSERDATA: lua_pushliteral(L, "null"); return 1;
    case LUA_TUSERDATA:
        handle = sb_to_handle(L, 1);
        lua_pushstring(L, handle == NULL ? "object" : handle->cell->type->name);
        return 1;
    case LUA_TTABLE:
        if (luaL_getmetafield(L, 1, "__tostring") == LUA_TFUNCTION) {
            lua_pushvalue(L, 1);
            lua_callk(L, 1, 1, 0, finish_tostring);
            return finish_tostring(L, LUA_OK, 0);
        }
        lua_pushliteral(L, "table");
        return 1;
    default: lua_pushstring(L, luaL_typename(L, 1)); return 1;
    }
}

static int base_tonumber(lua_State *L) {
    if (lua_type(L, 1) == LUA_TSTRING && lua_rawlen(L, 1) > 256) {
        luaL_argerror(L, 1, "text is too long for a number");
    }
    if (!lua_isnoneornil(L, 2)) sb_check_integer(L, 2);
    sb_charge(L, 4);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/// Whether the key at `left` comes before the one at `right`: numbers first, then strings, then the others, which
/// have no order and count as equal.
static bool is_before(lua_State *L, int left, int right) {
    int left_type = lua_type(L, left), right_type = lua_type(L, right);
    if (left_type != right_type) return left_type < right_type;
    if (left_type != LUA_TNUMBER && left_type != LUA_TSTRING) return false;
    return lua_compare(L, left, right, LUA_OPLT);
}

/// The smallest key after the one at 2, or the smallest of all: the same order on every device. It looks at every key.
static int next_in_order(lua_State *L) {
    bool is_first = lua_isnoneornil(L, 2);
    lua_settop(L, 2);
    lua_pushnil(L);  // 3: the best so far
    bool has_best = false;
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        sb_charge(L, 1);
        if ((is_first || is_before(L, 2, 4)) && (!has_best || is_before(L, 4, 3))) {
            lua_pushvalue(L, 4);
            lua_replace(L, 3);
            has_best = true;
        }
    }
    lua_settop(L, 3);
    if (!has_best) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushvalue(L, 3);
    lua_rawget(L, 1);
    return 2;
}

/// next, of a table or of the one behind a read-only one.
static int base_next(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (sb_push_frozen(L, 1)) lua_replace(L, 1);
    // A table that was emptied is searched in full: that costs time and no fuel.
    sb_charge(L, 1);
    sb_tick(L, 20);
    if (sb_vm(L)->limits.is_deterministic) return next_in_order(L);
    if (lua_next(L, 1)) return 2;
    lua_pushnil(L);
    return 1;
}

/// Goes on with the key at place n of the list in upvalue 1, of the value in upvalue 2.
static int next_listed(lua_State *L) {
    lua_Integer place = lua_tointeger(L, lua_upvalueindex(3)) + 1;
    lua_pushinteger(L, place);
    lua_replace(L, lua_upvalueindex(3));
    sb_charge(L, 1);
    if (lua_rawgeti(L, lua_upvalueindex(1), place) == LUA_TNIL) return 1;
    if (lua_type(L, lua_upvalueindex(2)) == LUA_TTABLE) {
        lua_pushvalue(L, -1);
        lua_rawget(L, lua_upvalueindex(2));
        return 2;
    }
    lua_pushcfunction(L, sb_get);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushvalue(L, -3);
    lua_call(L, 2, 1);
    return 2;
}

static int push_listed(lua_State *L) {
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_listed, 3);
    return 1;
}

/// The keys of the table at 1 as a list in their order.
static int push_sorted_keys(lua_State *L) {
    lua_Integer count = 0;
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, 2, ++count);
        sb_charge(L, 10);
    }
    sb_heap_sort(L, 2, count, is_before);
    return push_listed(L);
}

static int finish_pairs(lua_State *L, int status, lua_KContext context) {
    (void)L;
    (void)status;
    (void)context;
    return 3;
}

/// pairs: objects of the host in the order of their JSON, read-only tables as the one behind; in a deterministic VM
/// tables in the order of their keys.
static int base_pairs(lua_State *L) {
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    sb_charge(L, 2);
    if (lua_type(L, 1) == LUA_TUSERDATA) {
        lua_pushcfunction(L, sb_names);
        lua_pushvalue(L, 1);
        lua_call(L, 1, 1);
        return push_listed(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    bool is_frozen = sb_push_frozen(L, 1);
    if (is_frozen) {
        // The hidden table is never handed out: next finds it by itself.
        if (sb_vm(L)->limits.is_deterministic) lua_replace(L, 1);
        lua_settop(L, 1);
    } else if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_callk(L, 1, 3, 0, finish_pairs);
        return 3;
    }
    if (sb_vm(L)->limits.is_deterministic) return push_sorted_keys(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/// Fills the table at the index.
void sb_open_base(lua_State *L, int table) {
    lua_createtable(L, 2, 0);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &sb_key_shadow);
    luaL_requiref(L, "_G", luaopen_base, 0);
    int stock = lua_gettop(L);
    static const char *const plain[] = {"assert", "error", "ipairs", "select", "type", NULL};
    sb_guard_stock(L, stock, table, plain);
    lua_getfield(L, stock, "tonumber");
    lua_pushcclosure(L, base_tonumber, 1);
    lua_setfield(L, table, "tonumber");
    lua_pushcfunction(L, base_next);
    lua_pushvalue(L, -1);
    lua_setfield(L, table, "next");
    lua_pushcclosure(L, base_pairs, 1);
    lua_setfield(L, table, "pairs");
    static const luaL_Reg own[] = {
        {"pcall", base_pcall},       {"setmetatable", base_setmetatable}, {"tostring", sb_tostring},
        {"require", sb_require},     {NULL, NULL},
    };
    lua_pushvalue(L, table);
    luaL_setfuncs(L, own, 0);
    static const char *const blocked[] = {
        "load",   "loadstring", "loadfile",     "dofile", "collectgarbage", "rawset", "rawget", "rawequal",
        "rawlen", "xpcall",     "getmetatable", "warn",   "print",          NULL,
    };
    for (const char *const *name = blocked; *name != NULL; name++) sb_block(L, table, NULL, *name);
    lua_settop(L, stock - 1);
}
