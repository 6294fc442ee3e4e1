// Errors: how they are raised inside, and what of them reaches the host. A message never has an address in it, and no
// metamethod is asked what an error object is called.
#include "internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a kill raises; no script ever holds it.
static char kill_mark;

/// The place of the hook that a call began with: of one that has ended in a tail call nothing else is left.
static bool find_hook(lua_State *L, const lua_Debug *entry, char file[LUA_IDSIZE], int *line) {
    // The frame that entered the hook has its function as its first value.
    if (lua_getlocal(L, entry, 1) == NULL) return false;
    if (lua_type(L, -1) != LUA_TFUNCTION || lua_iscfunction(L, -1)) {
        lua_pop(L, 1);
        return false;
    }
    lua_Debug hook;
    lua_getinfo(L, ">S", &hook);
    if (strcmp(hook.short_src, sb_vm(L)->prelude_name) == 0) return false;
    memcpy(file, hook.short_src, LUA_IDSIZE);
    *line = hook.linedefined;
    return true;
}

/// The innermost line of the plugin's own files; else the line where the hook is defined.
bool sb_find_line(lua_State *L, char file[LUA_IDSIZE], int *line) {
    sluice_vm *vm = sb_vm(L);
    lua_Debug activation, entry;
    int level = 0;
    for (; level <= 64 && lua_getstack(L, level, &activation); level++) {
        entry = activation;
        if (!lua_getinfo(L, "Sl", &activation) || activation.currentline <= 0) continue;
        if (strcmp(activation.short_src, vm->prelude_name) == 0) continue;
        memcpy(file, activation.short_src, LUA_IDSIZE);
        *line = activation.currentline;
        return true;
    }
    if (level > 0 && find_hook(L, &entry, file, line)) return true;
    file[0] = 0;
    *line = 0;
    return false;
}

/// Raises an error of a kind that the host is told.
int sb_raise(lua_State *L, sluice_outcome kind, const char *format, ...) {
    char text[512], file[LUA_IDSIZE];
    int line;
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    luaL_checkstack(L, 4, "error");
    if (sb_find_line(L, file, &line)) {
        lua_pushfstring(L, "%s:%d: %s", file, line, text);
    } else {
        lua_pushstring(L, text);
    }
    sb_vm(L)->raised = kind;
    return lua_error(L);
}

/// Raises what pcall does not catch. Allocates nothing: the memory may be what is over.
int sb_kill(lua_State *L) {
    sluice_call *call = sb_vm(L)->current;
    if (call != NULL && call->kill_line == 0) sb_find_line(L, call->kill_file, &call->kill_line);
    lua_pushlightuserdata(L, &kill_mark);
    return lua_error(L);
}

json_t *sb_message(const char *message, const char *file, int line) {
    json_t *text = json_string(message);
    if (text == NULL) {  // not UTF-8
        char *plain = strdup(message);
        if (plain == NULL) return NULL;
        for (char *letter = plain; *letter != 0; letter++) {
            if ((unsigned char)*letter >= 0x80) *letter = '?';
        }
        text = json_string(plain);
        free(plain);
    }
    json_t *error = json_pack("{s:o, s:s, s:i}", "message", text, "file", file, "line", line);
    if (error == NULL) json_decref(text);
    return error;
}

/// What a kill says, with the bound that it hit.
static json_t *killed(const sluice_call *call, sluice_outcome why, const char *file, int line) {
    const sluice_vm *vm = call->vm;
    char text[160];
    switch (why) {
    case SLUICE_FAILED_FUEL:
        snprintf(text, sizeof text, "out of fuel: %lld units are allowed", (long long)call->budget.fuel);
        break;
    case SLUICE_FAILED_BURST:
        snprintf(text, sizeof text, "took more than %lld ms of CPU time without a wait",
                 (long long)(call->budget.burst_nanoseconds / 1000000));
        break;
    case SLUICE_FAILED_CPU:
        snprintf(text, sizeof text, "took more than %lld ms of CPU time",
                 (long long)(call->budget.cpu_nanoseconds / 1000000));
        break;
    default:
        if (vm->is_table_refused) {
            snprintf(text, sizeof text, "a table has more than %d keys", sb_most_keys);
        } else if (vm->is_string_refused) {
            snprintf(text, sizeof text, "a string is longer than %zu bytes", sb_string_limit(vm));
        } else {
            snprintf(text, sizeof text, "out of memory: %zu bytes are allowed", sb_memory_limit(vm));
        }
    }
    return sb_message(text, file, line);
}

