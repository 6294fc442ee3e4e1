// The pull of the C program on SQLCipher: the same statements on an encrypted file, keyed as the store keys its files.
// It is a program of its own, because one process cannot be linked to two libraries of one API.
//
// cipher-floor PAGES DATABASE prints seconds of processor time, seconds that passed, and the peak of memory in KiB.
#define FLOOR_CACHE "PRAGMA cache_size = -16000;"
#define FLOOR_MOST_LOG 4000
#include "../CFloor/columns.c"
#include "../CFloor/pull.c"

#include <sys/resource.h>
#include <time.h>

// The key of 32 bytes from 0 to 31 that the benchmark's encrypted stores have, and the form of their pages.
static const char *const key =
    "PRAGMA key = \"x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'\";"
    "PRAGMA cipher_page_size = 16384;"
    "PRAGMA cipher_hmac_algorithm = HMAC_SHA256;";

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

int main(int count, char **arguments) {
    if (count != 3) return 2;
    sqlite3 *database = NULL;
    char reason[512] = "";
    double begin = now();
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    long rows = -1;
    if (sqlite3_open_v2(arguments[2], &database, flags, NULL) == SQLITE_OK &&
        sqlite3_exec(database, key, NULL, NULL, NULL) == SQLITE_OK)
        rows = pull(database, arguments[1], reason, sizeof reason);
    else
        snprintf(reason, sizeof reason, "%s", database ? sqlite3_errmsg(database) : "no memory");
    sqlite3_close(database);
    if (rows < 0) {
        fprintf(stderr, "cipher-floor: %s\n", reason);
        return 1;
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%f %f %ld\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), now() - begin, usage.ru_maxrss);
    return 0;
}
