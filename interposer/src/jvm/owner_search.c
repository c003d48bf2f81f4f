/* The walks over the heap and their callbacks. See owner_search.h. */
#include "jvm/owner_search.h"

#include <errno.h>
#include <jvmti.h>
#include <stdio.h>
#include <string.h>

#include "jvm/attach.h"
#include "jvm/methods.h"
#include "jvm/native_pointers.h"
#include "jvm/owner_names.h"
#include "platform/clock.h"
#include "platform/memory.h"

/* JVMTI tags: an object that is recorded in `graph` has the tag 1 + its number there. The tags of classes have the
 * bit CLASS_TAG. */
#define CLASS_TAG ((jlong)1 << 40)
/* The tag of classes whose long fields are addresses. The fields may point into the middle of a block. */
#define ADDRESSES ((jlong)1 << 41)
/* The tag of java.lang.Thread and its subclasses. Their field eetop is the address of the JVM's thread structure,
 * from which pointers lead to memory of the JVM. */
#define THREADS ((jlong)1 << 44)

/* Tags for objects that are not in the graph. CHAIN_TAG is for an object of a chain, such as a node of a queue.
 * ENTRY_TAG is for an entry, an object that refers to the chain from outside (see "Chains" below). The tag also
 * contains the number of the entry. */
#define CHAIN_TAG ((jlong)1 << 42)
#define ENTRY_TAG ((jlong)1 << 43)
#define NUMBER_MASK (((jlong)1 << 32) - 1)

enum {
  TAGS_AT_ONCE = 256,
  LOCAL_REFERENCES = 64,
  CHOSEN_COUNTS = 1024,
  /* The number of holders that are chosen for each field. A holder is an object with a block's address in the field;
   * holders without referrers do not count. */
  MOST_CHOSEN = 64,
  MOST_ENTRIES = 32768,
  /* Limits the memory of the JVM, which keeps some 70 bytes for each tag until the search ends. */
  MOST_CHAIN_TAGS = 65536
};

static jvmtiEnv *tools;
static JNIEnv *thread;
static struct owner_graph *graph;
static uint64_t walk_ns;
static uint32_t level;
static uint32_t entries, chain_tags, chain_name;
static uint32_t entries_before; /* `entries` before the latest walk along a chain; see is_of_this_walk() */
static bool collects_candidates, looks_for_pointers;

static struct memory {
  struct native_ranges ranges;
  struct mallometer_method method;
  uint8_t chosen[CHOSEN_COUNTS];
  struct entry {
    jlong referrer; /* the referrer's tag; 0: a root */
    struct heap_link link;
  } entry[MOST_ENTRIES];
  char name[OWNER_NAME_BYTES];
  char other[OWNER_NAME_BYTES];
} * memory;

/* ---- Begin and end ------------------------------------------------------------------------------------- */

static int error_of(jvmtiError error) {
  switch (error) {
    case JVMTI_ERROR_NONE:
      return 0;
    case JVMTI_ERROR_OUT_OF_MEMORY:
      return -ENOMEM;
    case JVMTI_ERROR_WRONG_PHASE:
    case JVMTI_ERROR_UNATTACHED_THREAD:
      return -ESRCH;
    case JVMTI_ERROR_NOT_AVAILABLE:
    case JVMTI_ERROR_MUST_POSSESS_CAPABILITY:
      return -ENOTSUP;
    default:
      return -EIO;
  }
}

static int make_environment(void) {
  const jvmtiCapabilities wanted = {.can_tag_objects = 1};
  JavaVM *vm;
  void *environment;
  int error = jvm_find(&vm, &thread);
  if (error) return error;
  if ((*vm)->GetEnv(vm, &environment, JVMTI_VERSION_1_2) != JNI_OK) return -ENOTSUP;
  tools = environment;
  error = error_of((*tools)->AddCapabilities(tools, &wanted));
  if (error) (*tools)->DisposeEnvironment(tools);
  return error;
}

struct owner_graph *owner_search_begin(int *error) {
  memory = memory_reserve(sizeof *memory);
  graph = memory ? owner_graph_start() : NULL;
  *error = graph ? make_environment() : -ENOMEM;
  if (*error == 0) {
    walk_ns = 0;
    level = entries = chain_tags = 0;
    return graph;
  }
  if (graph) owner_graph_end(graph);
  if (memory) memory_give_back(memory, sizeof *memory);
  graph = NULL;
  return NULL;
}

