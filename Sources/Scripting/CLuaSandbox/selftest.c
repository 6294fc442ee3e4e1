// Calls each guard with what it is there to stop: a guard that is not where it should be looks like one that is.
#include "internal.h"

#include <string.h>

typedef struct proof {
    const char *name, *script;
    sluice_outcome expected;
    /// With no bound on fuel, so that another bound has to stop it.
    bool is_fuel_free;
    /// What the error says, where the outcome alone could have another reason.
    const char *message;
} proof;

#define REFUSED(name, script) {name, script, SLUICE_FAILED_RUNTIME, false, NULL}
#define BLOCKED(name, script) {name, script, SLUICE_FAILED_BLOCKED, false, NULL}
#define TRUE(name, script) {name, "if not (" script ") then error('no') end", SLUICE_DONE, false, NULL}

static const proof proofs[] = {
    {"fuel", "while true do end", SLUICE_FAILED_FUEL, false, NULL},
    {"fuel in pcall", "while true do pcall(function() while true do end end) end", SLUICE_FAILED_FUEL, false, NULL},
    {"burst", "while true do end", SLUICE_FAILED_BURST, true, NULL},
    {"burst in pcall", "while true do pcall(function() while true do end end) end", SLUICE_FAILED_BURST, true, NULL},
    {"memory", "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(200000) .. i end", SLUICE_FAILED_MEMORY, true, NULL},
    {"memory in pcall",
     "local t = {} "
     "while true do pcall(function() for i = 1, 1e9 do t[#t + 1] = ('x'):rep(200000) .. i end end) end",
     SLUICE_FAILED_MEMORY, true, NULL},
    {"one string", "local s = 'x' while true do s = s .. s end", SLUICE_FAILED_MEMORY, false, NULL},
    {"result", "local t = {} t.t = t return t", SLUICE_FAILED_RESULT, false, "a cycle"},
    {"result function", "return { a = type }", SLUICE_FAILED_RESULT, false, NULL},
    {"bytecode", "\033Lua", SLUICE_FAILED_RUNTIME, false, "binary chunk"},

    {"string.rep", "return ('x'):rep(1e15)", SLUICE_FAILED_MEMORY, false, NULL},
    TRUE("string.rep of nothing", "(''):rep(1e15) == ''"),
    {"patterns", "return ('a'):rep(300):match('.-.-.-.-.-.-.-.-b')", SLUICE_FAILED_FUEL, false, NULL},
    {"plain find", "local s = ('a'):rep(200000) while true do s:find('b', 1, true) end", SLUICE_FAILED_FUEL, false,
     NULL},
    {"utf8", "local s = ('a'):rep(200000) while true do utf8.len(s) end", SLUICE_FAILED_FUEL, false, NULL},
    REFUSED("tonumber", "return tonumber(('1'):rep(300))"),
    REFUSED("arithmetic", "return ('1'):rep(300) + 1"),
    BLOCKED("addresses", "return ('%p'):format({})"),
    TRUE("tostring", "tostring({}) == 'table' and tostring(print) == 'function' and ('%s'):format({}) == 'table'"),

    REFUSED("table.move", "return table.move({}, 1, 1 << 40, 2)"),
    REFUSED("table.unpack", "return table.unpack({}, 1, 1e7)"),
    REFUSED("table.insert", "table.insert(setmetatable({}, { __len = function() return 1 << 40 end }), 1, 1)"),
    REFUSED("table.remove", "table.remove(setmetatable({}, { __len = function() return 1 << 40 end }), 1)"),
    REFUSED("table.concat", "table.concat(setmetatable({}, { __len = function() return 1 << 40 end }))"),
    REFUSED("table.sort", "table.sort(setmetatable({}, { __len = function() return 1 << 30 end }))"),
    REFUSED("comparator", "table.sort({ 1, 2 }, math.ult)"),

    BLOCKED("__gc", "setmetatable({}, { __gc = function() end })"),
    BLOCKED("__close", "setmetatable({}, { __close = function() end })"),
    BLOCKED("__mode", "setmetatable({}, { __mode = 'k' })"),
    BLOCKED("__metatable", "setmetatable({}, { __metatable = 1 })"),
    BLOCKED("__name", "setmetatable({}, { __name = 'x' })"),
    {"late __close",
     "local m = {} local t = setmetatable({}, m) m.__close = function() end local x <close> = t",
     SLUICE_FAILED_RUNTIME, false, NULL},

    BLOCKED("load", "load('return 1')"),
    BLOCKED("loadstring", "loadstring('return 1')"),
    BLOCKED("loadfile", "loadfile('x')"),
    BLOCKED("dofile", "dofile('x')"),
    BLOCKED("collectgarbage", "collectgarbage('stop')"),
    BLOCKED("rawset", "rawset(string, 'rep', nil)"),
    BLOCKED("rawget", "rawget({}, 1)"),
    BLOCKED("rawequal", "rawequal(1, 1)"),
    BLOCKED("rawlen", "rawlen({})"),
    BLOCKED("xpcall", "xpcall(type, type)"),
    BLOCKED("getmetatable", "getmetatable('').__index = nil"),
    BLOCKED("coroutine", "coroutine.create(type)"),
    BLOCKED("debug", "debug.getregistry()"),
    BLOCKED("io", "io.open('x')"),
    BLOCKED("os", "os.exit()"),
    BLOCKED("package", "package.loadlib('x', 'y')"),
    BLOCKED("string.dump", "string.dump(function() end)"),
    BLOCKED("string.pack", "string.pack('c1', '')"),
    BLOCKED("math.randomseed", "math.randomseed(1)"),

    REFUSED("libraries", "string.format = nil"),
    REFUSED("libraries through pairs", "local _, t = pairs(string) t.format = nil"),
    REFUSED("metatable of a library", "setmetatable(string, {})"),
    REFUSED("metatable of the globals", "setmetatable(_G, {})"),
    REFUSED("unknown global", "return no_such_global"),
    REFUSED("replaced global", "pcall = nil"),
    REFUSED("require", "require('../x')"),
};

