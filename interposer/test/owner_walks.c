/*
 * Tests the search for the Java objects that own native memory, in a fake heap. This program simulates the JVM: it
 * defines the functions by which the library finds a JVM, and those that walk over the heap. The first argument names
 * the case. OwnersOfARealJvmTest searches a real heap.
 */
#include <errno.h>
#include <jvmti.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "attach.h"
#include "created_vm.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { BLOCKS = 20, SIZE = 1000, GARBAGE = 200, FOLLOWED = 64, OBJECTS = 1024, MOST_REFERRED = 128, SITES = 1024 };

/* ---- A heap of Java objects --------------------------------------------------------------------------- */

struct object {
  const struct object *class;
  const char *signature; /* the name in JVM notation, if the object is a class */
  jlong tag;
  jlong address; /* the object's only primitive field: an address of native memory, or 0 */
  struct object *refers_to[MOST_REFERRED];
  int references;
};

static struct object heap[OBJECTS];
static int objects;
static struct object class_class = {.class = &class_class, .signature = "Ljava/lang/Class;"};
static struct object handle_class = {.class = &class_class, .signature = "Lcom/acme/Handle;"};
static struct object list_class = {.class = &class_class, .signature = "Lcom/acme/List;"};
static struct object *const classes[] = {&class_class, &handle_class, &list_class};
static struct object *root;

static struct object *new_object(const struct object *class, uint64_t address) {
  CHECK(objects < OBJECTS);
  heap[objects] = (struct object){.class = class, .address = (jlong)address};
  return &heap[objects++];
}

static void refer(struct object *from, struct object *to) {
  CHECK(from->references < MOST_REFERRED);
  from->refers_to[from->references++] = to;
}

/* ---- The JVM ------------------------------------------------------------------------------------------ */

/* The JVM's behaviour. At the beginning of each case no member is set. */
static struct {
  bool is_gone;
  jvmtiError of_iterations, of_references;
  jvmtiError behind_references; /* the error that a walk returns after it has reported all references */
  void (*while_stopped)(void);
} behaviour;

static int environments;

static struct object *object_of(jobject reference) { return (struct object *)(void *)reference; }

static jobject reference_to(const struct object *object) { return (jobject)(uintptr_t)object; }