void owner_search_end(void) {
  if (jvm_find(NULL, &thread) == 0) (*tools)->DisposeEnvironment(tools);
  owner_graph_end(graph);
  memory_give_back(memory, sizeof *memory);
  graph = NULL;
}

size_t owner_search_footprint(void) { return memory_whole_pages(sizeof *graph) + memory_whole_pages(sizeof *memory); }

static int enter(void) {
  int error = jvm_find(NULL, &thread);
  if (error) return error;
  if ((*thread)->PushLocalFrame(thread, LOCAL_REFERENCES) == 0) return 0;
  (*thread)->ExceptionClear(thread);
  return -ENOMEM;
}

static void leave(void) { (*thread)->PopLocalFrame(thread, NULL); }

/* ---- Classes ------------------------------------------------------------------------------------------- */

static bool declares_long(jclass class) {
  jint count = 0;
  jfieldID *fields = NULL;
  bool found = false;
  if ((*tools)->GetClassFields(tools, class, &count, &fields) != JVMTI_ERROR_NONE) return false;
  for (jint i = 0; i < count && !found; i++) {
    char *type = NULL;
    if ((*tools)->GetFieldName(tools, class, fields[i], NULL, &type, NULL) != JVMTI_ERROR_NONE) continue;
    found = *type == 'J';
    (*tools)->Deallocate(tools, (unsigned char *)type);
  }
  (*tools)->Deallocate(tools, (unsigned char *)fields);
  return found;
}

static bool has_long(jclass class) {
  bool found = declares_long(class);
  jclass at = (*thread)->GetSuperclass(thread, class);
  while (at && !found) {
    found = declares_long(at);
    jclass super = (*thread)->GetSuperclass(thread, at);
    (*thread)->DeleteLocalRef(thread, at);
    at = super;
  }
  if (at) (*thread)->DeleteLocalRef(thread, at);
  return found;
}

static bool begins_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

static jlong flags_of(jclass class, jclass threads, const char *signature) {
  static const char *const of_addresses[] = {"Ljava/nio/", "Lsun/nio/", "Ljdk/internal/foreign/", "Lio/netty/"};
  for (size_t i = 0; i < sizeof of_addresses / sizeof *of_addresses; i++) {
    if (begins_with(signature, of_addresses[i])) return ADDRESSES;
  }
  return threads && (*thread)->IsAssignableFrom(thread, class, threads) ? ADDRESSES | THREADS : 0;
}

static bool is_searched(jclass class, const char *signature) {
  if (strcmp(signature, "[J") == 0 || strcmp(signature, "Ljava/lang/Class;") == 0) return true;
  return *signature == 'L' && has_long(class);
}

static jclass class_of_threads(void) {
  jclass class = (*thread)->FindClass(thread, "java/lang/Thread");
  if (!class) (*thread)->ExceptionClear(thread);
  return class;
}

/* Tags the classes whose instances may contain Java longs, or removes these tags. The walk over the heap reads only
 * instances of tagged classes. */
static int tag_classes(bool tagged) {
  jint count = 0;
  jclass *classes = NULL;
  int error = error_of((*tools)->GetLoadedClasses(tools, &count, &classes));
  if (error) return error;
  jclass threads = class_of_threads();
  for (jint i = 0; i < count; i++) {
    char *signature = NULL;
    jlong tag = 0;
    if (!tagged) {
      if ((*tools)->GetTag(tools, classes[i], &tag) == JVMTI_ERROR_NONE && (tag & CLASS_TAG)) {
        (void)(*tools)->SetTag(tools, classes[i], 0);
      }
    } else if ((*tools)->GetClassSignature(tools, classes[i], &signature, NULL) == JVMTI_ERROR_NONE) {
      if (is_searched(classes[i], signature)) {
        tag = CLASS_TAG | flags_of(classes[i], threads, signature) | i;
        (void)(*tools)->SetTag(tools, classes[i], tag);
      }
      (*tools)->Deallocate(tools, (unsigned char *)signature);
    }
    (*thread)->DeleteLocalRef(thread, classes[i]);
  }
  (*tools)->Deallocate(tools, (unsigned char *)classes);
  if (threads) (*thread)->DeleteLocalRef(thread, threads);
  return 0;
}

/* ---- Callbacks of the walk that reads Java longs: the JVM is stopped meanwhile ------------------------------ */

struct place {
  jlong class_tag;
  jlong *tag; /* the tag of the object; for a static field, that of the class with the field */
  int32_t field;
};

