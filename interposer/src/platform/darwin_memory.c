/* Implements memory.h, readable_memory.h and page_protection.h on Darwin. Darwin has no service to report accessed
 * pages, and none to read memory that may be unmapped. The functions that need such a service fail. */
#include <errno.h>
#include <mach/mach.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/mappings.h"
#include "platform/memory.h"
#include "platform/page_cache.h"
#include "platform/page_protection.h"
#include "platform/page_range.h"
#include "platform/page_use.h"
#include "platform/readable_memory.h"
#include "platform/resident_memory.h"

size_t memory_page_bytes(void) { return vm_page_size; }

size_t memory_whole_pages(size_t bytes) {
  size_t page = memory_page_bytes();
  return (bytes + page - 1) / page * page;
}

/* ---- The library's own memory, which is not recorded on Darwin ----------------------------------------- */

bool memory_own_range(unsigned number, uintptr_t *begin, uintptr_t *end) {
  (void)number, (void)begin, (void)end;
  return false;
}

void memory_own_add(uintptr_t begin, size_t bytes) { (void)begin, (void)bytes; }

void memory_own_remove(uintptr_t begin) { (void)begin; }

/* ---- Mappings ------------------------------------------------------------------------------------------ */

/* Needs no advice against huge pages: Darwin uses pages of 2 MiB only on request. */
void *memory_map(void *wish, size_t bytes) {
  void *memory = mmap(wish, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void memory_unmap(void *memory, size_t bytes) { munmap(memory, bytes); }

void *memory_reserve(size_t bytes) {
  size_t page = memory_page_bytes(), inner = memory_whole_pages(bytes), all = inner + 2 * page;
  char *outer = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
  if (outer == MAP_FAILED) return NULL;
  if (mprotect(outer + page, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(outer, all);
    return NULL;
  }
  return outer + page;
}

void memory_give_back(void *memory, size_t bytes) {
  munmap((char *)memory - memory_page_bytes(), memory_whole_pages(bytes) + 2 * memory_page_bytes());
}

uintptr_t memory_break(void) { return 0; }

bool memory_is_unmapped(const void *page) {
  (void)page;
  return false;
}

/* Returns NULL, because Darwin does not enforce RLIMIT_AS and RLIMIT_DATA, and has no mlockall(2). */
const char *memory_limit(void) { return NULL; }

const char *memory_shortage(size_t bytes) {
  (void)bytes;
  return NULL;
}

bool memory_is_locked(void) { return false; }

/* ---- Readable memory ----------------------------------------------------------------------------------- */

bool page_is_readable(uintptr_t page) {
  char byte;
  vm_size_t copied = 0;
  return vm_read_overwrite(mach_task_self(), page, sizeof byte, (vm_address_t)&byte, &copied) == KERN_SUCCESS &&
         copied == sizeof byte;
}

bool is_readable(uintptr_t begin, size_t bytes) {
  if (bytes == 0 || bytes > UINTPTR_MAX - begin) return false;
  for (uintptr_t page = page_of(begin); page < begin + bytes; page += SMALLEST_PAGE) {
    if (!page_is_readable(page)) return false;
  }
  return true;
}

/* ---- Protection ---------------------------------------------------------------------------------------- */

static char *first_page_of(const void *begin) {
  return (char *)((uintptr_t)begin & ~(uintptr_t)(memory_page_bytes() - 1));
}

static bool protect(const void *begin, size_t bytes, int protection) {
  char *first = first_page_of(begin);
  return mprotect(first, memory_whole_pages((size_t)((const char *)begin + bytes - first)), protection) == 0;
}

bool pages_open_for_change(void *begin, size_t bytes, int *before) {
  vm_address_t address = (vm_address_t)begin;
  vm_size_t size;
  vm_region_basic_info_data_64_t region;
  mach_msg_type_number_t count = VM_REGION_BASIC_INFO_COUNT_64;
  mach_port_t object;
  if (vm_region_64(mach_task_self(), &address, &size, VM_REGION_BASIC_INFO_64, (vm_region_info_t)&region, &count,
                   &object) != KERN_SUCCESS)
    return false;
  uintptr_t asked = (uintptr_t)begin;
  if (address > asked || asked + bytes > address + size) return false; /* beyond the region, protections may differ */
  *before = region.protection;
  if (*before & VM_PROT_WRITE) return true;
  return protect(begin, bytes, PROT_READ | PROT_WRITE);
}

/* Passes VM_PROT_ bits to mprotect(2), because PROT_ bits have the same values. */
bool pages_close_after_change(void *begin, size_t bytes, int before) {
  return (before & VM_PROT_WRITE) || protect(begin, bytes, before);
}

/* ---- Functions that Darwin lacks ----------------------------------------------------------------------- */

static bool fail_unsupported(void) {
  errno = ENOTSUP;
  return false;
}

uintptr_t page_range_reserve(size_t bytes, const char **why) {
  (void)bytes;
  *why = "macOS does not report which pages a program uses";
  return 0;
}

bool pages_open(uintptr_t begin, size_t bytes) { return (void)begin, (void)bytes, fail_unsupported(); }

bool pages_clear(uintptr_t begin, size_t bytes) { return (void)begin, (void)bytes, fail_unsupported(); }

void pages_unlock(uintptr_t begin, size_t bytes) { (void)begin, (void)bytes; }

bool pages_mark(uintptr_t begin, size_t bytes, enum pages_mark mark) {
  return (void)begin, (void)bytes, (void)mark, fail_unsupported();
}

bool pages_renew(uintptr_t begin, size_t bytes) { return (void)begin, (void)bytes, fail_unsupported(); }

void pages_separate(uintptr_t begin, size_t bytes) { (void)begin, (void)bytes; }

bool page_use_read(bool (*mapping)(uintptr_t begin, bool used)) { return (void)mapping, fail_unsupported(); }

bool page_use_clear(void *pages, size_t bytes) { return (void)pages, (void)bytes, fail_unsupported(); }

bool page_use_clear_all(void) { return fail_unsupported(); }

const char *page_use_read_name(void) { return "the accessed bits of pages"; }

const char *page_use_clear_name(void) { return "clearing accessed bits"; }

const char *page_use_clear_all_name(void) { return page_use_clear_name(); }

size_t mappings_count(void) { return SIZE_MAX; }

size_t mappings_most(void) { return SIZE_MAX; }

bool mappings_read(struct mappings *mappings) {
  *mappings = (struct mappings){0};
  return fail_unsupported();
}

void mappings_forget(struct mappings *mappings) { *mappings = (struct mappings){0}; }

bool mapping_is_readable(const struct mapping *mapping) { return mapping->protection & PROT_READ; }

bool mapping_is_writable(const struct mapping *mapping) { return mapping->protection & PROT_WRITE; }

bool pagemap_is_readable(void) { return false; }

bool page_states(enum memory_telling by, uintptr_t begin, size_t pages, uint8_t states[]) {
  return (void)by, (void)begin, (void)pages, (void)states, fail_unsupported();
}

size_t memory_copy(enum memory_copying by, uintptr_t from, void *to, size_t bytes) {
  return (void)by, (void)from, (void)to, (void)bytes, fail_unsupported();
}

/* ---- Reading the process's own memory by system calls: not used on Darwin ---------------------------- */

bool own_memory_open(void) { return false; }

bool own_memory_close(void) { return true; }

void own_memory_leave(void) {}

bool own_memory_read(uintptr_t from, void *to, size_t bytes) {
  (void)from, (void)to, (void)bytes;
  return false;
}

int64_t page_cache_of_file(int file) {
  (void)file;
  return -ENOSYS;
}

void page_cache_probe(void) {}

int64_t page_cache_of_mapping(uintptr_t begin, size_t bytes) {
  (void)begin, (void)bytes;
  return -ENOSYS;
}