static void *copied(const void *from, size_t bytes) {
  void *to = malloc(bytes + 1);
  CHECK(to);
  memcpy(to, from, bytes);
  return to;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *env, const jvmtiCapabilities *wanted) {
  (void)env;
  CHECK(wanted->can_tag_objects);
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *env) {
  (void)env;
  environments--;
  for (int i = 0; i < objects; i++) heap[i].tag = 0;
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL loaded_classes(jvmtiEnv *env, jint *count, jclass **loaded) {
  (void)env;
  *count = sizeof classes / sizeof *classes;
  *loaded = copied(classes, sizeof classes);
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_signature(jvmtiEnv *env, jclass class, char **signature, char **generic) {
  (void)env, (void)generic;
  const char *text = object_of(class)->signature;
  *signature = copied(text, strlen(text) + 1);
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_fields(jvmtiEnv *env, jclass class, jint *count, jfieldID **fields) {
  (void)env, (void)class;
  jfieldID field = NULL;
  *count = 1;
  *fields = copied(&field, sizeof field);
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL field_name(jvmtiEnv *env, jclass class, jfieldID field, char **name, char **type,
                                     char **generic) {
  (void)env, (void)field, (void)generic;
  if (name) *name = copied("value", 6);
  if (type) *type = copied(object_of(class) == &handle_class ? "J" : "I", 2);
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL interfaces(jvmtiEnv *env, jclass class, jint *count, jclass **of_class) {
  (void)env, (void)class;
  *count = 0;
  *of_class = copied("", 1);
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_tag(jvmtiEnv *env, jobject object, jlong *tag) {
  (void)env;
  *tag = object_of(object)->tag;
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_tag(jvmtiEnv *env, jobject object, jlong tag) {
  (void)env;
  object_of(object)->tag = tag;
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL tagged(jvmtiEnv *env, jint wanted, const jlong *tags, jint *count, jobject **found,
                                 jlong **their_tags) {
  (void)env;
  *found = malloc(sizeof **found * (OBJECTS + 3));
  *their_tags = malloc(sizeof **their_tags * (OBJECTS + 3));
  CHECK(*found && *their_tags);
  *count = 0;
  for (int i = 0; i < objects + 3; i++) {
    struct object *object = i < objects ? &heap[i] : classes[i - objects];
    for (jint j = 0; j < wanted; j++) {
      if (object->tag != tags[j]) continue;
      (*found)[*count] = reference_to(object);
      (*their_tags)[(*count)++] = object->tag;
      break;
    }
  }
  return JVMTI_ERROR_NONE;
}

/* Walks over the heap. With an error in behaviour.of_iterations, walks over the first half and returns the error. */
static jvmtiError JNICALL iterate(jvmtiEnv *env, jint filter, jclass class, const jvmtiHeapCallbacks *callbacks,
                                  const void *data) {
  (void)env, (void)class, (void)data;
  CHECK_EQUAL(filter, JVMTI_HEAP_FILTER_CLASS_UNTAGGED);
  if (behaviour.while_stopped) behaviour.while_stopped();
  int end = behaviour.of_iterations ? objects / 2 : objects;
  for (int i = 0; i < end; i++) {
    struct object *object = &heap[i];
    jvmtiHeapReferenceInfo info = {.field = {.index = 0}};
    if (object->class->tag == 0 || object->address == 0) continue;
    (void)callbacks->primitive_field_callback(JVMTI_HEAP_REFERENCE_FIELD, &info, object->class->tag, &object->tag,
                                              (jvalue){.j = object->address}, JVMTI_PRIMITIVE_TYPE_LONG, NULL);
  }
  return behaviour.of_iterations;
}

static struct {
  jint filter;
  jclass class;
  jvmtiHeapReferenceCallback call;
  bool is_visited[OBJECTS];
} walk;

static void visit(struct object *from, struct object *to) {
  jvmtiHeapReferenceInfo info = {.field = {.index = 0}};
  bool is_left_out =
      (walk.filter & JVMTI_HEAP_FILTER_UNTAGGED && to->tag == 0) || (walk.class && object_of(walk.class) != to->class);
  if (!is_left_out) {
    (void)walk.call(from ? JVMTI_HEAP_REFERENCE_FIELD : JVMTI_HEAP_REFERENCE_JNI_GLOBAL, &info, to->class->tag,
                    from ? from->class->tag : 0, 32, &to->tag, from ? &from->tag : NULL, -1, NULL);
  }
  if (walk.is_visited[to - heap]) return;
  walk.is_visited[to - heap] = true;
  if (behaviour.of_references) return;
  for (int i = 0; i < to->references; i++) visit(to, to->refers_to[i]);
}

static jvmtiError JNICALL follow(jvmtiEnv *env, jint filter, jclass class, jobject from,
                                 const jvmtiHeapCallbacks *callbacks, const void *data) {
  (void)env, (void)data;
  CHECK(!from);
  memset(&walk, 0, sizeof walk);
  walk.filter = filter;
  walk.class = class;
  walk.call = callbacks->heap_reference_callback;
  visit(NULL, root);
  return behaviour.of_references ? behaviour.of_references : behaviour.behind_references;
}

static const struct jvmtiInterface_1_ tools_functions = {.AddCapabilities = add_capabilities,
                                                         .DisposeEnvironment = dispose,
                                                         .Deallocate = deallocate,
                                                         .GetLoadedClasses = loaded_classes,
                                                         .GetClassSignature = class_signature,
                                                         .GetClassFields = class_fields,
                                                         .GetFieldName = field_name,
                                                         .GetImplementedInterfaces = interfaces,
                                                         .GetTag = get_tag,
                                                         .SetTag = set_tag,
                                                         .GetObjectsWithTags = tagged,
                                                         .IterateThroughHeap = iterate,
                                                         .FollowReferences = follow};
static jvmtiEnv tools = &tools_functions;

static void JNICALL delete_reference(JNIEnv *env, jobject object) { (void)env, (void)object; }

static void JNICALL clear(JNIEnv *env) { (void)env; }

static jclass JNICALL superclass(JNIEnv *env, jclass class) {
  (void)env, (void)class;
  return NULL;
}

static jclass JNICALL class_of(JNIEnv *env, jobject object) {
  (void)env;
  return reference_to(object_of(object)->class);
}

static jboolean JNICALL is_same(JNIEnv *env, jobject one, jobject other) {
  (void)env;
  return one == other;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name) {
  (void)env, (void)name;
  return NULL;
}

static const struct JNINativeInterface_ thread_functions = {.PushLocalFrame = push_frame,
                                                            .PopLocalFrame = pop_frame,
                                                            .DeleteLocalRef = delete_reference,
                                                            .ExceptionClear = clear,
                                                            .GetSuperclass = superclass,
                                                            .GetObjectClass = class_of,
                                                            .IsSameObject = is_same,
                                                            .FindClass = find_class};
static JNIEnv thread_of_jvm = &thread_functions;

static jint JNICALL get_env(JavaVM *vm, void **env, jint version) {
  (void)vm;
  if (behaviour.is_gone) return JNI_EDETACHED;
  if (version == JVMTI_VERSION_1_2) environments++;
  *env = version == JVMTI_VERSION_1_2 ? (void *)&tools : (void *)&thread_of_jvm;
  return JNI_OK;
}

/* ---- The program -------------------------------------------------------------------------------------- */

static char *blocks[BLOCKS];
static uint32_t site;
static struct mallometer_owners found;

static NOINLINE void allocate(void) {
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = malloc(SIZE);
    USE(blocks[i]);
  }
}

static void find_site(int (*read)(struct mallometer_site *, uint32_t, uint32_t)) {
  static struct mallometer_site sites[SITES];
  int count = read(sites, SITES, 0);
  for (int i = 0; i < count; i++) {
    site = sites[i].number;
    if (sites[i].allocated.samples == BLOCKS && sites[i].allocated.bytes >= BLOCKS * SIZE) return;
  }
  CHECK(false);
}

static void begin(void) {
  found = (struct mallometer_owners){0};
  CHECK_EQUAL(mallometer_owners_begin(site, &found), 0);
  CHECK_EQUAL(found.samples, BLOCKS);
}

static int step(uint32_t wanted) { return mallometer_owners_step(wanted, &found); }

static struct mallometer_heap_object rows[OBJECTS];

static void read_objects(void) {
  CHECK_EQUAL(mallometer_owners_rows(MALLOMETER_OWNERS_OBJECTS, rows, OBJECTS), found.objects);
}

static struct object *new_handle(int block) { return new_object(&handle_class, (uintptr_t)blocks[block]); }

static void keep(void) {
  root = new_object(&list_class, 0);
  for (int i = 0; i < BLOCKS; i++) refer(root, new_handle(i));
}

static void two_steps_find_the_list(void) {
  CHECK_EQUAL(step(MALLOMETER_OWNERS_HOLDERS), 0);
  CHECK_EQUAL(found.holds, BLOCKS);
  CHECK_EQUAL(found.next_objects, BLOCKS);
  CHECK_EQUAL(found.next_classes, 1);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), 0);
  CHECK_EQUAL(found.objects, BLOCKS + 1);
  CHECK_EQUAL(found.links, BLOCKS);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), 0);
  CHECK_EQUAL(found.links, BLOCKS + 1);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), -ENODATA);
}

static void end(void) {
  CHECK_EQUAL(mallometer_owners_end(), 0);
  CHECK_EQUAL(environments, 0);
}

/* ---- Cases -------------------------------------------------------------------------------------------- */

static void a_list_keeps_handles(void) {
  uint64_t before = self().footprint_bytes;
  keep();
  for (int i = 0; i < 3; i++) {
    begin();
    CHECK(self().footprint_bytes > before + (8u << 20));
    CHECK(self().footprint_bytes < before + (12u << 20));
    two_steps_find_the_list();
    end();
    CHECK_EQUAL(self().footprint_bytes, before);
  }
}

static void garbage_in_front_hides_no_owner(void) {
  const uint32_t followed = MALLOMETER_HEAP_OBJECT_FOLLOWED | MALLOMETER_HEAP_OBJECT_EXPANDED;
  int alive = 0, garbage = 0, left = 0;
  for (int i = 0; i < GARBAGE; i++) (void)new_handle(i % BLOCKS);
  keep();
  for (int i = 0; i < FOLLOWED; i++) refer(root, new_handle(i % BLOCKS));
  begin();
  CHECK_EQUAL(step(MALLOMETER_OWNERS_HOLDERS), 0);
  CHECK_EQUAL(found.objects, GARBAGE + BLOCKS + FOLLOWED);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), 0);
  read_objects();
  for (uint32_t i = 0; i < GARBAGE + BLOCKS + FOLLOWED; i++) {
    bool is_reached = rows[i].flags & MALLOMETER_HEAP_OBJECT_REACHED;
    CHECK(is_reached == (i >= GARBAGE));
    garbage += !is_reached && (rows[i].flags & followed) == followed;
    alive += is_reached && (rows[i].flags & followed) == followed;
    left += !(rows[i].flags & followed);
  }
  CHECK_EQUAL(garbage, GARBAGE);
  CHECK_EQUAL(alive, FOLLOWED);
  CHECK_EQUAL(left, BLOCKS);
  end();
}

