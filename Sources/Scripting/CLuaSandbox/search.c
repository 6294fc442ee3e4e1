// string.find, match, gmatch and gsub, over the matcher of this target.
#define _GNU_SOURCE  // memmem
#include "pattern.h"

#include <ctype.h>
#include <string.h>

/// What capture `index` holds, or the whole match where there are no captures: leaves it on the stack.
static void push_capture(sb_match *match, int index, const char *from, const char *to) {
    lua_State *L = match->L;
    if (index >= match->level) {
        if (index != 0) luaL_error(L, "invalid capture index %%%d", index + 1);
        lua_pushlstring(L, from, (size_t)(to - from));
        return;
    }
    ptrdiff_t length = match->captures[index].length;
    if (length == sb_capture_open) luaL_error(L, "unfinished capture");
    if (length == sb_capture_place) {
        lua_pushinteger(L, match->captures[index].start - match->begin + 1);
    } else {
        lua_pushlstring(L, match->captures[index].start, (size_t)length);
    }
}

/// All captures; the whole match where there are none, unless the caller has no use for it.
static int push_captures(sb_match *match, const char *from, const char *to) {
    int count = match->level == 0 && from != NULL ? 1 : match->level;
    luaL_checkstack(match->L, count, "too many captures");
    for (int index = 0; index < count; index++) push_capture(match, index, from, to);
    return count;
}

static sb_match new_match(lua_State *L, const char *text, size_t length) {
    return (sb_match){.L = L, .begin = text, .end = text + length};
}

/// The offset that argument `index` asks for, which may be one after the end and further.
static size_t check_start(lua_State *L, int index, size_t length) {
    lua_Integer start = sb_opt_integer(L, index, 1);
    if (start > 0) return (size_t)start - 1;
    if (start == 0 || start < -(lua_Integer)length) return 0;
    return length + (size_t)start;
}

static bool is_plain(const char *pattern, size_t length) {
    for (size_t index = 0; index < length; index++) {
        if (pattern[index] != 0 && strchr("^$*+?.([%-", pattern[index]) != NULL) return false;
    }
    return true;
}

static int find_plain(lua_State *L, const char *text, size_t length, const char *wanted, size_t size, size_t start) {
    const char *found = memmem(text + start, length - start, wanted, size);
    // A search of the system's, whose time is linear in what it went over.
    sb_charge(L, 1 + (int64_t)((found == NULL ? length - start : (size_t)(found - text) - start) + size) / 16);
    if (found == NULL) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushinteger(L, found - text + 1);
    lua_pushinteger(L, found - text + (lua_Integer)size);
    return 2;
}

static int search(lua_State *L, bool is_find) {
    size_t length, size;
    const char *text = sb_check_text(L, 1, &length), *wanted = sb_check_text(L, 2, &size);
    size_t start = check_start(L, 3, length);
    sb_charge(L, 2);
    if (start > length) {
        lua_pushnil(L);
        return 1;
    }
    if (is_find && (lua_toboolean(L, 4) || is_plain(wanted, size))) {
        return find_plain(L, text, length, wanted, size, start);
    }
    sb_match match = new_match(L, text, length);
    const sb_pattern *pattern = sb_pattern_read(L, 2, true);
    for (const char *at = text + start; at <= match.end; at++) {
        const char *end = sb_match_at(&match, pattern, at);
        if (end == NULL && pattern->is_anchored) break;
        if (end == NULL) continue;
        sb_match_pay(&match);
        if (!is_find) return push_captures(&match, at, end);
        lua_pushinteger(L, at - text + 1);
        lua_pushinteger(L, end - text);
        return push_captures(&match, NULL, NULL) + 2;
    }
    sb_match_pay(&match);
    lua_pushnil(L);
    return 1;
}

static int string_find(lua_State *L) { return search(L, true); }
static int string_match(lua_State *L) { return search(L, false); }

// Upvalues of the iterator that gmatch gives.
enum { up_text = 1, up_pattern, up_start, up_last };

static int next_match(lua_State *L) {
    size_t length;
    const char *text = lua_tolstring(L, lua_upvalueindex(up_text), &length);
    const sb_pattern *pattern = lua_touserdata(L, lua_upvalueindex(up_pattern));
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(up_last));
    sb_match match = new_match(L, text, length);
    sb_charge(L, 2);
    for (lua_Integer start = lua_tointeger(L, lua_upvalueindex(up_start)); start <= (lua_Integer)length; start++) {
        const char *end = sb_match_at(&match, pattern, text + start);
        // An empty match right after the last one is none.
        if (end == NULL || end - text == last) continue;
        sb_match_pay(&match);
        lua_pushinteger(L, end - text);
        lua_pushvalue(L, -1);
        lua_replace(L, lua_upvalueindex(up_start));
        lua_replace(L, lua_upvalueindex(up_last));
        return push_captures(&match, text + start, end);
    }
    sb_match_pay(&match);
    return 0;
}

