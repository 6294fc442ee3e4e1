/* The calls of bench's ABI runs, through libsluice's header: abi reads|inserts COUNT DATABASE. Prints what they cost, as
 * a run of bench does: seconds of processor time, seconds that passed, and the most memory in KiB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "sluice.h"

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void check(int32_t code, sluice_text *out) {
    if (code == SLUICE_OK) return;
    fprintf(stderr, "abi: %s\n", out->bytes);
    exit(1);
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    int reads = !strcmp(arguments[1], "reads"), times = atoi(arguments[2]);
    sluice_options options = {.size = sizeof options, .store = arguments[3]};
    options.settings = "{\"tables\":{\"films\":{\"columns\":{\"title\":\"string\",\"year\":\"integer\",\"rating\":\"string\"}}}}";
    options.settings_length = SLUICE_TERMINATED;
    sluice_context context;
    sluice_text out;
    check(sluice_open(&options, &context, &out), &out);
    sluice_text_free(&out);
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < times; i++) {
        if (reads) {
            char id[32];
            snprintf(id, sizeof id, "film-%d", (int)(i * 7919L % 10000));
            check(sluice_lookup(context, "films", id, &out), &out);
        } else {
            char record[160];
            int length = snprintf(
                record, sizeof record,
                "{\"id\":\"film-%d\",\"title\":\"The Return of Number %d\",\"year\":%d,\"rating\":\"PG13\",\"seen\":false}", i, i,
                1920 + i % 100);
            check(sluice_insert(context, "films", record, (size_t)length, &out), &out);
        }
        sluice_text_free(&out);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%.9f %.9f %ld\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, seconds(CLOCK_MONOTONIC) - wall, usage.ru_maxrss);
    check(sluice_close(context, &out), &out);
    sluice_text_free(&out);
    return 0;
}