/* A walk over references that fails for lack of memory must have no effect, and the next one must succeed. */
static void a_walk_for_links_without_memory_says_nothing(void) {
  keep();
  begin();
  CHECK_EQUAL(step(MALLOMETER_OWNERS_HOLDERS), 0);
  behaviour.of_references = JVMTI_ERROR_OUT_OF_MEMORY;
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), -ENOMEM);
  read_objects();
  for (uint32_t i = 0; i < found.objects; i++) {
    CHECK(!(rows[i].flags & (MALLOMETER_HEAP_OBJECT_EXPANDED | MALLOMETER_HEAP_OBJECT_REACHED)));
  }
  behaviour.of_references = JVMTI_ERROR_NONE;
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), 0);
  CHECK_EQUAL(found.links, BLOCKS);
  end();
}

/* Lets the first walk over references fail after it has reported all references. The second walk must find all of
 * them. */
static void a_queue_of_holders_is_chosen_from_after_a_failure(void) {
  struct object *handle = root = new_handle(0);
  for (int i = 1; i < BLOCKS; i++) {
    struct object *next = new_handle(i);
    refer(handle, next);
    handle = next;
  }
  begin();
  CHECK_EQUAL(step(MALLOMETER_OWNERS_HOLDERS), 0);
  behaviour.behind_references = JVMTI_ERROR_OUT_OF_MEMORY;
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), -ENOMEM);
  behaviour.behind_references = JVMTI_ERROR_NONE;
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), 0);
  CHECK_EQUAL(found.links, BLOCKS);
  read_objects();
  for (uint32_t i = 0; i < BLOCKS; i++) {
    CHECK_EQUAL(rows[i].level, 0);
    CHECK(rows[i].flags & MALLOMETER_HEAP_OBJECT_EXPANDED);
  }
  end();
}

