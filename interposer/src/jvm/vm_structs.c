/* Searches HotSpot's table of the fields of its structures, whose layout HotSpot exports. See vm_structs.h. */
#include "jvm/vm_structs.h"

#include <stddef.h>
#include <string.h>

#include "jvm/jvm_symbol.h"
#include "platform/readable_memory.h"

/* Limits for a plausible table: bytes of an entry (usually 56), and number of entries (usually about 3,000). */
enum { MOST_STRIDE = 4096, MOST_ENTRIES = 100000 };

/* A range that the kernel reported as readable. It is kept so that the next read in it needs no system call. */
struct seen {
  uintptr_t begin, end;
};

static bool can_read(struct seen *seen, uintptr_t address, size_t bytes) {
  if (address >= seen->begin && address < seen->end && bytes <= seen->end - address) return true;
  if (!is_readable(address, bytes)) return false;
  *seen = (struct seen){page_of(address), page_of(address + bytes - 1) + SMALLEST_PAGE};
  return true;
}

struct table {
  uintptr_t entry;
  uint64_t stride;
  struct seen entries, texts[2];
};

static uint64_t number_of(const char *symbol) {
  const uint64_t *word = jvm_symbol(symbol);
  return word ? *word : UINT64_MAX;
}

static bool open_table(struct table *table, const char *symbol, const char *stride) {
  const uintptr_t *entries = jvm_symbol(symbol);
  *table = (struct table){.entry = entries ? *entries : 0, .stride = number_of(stride)};
  return entries && table->stride >= sizeof(uint64_t) && table->stride <= MOST_STRIDE;
}

static bool word_of(struct table *table, uint64_t offset, uint64_t *word) {
  if (offset > table->stride - sizeof *word || !can_read(&table->entries, table->entry, table->stride)) return false;
  memcpy(word, (const char *)table->entry + offset, sizeof *word);
  return true;
}

static bool has_text(struct table *table, unsigned which, uint64_t offset, const char *wanted) {
  uint64_t text;
  size_t bytes = strlen(wanted) + 1;
  return word_of(table, offset, &text) && can_read(&table->texts[which], (uintptr_t)text, bytes) &&
         memcmp((const char *)(uintptr_t)text, wanted, bytes) == 0;
}

bool vm_structs_field(const char *type, const char *field, bool wants_static, uint64_t *where) {
  struct table table;
  uint64_t type_at = number_of("gHotSpotVMStructEntryTypeNameOffset"), begin, is_static;
  uint64_t field_at = number_of("gHotSpotVMStructEntryFieldNameOffset");
  uint64_t static_at = number_of("gHotSpotVMStructEntryIsStaticOffset");
  uint64_t value_at =
      number_of(wants_static ? "gHotSpotVMStructEntryAddressOffset" : "gHotSpotVMStructEntryOffsetOffset");
  if (!open_table(&table, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride")) return false;
  for (unsigned i = 0; i < MOST_ENTRIES && word_of(&table, type_at, &begin) && begin;
       i++, table.entry += table.stride) {
    if (!has_text(&table, 1, field_at, field) || !has_text(&table, 0, type_at, type)) continue;
    return word_of(&table, static_at, &is_static) && ((int32_t)is_static != 0) == wants_static &&
           word_of(&table, value_at, where);
  }
  return false;
}

uint64_t vm_structs_size(const char *type) {
  struct table table;
  uint64_t type_at = number_of("gHotSpotVMTypeEntryTypeNameOffset"), begin, size = 0;
  uint64_t size_at = number_of("gHotSpotVMTypeEntrySizeOffset");
  if (!open_table(&table, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride")) return 0;
  for (unsigned i = 0; i < MOST_ENTRIES && word_of(&table, type_at, &begin) && begin;
       i++, table.entry += table.stride) {
    if (has_text(&table, 0, type_at, type) && word_of(&table, size_at, &size)) return size;
  }
  return 0;
}
