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
 * Asks the JVM what {@code jcmd} would ask, in process. Another JVM than HotSpot, or one without
 * module {@code jdk.management}, answers nothing.
 *
 * <p>The platform's MBean server, which answers everywhere, takes a quarter of a second of
 * processor time to start, and starts {@code java.util.logging}. What is behind it is asked
 * directly where its package is open to this class, as the agent can have it.
 */
final class DiagnosticCommands {

  private static final String SERVED = "com.sun.management:type=DiagnosticCommand";
  private static final String BEHIND = "com.sun.management.internal.DiagnosticCommandImpl";

  /** Origins of an option that neither the command line nor a file set. */
  private static final Set<String> NOBODYS = Set.of("DEFAULT", "ERGONOMIC");

  /** What can be asked. */
  enum Command {
    HEAP("GC.heap_info", "gcHeapInfo"),
    CODE_CACHE("Compiler.codecache", "compilerCodecache"),
    NATIVE_MEMORY("VM.native_memory", "vmNativeMemory", "summary", "scale=1");

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
   * @param value as text
   * @param byDefault whether nobody set it: the JVM's default or its own choice
   */
  record Option(String value, boolean byDefault) {}

  /** Found when it is first needed, which is after the agent has opened the package. */
  private static final class Direct {

    static final @Nullable Object COMMANDS;
    static final @Nullable Method EXECUTE;

    static {
      Object commands = null;
      Method execute = null;
      try {
        // Loads the native methods with it.
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

  /** Found once: looking for it among all of the platform's beans takes longer than asking it. */
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

  /** Whether commands are answered without the platform's MBean server. */
  static boolean areDirect() {
    return Direct.COMMANDS != null;
  }

  /** Runs a command; its output, or nothing. */
  static String run(Command command) {
    Method execute = Direct.EXECUTE;
    if (execute == null || !areDirect()) {
      return served(command);
    }
    try {
      return String.valueOf(execute.invoke(Direct.COMMANDS, command.text));
    } catch (InvocationTargetException e) {
      // Nor would the server know the command.
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

  /** An option by name; empty if this JVM has none of that name. */
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
