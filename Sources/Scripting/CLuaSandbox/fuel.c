// The budget of a call: fuel, the CPU clock behind it, and the latch that ends a call for good.
#include "internal.h"

#include <time.h>

// Work between two looks at the clock, in units of fuel.
enum { clock_interval = 1000 };

// In a deterministic VM the clock is only there for what fuel does not see, like comparing long strings.
enum { deterministic_leniency = 10 };

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/// How far the cheap clock moves at a time: 4 ms on most machines.
static int64_t coarse_tick(void) {
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return (int64_t)tick.tv_sec * 1000000000 + tick.tv_nsec;
}

/// The time that counts against a budget.
static int64_t counted(const sluice_vm *vm, int64_t time) {
    return vm->limits.is_deterministic ? time / deterministic_leniency : time;
}

/// Kills the running call: its hook goes to every step, and raises there. Raises nothing itself, so the allocator may
/// use it.
void sb_trip(sluice_vm *vm, sluice_outcome why) {
    sluice_call *call = vm->current;
    if (call == NULL || call->latch != SLUICE_DONE) return;
    call->latch = why;
    if (!vm->is_proving) vm->kills++;
    lua_sethook(call->coroutine, sb_hook, LUA_MASKCOUNT | LUA_MASKLINE, 1);
}

/// Charges without raising.
void sb_meter(sluice_vm *vm, int64_t fuel) {
    sluice_call *call = vm->current;
    if (call == NULL) return;
    call->fuel_left -= fuel > call->fuel_left ? call->fuel_left + 1 : fuel;
    if (call->fuel_left < 0) sb_trip(vm, SLUICE_FAILED_FUEL);
}

/// Asks the CPU clock, which is a system call: the first time in a stretch this only says where it begins.
void sb_look_at_clock(sluice_vm *vm) {
    sluice_call *call = vm->current;
    if (call == NULL || call->latch != SLUICE_DONE) return;
    int64_t now = read_clock(CLOCK_THREAD_CPUTIME_ID);
    if (call->stretch_start == 0) {
        call->stretch_start = now;
        return;
    }
    int64_t elapsed = now - call->stretch_start;
    const sluice_budget *budget = &call->budget;
    if (budget->burst_nanoseconds > 0 && counted(vm, elapsed) > budget->burst_nanoseconds) {
        sb_trip(vm, SLUICE_FAILED_BURST);
    } else if (budget->cpu_nanoseconds > 0 && counted(vm, call->cpu_used + elapsed) > budget->cpu_nanoseconds) {
        sb_trip(vm, SLUICE_FAILED_CPU);
    }
}

/// Bounds are made for texts of up to this share of a string's, and for all that a script makes itself.
enum { share_given = 2 };

/// The most that a call is given, whatever comes from outside.
static const size_t most_given = 16 << 20;

/// The multiple of itself that a bound is for a call that was given a text of that length.
static int64_t times(const sluice_vm *vm, size_t length) { return 1 + (int64_t)(length / vm->limits.string_bytes); }

/// Notes that the call is given a text from outside. One that is longer than bounds are made for raises them in its
/// proportion: a record is not refused for its length by a script that has to look at it. Only the longest counts, so
/// that nothing is gained by asking again.
void sb_give(sluice_call *call, size_t length) {
    if (call == NULL) return;
    const sluice_vm *vm = call->vm;
    if (length > most_given) length = most_given;
    if (length <= vm->limits.string_bytes / share_given || length <= call->given) return;
    sluice_budget *budget = &call->budget;
    int64_t before = times(vm, call->given), after = times(vm, length);
    int64_t more = budget->fuel / before * (after - before);
    budget->fuel += more;
    if (call->fuel_left >= 0 && budget->fuel > 0) call->fuel_left += more;
    budget->burst_nanoseconds = budget->burst_nanoseconds / before * after;
    budget->cpu_nanoseconds = budget->cpu_nanoseconds / before * after;
    call->given = length;
}

/// Gives the call the texts in a value.
void sb_give_value(sluice_call *call, const json_t *value, int depth) {
    if (json_is_string(value)) sb_give(call, json_string_length(value));
    if (depth == sb_path_depth) return;
    for (size_t index = 0; index < json_array_size(value); index++) {
        sb_give_value(call, json_array_get(value, index), depth + 1);
    }
    for (void *member = json_object_iter((json_t *)value); member != NULL;
         member = json_object_iter_next((json_t *)value, member)) {
        sb_give_value(call, json_object_iter_value(member), depth + 1);
    }
}

void sluice_vm_give(sluice_vm *vm, size_t length) { sb_give(vm->current, length); }

/// Looks at the clock where the cheap one has moved. False when the call is over.
bool sb_may_go_on(sluice_vm *vm) {
    sluice_call *call = vm->current;
    if (call == NULL) return true;
    int64_t now = read_clock(CLOCK_MONOTONIC_COARSE);
    if (now != call->coarse_time) {
        call->coarse_time = now;
        bool is_first = call->stretch_start == 0;
        sb_look_at_clock(vm);
        // What came before was nothing, a whole tick, or anything between. A call that is over was not looked at.
        if (is_first && call->stretch_start != 0) call->stretch_start -= coarse_tick() / 2;
    }
    return call->latch == SLUICE_DONE;
}

/// Counts work that costs time and no fuel.
void sb_tick(lua_State *L, int64_t work) {
    sluice_vm *vm = sb_vm(L);
    sluice_call *call = vm->current;
    if (call == NULL) return;
    call->until_clock -= work;
    if (call->until_clock < 0) {
        call->until_clock = clock_interval;
        sb_look_at_clock(vm);
    }
    if (call->latch != SLUICE_DONE) sb_kill(L);
}

/// What a library function pays before it works. Raises when the call is killed, or dies of it.
void sb_charge(lua_State *L, int64_t fuel) {
    sb_meter(sb_vm(L), fuel);
    sb_tick(L, fuel);
}

void sb_hook(lua_State *L, lua_Debug *activation) {
    sluice_vm *vm = sb_vm(L);
    sluice_call *call = vm->current;
    if (call == NULL) return;
    if (call->latch == SLUICE_DONE && activation->event == LUA_HOOKCOUNT) {
        if (vm->profile != NULL) {
            sb_meter(vm, 1);
            sb_profile_step(vm, L, activation);
        } else {
            sb_meter(vm, sb_hook_interval);
        }
        sb_may_go_on(vm);
    }
    if (call->latch != SLUICE_DONE) sb_kill(L);
}

/// A stretch is what runs between two waits.
void sb_stretch_begin(sluice_call *call) {
    call->stretch_start = 0;
    call->vm->profile_key[0] = 0;
    call->until_clock = clock_interval;
    call->coarse_time = read_clock(CLOCK_MONOTONIC_COARSE);
    lua_sethook(call->coroutine, sb_hook, LUA_MASKCOUNT, call->vm->profile == NULL ? sb_hook_interval : 1);
    int64_t most = call->budget.cpu_nanoseconds;
    if (most > 0 && counted(call->vm, call->cpu_used) > most) sb_trip(call->vm, SLUICE_FAILED_CPU);
}

void sb_stretch_end(sluice_call *call) {
    sb_profile_finish(call->vm);
    if (call->stretch_start == 0) {
        // One that is shorter than a tick sees the cheap clock move now and then: many of them count what they took.
        if (read_clock(CLOCK_MONOTONIC_COARSE) != call->coarse_time) call->cpu_used += coarse_tick();
        return;
    }
    call->cpu_used += read_clock(CLOCK_THREAD_CPUTIME_ID) - call->stretch_start;
    call->stretch_start = 0;
}