static uint32_t new_holder(void) {
  uint32_t object = owner_graph_add_object(graph, 0);
  if (object != NO_HEAP_OBJECT) graph->object[object].is_followed = true;
  return object;
}

static void add_hold(const struct place *place, uint32_t block, uint32_t steps) {
  uint32_t object = NO_HEAP_OBJECT;
  bool is_static = *place->tag & CLASS_TAG;
  if (!is_static) {
    object = *place->tag == 0 ? new_holder() : (uint32_t)(*place->tag - 1);
    if (object == NO_HEAP_OBJECT) return;
    *place->tag = (jlong)object + 1;
  }
  struct owner_hold *hold = owner_graph_add_hold(graph, object);
  if (!hold) return;
  hold->class_tag = is_static ? *place->tag : place->class_tag;
  hold->field = place->field;
  hold->block = block;
  hold->steps = steps;
}

static void check_value(uint64_t value, const struct place *place) {
  bool is_of_thread = !(*place->tag & CLASS_TAG) && (place->class_tag & THREADS);
  if (looks_for_pointers) {
    uint32_t first, count = owner_graph_pointers_at(graph, value, &first);
    for (uint32_t i = first; i < first + count; i++) add_hold(place, graph->pointer[i].block, graph->pointer[i].steps);
    return;
  }
  int block = owner_graph_block_at(graph, value);
  if (block < 0) {
    if (collects_candidates && native_ranges_contain(&memory->ranges, value))
      owner_graph_add_candidate(graph, value, is_of_thread);
    return;
  }
  bool is_start = value == graph->block[block].begin;
  bool is_address = (place->class_tag | *place->tag) & ADDRESSES;
  if (!is_start && graph->block[block].is_low && !is_address) return;
  graph->is_held[block] = true;
  add_hold(place, (uint32_t)block, 0);
  if (collects_candidates && is_start) owner_graph_add_candidate(graph, value, is_of_thread);
}

static jint JNICALL on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag,
                             jlong *tag, jvalue value, jvmtiPrimitiveType type, void *data) {
  (void)kind, (void)data;
  if (type == JVMTI_PRIMITIVE_TYPE_LONG) {
    check_value((uint64_t)value.j, &(struct place){class_tag, tag, info->field.index});
  }
  return 0;
}

static jint JNICALL on_array(jlong class_tag, jlong size, jlong *tag, jint count, jvmtiPrimitiveType type,
                             const void *elements, void *data) {
  (void)size, (void)data;
  const uint64_t *values = elements;
  if (type != JVMTI_PRIMITIVE_TYPE_LONG) return 0;
  for (jint i = 0; i < count; i++) check_value(values[i], &(struct place){class_tag, tag, -1});
  return 0;
}

/* ---- Objects by their tags ---------------------------------------------------------------------------------- */

static void with_tagged(const jlong *tags, jint wanted, void (*act)(jobject object, jlong tag)) {
  jint count = 0;
  jobject *objects = NULL;
  jlong *found = NULL;
  if (wanted == 0 || (*tools)->GetObjectsWithTags(tools, wanted, tags, &count, &objects, &found) != JVMTI_ERROR_NONE)
    return;
  for (jint i = 0; i < count; i++) {
    act(objects[i], found[i]);
    (*thread)->DeleteLocalRef(thread, objects[i]);
  }
  (*tools)->Deallocate(tools, (unsigned char *)objects);
  (*tools)->Deallocate(tools, (unsigned char *)found);
}

static void with_objects(bool (*wants)(const struct heap_object *object), void (*act)(jobject object, jlong tag)) {
  jlong tags[TAGS_AT_ONCE];
  jint count = 0;
  for (uint32_t i = 0; i < graph->objects; i++) {
    if (!wants(&graph->object[i])) continue;
    tags[count++] = (jlong)i + 1;
    if (count < TAGS_AT_ONCE) continue;
    with_tagged(tags, count, act);
    count = 0;
  }
  with_tagged(tags, count, act);
}

/* ---- Names ---------------------------------------------------------------------------------------------- */

static uint32_t holds_from; /* the latest walk's first index in graph->hold; class tags before that index are invalid */

