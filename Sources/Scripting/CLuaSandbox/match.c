// Matches a pattern's nodes against a text: a walk that goes back where it does not go on. Every step is counted, for
// a pattern of ten letters can ask for more of them than there are seconds in a year.
#include "pattern.h"

#include <string.h>

// Steps between two payments, two for a unit of fuel.
enum { steps_to_pay = 512 };

void sb_match_pay(sb_match *match) {
    sb_charge(match->L, (match->steps + 1) / 2);
    match->steps = 0;
}

static void count(sb_match *match, ptrdiff_t steps) {
    // A text has no more bytes than a string may have, so this does not overflow.
    match->steps += (int)steps;
    if (match->steps >= steps_to_pay) sb_match_pay(match);
}

static bool has(const sb_bytes *set, int byte) { return set->words[byte >> 6] >> (byte & 63) & 1; }

static bool accepts(const sb_node *node, int byte) {
    switch (node->op) {
    case SB_OP_ANY: return true;
    case SB_OP_CLASS: return sb_is_in_class(byte, node->value);
    case SB_OP_SET: return has(node->set, byte);
    default: return node->value == byte;
    }
}

static bool accepts_at(const sb_match *match, const sb_node *node, const char *text) {
    return text < match->end && accepts(node, (unsigned char)*text);
}

static const char *walk(sb_match *match, const char *text, const sb_node *node);

/// As many as there are, then one less, and so on.
static const char *walk_greedy(sb_match *match, const char *text, const sb_node *node) {
    const char *last = text;
    while (accepts_at(match, node, last)) last++;
    count(match, last - text);
    for (; last >= text; last--) {
        const char *end = walk(match, last, node + 1);
        if (end != NULL) return end;
    }
    return NULL;
}

/// As few as will do.
static const char *walk_lazy(sb_match *match, const char *text, const sb_node *node) {
    for (;; text++) {
        const char *end = walk(match, text, node + 1);
        if (end != NULL || !accepts_at(match, node, text)) return end;
    }
}

static const char *open_capture(sb_match *match, const char *text, const sb_node *node) {
    if (match->level == sb_most_captures) luaL_error(match->L, "too many captures");
    match->captures[match->level].start = text;
    match->captures[match->level].length = node->op == SB_OP_PLACE ? sb_capture_place : sb_capture_open;
    match->level++;
    const char *end = walk(match, text, node + 1);
    if (end == NULL) match->level--;
    return end;
}

static const char *close_capture(sb_match *match, const char *text, const sb_node *node) {
    int index = match->level - 1;
    while (index >= 0 && match->captures[index].length != sb_capture_open) index--;
    if (index < 0) luaL_error(match->L, "invalid pattern capture");
    match->captures[index].length = text - match->captures[index].start;
    const char *end = walk(match, text, node + 1);
    if (end == NULL) match->captures[index].length = sb_capture_open;
    return end;
}

/// %bxy: from an x to the y that closes it.
static const char *match_balance(sb_match *match, const char *text, const sb_node *node) {
    if (text == match->end || (unsigned char)*text != node->value) return NULL;
    int64_t open = 1;
    for (const char *at = text + 1; at < match->end; at++) {
        if ((unsigned char)*at == node->partner) {
            if (--open == 0) {
                count(match, at - text);
                return at + 1;
            }
        } else if ((unsigned char)*at == node->value) {
            open++;
        }
    }
    count(match, match->end - text);
    return NULL;
}

/// %f[set]: between a byte that is not in it and one that is. Both ends of the text count as zero bytes.
static bool is_frontier(const sb_match *match, const char *text, const sb_node *node) {
    int before = text == match->begin ? 0 : (unsigned char)text[-1];
    int after = text == match->end ? 0 : (unsigned char)*text;
    return !has(node->set, before) && has(node->set, after);
}

/// %1: the same bytes once more. The place that () notes has none.
static const char *match_back(sb_match *match, const char *text, const sb_node *node) {
    int index = node->value - '1';
    if (index < 0 || index >= match->level || match->captures[index].length == sb_capture_open) {
        luaL_error(match->L, "invalid capture index %%%d", index + 1);
    }
    ptrdiff_t length = match->captures[index].length;
    if (length < 0 || match->end - text < length) return NULL;
    count(match, length / 16);
    return memcmp(match->captures[index].start, text, (size_t)length) == 0 ? text + length : NULL;
}

/// One level of the walk, which ends with the text or where it has to be able to come back to.
static const char *step(sb_match *match, const char *text, const sb_node *node) {
    for (;; node++) {
        count(match, 1);
        switch (node->op) {
        case SB_OP_DONE: return text;
        case SB_OP_FAULT: luaL_error(match->L, "%s", node->fault); return NULL;
        case SB_OP_LAST: return text == match->end ? text : NULL;
        case SB_OP_OPEN:
        case SB_OP_PLACE: return open_capture(match, text, node);
        case SB_OP_CLOSE: return close_capture(match, text, node);
        case SB_OP_FRONTIER:
            if (!is_frontier(match, text, node)) return NULL;
            continue;
        case SB_OP_BALANCE:
            if ((text = match_balance(match, text, node)) == NULL) return NULL;
            continue;
        case SB_OP_BACK:
            if ((text = match_back(match, text, node)) == NULL) return NULL;
            continue;
        default: break;
        }
        bool is_accepted = accepts_at(match, node, text);
        switch (node->repeat) {
        case SB_MANY:
            if (is_accepted) return walk_greedy(match, text, node);
            continue;
        case SB_SOME:
            if (!is_accepted) return NULL;
            // The first is there; the others as many as there are.
            const char *rest = text + 1;
            return walk_greedy(match, rest, node);
        case SB_FEW:
            if (is_accepted) return walk_lazy(match, text, node);
            continue;
        case SB_OPTIONAL:
            if (is_accepted) {
                const char *end = walk(match, text + 1, node + 1);
                if (end != NULL) return end;
            }
            continue;
        default:
            if (!is_accepted) return NULL;
            text++;
        }
    }
}

static const char *walk(sb_match *match, const char *text, const sb_node *node) {
    if (match->depth == 0) luaL_error(match->L, "pattern too complex");
    match->depth--;
    const char *end = step(match, text, node);
    match->depth++;
    return end;
}

const char *sb_match_at(sb_match *match, const sb_pattern *pattern, const char *text) {
    match->level = 0;
    match->depth = sb_match_depth;
    return walk(match, text, pattern->nodes);
}
