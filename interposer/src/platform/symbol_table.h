/*
 * Which address the loader finds under a name: what an object's table of dynamic symbols says, or a copy of it that
 * says otherwise.
 *
 * The loader reaches an object's table through one word of its own record of the object (glibc: l_info[DT_SYMTAB] of
 * struct link_map), an ordinary word that can always be written. With that word leading to a copy, whatever is loaded,
 * bound or looked up from then on gets what the copy says, before the constructors of a library run; pages of the
 * object stay as they are, even where its table lies among code.
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
 * The copy of the object's table, made if there is none yet. NULL if the loader's word is not found where glibc has it
 * or cannot be written plainly, if there is no memory, or after four objects.
 */
struct symbol_table *symbol_table_of(const struct link_map *object, const struct protected_words *words);

/*
 * Has the copy say `to` for a function that it says is at `from`; one that a resolver would choose (IFUNC) is an
 * ordinary function from then on. Returns how many symbols of that name say `to` now.
 */
unsigned symbol_table_change(struct symbol_table *table, const char *name, uintptr_t from, uintptr_t to);

/* Whether look-ups are led to the copies. False if the word of one is not what it should be. */
bool symbol_tables_install(void);

/*
 * Leads look-ups to the objects' own tables again. Where another library has put a table of its own over a copy, the
 * copy stays in use: it should say what the object's own table says by then.
 */
void symbol_tables_remove(void);

#endif