static void name_holds_of(jobject class, jlong tag) {
  owner_class_name(tools, class, memory->name);
  uint32_t name = owner_graph_name(graph, memory->name);
  for (uint32_t i = holds_from; i < graph->holds; i++) {
    struct owner_hold *hold = &graph->hold[i];
    if (hold->class_tag != tag || hold->class_name != NO_NAME) continue;
    hold->class_name = name;
    if (hold->field < 0) continue;
    owner_field_name(tools, thread, class, hold->field, memory->other);
    hold->field_name = owner_graph_name(graph, memory->other);
    bool is_of_thread = (tag & THREADS) && strcmp(memory->other, "eetop") == 0;
    /* Subclasses of Thread count as Thread, so that chosen_count() has one counter for all threads. */
    if (is_of_thread) hold->class_name = owner_graph_name(graph, "java.lang.Thread");
    for (uint32_t j = i + 1; j < graph->holds; j++) {
      struct owner_hold *same = &graph->hold[j];
      if (same->class_tag != tag || same->field != hold->field) continue;
      same->class_name = hold->class_name;
      same->field_name = hold->field_name;
    }
  }
}

static void name_holds(void) {
  for (uint32_t i = holds_from; i < graph->holds; i++) {
    jlong tag = graph->hold[i].class_tag; /* a copy, because on macOS a pointer to int64_t is no pointer to jlong */
    if (graph->hold[i].class_name == NO_NAME) with_tagged(&tag, 1, name_holds_of);
  }
}

static bool is_instance(jobject object, const char *class_name) {
  jclass class = (*thread)->FindClass(thread, class_name);
  if (!class) {
    (*thread)->ExceptionClear(thread);
    return false;
  }
  bool is = (*thread)->IsInstanceOf(thread, object, class);
  (*thread)->DeleteLocalRef(thread, class);
  return is;
}

static uint32_t kinds_of(jobject object) {
  if (is_instance(object, "java/lang/Class")) return MALLOMETER_HEAP_OBJECT_CLASS;
  if (is_instance(object, "java/lang/Thread")) return MALLOMETER_HEAP_OBJECT_THREAD;
  if (!is_instance(object, "java/lang/ref/Reference")) return 0;
  uint32_t kinds = MALLOMETER_HEAP_OBJECT_REFERENCE;
  if (is_instance(object, "java/lang/ref/SoftReference")) kinds |= MALLOMETER_HEAP_OBJECT_SOFT;
  if (is_instance(object, "java/lang/ref/PhantomReference")) kinds |= MALLOMETER_HEAP_OBJECT_PHANTOM;
  if (is_instance(object, "java/lang/ref/FinalReference")) kinds |= MALLOMETER_HEAP_OBJECT_FINAL;
  return kinds;
}

/* Returns whether the search for referrers stops at this object. It stops at a class, because a static field of the
 * class contains the reference that was found. It stops at a phantom reference (a cleaner), because the code that
 * creates such references always keeps them reachable. */
static bool ends_paths(const struct heap_object *object) {
  return object->kinds & (MALLOMETER_HEAP_OBJECT_CLASS | MALLOMETER_HEAP_OBJECT_PHANTOM);
}

static void name_object(jobject instance, jlong tag) {
  struct heap_object *object = &graph->object[tag - 1];
  jclass class = (*thread)->GetObjectClass(thread, instance);
  object->kinds = kinds_of(instance);
  bool is_class = object->kinds & MALLOMETER_HEAP_OBJECT_CLASS;
  owner_class_name(tools, is_class ? (jclass)instance : class, memory->name);
  object->class_name = owner_graph_name(graph, memory->name);
  if (ends_paths(object)) object->is_followed = false;
  (*thread)->DeleteLocalRef(thread, class);
}

static bool has_no_name(const struct heap_object *object) { return object->class_name == NO_NAME; }

static uint32_t named_from; /* the number of the first link that has no name yet */

static void name_links_of(jobject instance, jlong tag) {
  bool is_class = graph->object[tag - 1].kinds & MALLOMETER_HEAP_OBJECT_CLASS;
  graph->object[tag - 1].has_new_link = false;
  jclass class = is_class ? NULL : (*thread)->GetObjectClass(thread, instance);
  for (uint32_t i = named_from; i < graph->links; i++) {
    struct heap_link *link = &graph->link[i];
    if (link->referrer != (uint32_t)(tag - 1) || link->name != NO_NAME) continue;
    jclass of = link->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD ? (jclass)instance : class;
    if (!of || (link->kind != JVMTI_HEAP_REFERENCE_STATIC_FIELD && link->kind != JVMTI_HEAP_REFERENCE_FIELD)) continue;
    owner_field_name(tools, thread, of, link->field, memory->other);
    link->name = owner_graph_name(graph, memory->other);
  }
  if (class) (*thread)->DeleteLocalRef(thread, class);
}

