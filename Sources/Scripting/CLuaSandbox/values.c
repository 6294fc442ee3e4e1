// JSON values and Lua values, one as the other. Reading a script's value is raw: no metamethod runs, nothing allocates
// in the VM, nothing raises; depth, nodes, bytes and cycles are bounded.
#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Most levels of the host's values that a script is handed.
enum { deepest_push = 128 };

char sb_key_array, sb_key_object, sb_key_null;

/// Gives the table on top one of the two marks, so that it is known for what it is when it is empty.
void sb_set_mark(lua_State *L, char *mark) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, mark);
    lua_setmetatable(L, -2);
}

/// The text of a number that neither an integer nor a double holds exactly: the core keeps it as an object whose only
/// member has a zero byte for its name. NULL for everything else.
const json_t *sb_long_number(const json_t *value) {
    if (json_object_size(value) != 1) return NULL;
    const json_t *text = json_object_getn(value, "", 1);
    return json_is_string(text) ? text : NULL;
}

static void push(lua_State *L, const json_t *value, int depth) {
    const json_t *number = sb_long_number(value);
    if (number != NULL) value = number;
    switch (value == NULL ? JSON_NULL : json_typeof(value)) {
    case JSON_NULL:
        if (value == NULL) {
            lua_pushnil(L);
        } else {
            lua_pushlightuserdata(L, &sb_key_null);
        }
        return;
    case JSON_TRUE:
    case JSON_FALSE: lua_pushboolean(L, json_is_true(value)); return;
    case JSON_INTEGER: lua_pushinteger(L, json_integer_value(value)); return;
    case JSON_REAL: lua_pushnumber(L, json_real_value(value)); return;
    case JSON_STRING: lua_pushlstring(L, json_string_value(value), json_string_length(value)); return;
    case JSON_ARRAY:
    case JSON_OBJECT: break;
    }
    if (depth == deepest_push) sb_raise(L, SLUICE_FAILED_RUNTIME, "a value is nested over %d levels", deepest_push);
    luaL_checkstack(L, 4, "a value");
    if (json_is_array(value)) {
        size_t count = json_array_size(value);
        sb_charge(L, (int64_t)count);
        lua_createtable(L, (int)count, 0);
        for (size_t index = 0; index < count; index++) {
            push(L, json_array_get(value, index), depth + 1);
            lua_rawseti(L, -2, (lua_Integer)index + 1);
        }
        sb_set_mark(L, &sb_key_array);
        return;
    }
    sb_charge(L, (int64_t)json_object_size(value));
    lua_createtable(L, 0, (int)json_object_size(value));
    for (void *member = json_object_iter((json_t *)value); member != NULL;
         member = json_object_iter_next((json_t *)value, member)) {
        lua_pushlstring(L, json_object_iter_key(member), json_object_iter_key_len(member));
        push(L, json_object_iter_value(member), depth + 1);
        lua_rawset(L, -3);
    }
    sb_set_mark(L, &sb_key_object);
}

/// Leaves the value on the stack: a table is a copy. Raises when the memory or the fuel is not enough.
void sb_push_json(lua_State *L, const json_t *value) { push(L, value, 0); }

static json_t *refuse(sb_writer *writer, const char *why) {
    if (writer->why == NULL) writer->why = why;
    return NULL;
}

/// Counts one value more, with the bytes it takes outside of the VM.
static bool count(sb_writer *writer, size_t bytes) {
    sluice_vm *vm = writer->vm;
    writer->bytes += bytes + 32;
    if (++writer->nodes > vm->limits.result_nodes) return refuse(writer, "too many values") != NULL;
    size_t held = vm->current == NULL ? 0 : vm->current->json_bytes;
    size_t limit = sb_memory_limit(vm);
    if (writer->bytes <= limit && held <= limit - writer->bytes) return true;
    writer->kind = SLUICE_FAILED_MEMORY;
    return refuse(writer, "too many bytes") != NULL;
}

/// Counts a value that is shared, with all that is in it.
static bool measure(sb_writer *writer, const json_t *value, int depth) {
    if (!count(writer, json_is_string(value) ? json_string_length(value) : 0)) return false;
    bool is_object = json_is_object(value);
    if (!is_object && !json_is_array(value)) return true;
    if (depth >= writer->vm->limits.result_depth) return refuse(writer, "nested too deep") != NULL;
    if (!is_object) {
        for (size_t index = 0; index < json_array_size(value); index++) {
            if (!measure(writer, json_array_get(value, index), depth + 1)) return false;
        }
        return true;
    }
    for (void *member = json_object_iter((json_t *)value); member != NULL;
         member = json_object_iter_next((json_t *)value, member)) {
        writer->bytes += json_object_iter_key_len(member);
        if (!measure(writer, json_object_iter_value(member), depth + 1)) return false;
    }
    return true;
}

