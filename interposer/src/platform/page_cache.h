/*
 * The pages of files that the kernel has in memory, including those that only other processes have read: the kernel
 * does not report which cgroup is charged for a page. No function here reads from a disk or a network. Each may change
 * errno.
 */
#ifndef MALLOMETER_PLATFORM_PAGE_CACHE_H
#define MALLOMETER_PLATFORM_PAGE_CACHE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the cached bytes of an open regular file, by cachestat(2) of Linux 6.5; above 256 MiB, an estimate from 128
 * pieces of 2 MiB. Only one thread may call this at a time.
 *
 * -EBADF: the descriptor or its mount is unknown; -EINVAL: the file is not regular; -ENOSYS or -EPERM: the kernel
 * does not report cached pages; -EREMOTE: the file system may wait for another machine; -EOPNOTSUPP: the file is on
 * an overlay, which has its pages in another file; -EXDEV: the file system is unknown.
 */
int64_t page_cache_of_file(int file);

/* Makes the system calls of page_cache_of_file() without a file, so that a child process can test whether they are
 * allowed. */
void page_cache_probe(void);

/*
 * Returns the cached bytes of a mapping of a file, estimated by mincore(2). Includes pages that the process has
 * written, which are private copies. -EPERM: the process neither owns the file nor may write to it, so that the kernel
 * may report all pages as cached. -ENOMEM: the memory was unmapped.
 */
int64_t page_cache_of_mapping(uintptr_t begin, size_t bytes);

#endif
