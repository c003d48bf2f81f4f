package io.mallometer.agent;

import java.io.PrintStream;
import java.lang.instrument.Instrumentation;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of {@code java -javaagent:mallometer-agent.jar=port=9464,host=127.0.0.1 ...}. The
 * agent registers the MBeans {@code io.mallometer:type=*} when the application or an external
 * client begins to use JMX. With a port it also serves metrics to Prometheus and a page to people.
 * With {@code recording=FILE} it also keeps a recording, a file that survives a kill.
 *
 * <p>If the library is not preloaded, the agent attaches it. Memory that was allocated before the
 * attach is then known only as one sum. One line on standard error states the result or the
 * failure. After a failure the application continues.
 *
 * <p>A mallometer command ({@link Main}) loads the agent into a running JVM to ask it a question
 * ({@link #agentmain}). The agent then registers and serves nothing.
 */
final class Agent {

  private static final int FAILURE = 1;

  /**
   * The process's standard error, read before the application can call System.setErr. The
   * application's stream may lead to its log, or not be thread-safe.
   */
  private static final PrintStream STANDARD_ERROR = System.err;

  private static final String ENABLED_VARIABLE = "MALLOMETER_ENABLED";

  private static final List<String> OFF = List.of("false", "0", "no", "off");

  /** The JDK modules that mallometer requires. A runtime that jlink made may lack them. */
  private static final List<String> MODULES = List.of("java.logging", "java.management");

  /**
   * The agent's main part, in a class loader of its own. A process loads it only once, even if the
   * JVM loads the agent again. Guarded by the class's monitor.
   */
  private static @Nullable Payload payload;

  private Agent() {}

  /** Starts the agent on a thread of its own. Never throws. */
  static void premain(@Nullable String options, Instrumentation instrumentation) {
    try {
      @Nullable String switchedOff = switchedOff();
      if (switchedOff != null) {
        say(switchedOff);
      } else {
        Start.begin(options == null ? "" : options, instrumentation);
      }
    } catch (Throwable e) {
      say("not started: " + reason(e));
    }
  }

  /**
   * Answers the question of a mallometer command. The options are the path of a {@link Question}'s
   * directory. If the question fails or the agent is switched off, the answer is the reason.
   */
  static void agentmain(@Nullable String options, Instrumentation instrumentation) {
    try {
      Question question = Question.parse(options == null ? "" : options);
      @Nullable String switchedOff = switchedOff();
      if (switchedOff != null) {
        question.refuse(switchedOff);
      } else {
        question.answer(
            () -> {
              openDiagnostics(instrumentation);
              return payload(instrumentation);
            });
      }
    } catch (Throwable e) {
      // The application must not be disturbed. The mallometer command reports that no answer came.
      return;
    }
  }

  private static @Nullable String switchedOff() {
    @Nullable String enabled = System.getenv(ENABLED_VARIABLE);
    return enabled == null || !OFF.contains(enabled.toLowerCase(Locale.ROOT))
        ? null
        : "not started: "
            + ENABLED_VARIABLE
            + "="
            + enabled
            + ". Start the application without this variable to use mallometer";
  }

  static int run(List<String> arguments) {
    try {
      return Payload.loadCommands().run(arguments, Version.text());
    } catch (Exception | Error e) {
      say(reason(e));
      return FAILURE;
    }
  }

  static synchronized Payload payload(Instrumentation instrumentation) throws Exception {
    if (payload == null) {
      requireModules();
      payload = Payload.load(instrumentation);
    }
    return payload;
  }

  /**
   * Throws an exception if a module is missing, before a class is loaded that needs it. The message
   * names the option that adds all modules.
   */
  private static void requireModules() {
    ModuleLayer boot = ModuleLayer.boot();
    for (String module : MODULES) {
      if (boot.findModule(module).isEmpty()) {
        throw new IllegalStateException(
            "the module "
                + module
                + " is missing. Add --add-modules "
                + String.join(",", MODULES)
                + " to the java command, or to the jlink command that made this runtime");
      }
    }
  }

  /**
   * Opens the package of the JDK's diagnostic commands to the payload's module, which then calls
   * them without JMX. Must run before mallometer first reads the memory of the process.
   */
  static void openDiagnostics(Instrumentation instrumentation) throws Exception {
    Module to = payload(instrumentation).module();
    Map<String, Set<Module>> opened = Map.of("com.sun.management.internal", Set.of(to));
    try {
      Optional<Module> management = ModuleLayer.boot().findModule("jdk.management");
      if (management.isPresent()) {
        instrumentation.redefineModule(
            management.get(), Set.of(), Map.of(), opened, Set.of(), Map.of());
      }
    } catch (RuntimeException e) {
      // The package com.sun.management.internal does not exist in this JDK. The diagnostic commands
      // are then called through JMX.
      return;
    }
  }

  static String reason(Throwable e) {
    for (@Nullable Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SecurityException forbidden) {
        return Main.forbidden(forbidden);
      }
    }
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }

  /**
   * Prints a message in one line on standard error, with "+/-" for the plus-minus sign, because the
   * locale of a container is often limited to ASCII.
   */
  static void say(String line) {
    STANDARD_ERROR.println("mallometer: " + line.replace('\n', ' ').replace("\u00b1", "+/-"));
  }
}