/// A copy whose containers are its own. Strings and numbers are shared: nobody changes those.
json_t *sb_copy(sb_writer *writer, const json_t *value, int depth) {
    const json_t *number = sb_long_number(value);
    if (number != NULL) return count(writer, 128) ? json_incref((json_t *)value) : NULL;
    bool is_object = json_is_object(value);
    if (!is_object && !json_is_array(value)) {
        return count(writer, json_is_string(value) ? json_string_length(value) : 0) ? json_incref((json_t *)value)
                                                                                     : NULL;
    }
    if (depth >= writer->vm->limits.result_depth) return refuse(writer, "nested too deep");
    if (!count(writer, 0)) return NULL;
    json_t *copy = is_object ? json_object() : json_array();
    bool is_whole = copy != NULL;
    if (is_object) {
        for (void *member = json_object_iter((json_t *)value); is_whole && member != NULL;
             member = json_object_iter_next((json_t *)value, member)) {
            json_t *inner = sb_copy(writer, json_object_iter_value(member), depth + 1);
            writer->bytes += json_object_iter_key_len(member);
            is_whole = inner != NULL
                && json_object_setn_new_nocheck(
                       copy, json_object_iter_key(member), json_object_iter_key_len(member), inner) == 0;
        }
    } else {
        for (size_t index = 0; is_whole && index < json_array_size(value); index++) {
            json_t *inner = sb_copy(writer, json_array_get(value, index), depth + 1);
            is_whole = inner != NULL && json_array_append_new(copy, inner) == 0;
        }
    }
    if (is_whole) return copy;
    json_decref(copy);
    return refuse(writer, "out of memory");
}

static int by_name(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/// The same object with its members by name: Lua's own order is another one in every VM.
json_t *sb_sorted(json_t *object) {
    size_t size = json_object_size(object), filled = 0;
    if (size < 2) return object;
    const char **names = malloc(size * sizeof *names);
    json_t *result = json_object();
    for (void *member = json_object_iter(object); names != NULL && member != NULL;
         member = json_object_iter_next(object, member)) {
        names[filled++] = json_object_iter_key(member);
    }
    if (names != NULL && result != NULL) {
        qsort(names, size, sizeof *names, by_name);
        for (size_t index = 0; index < size; index++) {
            if (json_object_set_nocheck(result, names[index], json_object_get(object, names[index])) == 0) continue;
            json_decref(result);
            result = NULL;
            break;
        }
    }
    bool is_whole = names != NULL && result != NULL;
    free(names);
    json_decref(object);
    if (is_whole) return result;
    json_decref(result);
    return NULL;
}

static json_t *write_array(sb_writer *writer, int table, lua_Integer length, int depth) {
    json_t *array = json_array();
    for (lua_Integer index = 1; array != NULL && index <= length; index++) {
        lua_rawgeti(writer->L, table, index);
        json_t *element = sb_write(writer, lua_gettop(writer->L), depth);
        lua_pop(writer->L, 1);
        if (element != NULL && json_array_append_new(array, element) == 0) continue;
        json_decref(array);
        array = NULL;
    }
    return array;
}

static json_t *write_object(sb_writer *writer, int table, int depth) {
    lua_State *L = writer->L;
    json_t *object = json_object();
    lua_pushnil(L);
    while (object != NULL && lua_next(L, table)) {
        size_t length;
        const char *name = lua_tolstring(L, -2, &length);
        json_t *member = NULL;
        if (memchr(name, 0, length) != NULL) {
            refuse(writer, "a zero byte in a key");
        } else {
            writer->bytes += length;
            member = sb_write(writer, lua_gettop(L), depth);
        }
        if (member != NULL && json_object_setn_new(object, name, length, member) == 0) {
            lua_pop(L, 1);
            continue;
        }
        // The value was good, so the key was not.
        if (member != NULL) refuse(writer, "a key that is not UTF-8");
        json_decref(object);
        object = NULL;
        lua_pop(L, 2);
    }
    return object == NULL ? NULL : sb_sorted(object);
}

/// Whether an empty table carries this mark.
static bool has_mark(lua_State *L, int table, char *mark) {
    if (!lua_getmetatable(L, table)) return false;
    lua_rawgetp(L, LUA_REGISTRYINDEX, mark);
    bool is_marked = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return is_marked;
}

/// The keys are 1 to n, or all strings: everything else is refused.
static json_t *write_table(sb_writer *writer, int table, int depth) {
    lua_State *L = writer->L;
    lua_Integer integers = 0, largest = 0, strings = 0;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING) {
            strings++;
        } else if (lua_isinteger(L, -1) && lua_tointeger(L, -1) > 0) {
            integers++;
            if (lua_tointeger(L, -1) > largest) largest = lua_tointeger(L, -1);
        } else {
            lua_pop(L, 1);
            return refuse(writer, "a key that is neither a string nor a whole number from 1");
        }
        if (integers + strings <= writer->vm->limits.result_nodes) continue;
        lua_pop(L, 1);
        return refuse(writer, "too many values");
    }
    if (integers > 0 && strings > 0) return refuse(writer, "keys of both kinds, numbers and strings");
    if (integers != largest) return refuse(writer, "an array with a hole");
    if (integers > 0) return write_array(writer, table, integers, depth);
    if (strings > 0) return write_object(writer, table, depth);
    if (has_mark(L, table, &sb_key_array)) return json_array();
    if (has_mark(L, table, &sb_key_object)) return json_object();
    return refuse(writer, "an empty table: json.array{} or json.object{} says which it is");
}

