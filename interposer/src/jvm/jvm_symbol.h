/* Finds symbols that the JVM exports. */
#ifndef MALLOMETER_JVM_JVM_SYMBOL_H
#define MALLOMETER_JVM_JVM_SYMBOL_H

/* Returns the address of a symbol that the running JVM exports, also if the JVM was loaded with RTLD_LOCAL; NULL if
 * there is none. Takes the dynamic loader's lock. */
void *jvm_symbol(const char *name);

#endif
