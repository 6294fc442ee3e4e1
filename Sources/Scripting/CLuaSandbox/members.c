// The members of an object: what its class defines first, then the JSON value's own.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

// Upvalues of a class's metamethods.
enum { up_methods = 1, up_getters, up_writable, up_readonly, up_class };

static json_t *resolve(lua_State *L, sb_cell *cell) {
    json_t *value = sb_resolve(cell);
    if (value == NULL) {
        sb_raise(L, SLUICE_FAILED_RUNTIME, "the member '%s' is no object any more", cell->name == NULL ? "" : cell->name);
    }
    return value;
}

/// The JSON value of a member, by a name or, in an array, by a number. NULL when there is none.
static const json_t *member(lua_State *L, const json_t *value, int key) {
    size_t length;
    if (lua_type(L, key) == LUA_TSTRING) {
        const char *name = lua_tolstring(L, key, &length);
        return json_is_object(value) ? json_object_getn(value, name, length) : NULL;
    }
    if (!json_is_array(value) || !lua_isinteger(L, key) || lua_tointeger(L, key) < 1) return NULL;
    return json_array_get(value, (size_t)lua_tointeger(L, key) - 1);
}

/// Leaves the member on the stack. The first few of an object with a reader are looked for where they stand; a script that
/// goes on reading is better off with the whole.
static void push_member(lua_State *L, sb_cell *cell, int key) {
    if (cell->reader == NULL || cell->reads == sb_most_reads || lua_type(L, key) != LUA_TSTRING) {
        sb_push_json(L, member(L, resolve(L, cell), key));
        return;
    }
    size_t length;
    const char *name = lua_tolstring(L, key, &length);
    cell->reads++;
    const json_t *written = json_object_getn(cell->written, name, length);
    if (written != NULL) {
        sb_push_json(L, written);
        return;
    }
    sluice_member found = cell->reader->member(cell->reader->context, name, length);
    switch (found.kind) {
    case SLUICE_MEMBER_ABSENT: lua_pushnil(L); return;
    case SLUICE_MEMBER_NULL: lua_pushlightuserdata(L, &sb_key_null); return;
    case SLUICE_MEMBER_BOOLEAN: lua_pushboolean(L, found.boolean); return;
    case SLUICE_MEMBER_INTEGER: lua_pushinteger(L, found.integer); return;
    case SLUICE_MEMBER_REAL: lua_pushnumber(L, found.real); return;
    case SLUICE_MEMBER_TEXT:
        sb_give(sb_vm(L)->current, found.length);
        lua_pushlstring(L, found.text, found.length);
        return;
    case SLUICE_MEMBER_VALUE: break;
    }
    sluice_call *call = sb_vm(L)->current;
    call->held = found.value;
    sb_push_json(L, call->held);
    json_decref(call->held);
    call->held = NULL;
}

/// get(object, name): the JSON value's own member; a container is a copy.
int sb_get(lua_State *L) {
    push_member(L, sb_check_object(L, 1), 2);
    return 1;
}

/// The object of what is set beside a reader.
static json_t *own_written(lua_State *L, sb_cell *cell) {
    cell->is_changed = true;
    if (cell->written == NULL) cell->written = json_object();
    sb_vm(L)->current->json_bytes += 128;
    return cell->written;
}