static bool has_new_link(const struct heap_object *object) { return object->has_new_link; }

static void name_methods(void) {
  for (uint32_t i = named_from; i < graph->links; i++) {
    struct heap_link *link = &graph->link[i];
    if (link->referrer != NO_HEAP_OBJECT || link->method == UINT32_MAX) continue;
    memset(&memory->method, 0, sizeof memory->method);
    if (jvm_describe_method(link->method, &memory->method) != 0) continue;
    snprintf(memory->name, sizeof memory->name, "%.*s.%.128s", (int)strcspn(memory->method.class_signature + 1, ";"),
             memory->method.class_signature + 1, memory->method.name);
    for (char *c = memory->name; *c; c++) {
      if (*c == '/') *c = '.';
    }
    link->name = owner_graph_name(graph, memory->name);
  }
}

/* ---- The walk that reads Java longs --------------------------------------------------------------------- */

static int walk_for_longs(void) {
  const jvmtiHeapCallbacks callbacks = {.primitive_field_callback = on_field,
                                        .array_primitive_value_callback = on_array};
  uint64_t begin = monotonic_ns();
  int error = error_of((*tools)->IterateThroughHeap(tools, JVMTI_HEAP_FILTER_CLASS_UNTAGGED, NULL, &callbacks, NULL));
  walk_ns = monotonic_ns() - begin;
  return error;
}

/* Finds the holders. A holder is a Java object with a long that is the address of a block, or of a native structure
 * that leads to a block. Tags the holders and stores their names. Then removes the tags of classes, because
 * otherwise later walks would also report the reference of each object to its class. */
static int find_holders(void) {
  int error = enter();
  if (error) return error;
  holds_from = graph->holds;
  error = tag_classes(true);
  if (!error) error = walk_for_longs();
  if (!error) {
    name_holds();
    with_objects(has_no_name, name_object);
  }
  (void)tag_classes(false);
  leave();
  return error;
}

int owner_search_find_holders(void) {
  native_ranges_read(&memory->ranges);
  collects_candidates = true;
  looks_for_pointers = false;
  return find_holders();
}

void owner_search_follow_pointers(bool chunks_have_sizes) {
  native_pointers_follow(graph, &memory->ranges, chunks_have_sizes);
}

int owner_search_find_pointer_holders(void) {
  collects_candidates = false;
  looks_for_pointers = true;
  return find_holders();
}

/* ---- Choice of holders ---------------------------------------------------------------------------------- */

/* Holders are Java objects with a long that is the address of a block, or of a native structure that leads to a block.
 * They are chosen during the first walk along references, which reaches only live objects. A dead object may contain
 * the address of a freed block, where a new block lies now. */

/* Returns the counter of holders (Java objects) that were chosen for an address in the field that `hold` describes.
 * A field has two counters: one for addresses in a block, and one for addresses that lead to a block through other
 * native memory. */
static uint8_t *chosen_count(const struct owner_hold *hold) {
  uint64_t way = ((uint64_t)hold->class_name * 31 + hold->field_name) * 2 + (hold->steps > 0);
  return &memory->chosen[(way * 0x9e3779b97f4a7c15u >> 40) % CHOSEN_COUNTS];
}

static bool choose(const struct heap_object *holder) {
  for (uint32_t at = holder->first_hold; at != 0; at = graph->hold[at - 1].next) {
    uint8_t *chosen = chosen_count(&graph->hold[at - 1]);
    if (*chosen == MOST_CHOSEN) continue;
    ++*chosen;
    return true;
  }
  return false;
}

/* Ends the choice of holders, after the first walk along references. Holders that the walk reached but did not
 * choose are no longer followed: the search does not look for their referrers. Holders that the walk did not reach
 * are garbage. They are marked as expanded, because there are no referrers to look for. */
static void drop_unchosen_holders(void) {
  for (uint32_t i = 0; i < graph->objects; i++) {
    struct heap_object *object = &graph->object[i];
    if (object->level > 0 || !object->is_followed || object->is_expanded) continue;
    object->is_expanded = !object->is_reached;
    object->is_followed = !object->is_reached;
  }
}

/* ---- A walk for referrers ------------------------------------------------------------------------------- */

static bool is_looked_for(const struct heap_object *object) {
  return object->level == level && object->is_followed && !object->is_expanded;
}

