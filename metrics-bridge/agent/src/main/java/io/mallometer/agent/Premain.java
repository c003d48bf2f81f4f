package io.mallometer.agent;

import java.lang.instrument.Instrumentation;
import org.jspecify.annotations.Nullable;

/**
 * The ways in by {@code -javaagent} and by an attach.
 *
 * <p>Compiled for Java 8. An agent that a JVM cannot load ends that JVM, and the option reaches
 * JVMs that nobody thought of: {@code JAVA_TOOL_OPTIONS} applies to each one in a container. A JVM
 * that is too old for the rest prints one line and runs on.
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
            Main.tooOld("not started: the agent") + ". The application runs on without it");
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
