package io.mallometer.agent;

import java.util.Arrays;

/**
 * The entry point of {@code java -jar mallometer-agent.jar}, which runs mallometer's commands.
 * Compiled for Java 8, like {@link Premain}, so that an older JVM can print why it cannot run. Does
 * not refer to {@code java.lang.instrument}, which a runtime that jlink made for these commands may
 * lack.
 */
public final class Main {

  static final int OLDEST_JAVA = 17;

  private static final int FAILURE = 1;

  private Main() {}

  /** Runs a command and exits; {@code --help} lists the commands. */
  public static void main(String[] arguments) {
    if (javaVersion() < OLDEST_JAVA) {
      System.err.println(tooOld("the command line"));
      System.exit(FAILURE);
    }
    System.exit(Agent.run(Arrays.asList(arguments)));
  }

  /**
   * Returns the feature version of this JVM, without {@code Runtime.version()}, which Java 8 lacks.
   */
  static int javaVersion() {
    return featureVersion(System.getProperty("java.specification.version", ""));
  }

  /**
   * Returns the feature version of a specification such as {@code 1.8} or {@code 17}; 0 if it is
   * not understood.
   */
  static int featureVersion(String specification) {
    String feature = specification.startsWith("1.") ? specification.substring(2) : specification;
    try {
      return Integer.parseInt(feature);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  static String forbidden(SecurityException e) {
    return "a security manager forbids it: "
        + e.getMessage()
        + ". Grant java.security.AllPermission to the agent's jar in the policy file,"
        + " or start without a security manager";
  }

  static String tooOld(String what) {
    return "mallometer: "
        + what
        + " needs Java "
        + OLDEST_JAVA
        + " or newer, and this JVM is Java "
        + javaVersion();
  }
}
