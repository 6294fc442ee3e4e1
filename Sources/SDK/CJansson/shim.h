#ifndef SLUICE_CJANSSON_SHIM_H
#define SLUICE_CJANSSON_SHIM_H

#include <jansson.h>

// Jansson's reference counting and type tests are macros, which Swift cannot import.
static inline int sluice_json_type(const json_t *value) { return (int)json_typeof(value); }
static inline json_t *sluice_json_retain(json_t *value) { return json_incref(value); }
static inline void sluice_json_release(json_t *value) { json_decref(value); }
static inline size_t sluice_json_references(const json_t *value) {
    return __atomic_load_n(&value->refcount, __ATOMIC_ACQUIRE);
}

// A name of one NUL character (and, with length 0, the empty text): never a name that a document may bring.
static inline const char *sluice_json_nul(void) { return ""; }

#endif
