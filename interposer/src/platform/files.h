/*
 * File functions beyond open, read, write, rename and close: which file a name leads to, locking, mapping, and putting
 * a file in place without touching another.
 *
 * Each function may change errno, and sets it if it fails.
 */
#ifndef MALLOMETER_PLATFORM_FILES_H
#define MALLOMETER_PLATFORM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_status {
  bool is_regular;
  /* The file belongs to the effective user of the process. */
  bool is_own;
  /* The file system and the number identify a file, as long as it exists. */
  uint64_t file_system;
  uint64_t number;
  uint64_t bytes;
};

/* Describe an open file, or the file at a path without following a symbolic link at its end. Return false if the file
 * is unknown. */
bool file_status(int file, struct file_status *status);
bool file_status_at(const char *path, struct file_status *status);

/* Returns whether the path names the open file at this moment. */
bool file_is_at(const char *path, int file);

/*
 * Open a file, read and write from its beginning, and close it. These functions are no cancellation points,
 * because a cancelled thread would keep what it holds. Opens a file to read and write without waiting; fails for a last
 * symbolic link (ELOOP). Return -1 if they fail.
 */
int file_open_existing(const char *path);
int64_t file_read(int file, void *to, size_t bytes);
int64_t file_write(int file, const void *from, size_t bytes);
void file_close(int file);

/* Creates a file that only its owner may access. Returns -1 if that fails, with EEXIST if the path names anything. */
int file_create(const char *path);

/* Removes all permissions except the owner's. */
bool file_make_private(int file);

/*
 * Locks the whole file against other locks of this kind, until the last descriptor or mapping of this opening is gone,
 * including a child's copy. Does not wait: EAGAIN or EACCES if another opening has a lock.
 */
bool file_lock(int file);

/* Locks the file by flock(2), which programs such as flock(1) heed. Fails with EWOULDBLOCK if another opening has it.
 */
bool file_claim(int file);

/* Returns whether the limit of file sizes, at which SIGXFSZ ends the program, allows so large a file. */
bool file_size_is_allowed(uint64_t bytes);

/* Allocates all blocks for so many bytes, so that no store runs out of room. Returns 0 or an errno value. */
int file_allocate(int file, uint64_t bytes);

/*
 * Maps the first `bytes` of the file to read and write, shared with everyone who has the file, but not with forked
 * children, and without huge pages. The mapping keeps the opening alive. Returns NULL if that fails.
 */
void *file_map(int file, size_t bytes);
void file_unmap(void *mapping, size_t bytes);

/*
 * Stores the time in the 16 bytes at `to`, which lie in such a mapping, by a system call. Returns false if that fails.
 * Any other store would then raise SIGBUS: the file was truncated, or no room is left for a copy of the page.
 */
bool file_takes_stores(void *to);

/* Renames, but not over an existing file (EEXIST), unless the file system cannot guarantee that. */
bool file_rename_without_replacing(const char *from, const char *to);

/* Returns whether a regular file contains these bytes anywhere; false if it cannot be read. Allocates nothing. */
bool file_contains(const char *path, const void *bytes, size_t count);

#endif
