/* Finds symbols that the JVM exports. */
#ifndef MALLOMETER_JVM_JVM_SYMBOL_H
#define MALLOMETER_JVM_JVM_SYMBOL_H

/* Returns the address of the symbol with this name that the running JVM exports, no matter how the JVM was loaded; NULL
 * if there is none. Enters the loader. */
void *jvm_symbol(const char *name);

#endif
