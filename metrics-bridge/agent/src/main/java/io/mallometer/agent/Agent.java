package io.mallometer.agent;

import org.jspecify.annotations.Nullable;

/**
 * {@code java -javaagent:mallometer-agent.jar=port=9464,host=127.0.0.1 ...}: the MBean {@code
 * io.mallometer:type=NativeMemory} and, if a port is given, an endpoint for Prometheus, and with
 * {@code record=FILE} a black box, without a change to the application.
 *
 * <p>The library must be preloaded as well; an agent comes too late to count. Whatever fails is one
 * line on standard error, and the application runs on.
 *
 * <p>JMX and JNA start {@code java.util.logging} before the application's main method. A server
 * that installs a log manager of its own must name it with {@code -Djava.util.logging.manager} and
 * have it on the boot class path, as for other agents that use JMX.
 */
public final class Agent {

  private Agent() {}

  /** Called by the JVM before the application's main method. */
  public static void premain(@Nullable String options) {
    try {
      start(AgentOptions.parse(options == null ? "" : options));
    } catch (Throwable e) {
      say("not started: " + reason(e));
    }
  }

  private static void start(AgentOptions options) throws Exception {
    Payload payload = Payload.load();
    String complaint = payload.start(options.record());
    if (!complaint.isEmpty()) {
      say(complaint);
    }
    if (options.port().isPresent()) {
      serve(payload, options.host(), options.port().getAsInt());
    }
  }

  private static void serve(Payload payload, String host, int port) {
    try {
      payload.serve(host, port);
    } catch (Exception e) {
      say("cannot serve metrics on " + host + ":" + port + ": " + reason(e));
    }
  }

  private static String reason(Throwable e) {
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }

  private static void say(String line) {
    System.err.println("mallometer: " + line.replace('\n', ' '));
  }
}
