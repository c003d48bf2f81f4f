package io.mallometer.internal.process;

import io.mallometer.internal.text.Log;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Calls functions of mallometer before and after each checkpoint of a JVM with CRaC. Such a JVM
 * refuses a checkpoint while the process has open files or sockets that it cannot restore.
 *
 * <p>Uses reflection, because only a JVM with CRaC has the package {@code jdk.crac}.
 */
public final class Checkpoints {

  private static final String PACKAGE = "jdk.crac.";
  private static final Optional<Class<?>> CORE = core();

  /** The registered resources. They are stored here because the JVM refers to them only weakly. */
  private static final Set<Object> RESOURCES = ConcurrentHashMap.newKeySet();

  private Checkpoints() {}

  public static boolean possible() {
    return CORE.isPresent();
  }

  /**
   * Registers functions that are called before and after each checkpoint, also if the checkpoint
   * fails. Does nothing on a JVM without CRaC. An exception of a function is logged as a warning
   * and does not prevent the checkpoint.
   */
  public static void around(Runnable before, Runnable after) {
    if (CORE.isPresent()) {
      guarded("register for checkpoints", () -> register(CORE.get(), before, after));
    }
  }

  /**
   * Looks up the class {@code jdk.crac.Core} in the platform's class loader, because a library may
   * have a class of the same name.
   */
  private static Optional<Class<?>> core() {
    try {
      return Optional.of(
          Class.forName(PACKAGE + "Core", false, ClassLoader.getPlatformClassLoader()));
    } catch (ClassNotFoundException | LinkageError | SecurityException e) {
      return Optional.empty();
    }
  }

  private static void register(Class<?> core, Runnable before, Runnable after)
      throws ReflectiveOperationException {
    @Nullable ClassLoader jvm = core.getClassLoader();
    Class<?> type = Class.forName(PACKAGE + "Resource", false, jvm);
    Class<?> context = Class.forName(PACKAGE + "Context", false, jvm);
    Object resource =
        Proxy.newProxyInstance(jvm, new Class<?>[] {type}, new Resource(before, after));
    RESOURCES.add(resource);
    context
        .getMethod("register", type)
        .invoke(core.getMethod("getGlobalContext").invoke(null), resource);
  }

  private record Resource(Runnable before, Runnable after) implements InvocationHandler {

    @Override
    public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments) {
      switch (method.getName()) {
        case "beforeCheckpoint" -> guarded("prepare for a checkpoint", before::run);
        case "afterRestore" -> guarded("go on after a checkpoint", after::run);
        case "equals" -> {
          return arguments != null && self == arguments[0];
        }
        case "hashCode" -> {
          return System.identityHashCode(self);
        }
        default -> {
          return "mallometer";
        }
      }
      return null;
    }
  }

  @FunctionalInterface
  private interface Work {
    void run() throws Exception;
  }

  private static void guarded(String purpose, Work work) {
    try {
      work.run();
    } catch (Throwable e) {
      Log.MALLOMETER.warn("mallometer cannot " + purpose, e);
    }
  }
}
