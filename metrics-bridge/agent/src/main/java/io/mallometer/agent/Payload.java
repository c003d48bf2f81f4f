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

/**
 * Calls the functions of the payload by reflection. The payload is the code that runs in an
 * isolated class loader: the agent's main part or the command line.
 */
final class Payload {

  private static final String ENTRY = "io.mallometer.agent.payload.Entry";
  private static final String COMMANDS = "io.mallometer.agent.command.Commands";

  /**
   * A class that {@code Mallometer.open()} loads. Only a class loader that has loaded it can have
   * an open {@code Mallometer}.
   */
  private static final String OPENED = "io.mallometer.Mallometer$Shared";

  /** The key of the agent's version among the payload's options. No option has this name. */
  private static final String AGENT_VERSION = "agent version";

  private static final String FACADE = "io.mallometer.Mallometer";

  private final Class<?> entry;
  private final @Nullable Instrumentation instrumentation;

  /**
   * The class loaders in which the latest search found {@link #OPENED}. Guarded by the set's
   * monitor.
   */
  private final Set<ClassLoader> found = Collections.newSetFromMap(new WeakHashMap<>());

  private Payload(Class<?> entry, @Nullable Instrumentation instrumentation) {
    this.entry = entry;
    this.instrumentation = instrumentation;
  }

  static Payload load(Instrumentation instrumentation) throws Exception {
    PayloadLoader loader =
        PayloadLoader.open(ClassLoader.getPlatformClassLoader(), PayloadLoader.BRIDGE);
    PayloadModule.define(loader, instrumentation);
    return new Payload(loader.loadClass(ENTRY), instrumentation);
  }

  Module module() {
    return entry.getModule();
  }

  /**
   * Loads the command line with its own libraries. Its class loader also sees the module
   * jdk.attach.
   */
  static Payload loadCommands() throws Exception {
    return new Payload(
        PayloadLoader.open(
                ClassLoader.getSystemClassLoader(), PayloadLoader.BRIDGE, PayloadLoader.COMMANDS)
            .loadClass(COMMANDS),
        null);
  }

  /**
   * Starts polling, and everything that the options request. Then registers the MBeans: at once if
   * a system property configures JMX, otherwise when JMX is first used. The method waits for that
   * use, perhaps for ever.
   *
   * <p>If the options switch mallometer off, the method starts nothing and returns at once.
   *
   * @param said receives one line with the result, as soon as it is known
   */
  void start(Map<String, String> options, Consumer<String> said) throws Exception {
    Map<String, String> given = new HashMap<>(options);
    given.put(AGENT_VERSION, Version.text());
    @SuppressWarnings("unchecked") // class Entry implements BiConsumer with these type arguments
    BiConsumer<Map<String, String>, Consumer<String>> start =
        (BiConsumer<Map<String, String>, Consumer<String>>) entry.getConstructor().newInstance();
    start.accept(given, said);
  }

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
   * Returns class loaders in which the application itself has an open {@code Mallometer}, for
   * example through the Spring Boot starter. Searches all loaded classes, unless a class loader in
   * {@link #found} still has an open one.
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
      // The application's Mallometer has another version, so the agent uses its own.
      return false;
    }
  }

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
