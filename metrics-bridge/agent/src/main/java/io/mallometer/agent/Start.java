package io.mallometer.agent;

import java.lang.instrument.Instrumentation;
import org.jspecify.annotations.Nullable;

/**
 * Starts the agent on a thread of its own, beside the application's start: class loading takes it
 * 0.2 s of processor time, for which nobody else is to wait. The library has counted since the
 * process began, so nothing is missed meanwhile.
 *
 * <p>The thread is a daemon: a program that is over sooner ends without the line.
 */
final class Start implements Runnable {

  private final String options;
  private final Instrumentation instrumentation;

  private Start(String options, Instrumentation instrumentation) {
    this.options = options;
    this.instrumentation = instrumentation;
  }

  /** Begins, and returns at once. */
  static void begin(@Nullable String options, Instrumentation instrumentation) {
    Runnable start = new Start(options == null ? "" : options, instrumentation);
    Thread thread = new Thread(null, start, "mallometer-start", 0, false);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void run() {
    try {
      Agent.payload(instrumentation).start(AgentOptions.parse(options), Agent::say);
    } catch (Throwable e) {
      Agent.say("not started: " + Agent.reason(e));
    }
  }
}
