// A VM from its making to its end, and the loading of a plugin into it.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sluice_limits sluice_limits_default(void) {
    return (sluice_limits){
        .memory_bytes = 8 << 20,
        .string_bytes = 256 << 10,
        .source_bytes = 256 << 10,
        .result_depth = 32,
        .result_nodes = 10000,
        .is_deterministic = false,
    };
}

/// How much memory one key of a table takes, which is Lua's own affair, as seen from what it asks for.
static void measure_slot(lua_State *L) {
    enum { slots = 256 };
    sluice_vm *vm = sb_vm(L);
    size_t start = vm->live;
    lua_createtable(L, 0, 0);
    size_t empty = vm->live - start;
    lua_createtable(L, 0, slots);
    vm->slot_bytes = (vm->live - start - 2 * empty) / slots;
    lua_pop(L, 2);
}

/// Registry tables, the marks of empty containers, the guarded libraries and the classes that C gives.
static int set_up(lua_State *L) {
    measure_slot(L);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &sb_key_threads);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &sb_key_hooks);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &sb_key_array);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &sb_key_object);
    sb_open_environment(L);
    sb_open_headers(L);
    // Nothing of Lua's own libraries can be reached any more, but through the guards.
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    return 0;
}

sluice_vm *sluice_vm_new(sluice_limits limits, sluice_host host, uint64_t fail_at) {
    sluice_vm *vm = calloc(1, sizeof *vm);
    if (vm == NULL) return NULL;
    if (limits.result_depth > sb_path_depth) limits.result_depth = sb_path_depth;
    vm->limits = limits;
    vm->host = host;
    vm->fail_at = fail_at;
    vm->L = lua_newstate(sb_allocate, vm);
    if (vm->L == NULL) {
        free(vm);
        return NULL;
    }
    *(sluice_vm **)lua_getextraspace(vm->L) = vm;
    lua_pushcfunction(vm->L, set_up);
    if (lua_pcall(vm->L, 0, 0, 0) != LUA_OK) {
        sluice_vm_free(vm);
        return NULL;
    }
    vm->top = lua_gettop(vm->L);
    return vm;
}

void sluice_vm_free(sluice_vm *vm) {
    if (vm == NULL) return;
    lua_close(vm->L);
    while (vm->spare != NULL) {
        sluice_call *call = vm->spare;
        vm->spare = call->next;
        free(call->buckets);
        free(call);
    }
    sb_free_spare_cells(vm);
    sb_free_classes(vm);
    json_decref(vm->profile);
    free(vm);
}

typedef struct loading {
    sluice_source prelude;
    const sluice_source *sources;
    size_t count;
    const json_t *environment;
    sluice_budget budget;
    json_t *names;
} loading;

/// The text named "main", or else the first.
static const sluice_source *find_main(const loading *load) {
    for (size_t index = 0; index < load->count; index++) {
        if (strcmp(load->sources[index].name, "main") == 0) return &load->sources[index];
    }
    return &load->sources[0];
}

/// What messages call a text.
static const char *title(const sluice_source *source) { return source->file == NULL ? source->name : source->file; }

static int by_text(const void *left, const void *right) {
    return strcmp(
        json_string_value(*(json_t *const *)left), json_string_value(*(json_t *const *)right));
}

/// Puts names in their order: Lua's own is another one in every VM.
static void sort(json_t *names) {
    size_t count = json_array_size(names);
    json_t **list = malloc((count + 1) * sizeof *list);
    if (list == NULL) return;
    for (size_t index = 0; index < count; index++) list[index] = json_incref(json_array_get(names, index));
    qsort(list, count, sizeof *list, by_text);
    for (size_t index = 0; index < count; index++) json_array_set_new(names, index, list[index]);
    free(list);
}

/// Takes the functions that `main` has returned.
static int finish_load(lua_State *L, int status, lua_KContext context) {
    (void)status;
    loading *load = (loading *)context;
    sb_charge(L, 0);
    if (lua_type(L, -1) != LUA_TTABLE) {
        return sb_raise(L, SLUICE_FAILED_RUNTIME, "'%s' must return a table of its hooks, such as { request = request }",
                        title(find_main(load)));
    }
    int table = lua_gettop(L);
    if (sb_push_frozen(L, table)) lua_replace(L, table);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sb_key_hooks);
    lua_pushnil(L);
    while (lua_next(L, table)) {
        sb_charge(L, 1);
        size_t length = 0;
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &length) : NULL;
        if (name == NULL || memchr(name, 0, length) != NULL || lua_type(L, -1) != LUA_TFUNCTION) {
            return sb_raise(L, SLUICE_FAILED_RUNTIME, "'%s' must return a table of functions by name: '%s' is a %s",
                            title(find_main(load)), name == NULL ? "?" : name, luaL_typename(L, -1));
        }
        json_t *text = json_stringn(name, length);
        if (text == NULL || json_array_append_new(load->names, text) != 0) {
            return sb_raise(L, SLUICE_FAILED_RUNTIME, "a hook's name is not UTF-8");
        }
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, -5);
        lua_pop(L, 1);
    }
    return 0;
}