static bool is_object(jlong tag) { return tag > 0 && tag <= MOST_HEAP_OBJECTS; }

static void describe_root(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, struct heap_link *link) {
  jmethodID method = NULL;
  if (kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL) {
    link->thread = (uint64_t)info->stack_local.thread_id;
    method = info->stack_local.method;
  } else if (kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL) {
    link->thread = (uint64_t)info->jni_local.thread_id;
    method = info->jni_local.method;
  }
  if (method && jvm_state() == MALLOMETER_JAVA_ON) link->method = method_number(method);
}

static struct heap_link link_of(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, bool is_root) {
  struct heap_link link = {.object = NO_HEAP_OBJECT,
                           .referrer = NO_HEAP_OBJECT,
                           .kind = (uint32_t)kind,
                           .name = NO_NAME,
                           .field = -1,
                           .method = UINT32_MAX};
  bool has_field = kind == JVMTI_HEAP_REFERENCE_FIELD || kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD;
  if (is_root) describe_root(kind, info, &link);
  if (has_field && !is_root) link.field = info->field.index;
  return link;
}

/* Makes the next walk search for the referrers of this object, unless paths end at it. */
static void follow_next(struct heap_object *referrer, jvmtiHeapReferenceKind kind) {
  referrer->has_new_link = true;
  if (referrer->is_expanded || ends_paths(referrer) || kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD) return;
  referrer->level = level + 1;
  referrer->is_followed = true;
}

/* Records a reference to a tagged object. The JVM calls this function while the program is stopped. */
static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag,
                                 jlong referrer_class_tag, jlong size, jlong *tag, jlong *referrer_tag, jint length,
                                 void *data) {
  (void)class_tag, (void)referrer_class_tag, (void)size, (void)length, (void)data;
  if (!is_object(*tag) || kind == JVMTI_HEAP_REFERENCE_CLASS) return JVMTI_VISIT_OBJECTS;
  uint32_t number = (uint32_t)(*tag - 1);
  struct heap_object *object = &graph->object[number];
  bool is_first = !object->is_reached;
  object->is_reached = true;
  if (object->level != level) return JVMTI_VISIT_OBJECTS;
  if (level == 0 && is_first && object->is_followed) object->is_expanded = choose(object);
  if (!object->is_expanded) return JVMTI_VISIT_OBJECTS;
  struct heap_link link = link_of(kind, info, !referrer_tag);
  link.object = number;
  if (!referrer_tag) {
    owner_graph_add_link(graph, &link);
    return JVMTI_VISIT_OBJECTS;
  }
  if (object->referrers == MOST_REFERRERS) {
    object->has_more = true;
    return JVMTI_VISIT_OBJECTS;
  }
  if (!is_object(*referrer_tag)) *referrer_tag = (jlong)owner_graph_add_object(graph, level + 1) + 1;
  link.referrer = (uint32_t)(*referrer_tag - 1);
  if (link.referrer == NO_HEAP_OBJECT) {
    *referrer_tag = 0;
    object->has_more = true;
    return JVMTI_VISIT_OBJECTS;
  }
  follow_next(&graph->object[link.referrer], kind);
  owner_graph_add_link(graph, &link);
  return JVMTI_VISIT_OBJECTS;
}

static jclass only_class;
static bool are_of_one_class;

static void expand(jobject instance, jlong tag) {
  jclass class = (*thread)->GetObjectClass(thread, instance);
  if (level > 0) graph->object[tag - 1].is_expanded = true; /* holders get this flag when they are chosen */
  if (!only_class) {
    only_class = class;
    return;
  }
  are_of_one_class = are_of_one_class && (*thread)->IsSameObject(thread, only_class, class);
  (*thread)->DeleteLocalRef(thread, class);
}

/* Marks the referrers of the searched objects as unknown again, after a walk that failed. */
static void forget_expanded(void) {
  for (uint32_t i = 0; i < graph->objects; i++) {
    struct heap_object *object = &graph->object[i];
    if (object->level == level) object->is_expanded = false;
    if (level == 0) object->is_reached = false;
  }
  if (level == 0) memset(memory->chosen, 0, sizeof memory->chosen);
}

/* `filter` is HEAP_FILTER_UNTAGGED or 0; `class` is NULL for all classes. */
static int walk_along_references(jint filter, jclass class, jvmtiHeapReferenceCallback called) {
  const jvmtiHeapCallbacks callbacks = {.heap_reference_callback = called};
  uint64_t begin = monotonic_ns();
  int error = error_of((*tools)->FollowReferences(tools, filter, class, NULL, &callbacks, NULL));
  walk_ns = monotonic_ns() - begin;
  if (error) forget_expanded();
  return error;
}

