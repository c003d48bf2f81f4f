/*
 * What the kernel tells, for a thread that may not allocate: above all how much memory the process and its cgroup use,
 * and where the limit is. No function here allocates or locks; each may change errno.
 *
 * The files of cgroups version 1 and 2 as cgroups(7) and the kernel's documentation describe them; where they are is
 * found as io.mallometer.internal.process does. What a system does not tell is UINT64_MAX.
 */
#ifndef MALLOMETER_PLATFORM_KERNEL_H
#define MALLOMETER_PLATFORM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
  /* cached files without shared memory, which the kernel drops before it kills */
  uint64_t file_bytes;
  /* Processes of the cgroup that the kernel killed because of the limit. */
  uint64_t oom_kills;
};

/*
 * Reads a whole file of the kernel into `text`, NUL-terminated, at most `capacity` - 1 bytes. Returns its length; 0 if
 * it cannot be read. For the files of this folder: others ask for what they want to know.
 */
size_t kernel_text(const char *path, char *text, size_t capacity);

/* In bytes. */
struct process_memory {
  uint64_t addresses;
  uint64_t resident;
  /* Private and writable, resident or not. */
  uint64_t data;
};

/* What this process has now. */
struct process_memory process_memory(void);

/* Bytes of this process's pages that are swapped out. */
uint64_t process_swapped_bytes(void);

/* Whether a debugger is attached; true as well if the kernel does not tell. */
bool process_is_traced(void);

/* Clock ticks from the machine's start to the process's; 0 if unknown. */
uint64_t process_start_ticks(void);

/*
 * Copies the identity of the machine's current run, NUL-terminated and at most `capacity` - 1 bytes of it. Empty if the
 * kernel does not tell. `capacity` is at least 1.
 */
void machine_run_id(char *id, size_t capacity);

/* Fills `to` with random bytes. False, with undefined contents, if the kernel has none to give without waiting. */
bool random_bytes(void *to, size_t bytes);

/* Finds the memory cgroup of this process. */
void memory_cgroup_find(struct memory_cgroup *cgroup);

/* Reads all figures but the limit and the cached files, which stay unchanged. Takes a microsecond or two. */
void memory_read(const struct memory_cgroup *cgroup, struct memory_reading *reading);

/* Reads the limit and the cached files. The kernel first sums over all processors for them. */
void memory_read_rest(const struct memory_cgroup *cgroup, struct memory_reading *reading);

#endif
