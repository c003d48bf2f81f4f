/* Reads HotSpot's structures, whose fields vm_structs.h finds. See java_heap.h. */
#include "jvm/java_heap.h"

#include <string.h>

#include "jvm/jvm_symbol.h"
#include "jvm/vm_structs.h"

enum { MOST_SPACES = 4 };

/* The offsets of three words in the structure of a region or space: its beginning, its end, and the end of its
 * objects. */
struct layout {
  uint64_t bottom, end, top;
};

static struct {
  bool has_regions;
  struct layout layout;
  /* G1: a table of pointers to regions, indexed by an address of the heap shifted right. */
  uintptr_t table, table_bytes, biased_table;
  uint32_t shift;
  /* Parallel and Serial: pointers to spaces. */
  uintptr_t spaces[MOST_SPACES];
  unsigned space_count;
  uintptr_t collections, is_active;
} heap;

static uint32_t collections_before;

/* ---- Fields of HotSpot's structures -------------------------------------------------------------------- */

static bool find(const char *type, const char *field, uint64_t *offset) {
  return vm_structs_field(type, field, false, offset);
}

static bool find_static(const char *type, const char *field, uint64_t *address) {
  return vm_structs_field(type, field, true, address);
}

/* Finds a field of one of the JVM's structures. `types` has the structure's names in different versions of the JVM. */
static bool find_in(const char *const types[2], const char *field, uint64_t *where) {
  return find(types[0], field, where) || find(types[1], field, where);
}

static uintptr_t word_at(uintptr_t address) {
  uintptr_t word;
  memcpy(&word, (const void *)address, sizeof word);
  return word;
}

static bool is_set(const char *flag) {
  uint64_t flags, count, name_at, address_at, size = vm_structs_size("JVMFlag");
  if (!find_static("JVMFlag", "flags", &flags) || !find_static("JVMFlag", "numFlags", &count) || size == 0)
    return false;
  if (!find("JVMFlag", "_name", &name_at) || !find("JVMFlag", "_addr", &address_at)) return false;
  uintptr_t entry = word_at(flags);
  for (uintptr_t left = word_at(count); left > 0; left--, entry += size) {
    const char *name = (const char *)word_at(entry + name_at);
    if (name && strcmp(name, flag) == 0) return *(const bool *)word_at(entry + address_at);
  }
  return false;
}

/* ---- Collectors ---------------------------------------------------------------------------------------- */

static bool find_regions(uintptr_t of_heap) {
  static const char *const regions[] = {"HeapRegion", "G1HeapRegion"};
  static const char *const managers[] = {"HeapRegionManager", "G1HeapRegionManager"};
  uint64_t manager, table, base, length, biased, shift;
  bool known = find_in(regions, "_bottom", &heap.layout.bottom) && find_in(regions, "_end", &heap.layout.end) &&
               find_in(regions, "_top", &heap.layout.top) && find("G1CollectedHeap", "_hrm", &manager) &&
               find_in(managers, "_regions", &table) && find("G1HeapRegionTable", "_base", &base) &&
               find("G1HeapRegionTable", "_length", &length) && find("G1HeapRegionTable", "_biased_base", &biased) &&
               find("G1HeapRegionTable", "_shift_by", &shift);
  if (!known) return false;
  uintptr_t at = of_heap + manager + table;
  memcpy(&heap.shift, (const void *)(at + shift), sizeof heap.shift);
  heap.table = word_at(at + base);
  heap.table_bytes = word_at(at + length) * sizeof(uintptr_t);
  heap.biased_table = word_at(at + biased);
  heap.has_regions = true;
  return heap.table != 0 && heap.shift > 0 && heap.shift < 64;
}

static bool add_space(uintptr_t generation, const char *type, const char *field) {
  uint64_t offset;
  if (generation == 0 || !find(type, field, &offset)) return false;
  heap.spaces[heap.space_count] = word_at(generation + offset);
  return heap.spaces[heap.space_count++] != 0;
}

static bool find_spaces(uintptr_t young, const char *young_type, uintptr_t old, const char *old_type,
                        const char *old_space) {
  return add_space(young, young_type, "_eden_space") && add_space(young, young_type, "_from_space") &&
         add_space(young, young_type, "_to_space") && add_space(old, old_type, old_space);
}

