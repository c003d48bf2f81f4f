/*
 * Reads damaged unwind tables. The test copies the C library's tables into memory of exactly their size, and changes
 * bytes at random. A look-up may or may not find a rule, but must not read outside of the copy, which sanitizers
 * check. The first argument is the number of rounds.
 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/frame_rule.h"

static struct loaded_object original;

/* Finds the segment of the C library that contains the unwind tables. A copy of the segment is valid, because the
 * tables refer to each other by relative addresses. */
static int find_c_library(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(info->dlpi_name, "libc.so")) return 0;
  uintptr_t table = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) table = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
  }
  for (int i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = begin + info->dlpi_phdr[i].p_filesz;
    if (info->dlpi_phdr[i].p_type != PT_LOAD || table < begin || table >= end) continue;
    original = (struct loaded_object){.begin = table, .end = end, .unwind_table = (const uint8_t *)table};
    return 1;
  }
  return 0;
}

static uint64_t state = 88172645463325252u;

static uint64_t random_below(uint64_t end) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % end;
}

/* Returns a random address in a function that the unwind table lists. The table's entries are relative to the
 * table's address. */
static uintptr_t some_function(const struct loaded_object *object) {
  uint32_t count;
  memcpy(&count, object->unwind_table + 8, sizeof count);
  uint32_t most = (uint32_t)((object->end - object->begin - 12) / 8);
  int32_t function;
  memcpy(&function, object->unwind_table + 12 + 8 * random_below(count && count < most ? count : most),
         sizeof function);
  return object->begin + (uintptr_t)(intptr_t)function + random_below(200);
}

/* Reads unwind tables of one function that contain extremely large numbers, so that sums and products overflow.
 * Random changes rarely produce such numbers. */
static void large_factors(void) {
#define ULEB_MAX 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01
#define SLEB_MIN 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f
#define SLEB_MAX 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00
  static const uint8_t programs[][24] = {
      {0x86, ULEB_MAX},    /* offset: register 6 is the frame pointer */
      {0x05, 6, ULEB_MAX}, /* offset_extended */
      {0x11, 6, SLEB_MIN}, /* offset_extended_sf */
      {0x11, 6, SLEB_MAX},
      {0x12, 7, SLEB_MIN},                        /* def_cfa_sf */
      {0x13, SLEB_MAX},                           /* def_cfa_offset_sf */
      {0x04, 0xff, 0xff, 0xff, 0xff, 0x44, 0x44}, /* advance_loc4, advance_loc */
  };
  static const uint8_t data_units[][10] = {{SLEB_MIN}, {SLEB_MAX}, {0x02, 0}, {0x78, 0}};
  for (size_t unit = 0; unit < sizeof data_units / sizeof *data_units; unit++) {
    for (size_t program = 0; program < sizeof programs / sizeof *programs; program++) {
      uint8_t *memory = calloc(1, 200), *at = memory;
      if (!memory) exit(1);
      /* .eh_frame_hdr: the version and three encodings, the address of .eh_frame, the number of entries, and the only
       * entry. */
      const int32_t header[] = {0x3b031b01, 0, 1, 0, 120};
      memcpy(at, header, sizeof header);
      at = memory + 20; /* the CIE: length, id, version, no augmentation, factors, return address register */
      const uint32_t length = 60;
      memcpy(at, &length, 4);
      at[8] = 1;
      at += 10;
      const uint8_t code_unit[] = {ULEB_MAX};
      memcpy(at, code_unit, sizeof code_unit);
      at += sizeof code_unit;
      for (const uint8_t *byte = data_units[unit];; byte++) {
        *at++ = *byte;
        if (!(*byte & 0x80)) break;
      }
      *at = 16;
      at = memory + 120; /* the FDE: length, distance to the CIE, begin and size of the function, program */
      const uint32_t function_length = 60, distance = 104;
      const uint64_t begin = (uintptr_t)memory, bytes = UINT64_MAX / 2;
      memcpy(at, &function_length, 4);
      memcpy(at + 4, &distance, 4);
      memcpy(at + 8, &begin, 8);
      memcpy(at + 16, &bytes, 8);
      memcpy(at + 24, programs[program], sizeof programs[program]);
      struct loaded_object object = {
          .begin = (uintptr_t)memory, .end = (uintptr_t)memory + 200, .unwind_table = memory};
      struct frame_rule rule;
      frame_rule_at((uintptr_t)memory + 100, &object, &rule);
      free(memory);
    }
  }
}

int main(int argc, char **argv) {
  large_factors();
  long rounds = argc > 1 ? atol(argv[1]) : 2000, rules = 0, asked = 0;
  dl_iterate_phdr(find_c_library, NULL);
  if (!original.unwind_table) {
    fprintf(stderr, "the C library has no table\n");
    return 1;
  }
  size_t size = original.end - original.begin;
  for (long round = 0; round < rounds; round++) {
    uint8_t *copy = malloc(size);
    if (!copy) return 1;
    memcpy(copy, (const void *)original.begin, size);
    /* The first round leaves the copy undamaged. Each later round changes up to 2,999 bytes, and every fourth also
     * truncates the copy. */
    size_t kept = round % 4 == 3 ? 16 + random_below(size - 16) : size;
    if (kept < size) {
      uint8_t *shorter = malloc(kept);
      if (!shorter) return 1;
      memcpy(shorter, copy, kept);
      free(copy);
      copy = shorter;
    }
    for (uint64_t changes = round ? random_below(3000) : 0; changes > 0; changes--) {
      copy[random_below(kept)] = (uint8_t)random_below(256);
    }
    if (round % 3) copy[0] = 1, copy[1] = 0x1b, copy[2] = 0x03, copy[3] = 0x3b;
    struct loaded_object object = {.begin = (uintptr_t)copy, .end = (uintptr_t)copy + kept, .unwind_table = copy};
    for (int i = 0; i < 500; i++, asked++) {
      struct frame_rule rule;
      rules += frame_rule_at(some_function(&object), &object, &rule);
    }
    free(copy);
    if (round == 0 && rules < 300) {
      fprintf(stderr, "only %ld rules of 500 in undamaged tables\n", rules);
      return 1;
    }
  }
  printf("%ld rules for %ld addresses in %ld rounds\n", rules, asked, rounds);
  return 0;
}
