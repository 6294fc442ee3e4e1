// Tells ThreadSanitizer of Swift's Mutex. Its quick way is compiled into the program, where the sanitizer sees it; the
// way that waits for another thread is in the runtime, where it does not, and whatever the mutex guards would look
// unguarded. These functions stand before the runtime's, and note that one thread has waited for the other.

#define _GNU_SOURCE
#include "CMutexNotes.h"

#include <dlfcn.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void lock_function(uint32_t thread, SELF void *mutex);
typedef SWIFT void unlock_function(SELF void *mutex);

lock_function lock_slow __asm__(LOCK_SLOW);
unlock_function unlock_slow __asm__(UNLOCK_SLOW);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
    ((lock_function *)dlsym(RTLD_NEXT, LOCK_SLOW))(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) {
    __tsan_release(mutex);
    ((unlock_function *)dlsym(RTLD_NEXT, UNLOCK_SLOW))(mutex);
}
