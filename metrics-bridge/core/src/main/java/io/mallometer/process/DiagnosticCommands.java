package io.mallometer.process;

import java.lang.management.ManagementFactory;
import java.util.Optional;
import java.util.Set;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.openmbean.CompositeData;

/**
 * Asks the JVM what {@code jcmd} would ask, in process. Another JVM than HotSpot, or one without
 * module {@code jdk.management}, answers nothing.
 */
final class DiagnosticCommands {

  private static final String COMMANDS = "com.sun.management:type=DiagnosticCommand";
  private static final String DIAGNOSTICS = "com.sun.management:type=HotSpotDiagnostic";

  /** Origins of an option that neither the command line nor a file set. */
  private static final Set<String> NOBODYS = Set.of("DEFAULT", "ERGONOMIC");

  /**
   * An option of the JVM.
   *
   * @param value as text
   * @param byDefault whether nobody set it: the JVM's default or its own choice
   */
  record Option(String value, boolean byDefault) {}

  private DiagnosticCommands() {}

  /** Runs a command without arguments; its output, or nothing. */
  static String run(String command) {
    return invoke(command, new Object[0], new String[0]);
  }

  /** Runs a command with arguments; its output, or nothing. */
  static String run(String command, String... arguments) {
    return invoke(command, new Object[] {arguments}, new String[] {String[].class.getName()});
  }

  /** An option by name; empty if this JVM has none of that name. */
  static Optional<Option> option(String name) {
    try {
      Object option =
          server()
              .invoke(
                  new ObjectName(DIAGNOSTICS),
                  "getVMOption",
                  new Object[] {name},
                  new String[] {String.class.getName()});
      if (option instanceof CompositeData data) {
        return Optional.of(
            new Option(
                String.valueOf(data.get("value")),
                NOBODYS.contains(String.valueOf(data.get("origin")))));
      }
      return Optional.empty();
    } catch (JMException | RuntimeMBeanException | SecurityException e) {
      return Optional.empty();
    }
  }

  private static String invoke(String command, Object[] arguments, String[] signature) {
    try {
      return String.valueOf(
          server().invoke(new ObjectName(COMMANDS), command, arguments, signature));
    } catch (JMException | RuntimeMBeanException | SecurityException e) {
      return "";
    }
  }

  private static MBeanServer server() {
    return ManagementFactory.getPlatformMBeanServer();
  }
}
