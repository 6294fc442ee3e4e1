// The allocator of a VM: counts what lives, refuses what is over the limit, and charges fuel for what grows.
#include "internal.h"

#include <stdlib.h>

// A Lua string is its bytes, a header and a final zero.
enum { string_overhead = 32 };

/// Lua answers a refusal with a full collection and asks once more; its work depends on how much lives. So a script at
/// the limit pays for each.
static void *refuse(sluice_vm *vm) {
    sb_meter(vm, (int64_t)(vm->live / 64));
    sb_look_at_clock(vm);
    return NULL;
}

/// Whether a test wants this allocation to fail. Lua asks for each twice, with a collection between.
static bool is_planned_to_fail(sluice_vm *vm) {
    vm->allocations++;
    return vm->fail_at != 0 && (vm->allocations == vm->fail_at || vm->allocations == vm->fail_at + 1);
}

/// Whether this is the hash part of a table that is over its bound. When it grows, Lua puts all keys in anew, which
/// takes the square of their number where they were chosen to collide: no hook runs in the middle of it. The hash part
/// is known by its size, a power of two of slots.
static bool is_large_table(const sluice_vm *vm, const void *block, size_t kind, size_t size) {
    if (block != NULL || kind != 0 || vm->slot_bytes == 0 || size <= sb_most_keys * vm->slot_bytes) return false;
    size_t slots = size / vm->slot_bytes;
    return size % vm->slot_bytes == 0 && (slots & (slots - 1)) == 0;
}

// What a call may hold for a long text that it was given: the text, as JSON, and joined to others. A string made of it
// may be as long as that with all of it escaped, in most cases.
enum { memory_of_given = 6, string_of_given = 3 };

static size_t given(const sluice_vm *vm) { return vm->current == NULL ? 0 : vm->current->given; }

/// The bytes that may live now.
size_t sb_memory_limit(const sluice_vm *vm) { return vm->limits.memory_bytes + memory_of_given * given(vm); }

/// The bytes that one string may have now.
size_t sb_string_limit(const sluice_vm *vm) { return vm->limits.string_bytes + string_of_given * given(vm); }

void *sb_allocate(void *context, void *block, size_t old, size_t size) {
    sluice_vm *vm = context;
    // For a new block `old` is the kind of the object.
    size_t held = block == NULL ? 0 : old;
    if (size == 0) {
        vm->live -= held;
        free(block);
        return NULL;
    }
    if (size <= held) {
        vm->live -= held - size;
        void *smaller = realloc(block, size);
        return smaller == NULL ? block : smaller;
    }
    if (is_planned_to_fail(vm)) return NULL;
    if (block == NULL && old == LUA_TSTRING && size > sb_string_limit(vm) + string_overhead) {
        vm->is_string_refused = true;
        return refuse(vm);
    }
    if (is_large_table(vm, block, old, size)) {
        vm->is_table_refused = true;
        return refuse(vm);
    }
    size_t growth = size - held;
    size_t limit = sb_memory_limit(vm) + (vm->current == NULL ? sb_host_reserve : 0);
    if (growth > limit || vm->live > limit - growth) return refuse(vm);
    void *grown = realloc(block, size);
    if (grown == NULL) return NULL;
    vm->live += growth;
    if (vm->live > vm->peak) vm->peak = vm->live;
    vm->crumbs += growth;
    sb_meter(vm, (int64_t)(vm->crumbs / 32));
    vm->crumbs %= 32;
    return grown;
}

/// Memory of this target's own, zeroed, which a test can make fail like Lua's. Freed with free.
void *sb_block_new(sluice_vm *vm, size_t size) {
    return is_planned_to_fail(vm) ? NULL : calloc(1, size);
}

/// Collects between two calls, so that one does not pay for what the last has left behind.
void sb_settle(sluice_vm *vm, bool is_killed) {
    size_t limit = vm->limits.memory_bytes;
    bool is_crowded = vm->live > limit / 4 * 3 && vm->live > vm->settled + limit / 8;
    if (!is_killed && !is_crowded) return;
    lua_gc(vm->L, LUA_GCCOLLECT);
    vm->settled = vm->live;
}
