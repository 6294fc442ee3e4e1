// What the host's prelude builds its objects from: a table, the prelude's first argument. Plugins never see it.
#include "internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// The price of a call of the host, in fuel, without what its arguments cost.
enum { host_call_fuel = 100 };

/// Pushes a value that the call holds for the moment, and lets go of it.
static void push_held(lua_State *L) {
    sluice_call *call = sb_vm(L)->current;
    sb_push_json(L, call->held);
    json_decref(call->held);
    call->held = NULL;
}

static int host_refuses(lua_State *L, sluice_host_answer answer, const json_t *message) {
    const char *text = json_string_value(message);
    sluice_outcome kind = answer == SLUICE_HOST_DENIED ? SLUICE_FAILED_PERMISSION : SLUICE_FAILED_RUNTIME;
    return sb_raise(L, kind, "%s", text == NULL ? "the host refused" : text);
}

/// `context` is the class of the object that the answer becomes, or 0 for a value.
static int after_wait(lua_State *L, int status, lua_KContext context) {
    (void)status;
    sluice_call *call = sb_vm(L)->current;
    json_t *value = (json_t *)call->answer_value;
    if (call->answer != SLUICE_HOST_VALUE) return host_refuses(L, call->answer, value);
    if (context == 0) {
        sb_push_json(L, value);
    } else {
        sb_push_object(L, sb_cell_new(L, (const sb_class *)context, json_incref(value)));
    }
    return 1;
}

/// Calls the host. What is only shown is never refused; all else has to be a JSON value. Where the host has the script
/// wait, the answer is an object of the class `type`, if there is one.
static int call_host(lua_State *L, bool is_shown, const sb_class *type) {
    sluice_vm *vm = sb_vm(L);
    sluice_call *call = vm->current;
    const char *function = sb_check_string(L, 1, NULL);
    int count = lua_gettop(L);
    sb_charge(L, host_call_fuel);
    json_t *arguments = json_array();
    // Held by the call, so that an argument that cannot be said in JSON does not leak the others.
    json_decref(call->held);
    call->held = arguments;
    for (int index = 2; index <= count; index++) {
        json_t *argument = is_shown ? sb_show(L, index) : sb_to_json(L, index, SB_SHARE, 0);
        if (json_array_append_new(arguments, argument) == 0) continue;
        sb_trip(vm, SLUICE_FAILED_MEMORY);
        return sb_kill(L);
    }
    sb_charge(L, 0);
    void *result = NULL;
    call->held = NULL;
    sluice_host_answer answer = vm->host.call == NULL
        ? SLUICE_HOST_DENIED
        : vm->host.call(vm->host.context, call->id, function, arguments, &result);
    json_decref(arguments);
    call->held = result;
    // The host may have charged for what it did.
    sb_charge(L, 0);
    switch (answer) {
    case SLUICE_HOST_VALUE: push_held(L); return 1;
    case SLUICE_HOST_WAIT:
        if (!sluice_vm_may_wait(vm)) {
            const char *why = call->budget.may_wait ? "it is called inside a callback of gsub or sort"
                                                    : "this hook may not wait";
            return sb_raise(L, SLUICE_FAILED_YIELD, "cannot wait for '%s': %s", function, why);
        }
        call->is_waiting = true;
        return lua_yieldk(L, 0, (lua_KContext)type, after_wait);
    default: return host_refuses(L, answer, result);
    }
}

/// host(function, ...): calls the host, and waits where it says so.
static int primitive_host(lua_State *L) { return call_host(L, false, NULL); }

/// ask(class, function, ...): the same, for a document that the script waits for: it is seen as an object, and what is in
/// it stays as it is.
static int primitive_ask(lua_State *L) {
    const sb_class *type = sb_find_class(sb_vm(L), sb_check_string(L, 1, NULL));
    if (type == NULL) return sb_raise(L, SLUICE_FAILED_RUNTIME, "no class '%s'", lua_tostring(L, 1));
    lua_remove(L, 1);
    return call_host(L, false, type);
}

/// tell(function, ...): the same, with arguments of any kind: what JSON cannot say is said in words.
static int primitive_tell(lua_State *L) { return call_host(L, true, NULL); }

bool sluice_vm_charge(sluice_vm *vm, int64_t fuel) {
    sb_meter(vm, fuel);
    sb_look_at_clock(vm);
    return vm->current == NULL || vm->current->latch == SLUICE_DONE;
}

bool sluice_vm_may_wait(const sluice_vm *vm) {
    return vm->current != NULL && vm->current->budget.may_wait && lua_isyieldable(vm->current->coroutine);
}

/// fail(kind, message): an error that the host is told the kind of.
static int primitive_fail(lua_State *L) {
    static const struct {
        const char *name;
        sluice_outcome outcome;
    } kinds[] = {
        {"result", SLUICE_FAILED_RESULT},         {"yield", SLUICE_FAILED_YIELD},
        {"blocked", SLUICE_FAILED_BLOCKED},       {"permission", SLUICE_FAILED_PERMISSION},
        {"cancelled", SLUICE_FAILED_CANCELLED},
    };
    const char *name = sb_check_string(L, 1, NULL), *message = sb_check_text(L, 2, NULL);
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
        if (strcmp(kinds[index].name, name) == 0) return sb_raise(L, kinds[index].outcome, "%s", message);
    }
    return sb_raise(L, SLUICE_FAILED_RUNTIME, "%s", message);
}

