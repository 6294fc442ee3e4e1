// Calls: a coroutine for each, from a list of those that ended well. Everything that is pushed for a call is pushed
// inside of the coroutine's run, where an error has a landing.
#include "internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

char sb_key_threads, sb_key_hooks;

/// Says it in debug builds when an entry left something on the main stack, or took something off.
void sb_check_balance(sluice_vm *vm) {
    if (lua_gettop(vm->L) != vm->top) vm->is_unbalanced = true;
    assert(!vm->is_unbalanced);
}

static int make_coroutine(lua_State *L) {
    lua_State **made = lua_touserdata(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sb_key_threads);
    lua_State *coroutine = lua_newthread(L);
    lua_rawsetp(L, -2, coroutine);
    *made = coroutine;
    return 0;
}

static lua_State *take_coroutine(sluice_vm *vm) {
    if (vm->idle_count > 0) return vm->idle[--vm->idle_count];
    lua_State *coroutine = NULL;
    lua_pushcfunction(vm->L, make_coroutine);
    lua_pushlightuserdata(vm->L, &coroutine);
    if (lua_pcall(vm->L, 1, 0, 0) == LUA_OK) return coroutine;
    lua_pop(vm->L, 1);
    return NULL;
}

/// One that failed is never used again: an error in a hook leaves its hooks off, and what is to be closed in it would
/// run scripts. The collector takes it.
static void give_back_coroutine(sluice_vm *vm, lua_State *coroutine, bool is_clean) {
    if (is_clean && vm->idle_count < sb_idle_coroutines) {
        lua_settop(coroutine, 0);
        vm->idle[vm->idle_count++] = coroutine;
        return;
    }
    lua_sethook(coroutine, NULL, 0, 0);
    // Neither allocates: the key is there already.
    lua_rawgetp(vm->L, LUA_REGISTRYINDEX, &sb_key_threads);
    lua_pushnil(vm->L);
    lua_rawsetp(vm->L, -2, coroutine);
    lua_pop(vm->L, 1);
}

sluice_call *sb_call_new(sluice_vm *vm, sluice_budget budget, uint64_t id) {
    sluice_call *call = vm->spare;
    if (call != NULL) {
        vm->spare = call->next;
        sb_cell **buckets = call->buckets;
        memset(call, 0, sizeof *call);
        call->buckets = buckets;
    } else {
        call = sb_block_new(vm, sizeof *call);
        if (call == NULL) return NULL;
    }
    call->vm = vm;
    call->serial = ++vm->serial;
    call->id = id;
    call->budget = budget;
    call->fuel_left = budget.fuel > 0 ? budget.fuel : INT64_MAX;
    call->coroutine = take_coroutine(vm);
    return call;
}

/// Runs a stretch of the call, up to its end or its next wait.
sluice_outcome sb_run(sluice_call *call, lua_CFunction entry, int arguments) {
    sluice_vm *vm = call->vm;
    if (call->coroutine == NULL) {
        call->outcome = SLUICE_FAILED_MEMORY;
        call->error = sb_message("out of memory", "", 0);
        vm->kills++;
        return call->outcome;
    }
    int results = 0;
    vm->current = call;
    vm->raised = SLUICE_FAILED_RUNTIME;
    vm->is_string_refused = vm->is_table_refused = false;
    call->is_waiting = false;
    if (entry != NULL) lua_pushcfunction(call->coroutine, entry);
    sb_stretch_begin(call);
    int status = lua_resume(call->coroutine, NULL, arguments, &results);
    sb_stretch_end(call);
    json_decref(call->held);
    call->held = NULL;
    if (status == LUA_YIELD && call->latch == SLUICE_DONE && call->is_waiting) {
        lua_pop(call->coroutine, results);
        call->outcome = SLUICE_WAITS;
    } else if (status == LUA_OK && call->latch == SLUICE_DONE) {
        call->outcome = SLUICE_DONE;
    } else {
        call->error = sb_failure(call, call->coroutine, status, &call->outcome);
        json_decref(call->result);
        call->result = NULL;
        call->result_cell = NULL;
    }
    vm->current = NULL;
    if (call->outcome != SLUICE_WAITS) {
        give_back_coroutine(vm, call->coroutine, call->outcome == SLUICE_DONE);
        call->coroutine = NULL;
    }
    if (call->latch != SLUICE_DONE) sb_settle(vm, true);
    sb_check_balance(vm);
    return call->outcome;
}