/* MALLOMETER_OWNERS_REFERRERS must be the last kind of step. Later steps of another kind must fail with -EINVAL,
 * because they could find objects whose referrers would stay unknown. */
static void no_holders_are_looked_for_behind_the_first_link(void) {
  keep();
  begin();
  CHECK_EQUAL(step(MALLOMETER_OWNERS_HOLDERS), 0);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), 0);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_POINTERS), -EINVAL);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_POINTER_HOLDERS), -EINVAL);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_HOLDERS), -EINVAL);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), 0);
  CHECK_EQUAL(found.links, BLOCKS + 1);
  end();
}

static void a_walk_for_longs_fails_and_the_next_search_does_not(void) {
  static const struct {
    jvmtiError error;
    int says;
  } failures[] = {
      {JVMTI_ERROR_OUT_OF_MEMORY, -ENOMEM}, {JVMTI_ERROR_WRONG_PHASE, -ESRCH}, {JVMTI_ERROR_INTERNAL, -EIO}};
  keep();
  for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
    begin();
    behaviour.of_iterations = failures[i].error;
    CHECK_EQUAL(step(MALLOMETER_OWNERS_HOLDERS), failures[i].says);
    CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), -EINVAL);
    CHECK_EQUAL(handle_class.tag, 0);
    behaviour.of_iterations = JVMTI_ERROR_NONE;
    end();
  }
  begin();
  two_steps_find_the_list();
  end();
}

static void a_jvm_that_ends_ends_the_search(void) {
  keep();
  begin();
  CHECK_EQUAL(step(MALLOMETER_OWNERS_HOLDERS), 0);
  behaviour.is_gone = true;
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), -ESRCH);
  CHECK_EQUAL(mallometer_owners_end(), 0);
  CHECK_EQUAL(mallometer_owners_end(), -ENODATA);
  CHECK_EQUAL(mallometer_owners_begin(site, &found), -ESRCH);
}