static const proof frozen_proofs[] = {REFUSED("new global", "new_global = 1")};

static int enter_proof(lua_State *L) {
    const char *script = lua_touserdata(L, 1);
    lua_settop(L, 0);
    sb_load_chunk(L, "proof", script, strlen(script));
    lua_callk(L, 0, 1, 0, sb_finish_hook);
    return sb_finish_hook(L, LUA_OK, 0);
}

static bool holds(sluice_vm *vm, const proof *one) {
    sluice_budget budget = {
        .fuel = one->is_fuel_free ? 0 : 200000,
        .burst_nanoseconds = one->expected == SLUICE_FAILED_BURST ? 2000000 : 0,
        .cpu_nanoseconds = 100000000,
    };
    sluice_call *call = sb_call_new(vm, budget, 0);
    if (call == NULL) return false;
    if (call->coroutine != NULL) {
        lua_pushcfunction(call->coroutine, enter_proof);
        lua_pushlightuserdata(call->coroutine, (void *)one->script);
    }
    bool is_as_expected = sb_run(call, NULL, 1) == one->expected;
    if (is_as_expected && one->message != NULL) {
        const char *said = json_string_value(json_object_get(call->error, "message"));
        is_as_expected = said != NULL && strstr(said, one->message) != NULL;
    }
    sluice_call_end(call);
    return is_as_expected;
}

void *sluice_vm_self_test(sluice_vm *vm) {
    json_t *failed = json_array();
    vm->is_proving = true;
    for (size_t index = 0; index < sizeof proofs / sizeof *proofs; index++) {
        if (!holds(vm, &proofs[index])) json_array_append_new(failed, json_string(proofs[index].name));
    }
    if (vm->is_frozen && !holds(vm, &frozen_proofs[0])) {
        json_array_append_new(failed, json_string(frozen_proofs[0].name));
    }
    vm->is_proving = false;
    return failed;
}
