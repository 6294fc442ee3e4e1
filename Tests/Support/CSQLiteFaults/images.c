#include "images.h"

#include "csqlite_faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512 };

static struct image *find(struct images *images, const char *path) {
    struct image *image = images->first;
    while (image && strcmp(image->path, path) != 0) image = image->next;
    return image;
}

static int load(struct image *image) {
    FILE *file = fopen(image->path, "rb");
    if (!file) return 1;
    char buffer[4096];
    size_t count;
    int isDone = 1;
    while (isDone && (count = fread(buffer, 1, sizeof buffer, file)) > 0) {
        char *grown = realloc(image->durable, (size_t)image->size + count);
        if ((isDone = grown != NULL)) {
            image->durable = grown;
            memcpy(grown + image->size, buffer, count);
            image->size += (int64_t)count;
        }
    }
    fclose(file);
    return isDone;
}

struct image *images_open(struct images *images, const char *path, int exists) {
    struct image *image = find(images, path);
    if (image) {
        if (!exists) image->is_removed = 0;
        return image;
    }
    image = calloc(1, sizeof *image);
    if (!image || !(image->path = strdup(path)) || (exists && !load(image))) {
        if (image) free(image->path);
        free(image);
        return NULL;
    }
    image->is_durable = exists;
    image->next = images->first;
    images->first = image;
    return image;
}

static void forget_changes(struct image *image) {
    for (size_t index = 0; index < image->count; index++) free(image->changes[index].bytes);
    image->count = 0;
}

void images_remove(struct images *images, const char *path, int for_good) {
    struct image *image = find(images, path);
    if (!image) return;
    forget_changes(image);
    image->is_removed = 1;
    if (for_good || !image->is_durable) {
        free(image->durable);
        image->durable = NULL;
        image->size = 0;
        image->is_durable = 0;
    }
}

void images_free(struct images *images) {
    while (images->first) {
        struct image *image = images->first;
        images->first = image->next;
        forget_changes(image);
        free(image->changes);
        free(image->durable);
        free(image->path);
        free(image);
    }
}

static int note(struct image *image, int64_t offset, const void *bytes, int64_t count) {
    if (!image) return 1;
    if (image->count == image->capacity) {
        size_t capacity = image->capacity ? image->capacity * 2 : 16;
        struct change *grown = realloc(image->changes, capacity * sizeof *grown);
        if (!grown) return 0;
        image->changes = grown;
        image->capacity = capacity;
    }
    char *copy = NULL;
    if (bytes) {
        copy = malloc(count > 0 ? (size_t)count : 1);
        if (!copy) return 0;
        memcpy(copy, bytes, (size_t)count);
    }
    image->changes[image->count++] = (struct change){.offset = offset, .bytes = copy, .count = count};
    return 1;
}

int image_write(struct image *image, int64_t offset, const void *bytes, int64_t count) {
    return count <= 0 || note(image, offset, bytes, count);
}

int image_truncate(struct image *image, int64_t size) { return note(image, size, NULL, 0); }

static int resize(char **content, int64_t *size, int64_t wanted) {
    char *resized = realloc(*content, wanted > 0 ? (size_t)wanted : 1);
    if (!resized) return 0;
    if (wanted > *size) memset(resized + *size, 0, (size_t)(wanted - *size));
    *content = resized;
    *size = wanted;
    return 1;
}

static int put(char **content, int64_t *size, int64_t offset, const char *bytes, int64_t count) {
    if (offset + count > *size && !resize(content, size, offset + count)) return 0;
    memcpy(*content + offset, bytes, (size_t)count);
    return 1;
}

int image_sync(struct image *image) {
    if (!image) return 1;
    for (size_t index = 0; index < image->count; index++) {
        struct change *change = &image->changes[index];
        int isDone = change->bytes ? put(&image->durable, &image->size, change->offset, change->bytes, change->count)
                                   : resize(&image->durable, &image->size, change->offset);
        if (!isDone) return 0;
    }
    forget_changes(image);
    image->is_durable = 1;
    return 1;
}

// The generator of Steele, Lea and Flood, “Fast splittable pseudorandom number generators” (2014).
static int coin(uint64_t *seed) {
    uint64_t value = *seed += 0x9E3779B97F4A7C15;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
    return (int)((value ^ (value >> 31)) & 1);
}

static int tear(char **content, int64_t *size, const struct change *change, uint64_t *seed) {
    int64_t done = 0;
    while (done < change->count) {
        int64_t left = SECTOR - (change->offset + done) % SECTOR;
        int64_t count = left < change->count - done ? left : change->count - done;
        if (coin(seed) && !put(content, size, change->offset + done, change->bytes + done, count)) return 0;
        done += count;
    }
    return 1;
}

static int apply(char **content, int64_t *size, const struct change *change, int unsynced, uint64_t *seed) {
    if (unsynced == CSQLITE_UNSYNCED_TORN) {
        if (change->bytes) return tear(content, size, change, seed);
        return !coin(seed) || resize(content, size, change->offset);
    }
    return change->bytes ? put(content, size, change->offset, change->bytes, change->count)
                         : resize(content, size, change->offset);
}

int images_survivor(
    struct images *images, const char *path, const char *destination, int unsynced, uint64_t seed) {
    struct image *image = find(images, path);
    if (!image) return 0;
    int isKept = unsynced == CSQLITE_UNSYNCED_KEPT || (unsynced == CSQLITE_UNSYNCED_TORN && coin(&seed));
    if (image->is_removed && (isKept || !image->is_durable)) return 0;
    if (!image->is_durable && !isKept) return 0;
    int64_t size = 0;
    char *content = NULL;
    int isDone = image->size == 0 || put(&content, &size, 0, image->durable, image->size);
    for (size_t index = 0; isDone && unsynced != CSQLITE_UNSYNCED_DROPPED && index < image->count; index++) {
        isDone = apply(&content, &size, &image->changes[index], unsynced, &seed);
    }
    FILE *file = isDone ? fopen(destination, "wb") : NULL;
    if (file) {
        isDone = fwrite(content ? content : "", 1, (size_t)size, file) == (size_t)size;
        isDone = fclose(file) == 0 && isDone;
    }
    free(content);
    return file && isDone ? 1 : -1;
}