/// Refuses a function as the result, by its name where it is one of those that scripts are given.
static int refuse_function(lua_State *L) {
    int function = lua_gettop(L);
    luaL_checkstack(L, 12, "result");
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sb_key_public);
    lua_rawgeti(L, -1, 1);
    int public = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, public)) {
        int library = lua_gettop(L);
        if (lua_type(L, library - 1) == LUA_TSTRING && sb_push_frozen(L, library)) {
            lua_pushnil(L);
            while (lua_next(L, library + 1)) {
                if (lua_rawequal(L, -1, function) && lua_type(L, -2) == LUA_TSTRING) {
                    return sb_raise(
                        L, SLUICE_FAILED_RESULT, "it returned a function: call it, %s.%s()",
                        lua_tostring(L, library - 1), lua_tostring(L, -2));
                }
                lua_pop(L, 1);
            }
        }
        lua_settop(L, library - 1);
    }
    return sb_raise(L, SLUICE_FAILED_RESULT, "it returned a function, which is no answer");
}

/// Takes the value on top as the call's result.
int sb_finish_hook(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    sluice_call *call = sb_vm(L)->current;
    sb_charge(L, 0);
    if (lua_isnil(L, -1)) return 0;
    if (lua_type(L, -1) == LUA_TFUNCTION) return refuse_function(L);
    const sb_handle *handle = sb_to_handle(L, -1);
    if (handle != NULL && (handle->cell->reader != NULL || sb_resolve(handle->cell) != NULL)) {
        call->result_cell = handle->cell;
        call->result_class = handle->cell->type->name;
        return 0;
    }
    if (lua_istable(L, -1)) {
        lua_pushliteral(L, "record");
        lua_rawget(L, -2);
        call->holds_object = sb_to_handle(L, -1) != NULL;
        lua_pop(L, 1);
    }
    call->result = sb_to_json(L, -1, SB_SHARE, 0);
    sb_charge(L, 0);
    return 0;
}

/// A hook is called with the same classes again and again.
static const sb_class *find_class(sluice_vm *vm, size_t index, const char *name) {
    if (index >= sizeof vm->recent / sizeof *vm->recent) return sb_find_class(vm, name);
    const sb_class *recent = vm->recent[index];
    if (recent != NULL && strcmp(recent->name, name) == 0) return recent;
    return vm->recent[index] = sb_find_class(vm, name);
}

static int enter_hook(lua_State *L) {
    sluice_vm *vm = sb_vm(L);
    sluice_call *call = vm->current;
    const sluice_argument *arguments = call->arguments;
    call->arguments = NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &sb_key_hooks);
    lua_pushstring(L, call->hook);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    if (lua_type(L, -1) != LUA_TFUNCTION) {
        return sb_raise(L, SLUICE_FAILED_RUNTIME, "the plugin has no hook '%s'", call->hook);
    }
    luaL_checkstack(L, (int)call->count + 8, "arguments");
    // The first stays where it is: a hook that ends in a tail call leaves nothing else that says where it stands.
    lua_pushvalue(L, -1);
    for (size_t index = 0; index < call->count; index++) {
        json_t *value = (json_t *)arguments[index].value;
        const sluice_reader *reader = arguments[index].reader;
        if (arguments[index].class_name == NULL || (value == NULL && reader == NULL)) {
            sb_push_json(L, value);
            continue;
        }
        const sb_class *type = find_class(vm, index, arguments[index].class_name);
        if (type == NULL) {
            return sb_raise(L, SLUICE_FAILED_RUNTIME, "the prelude has no class '%s'", arguments[index].class_name);
        }
        call->roots[index] = sb_cell_new(L, type, json_incref(value));
        call->roots[index]->reader = reader;
        sb_push_object(L, call->roots[index]);
    }
    lua_callk(L, (int)call->count, 1, 0, sb_finish_hook);
    return sb_finish_hook(L, LUA_OK, 0);
}

