// Reads a pattern into nodes. What is wrong in it becomes a node too: as in Lua itself, it is an error only for a match
// that comes as far.
#include "pattern.h"

#include <ctype.h>
#include <string.h>

// The patterns a VM keeps, and how long they may be.
enum { most_kept = 64, longest_kept = 64 };

static char key_kept;

bool sb_is_in_class(int byte, int letter) {
    bool is_in;
    switch (tolower(letter)) {
    case 'a': is_in = isalpha(byte); break;
    case 'c': is_in = iscntrl(byte); break;
    case 'd': is_in = isdigit(byte); break;
    case 'g': is_in = isgraph(byte); break;
    case 'l': is_in = islower(byte); break;
    case 'p': is_in = ispunct(byte); break;
    case 's': is_in = isspace(byte); break;
    case 'u': is_in = isupper(byte); break;
    case 'w': is_in = isalnum(byte); break;
    case 'x': is_in = isxdigit(byte); break;
    case 'z': is_in = byte == 0; break;
    default: return letter == byte;
    }
    return isupper(letter) ? !is_in : is_in;
}

/// Where the reader stands.
typedef struct reader {
    const unsigned char *place, *end;
    sb_node *node;
    sb_bytes *set;
} reader;

/// The byte `ahead` of the place; a zero after the end, as Lua's strings have it.
static int peek(const reader *from, ptrdiff_t ahead) {
    return from->end - from->place > ahead ? from->place[ahead] : 0;
}

static void add(reader *to, sb_op op, int value) {
    *to->node++ = (sb_node){.op = (unsigned char)op, .value = (unsigned char)value};
}

/// Nothing can be read after a fault.
static void fail(reader *to, const char *why) {
    *to->node++ = (sb_node){.op = SB_OP_FAULT, .fault = why};
    to->place = to->end;
}

static void put(sb_bytes *set, int byte) { set->words[byte >> 6] |= (uint64_t)1 << (byte & 63); }

/// The place of the ] that closes the set at the place, or NULL. The first byte of a set is never its end.
static const unsigned char *find_close(const reader *from) {
    const unsigned char *at = from->place + 1;
    if (at < from->end && *at == '^') at++;
    for (bool is_first = true; at < from->end; is_first = false) {
        if (!is_first && *at == ']') return at;
        bool is_escape = *at++ == '%';
        if (is_escape && at < from->end) at++;
    }
    return NULL;
}

/// Reads [...], whose end is known.
static const sb_bytes *read_set(reader *from, const unsigned char *close) {
    sb_bytes *set = from->set++;
    memset(set, 0, sizeof *set);
    const unsigned char *at = from->place + 1;
    bool is_negated = *at == '^';
    if (is_negated) at++;
    while (at < close) {
        if (*at == '%') {
            for (int byte = 0; byte < 256; byte++) {
                if (sb_is_in_class(byte, at[1])) put(set, byte);
            }
            at += 2;
        } else if (close - at > 2 && at[1] == '-') {
            for (int byte = at[0]; byte <= at[2]; byte++) put(set, byte);
            at += 3;
        } else {
            put(set, *at++);
        }
    }
    for (int word = 0; is_negated && word < 4; word++) set->words[word] = ~set->words[word];
    from->place = close + 1;
    return set;
}

/// Reads what stands for one byte, and what says how often.
static void read_single(reader *from) {
    int byte = peek(from, 0);
    if (byte == '[') {
        const unsigned char *close = find_close(from);
        if (close == NULL) return fail(from, "malformed pattern (missing ']')");
        const sb_bytes *set = read_set(from, close);
        add(from, SB_OP_SET, 0);
        from->node[-1].set = set;
    } else if (byte == '%') {
        if (from->end - from->place < 2) return fail(from, "malformed pattern (ends with '%')");
        add(from, isalpha(peek(from, 1)) ? SB_OP_CLASS : SB_OP_BYTE, peek(from, 1));
        from->place += 2;
    } else {
        add(from, byte == '.' ? SB_OP_ANY : SB_OP_BYTE, byte);
        from->place++;
    }
    static const char signs[] = "?*+-";
    const char *sign = peek(from, 0) == 0 ? NULL : strchr(signs, peek(from, 0));
    if (sign == NULL) return;
    from->node[-1].repeat = (unsigned char)(SB_OPTIONAL + (sign - signs));
    from->place++;
}

