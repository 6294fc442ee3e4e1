// What a plugin sees as its globals: an empty table whose reads go to a hidden one and whose writes are checked. A
// plugin may define globals while it is loaded; afterwards nothing of it changes.
#include "internal.h"

#include <string.h>

char sb_key_public, sb_key_environment, sb_key_modules;

static const char *name_of(lua_State *L, int index) {
    return lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : "?";
}

static int unknown_global(lua_State *L) {
    return sb_raise(L, SLUICE_FAILED_RUNTIME, "there is no global '%s'", name_of(L, 2));
}

static int write_global(lua_State *L) {
    if (sb_vm(L)->is_frozen) {
        return sb_raise(L, SLUICE_FAILED_RUNTIME, "globals are read-only after loading: '%s'", name_of(L, 2));
    }
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) {
        return sb_raise(L, SLUICE_FAILED_RUNTIME, "the global '%s' cannot be replaced", name_of(L, 2));
    }
    lua_settop(L, 3);
    lua_rawset(L, lua_upvalueindex(1));
    return 0;
}

/// public[name] = value, and nobody replaces it.
static void add(lua_State *L, int public, int given, const char *name) {
    lua_pushvalue(L, -1);
    lua_setfield(L, given, name);
    lua_setfield(L, public, name);
}

/// Makes the environment of the plugin, with the guarded libraries in it, and leaves nothing on the stack.
void sb_open_environment(lua_State *L) {
    int top = lua_gettop(L);
    lua_newtable(L);
    int public = top + 1;
    lua_newtable(L);
    int given = top + 2;
    lua_newtable(L);
    sb_open_base(L, top + 3);
    sb_open_string(L);
    sb_open_table(L);
    sb_open_math(L);
    sb_open_utf8(L);
    static const char *const libraries[] = {"string", "table", "math", "utf8"};
    for (int index = 0; index < 4; index++) {
        lua_pushcfunction(L, sb_freeze);
        lua_pushvalue(L, top + 4 + index);
        lua_call(L, 1, 1);
        add(L, public, given, libraries[index]);
    }
    static const char *const gone[] = {"coroutine", "debug", "io", "os", "package"};
    for (int index = 0; index < 5; index++) {
        sb_push_blocked_library(L, gone[index]);
        add(L, public, given, gone[index]);
    }
    lua_pushnil(L);
    while (lua_next(L, top + 3)) {
        const char *name = lua_tostring(L, -2);
        add(L, public, given, name);
    }
    lua_pushstring(L, "Lua 5.4");
    add(L, public, given, "_VERSION");

    // Methods of strings: ("x"):upper(). The script cannot get at this table.
    lua_pushliteral(L, "");
    if (!lua_getmetatable(L, -1)) lua_newtable(L);
    lua_pushvalue(L, top + 4);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);

    lua_newtable(L);  // the environment itself
    lua_pushvalue(L, -1);
    add(L, public, given, "_G");
    lua_createtable(L, 0, 3);
    lua_pushvalue(L, public);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, public);
    lua_pushvalue(L, given);
    lua_pushcclosure(L, write_global, 2);
    lua_setfield(L, -2, "__newindex");
    lua_pushvalue(L, public);
    lua_rawsetp(L, -2, &sb_key_frozen);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &sb_key_environment);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);

    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, unknown_global);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, public);
    lua_createtable(L, 2, 0);
    lua_pushvalue(L, public);
    lua_rawseti(L, -2, 1);
    lua_pushvalue(L, given);
    lua_rawseti(L, -2, 2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &sb_key_public);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &sb_key_modules);
    lua_settop(L, top);
}

/// Adds what the prelude gives to plugins. Tables become read-only.
void sb_add_globals(lua_State *L, int table) {
    int top = lua_gettop(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sb_key_public);
    lua_rawgeti(L, top + 1, 1);
    lua_rawgeti(L, top + 1, 2);
    lua_pushnil(L);
    while (lua_next(L, table)) {
        if (lua_type(L, -2) != LUA_TSTRING) sb_raise(L, SLUICE_FAILED_RUNTIME, "a global without a name");
        lua_pushcfunction(L, sb_freeze);
        lua_insert(L, -2);
        lua_call(L, 1, 1);
        add(L, top + 2, top + 3, lua_tostring(L, -2));
    }
    lua_settop(L, top);
}

/// Compiles a text, never bytecode, and leaves the function. Its globals are the plugin's environment.
void sb_load_chunk(lua_State *L, const char *name, const char *text, size_t length) {
    sluice_vm *vm = sb_vm(L);
    char chunk[LUA_IDSIZE + 1] = "=";
    strncat(chunk, name, LUA_IDSIZE - 1);
    if (length > vm->limits.source_bytes) {
        sb_raise(L, SLUICE_FAILED_RUNTIME, "'%s' is longer than %zu bytes", name, vm->limits.source_bytes);
    }
    sb_charge(L, (int64_t)(length / 4));
    int status = luaL_loadbufferx(L, text, length, chunk, "t");
    if (status == LUA_ERRMEM) {
        sb_trip(vm, SLUICE_FAILED_MEMORY);
        sb_kill(L);
    }
    sb_charge(L, 0);
    if (status == LUA_OK) return;
    vm->raised = SLUICE_FAILED_RUNTIME;
    lua_error(L);
}

static int keep_module(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 1);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sb_key_modules);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return 1;
}

/// require(name): a text of the bundle, run once, while the plugin is loaded.
int sb_require(lua_State *L) {
    sluice_vm *vm = sb_vm(L);
    const char *name = sb_check_string(L, 1, NULL);
    sb_charge(L, 10);
    lua_settop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sb_key_modules);
    lua_pushvalue(L, 1);
    lua_rawget(L, 2);
    bool is_known = lua_touserdata(L, -1) == &sb_key_environment;
    if (lua_touserdata(L, -1) == &sb_key_modules) {
        return sb_raise(L, SLUICE_FAILED_RUNTIME, "'%s' requires itself", name);
    }
    if (!is_known && !lua_isnil(L, -1)) return 1;
    if (vm->is_frozen && is_known) {
        return sb_raise(L, SLUICE_FAILED_RUNTIME, "'%s' is not loaded: require it while the plugin loads", name);
    }
    for (size_t index = 0; index < vm->source_count; index++) {
        const sluice_source *source = &vm->sources[index];
        if (strcmp(source->name, name) != 0) continue;
        lua_pushvalue(L, 1);
        lua_pushlightuserdata(L, &sb_key_modules);
        lua_rawset(L, 2);
        sb_load_chunk(L, source->file == NULL ? source->name : source->file, source->text, source->length);
        lua_pushvalue(L, 1);
        lua_callk(L, 1, 1, 0, keep_module);
        return keep_module(L, LUA_OK, 0);
    }
    return sb_raise(L, SLUICE_FAILED_RUNTIME, "there is no '%s' in the plugin", name);
}
