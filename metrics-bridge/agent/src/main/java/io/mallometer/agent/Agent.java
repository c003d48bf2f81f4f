package io.mallometer.agent;

import java.lang.instrument.Instrumentation;
import org.jspecify.annotations.Nullable;

/**
 * {@code java -javaagent:mallometer-agent.jar=port=9464,host=127.0.0.1 ...}: the MBeans {@code
 * io.mallometer:type=*} and, if a port is given, a server for Prometheus and for people, and with
 * {@code record=FILE} a black box, without a change to the application.
 *
 * <p>The library must be preloaded as well; an agent comes too late to count. One line on standard
 * error says what came of it. Whatever fails is in that line, and the application runs on.
 *
 * <p>The command line loads the agent into a JVM that runs already, to ask it something: {@link
 * #agentmain}. Nothing is registered or served then.
 *
 * <p>JMX starts {@code java.util.logging}, at the latest ten seconds after the start. A server that
 * installs a log manager of its own later must name it with {@code -Djava.util.logging.manager} and
 * have it on the boot class path, as for other agents that use JMX.
 */
public final class Agent {

  /**
   * Who answers in this process: one, however often the agent is loaded. Guarded by the class: the
   * JVM makes the only instance there can be, and loads again into the same class.
   */
  private static @Nullable Payload payload;

  private Agent() {}

  /**
   * Called by the JVM before the application's main method. With the parameter that is not needed:
   * the JVM looks for this form first, and to say to itself that there is none takes it 5 ms.
   */
  public static void premain(@Nullable String options, Instrumentation unused) {
    try {
      Start.begin(options);
    } catch (Throwable e) {
      say("not started: " + reason(e));
    }
  }

  /**
   * Called by the JVM when the command line asks: the options are those of {@link Question}. What
   * fails is in the answer.
   */
  public static void agentmain(@Nullable String options, Instrumentation unused) {
    try {
      Question.parse(options == null ? "" : options).answer(Agent::payload);
    } catch (Throwable e) {
      // Whoever asked notices that there is no answer; the application is not to be bothered.
      return;
    }
  }

  static synchronized Payload payload() throws Exception {
    if (payload == null) {
      payload = Payload.load();
    }
    return payload;
  }

  static String reason(Throwable e) {
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }

  static void say(String line) {
    System.err.println("mallometer: " + line.replace('\n', ' '));
  }
}
