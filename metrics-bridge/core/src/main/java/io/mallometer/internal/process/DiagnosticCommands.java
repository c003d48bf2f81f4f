package io.mallometer.internal.process;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.OperatingSystemMXBean;
import com.sun.management.VMOption;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.Set;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import org.jspecify.annotations.Nullable;

/**
 * Runs commands of {@code jcmd} in this JVM. The output is empty on a JVM other than HotSpot, or
 * without the module {@code jdk.management}.
 *
 * <p>The class that implements the commands is called directly if its package is open; mallometer's
 * agent opens the package. Otherwise the platform's MBean server runs the commands. The start of
 * the server takes a quarter of a second of CPU time and initializes {@code java.util.logging}.
 */
final class DiagnosticCommands {

  private static final String SERVED = "com.sun.management:type=DiagnosticCommand";
  private static final String BEHIND = "com.sun.management.internal.DiagnosticCommandImpl";

  /** The origins of an option that neither the command line nor a file has set. */
  private static final Set<String> NOBODYS = Set.of("DEFAULT", "ERGONOMIC");

  enum Command {
    HEAP("GC.heap_info", "gcHeapInfo"),
    CODE_CACHE("Compiler.codecache", "compilerCodecache"),
    NATIVE_MEMORY("VM.native_memory", "vmNativeMemory", "summary", "scale=1"),
    CLASS_LOADERS("VM.classloader_stats", "vmClassloaderStats");

    private final String text;
    private final String operation;
    private final String[] arguments;

    Command(String name, String operation, String... arguments) {
      this.text = (name + " " + String.join(" ", arguments)).strip();
      this.operation = operation;
      this.arguments = arguments;
    }
  }

  /**
   * An option of the JVM.
   *
   * @param byDefault true if the JVM chose the value; false if the user set it
   */
  record Option(String value, boolean byDefault) {}

  /** Looks up the class {@code BEHIND} at the first use, after the agent has opened its package. */
  private static final class Direct {

    static final @Nullable Object COMMANDS;
    static final @Nullable Method EXECUTE;

    static {
      Object commands = null;
      Method execute = null;
      try {
        // Getting this bean also loads the JDK's native library, which the class BEHIND needs for
        // its native methods.
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        Class<?> type = Class.forName(BEHIND);
        Method instance = type.getDeclaredMethod("getDiagnosticCommandMBean");
        instance.setAccessible(true);
        execute = type.getDeclaredMethod("executeDiagnosticCommand", String.class);
        execute.setAccessible(true);
        commands = instance.invoke(null);
      } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
        commands = null;
      }
      COMMANDS = commands;
      EXECUTE = execute;
    }

    private Direct() {}
  }

  /** Holds the diagnostics bean, because looking it up takes longer than using it. */
  private static final class Diagnostics {

    static final @Nullable HotSpotDiagnosticMXBean BEAN = bean();

    private Diagnostics() {}

    private static @Nullable HotSpotDiagnosticMXBean bean() {
      try {
        return ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      } catch (IllegalArgumentException | SecurityException | LinkageError e) {
        return null;
      }
    }
  }

  private DiagnosticCommands() {}

  static boolean areDirect() {
    return Direct.COMMANDS != null;
  }

  static String run(Command command) {
    Method execute = Direct.EXECUTE;
    if (execute == null || !areDirect()) {
      return served(command);
    }
    try {
      return String.valueOf(execute.invoke(Direct.COMMANDS, command.text));
    } catch (InvocationTargetException e) {
      // A second try on the MBean server is worthwhile only after a LinkageError; other failures
      // would occur there, too.
      return e.getCause() instanceof LinkageError ? served(command) : "";
    } catch (ReflectiveOperationException | RuntimeException e) {
      return served(command);
    }
  }

  private static String served(Command command) {
    boolean bare = command.arguments.length == 0;
    try {
      return String.valueOf(
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName(SERVED),
                  command.operation,
                  bare ? new Object[0] : new Object[] {command.arguments},
                  bare ? new String[0] : new String[] {String[].class.getName()}));
    } catch (JMException | RuntimeMBeanException | SecurityException e) {
      return "";
    }
  }

  static Optional<Option> option(String name) {
    try {
      HotSpotDiagnosticMXBean diagnostics = Diagnostics.BEAN;
      if (diagnostics == null) {
        return Optional.empty();
      }
      VMOption option = diagnostics.getVMOption(name);
      return Optional.of(
          new Option(option.getValue(), NOBODYS.contains(option.getOrigin().name())));
    } catch (IllegalArgumentException | SecurityException | LinkageError e) {
      return Optional.empty();
    }
  }

  /** Returns the CPU time of all threads of the process, in nanoseconds; below 0 if unknown. */
  static long processNanos() {
    try {
      return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
          ? system.getProcessCpuTime()
          : -1;
    } catch (SecurityException | LinkageError e) {
      return -1;
    }
  }
}
