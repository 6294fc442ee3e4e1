// What the files of this target share. Names begin with sb_; nothing here is for users.
#ifndef SLUICE_LUA_INTERNAL_H
#define SLUICE_LUA_INTERNAL_H

#include "include/CLuaSandbox.h"

#include <jansson.h>
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>

enum {
    sb_hook_interval = 100,     // steps of the virtual machine between two looks at the budget
    sb_idle_coroutines = 16,    // kept for the next calls
    sb_most_reads = 16,         // of members by a reader: then the whole object is made
    sb_spare_cells = 64,        // as well
    sb_message_bytes = 2048,    // of an error that reaches the host
    sb_most_keys = 1 << 14,     // in the hash part of one table
    sb_buckets = 256,           // to find the children of objects in
    sb_path_depth = 64,         // most levels that limits.result_depth may ask for
    sb_host_reserve = 64 * 1024 // bytes over the limit, for what the host itself allocates in a full VM
};

/// A class of objects, as the prelude defined it.
typedef struct sb_class {
    struct sb_class *next;
    char *name;
    bool is_writable, has_writable_names, has_readonly_names, is_headers;
} sb_class;

/// What a handle leads to: a JSON value of the call, or a member of another one's.
typedef struct sb_cell {
    struct sb_cell *next, *parent;
    struct sb_cell *beside;  // in the same bucket, for a child
    const sb_class *type;
    json_t *value;  // of a root; a child's is found through its parent
    const sluice_reader *reader;  // of a root, as long as it has no value
    json_t *written;              // what was set since, beside the reader
    int reads;
    const struct sb_cell *origin;  // what a copy was made of
    char *name;     // of the member, for a child: in `short_name` where it fits
    size_t name_length, bucket;
    int depth;  // levels above it
    bool is_own, is_changed;
    char short_name[24];
} sb_cell;

/// The kinds of userdata, which begin with theirs.
typedef enum sb_kind { SB_HANDLE = 0x5b01, SB_BLOCK } sb_kind;

/// The script's view of a cell. It is dead when another call runs.
typedef struct sb_handle {
    sb_kind kind;
    uint64_t serial;
    sb_cell *cell;
} sb_handle;

struct sluice_call {
    sluice_vm *vm;
    sluice_call *next;  // in the list of spare ones
    uint64_t serial, id;
    lua_State *coroutine;

    sluice_budget budget;
    size_t given;  // the longest text that it was given from outside; 0 for none that its bounds would not do for
    int64_t fuel_left;
    int64_t cpu_used;       // by the stretches that are over
    int64_t stretch_start;  // CPU clock; 0 as long as it was not looked at
    int64_t coarse_time;    // a cheap clock: when it has moved, the CPU clock is asked
    int64_t until_clock;    // work of library functions before the clock is looked at
    sluice_outcome latch;   // why the call was killed: from then on nothing of it runs
    char kill_file[LUA_IDSIZE];
    int kill_line;
    int pcalls;  // that stand in each other

    sb_cell *cells;
    sb_cell **buckets;  // of the children, so that one is found again
    sb_cell **roots;    // one for each argument, NULL for a plain value: in `few_roots` where they fit
    sb_cell *few_roots[4];
    const sluice_argument *arguments;  // as given: borrowed until the script has its handles
    size_t count;
    size_t json_bytes;  // of values that the script made outside of the VM's memory
    const char *hook;

    bool is_waiting;
    sluice_host_answer answer;
    const json_t *answer_value;
    size_t dumped;  // bytes of the JSON text that is being written
    json_t *held;   // a value on its way into the VM, which an error would leak

    sluice_outcome outcome;
    json_t *result;
    sb_cell *result_cell;  // of an object that was returned: its value is made when somebody asks
    const char *result_class;
    bool holds_object;  // whether the member "record" of the table that was returned is an object
    json_t *error;
};

struct sluice_vm {
    lua_State *L;
    sluice_limits limits;
    sluice_host host;
    int top;  // of the main stack between two entries
    bool is_unbalanced;

    size_t live, peak, settled;
    uint64_t allocations, fail_at;
    size_t crumbs;  // bytes that do not make a unit of fuel yet
    size_t slot_bytes;  // of one key in the hash part of a table
    bool is_string_refused, is_table_refused;

    sluice_call *current;  // whose script runs
    sluice_call *spare;
    sb_cell *spare_cells;
    int spare_cell_count;
    uint64_t serial;
    lua_State *idle[sb_idle_coroutines];
    int idle_count;
    int kills;
    bool is_proving;  // the self test kills, and counts nothing
    sluice_outcome raised;  // what kind the error is that is on its way

    sb_class *classes;
    const sb_class *recent[4];  // of the last call's arguments, by their places
    bool is_frozen;
    char prelude_name[LUA_IDSIZE];
    const sluice_source *sources;
    size_t source_count;
    uint64_t random_serial;

    json_t *profile;
    char profile_key[LUA_IDSIZE + 16];
    int64_t profile_fuel;
};

// Addresses that serve as keys of the registry and of metatables.
extern char sb_key_threads, sb_key_hooks, sb_key_modules, sb_key_public, sb_key_environment, sb_key_frozen,
    sb_key_array, sb_key_object, sb_key_shadow, sb_key_null;

static inline sluice_vm *sb_vm(lua_State *L) { return *(sluice_vm **)lua_getextraspace(L); }

// memory.c
void *sb_allocate(void *vm, void *block, size_t old, size_t size);
void *sb_block_new(sluice_vm *vm, size_t size);
void sb_settle(sluice_vm *vm, bool is_killed);
size_t sb_memory_limit(const sluice_vm *vm);
size_t sb_string_limit(const sluice_vm *vm);

