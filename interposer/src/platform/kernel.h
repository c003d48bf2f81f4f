/*
 * Reads what the kernel reports, mainly the memory of the process and the memory and limit of its cgroup. No function
 * here allocates or locks; each may change errno.
 *
 * The files of cgroups version 1 and 2 are those of cgroups(7) and of the kernel's documentation.
 * io.mallometer.internal.process finds them in the same way. A value that a system does not report is UINT64_MAX.
 */
#ifndef MALLOMETER_PLATFORM_KERNEL_H
#define MALLOMETER_PLATFORM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_cgroup {
  /* 1 or 2; 0 if there is no cgroup. */
  int version;
  /* The length of the mount point, with which `path` begins. */
  size_t mount_length;
  char path[256];
};

struct memory_reading {
  uint64_t resident_bytes;
  uint64_t charged_bytes;
  /* The lowest limit of the cgroup and of its visible ancestors. */
  uint64_t limit_bytes;
  /* The bytes of cached files, without shared memory. The kernel drops them before it kills a process. */
  uint64_t file_bytes;
  /* The number of processes of the cgroup that the kernel killed because of the limit. */
  uint64_t oom_kills;
};

/*
 * Reads a whole file of the kernel into `text`, NUL-terminated, at most `capacity` - 1 bytes. Returns the length; 0 if
 * the file cannot be read. Only the files of platform/ may call this.
 */
size_t kernel_text(const char *path, char *text, size_t capacity);

/*
 * Sets the number of the mount on which an open file lies. Returns false if it is unknown. Neither this function nor
 * mount_type() calls the file system, so neither waits for a network. Both may change errno.
 */
bool mount_of_file(int file, uint64_t *mount);

/* Copies the type of a mount's file system; empty if it is unknown, as it is for pipes and for mounts of other mount
 * namespaces. */
void mount_type(uint64_t mount, char *type, size_t capacity);

/* Memory of the process, in bytes. */
struct process_memory {
  uint64_t addresses;
  uint64_t resident;
  /* Resident memory without pages of files. */
  uint64_t anonymous;
  /* Private writable memory, whether resident or not. */
  uint64_t data;
};

struct process_memory process_memory(void);

/* Returns the bytes of this process that are swapped out. */
uint64_t process_swapped_bytes(void);

/* Returns whether a debugger is attached; true if that is unknown because the kernel does not say. */
bool process_is_traced(void);

/* Returns the clock ticks from the machine's start to the process's; 0 if unknown. */
uint64_t process_start_ticks(void);

/* Copies the kernel's boot_id, which differs after each boot, NUL-terminated, at most `capacity` - 1 bytes of it.
 * `capacity` is at least 1. Empty if the kernel does not report the id. */
void machine_run_id(char *id, size_t capacity);

/* Fills `to` with random bytes. Returns false, with undefined contents, if the kernel would have to wait for random
 * bytes. */
bool random_bytes(void *to, size_t bytes);

/* Finds the memory cgroup of this process. */
void memory_cgroup_find(struct memory_cgroup *cgroup);

/* Returns the bytes that are charged to the cgroup; UINT64_MAX if the system does not report them. */
uint64_t memory_charged(const struct memory_cgroup *cgroup);

/* Fills all fields of `reading` except those of the limit and of the cached files, which stay as they are. Takes one or
 * two microseconds. */
void memory_read(const struct memory_cgroup *cgroup, struct memory_reading *reading);

/* Reads the limit and the cached files. This takes longer, because the kernel sums over all processors. */
void memory_read_rest(const struct memory_cgroup *cgroup, struct memory_reading *reading);

#endif
