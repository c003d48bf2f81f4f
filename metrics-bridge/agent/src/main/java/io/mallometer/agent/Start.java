package io.mallometer.agent;

import java.lang.instrument.Instrumentation;
import java.util.function.Consumer;

/**
 * Starts the agent on a thread of its own, beside the application's start: class loading takes it
 * 0.1 s of processor time, for which nobody else is to wait. A preloaded library has counted since
 * the process began, so nothing is missed meanwhile; without preload the library is attached here.
 *
 * <p>The thread is a daemon: a program that is over sooner ends without the line.
 */
final class Start implements Runnable, Consumer<String> {

  private final String options;
  private final Instrumentation instrumentation;

  private Start(String options, Instrumentation instrumentation) {
    this.options = options;
    this.instrumentation = instrumentation;
  }

  /** Starts the agent in the background and returns at once. */
  static void begin(String options, Instrumentation instrumentation) {
    Runnable start = new Start(options, instrumentation);
    Thread thread = new Thread(null, start, "mallometer-start", 0, false);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void run() {
    try {
      Agent.payload(instrumentation).start(AgentOptions.parse(options), this);
    } catch (Throwable e) {
      say("not started: " + Agent.reason(e));
    }
  }

  /** Says what came of it. The poller's thread has read nothing by then. */
  @Override
  public void accept(String line) {
    say(line);
    try {
      Agent.openDiagnostics(instrumentation);
    } catch (Exception e) {
      say("the diagnostic commands cannot be opened: " + Agent.reason(e));
    }
  }

  /** Says nothing once the JVM is ending, when much fails for that reason alone. */
  static void say(String line) {
    if (!isEnding()) {
      Agent.say(line);
    }
  }

  /** The JDK tells it only to who asks for a hook. */
  private static boolean isEnding() {
    Thread hook = new Thread();
    try {
      Runtime.getRuntime().addShutdownHook(hook);
      Runtime.getRuntime().removeShutdownHook(hook);
      return false;
    } catch (IllegalStateException e) {
      return true;
    } catch (SecurityException e) {
      return false;
    }
  }
}
