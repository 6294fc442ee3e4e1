#include "csqlite_faults.h"

#include "images.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum call { CALL_OTHER, CALL_READ, CALL_WRITE, CALL_SYNC, CALL_CHANGE };

struct csqlite_faults {
    sqlite3_vfs vfs;
    const csqlite_api *library;
    sqlite3_vfs *real;
    pthread_mutex_t mutex;
    struct images images;
    int fault;
    int64_t at;
    int repeats;
    int64_t calls;
    int64_t fired;
    int is_dead;
    int open_files;
    int is_abandoned;
    char name[64];
};

struct file {
    sqlite3_file base;
    csqlite_faults *faults;
    struct image *image;
    sqlite3_file *real;
};

// MARK: Deciding

enum verdict { PASS, FAIL, LAST };

static int is_about(int fault, enum call call) {
    switch (fault) {
    case CSQLITE_FAULT_CALL: return 1;
    case CSQLITE_FAULT_READ: return call == CALL_READ;
    case CSQLITE_FAULT_WRITE: case CSQLITE_FAULT_FULL: return call == CALL_WRITE;
    case CSQLITE_FAULT_SYNC: return call == CALL_SYNC;
    // What changes nothing sees no difference between a cut before it and one before the next change.
    case CSQLITE_FAULT_POWER: return call == CALL_WRITE || call == CALL_SYNC || call == CALL_CHANGE;
    default: return 0;
    }
}

// The mutex is held.
static enum verdict judge(csqlite_faults *faults, enum call call) {
    if (faults->is_dead) return FAIL;
    if (!is_about(faults->fault, call)) return PASS;
    faults->calls++;
    if (faults->calls != faults->at && !(faults->repeats && faults->calls > faults->at)) return PASS;
    faults->fired++;
    if (faults->fault != CSQLITE_FAULT_POWER) return FAIL;
    faults->is_dead = 1;
    return LAST;
}

static enum verdict consult(csqlite_faults *faults, enum call call) {
    pthread_mutex_lock(&faults->mutex);
    enum verdict verdict = judge(faults, call);
    pthread_mutex_unlock(&faults->mutex);
    return verdict;
}

// MARK: Files

#define OURS(pointer) ((struct file *)(pointer))
#define REAL(pointer) (OURS(pointer)->real)

static void destroy(csqlite_faults *faults) {
    images_free(&faults->images);
    pthread_mutex_destroy(&faults->mutex);
    free(faults);
}

static int file_close(sqlite3_file *file) {
    csqlite_faults *faults = OURS(file)->faults;
    int code = REAL(file)->pMethods->xClose(REAL(file));
    pthread_mutex_lock(&faults->mutex);
    int isLast = --faults->open_files == 0 && faults->is_abandoned;
    pthread_mutex_unlock(&faults->mutex);
    if (isLast) destroy(faults);
    return code;
}

static int file_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
    csqlite_faults *faults = OURS(file)->faults;
    if (consult(faults, CALL_READ) != PASS) {
        if (faults->fault == CSQLITE_FAULT_READ) {
            (void)REAL(file)->pMethods->xRead(REAL(file), buffer, count / 2, offset);
        }
        return SQLITE_IOERR_READ;
    }
    return REAL(file)->pMethods->xRead(REAL(file), buffer, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    csqlite_faults *faults = OURS(file)->faults;
    struct image *image = OURS(file)->image;
    pthread_mutex_lock(&faults->mutex);
    enum verdict verdict = judge(faults, CALL_WRITE);
    int code = SQLITE_IOERR_WRITE;
    int isHalf = verdict == FAIL && !faults->is_dead && faults->fault == CSQLITE_FAULT_WRITE;
    if (isHalf) count /= 2;
    if (verdict == FAIL && !faults->is_dead && faults->fault == CSQLITE_FAULT_FULL) code = SQLITE_FULL;
    if (verdict == PASS || isHalf) {
        int written = REAL(file)->pMethods->xWrite(REAL(file), bytes, count, offset);
        if (!isHalf) code = written;
        if (written == SQLITE_OK && !image_write(image, offset, bytes, count)) code = SQLITE_NOMEM;
    } else if (verdict == LAST) {
        // The write was under way when the power went.
        (void)image_write(image, offset, bytes, count);
    }
    pthread_mutex_unlock(&faults->mutex);
    return code;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    csqlite_faults *faults = OURS(file)->faults;
    pthread_mutex_lock(&faults->mutex);
    enum verdict verdict = judge(faults, CALL_CHANGE);
    int code = SQLITE_IOERR_TRUNCATE;
    if (verdict == PASS) code = REAL(file)->pMethods->xTruncate(REAL(file), size);
    if ((code == SQLITE_OK || verdict == LAST) && !image_truncate(OURS(file)->image, size)) code = SQLITE_NOMEM;
    pthread_mutex_unlock(&faults->mutex);
    return code;
}

