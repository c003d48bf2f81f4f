/* Finds symbols that the JVM exports. */
#ifndef MALLOMETER_JVM_JVM_SYMBOL_H
#define MALLOMETER_JVM_JVM_SYMBOL_H

/* Returns what the running JVM exports by this name, whatever loaded it; NULL if nothing. Enters the loader. */
void *jvm_symbol(const char *name);

#endif
