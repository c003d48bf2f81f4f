package io.mallometer.agent.payload;

import io.mallometer.Mallometer;
import io.mallometer.internal.process.Checkpoints;
import io.mallometer.model.AttachMode;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MonitorOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import io.mallometer.push.ProfilePush;
import io.mallometer.push.PushOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The functions that the agent calls in the payload (the code in an isolated class loader). The
 * agent calls them by reflection and passes only types of the JDK. It calls {@link #accept} through
 * {@code BiConsumer} instead, because JDK 25 generates classes for a reflective call, which would
 * slow down every start.
 */
public final class Entry implements BiConsumer<Map<String, String>, Consumer<String>> {

  /**
   * The system property that tells the agent's copy of JNA in which directories to search for
   * libraries. Without this property, JNA runs the program ldconfig. JNA in the application reads a
   * property of another name.
   */
  private static final String LIBRARY_PATH = "mallometer.jna.searchpath";

  /** Whether {@link #accept} has started the agent. A JVM runs one agent only. */
  private static volatile boolean started;

  /** The options given to {@link #accept}, secrets included. */
  private static volatile Map<String, String> options = Map.of();

  public Entry() {}

  static Map<String, String> options() {
    return options;
  }

  static boolean started() {
    return started;
  }

  /**
   * Starts polling and everything that the options request, for the life of the JVM. Attaches the
   * library if it does not count yet and the options allow it.
   *
   * <p>Then registers the events of Flight Recorder and the MBeans. The MBeans are registered at
   * once if a system property configures JMX, and otherwise when the application first uses JMX.
   * The method waits for that use, perhaps for ever. Returns at once, without a start, if the
   * options switch mallometer off.
   *
   * @param given the options by name and the key {@code agent version}
   * @param said receives one line that states the result, one for each setting without effect, and
   *     one for each later failure
   */
  @Override
  public void accept(Map<String, String> given, Consumer<String> said) {
    Map<String, String> others = new HashMap<>(given);
    String version = others.remove("agent version");
    options = Map.copyOf(others);
    // The settings are read first, so that nothing is started if an option is wrong.
    MallometerOptions settings = AgentSettings.of(options, System.getenv());
    if (!settings.get(Setting.ENABLED)) {
      said.accept("not started: the option enabled is " + options.get(Setting.ENABLED.name()));
      return;
    }
    settings.unused().forEach(said);
    ServerOptions server = ServerOptions.of(settings, options);
    List<MonitorOptions> monitors = MonitorOptions.of(settings);
    Optional<PushOptions> push =
        settings.find(Setting.PUSH_URL).isPresent()
            ? PushOptions.of(settings, "java")
            : Optional.empty();
    Optional<OtlpPush.Options> otlp =
        settings.find(Setting.OTLP_URL).isPresent()
            ? Optional.of(OtlpPush.Options.of(settings))
            : Optional.empty();
    started = true;
    Mallometer mallometer = open(settings);
    boolean attaches = settings.get(Setting.ATTACH) != AttachMode.OFF;
    if (attaches && !mallometer.status().active()) {
      mallometer.counting().attach();
    }
    for (MonitorOptions monitor : monitors) {
      mallometer.monitors().start(monitor);
    }
    String served =
        settings.find(Setting.PORT).isPresent() ? "; " + serve(mallometer, server, said) : "";
    takeQuestions(version);
    if (push.isPresent()) {
      pushTo(mallometer, push.get());
    }
    Snapshot snapshot = mallometer.snapshot();
    String counts = (snapshot.status().active() ? version + " " : "") + Counting.sentence(snapshot);
    said.accept(counts + missing() + served);
    new LateRegistration(mallometer)
        .run(otlp.isPresent() ? metricsTo(mallometer, otlp.get(), said) : null);
  }

  /**
   * Opens the socket through which the command line asks this JVM questions. Without it, each
   * command must load the agent again.
   */
  private static void takeQuestions(String version) {
    try {
      QuestionSocket socket = QuestionSocket.listen(version);
      if (Checkpoints.possible()) {
        Checkpoints.around(() -> closed(socket), () -> reopened(socket));
      }
    } catch (Throwable e) {
      // Even an error must not keep the agent from counting and serving.
      return;
    }
  }

  private static void closed(QuestionSocket socket) {
    try {
      socket.pause();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void reopened(QuestionSocket socket) {
    try {
      socket.resume();
    } catch (IOException e) {
      return;
    }
  }

  private static void pushTo(Mallometer mallometer, PushOptions store) {
    ProfilePush push = ProfilePush.start(mallometer, store);
    Checkpoints.around(push::pause, push::resume);
  }

  /**
   * Returns an action that starts to push metrics, for the life of the JVM. The sockets of the
   * exporter stay open during a checkpoint.
   */
  private static Runnable metricsTo(
      Mallometer mallometer, OtlpPush.Options receiver, Consumer<String> said) {
    return () -> {
      try {
        OtlpPush.start(mallometer, receiver);
      } catch (IOException | RuntimeException e) {
        said.accept("cannot push metrics to " + receiver.url() + ": " + reason(e));
      }
    };
  }

  /**
   * Opens a {@code Mallometer}. Prevents JNA from running ldconfig, which is not needed because all
   * libraries are loaded already. Prevents the JDK from warning of native access.
   */
  static Mallometer open(MallometerOptions options) {
    allowNativeAccess();
    return Mallometer.open(options);
  }

  /**
   * Opens a {@code Mallometer} with the options of one that is already open, or else with the
   * default options.
   */
  static Mallometer open() {
    allowNativeAccess();
    return Mallometer.open();
  }

  private static void allowNativeAccess() {
    NativeAccess.allow();
    System.setProperty(LIBRARY_PATH, "");
  }

  /**
   * Returns a note if the runtime, made by jlink, lacks a module that mallometer needs to break
   * down the memory.
   */
  private static String missing() {
    return ModuleLayer.boot().findModule("jdk.management").isPresent()
        ? ""
        : "; the breakdown does not show the Java heap separately: the module jdk.management is"
            + " missing. Add --add-modules jdk.management to the java command, or to the jlink"
            + " command that made this runtime";
  }

  private static String serve(Mallometer mallometer, ServerOptions server, Consumer<String> said) {
    try {
      AgentServer served = AgentServer.start(mallometer, server);
      Checkpoints.around(served::pause, () -> reopen(served, said));
      return served.address() + "/metrics, page at " + served.address() + "/";
    } catch (BindException e) {
      return cannotServe(server, e) + "; choose another port, or port=0 for any that is free";
    } catch (IOException | RuntimeException e) {
      return cannotServe(server, e);
    }
  }

  private static void reopen(AgentServer served, Consumer<String> said) {
    try {
      served.reopen();
    } catch (IOException | RuntimeException e) {
      said.accept(
          "cannot serve metrics on "
              + served.address()
              + " after the checkpoint: "
              + reason(e)
              + "; free the port before the restore");
    }
  }

  private static String cannotServe(ServerOptions server, Exception e) {
    return "cannot serve metrics on " + server.host() + ":" + server.port() + ": " + reason(e);
  }

  private static String reason(Exception e) {
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }

  /**
   * Answers a question of the command line, as {@link CommandLineSession} describes.
   *
   * @param question such as {@code GET sites?limit=10}
   * @param version the agent's version
   * @param bridges finds class loaders in which the application has an open {@code Mallometer}
   * @param out receives a line with status, media type and version, then the answer
   */
  public static void answer(
      String question, String version, Supplier<List<ClassLoader>> bridges, OutputStream out)
      throws IOException {
    CommandLineSession.answer(question, version, bridges, out);
  }
}
