/* What the test programs have in common: a check that prints what it found, and the number of those that failed. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluice.h"

static const size_t T = SLUICE_TERMINATED;
static int failures = 0;
static sluice_text out;

/* The call gives that code; `out` stays for what follows. */
#define GIVES(code, call)                                                                                     \
    do {                                                                                                      \
        int32_t got = (call);                                                                                 \
        if (got != (code)) {                                                                                  \
            failures++;                                                                                       \
            printf("%s:%d: %s gives %d (%s): %s\n", __FILE__, __LINE__, #call, got, sluice_code_name(got),    \
                   out.bytes ? out.bytes : "");                                                               \
        }                                                                                                     \
    } while (0)

/* As GIVES, and the text is freed. */
#define EXPECT(code, call)          \
    do {                            \
        GIVES(code, call);          \
        sluice_text_free(&out);     \
    } while (0)

#define TRUE(condition)                                                            \
    do {                                                                           \
        if (!(condition)) {                                                        \
            failures++;                                                            \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);         \
            if (out.bytes) printf("    %s\n", out.bytes);                          \
        }                                                                          \
    } while (0)

/* Whether the text of the last answer has that part. */
static inline int has(const char *part) { return out.bytes && strstr(out.bytes, part) != NULL; }

/* A context over a store, with a server or without. */
static inline sluice_context opened(const char *path, const char *endpoint) {
    sluice_options options = {.size = sizeof options, .store = path, .endpoint = endpoint};
    sluice_context context = 0;
    EXPECT(SLUICE_OK, sluice_open(&options, &context, &out));
    return context;
}

static inline int finished(void) {
    printf("%s\n", failures ? "FAILED" : "passed");
    return failures ? 1 : 0;
}

#endif
