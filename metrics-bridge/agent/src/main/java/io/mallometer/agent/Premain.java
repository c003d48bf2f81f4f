package io.mallometer.agent;

import java.lang.instrument.Instrumentation;
import org.jspecify.annotations.Nullable;

/**
 * Entry points for {@code -javaagent} and for an attach.
 *
 * <p>Compiled for Java 8. A JVM that cannot load an agent exits, and {@code JAVA_TOOL_OPTIONS}
 * gives the option to every JVM in a container, old ones too. On a JVM that is too old for the
 * rest, this class prints one line and the application starts.
 */
public final class Premain {

  private Premain() {}

  /** Called by the JVM before the application's main method. */
  public static void premain(@Nullable String options, Instrumentation instrumentation) {
    try {
      if (Main.javaVersion() >= Main.OLDEST_JAVA) {
        Agent.premain(options, instrumentation);
      } else {
        System.err.println(
            Main.tooOld("not started: the agent") + ". The application runs without mallometer");
      }
    } catch (SecurityException e) {
      System.err.println("mallometer: not started: " + Main.forbidden(e));
    }
  }

  /** Called by the JVM when the command line asks it something. */
  public static void agentmain(@Nullable String options, Instrumentation instrumentation) {
    if (Main.javaVersion() >= Main.OLDEST_JAVA) {
      Agent.agentmain(options, instrumentation);
    }
  }
}
