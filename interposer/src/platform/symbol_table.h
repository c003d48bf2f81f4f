/*
 * Changes the addresses that the loader finds under names, by a copy of an object's table of dynamic symbols.
 *
 * The loader reaches the table through one word of its own record of the object (glibc: l_info[DT_SYMTAB] of struct
 * link_map), which is always writable. When the word leads to a copy, everything that is loaded, bound or looked up
 * from then on gets the copy's addresses, before the constructors of a library run. Pages of the object stay as they
 * are, even if its table lies among code.
 *
 * Copies stay when the word leads to the object's own table again, since the loader reads them without a lock.
 *
 * All functions are for one thread at a time, with the loader's lock (platform/loader_lock.h).
 */
#ifndef MALLOMETER_PLATFORM_SYMBOL_TABLE_H
#define MALLOMETER_PLATFORM_SYMBOL_TABLE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/protected_words.h"

struct symbol_table;

/*
 * Returns the copy of the object's table, and makes it if there is none. NULL if the loader's word is not found where
 * glibc has it or is not writable, if there is no memory, or after four objects.
 */
struct symbol_table *symbol_table_of(const struct link_map *object, const struct protected_words *words);

/*
 * Changes the address of a function in the copy from `from` to `to`; one that a resolver would choose (IFUNC) becomes
 * an ordinary function. Returns how many symbols of that name have the address `to` afterwards.
 */
unsigned symbol_table_change(struct symbol_table *table, const char *name, uintptr_t from, uintptr_t to);

/* Leads look-ups to the copies. Returns false if another library has changed the word of one. */
bool symbol_tables_install(void);

/*
 * Leads look-ups to the objects' own tables again. If another library has put its own table over a copy, the copy stays
 * in use, and should have the same contents as the object's table by then.
 */
void symbol_tables_remove(void);

#endif
