#ifndef SLUICE_CSQLITE_FAULTS_H
#define SLUICE_CSQLITE_FAULTS_H

#include <csqlite.h>
#include <stdint.h>

// A file system for SQLite, over the machine's own, that fails where it is told to and remembers what has not been
// synced. Each is registered under a name of its own, so that several tests use theirs side by side.

typedef struct csqlite_faults csqlite_faults;

/// What goes wrong.
enum {
    CSQLITE_FAULT_NONE = 0,
    /// A call of any kind fails and does nothing.
    CSQLITE_FAULT_CALL = 1,
    /// A read brings half of the bytes and fails.
    CSQLITE_FAULT_READ = 2,
    /// A write takes half of the bytes and fails.
    CSQLITE_FAULT_WRITE = 3,
    /// A write finds the disk full.
    CSQLITE_FAULT_FULL = 4,
    /// A sync fails and makes nothing durable.
    CSQLITE_FAULT_SYNC = 5,
    /// The power is cut: from this call on nothing works, whatever comes after it.
    CSQLITE_FAULT_POWER = 6,
};

/// What a power cut leaves of the writes that were not synced.
enum { CSQLITE_UNSYNCED_DROPPED = 0, CSQLITE_UNSYNCED_KEPT = 1, CSQLITE_UNSYNCED_TORN = 2 };

/// Makes a file system and registers it with that library, which has its own; NULL where there is no memory.
csqlite_faults *_Nullable csqlite_faults_make(const char *_Nonnull name, const csqlite_api *_Nonnull library);

/// Takes it away, once the last connection that uses it is closed.
void csqlite_faults_free(csqlite_faults *_Nonnull faults);

/// Has the `at`-th call from now on (from 1) fail, of those that the fault is about; with `repeats`, all later ones
/// too.
void csqlite_faults_arm(csqlite_faults *_Nonnull faults, int fault, int64_t at, int repeats);

/// Has all calls work again. A power cut cannot be healed.
void csqlite_faults_heal(csqlite_faults *_Nonnull faults);

/// How many calls that the fault is about have come since it was armed.
int64_t csqlite_faults_calls(csqlite_faults *_Nonnull faults);

/// How many calls have failed since the fault was armed.
int64_t csqlite_faults_fired(csqlite_faults *_Nonnull faults);

/// Writes to `destination` what a power cut at this moment leaves of the file at `path`: what was synced, and of the
/// rest what `unsynced` says. Where it is torn, each part of 512 bytes is there or not as `seed` decides.
///
/// Returns 1, 0 if nothing would be left of the file, -1 where the destination cannot be written.
int csqlite_faults_survivor(
    csqlite_faults *_Nonnull faults, const char *_Nonnull path, const char *_Nonnull destination, int unsynced,
    uint64_t seed);

#endif
