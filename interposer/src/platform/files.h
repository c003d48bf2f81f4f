/*
 * What the library needs of files beyond open, read, write, rename and close: to know which file a name leads to, to
 * lock and to map it, and to put it in place without touching another.
 *
 * Each function may change errno, and sets it where it fails.
 */
#ifndef MALLOMETER_PLATFORM_FILES_H
#define MALLOMETER_PLATFORM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_status {
  bool is_regular;
  /* It belongs to the user whose rights the process has. */
  bool is_own;
  /* No two files of a file system have the same number at the same time. */
  uint64_t file_system;
  uint64_t number;
  uint64_t bytes;
};

/* Of an open file, and of what the path names without following a last symbolic link. False if that is unknown. */
bool file_status(int file, struct file_status *status);
bool file_status_at(const char *path, struct file_status *status);

/* Whether the path still, or by now, names the open file. */
bool file_is_at(const char *path, int file);

/*
 * Opens a file to read and write, without waiting for anything and without following a last symbolic link (ELOOP). -1
 * if that fails.
 */
int file_open_existing(const char *path);

/* Creates a file that only its owner may read and write. -1 if that fails, with EEXIST if the path names anything. */
int file_create(const char *path);

/* Takes all rights from others but the owner. */
bool file_make_private(int file);

/*
 * Locks the whole file against other locks of this kind, until the last descriptor or mapping of this opening is gone,
 * a child's copy of it included. Does not wait: EAGAIN or EACCES if another opening has a lock.
 */
bool file_lock(int file);

/* Whether the limit of file sizes, beyond which the kernel ends the program by SIGXFSZ, lets a file become so large. */
bool file_size_is_allowed(uint64_t bytes);

/* Gives the file all blocks for so many bytes, so that no store runs out of room. Returns 0 or an errno value. */
int file_allocate(int file, uint64_t bytes);

/*
 * Maps the first `bytes` of the file to read and write, shared with whoever has the file, but not with forked children.
 * Never by huge pages. The mapping keeps the opening alive. NULL if that fails.
 */
void *file_map(int file, size_t bytes);
void file_unmap(void *mapping, size_t bytes);

/*
 * Stores the time in the 16 bytes at `to`, which lie in such a mapping, by a system call. False where that fails, and
 * where any other store would be a SIGBUS: the file was truncated, or its file system has no room for a copy of the
 * page.
 */
bool file_takes_stores(void *to);

/* Not over a file that is there (EEXIST), except where the file system cannot make sure of that. */
bool file_rename_to_nothing(const char *from, const char *to);

/* Whether a regular file contains these bytes anywhere; false if it cannot be read. Allocates nothing. */
bool file_contains(const char *path, const void *bytes, size_t count);

#endif
