/* Reads the clocks by direct calls of the vDSO. The C library's functions would make a system call if there is no
 * vDSO. See clock.h. */
#include "platform/clock.h"

#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/dynamic_section.h"

typedef int clock_function(clockid_t clock, struct timespec *now);

static clock_function *of_vdso;
/* The latest result of monotonic_ns(), and how far CLOCK_REALTIME was ahead of CLOCK_MONOTONIC at the start. */
static uint64_t latest, realtime_ahead;

/* ---- The vDSO ------------------------------------------------------------------------------------------ */

/* The symbol tables of the vDSO. `bias` is the vDSO's address in memory minus its link address. Older kernels have a
 * link address other than 0. */
struct tables {
  uintptr_t bias;
  const ElfW(Sym) * symbols;
  const char *strings;
  const uint32_t *hash;
  const uint32_t *gnu_hash;
};

static struct tables tables_of(const char *object) {
  struct tables tables = {0};
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)object;
  const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(object + header->e_phoff);
  const ElfW(Dyn) *entry = NULL;
  for (size_t i = header->e_phnum; i > 0; i--) {
    const ElfW(Phdr) *segment = &segments[i - 1];
    if (segment->p_type == PT_LOAD) tables.bias = (uintptr_t)object + segment->p_offset - segment->p_vaddr;
    if (segment->p_type == PT_DYNAMIC) entry = (const ElfW(Dyn) *)(object + segment->p_offset);
  }
  for (; entry && entry->d_tag != DT_NULL; entry++) {
    const void *address = (const void *)(tables.bias + entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) tables.symbols = address;
    if (entry->d_tag == DT_STRTAB) tables.strings = address;
    if (entry->d_tag == DT_HASH) tables.hash = address;
    if (entry->d_tag == DT_GNU_HASH) tables.gnu_hash = address;
  }
  return tables;
}

static clock_function *find_in_vdso(void) {
  const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
  clock_function *found = NULL;
  if (!vdso) return NULL;
  struct tables tables = tables_of(vdso);
  if (!tables.symbols || !tables.strings) return NULL;
  for (uint32_t i = 0; i < symbol_count(tables.hash, tables.gnu_hash); i++) {
    const ElfW(Sym) *symbol = &tables.symbols[i];
    const char *name = tables.strings + symbol->st_name;
    if (symbol->st_shndx == SHN_UNDEF) continue;
    if (strcmp(name, "__vdso_clock_gettime") != 0 && strcmp(name, "__kernel_clock_gettime") != 0) continue;
    const void *address = (const void *)(tables.bias + symbol->st_value);
    memcpy(&found, &address, sizeof found);
  }
  return found;
}

void clock_start(void) {
  struct timespec now;
  clock_function *found = find_in_vdso();
  if (found && found(CLOCK_REALTIME_COARSE, &now) == 0 && found(CLOCK_MONOTONIC_COARSE, &now) == 0) of_vdso = found;
  realtime_ahead = realtime_ns() - monotonic_ns();
}

/* ---- The clocks ---------------------------------------------------------------------------------------- */

static uint64_t nanoseconds(const struct timespec *time) {
  return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now = {0, 0};
  syscall(SYS_clock_gettime, clock, &now);
  return nanoseconds(&now);
}

uint64_t monotonic_ns(void) {
  uint64_t ns = clock_ns(CLOCK_MONOTONIC);
  __atomic_store_n(&latest, ns, __ATOMIC_RELAXED);
  return ns;
}

uint64_t realtime_ns(void) { return clock_ns(CLOCK_REALTIME); }

uint64_t thread_cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

static uint64_t coarse_ns(clockid_t clock) {
  struct timespec now;
  of_vdso(clock, &now);
  return nanoseconds(&now);
}

static uint64_t latest_ns(void) { return __atomic_load_n(&latest, __ATOMIC_RELAXED); }

uint64_t coarse_monotonic_ns(void) { return of_vdso ? coarse_ns(CLOCK_MONOTONIC_COARSE) : latest_ns(); }

uint64_t coarse_realtime_ns(void) { return of_vdso ? coarse_ns(CLOCK_REALTIME_COARSE) : latest_ns() + realtime_ahead; }

void coarse_clock_advance(uint64_t ns) {
  if (!of_vdso) __atomic_fetch_add(&latest, ns, __ATOMIC_RELAXED);
}
