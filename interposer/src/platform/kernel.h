/*
 * Reads what the kernel reports, mainly the memory of the process and the memory and limit of its cgroup (cgroups(7),
 * versions 1 and 2). A value that the system does not report is UINT64_MAX. No function here allocates or locks; each
 * may change errno.
 *
 * io.mallometer.internal.process finds the files of the cgroup in the same way.
 */
#ifndef MALLOMETER_PLATFORM_KERNEL_H
#define MALLOMETER_PLATFORM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_cgroup {
  /* The version of cgroups, 1 or 2; 0 if there is no cgroup. */
  int version;
  /* The length of the mount point at the beginning of `path`. */
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
  /* The number of the cgroup's processes that the kernel killed because of the limit. */
  uint64_t oom_kills;
};

/* Reads a file of the kernel into `text`: at most `capacity` - 1 bytes and a NUL. Returns the length; 0 on failure.
 * Only the files of platform/ may call this. */
size_t kernel_text(const char *path, char *text, size_t capacity);

/* Sets `mount` to the number of the mount of an open file. Returns false if the number is unknown. Neither this
 * function nor mount_type() accesses the file system, which may wait for a network. */
bool mount_of_file(int file, uint64_t *mount);

/* Copies the name of the mount's file system type. Copies an empty string if the type is unknown, as for pipes and
 * for mounts of other mount namespaces. */
void mount_type(uint64_t mount, char *type, size_t capacity);

/* The members are all in bytes. */
struct process_memory {
  uint64_t addresses;
  uint64_t resident;
  /* Resident memory without pages of files. */
  uint64_t anonymous;
  /* Private writable memory, whether resident or not. */
  uint64_t data;
};

struct process_memory process_memory(void);

uint64_t process_swapped_bytes(void);

/* Returns whether a debugger is attached; true if the kernel does not report it. */
bool process_is_traced(void);

/* Returns when the process started, in clock ticks since the machine's start; 0 if unknown. */
uint64_t process_start_ticks(void);

/* Returns the address from which the heap of brk(2) grows; 0 if unknown, as under qemu-user. */
uintptr_t process_heap_begin(void);

/* Copies at most `capacity` - 1 bytes of the kernel's boot_id, which differs after each boot, and a NUL. The result
 * is empty if the kernel does not report the id. */
void machine_run_id(char *id, size_t capacity);

/* Returns false if the kernel would have to wait for random bytes; `to` is undefined then. */
bool random_bytes(void *to, size_t bytes);

void memory_cgroup_find(struct memory_cgroup *cgroup);

uint64_t memory_charged(const struct memory_cgroup *cgroup);

/* Reads everything except the limit and the cached files, which stay as they are. Takes one or two microseconds. */
void memory_read(const struct memory_cgroup *cgroup, struct memory_reading *reading);

/* Reads the limit and the cached files. Takes longer than memory_read(), because the kernel sums up memory.stat over
 * all processors. */
void memory_read_rest(const struct memory_cgroup *cgroup, struct memory_reading *reading);

#endif