// fuel.c
void sb_trip(sluice_vm *vm, sluice_outcome why);
void sb_meter(sluice_vm *vm, int64_t fuel);
void sb_look_at_clock(sluice_vm *vm);
bool sb_may_go_on(sluice_vm *vm);
void sb_give(sluice_call *call, size_t length);
void sb_give_value(sluice_call *call, const json_t *value, int depth);
void sb_charge(lua_State *L, int64_t fuel);
void sb_tick(lua_State *L, int64_t work);
void sb_hook(lua_State *L, lua_Debug *activation);
void sb_stretch_begin(sluice_call *call);
void sb_stretch_end(sluice_call *call);

// failure.c
int sb_raise(lua_State *L, sluice_outcome kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
int sb_kill(lua_State *L);
bool sb_find_line(lua_State *L, char file[LUA_IDSIZE], int *line);
json_t *sb_failure(sluice_call *call, lua_State *L, int status, sluice_outcome *outcome);
json_t *sb_message(const char *message, const char *file, int line);

// values.c
/// What becomes of the JSON values that objects stand for, when they are part of a value of the script.
typedef enum sb_mode {
    SB_SHARE,  // the same value: nobody writes to it any more, or not for as long as the other uses it
    SB_COPY,   // containers are copied, for the script may go on writing to both
} sb_mode;

typedef struct sb_writer {
    sluice_vm *vm;
    lua_State *L;
    int nodes;
    size_t bytes;
    sb_mode mode;
    const void *path[sb_path_depth];
    const char *why;
    sluice_outcome kind;
} sb_writer;
const json_t *sb_long_number(const json_t *value);
void sb_push_json(lua_State *L, const json_t *value);
json_t *sb_to_json(lua_State *L, int index, sb_mode mode, int depth);
json_t *sb_write(sb_writer *writer, int index, int depth);
json_t *sb_copy(sb_writer *writer, const json_t *value, int depth);
void sb_account(sluice_vm *vm, sb_writer *writer);
void sb_set_mark(lua_State *L, char *mark);
json_t *sb_sorted(json_t *object);

// show.c
json_t *sb_show(lua_State *L, int index);

// dump.c
void sb_push_dump(lua_State *L, const json_t *value);

// objects.c, members.c, headers.c
void sb_push_object(lua_State *L, sb_cell *cell);
sb_cell *sb_cell_new(lua_State *L, const sb_class *type, json_t *value);
sb_handle *sb_to_handle(lua_State *L, int index);
sb_cell *sb_check_object(lua_State *L, int index);
json_t *sb_resolve(sb_cell *cell);
json_t *sb_own(lua_State *L, sb_cell *cell);
void sb_free_cells(sluice_call *call);
void sb_free_spare_cells(sluice_vm *vm);
const sb_class *sb_find_class(sluice_vm *vm, const char *name);
void sb_free_classes(sluice_vm *vm);
int sb_class_define(lua_State *L);
int sb_get(lua_State *L);
int sb_set(lua_State *L);
int sb_names(lua_State *L);
int sb_to_table(lua_State *L);
int sb_raw(lua_State *L);
int sb_is_changed(lua_State *L);
int sb_is_number(lua_State *L);
int sb_child(lua_State *L);
int sb_copy_object(lua_State *L);
int sb_overtaken(lua_State *L);
void sb_open_headers(lua_State *L);

// Libraries: each leaves one table.
void sb_open_base(lua_State *L, int table);
void sb_open_string(lua_State *L);
void sb_open_table(lua_State *L);
void sb_open_math(lua_State *L);
void sb_open_utf8(lua_State *L);
void sb_add_patterns(lua_State *L, int table);
int sb_format(lua_State *L);
int sb_tostring(lua_State *L);

// guard.c
const char *sb_check_string(lua_State *L, int index, size_t *length);
const char *sb_check_text(lua_State *L, int index, size_t *length);
lua_Integer sb_check_integer(lua_State *L, int index);
lua_Integer sb_opt_integer(lua_State *L, int index, lua_Integer otherwise);
void sb_guard(lua_State *L, int table, const char *name, lua_CFunction stock);
void sb_guard_stock(lua_State *L, int stock, int table, const char *const *names);
void sb_block(lua_State *L, int table, const char *library, const char *name);
void sb_push_blocked_library(lua_State *L, const char *name);
void sb_check_result(lua_State *L, size_t length);

// sort.c
typedef bool (*sb_order)(lua_State *L, int left, int right);
void sb_heap_sort(lua_State *L, int table, lua_Integer count, sb_order is_before);

// freeze.c, environment.c, primitives.c
int sb_freeze(lua_State *L);
bool sb_push_frozen(lua_State *L, int index);
int sb_require(lua_State *L);
void sb_open_environment(lua_State *L);
void sb_add_globals(lua_State *L, int table);
void sb_load_chunk(lua_State *L, const char *name, const char *text, size_t length);
void sb_push_primitives(lua_State *L);

// call.c
sluice_call *sb_call_new(sluice_vm *vm, sluice_budget budget, uint64_t id);
sluice_outcome sb_run(sluice_call *call, lua_CFunction entry, int arguments);
int sb_finish_hook(lua_State *L, int status, lua_KContext context);
void sb_check_balance(sluice_vm *vm);

// profile.c
void sb_profile_step(sluice_vm *vm, lua_State *L, lua_Debug *activation);
void sb_profile_finish(sluice_vm *vm);

#endif