static int finish_prelude(lua_State *L, int status, lua_KContext context) {
    (void)status;
    loading *load = (loading *)context;
    sluice_vm *vm = sb_vm(L);
    sb_charge(L, 0);
    if (lua_type(L, -1) == LUA_TTABLE) sb_add_globals(L, lua_gettop(L));
    lua_settop(L, 0);
    if (load->count == 0) return sb_raise(L, SLUICE_FAILED_RUNTIME, "the plugin has no text");
    // What the prelude has cost is the host's affair: the budget, however small, is all for the plugin's text.
    vm->current->budget = load->budget;
    vm->current->fuel_left = load->budget.fuel > 0 ? load->budget.fuel : INT64_MAX;
    sb_stretch_begin(vm->current);
    vm->sources = load->sources;
    vm->source_count = load->count;
    // All are known by name, so that one that is required too late is told from one that is not there.
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sb_key_modules);
    for (size_t index = 0; index < load->count; index++) {
        lua_pushstring(L, load->sources[index].name);
        lua_pushlightuserdata(L, &sb_key_environment);
        lua_rawset(L, 1);
    }
    lua_settop(L, 0);
    const sluice_source *main = find_main(load);
    sb_load_chunk(L, title(main), main->text, main->length);
    lua_pushstring(L, main->name);
    lua_callk(L, 1, 1, context, finish_load);
    return finish_load(L, LUA_OK, context);
}

static int enter_load(lua_State *L) {
    loading *load = lua_touserdata(L, 1);
    lua_settop(L, 0);
    lua_KContext context = (lua_KContext)load;
    if (load->prelude.text == NULL) {
        lua_pushnil(L);
        return finish_prelude(L, LUA_OK, context);
    }
    sb_load_chunk(L, load->prelude.name, load->prelude.text, load->prelude.length);
    sb_push_primitives(L);
    sb_push_json(L, load->environment);
    lua_callk(L, 2, 1, context, finish_prelude);
    return finish_prelude(L, LUA_OK, context);
}

sluice_outcome sluice_vm_load(
    sluice_vm *vm, sluice_source prelude, const sluice_source *sources, size_t count, const void *environment,
    sluice_budget budget, void **hooks, void **message) {
    loading load = {
        .prelude = prelude, .sources = sources, .count = count, .environment = environment, .budget = budget,
        .names = json_array()};
    *hooks = *message = NULL;
    snprintf(vm->prelude_name, sizeof vm->prelude_name, "%s", prelude.text == NULL ? "" : prelude.name);
    load.budget.may_wait = false;
    sluice_call *call = sb_call_new(vm, prelude.text == NULL ? load.budget : (sluice_budget){0}, 0);
    if (call == NULL) {
        json_decref(load.names);
        *message = sb_message("out of memory", "", 0);
        return SLUICE_FAILED_MEMORY;
    }
    if (call->coroutine != NULL) {
        lua_pushcfunction(call->coroutine, enter_load);
        lua_pushlightuserdata(call->coroutine, &load);
    }
    sluice_outcome outcome = sb_run(call, NULL, 1);
    vm->sources = NULL;
    vm->source_count = 0;
    vm->is_frozen = true;
    if (outcome == SLUICE_DONE) {
        sort(load.names);
        *hooks = load.names;
    } else {
        json_decref(load.names);
        *message = sluice_call_error(call);
    }
    sluice_call_end(call);
    return outcome;
}

size_t sluice_vm_memory(const sluice_vm *vm) { return vm->live; }
size_t sluice_vm_peak_memory(const sluice_vm *vm) { return vm->peak; }
uint64_t sluice_vm_allocations(const sluice_vm *vm) { return vm->allocations; }
int sluice_vm_kills(const sluice_vm *vm) { return vm->kills; }
bool sluice_vm_is_balanced(const sluice_vm *vm) { return !vm->is_unbalanced && lua_gettop(vm->L) == vm->top; }