static void samples_that_are_freed_meanwhile_are_told(void) {
  keep();
  begin();
  CHECK_EQUAL(step(MALLOMETER_OWNERS_HOLDERS), 0);
  for (int i = 0; i < BLOCKS / 2; i++) free(blocks[i]);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), 0);
  CHECK_EQUAL(found.samples_freed, BLOCKS / 2);
  for (int i = BLOCKS / 2; i < BLOCKS; i++) free(blocks[i]);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), 0);
  CHECK_EQUAL(found.samples_freed, BLOCKS);
  end();
}

static void refuse_to_read_memory(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) exit(77);
}

static void where_memory_may_not_be_read_links_are_followed_even_so(void) {
  keep();
  refuse_to_read_memory();
  begin();
  CHECK_EQUAL(step(MALLOMETER_OWNERS_HOLDERS), 0);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_POINTERS), -EPERM);
  CHECK_EQUAL(found.pointers_error, -EPERM);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_POINTER_HOLDERS), -EINVAL);
  CHECK_EQUAL(step(MALLOMETER_OWNERS_REFERRERS), 0);
  CHECK_EQUAL(found.links, BLOCKS);
  end();
}

/* A search must continue after the library was detached. */
static void a_search_outlives_the_counting(void) {
  struct mallometer_site sites[1];
  open_library(library_path);
  attach();
  CHECK(FUNCTION(mallometer_sites)(sites, 1, 0) >= 0);
  allocate();
  find_site(FUNCTION(mallometer_sites));
  keep();
  found = (struct mallometer_owners){0};
  CHECK_EQUAL(FUNCTION(mallometer_owners_begin)(site, &found), 0);
  CHECK_EQUAL(FUNCTION(mallometer_owners_step)(MALLOMETER_OWNERS_HOLDERS, &found), 0);
  CHECK_EQUAL(found.samples, BLOCKS);
  detach();
  CHECK_EQUAL(FUNCTION(mallometer_owners_step)(MALLOMETER_OWNERS_REFERRERS, &found), 0);
  CHECK_EQUAL(found.links, BLOCKS);
  attach(); /* the library forgets earlier samples, because it saw no frees meanwhile */
  CHECK_EQUAL(FUNCTION(mallometer_owners_step)(MALLOMETER_OWNERS_REFERRERS, &found), 0);
  CHECK_EQUAL(found.samples_freed, BLOCKS);
  CHECK_EQUAL(FUNCTION(mallometer_owners_end)(), 0);
  CHECK_EQUAL(environments, 0);
}

static void *ask(void *unused) {
  struct mallometer_owners other = {0};
  CHECK_EQUAL(mallometer_owners_begin(site, &other), -EBUSY);
  return unused;
}

static void ask_in_another_thread(void) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, ask, NULL), 0);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static void a_second_search_is_refused_even_in_a_walk(void) {
  keep();
  begin();
  ask_in_another_thread();
  behaviour.while_stopped = ask_in_another_thread;
  two_steps_find_the_list();
  CHECK_EQUAL(environments, 1);
  end();
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*test)(void);
  } cases[] = {{"kept", a_list_keeps_handles},
               {"garbage", garbage_in_front_hides_no_owner},
               {"memory", a_walk_for_links_without_memory_says_nothing},
               {"retried", a_queue_of_holders_is_chosen_from_after_a_failure},
               {"order", no_holders_are_looked_for_behind_the_first_link},
               {"failure", a_walk_for_longs_fails_and_the_next_search_does_not},
               {"gone", a_jvm_that_ends_ends_the_search},
               {"freed", samples_that_are_freed_meanwhile_are_told},
               {"refused", where_memory_may_not_be_read_links_are_followed_even_so},
               {"two", a_second_search_is_refused_even_in_a_walk}};
  CHECK(argc >= 2);
  if (argc > 2) { /* the library to open comes before the name of the case */
    library_path = argv[1];
    a_search_outlives_the_counting();
    return 0;
  }
  allocate();
  find_site(mallometer_sites);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(argv[1], cases[i].name) != 0) continue;
    cases[i].test();
    return 0;
  }
  return 2;
}