/// Splits "file:line: rest", as Lua and sb_raise put it.
static const char *split(const char *message, char file[LUA_IDSIZE], int *line) {
    size_t length = strcspn(message, ":\n ");
    if (length == 0 || length >= LUA_IDSIZE || message[length] != ':') return NULL;
    char *end;
    long number = isdigit((unsigned char)message[length + 1]) ? strtol(message + length + 1, &end, 10) : 0;
    if (number <= 0 || number > 1000000000 || end[0] != ':' || end[1] != ' ') return NULL;
    memcpy(file, message, length);
    file[length] = 0;
    *line = (int)number;
    return end + 2;
}

/// JSON's null is a light userdata, which Lua's own messages say of it. Objects have names of their own.
static void name_null(char text[sb_message_bytes]) {
    static const char *const words[][2] = {
        {"a userdata value", "json.null"},       {"two userdata values", "two values of json.null"},
        {"got light userdata", "got json.null"}, {"with userdata", "with json.null"},
        {"compare userdata", "compare json.null"},
    };
    char named[sb_message_bytes];
    for (size_t index = 0; index < sizeof words / sizeof *words; index++) {
        const char *found = strstr(text, words[index][0]);
        if (found == NULL) continue;
        snprintf(
            named, sizeof named, "%.*s%s%s", (int)(found - text), text, words[index][1],
            found + strlen(words[index][0]));
        memcpy(text, named, sizeof named);
    }
}

/// Takes a character away that the bound of a message has cut in two.
static void cut(char text[sb_message_bytes]) {
    size_t length = strlen(text);
    if (length + 1 < sb_message_bytes) return;
    while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80) length--;
    if (length > 0 && (unsigned char)text[length - 1] >= 0xc0) length--;
    text[length] = 0;
}

/// Why a script ended, from what lua_resume has left on the stack. Raises nothing and allocates nothing of Lua's.
json_t *sb_failure(sluice_call *call, lua_State *L, int status, sluice_outcome *outcome) {
    sluice_vm *vm = call->vm;
    char file[LUA_IDSIZE], named[LUA_IDSIZE], text[sb_message_bytes];
    int line, named_line;
    sb_find_line(L, file, &line);
    if (call->latch == SLUICE_DONE && status == LUA_ERRMEM) {
        call->latch = SLUICE_FAILED_MEMORY;
        if (!vm->is_proving) vm->kills++;
    }
    *outcome = call->latch != SLUICE_DONE ? call->latch : vm->raised;
    vm->raised = SLUICE_FAILED_RUNTIME;
    if (call->latch != SLUICE_DONE) {
        bool is_known = call->kill_line != 0;
        return killed(call, call->latch, is_known ? call->kill_file : file, is_known ? call->kill_line : line);
    }
    if (lua_type(L, -1) != LUA_TSTRING) {
        bool is_null = lua_type(L, -1) == LUA_TLIGHTUSERDATA;
        const char *kind = lua_typename(L, lua_type(L, -1));
        snprintf(text, sizeof text, is_null ? "error object (json.null)" : "error object (a %s value)", kind);
        return sb_message(text, file, line);
    }
    snprintf(text, sizeof text, "%s", lua_tostring(L, -1));
    name_null(text);
    cut(text);
    const char *rest = split(text, named, &named_line);
    if (rest == NULL) return sb_message(text, file, line);
    if (strcmp(named, vm->prelude_name) == 0) return sb_message(rest, file, line);
    return sb_message(rest, named, named_line);
}
