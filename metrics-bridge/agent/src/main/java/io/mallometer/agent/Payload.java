package io.mallometer.agent;

import java.io.OutputStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The functions behind the isolated class loader. */
final class Payload {

  private static final String ENTRY = "io.mallometer.agent.payload.Entry";
  private static final String COMMANDS = "io.mallometer.agent.command.Commands";

  /** Loaded with the first facade that is opened in a class loader. */
  private static final String OPENED = "io.mallometer.PolledMallometer$Shared";

  /** What the agent tells the payload among the options. No option has such a name. */
  private static final String AGENT_VERSION = "agent version";

  private static final String FACADE = "io.mallometer.PolledMallometer";

  private final Class<?> entry;
  private final @Nullable Instrumentation instrumentation;

  /** The class loaders that the latest search found; guarded by itself. */
  private final Set<ClassLoader> found = Collections.newSetFromMap(new WeakHashMap<>());

  private Payload(Class<?> entry, @Nullable Instrumentation instrumentation) {
    this.entry = entry;
    this.instrumentation = instrumentation;
  }

  /** Loads what runs inside an application into a class loader of its own. */
  static Payload load(Instrumentation instrumentation) throws Exception {
    PayloadLoader loader =
        PayloadLoader.open(ClassLoader.getPlatformClassLoader(), PayloadLoader.BRIDGE);
    PayloadModule.define(loader, instrumentation);
    return new Payload(loader.loadClass(ENTRY), instrumentation);
  }

  /** What its classes are in. */
  Module module() {
    return entry.getModule();
  }

  /** Loads the command line, which has libraries of its own besides, and sees jdk.attach. */
  static Payload loadCommands() throws Exception {
    return new Payload(
        PayloadLoader.open(
                ClassLoader.getSystemClassLoader(), PayloadLoader.BRIDGE, PayloadLoader.COMMANDS)
            .loadClass(COMMANDS),
        null);
  }

  /**
   * Starts polling, the MBeans, and what the options ask for. Returns when the MBeans are there:
   * when somebody uses JMX, which may be never.
   *
   * @param options as {@link AgentOptions} has checked them
   * @param said is told what came of it, in one line, as soon as that is known
   */
  void start(Map<String, String> options, Consumer<String> said) throws Exception {
    Map<String, String> given = new HashMap<>(options);
    given.put(AGENT_VERSION, Version.text());
    @SuppressWarnings("unchecked") // the payload is of this jar
    BiConsumer<Map<String, String>, Consumer<String>> start =
        (BiConsumer<Map<String, String>, Consumer<String>>) entry.getConstructor().newInstance();
    start.accept(given, said);
  }

  /** Answers a {@link Question}. */
  void answer(String question, String version, OutputStream out) throws Exception {
    call(
        "answer",
        new Class<?>[] {String.class, String.class, Supplier.class, OutputStream.class},
        question,
        version,
        (Supplier<List<ClassLoader>>) this::applicationBridges,
        out);
  }

  /**
   * Returns class loaders in which the application itself, by the starter say, has an open facade.
   * Searches all classes only if none of those known has one.
   */
  private List<ClassLoader> applicationBridges() {
    synchronized (found) {
      if (found.stream().noneMatch(Payload::hasOpenFacade)) {
        search();
      }
      return found.stream().filter(Payload::hasOpenFacade).toList();
    }
  }

  private void search() {
    found.clear();
    Class<?>[] loaded =
        instrumentation == null ? new Class<?>[0] : instrumentation.getAllLoadedClasses();
    for (Class<?> type : loaded) {
      @Nullable ClassLoader loader = type.getClassLoader();
      if (loader != null && loader != entry.getClassLoader() && type.getName().equals(OPENED)) {
        found.add(loader);
      }
    }
  }

  private static boolean hasOpenFacade(ClassLoader loader) {
    try {
      Method method = loader.loadClass(FACADE).getDeclaredMethod("isAnyOpen");
      method.setAccessible(true);
      return (Boolean) method.invoke(null);
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      // One of another version; then this agent looks itself.
      return false;
    }
  }

  /** Runs a command. Returns the exit code. */
  int run(List<String> arguments, String version) throws Exception {
    return (Integer)
        Objects.requireNonNull(
            call("run", new Class<?>[] {List.class, String.class}, arguments, version));
  }

  private @Nullable Object call(String method, Class<?>[] types, Object... arguments)
      throws Exception {
    try {
      return entry.getMethod(method, types).invoke(null, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw e;
    }
  }
}
