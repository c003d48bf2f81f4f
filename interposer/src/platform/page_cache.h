/*
 * The pages of files that the kernel has in memory. The kernel does not report which cgroup is charged for a page, so
 * all pages count, whichever process read them. None of the functions reads from a disk or a network. They may change
 * errno.
 */
#ifndef MALLOMETER_PLATFORM_PAGE_CACHE_H
#define MALLOMETER_PLATFORM_PAGE_CACHE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the cached bytes of an open regular file, by cachestat(2) of Linux 6.5; for a file above 256 MiB an estimate
 * from 128 pieces of 2 MiB. Only one thread may call this at a time. -EINVAL: not a regular file; -ENOSYS or -EPERM:
 * the kernel does not report them; -EREMOTE: its file system may wait for another machine; -EOPNOTSUPP: an overlay has
 * its pages in another file; -EXDEV: its file system is unknown.
 */
int64_t page_cache_of_file(int file);

/* Makes each system call that counting a file needs once, without a file. */
void page_cache_probe(void);

/*
 * Returns the cached bytes of a mapping of a file, estimated by mincore(2). Copies of pages that the process has
 * written count. -EPERM: all pages are reported, as the kernel does for files that the process neither owns nor may
 * write, and the process is not known to own all files; -ENOMEM: the memory was unmapped.
 */
int64_t page_cache_of_mapping(uintptr_t begin, size_t bytes);

#endif
