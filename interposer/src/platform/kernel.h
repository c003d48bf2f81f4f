/*
 * What the kernel tells, for a thread that may not allocate: above all how much memory the process and its cgroup use,
 * and where the limit is.
 *
 * The files of cgroups version 1 and 2 as cgroups(7) and the kernel's documentation describe them; where they are is
 * found as io.mallometer.process does. What a system does not tell is UINT64_MAX.
 */
#ifndef MALLOMETER_PLATFORM_KERNEL_H
#define MALLOMETER_PLATFORM_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct memory_cgroup {
  /* 1 or 2; 0 if there is none. */
  int version;
  /* Length of the mount point, which is the beginning of `path`. */
  size_t mount_length;
  char path[256];
};

struct memory_reading {
  uint64_t resident_bytes;
  uint64_t charged_bytes;
  /* The lowest of the cgroup's limit and those above it that are visible. */
  uint64_t limit_bytes;
  /* Cached files that the kernel drops first. */
  uint64_t inactive_file_bytes;
  /* Processes of the cgroup that the kernel killed because of the limit. */
  uint64_t oom_kills;
};

/*
 * Reads a whole file of the kernel into `text`, NUL-terminated, at most `capacity` - 1 bytes. Returns its length; 0 if
 * it cannot be read.
 */
size_t kernel_text(const char *path, char *text, size_t capacity);

/*
 * stat(2) of an open file, and of a path without following a last symbolic link. The C library's functions of that name
 * need glibc 2.33.
 */
int status_of_file(int file, struct stat *status);
int status_of_path(const char *path, struct stat *status);

/* Finds the memory cgroup of this process. */
void memory_cgroup_find(struct memory_cgroup *cgroup);

/* Reads the figures that cost a microsecond or two: all but the limit and the inactive files, which are left alone. */
void memory_read(const struct memory_cgroup *cgroup, struct memory_reading *reading);

/* Reads the limit and the inactive files, for which the kernel sums over processors first. */
void memory_read_rest(const struct memory_cgroup *cgroup, struct memory_reading *reading);

#endif
