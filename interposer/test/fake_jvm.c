/*
 * Tests the library in the process of a badly behaved JVM, which this program simulates. When the library asks for a
 * Java stack (AsyncGetCallTrace), the JVM allocates, is interrupted by a signal handler that allocates, gives no
 * stack, or shuts down before it answers. Every allocation is sampled.
 */
#include <alloca.h>
#include <errno.h>
#include <jvmti.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "created_vm.h"

#define NOINLINE __attribute__((noinline, noclone))
#define JAVA ((uint64_t)1 << 63)

/* The simulated JVM's behaviour. At the beginning of each test only `instruction` is set. */
static struct {
  bool has_no_tools;
  bool refuses_events;
  bool tells_nothing;
  int answer; /* the reason (a negative number) that AsyncGetCallTrace() returns if `tells_nothing` is set */
  bool is_interrupted;
  bool takes_its_time;
  bool meets_new_methods;
  bool has_numbers_for_ids; /* method ids are numbers instead of addresses, as in JDK 26 and later */
  int instruction;          /* the bytecode index of the innermost frame */
  int deeper;
} behaviour;

static __thread bool is_thread_of_jvm;
static unsigned asked;
static unsigned nested;
static sem_t is_asked, may_answer;
static jvmtiEventCallbacks callbacks;

/* ---- The JVM ------------------------------------------------------------------------------------------ */

struct frame {
  jint bytecode_index;
  jmethodID method;
};

struct trace {
  JNIEnv *thread;
  jint frames;
  struct frame *frame;
};

static void *methods[2] = {&methods[0], &methods[1]}; /* element i is the class of method i, or NULL if unloaded */

static jmethodID id_of(uintptr_t method) {
  return behaviour.has_numbers_for_ids ? (jmethodID)(method + 1) : (jmethodID)(void *)&methods[method];
}

static void **method_of(jmethodID id) {
  return behaviour.has_numbers_for_ids ? &methods[(uintptr_t)id - 1] : (void **)(void *)id;
}

static NOINLINE void allocate_in_jvm(void) {
  void *object = malloc(40);
  USE(object);
  free(object);
}

static jmethodID new_method(void) {
  static void *of_classes_that_come[17000];
  static size_t next;
  return (jmethodID)(void *)&of_classes_that_come[next++];
}