static bool find_parallel(void) {
  uint64_t young, old;
  bool known = find("MutableSpace", "_bottom", &heap.layout.bottom) && find("MutableSpace", "_end", &heap.layout.end) &&
               find("MutableSpace", "_top", &heap.layout.top) &&
               find_static("ParallelScavengeHeap", "_young_gen", &young) &&
               find_static("ParallelScavengeHeap", "_old_gen", &old);
  return known && find_spaces(word_at(young), "PSYoungGen", word_at(old), "PSOldGen", "_object_space");
}

static bool find_serial(uintptr_t of_heap) {
  static const char *const spaces[] = {"ContiguousSpace", "Space"}, *const heaps[] = {"SerialHeap", "GenCollectedHeap"};
  uint64_t young, old;
  bool known = find_in(spaces, "_bottom", &heap.layout.bottom) && find_in(spaces, "_end", &heap.layout.end) &&
               find_in(spaces, "_top", &heap.layout.top) && find_in(heaps, "_young_gen", &young) &&
               find_in(heaps, "_old_gen", &old);
  return known && find_spaces(word_at(of_heap + young), "DefNewGeneration", word_at(of_heap + old), "TenuredGeneration",
                              "_the_space");
}

static bool find_heap(void) {
  uint64_t universe, collections, active;
  bool known = find_static("Universe", "_collectedHeap", &universe) &&
               find("CollectedHeap", "_total_collections", &collections) &&
               (find("CollectedHeap", "_is_stw_gc_active", &active) || find("CollectedHeap", "_is_gc_active", &active));
  uintptr_t of_heap = known ? word_at(universe) : 0;
  if (of_heap == 0) return false;
  heap.collections = of_heap + collections;
  heap.is_active = of_heap + active;
  return is_set("UseG1GC")         ? find_regions(of_heap)
         : is_set("UseParallelGC") ? find_parallel()
                                   : is_set("UseSerialGC") && find_serial(of_heap);
}

/* ---- The free parts of the heap, and whether objects have moved -------------------------------------------- */

static bool copied(enum memory_copying by, uintptr_t from, void *to, size_t bytes) {
  return memory_copy(by, from, to, bytes) == bytes;
}

static bool is_unmoved(enum memory_copying by) {
  uint32_t collections;
  return copied(by, heap.collections, &collections, sizeof collections) && collections == collections_before;
}

static bool begin(enum memory_copying by) {
  bool is_active;
  return copied(by, heap.collections, &collections_before, sizeof collections_before) &&
         copied(by, heap.is_active, &is_active, sizeof is_active) && !is_active;
}

/* Returns whether the address is in `part`, a region or space. Sets `end` to the end of the part, and `top` to the
 * end of its objects. */
static bool is_in_part(enum memory_copying by, uintptr_t part, uintptr_t address, uintptr_t *top, uintptr_t *end) {
  uintptr_t bottom;
  return part != 0 && copied(by, part + heap.layout.bottom, &bottom, sizeof bottom) && bottom <= address &&
         copied(by, part + heap.layout.end, end, sizeof *end) && address < *end &&
         copied(by, part + heap.layout.top, top, sizeof *top) && bottom <= *top && *top <= *end;
}

static bool is_in_region(enum memory_copying by, uintptr_t address, uintptr_t *top, uintptr_t *end) {
  uintptr_t place = heap.biased_table + (address >> heap.shift) * sizeof place, region;
  return place - heap.table < heap.table_bytes && copied(by, place, &region, sizeof region) &&
         is_in_part(by, region, address, top, end);
}

static uintptr_t used(enum memory_copying by, uintptr_t from, uintptr_t *to) {
  uintptr_t top, end;
  bool known = heap.has_regions && is_in_region(by, from, &top, &end);
  for (unsigned i = 0; !known && i < heap.space_count; i++) known = is_in_part(by, heap.spaces[i], from, &top, &end);
  if (!known) return *to;
  if (end < *to) *to = end;
  return top < from ? from : top < *to ? top : *to;
}

const struct heap_parts *java_heap_parts(void) {
  static const struct heap_parts parts = {begin, used, is_unmoved};
  enum { NOT_SOUGHT, BEING_SOUGHT, UNKNOWN, KNOWN };
  static int state = NOT_SOUGHT;
  int expected = NOT_SOUGHT;
  if (jvm_symbol("gHotSpotVMStructs") &&
      __atomic_compare_exchange_n(&state, &expected, BEING_SOUGHT, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&state, find_heap() ? KNOWN : UNKNOWN, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == KNOWN ? &parts : NULL;
}
