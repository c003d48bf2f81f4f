/* Names of classes and fields from JVMTI. Call these functions in threads of the JVM, outside of a walk over the
 * heap. */
#ifndef MALLOMETER_JVM_OWNER_NAMES_H
#define MALLOMETER_JVM_OWNER_NAMES_H

#include <jvmti.h>
#include <stddef.h>

#define OWNER_NAME_BYTES 512u

/* Writes the class's name as in Java source, such as java.util.HashMap$Node or long[]; "?" if the JVM does not return
 * it. */
void owner_class_name(jvmtiEnv *tools, jclass class, char name[OWNER_NAME_BYTES]);

/*
 * Writes the name of a field; "?" if the JVM does not return it. `number` is the field's number in walks over the
 * heap (jvmtiHeapReferenceInfoField): fields of interfaces come first, each interface once, then those of
 * superclasses, then those of the class itself.
 */
void owner_field_name(jvmtiEnv *tools, JNIEnv *thread, jclass class, jint number, char name[OWNER_NAME_BYTES]);

#endif