void AsyncGetCallTrace(struct trace *trace, jint depth, void *context);
void AsyncGetCallTrace(struct trace *trace, jint depth, void *context) {
  static __thread bool busy;
  CHECK(depth >= 2 && context && trace->thread);
  __atomic_fetch_add(&asked, 1, __ATOMIC_SEQ_CST);
  if (busy) __atomic_fetch_add(&nested, 1, __ATOMIC_SEQ_CST);
  busy = true;
  allocate_in_jvm();
  if (behaviour.is_interrupted) raise(SIGUSR1);
  if (behaviour.takes_its_time) {
    sem_post(&is_asked);
    sem_wait(&may_answer);
  }
  trace->frames = behaviour.answer;
  if (!behaviour.tells_nothing) {
    int last = behaviour.deeper + 1 < depth ? behaviour.deeper + 1 : depth - 1;
    trace->frames = last + 1;
    for (int i = 1; i <= last; i++) trace->frame[i] = (struct frame){-1, id_of(1)};
    trace->frame[0] = (struct frame){behaviour.instruction, behaviour.meets_new_methods ? new_method() : id_of(0)};
  }
  busy = false;
  errno = 17;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *env, const jvmtiCapabilities *wanted) {
  (void)env, (void)wanted;
  return JVMTI_ERROR_NOT_AVAILABLE;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *env, const jvmtiEventCallbacks *wanted, jint size) {
  (void)env;
  memcpy(&callbacks, wanted, (size_t)size < sizeof callbacks ? (size_t)size : sizeof callbacks);
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_mode(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event, jthread thread, ...) {
  (void)env, (void)mode, (void)event, (void)thread;
  return behaviour.refuses_events ? JVMTI_ERROR_NOT_AVAILABLE : JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL loaded_classes(jvmtiEnv *env, jint *count, jclass **classes) {
  (void)env;
  *count = 0;
  *classes = malloc(8);
  return JVMTI_ERROR_NONE;
}

static unsigned ids_made;

static jvmtiError JNICALL class_methods(jvmtiEnv *env, jclass class, jint *count, jmethodID **ids) {
  (void)env, (void)class;
  *count = 1000;
  *ids = malloc(8);
  ids_made += 1000;
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *env) {
  (void)env;
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL version_number(jvmtiEnv *env, jint *version) {
  (void)env;
  *version = behaviour.has_numbers_for_ids ? 0x301a0000 : 0x30190000;
  return JVMTI_ERROR_NONE;
}

/* If ids are addresses, a JDK before 18 may follow a stale pointer here after the class was unloaded. The library
 * must therefore read the memory at the id before it calls this function. */
static jvmtiError JNICALL declaring_class(jvmtiEnv *env, jmethodID id, jclass *class) {
  (void)env;
  *class = *method_of(id);
  CHECK(*class || behaviour.has_numbers_for_ids);
  return *class ? JVMTI_ERROR_NONE : JVMTI_ERROR_INVALID_METHODID;
}

static jvmtiError copy(const char *text, char **to) {
  *to = strdup(text);
  return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL method_name(jvmtiEnv *env, jmethodID id, char **name, char **signature, char **generic) {
  (void)env, (void)signature, (void)generic;
  return copy(id == id_of(0) ? "inner" : "outer", name);
}

static jvmtiError JNICALL class_signature(jvmtiEnv *env, jclass class, char **signature, char **generic) {
  (void)env, (void)class, (void)generic;
  return copy("Lcom/acme/Program;", signature);
}

static jvmtiError JNICALL source_file(jvmtiEnv *env, jclass class, char **name) {
  (void)env, (void)class;
  return copy("Program.java", name);
}

static jvmtiError JNICALL line_numbers(jvmtiEnv *env, jmethodID id, jint *count, jvmtiLineNumberEntry **lines) {
  (void)env, (void)id;
  *count = 1;
  *lines = malloc(sizeof **lines);
  **lines = (jvmtiLineNumberEntry){.start_location = 0, .line_number = 42};
  return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ tools_functions = {.GetVersionNumber = version_number,
                                                         .GetMethodDeclaringClass = declaring_class,
                                                         .GetMethodName = method_name,
                                                         .GetClassSignature = class_signature,
                                                         .GetSourceFileName = source_file,
                                                         .GetLineNumberTable = line_numbers,
                                                         .AddCapabilities = add_capabilities,
                                                         .SetEventCallbacks = set_callbacks,
                                                         .SetEventNotificationMode = set_mode,
                                                         .GetLoadedClasses = loaded_classes,
                                                         .GetClassMethods = class_methods,
                                                         .Deallocate = deallocate,
                                                         .DisposeEnvironment = dispose};
static jvmtiEnv tools = &tools_functions;

static const struct JNINativeInterface_ thread_functions = {.PushLocalFrame = push_frame, .PopLocalFrame = pop_frame};
static JNIEnv thread_of_jvm = &thread_functions;

static jint JNICALL get_env(JavaVM *vm, void **env, jint version) {
  (void)vm;
  allocate_in_jvm(); /* simulates the loader, which may allocate at a thread's first access to thread-local variables */
  if (version == JVMTI_VERSION_1_2) {
    *env = &tools;
    return behaviour.has_no_tools ? JNI_EVERSION : JNI_OK;
  }
  *env = is_thread_of_jvm ? &thread_of_jvm : NULL;
  return is_thread_of_jvm ? JNI_OK : JNI_EDETACHED;
}

/* ---- The program -------------------------------------------------------------------------------------- */

static NOINLINE void *keeper(size_t size) {
  errno = 4711;
  void *object = malloc(size);
  CHECK_EQUAL(errno, 4711);
  USE(object);
  return object;
}

static int newest_stack(uint64_t *frames) {
  for (uint32_t site = self().call_sites; site > 0; site--) {
    int count = mallometer_site_stack(site - 1, frames, 640);
    uint64_t begin = (uint64_t)(uintptr_t)keeper;
    if (count > 0 && frames[0] > begin && frames[0] - begin < 100) return count;
  }
  return 0;
}

static bool has_java_frames(void) {
  uint64_t frames[640];
  int count = newest_stack(frames);
  CHECK(count >= 2);
  if (!(frames[count - 1] & JAVA)) return false;
  CHECK_EQUAL(frames[count - 2] & 0xffff, 7);
  CHECK_EQUAL(frames[count - 1] & 0xffff, 0xffff);
  CHECK(!(frames[count - 3] & JAVA));
  return true;
}

static void attach(void) {
  is_thread_of_jvm = true;
  CHECK_EQUAL(mallometer_jvm_attach(), 0);
  CHECK_EQUAL(mallometer_jvm_attach(), 0);
  CHECK_EQUAL(self().java, MALLOMETER_JAVA_ON);
}

static void on_signal(int signal) {
  (void)signal;
  allocate_in_jvm();
}

static void stacks_have_java_frames(void) {
  CHECK_EQUAL(mallometer_jvm_attach(), -ESRCH); /* the calling thread is no thread of the JVM */
  attach();
  free(keeper(100));
  CHECK(has_java_frames());
  CHECK_EQUAL(self().methods, 2);
  CHECK_EQUAL(nested, 0);
  is_thread_of_jvm = false;
  unsigned before = asked;
  free(keeper(100));
  CHECK_EQUAL(asked, before);
  CHECK(!has_java_frames());
}

static void a_refusal_is_no_attachment(void) {
  is_thread_of_jvm = true;
  behaviour.has_no_tools = true;
  CHECK_EQUAL(mallometer_jvm_attach(), -ENOTSUP);
  behaviour.has_no_tools = false;
  behaviour.refuses_events = true;
  CHECK_EQUAL(mallometer_jvm_attach(), -ENOTSUP);
  CHECK_EQUAL(self().java, MALLOMETER_JAVA_OFF);
  free(keeper(100));
  CHECK_EQUAL(asked, 0);
  behaviour.refuses_events = false;
  attach();
}

static void nobody_asks_while_being_answered(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  attach();
  behaviour.is_interrupted = true;
  for (int i = 0; i < 100; i++) free(keeper(100));
  CHECK(asked >= 100);
  CHECK_EQUAL(nested, 0);
}

static void no_answer_is_counted(void) {
  attach();
  behaviour.tells_nothing = true;
  behaviour.answer = -3; /* reason: the thread runs no Java code */
  uint64_t before = self().samples_without_java;
  free(keeper(100));
  CHECK_EQUAL(self().samples_without_java, before);
  behaviour.answer = -5; /* reason: the thread runs Java code, but the JVM cannot walk its stack */
  free(keeper(100));
  CHECK(self().samples_without_java > before);
  CHECK(!has_java_frames());
}

static void frames_without_room_for_a_method_are_counted(void) {
  attach();
  behaviour.meets_new_methods = true;
  for (int i = 0; i < 16383; i++) free(keeper(100)); /* a new inner method for each stack, and one outer method */
  CHECK_EQUAL(self().methods, 16384);
  CHECK_EQUAL(self().frames_without_method, 0);
  for (int i = 0; i < 10; i++) free(keeper(100));
  CHECK_EQUAL(self().methods, 16384);
  CHECK_EQUAL(self().frames_without_method, 10);
}

static NOINLINE void allocate_from(int first, int last) {
  for (behaviour.instruction = first; behaviour.instruction <= last; behaviour.instruction++) free(keeper(100));
}

static NOINLINE void allocate_many(int round) {
  static const int first[] = {0, 20000, 7}, last[] = {16383, 20009, 7};
  allocate_from(first[round], last[round]);
}

/* Fills the table of stacks. Samples of known stacks are still recorded; samples of other stacks are counted in
 * samples_without_site. */
static void a_full_table_is_counted(void) {
  attach();
  uint64_t before = 0;
  for (int round = 0; round < 3; round++) {
    allocate_many(round);
    CHECK_EQUAL(self().call_sites, 16384);
    if (round == 0) before = self().samples_without_site;
  }
  /* The table has 16,384 places. A few of them are taken by other stacks of the test, so a few of the 16,384 stacks
   * of allocate_many(0) find no place. */
  CHECK(before > 0 && before < 100);
  CHECK_EQUAL(self().samples_without_site, before + 10);
}

static int newest_java_frames(void) {
  uint64_t frames[640];
  int java = 0;
  for (int i = newest_stack(frames); i > 0; i--) java += (frames[i - 1] & JAVA) != 0;
  return java;
}

/* A stack of 512 Java frames is complete. A deeper one is cut to 512 frames and counted in samples_truncated. */
static void deep_java_stacks_are_cut_and_counted(void) {
  attach();
  behaviour.deeper = 510;
  free(keeper(100));
  CHECK_EQUAL(newest_java_frames(), 512);
  CHECK_EQUAL(self().samples_truncated, 0);
  behaviour.deeper = 511;
  free(keeper(100));
  CHECK_EQUAL(newest_java_frames(), 512);
  CHECK_EQUAL(self().samples_truncated, 1);
}

/* ---- Stacks ------------------------------------------------------------------------------------------- */

static ucontext_t here, there;

static void allocate_once(void) { free(keeper(100)); }

/* The library must not ask the JVM for Java frames in a coroutine, because the coroutine does not run on the stack
 * of a Java thread. */
static void nobody_asks_on_other_stacks(void) {
  static char stack[1 << 16];
  attach();
  unsigned before = asked;
  uint64_t without = self().samples_without_stack;
  getcontext(&there);
  there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
  there.uc_link = &here;
  makecontext(&there, allocate_once, 0);
  swapcontext(&here, &there);
  CHECK_EQUAL(asked, before);
  CHECK_EQUAL(self().samples_without_stack, without + 1);
  free(keeper(100));
  CHECK_EQUAL(asked, before + 1);
  CHECK_EQUAL(self().samples_without_stack, without + 1);
  CHECK(has_java_frames());
}

static size_t room; /* the bytes that allocate_with_room() leaves free on its thread's stack */
static bool walks_native, walks_java;

static void *allocate_with_room(void *unused) {
  pthread_attr_t attributes;
  void *begin;
  size_t size;
  is_thread_of_jvm = true;
  CHECK_EQUAL(pthread_getattr_np(pthread_self(), &attributes), 0);
  CHECK_EQUAL(pthread_attr_getstack(&attributes, &begin, &size), 0);
  pthread_attr_destroy(&attributes);
  volatile char *rest = alloca((size_t)((char *)__builtin_frame_address(0) - (char *)begin) - room);
  rest[0] = 1;
  unsigned asked_before = asked;
  uint64_t without_stack = self().samples_without_stack, without_java = self().samples_without_java;
  free(keeper(100));
  walks_java = asked > asked_before;
  walks_native = self().samples_without_stack == without_stack;
  CHECK_EQUAL(self().samples_without_java - without_java, walks_native && !walks_java);
  if (walks_native) CHECK_EQUAL(has_java_frames(), walks_java);
  return unused;
}

static void allocate_in_thread_with(size_t bytes) {
  pthread_t thread;
  room = bytes;
  CHECK_EQUAL(pthread_create(&thread, NULL, allocate_with_room, NULL), 0);
  pthread_join(thread, NULL);
}

/* Near the end of a thread's stack the library must not ask the JVM for Java frames, because the JVM has guard pages
 * there. The C library counts these pages as usable stack. */
static void nobody_asks_where_little_stack_is_left(void) {
  attach();
  allocate_in_thread_with(128 * 1024);
  CHECK(walks_native && walks_java);
  allocate_in_thread_with(48 * 1024);
  CHECK(walks_native && !walks_java);
  allocate_in_thread_with(24 * 1024);
  CHECK(!walks_native && !walks_java);
}

/* ---- Names of methods --------------------------------------------------------------------------------- */

static void methods_have_names_while_their_class_lives(void) {
  static struct mallometer_method method = {0};
  attach();
  free(keeper(100));
  CHECK_EQUAL(self().methods, 2);
  CHECK_EQUAL(mallometer_method_name(0, &method), 0);
  CHECK_EQUAL(strcmp(method.class_signature, "Lcom/acme/Program;"), 0);
  CHECK_EQUAL(strcmp(method.name, "inner"), 0);
  CHECK_EQUAL(strcmp(method.source, "Program.java"), 0);
  CHECK_EQUAL(method.line_count, 1);
  CHECK_EQUAL(method.lines[0][1], 42);
  CHECK_EQUAL(mallometer_method_name(1, &method), 0);
  CHECK_EQUAL(strcmp(method.name, "outer"), 0);
  methods[0] = NULL;
  CHECK_EQUAL(mallometer_method_name(0, &method), -ESRCH);
  CHECK_EQUAL(mallometer_method_name(1, &method), 0);
  CHECK_EQUAL(mallometer_method_name(2, &method), -EINVAL);
}

static void ids_that_are_numbers_are_not_read_through(void) {
  behaviour.has_numbers_for_ids = true;
  methods_have_names_while_their_class_lives();
}

/* Uses up the million method ids that the library lets the JVM create. Up to JDK 25, the JVM never frees an id. */
static void ids_come_to_an_end(void) {
  attach();
  for (int i = 0; i < 10; i++) callbacks.ClassPrepare(&tools, &thread_of_jvm, NULL, NULL);
  CHECK_EQUAL(ids_made, 10000);
  for (int i = 0; i < 5000; i++) callbacks.ClassPrepare(&tools, &thread_of_jvm, NULL, NULL);
  CHECK_EQUAL(ids_made, 1000000);
}

static void ids_that_end_with_their_class_do_not(void) {
  behaviour.has_numbers_for_ids = true;
  attach();
  for (int i = 0; i < 5000; i++) callbacks.ClassPrepare(&tools, &thread_of_jvm, NULL, NULL);
  CHECK_EQUAL(ids_made, 5000000);
}

/* ---- The JVM's end ------------------------------------------------------------------------------------ */

static void *asks(void *unused) {
  is_thread_of_jvm = true;
  free(keeper(100));
  return unused;
}

static int ended;

static void *ends(void *unused) {
  callbacks.VMDeath(&tools, NULL);
  __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
  return unused;
}

/* The JVM begins to shut down while a thread asks it for Java frames. The library must delay the shutdown until the
 * JVM has answered, because HotSpot never returns from a later call. */
static void the_end_waits_for_who_asks(void) {
  pthread_t asking, ending;
  attach();
  is_thread_of_jvm = false; /* applies to this thread; `asking` is a thread of the JVM */
  behaviour.takes_its_time = true;
  CHECK_EQUAL(pthread_create(&asking, NULL, asks, NULL), 0);
  sem_wait(&is_asked);
  CHECK_EQUAL(pthread_create(&ending, NULL, ends, NULL), 0);
  usleep(30000);
  CHECK_EQUAL(__atomic_load_n(&ended, __ATOMIC_SEQ_CST), 0);
  sem_post(&may_answer);
  pthread_join(asking, NULL);
  pthread_join(ending, NULL);
  unsigned before = asked;
  is_thread_of_jvm = true;
  for (int i = 0; i < 100; i++) free(keeper(100));
  CHECK_EQUAL(asked, before);
  CHECK_EQUAL(self().java, MALLOMETER_JAVA_GONE);
  CHECK_EQUAL(mallometer_jvm_attach(), 0);
  CHECK_EQUAL(self().java, MALLOMETER_JAVA_GONE);
  static struct mallometer_method method = {0};
  CHECK_EQUAL(mallometer_method_name(0, &method), -ENODATA);
}

static void the_end_comes_even_so(void) {
  pthread_t asking;
  attach();
  is_thread_of_jvm = false;
  behaviour.takes_its_time = true;
  CHECK_EQUAL(pthread_create(&asking, NULL, asks, NULL), 0);
  sem_wait(&is_asked);
  double begin = seconds();
  ends(NULL);
  CHECK(seconds() - begin < 5);
  sem_post(&may_answer);
  pthread_join(asking, NULL);
}

static void children_have_no_jvm(void) {
  attach();
  pid_t pid = fork();
  if (pid == 0) {
    unsigned before = asked;
    free(keeper(100));
    CHECK_EQUAL(asked, before);
    CHECK(!has_java_frames());
    CHECK_EQUAL(self().java, MALLOMETER_JAVA_GONE);
    _exit(0);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  free(keeper(100));
  CHECK(has_java_frames());
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*test)(void);
  } cases[] = {{"frames", stacks_have_java_frames},
               {"refusal", a_refusal_is_no_attachment},
               {"reentry", nobody_asks_while_being_answered},
               {"silence", no_answer_is_counted},
               {"full", a_full_table_is_counted},
               {"elsewhere", nobody_asks_on_other_stacks},
               {"room", nobody_asks_where_little_stack_is_left},
               {"deep", deep_java_stacks_are_cut_and_counted},
               {"names", methods_have_names_while_their_class_lives},
               {"numbers", ids_that_are_numbers_are_not_read_through},
               {"ids", ids_come_to_an_end},
               {"passing", ids_that_end_with_their_class_do_not},
               {"methods", frames_without_room_for_a_method_are_counted},
               {"end", the_end_waits_for_who_asks},
               {"endless", the_end_comes_even_so},
               {"fork", children_have_no_jvm}};
  CHECK(argc == 2);
  behaviour.instruction = 7;
  sem_init(&is_asked, 0, 0);
  sem_init(&may_answer, 0, 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(argv[1], cases[i].name) == 0) cases[i].test();
  }
  return 0;
}
