// Objects over JSON values: userdata that live as long as their call. What is written to is copied first, so the
// value that the host gave never changes.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/// The handle at the index, if it is one and its call runs.
sb_handle *sb_to_handle(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TUSERDATA) return NULL;
    sb_handle *handle = lua_touserdata(L, index);
    sluice_call *call = sb_vm(L)->current;
    if (handle->kind != SB_HANDLE || call == NULL || handle->serial != call->serial) return NULL;
    return handle;
}

sb_cell *sb_check_object(lua_State *L, int index) {
    const sb_handle *handle = sb_to_handle(L, index);
    if (handle != NULL) return handle->cell;
    if (lua_type(L, index) == LUA_TUSERDATA && *(sb_kind *)lua_touserdata(L, index) == SB_HANDLE) {
        sb_raise(L, SLUICE_FAILED_RUNTIME, "an object is used after its call");
    }
    sb_raise(L, SLUICE_FAILED_RUNTIME, "argument %d must be an object, is %s: is it called with ':'?", index,
             luaL_typename(L, index));
    return NULL;
}

const sb_class *sb_find_class(sluice_vm *vm, const char *name) {
    for (sb_class *type = vm->classes; type != NULL; type = type->next) {
        if (strcmp(type->name, name) == 0) return type;
    }
    return NULL;
}

void sb_free_classes(sluice_vm *vm) {
    while (vm->classes != NULL) {
        sb_class *type = vm->classes;
        vm->classes = type->next;
        free(type->name);
        free(type);
    }
}

static int out_of_memory(lua_State *L) {
    sb_trip(sb_vm(L), SLUICE_FAILED_MEMORY);
    return sb_kill(L);
}

static sb_cell *take_cell(sluice_vm *vm) {
    sb_cell *cell = vm->spare_cells;
    if (cell == NULL) return sb_block_new(vm, sizeof *cell);
    vm->spare_cells = cell->next;
    vm->spare_cell_count--;
    memset(cell, 0, sizeof *cell);
    return cell;
}

/// A cell of the running call. It takes the value over, also where it raises.
sb_cell *sb_cell_new(lua_State *L, const sb_class *type, json_t *value) {
    sluice_vm *vm = sb_vm(L);
    sb_cell *cell = take_cell(vm);
    if (cell == NULL) {
        json_decref(value);
        out_of_memory(L);
        return NULL;
    }
    cell->type = type;
    cell->value = value;
    cell->next = vm->current->cells;
    vm->current->cells = cell;
    vm->current->json_bytes += sizeof *cell;
    return cell;
}

void sb_free_cells(sluice_call *call) {
    sluice_vm *vm = call->vm;
    while (call->cells != NULL) {
        sb_cell *cell = call->cells;
        call->cells = cell->next;
        json_decref(cell->value);
        json_decref(cell->written);
        if (cell->parent != NULL) call->buckets[cell->bucket] = NULL;
        if (cell->name != cell->short_name) free(cell->name);
        if (vm->spare_cell_count == sb_spare_cells) {
            free(cell);
        } else {
            cell->next = vm->spare_cells;
            vm->spare_cells = cell;
            vm->spare_cell_count++;
        }
    }
}

void sb_free_spare_cells(sluice_vm *vm) {
    while (vm->spare_cells != NULL) {
        sb_cell *cell = vm->spare_cells;
        vm->spare_cells = cell->next;
        free(cell);
    }
}

/// Makes the value of what was only read and set by member so far. NULL if there is no memory for it.
static json_t *take_whole(sb_cell *cell) {
    json_t *whole = cell->reader->whole(cell->reader->context);
    if (whole == NULL || (cell->written != NULL && json_object_update(whole, cell->written) != 0)) {
        json_decref(whole);
        return NULL;
    }
    json_decref(cell->written);
    cell->written = NULL;
    cell->reader = NULL;
    cell->is_own = true;
    return cell->value = whole;
}

/// The JSON value that a cell stands for; NULL when the member it was is gone.
json_t *sb_resolve(sb_cell *cell) {
    if (cell->parent == NULL) return cell->reader == NULL ? cell->value : take_whole(cell);
    json_t *parent = sb_resolve(cell->parent);
    json_t *value = parent == NULL ? NULL : json_object_getn(parent, cell->name, cell->name_length);
    return json_is_object(value) || json_is_array(value) ? value : NULL;
}

static json_t *shallow_copy(lua_State *L, json_t *value) {
    sluice_vm *vm = sb_vm(L);
    size_t size = json_is_object(value) ? json_object_size(value) : json_array_size(value);
    vm->current->json_bytes += size * 64;
    sb_charge(L, (int64_t)size);
    json_t *copy = json_copy(value);
    if (copy != NULL) return copy;
    out_of_memory(L);
    return NULL;
}

