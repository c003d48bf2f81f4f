package io.mallometer.agent;

import java.lang.instrument.Instrumentation;
import java.util.function.Consumer;

/**
 * Starts the agent on a thread of its own, so that the application does not wait for the agent's
 * class loading (0.1 s of CPU time). A preloaded library counts also during this time. Without a
 * preload, this thread attaches the library.
 *
 * <p>The thread is a daemon. If the program ends before the agent has started, the agent prints
 * nothing.
 */
final class Start implements Runnable, Consumer<String> {

  private final String options;
  private final Instrumentation instrumentation;

  private Start(String options, Instrumentation instrumentation) {
    this.options = options;
    this.instrumentation = instrumentation;
  }

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

  /**
   * Prints a message about the start. Then opens the package of the JDK's diagnostic commands to
   * mallometer's module, which must happen before mallometer first reads the memory of the process.
   */
  @Override
  public void accept(String line) {
    say(line);
    try {
      Agent.openDiagnostics(instrumentation);
    } catch (Exception e) {
      say("the diagnostic commands cannot be opened: " + Agent.reason(e));
    }
  }

  /** Prints a message, except during a shutdown of the JVM, when many failures are normal. */
  static void say(String line) {
    if (!isEnding()) {
      Agent.say(line);
    }
  }

  /** Returns whether the JVM is shutting down: it then refuses to add a shutdown hook. */
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
