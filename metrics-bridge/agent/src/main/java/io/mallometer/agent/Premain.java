package io.mallometer.agent;

import java.lang.instrument.Instrumentation;
import org.jspecify.annotations.Nullable;

/**
 * Entry points of {@code -javaagent} and of an attach.
 *
 * <p>Compiled for Java 8, because {@code JAVA_TOOL_OPTIONS} passes the option to every JVM in a
 * container, and a JVM that cannot load an agent exits. On a JVM that is too old for the agent,
 * this class prints one line and the application starts.
 */
public final class Premain {

  private Premain() {}

  /** Starts the agent. The JVM calls this before the application's main method. */
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

  /**
   * Answers the question of a mallometer command. The JVM calls this when the agent is attached.
   */
  public static void agentmain(@Nullable String options, Instrumentation instrumentation) {
    if (Main.javaVersion() >= Main.OLDEST_JAVA) {
      Agent.agentmain(options, instrumentation);
    }
  }
}
