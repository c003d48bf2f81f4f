/*
 * Functions for files: status, locks, mappings, and renaming without replacing another file.
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

/* Describe an open file, or the file at a path; a symbolic link at the end of the path is not followed. Return false
 * if the system does not describe the file. */
bool file_status(int file, struct file_status *status);
bool file_status_at(const char *path, struct file_status *status);

bool file_is_at(const char *path, int file);

/*
 * Open an existing file; read or write it from its beginning; close it. They return -1 on failure. They are not
 * cancellation points, so that no cancelled thread leaves a file open. file_open_existing() does not wait, and fails
 * with ELOOP if the last part of the path is a symbolic link.
 */
int file_open_existing(const char *path);
int64_t file_read(int file, void *to, size_t bytes);
int64_t file_write(int file, const void *from, size_t bytes);
void file_close(int file);

/* Creates a file that only its owner may access. Returns -1 on failure; errno is EEXIST if the path exists. */
int file_create(const char *path);

bool file_make_private(int file);

/*
 * Locks the whole file without waiting. Fails with EAGAIN or EACCES if another open file description has locked the
 * file. The lock ends when all descriptors and mappings of the locking open file description are closed, including
 * those in forked children.
 */
bool file_lock(int file);

/* Locks the file by flock(2), which programs such as flock(1) heed. Fails with EWOULDBLOCK if another open file
 * description has that lock. */
bool file_claim(int file);

/* Returns whether a file may become this large. A larger file would end the program by SIGXFSZ. */
bool file_size_is_allowed(uint64_t bytes);

/* Allocates all blocks, so that no later store runs out of room. Returns 0 or an errno value. */
int file_allocate(int file, uint64_t bytes);

/* Maps the first `bytes` of the file for reading and writing, shared and without huge pages. Forked children do not
 * get the mapping. Locks on the file stay while the mapping exists. Returns NULL on failure. */
void *file_map(int file, size_t bytes);
void file_unmap(void *mapping, size_t bytes);

/*
 * Returns whether the program may store at `to`, which lies in a mapping of file_map(). If not, a store would raise
 * SIGBUS: the file was truncated, or its file system has no room for a copy of the page. Overwrites up to 16 bytes at
 * `to`.
 */
bool file_takes_stores(void *to);

/* Renames a file. Fails with EEXIST if `to` exists. Some file systems cannot guarantee this, and may replace the
 * existing file. */
bool file_rename_without_replacing(const char *from, const char *to);

bool file_contains(const char *path, const void *bytes, size_t count);

#endif
