// Lua's patterns: read into nodes once, matched by a walk over these that counts its steps.
#ifndef SLUICE_LUA_PATTERN_H
#define SLUICE_LUA_PATTERN_H

#include "internal.h"

enum { sb_most_captures = 32, sb_match_depth = 200 };

typedef enum sb_op {
    SB_OP_BYTE,      // one byte, in `value`
    SB_OP_ANY,
    SB_OP_CLASS,     // %a and its like, the letter in `value`
    SB_OP_SET,       // [...]
    SB_OP_OPEN,      // (
    SB_OP_PLACE,     // ()
    SB_OP_CLOSE,     // )
    SB_OP_BALANCE,   // %bxy: `value` and `partner`
    SB_OP_FRONTIER,  // %f[...]
    SB_OP_BACK,      // %1: its digit in `value`
    SB_OP_LAST,      // $ at the end
    SB_OP_FAULT,     // the pattern is wrong from here on: an error, but only for a match that gets here
    SB_OP_DONE,
} sb_op;

typedef enum sb_repeat { SB_ONCE, SB_OPTIONAL, SB_MANY, SB_SOME, SB_FEW } sb_repeat;

/// One bit for each byte.
typedef struct sb_bytes {
    uint64_t words[4];
} sb_bytes;

typedef struct sb_node {
    unsigned char op, repeat, value, partner;
    union {
        const sb_bytes *set;
        const char *fault;
    };
} sb_node;

typedef struct sb_pattern {
    sb_kind kind;
    bool is_anchored;
    sb_node nodes[];
} sb_pattern;

typedef struct sb_match {
    lua_State *L;
    const char *begin, *end;
    int depth, level, steps;
    struct {
        const char *start;
        ptrdiff_t length;  // or one of the two below
    } captures[sb_most_captures];
} sb_match;

enum { sb_capture_open = -1, sb_capture_place = -2 };

bool sb_is_in_class(int byte, int letter);

/// Reads the pattern at `index` and leaves it on the stack. `has_anchor` says whether a ^ at its start is one.
const sb_pattern *sb_pattern_read(lua_State *L, int index, bool has_anchor);

/// The end of a match that begins at `text`, or NULL.
const char *sb_match_at(sb_match *match, const sb_pattern *pattern, const char *text);

/// Charges for the steps that are not paid for yet.
void sb_match_pay(sb_match *match);

#endif