static int walk_for_referrers(void) {
  only_class = NULL;
  are_of_one_class = true;
  with_objects(is_looked_for, expand);
  if (!only_class) return -ENODATA;
  return walk_along_references(JVMTI_HEAP_FILTER_UNTAGGED, are_of_one_class ? only_class : NULL, on_reference);
}

/* ---- Chains --------------------------------------------------------------------------------------------- */

/*
 * A chain consists of objects of one class that refer to each other, such as the nodes of a queue. One walk for each
 * link would take too long, so a single walk reports all references to objects of the class. Such a walk is made if at
 * least half of the objects whose referrers are sought refer to objects of their own class.
 *
 * An entry is a root, or an object outside of the chain, that refers to a member of the chain. The first reported
 * reference to a member determines the member's entry:
 *
 * - If the referrer is a root or outside of the chain, the referrer is the entry.
 * - If the referrer is a member itself, both members have the same entry. The referrer's entry is known by then,
 *   because the JVM reports a reference to an object before the references from that object.
 */

static uint32_t new_entry(jlong referrer, const struct heap_link *link) {
  if (entries == MOST_ENTRIES) return 0;
  memory->entry[entries++] = (struct entry){referrer, *link};
  return entries;
}

static bool is_of_this_walk(jlong tag) { return (uint32_t)(tag & NUMBER_MASK) > entries_before; }

/* Returns the entry for a member of a chain (objects of one class that refer to each other): the root or outside
 * object through which the walk reached the member. The result is 1 + the index in memory->entry; 0 if unknown. */
static uint32_t entry_of_link(jlong tag) {
  if (is_object(tag)) return graph->object[tag - 1].entry;
  return (tag & CHAIN_TAG) && is_of_this_walk(tag) ? (uint32_t)(tag & NUMBER_MASK) : 0;
}

static uint32_t entry_from_outside(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong *referrer) {
  struct heap_link link = link_of(kind, info, !referrer);
  if (!referrer) return new_entry(0, &link);
  if ((*referrer & ENTRY_TAG) && is_of_this_walk(*referrer)) return (uint32_t)(*referrer & NUMBER_MASK);
  if (is_object(*referrer)) {
    struct heap_object *object = &graph->object[*referrer - 1];
    if (object->entry == 0) object->entry = new_entry(*referrer, &link);
    return object->entry;
  }
  uint32_t entry = new_entry(ENTRY_TAG | (jlong)(entries + 1), &link);
  if (entry > 0) *referrer = ENTRY_TAG | (jlong)entry;
  return entry;
}

/* Records a reference to an object of the class that forms a chain, such as the nodes of a queue. The JVM calls this
 * function while the program is stopped. */
static jint JNICALL on_chain_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag,
                                       jlong referrer_class_tag, jlong size, jlong *tag, jlong *referrer_tag,
                                       jint length, void *data) {
  (void)class_tag, (void)size, (void)length, (void)data;
  if (kind == JVMTI_HEAP_REFERENCE_CLASS) return JVMTI_VISIT_OBJECTS;
  bool is_within = referrer_tag && (referrer_class_tag & CLASS_TAG);
  uint32_t entry = is_within ? entry_of_link(*referrer_tag) : entry_from_outside(kind, info, referrer_tag);
  if (is_object(*tag)) {
    struct heap_object *object = &graph->object[*tag - 1];
    object->is_reached = true;
    if (object->entry == 0) object->entry = entry;
  } else if (entry > 0 && entry_of_link(*tag) == 0 && chain_tags < MOST_CHAIN_TAGS) {
    *tag = CHAIN_TAG | (jlong)entry;
    chain_tags++;
  }
  return JVMTI_VISIT_OBJECTS;
}

/* Returns the name of a class whose objects form a chain, such as the nodes of a queue; NO_NAME if there is none.
 * There is a chain if at least half of the objects whose referrers are sought next (is_looked_for()) refer to an
 * object of their own class. */
