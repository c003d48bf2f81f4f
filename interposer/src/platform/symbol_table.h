/*
 * Changes the addresses that the loader finds for names, by a copy of an object's table of dynamic symbols.
 *
 * The loader reaches the table through one pointer in its own record of the object (glibc: l_info[DT_SYMTAB] of struct
 * link_map), which is always writable. When the pointer leads to the copy, later loads, bindings and look-ups get the
 * copy's addresses. A library gets them before its constructors run. Pages of the object are not changed.
 *
 * Copies are never freed, because the loader may still read them without a lock.
 *
 * Only one thread at a time may call these functions, with the loader's lock (platform/loader_lock.h).
 */
#ifndef MALLOMETER_PLATFORM_SYMBOL_TABLE_H
#define MALLOMETER_PLATFORM_SYMBOL_TABLE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/protected_words.h"

struct symbol_table;

/* Returns the copy of the object's table, and makes one if there is none. Returns NULL if the loader's pointer to
 * the table is not found or not writable, if there is no memory, or if four objects already have copies. */
struct symbol_table *symbol_table_of(const struct link_map *object, const struct protected_words *words);

/* Changes the address of a function in the copy from `from` to `to`. Turns an IFUNC, whose address a resolver would
 * choose, into an ordinary function. Returns how many symbols of that name then have the address `to`. */
unsigned symbol_table_change(struct symbol_table *table, const char *name, uintptr_t from, uintptr_t to);

/* Makes look-ups of functions use the copies of the symbol tables. Returns false if another library has changed one
 * of the loader's pointers to the tables. */
bool symbol_tables_install(void);

/* Makes look-ups use the objects' own symbol tables again, instead of the copies that symbol_table_of() made. A
 * pointer of the loader that another library has changed stays as it is. That library may still use our copy, so the
 * caller should then change the copy's addresses back (symbol_table_change()). */
void symbol_tables_remove(void);

#endif
