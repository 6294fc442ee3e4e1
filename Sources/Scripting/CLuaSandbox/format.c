// string.format, guarded: no addresses, and no metamethod that Lua's own would ask for a name.
#include "internal.h"

#include <ctype.h>
#include <string.h>

/// Makes a text of an argument that %s takes: it is a string or a number already, or tostring makes it one.
static void make_text(lua_State *L, int index) {
    if (lua_type(L, index) == LUA_TSTRING) return;
    lua_pushcfunction(L, sb_tostring);
    lua_pushvalue(L, index);
    lua_call(L, 1, 1);
    lua_replace(L, index);
}

int sb_format(lua_State *L) {
    size_t length, bytes;
    const char *format = sb_check_text(L, 1, &length);
    int argument = 1, count = lua_gettop(L);
    sb_charge(L, 1 + (int64_t)(length / 16));
    for (const char *place = format, *end = format + length; place < end; place++) {
        if (*place != '%') continue;
        if (++place < end && *place == '%') continue;
        while (place < end && (isdigit((unsigned char)*place) || strchr("-+ #.", *place) != NULL)) place++;
        if (place == end) break;
        if (++argument > count) break;
        bytes = lua_type(L, argument) == LUA_TSTRING ? lua_rawlen(L, argument) : 0;
        switch (*place) {
        case 'p': return sb_raise(L, SLUICE_FAILED_BLOCKED, "'%%p' is not available to plugins");
        case 's': make_text(L, argument); break;
        // A large number has hundreds of digits.
        case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A': sb_charge(L, 8); break;
        case 'q': bytes *= 4; break;
        default:
            if (bytes > 256) luaL_argerror(L, argument, "text is too long for a number");
        }
        sb_charge(L, 1 + (int64_t)(bytes / 16));
    }
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}
