#ifndef SLUICE_IMAGES_H
#define SLUICE_IMAGES_H

#include <stddef.h>
#include <stdint.h>

// What of each file is durable, and what was written to it since, in order.

/// A write, or a change of the size where it has no bytes.
struct change {
    int64_t offset;
    char *bytes;
    int64_t count;
};

struct image {
    struct image *next;
    char *path;
    /// What a power cut cannot take. The file itself may not be durable yet.
    char *durable;
    int64_t size;
    int is_durable;
    /// Whether the file was removed and its folder was not synced since.
    int is_removed;
    struct change *changes;
    size_t count;
    size_t capacity;
};

struct images {
    struct image *first;
};

/// The image of the file at `path`, made of what is in the file if it is not known and `exists`; NULL without memory.
struct image *images_open(struct images *images, const char *path, int exists);
/// Notes that the file was removed, for good if its folder was synced.
void images_remove(struct images *images, const char *path, int for_good);
/// See csqlite_faults_survivor.
int images_survivor(
    struct images *images, const char *path, const char *destination, int unsynced, uint64_t seed);
void images_free(struct images *images);

/// Each notes a change of a file, or makes its changes durable. An image of NULL is that of a file without a name,
/// which a power cut takes anyhow. They return 0 where there is no memory.
int image_write(struct image *image, int64_t offset, const void *bytes, int64_t count);
int image_truncate(struct image *image, int64_t size);
int image_sync(struct image *image);

#endif