static int string_gmatch(lua_State *L) {
    size_t length;
    sb_check_text(L, 1, &length);
    sb_check_text(L, 2, NULL);
    size_t start = check_start(L, 3, length);
    sb_charge(L, 2);
    lua_settop(L, 2);
    sb_pattern_read(L, 2, false);
    lua_replace(L, 2);
    lua_pushinteger(L, (lua_Integer)(start > length ? length + 1 : start));
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, next_match, 4);
    return 1;
}

/// A text that grows to the result of gsub, within the limit of one string.
typedef struct output {
    luaL_Buffer buffer;
    size_t size;
} output;

static void append(sb_match *match, output *to, const char *bytes, size_t count) {
    to->size += count;
    sb_check_result(match->L, to->size);
    luaL_addlstring(&to->buffer, bytes, count);
}

/// Adds the value on top, a string or a number.
static void append_value(sb_match *match, output *to) {
    size_t length;
    lua_tolstring(match->L, -1, &length);
    to->size += length;
    sb_check_result(match->L, to->size);
    luaL_addvalue(&to->buffer);
}

/// Adds the replacement text with its %0 to %9 filled in.
static void append_replacement(sb_match *match, output *to, const char *from, const char *end) {
    size_t length;
    const char *text = lua_tolstring(match->L, 3, &length), *stop = text + length, *sign;
    sb_charge(match->L, 1 + (int64_t)(length / 16));
    while ((sign = memchr(text, '%', (size_t)(stop - text))) != NULL) {
        append(match, to, text, (size_t)(sign - text));
        unsigned char kind = (unsigned char)sign[1];  // the string's closing zero, where nothing follows
        if (kind == '%') {
            append(match, to, "%", 1);
        } else if (kind == '0') {
            append(match, to, from, (size_t)(end - from));
        } else if (isdigit(kind)) {
            push_capture(match, kind - '1', from, end);
            append_value(match, to);
        } else {
            luaL_error(match->L, "invalid use of '%%' in replacement string");
        }
        text = sign + 2;
    }
    append(match, to, text, (size_t)(stop - text));
}

/// Adds what takes the place of a match; false where the match stays.
static bool append_change(sb_match *match, output *to, const char *from, const char *end, int kind) {
    lua_State *L = match->L;
    if (kind == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        lua_call(L, push_captures(match, from, end), 1);
    } else if (kind == LUA_TTABLE) {
        push_capture(match, 0, from, end);
        lua_gettable(L, 3);
    } else {
        append_replacement(match, to, from, end);
        return true;
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        append(match, to, from, (size_t)(end - from));
        return false;
    }
    if (!lua_isstring(L, -1)) luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    append_value(match, to);
    return true;
}

static int string_gsub(lua_State *L) {
    size_t length;
    const char *text = sb_check_text(L, 1, &length);
    sb_check_text(L, 2, NULL);
    int kind = lua_type(L, 3);
    bool is_good = kind == LUA_TNUMBER || kind == LUA_TSTRING || kind == LUA_TTABLE || kind == LUA_TFUNCTION;
    luaL_argexpected(L, is_good, 3, "string/function/table");
    lua_Integer most = sb_opt_integer(L, 4, (lua_Integer)length + 1), count = 0;
    sb_charge(L, 4);
    lua_settop(L, 3);
    const sb_pattern *pattern = sb_pattern_read(L, 2, true);
    sb_match match = new_match(L, text, length);
    const char *at = text, *last = NULL;
    bool is_changed = false;
    output to = {.size = 0};
    luaL_buffinit(L, &to.buffer);
    while (count < most) {
        const char *end = sb_match_at(&match, pattern, at);
        if (end != NULL && end != last) {
            count++;
            sb_match_pay(&match);
            is_changed |= append_change(&match, &to, at, end, kind);
            at = last = end;
        } else if (at < match.end) {
            append(&match, &to, at++, 1);
        } else {
            break;
        }
        if (pattern->is_anchored) break;
    }
    sb_match_pay(&match);
    if (is_changed) {
        append(&match, &to, at, (size_t)(match.end - at));
        luaL_pushresult(&to.buffer);
    } else {
        lua_pushvalue(L, 1);
    }
    lua_pushinteger(L, count);
    return 2;
}

/// Puts the four into the library's table.
void sb_add_patterns(lua_State *L, int table) {
    static const luaL_Reg own[] = {
        {"find", string_find}, {"match", string_match}, {"gmatch", string_gmatch}, {"gsub", string_gsub}, {NULL, NULL},
    };
    lua_pushvalue(L, table);
    luaL_setfuncs(L, own, 0);
    lua_pop(L, 1);
}