sluice_outcome sluice_vm_call(
    sluice_vm *vm, const char *hook, const sluice_argument *arguments, size_t count, sluice_budget budget,
    uint64_t id, sluice_call **result) {
    sluice_call *call = *result = sb_call_new(vm, budget, id);
    if (call == NULL) return SLUICE_FAILED_MEMORY;
    call->hook = hook;
    call->count = count;
    bool is_few = count <= sizeof call->few_roots / sizeof *call->few_roots;
    call->roots = is_few ? call->few_roots : sb_block_new(vm, count * sizeof *call->roots);
    if (call->roots == NULL) {
        call->count = 0;
        if (call->coroutine != NULL) give_back_coroutine(vm, call->coroutine, true);
        call->coroutine = NULL;
    }
    for (size_t index = 0; index < count; index++) sb_give_value(call, arguments[index].value, 0);
    // Borrowed until the script has its handles, and no longer.
    call->arguments = arguments;
    return sb_run(call, enter_hook, 0);
}

sluice_outcome sluice_call_resume(sluice_call *call, sluice_host_answer answer, const void *value) {
    if (call->outcome != SLUICE_WAITS) return call->outcome;
    call->answer = answer;
    call->answer_value = value;
    sb_run(call, NULL, 0);
    call->answer_value = NULL;
    return call->outcome;
}

void *sluice_call_result(const sluice_call *call, const char **class_name) {
    if (class_name != NULL) *class_name = call->result_class;
    return json_incref(call->result_cell == NULL ? call->result : sb_resolve(call->result_cell));
}

bool sluice_call_returned_object(const sluice_call *call) { return call->holds_object; }

const void *sluice_call_argument(const sluice_call *call, size_t index, bool *is_changed) {
    sb_cell *cell = index < call->count ? call->roots[index] : NULL;
    if (is_changed != NULL) *is_changed = cell != NULL && cell->is_changed;
    return cell == NULL ? NULL : sb_resolve(cell);
}

bool sluice_call_has_set_only(const sluice_call *call, size_t index, const void **members) {
    const sb_cell *cell = index < call->count ? call->roots[index] : NULL;
    if (cell == NULL || cell->reader == NULL || call->outcome != SLUICE_DONE || call->result != NULL) return false;
    if (call->result_cell != NULL && call->result_cell != cell) return false;
    for (size_t other = 0; other < call->count; other++) {
        if (other != index && call->roots[other] != NULL && call->roots[other]->is_changed) return false;
    }
    *members = cell->written;
    return true;
}

void *sluice_call_error(const sluice_call *call) { return json_incref(call->error); }

int64_t sluice_call_fuel_used(const sluice_call *call) {
    int64_t allowed = call->budget.fuel > 0 ? call->budget.fuel : INT64_MAX;
    return call->fuel_left < 0 ? allowed : allowed - call->fuel_left;
}

int64_t sluice_call_cpu_nanoseconds(const sluice_call *call) { return call->cpu_used; }

void sluice_call_end(sluice_call *call) {
    if (call == NULL) return;
    sluice_vm *vm = call->vm;
    if (call->coroutine != NULL) give_back_coroutine(vm, call->coroutine, false);
    sb_free_cells(call);
    json_decref(call->held);
    json_decref(call->result);
    json_decref(call->error);
    if (call->roots != call->few_roots) free(call->roots);
    call->next = vm->spare;
    vm->spare = call;
    sb_settle(vm, false);
    sb_check_balance(vm);
}
