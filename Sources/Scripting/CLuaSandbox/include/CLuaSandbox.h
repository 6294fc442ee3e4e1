// A sandbox for Lua 5.4 scripts that nobody vouches for: one VM for each plugin, with metered fuel and memory, guarded
// libraries, and entry points that never let a Lua error pass through a frame of the caller.
//
// Nothing of Lua shows here, so that this target alone knows its version. Every JSON value is a json_t of jansson,
// passed as a pointer without a type: "borrowed" stays the giver's, "new" becomes the receiver's. A VM is used by one
// thread at a time; the host callback is called on that thread, inside the entry point that runs the script.
#ifndef SLUICE_LUA_SANDBOX_H
#define SLUICE_LUA_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sluice_vm sluice_vm;
typedef struct sluice_call sluice_call;

/// How a run of a script came to its end, or to a pause.
typedef enum sluice_outcome {
    SLUICE_DONE = 0,
    /// A host function has answered SLUICE_HOST_WAIT; sluice_call_resume goes on.
    SLUICE_WAITS,
    /// The script raised an error, or the host refused something.
    SLUICE_FAILED_RUNTIME,
    /// The fuel ran out.
    SLUICE_FAILED_FUEL,
    /// One stretch between two waits took too much of the thread's CPU time.
    SLUICE_FAILED_BURST,
    /// All stretches together took too much of the thread's CPU time.
    SLUICE_FAILED_CPU,
    /// The memory limit, or the limit of one string.
    SLUICE_FAILED_MEMORY,
    /// The result cannot be said in JSON: a cycle, too deep, a function, NaN, bad UTF-8, mixed keys.
    SLUICE_FAILED_RESULT,
    /// A wait where none is possible: inside a callback of gsub or sort, or in a hook that may not wait.
    SLUICE_FAILED_YIELD,
    /// A function that the sandbox took away.
    SLUICE_FAILED_BLOCKED,
    /// A permission that the plugin does not have; a host function answers so.
    SLUICE_FAILED_PERMISSION,
    /// The call was cancelled while it waited.
    SLUICE_FAILED_CANCELLED,
} sluice_outcome;

/// What a host function answers.
typedef enum sluice_host_answer {
    /// *result is a new JSON value, or NULL for nil.
    SLUICE_HOST_VALUE = 0,
    /// *result is a new JSON string: an error that the script may catch.
    SLUICE_HOST_ERROR,
    /// As the one before, counted as a missing permission.
    SLUICE_HOST_DENIED,
    /// The answer comes later, through sluice_call_resume.
    SLUICE_HOST_WAIT,
} sluice_host_answer;

/// The host's side: `function` is a name that the prelude calls through its primitive `host`, `arguments` a borrowed
/// array. It must not enter the VM.
typedef struct sluice_host {
    void *context;
    sluice_host_answer (*call)(
        void *context, uint64_t call, const char *function, const void *arguments, void **result);
} sluice_host;

/// Bounds of a VM, for its whole life.
typedef struct sluice_limits {
    size_t memory_bytes;  // live; 8 MiB
    size_t string_bytes;  // one string; 256 KiB
    size_t source_bytes;  // one chunk; 256 KiB
    int result_depth;     // 32
    int result_nodes;     // 10,000
    /// pairs and next go in the order of keys, random numbers begin anew with each call, and the clocks allow ten times
    /// their bounds: they are only there for what fuel does not see.
    bool is_deterministic;
} sluice_limits;

/// Bounds of one call. Nanoseconds are the thread's CPU time; 0 means no bound.
typedef struct sluice_budget {
    int64_t fuel;
    int64_t burst_nanoseconds;
    int64_t cpu_nanoseconds;
    bool may_wait;
} sluice_budget;

/// A text of the plugin: `name` is as require knows it ("main", "lib.rules"), `file` what messages and profiles call it
/// ("main.lua", "lib/rules.lua"); NULL for the name.
typedef struct sluice_source {
    const char *name;
    const char *text;
    size_t length;
    const char *file;
} sluice_source;

/// What a member of an object is.
typedef enum sluice_member_kind {
    SLUICE_MEMBER_ABSENT = 0,
    SLUICE_MEMBER_NULL,
    SLUICE_MEMBER_BOOLEAN,
    SLUICE_MEMBER_INTEGER,
    SLUICE_MEMBER_REAL,
    /// `text` and `length`, in UTF-8, borrowed until the reader is asked again.
    SLUICE_MEMBER_TEXT,
    /// `value`, a new JSON value, for everything else.
    SLUICE_MEMBER_VALUE,
} sluice_member_kind;

typedef struct sluice_member {
    sluice_member_kind kind;
    bool boolean;
    int64_t integer;
    double real;
    const char *text;
    size_t length;
    void *value;
} sluice_member;

/// A JSON object that is read where it stands: what the script does not ask for is never made. `member` gives the member
/// of that name, `whole` the object as a new value that nobody else holds. Neither may enter the VM. Both are called
/// until the call has ended.
typedef struct sluice_reader {
    void *context;
    sluice_member (*member)(void *context, const char *name, size_t length);
    void *(*whole)(void *context);
} sluice_reader;