/// json_encode(value): compact text, members by name where a script's table had them.
static int primitive_json_encode(lua_State *L) {
    sluice_vm *vm = sb_vm(L);
    luaL_checkany(L, 1);
    json_t *value = vm->current->held = sb_to_json(L, 1, SB_SHARE, 0);
    sb_push_dump(L, value);
    json_decref(value);
    vm->current->held = NULL;
    return 1;
}

/// json_decode(text): the value; nil and a message if it is no JSON.
static int primitive_json_decode(lua_State *L) {
    sluice_vm *vm = sb_vm(L);
    size_t length;
    const char *text = sb_check_string(L, 1, &length);
    sb_charge(L, (int64_t)(length / 4));
    json_error_t error;
    json_t *value = vm->current->held =
        json_loadb(text, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (value == NULL) {
        lua_pushnil(L);
        lua_pushfstring(L, "line %d: %s", error.line, error.text);
        return 2;
    }
    push_held(L);
    return 1;
}

/// array(table): known as an array, also when it is empty.
static int primitive_array(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (!sb_push_frozen(L, 1)) sb_set_mark(L, &sb_key_array);
    lua_settop(L, 1);
    return 1;
}

/// object(table): known as an object, also when it is empty. object(class, table or object): an object of this call.
static int primitive_object(lua_State *L) {
    lua_settop(L, 2);
    if (lua_type(L, 1) == LUA_TTABLE) {
        lua_settop(L, 1);
        if (!sb_push_frozen(L, 1)) sb_set_mark(L, &sb_key_object);
        lua_settop(L, 1);
        return 1;
    }
    const char *name = sb_check_string(L, 1, NULL);
    const sb_class *type = sb_find_class(sb_vm(L), name);
    if (type == NULL) return sb_raise(L, SLUICE_FAILED_RUNTIME, "no class '%s'", name);
    json_t *value;
    sb_handle *handle = sb_to_handle(L, 2);
    if (handle == NULL && lua_type(L, 2) == LUA_TTABLE) {
        // An empty table is an object here, whatever else it might be.
        lua_pushnil(L);
        if (lua_next(L, 2)) {
            lua_pop(L, 2);
            value = sb_to_json(L, 2, SB_COPY, 0);
        } else {
            value = type->is_headers ? json_array() : json_object();
        }
    } else {
        value = sb_to_json(L, 2, SB_COPY, 0);
    }
    if (!json_is_object(value) && !json_is_array(value)) {
        json_decref(value);
        return sb_raise(L, SLUICE_FAILED_RUNTIME, "a '%s' is made from a table", name);
    }
    sb_cell *cell = sb_cell_new(L, type, value);
    cell->is_own = true;
    sb_push_object(L, cell);
    return 1;
}

/// type_of(value): the class of an object, else nil.
static int primitive_type_of(lua_State *L) {
    const sb_handle *handle = sb_to_handle(L, 1);
    if (handle == NULL) {
        lua_pushnil(L);
    } else {
        lua_pushstring(L, handle->cell->type->name);
    }
    return 1;
}

/// trim(text): without the spaces of %s at both ends. The pattern that says so takes the square of a text's spaces.
static int primitive_trim(lua_State *L) {
    size_t length, from = 0;
    const char *text = sb_check_string(L, 1, &length);
    sb_charge(L, 1 + (int64_t)(length / 16));
    while (from < length && isspace((unsigned char)text[from])) from++;
    while (length > from && isspace((unsigned char)text[length - 1])) length--;
    lua_pushlstring(L, text + from, length - from);
    return 1;
}

/// fuel_left(): what the call may still spend.
static int primitive_fuel_left(lua_State *L) {
    lua_pushinteger(L, sb_vm(L)->current->fuel_left);
    return 1;
}

void sb_push_primitives(lua_State *L) {
    static const luaL_Reg primitives[] = {
        {"class", sb_class_define},
        {"get", sb_get},
        {"set", sb_set},
        {"names", sb_names},
        {"to_table", sb_to_table},
        {"value_of", sb_to_table},
        {"raw", sb_raw},
        {"is_changed", sb_is_changed},
        {"is_number", sb_is_number},
        {"object", primitive_object},
        {"child", sb_child},
        {"copy", sb_copy_object},
        {"overtaken", sb_overtaken},
        {"type_of", primitive_type_of},
        {"host", primitive_host},
        {"tell", primitive_tell},
        {"ask", primitive_ask},
        {"json_encode", primitive_json_encode},
        {"json_decode", primitive_json_decode},
        {"array", primitive_array},
        {"fail", primitive_fail},
        {"fuel_left", primitive_fuel_left},
        {"trim", primitive_trim},
        {"freeze", sb_freeze},
        {NULL, NULL},
    };
    luaL_newlib(L, primitives);
    lua_pushlightuserdata(L, &sb_key_null);
    lua_setfield(L, -2, "null");
}