static int file_sync(sqlite3_file *file, int flags) {
    csqlite_faults *faults = OURS(file)->faults;
    pthread_mutex_lock(&faults->mutex);
    int code = SQLITE_IOERR_FSYNC;
    // The machine need not wait for its disk: what is durable is what the image says.
    (void)flags;
    if (judge(faults, CALL_SYNC) == PASS) code = image_sync(OURS(file)->image) ? SQLITE_OK : SQLITE_NOMEM;
    pthread_mutex_unlock(&faults->mutex);
    return code;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    if (consult(OURS(file)->faults, CALL_OTHER) != PASS) return SQLITE_IOERR_FSTAT;
    return REAL(file)->pMethods->xFileSize(REAL(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
    if (consult(OURS(file)->faults, CALL_OTHER) != PASS) return SQLITE_IOERR_LOCK;
    return REAL(file)->pMethods->xLock(REAL(file), level);
}

static int file_unlock(sqlite3_file *file, int level) { return REAL(file)->pMethods->xUnlock(REAL(file), level); }

static int file_reserved(sqlite3_file *file, int *result) {
    return REAL(file)->pMethods->xCheckReservedLock(REAL(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    return REAL(file)->pMethods->xFileControl(REAL(file), operation, argument);
}

static int file_sector(sqlite3_file *file) { return REAL(file)->pMethods->xSectorSize(REAL(file)); }

static int file_device(sqlite3_file *file) { return REAL(file)->pMethods->xDeviceCharacteristics(REAL(file)); }

static int file_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory) {
    if (consult(OURS(file)->faults, CALL_OTHER) != PASS) return SQLITE_IOERR_SHMMAP;
    return REAL(file)->pMethods->xShmMap(REAL(file), region, size, extend, memory);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    if ((flags & SQLITE_SHM_LOCK) && consult(OURS(file)->faults, CALL_OTHER) != PASS) return SQLITE_IOERR_SHMLOCK;
    return REAL(file)->pMethods->xShmLock(REAL(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file) { REAL(file)->pMethods->xShmBarrier(REAL(file)); }

static int file_shm_unmap(sqlite3_file *file, int deletes) {
    return REAL(file)->pMethods->xShmUnmap(REAL(file), deletes);
}

// Version 2: shared memory, and no file mapped into memory, so that every read and write comes by here.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_device,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

// MARK: The file system

#define FAULTS(pointer) ((csqlite_faults *)(pointer)->pAppData)

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *opened, int flags, int *outFlags) {
    csqlite_faults *faults = FAULTS(vfs);
    struct file *file = OURS(opened);
    opened->pMethods = NULL;
    file->faults = faults;
    file->real = (sqlite3_file *)(file + 1);
    file->image = NULL;
    pthread_mutex_lock(&faults->mutex);
    int code = SQLITE_CANTOPEN;
    int exists = 0;
    if (path) (void)faults->real->xAccess(faults->real, path, SQLITE_ACCESS_EXISTS, &exists);
    if (judge(faults, path && !exists ? CALL_CHANGE : CALL_OTHER) == PASS) {
        code = SQLITE_OK;
        // What is there when it is first opened has been there for long.
        if (path && !(file->image = images_open(&faults->images, path, exists))) code = SQLITE_NOMEM;
        if (code == SQLITE_OK) code = faults->real->xOpen(faults->real, path, file->real, flags, outFlags);
        if (code == SQLITE_OK) faults->open_files++;
    }
    pthread_mutex_unlock(&faults->mutex);
    if (code == SQLITE_OK) opened->pMethods = &methods;
    return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncsFolder) {
    csqlite_faults *faults = FAULTS(vfs);
    pthread_mutex_lock(&faults->mutex);
    int code = SQLITE_IOERR_DELETE;
    if (judge(faults, CALL_CHANGE) == PASS) code = faults->real->xDelete(faults->real, path, 0);
    if (code == SQLITE_OK) images_remove(&faults->images, path, syncsFolder);
    pthread_mutex_unlock(&faults->mutex);
    return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    if (consult(FAULTS(vfs), CALL_OTHER) != PASS) return SQLITE_IOERR_ACCESS;
    return FAULTS(vfs)->real->xAccess(FAULTS(vfs)->real, path, flags, result);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int count, char *result) {
    return FAULTS(vfs)->real->xFullPathname(FAULTS(vfs)->real, path, count, result);
}

static int vfs_randomness(sqlite3_vfs *vfs, int count, char *bytes) {
    return FAULTS(vfs)->real->xRandomness(FAULTS(vfs)->real, count, bytes);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    return FAULTS(vfs)->real->xSleep(FAULTS(vfs)->real, microseconds);
}

static int vfs_time(sqlite3_vfs *vfs, double *time) {
    return FAULTS(vfs)->real->xCurrentTime(FAULTS(vfs)->real, time);
}

static int vfs_time64(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    return FAULTS(vfs)->real->xCurrentTimeInt64(FAULTS(vfs)->real, time);
}

static int vfs_last_error(sqlite3_vfs *vfs, int count, char *text) {
    return FAULTS(vfs)->real->xGetLastError(FAULTS(vfs)->real, count, text);
}

csqlite_faults *csqlite_faults_make(const char *name, const csqlite_api *library) {
    csqlite_faults *faults = calloc(1, sizeof *faults);
    sqlite3_vfs *real = library->vfs_find(NULL);
    if (!faults || !real || strlen(name) >= sizeof faults->name) {
        free(faults);
        return NULL;
    }
    strcpy(faults->name, name);
    faults->library = library;
    faults->real = real;
    pthread_mutex_init(&faults->mutex, NULL);
    faults->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(struct file) + real->szOsFile,
        .mxPathname = real->mxPathname,
        .zName = faults->name,
        .pAppData = faults,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = vfs_time64,
    };
    if (library->vfs_register(&faults->vfs, 0) == SQLITE_OK) return faults;
    free(faults);
    return NULL;
}

void csqlite_faults_free(csqlite_faults *faults) {
    faults->library->vfs_unregister(&faults->vfs);
    pthread_mutex_lock(&faults->mutex);
    faults->is_abandoned = 1;
    int isUnused = faults->open_files == 0;
    pthread_mutex_unlock(&faults->mutex);
    if (isUnused) destroy(faults);
}

void csqlite_faults_arm(csqlite_faults *faults, int fault, int64_t at, int repeats) {
    pthread_mutex_lock(&faults->mutex);
    faults->fault = fault;
    faults->at = at;
    faults->repeats = repeats;
    faults->calls = 0;
    faults->fired = 0;
    pthread_mutex_unlock(&faults->mutex);
}

void csqlite_faults_heal(csqlite_faults *faults) {
    pthread_mutex_lock(&faults->mutex);
    faults->fault = CSQLITE_FAULT_NONE;
    pthread_mutex_unlock(&faults->mutex);
}

int64_t csqlite_faults_calls(csqlite_faults *faults) {
    pthread_mutex_lock(&faults->mutex);
    int64_t calls = faults->calls;
    pthread_mutex_unlock(&faults->mutex);
    return calls;
}

int64_t csqlite_faults_fired(csqlite_faults *faults) {
    pthread_mutex_lock(&faults->mutex);
    int64_t fired = faults->fired;
    pthread_mutex_unlock(&faults->mutex);
    return fired;
}

int csqlite_faults_survivor(
    csqlite_faults *faults, const char *path, const char *destination, int unsynced, uint64_t seed) {
    pthread_mutex_lock(&faults->mutex);
    int result = images_survivor(&faults->images, path, destination, unsynced, seed);
    pthread_mutex_unlock(&faults->mutex);
    return result;
}