/// What a hook is called with: an object of a class that the prelude has defined, over a JSON object or array. The
/// script sees a handle that dies with the call. A written-to argument is copied first (json_copy of what is written
/// to), so the giver's value never changes: sluice_call_argument has the new one. A NULL class passes the value itself,
/// converted. With a class, a reader may stand in the place of the value.
typedef struct sluice_argument {
    const char *class_name;
    const void *value;            // borrowed
    const sluice_reader *reader;  // borrowed until the call has ended; NULL for a value
} sluice_argument;

/// The default bounds.
sluice_limits sluice_limits_default(void);

/// A VM with the guarded libraries, and nothing of the plugin's yet. NULL if there is no memory for it.
/// `fail_at` makes the n-th allocation of the VM's life fail, from 1; 0 for none. For tests.
sluice_vm *sluice_vm_new(sluice_limits limits, sluice_host host, uint64_t fail_at);
void sluice_vm_free(sluice_vm *vm);

/// Calls each guard with what it is there to stop. The names of those that did not, as a new JSON array.
void *sluice_vm_self_test(sluice_vm *vm);

/// Runs the host's own text first, with the primitives as its argument; then the plugin's `main`, under `budget`.
/// `environment` is a borrowed JSON object that the prelude gets (config, deployment, permissions). Then globals are
/// frozen. On SLUICE_DONE *hooks is a new array of the names of the functions that `main` returned.
/// On failure *message is a new JSON object {message, file, line}.
sluice_outcome sluice_vm_load(
    sluice_vm *vm, sluice_source prelude, const sluice_source *sources, size_t count, const void *environment,
    sluice_budget budget, void **hooks, void **message);

/// Begins a call of a hook, on a coroutine from the free list. *call is NULL only if there is no memory for it; it has
/// to be ended with sluice_call_end whatever the outcome was.
sluice_outcome sluice_vm_call(
    sluice_vm *vm, const char *hook, const sluice_argument *arguments, size_t count, sluice_budget budget,
    uint64_t id, sluice_call **call);

/// Goes on after SLUICE_WAITS: `answer` is SLUICE_HOST_VALUE with a borrowed value or NULL, or SLUICE_HOST_ERROR or
/// SLUICE_HOST_DENIED with a borrowed string.
sluice_outcome sluice_call_resume(sluice_call *call, sluice_host_answer answer, const void *value);

/// What the hook returned, after SLUICE_DONE: a new JSON value, NULL for nothing. An object of the host's inside is its
/// JSON value. *class_name is the class where the result is itself such an object, else NULL.
void *sluice_call_result(const sluice_call *call, const char **class_name);

/// Whether the hook returned a table whose member `record` is an object of the host's, not a table of the script's.
bool sluice_call_returned_object(const sluice_call *call);

/// What has become of an argument: its JSON value, borrowed from the call, and whether the script wrote to it.
const void *sluice_call_argument(const sluice_call *call, size_t index, bool *is_changed);

/// Whether a call, after SLUICE_DONE, has done no more than to set members of the argument at `index`, which has a
/// reader, and has returned nothing or that argument. Then *members is an object of those members, borrowed from the call,
/// or NULL where it has set none, and nothing else has to be asked for.
bool sluice_call_has_set_only(const sluice_call *call, size_t index, const void **members);

/// Why a call failed: a new JSON object {message, file, line}; never an address, never what a metamethod says.
void *sluice_call_error(const sluice_call *call);

int64_t sluice_call_fuel_used(const sluice_call *call);
/// The CPU time that was measured: 0 for a call that was over before a clock was looked at, after some milliseconds.
int64_t sluice_call_cpu_nanoseconds(const sluice_call *call);

/// Whether the script that runs just now can wait: a host function asks before it begins what it would wait for. False
/// inside a callback of gsub or sort, in a hook that may not wait, and while no script runs.
bool sluice_vm_may_wait(const sluice_vm *vm);

/// Charges the call that runs for work that the host is about to do for it. False where that was too much, or the call
/// is over already: then the work is not to be done, for nobody gets its result.
bool sluice_vm_charge(sluice_vm *vm, int64_t fuel);

/// Notes that the call that runs is given so long a text from outside: its bounds grow with one that is longer than they
/// are made for.
void sluice_vm_give(sluice_vm *vm, size_t length);

/// Ends a call, also one that waits; its handles are dead from here on.
void sluice_call_end(sluice_call *call);

size_t sluice_vm_memory(const sluice_vm *vm);
size_t sluice_vm_peak_memory(const sluice_vm *vm);
/// How many allocations there have been.
uint64_t sluice_vm_allocations(const sluice_vm *vm);
/// How often a call was killed for its budget; a host makes a new VM after three.
int sluice_vm_kills(const sluice_vm *vm);
/// Whether the main stack is where it was after loading: false is a fault of this target.
bool sluice_vm_is_balanced(const sluice_vm *vm);

/// Counts fuel by line of the plugin's own files, for a profile and for coverage. A new object {"main.lua:41": fuel}.
void sluice_vm_profile_start(sluice_vm *vm);
void *sluice_vm_profile_take(sluice_vm *vm);

#endif