/// The value to write to. A container that someone else holds too is copied; one that only this tree holds is not.
json_t *sb_own(lua_State *L, sb_cell *cell) {
    cell->is_changed = true;
    if (cell->parent == NULL) {
        if (sb_resolve(cell) == NULL) out_of_memory(L);
        if (cell->is_own) return cell->value;
        json_t *copy = shallow_copy(L, cell->value);
        json_decref(cell->value);
        cell->value = copy;
        cell->is_own = true;
        return copy;
    }
    json_t *parent = sb_own(L, cell->parent);
    json_t *value = sb_resolve(cell);
    if (value == NULL) sb_raise(L, SLUICE_FAILED_RUNTIME, "the member '%s' is no object any more", cell->name);
    if (value->refcount == 1) return value;
    json_t *copy = shallow_copy(L, value);
    if (json_object_setn_new_nocheck(parent, cell->name, cell->name_length, copy) == 0) return copy;
    out_of_memory(L);
    return NULL;
}

/// A new handle.
void sb_push_object(lua_State *L, sb_cell *cell) {
    sb_handle *handle = lua_newuserdatauv(L, sizeof *handle, 0);
    handle->kind = SB_HANDLE;
    handle->serial = sb_vm(L)->current->serial;
    handle->cell = cell;
    lua_rawgetp(L, LUA_REGISTRYINDEX, cell->type);
    lua_setmetatable(L, -2);
}

static size_t find_bucket(lua_State *L, const sb_cell *parent, const char *name, size_t length) {
    sluice_call *call = sb_vm(L)->current;
    if (call->buckets == NULL) call->buckets = sb_block_new(call->vm, sb_buckets * sizeof *call->buckets);
    if (call->buckets == NULL) out_of_memory(L);
    size_t hash = (size_t)parent / sizeof *parent;
    for (size_t index = 0; index < length && index < 32; index++) hash = hash * 31 + (unsigned char)name[index];
    return hash % sb_buckets;
}

/// child(object, name, class): an object over a member. Writing to it writes to the parent's copy.
int sb_child(lua_State *L) {
    sb_cell *parent = sb_check_object(L, 1);
    size_t length;
    const char *name = sb_check_string(L, 2, &length);
    const sb_class *type = sb_find_class(sb_vm(L), sb_check_string(L, 3, NULL));
    if (type == NULL) return sb_raise(L, SLUICE_FAILED_RUNTIME, "no class '%s'", lua_tostring(L, 3));
    json_t *holder = sb_resolve(parent);
    json_t *value = json_is_object(holder) ? json_object_getn(holder, name, length) : NULL;
    if (!json_is_object(value) && !json_is_array(value)) {
        sb_push_json(L, value);
        return 1;
    }
    if (parent->depth == sb_path_depth) {
        return sb_raise(L, SLUICE_FAILED_RESULT, "objects are nested over %d levels", sb_path_depth);
    }
    size_t bucket = find_bucket(L, parent, name, length);
    sb_cell *cell = sb_vm(L)->current->buckets[bucket];
    while (cell != NULL
           && (cell->parent != parent || cell->type != type || cell->name_length != length
               || memcmp(cell->name, name, length) != 0)) {
        cell = cell->beside;
        sb_charge(L, 1);
    }
    if (cell == NULL) {
        cell = sb_cell_new(L, type, NULL);
        cell->name = length < sizeof cell->short_name ? cell->short_name : sb_block_new(sb_vm(L), length + 1);
        if (cell->name == NULL) return out_of_memory(L);
        memcpy(cell->name, name, length);
        cell->name_length = length;
        cell->parent = parent;
        cell->depth = parent->depth + 1;
        cell->bucket = bucket;
        cell->beside = sb_vm(L)->current->buckets[bucket];
        sb_vm(L)->current->buckets[bucket] = cell;
        sb_vm(L)->current->json_bytes += length;
    }
    sb_push_object(L, cell);
    return 1;
}

/// copy(object, class): an object of its own over the same value. What is written to one is not in the other.
int sb_copy_object(lua_State *L) {
    sb_cell *from = sb_check_object(L, 1);
    const sb_class *type = sb_find_class(sb_vm(L), sb_check_string(L, 2, NULL));
    if (type == NULL) return sb_raise(L, SLUICE_FAILED_RUNTIME, "no class '%s'", lua_tostring(L, 2));
    json_t *value = sb_resolve(from);
    if (value == NULL) return sb_raise(L, SLUICE_FAILED_RUNTIME, "the member '%s' is no object any more", from->name);
    sb_cell *cell = sb_cell_new(L, type, json_incref(value));
    cell->origin = from;
    sb_push_object(L, cell);
    return 1;
}

/// overtaken(object): the name of what it is a copy of, where another copy of that was written to and this one was not;
/// else nil.
int sb_overtaken(lua_State *L) {
    sb_cell *cell = sb_check_object(L, 1);
    lua_pushnil(L);
    if (cell->origin == NULL || cell->is_changed) return 1;
    for (sb_cell *other = sb_vm(L)->current->cells; other != NULL; other = other->next) {
        sb_charge(L, 1);
        if (other->origin == cell->origin && other->is_changed) {
            lua_pushstring(L, cell->origin->name);
            return 1;
        }
    }
    return 1;
}
