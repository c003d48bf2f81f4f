/* See owner_names.h. */
#include "jvm/owner_names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SUPERCLASSES = 64, MOST_INTERFACES = 128, LOCAL_REFERENCES = 512 };

static const char *primitive_name(char type) {
  switch (type) {
    case 'J':
      return "long";
    case 'I':
      return "int";
    case 'B':
      return "byte";
    case 'C':
      return "char";
    case 'S':
      return "short";
    case 'Z':
      return "boolean";
    case 'F':
      return "float";
    case 'D':
      return "double";
    default:
      return NULL;
  }
}

static void write_class_name(const char *signature, char name[OWNER_NAME_BYTES]) {
  size_t dimensions = strspn(signature, "[");
  const char *type = signature + dimensions, *primitive = *type == 'L' ? NULL : primitive_name(*type);
  int length = (int)strcspn(type + (*type == 'L'), ";");
  snprintf(name, OWNER_NAME_BYTES, "%.*s", primitive ? (int)strlen(primitive) : length,
           primitive ? primitive : type + (*type == 'L'));
  for (char *c = name; *c; c++) {
    if (*c == '/') *c = '.';
  }
  for (size_t i = 0, end = strlen(name); i < dimensions && end + 3 < OWNER_NAME_BYTES; i++, end += 2) {
    memcpy(name + end, "[]", 3);
  }
}

void owner_class_name(jvmtiEnv *tools, jclass class, char name[OWNER_NAME_BYTES]) {
  char *signature = NULL;
  memcpy(name, "?", 2);
  if ((*tools)->GetClassSignature(tools, class, &signature, NULL) != JVMTI_ERROR_NONE) return;
  write_class_name(signature, name);
  (*tools)->Deallocate(tools, (unsigned char *)signature);
}

/* ---- Fields -------------------------------------------------------------------------------------------- */

struct wanted {
  jvmtiEnv *tools;
  JNIEnv *thread;
  jint left; /* number of fields before the wanted one; NOT_COUNTED: unknown, so no field is found */
  char *name;
  jclass interfaces[MOST_INTERFACES];
  int interface_count;
};

#define NOT_COUNTED INT32_MAX

static bool find_in_class(struct wanted *wanted, jclass class) {
  jvmtiEnv *tools = wanted->tools;
  jint count = 0;
  jfieldID *fields = NULL;
  char *name = NULL;
  if (wanted->left == NOT_COUNTED) return false;
  if ((*tools)->GetClassFields(tools, class, &count, &fields) != JVMTI_ERROR_NONE) {
    wanted->left = NOT_COUNTED;
    return false;
  }
  bool here = wanted->left < count;
  if (here && (*tools)->GetFieldName(tools, class, fields[wanted->left], &name, NULL, NULL) == JVMTI_ERROR_NONE) {
    snprintf(wanted->name, OWNER_NAME_BYTES, "%s", name);
    (*tools)->Deallocate(tools, (unsigned char *)name);
  }
  wanted->left -= count;
  (*tools)->Deallocate(tools, (unsigned char *)fields);
  return here;
}

static bool is_new(struct wanted *wanted, jclass interface) {
  if (wanted->interface_count == MOST_INTERFACES) {
    wanted->left = NOT_COUNTED;
    return false;
  }
  for (int i = 0; i < wanted->interface_count; i++) {
    if ((*wanted->thread)->IsSameObject(wanted->thread, wanted->interfaces[i], interface)) return false;
  }
  wanted->interfaces[wanted->interface_count++] = interface;
  return true;
}

static bool find_in_interfaces(struct wanted *wanted, jclass class) {
  jvmtiEnv *tools = wanted->tools;
  jint count = 0;
  jclass *interfaces = NULL;
  bool found = false;
  if ((*tools)->GetImplementedInterfaces(tools, class, &count, &interfaces) != JVMTI_ERROR_NONE) {
    wanted->left = NOT_COUNTED;
    return false;
  }
  for (jint i = 0; i < count && !found; i++) {
    if (!is_new(wanted, interfaces[i])) continue;
    found = find_in_interfaces(wanted, interfaces[i]) || find_in_class(wanted, interfaces[i]);
  }
  (*tools)->Deallocate(tools, (unsigned char *)interfaces);
  return found;
}

void owner_field_name(jvmtiEnv *tools, JNIEnv *thread, jclass class, jint number, char name[OWNER_NAME_BYTES]) {
  struct wanted wanted = {.tools = tools, .thread = thread, .left = number, .name = name};
  jclass chain[MOST_SUPERCLASSES];
  int depth = 0;
  bool found = false;
  memcpy(name, "?", 2);
  if (number < 0) return;
  if ((*thread)->PushLocalFrame(thread, LOCAL_REFERENCES) != 0) {
    (*thread)->ExceptionClear(thread);
    return;
  }
  for (jclass at = class; at; at = (*thread)->GetSuperclass(thread, at)) {
    if (depth == MOST_SUPERCLASSES) {
      wanted.left = NOT_COUNTED;
      break;
    }
    chain[depth++] = at;
  }
  for (int i = 0; i < depth && !found; i++) found = find_in_interfaces(&wanted, chain[i]);
  for (int i = depth; i-- > 0 && !found;) found = find_in_class(&wanted, chain[i]);
  (*thread)->PopLocalFrame(thread, NULL);
}