static json_t *write_container(sb_writer *writer, int index, int depth) {
    lua_State *L = writer->L;
    if (depth >= writer->vm->limits.result_depth) return refuse(writer, "nested too deep");
    // A table that was emptied is searched in full, and may stand in a value many times: no fuel sees that.
    if (!sb_may_go_on(writer->vm)) return refuse(writer, "the call is over");
    int base = lua_gettop(L);
    if (!lua_checkstack(L, 8)) return refuse(writer, "out of memory");
    // What is written is the table behind a read-only one.
    lua_pushvalue(L, index);
    if (sb_push_frozen(L, index)) lua_remove(L, -2);
    const void *identity = lua_topointer(L, -1);
    json_t *result = NULL;
    bool is_cyclic = false;
    for (int level = 0; level < depth; level++) is_cyclic |= writer->path[level] == identity;
    if (is_cyclic) {
        refuse(writer, "a cycle");
    } else {
        writer->path[depth] = identity;
        result = write_table(writer, base + 1, depth + 1);
    }
    lua_settop(L, base);
    return result;
}

/// A new JSON value, or NULL with the reason in `writer`. The index counts from the bottom.
json_t *sb_write(sb_writer *writer, int index, int depth) {
    lua_State *L = writer->L;
    size_t length;
    switch (lua_type(L, index)) {
    case LUA_TNIL: return count(writer, 0) ? json_null() : NULL;
    case LUA_TBOOLEAN: return count(writer, 0) ? json_boolean(lua_toboolean(L, index)) : NULL;
    case LUA_TNUMBER:
        if (!count(writer, 0)) return NULL;
        if (lua_isinteger(L, index)) return json_integer(lua_tointeger(L, index));
        if (!isfinite(lua_tonumber(L, index))) return refuse(writer, "a number that is not finite");
        return json_real(lua_tonumber(L, index));
    case LUA_TSTRING: {
        const char *bytes = lua_tolstring(L, index, &length);
        if (!count(writer, length)) return NULL;
        json_t *string = json_stringn(bytes, length);
        return string == NULL ? refuse(writer, "a string that is not UTF-8") : string;
    }
    case LUA_TLIGHTUSERDATA: return count(writer, 0) ? json_null() : NULL;
    case LUA_TTABLE: return count(writer, 0) ? write_container(writer, index, depth) : NULL;
    case LUA_TUSERDATA: {
        const sb_handle *handle = sb_to_handle(L, index);
        if (handle == NULL) return refuse(writer, "an object that is used after its call");
        json_t *value = sb_resolve(handle->cell);
        if (value == NULL) return refuse(writer, "an object whose member is gone");
        if (writer->mode != SB_SHARE) return sb_copy(writer, value, depth);
        return measure(writer, value, depth) ? json_incref(value) : NULL;
    }
    default: return refuse(writer, lua_typename(L, lua_type(L, index)));
    }
}

/// Adds what was written to what the call holds, and to what it has spent.
void sb_account(sluice_vm *vm, sb_writer *writer) {
    if (vm->current != NULL) vm->current->json_bytes += writer->bytes;
    sb_meter(vm, (int64_t)(writer->bytes / 32) + writer->nodes);
}

/// As sb_write, and raises what is wrong. `depth` is how many levels the value will be under.
json_t *sb_to_json(lua_State *L, int index, sb_mode mode, int depth) {
    sluice_vm *vm = sb_vm(L);
    sb_writer writer = {.vm = vm, .L = L, .mode = mode, .kind = SLUICE_FAILED_RESULT};
    json_t *value = sb_write(&writer, lua_absindex(L, index), depth);
    sb_account(vm, &writer);
    if (value != NULL) return value;
    sb_charge(L, 0);
    if (writer.kind == SLUICE_FAILED_MEMORY) {
        sb_trip(vm, SLUICE_FAILED_MEMORY);
        sb_charge(L, 0);
    }
    sb_raise(L, writer.kind, "not a JSON value: %s", writer.why == NULL ? "out of memory" : writer.why);
    return NULL;
}
