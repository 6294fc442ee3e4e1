#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "csqlite.h"

#include <fcntl.h>
#include <sys/stat.h>

int csqlite_file_birth(const char *path, uint64_t *number, uint64_t *time) {
#if defined(__linux__) && defined(STATX_BTIME)
    struct statx info;
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &info) != 0) return 0;
    *number = info.stx_ino;
    *time = info.stx_mask & STATX_BTIME
        ? (uint64_t)info.stx_btime.tv_sec * 1000000000u + info.stx_btime.tv_nsec : 0;
#else
    struct stat info;
    if (stat(path, &info) != 0) return 0;
    *number = info.st_ino;
#if defined(__APPLE__)
    *time = (uint64_t)info.st_birthtimespec.tv_sec * 1000000000u + (uint64_t)info.st_birthtimespec.tv_nsec;
#else
    *time = 0;
#endif
#endif
    return 1;
}
