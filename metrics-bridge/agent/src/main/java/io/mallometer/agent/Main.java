package io.mallometer.agent;

import java.lang.instrument.Instrumentation;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The three ways into the jar: {@code -javaagent}, an attach, and {@code java -jar}.
 *
 * <p>This class alone is compiled for Java 8. An agent that a JVM cannot load ends that JVM, and
 * the option reaches JVMs that nobody thought of: {@code JAVA_TOOL_OPTIONS} applies to each one in
 * a container. A JVM that is too old for the rest prints one line and runs on.
 */
public final class Main {

  private static final int OLDEST_JAVA = 17;

  private static final int FAILURE = 1;

  private Main() {}

  /** Called by the JVM before the application's main method. */
  public static void premain(@Nullable String options, Instrumentation instrumentation) {
    try {
      if (javaVersion() >= OLDEST_JAVA) {
        Agent.premain(options, instrumentation);
      } else {
        System.err.println(
            tooOld("not started: the agent") + ". The application runs on without it");
      }
    } catch (SecurityException e) {
      System.err.println("mallometer: not started: " + forbidden(e));
    }
  }

  /** Called by the JVM when the command line asks it something. */
  public static void agentmain(@Nullable String options, Instrumentation instrumentation) {
    if (javaVersion() >= OLDEST_JAVA) {
      Agent.agentmain(options, instrumentation);
    }
  }

  /** Runs a command and exits; {@code --help} says which there are. */
  public static void main(String[] arguments) {
    if (javaVersion() < OLDEST_JAVA) {
      System.err.println(tooOld("the command line"));
      System.exit(FAILURE);
    }
    System.exit(Agent.run(Arrays.asList(arguments)));
  }

  /** The feature version of this JVM; {@code Runtime.version()} is younger than Java 8. */
  private static int javaVersion() {
    return featureVersion(System.getProperty("java.specification.version", ""));
  }

  /**
   * The feature version.
   *
   * @param specification such as {@code 1.8} or {@code 17}
   * @return 0 if it is not understood
   */
  static int featureVersion(String specification) {
    String feature = specification.startsWith("1.") ? specification.substring(2) : specification;
    try {
      return Integer.parseInt(feature);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** What to say where a security manager forbids something. */
  static String forbidden(SecurityException e) {
    return "a security manager forbids it: "
        + e.getMessage()
        + ". Grant java.security.AllPermission to the agent's jar in the policy,"
        + " or start without a security manager";
  }

  private static String tooOld(String what) {
    return "mallometer: "
        + what
        + " needs Java "
        + OLDEST_JAVA
        + " or newer, and this JVM is Java "
        + javaVersion();
  }
}