static int write_member(lua_State *L, sb_cell *cell) {
    sluice_vm *vm = sb_vm(L);
    size_t length;
    bool is_name = lua_type(L, 2) == LUA_TSTRING;
    const char *name = is_name ? lua_tolstring(L, 2, &length) : NULL;
    json_t *old = cell->reader == NULL ? resolve(L, cell) : NULL;
    size_t size = json_array_size(old);
    lua_Integer position = lua_isinteger(L, 2) ? lua_tointeger(L, 2) : 0;
    bool is_position = json_is_array(old) && position >= 1 && (lua_Unsigned)position <= size + 1;
    if (json_is_array(old) ? !is_position : !is_name) {
        return sb_raise(L, SLUICE_FAILED_RUNTIME, "no such place to write to in a '%s'", cell->type->name);
    }
    if (is_name && memchr(name, 0, length) != NULL) {
        return sb_raise(L, SLUICE_FAILED_RESULT, "not a JSON value: a zero byte in a key");
    }
    json_t *value = NULL;
    if (!lua_isnoneornil(L, 3)) {
        // Held by the call until it has its place, in case that making room for it fails.
        value = vm->current->held = sb_to_json(L, 3, SB_COPY, cell->depth + 1);
    }
    json_t *holder = value != NULL && cell->reader != NULL ? own_written(L, cell) : sb_own(L, cell);
    bool is_written = true;
    if (is_name) {
        if (value == NULL) {
            json_object_deln(holder, name, length);
        } else {
            is_written = json_object_setn(holder, name, length, value) == 0;
        }
    } else if (value == NULL) {
        is_written = (lua_Unsigned)position == size && json_array_remove(holder, size - 1) == 0;
    } else if ((lua_Unsigned)position <= size) {
        is_written = json_array_set(holder, (size_t)position - 1, value) == 0;
    } else {
        is_written = json_array_append(holder, value) == 0;
    }
    json_decref(value);
    vm->current->held = NULL;
    if (is_written) return 0;
    return sb_raise(L, SLUICE_FAILED_RESULT, "not a JSON value: a key that is not UTF-8, or a hole in an array");
}

/// set(object, name, value): no class is asked; nil removes.
int sb_set(lua_State *L) { return write_member(L, sb_check_object(L, 1)); }

/// names(object): a table of the members' names in the order of the JSON text.
int sb_names(lua_State *L) {
    json_t *value = resolve(L, sb_check_object(L, 1));
    lua_createtable(L, (int)json_object_size(value), 0);
    if (!json_is_object(value)) return 1;
    lua_Integer index = 0;
    sb_charge(L, (int64_t)json_object_size(value));
    for (void *found = json_object_iter(value); found != NULL; found = json_object_iter_next(value, found)) {
        lua_pushlstring(L, json_object_iter_key(found), json_object_iter_key_len(found));
        lua_rawseti(L, -2, ++index);
    }
    sb_set_mark(L, &sb_key_array);
    return 1;
}

/// to_table(object), value_of(object): a copy as a plain table.
int sb_to_table(lua_State *L) {
    sb_push_json(L, resolve(L, sb_check_object(L, 1)));
    return 1;
}

/// raw(object, name): a number as its text; anything else as get has it.
int sb_raw(lua_State *L) {
    const json_t *value = member(L, resolve(L, sb_check_object(L, 1)), 2);
    if (!json_is_number(value)) {
        sb_push_json(L, value);
        return 1;
    }
    char text[64];
    size_t length = json_dumpb(value, text, sizeof text, JSON_ENCODE_ANY);
    lua_pushlstring(L, text, length < sizeof text ? length : sizeof text);
    return 1;
}

/// is_number(object, name): whether the member is a number, also where it is read as a text.
int sb_is_number(lua_State *L) {
    const json_t *value = member(L, resolve(L, sb_check_object(L, 1)), 2);
    lua_pushboolean(L, json_is_number(value) || sb_long_number(value) != NULL);
    return 1;
}

int sb_is_changed(lua_State *L) {
    lua_pushboolean(L, sb_check_object(L, 1)->is_changed);
    return 1;
}

static int give_back(lua_State *L, int status, lua_KContext context) {
    (void)L;
    (void)status;
    (void)context;
    return 1;
}

static int object_index(lua_State *L) {
    sb_cell *cell = sb_check_object(L, 1);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(up_methods)) != LUA_TNIL) return 1;
    lua_pop(L, 1);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(up_getters)) != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_callk(L, 1, 1, 0, give_back);
        return give_back(L, LUA_OK, 0);
    }
    push_member(L, cell, 2);
    return 1;
}

static bool is_listed(lua_State *L, int upvalue) {
    lua_pushvalue(L, 2);
    bool is_in = lua_rawget(L, lua_upvalueindex(upvalue)) != LUA_TNIL;
    lua_pop(L, 1);
    return is_in;
}

