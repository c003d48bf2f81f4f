/*
 * Functions for files: finding out which file a path leads to, locking, mapping, and giving a file its final name
 * without replacing another file.
 *
 * Each function may change errno. A function that fails sets errno.
 */
#ifndef MALLOMETER_PLATFORM_FILES_H
#define MALLOMETER_PLATFORM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_status {
  bool is_regular;
  /* Whether the file belongs to the effective user of the process. */
  bool is_own;
  /* The file system and the number together identify a file while it exists. */
  uint64_t file_system;
  uint64_t number;
  uint64_t bytes;
};

/* Describe an open file, or the file at a path without following a symbolic link at its end. Return false if the system
 * does not describe the file. */
bool file_status(int file, struct file_status *status);
bool file_status_at(const char *path, struct file_status *status);

/* Returns whether the path names the open file at this moment. */
bool file_is_at(const char *path, int file);

/*
 * Open a file; read and write it from its beginning; close it. These functions are no cancellation points, because a
 * thread that is cancelled between the opening and the closing would leave the file open. file_open_existing() opens
 * for reading and writing without waiting, and fails if the last part of the path is a symbolic link (ELOOP). The
 * functions return -1 if they fail.
 */
int file_open_existing(const char *path);
int64_t file_read(int file, void *to, size_t bytes);
int64_t file_write(int file, const void *from, size_t bytes);
void file_close(int file);

/* Creates a file that only its owner may access. Returns -1 if that fails; errno is EEXIST if anything has that
 * path. */
int file_create(const char *path);

/* Removes all permissions except the owner's. */
bool file_make_private(int file);

/*
 * Locks the whole file against other locks of this kind. The lock belongs to the open file description: it lasts until
 * all descriptors and mappings of the description are closed, including copies in a child. Does not wait: fails with
 * EAGAIN or EACCES if another open file description has a lock on the file.
 */
bool file_lock(int file);

/* Locks the file by flock(2), which programs such as flock(1) heed. Fails with EWOULDBLOCK if another open file
 * description has the lock. */
bool file_claim(int file);

/* Returns whether the limit of file sizes allows a file of this size. A larger file would end the program by
 * SIGXFSZ. */
bool file_size_is_allowed(uint64_t bytes);

/* Allocates all blocks for this many bytes, so that no later store runs out of room. Returns 0 or an errno value. */
int file_allocate(int file, uint64_t bytes);

/*
 * Maps the first `bytes` of the file for reading and writing, without huge pages. The mapping is shared with all
 * processes that map the file, but forked children do not get it. A mapping keeps the open file description, and with
 * it the locks. Returns NULL if the file cannot be mapped.
 */
void *file_map(int file, size_t bytes);
void file_unmap(void *mapping, size_t bytes);

/*
 * Makes the kernel overwrite up to 16 bytes at `to`, which lie in a mapping of file_map(), by a system call. Returns
 * false if that fails. A direct store would then raise SIGBUS, because the file was truncated or no room is left for a
 * copy of the page.
 */
bool file_takes_stores(void *to);

/* Renames a file, but fails with EEXIST if the new name exists. If the file system cannot guarantee that, an existing
 * file may be replaced. */
bool file_rename_without_replacing(const char *from, const char *to);

/* Returns whether a regular file contains these bytes anywhere; false if it cannot be read. Does not allocate. */
bool file_contains(const char *path, const void *bytes, size_t count);

#endif
