// The class of header fields: an array of [name, value] in the order they were written. Names are the same in upper
// and lower case. What could break out of a header line is refused.
#include "internal.h"

#include <string.h>
#include <strings.h>

static json_t *fields(lua_State *L) {
    json_t *value = sb_resolve(sb_check_object(L, 1));
    if (json_is_array(value)) return value;
    sb_raise(L, SLUICE_FAILED_RUNTIME, "the headers are gone");
    return NULL;
}

static const char *part(const json_t *field, size_t index) {
    const char *text = json_string_value(json_array_get(field, index));
    return text == NULL ? "" : text;
}

static bool is_named(const json_t *field, const char *name) { return strcasecmp(part(field, 0), name) == 0; }

/// Whether a byte may be part of a name (RFC 9110, section 5.1: a token).
static bool is_token(unsigned char byte) {
    static const uint64_t allowed[2] = {0x03ff6cfa00000000, 0x57ffffffc7fffffe};
    return byte < 128 && (allowed[byte / 64] >> (byte % 64) & 1) != 0;
}

static const char *check_name(lua_State *L) {
    size_t length;
    const char *name = sb_check_text(L, 2, &length);
    bool is_good = length > 0;
    for (size_t index = 0; index < length; index++) is_good &= is_token((unsigned char)name[index]);
    if (!is_good) sb_raise(L, SLUICE_FAILED_RUNTIME, "not a header name");
    return name;
}

/// A value without the bytes that end a line.
static const char *check_value(lua_State *L, size_t *length) {
    const char *value = sb_check_text(L, 3, length);
    if (memchr(value, 0, *length) != NULL || memchr(value, '\r', *length) != NULL
        || memchr(value, '\n', *length) != NULL) {
        sb_raise(L, SLUICE_FAILED_RUNTIME, "a header value has a line break or a zero byte in it");
    }
    return value;
}

/// get(name): the first value, or nil.
static int headers_get(lua_State *L) {
    json_t *all = fields(L);
    const char *name = check_name(L);
    sb_charge(L, (int64_t)json_array_size(all));
    for (size_t index = 0; index < json_array_size(all); index++) {
        json_t *field = json_array_get(all, index);
        if (!is_named(field, name)) continue;
        sb_push_json(L, json_array_get(field, 1));
        return 1;
    }
    lua_pushnil(L);
    return 1;
}

/// get_all(name): every value, in order.
static int headers_get_all(lua_State *L) {
    json_t *all = fields(L);
    const char *name = check_name(L);
    lua_Integer found = 0;
    sb_charge(L, (int64_t)json_array_size(all));
    lua_newtable(L);
    for (size_t index = 0; index < json_array_size(all); index++) {
        json_t *field = json_array_get(all, index);
        if (!is_named(field, name)) continue;
        sb_push_json(L, json_array_get(field, 1));
        lua_rawseti(L, -2, ++found);
    }
    sb_set_mark(L, &sb_key_array);
    return 1;
}

static void check_writable(lua_State *L, const sb_cell *cell) {
    if (!cell->type->is_writable) sb_raise(L, SLUICE_FAILED_RUNTIME, "these headers are read-only");
}

static size_t remove_from(json_t *all, const char *name, size_t from) {
    size_t removed = 0;
    for (size_t index = json_array_size(all); index-- > from;) {
        if (is_named(json_array_get(all, index), name) && json_array_remove(all, index) == 0) removed++;
    }
    return removed;
}

static json_t *new_field(lua_State *L, const char *name, const char *value, size_t length) {
    sluice_vm *vm = sb_vm(L);
    vm->current->json_bytes += strlen(name) + length + 128;
    sb_charge(L, 4 + (int64_t)(length / 32));
    if (vm->current->json_bytes <= sb_memory_limit(vm)) {
        json_t *text = json_stringn(value, length);
        if (text == NULL) sb_raise(L, SLUICE_FAILED_RUNTIME, "a header value is not UTF-8");
        json_t *field = json_pack("[s, o]", name, text);
        if (field != NULL) return field;
    }
    sb_trip(vm, SLUICE_FAILED_MEMORY);
    sb_kill(L);
    return NULL;
}