static int object_newindex(lua_State *L) {
    const sb_class *type = lua_touserdata(L, lua_upvalueindex(up_class));
    sb_cell *cell = sb_check_object(L, 1);
    bool may = type->is_writable && !type->is_headers && !(type->has_writable_names && !is_listed(L, up_writable))
        && !(type->has_readonly_names && is_listed(L, up_readonly)) && !is_listed(L, up_methods)
        && !is_listed(L, up_getters);
    if (may) return write_member(L, cell);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    return sb_raise(L, SLUICE_FAILED_RUNTIME, "'%s' of a '%s' is read-only", name, type->name);
}

static int object_length(lua_State *L) {
    json_t *value = resolve(L, sb_check_object(L, 1));
    lua_pushinteger(L, (lua_Integer)(json_is_array(value) ? json_array_size(value) : json_object_size(value)));
    return 1;
}

static int object_equal(lua_State *L) {
    const sb_handle *left = sb_to_handle(L, 1), *right = sb_to_handle(L, 2);
    lua_pushboolean(L, left != NULL && right != NULL && left->cell == right->cell);
    return 1;
}

/// The names in the array at `index` of the stack as the keys of a new table; an empty one when there is none.
static bool push_names(lua_State *L, int table, const char *field) {
    lua_newtable(L);
    bool is_list = lua_getfield(L, table, field) == LUA_TTABLE;
    for (lua_Integer index = 1; is_list && lua_rawgeti(L, -1, index) == LUA_TSTRING; index++) {
        lua_pushboolean(L, 1);
        lua_rawset(L, -4);
    }
    lua_settop(L, lua_gettop(L) - (is_list ? 2 : 1));
    return is_list;
}

static void push_field(lua_State *L, int table, const char *field) {
    if (lua_getfield(L, table, field) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_newtable(L);
}

/// class(name, {methods=, getters=, writable=, readonly=, call=}): defines a class; its name is what it is known by.
int sb_class_define(lua_State *L) {
    sluice_vm *vm = sb_vm(L);
    const char *name = sb_check_string(L, 1, NULL);
    luaL_checktype(L, 2, LUA_TTABLE);
    if (vm->is_frozen || sb_find_class(vm, name) != NULL) {
        return sb_raise(L, SLUICE_FAILED_RUNTIME, "class '%s' cannot be defined", name);
    }
    sb_class *type = sb_block_new(vm, sizeof *type);
    if (type == NULL) return luaL_error(L, "not enough memory");
    // In the list at once: whatever fails from here on, the VM frees it.
    type->next = vm->classes;
    type->name = strdup(name);
    if (type->name == NULL) {
        free(type);
        return luaL_error(L, "not enough memory");
    }
    vm->classes = type;
    lua_settop(L, 2);
    lua_createtable(L, 0, 5);
    // What Lua's own messages call an object: "attempt to call a rec value".
    lua_pushvalue(L, 1);
    lua_setfield(L, 3, "__name");
    push_field(L, 2, "methods");
    push_field(L, 2, "getters");
    type->has_writable_names = push_names(L, 2, "writable");
    type->has_readonly_names = push_names(L, 2, "readonly");
    type->is_writable = lua_getfield(L, 2, "writable") != LUA_TNIL && lua_toboolean(L, -1);
    lua_pop(L, 1);
    lua_pushlightuserdata(L, type);
    for (int copy = 0; copy < 5; copy++) lua_pushvalue(L, 4 + copy);
    lua_pushcclosure(L, object_index, 5);
    lua_setfield(L, 3, "__index");
    lua_pushcclosure(L, object_newindex, 5);
    lua_setfield(L, 3, "__newindex");
    lua_pushcfunction(L, object_length);
    lua_setfield(L, 3, "__len");
    lua_pushcfunction(L, object_equal);
    lua_setfield(L, 3, "__eq");
    lua_settop(L, 3);
    if (lua_getfield(L, 2, "call") == LUA_TFUNCTION) {
        lua_setfield(L, 3, "__call");
    }
    lua_settop(L, 3);
    lua_rawsetp(L, LUA_REGISTRYINDEX, type);
    lua_pushvalue(L, 1);
    return 1;
}