static uint32_t name_of_chain(void) {
  uint32_t looked_for = 0, chained = 0, name = NO_NAME;
  for (uint32_t i = 0; i < graph->objects; i++) looked_for += is_looked_for(&graph->object[i]);
  for (uint32_t i = 0; i < graph->links; i++) {
    const struct heap_link *link = &graph->link[i];
    if (link->referrer == NO_HEAP_OBJECT || !is_looked_for(&graph->object[link->referrer])) continue;
    uint32_t class = graph->object[link->referrer].class_name;
    if (class == NO_NAME || class != graph->object[link->object].class_name) continue;
    name = class;
    chained++;
  }
  return chained > 0 && 2 * chained >= looked_for ? name : NO_NAME;
}

static bool is_of_chain(const struct heap_object *object) {
  return is_looked_for(object) && object->class_name == chain_name;
}

static uint32_t of_entry; /* an argument of tag_as_object(): the number of the object in the graph */

static void tag_as_object(jobject instance, jlong tag) {
  (void)tag;
  if ((*tools)->SetTag(tools, instance, (jlong)of_entry + 1) != JVMTI_ERROR_NONE) of_entry = NO_HEAP_OBJECT;
}

static uint32_t object_of_entry(struct entry *entry) {
  if (is_object(entry->referrer)) return (uint32_t)(entry->referrer - 1);
  uint32_t objects = graph->objects;
  of_entry = owner_graph_add_object(graph, level + 1);
  if (of_entry == NO_HEAP_OBJECT) return NO_HEAP_OBJECT;
  with_tagged(&entry->referrer, 1, tag_as_object);
  if (of_entry == NO_HEAP_OBJECT) graph->objects = objects;
  entry->referrer = (jlong)of_entry + 1;
  return of_entry;
}

/* Records the entry as the referrer of an object in a chain such as a queue. The entry is the root or outside object
 * through which the walk reached the object. Sets `has_more`, because other objects of the chain may also refer to
 * the object. */
static void link_to_entry(uint32_t number) {
  struct heap_object *object = &graph->object[number];
  object->has_more = true;
  if (object->entry == 0) return;
  struct entry *entry = &memory->entry[object->entry - 1];
  struct heap_link link = entry->link;
  link.object = number;
  if (entry->referrer != 0) {
    link.referrer = object_of_entry(entry);
    if (link.referrer == NO_HEAP_OBJECT || link.referrer == number) return;
    follow_next(&graph->object[link.referrer], (jvmtiHeapReferenceKind)link.kind);
  }
  owner_graph_add_link(graph, &link);
}

static int walk_along_chain(void) {
  jlong tag = 0;
  uint32_t known = graph->objects;
  entries_before = entries;
  for (uint32_t i = 0; i < known; i++) graph->object[i].entry = 0;
  only_class = NULL;
  with_objects(is_of_chain, expand);
  if (!only_class || (*tools)->GetTag(tools, only_class, &tag) != JVMTI_ERROR_NONE || tag != 0) {
    forget_expanded();
    return -ENODATA;
  }
  (void)(*tools)->SetTag(tools, only_class, CLASS_TAG);
  int error = walk_along_references(0, only_class, on_chain_reference);
  (void)(*tools)->SetTag(tools, only_class, 0);
  for (uint32_t i = 0; !error && i < known; i++) {
    struct heap_object *object = &graph->object[i];
    bool was_looked_for = object->level == level && object->is_followed;
    if (was_looked_for && object->class_name == chain_name && object->is_expanded) link_to_entry(i);
    if (was_looked_for && !object->is_expanded) object->level++;
  }
  return error;
}

int owner_search_find_referrers(void) {
  int error = enter();
  if (error) return error;
  named_from = graph->links;
  /* The first walk must be walk_for_referrers(), because it chooses the holders. */
  chain_name = level > 0 ? name_of_chain() : NO_NAME;
  error = chain_name == NO_NAME ? -ENODATA : walk_along_chain();
  if (error == -ENODATA) error = walk_for_referrers();
  if (!error) {
    if (level == 0) drop_unchosen_holders();
    level++;
    with_objects(has_no_name, name_object);
    with_objects(has_new_link, name_links_of);
    name_methods();
  }
  leave();
  return error;
}

struct owner_search_figures owner_search_figures(void) {
  struct owner_search_figures figures = {.walk_ns = walk_ns};
  uint32_t first = NO_NAME;
  for (uint32_t i = 0; i < graph->objects; i++) {
    const struct heap_object *object = &graph->object[i];
    if (!is_looked_for(object)) continue;
    if (figures.next++ == 0) {
      first = object->class_name;
      figures.classes = 1;
    } else if (object->class_name != first) {
      figures.classes = 2;
    }
  }
  return figures;
}