static int out_of_memory(lua_State *L) {
    sb_trip(sb_vm(L), SLUICE_FAILED_MEMORY);
    return sb_kill(L);
}

/// set(name, value): in the place of the first of that name, and the only one then; nil removes.
static int headers_set(lua_State *L) {
    sb_cell *cell = sb_check_object(L, 1);
    json_t *all = fields(L);
    const char *name = check_name(L);
    check_writable(L, cell);
    size_t count = json_array_size(all), first = 0, length;
    sb_charge(L, (int64_t)count);
    while (first < count && !is_named(json_array_get(all, first), name)) first++;
    if (lua_isnoneornil(L, 3)) {
        if (first < count) remove_from(sb_own(L, cell), name, first);
        return 0;
    }
    const char *value = check_value(L, &length);
    all = sb_own(L, cell);
    json_t *field = new_field(L, name, value, length);
    if (first == count) return json_array_append_new(all, field) == 0 ? 0 : out_of_memory(L);
    json_array_set_new(all, first, field);
    remove_from(all, name, first + 1);
    return 0;
}

/// add(name, value): one more, after those there are.
static int headers_add(lua_State *L) {
    sb_cell *cell = sb_check_object(L, 1);
    size_t length;
    fields(L);
    const char *name = check_name(L);
    check_writable(L, cell);
    const char *value = check_value(L, &length);
    json_t *all = sb_own(L, cell);
    return json_array_append_new(all, new_field(L, name, value, length)) == 0 ? 0 : out_of_memory(L);
}

/// remove(name): how many there were.
static int headers_remove(lua_State *L) {
    sb_cell *cell = sb_check_object(L, 1);
    json_t *all = fields(L);
    const char *name = check_name(L);
    check_writable(L, cell);
    sb_charge(L, (int64_t)json_array_size(all));
    size_t index = 0;
    while (index < json_array_size(all) && !is_named(json_array_get(all, index), name)) index++;
    size_t removed = index == json_array_size(all) ? 0 : remove_from(sb_own(L, cell), name, index);
    lua_pushinteger(L, (lua_Integer)removed);
    return 1;
}

static int next_field(lua_State *L) {
    lua_Integer index = lua_tointeger(L, lua_upvalueindex(2)) + 1;
    lua_pushinteger(L, index);
    lua_replace(L, lua_upvalueindex(2));
    if (lua_rawgeti(L, lua_upvalueindex(1), index) != LUA_TTABLE) return 1;
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    return 2;
}

/// pairs(): names and values as they are now; what is changed on the way does not matter.
static int headers_pairs(lua_State *L) {
    sb_push_json(L, fields(L));
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_field, 2);
    return 1;
}

/// Defines the class `headers`, and `readonly_headers`, which can only be read.
void sb_open_headers(lua_State *L) {
    static const luaL_Reg methods[] = {
        {"get", headers_get},       {"get_all", headers_get_all}, {"set", headers_set},      {"add", headers_add},
        {"remove", headers_remove}, {"pairs", headers_pairs},     {"to_table", sb_to_table}, {NULL, NULL},
    };
    for (int is_writable = 0; is_writable < 2; is_writable++) {
        lua_pushcfunction(L, sb_class_define);
        lua_pushstring(L, is_writable ? "headers" : "readonly_headers");
        lua_newtable(L);
        luaL_newlib(L, methods);
        lua_setfield(L, -2, "methods");
        lua_pushboolean(L, is_writable);
        lua_setfield(L, -2, "writable");
        lua_call(L, 2, 0);
        sb_vm(L)->classes->is_headers = true;
    }
}