static void read_item(reader *from) {
    int byte = peek(from, 0), next = peek(from, 1);
    if (byte == '(') {
        add(from, next == ')' ? SB_OP_PLACE : SB_OP_OPEN, 0);
        from->place += next == ')' ? 2 : 1;
    } else if (byte == ')') {
        add(from, SB_OP_CLOSE, 0);
        from->place++;
    } else if (byte == '$' && from->end - from->place == 1) {
        add(from, SB_OP_LAST, 0);
        from->place++;
    } else if (byte == '%' && next == 'b') {
        if (from->end - from->place < 4) return fail(from, "malformed pattern (missing arguments to '%b')");
        add(from, SB_OP_BALANCE, peek(from, 2));
        from->node[-1].partner = (unsigned char)peek(from, 3);
        from->place += 4;
    } else if (byte == '%' && next == 'f') {
        from->place += 2;
        if (peek(from, 0) != '[') return fail(from, "missing '[' after '%f' in pattern");
        const unsigned char *close = find_close(from);
        if (close == NULL) return fail(from, "malformed pattern (missing ']')");
        const sb_bytes *set = read_set(from, close);
        add(from, SB_OP_FRONTIER, 0);
        from->node[-1].set = set;
    } else if (byte == '%' && isdigit(next)) {
        add(from, SB_OP_BACK, next);
        from->place += 2;
    } else {
        read_single(from);
    }
}

/// Pushes the pattern if the VM has kept it.
static const sb_pattern *find_kept(lua_State *L, int index) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key_kept) != LUA_TTABLE) {
        lua_pop(L, 1);
        return NULL;
    }
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    const sb_pattern *kept = lua_touserdata(L, -1);
    if (kept == NULL) lua_pop(L, 1);
    return kept;
}

/// Keeps the pattern on top. When there are many, all of them go.
static void keep(lua_State *L, int index) {
    lua_Integer count = 0;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key_kept) == LUA_TTABLE) {
        lua_rawgeti(L, -1, 1);
        count = lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    if (count == 0 || count == most_kept) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &key_kept);
        count = 0;
    }
    lua_pushinteger(L, count + 1);
    lua_rawseti(L, -2, 1);
    lua_pushvalue(L, index);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

const sb_pattern *sb_pattern_read(lua_State *L, int index, bool has_anchor) {
    size_t length, sets = 0;
    const char *text = lua_tolstring(L, index, &length);
    // A deterministic VM reads each pattern anew, so that what a call costs does not depend on the calls before it.
    bool is_kept = length <= longest_kept && !sb_vm(L)->limits.is_deterministic
        && (has_anchor || length == 0 || text[0] != '^');
    const sb_pattern *kept = is_kept ? find_kept(L, index) : NULL;
    if (kept != NULL) return kept;
    // A class and a range in a set are tried with every byte there is.
    size_t wide = 0;
    for (size_t index = 0; index < length; index++) {
        sets += text[index] == '[';
        wide += text[index] == '%' || text[index] == '-';
    }
    sb_charge(L, (int64_t)(length + (sets == 0 ? 0 : wide * 16)));
    size_t nodes = length + 1;
    sb_pattern *pattern =
        lua_newuserdatauv(L, sizeof *pattern + nodes * sizeof(sb_node) + sets * sizeof(sb_bytes), 0);
    pattern->kind = SB_BLOCK;
    pattern->is_anchored = has_anchor && length > 0 && text[0] == '^';
    reader from = {
        .place = (const unsigned char *)text + pattern->is_anchored,
        .end = (const unsigned char *)text + length,
        .node = pattern->nodes,
        .set = (sb_bytes *)(pattern->nodes + nodes),
    };
    while (from.place < from.end) read_item(&from);
    add(&from, SB_OP_DONE, 0);
    if (is_kept) keep(L, index);
    return pattern;
}
