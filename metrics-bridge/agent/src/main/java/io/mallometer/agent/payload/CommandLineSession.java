package io.mallometer.agent.payload;

import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Setting;
import io.mallometer.model.Status;
import io.mallometer.view.Answer;
import io.mallometer.view.Answer.Told;
import io.mallometer.view.View;
import io.mallometer.view.Views;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Answers the questions that the command line asks this JVM, such as {@code GET sites}. Up to three
 * instances of {@code Mallometer} take part:
 *
 * <ul>
 *   <li>{@code open} answers the questions. It is opened for a question, and closed two minutes
 *       after the last question. It polls at the interval of the agent or of {@code attached} if
 *       either polls already, and otherwise every second.
 *   <li>{@code attached} is opened if the command {@code attach} begins to count and no agent runs,
 *       and is closed by the command {@code detach}. It polls between questions, to collect names
 *       of Java frames and evidence of leaks.
 *   <li>The application may have a {@code Mallometer} of its own that polls ({@link
 *       ApplicationBridge}). While no agent runs and {@code attached} is empty, that instance
 *       answers the GET questions, and {@code open} is not needed for them.
 * </ul>
 */
final class CommandLineSession {

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** The polling interval of a {@code Mallometer} that was just opened, until its first reading. */
  private static final Duration SOON = Duration.ofMillis(50);

  /** The HTTP status if the command {@code phase}, {@code attach} or {@code detach} is refused. */
  private static final int NOT_THERE = 501;

  private static final int LONGEST_WAIT_MILLIS = 5_000;

  private static final String ROOT = "nativememory";
  private static final String JSON = "application/json;charset=UTF-8";

  /** The polling interval while questions come. */
  private static final Duration OFTEN = Duration.ofSeconds(1);

  /**
   * The {@code Mallometer} that answers the command line's questions; empty if none is open.
   * Guarded by the class's monitor.
   */
  private static Optional<Mallometer> open = Optional.empty();

  /**
   * The {@code Mallometer} that the command {@code attach} opened. Guarded by the class's monitor.
   */
  private static Optional<Mallometer> attached = Optional.empty();

  private static volatile long lastAsked;

  private static final String OWNERS = "owners/";

  private CommandLineSession() {}

  static void answer(
      String question, String version, Supplier<List<ClassLoader>> bridges, OutputStream out)
      throws IOException {
    String[] words = question.split(" ", 2);
    String asked = words.length > 1 ? words[1] : "";
    switch (words[0]) {
      case "GET" -> get(asked, version, bridge(bridges), out);
      case "POST" -> post(asked, version, out);
      case "CLOSE" -> close(version, out);
      default -> throw new IllegalArgumentException("\"" + question + "\" is not understood");
    }
  }

  /**
   * Returns the application's own {@code Mallometer} if it polls. Returns empty if the agent or the
   * command {@code attach} already polls in this class loader.
   */
  private static Optional<ApplicationBridge> bridge(Supplier<List<ClassLoader>> bridges) {
    return observed() ? Optional.empty() : ApplicationBridge.of(bridges.get());
  }

  private static void get(
      String asked, String version, Optional<ApplicationBridge> bridge, OutputStream out)
      throws IOException {
    String[] parts = asked.split("\\?", 2);
    if (parts[0].equals("facts")) {
      tell(Facts.ofThisJvm(observed() || bridge.isPresent()), version, out);
      return;
    }
    Map<String, String> parameters = Parameters.of(parts.length > 1 ? parts[1] : null);
    if (bridge.isPresent()) {
      tell(reply(bridge.get(), parts[0], parameters), version, out);
      return;
    }
    tell(answer(new Views(mallometer()), parts[0], parameters), version, out);
  }

  private static ApplicationBridge.Reply reply(
      ApplicationBridge bridge, String name, Map<String, String> parameters) throws IOException {
    return switch (name) {
      case ROOT -> bridge.root(JSON);
      case Views.EVIDENCE -> bridge.evidence();
      default -> bridge.answer(name, parameters);
    };
  }

  private static void tell(ApplicationBridge.Reply reply, String version, OutputStream out)
      throws IOException {
    head(reply.status(), reply.type(), version, out);
    reply.writer().to(out);
  }

  private static Answer answer(Views views, String name, Map<String, String> parameters) {
    return switch (name) {
      case ROOT -> new Told(Answer.Outcome.OK, views.nativeMemory());
      case Views.EVIDENCE -> views.evidence(Entry.options());
      default -> views.answer(name, parameters);
    };
  }

  private static void post(String asked, String version, OutputStream out) throws IOException {
    if (asked.startsWith(OWNERS)) {
      String[] parts = asked.substring(OWNERS.length()).split("\\?", 2);
      Map<String, String> parameters = Parameters.of(parts.length > 1 ? parts[1] : null);
      tell(new Views(mallometer()).owners(parts[0], parameters), version, out);
      return;
    }
    String[] words = asked.split(" ", 2);
    switch (words[0]) {
      case "phase" -> phase(words.length > 1 ? words[1] : "", version, out);
      case "trim" -> tell(new Views(mallometer()).trim(), version, out);
      case "attach" -> attach(version, out);
      case "detach" -> detach(version, out);
      default ->
          throw new IllegalArgumentException(
              "only trim, owners/NUMBER, attach, detach and phase accept POST");
    }
  }

  /**
   * Ends the current phase, and begins the phase {@code next} unless that name is empty. The
   * library keeps the counters of a phase, so a phase continues after the session's {@code
   * Mallometer} is closed.
   */
  private static void phase(String next, String version, OutputStream out) throws IOException {
    Mallometer mallometer = mallometer();
    if (!mallometer.status().active()) {
      refuse(mallometer.status().toString(), version, out);
      return;
    }
    tell(PhaseChange.of(mallometer.monitors().nextPhase(next), next), version, out);
  }

  private static synchronized boolean observed() {
    return Entry.started() || attached.isPresent();
  }

  private static synchronized void attach(String version, OutputStream out) throws IOException {
    Mallometer mallometer = mallometer();
    boolean counted = mallometer.status().active();
    Status status = mallometer.counting().attach();
    if (!status.active()) {
      refuse(
          status.reason() + (status.remedy().isEmpty() ? "" : "; " + status.remedy()),
          version,
          out);
      return;
    }
    if (!counted && !observed()) {
      attached = Optional.of(Entry.open());
    }
    tell(Counting.of(mallometer.snapshot()), version, out);
  }

  private static synchronized void detach(String version, OutputStream out) throws IOException {
    Mallometer mallometer = mallometer();
    Counting before = Counting.of(mallometer.snapshot());
    if (!before.mode().equals(SelfReport.ATTACHED)) {
      refuse(
          before.active()
              ? "a preloaded library cannot be detached: it counts until the process ends"
              : "nothing to detach: native memory is not counted",
          version,
          out);
      return;
    }
    Status status = mallometer.counting().detach();
    if (status.active()) {
      refuse("counting continues: " + mallometer.snapshot().self().remark(), version, out);
      return;
    }
    attached.ifPresent(Mallometer::close);
    attached = Optional.empty();
    tell(before.ended(), version, out);
  }

  private static void refuse(String reason, String version, OutputStream out) throws IOException {
    head(NOT_THERE, "text/plain", version, out);
    out.write((reason + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private static void tell(Answer answer, String version, OutputStream out) throws IOException {
    head(answer.outcome().status(), answer.contentType(), version, out);
    answer.body().writeTo(out);
  }

  private static void tell(View view, String version, OutputStream out) throws IOException {
    tell(new Told(Answer.Outcome.OK, view), version, out);
  }

  private static void head(int status, String type, String version, OutputStream out)
      throws IOException {
    String line = status + "\t" + type + "\t" + version + "\n";
    out.write(line.getBytes(StandardCharsets.UTF_8));
  }

  private static synchronized void close(String version, OutputStream out) throws IOException {
    close();
    head(200, JSON, version, out);
  }

  private static synchronized void close() {
    open.ifPresent(Mallometer::close);
    open = Optional.empty();
  }

  private static synchronized Mallometer mallometer() {
    lastAsked = System.nanoTime();
    if (open.isEmpty()) {
      open = Optional.of(opened());
    }
    Mallometer mallometer = open.get();
    mallometer.poll();
    return mallometer;
  }

  /**
   * Opens a {@code Mallometer} that polls every second. If the agent or the command {@code attach}
   * already polls, uses the existing interval.
   */
  private static Mallometer opened() {
    Mallometer joined = Entry.open();
    Mallometer mallometer = observed() ? joined : oftenPolled(joined);
    awaitFirstReading(mallometer);
    mallometer.onPoll(snapshot -> closeIfForgotten());
    return mallometer;
  }

  /**
   * Replaces {@code joined} by a {@code Mallometer} that polls every second. A temporary one first
   * polls every 50 ms, so that the first reading comes sooner. {@code joined} is closed last,
   * because the poller loses its state when no {@code Mallometer} is open.
   */
  private static Mallometer oftenPolled(Mallometer joined) {
    try (Mallometer quick = Entry.open(every(SOON))) {
      awaitFirstReading(quick);
    }
    Mallometer often = Entry.open(every(OFTEN));
    joined.close();
    return often;
  }

  private static MallometerOptions every(Duration interval) {
    return MallometerOptions.defaults().with(Setting.POLL_INTERVAL, interval);
  }

  private static void awaitFirstReading(Mallometer mallometer) {
    try {
      for (int waited = 0;
          waited < LONGEST_WAIT_MILLIS && mallometer.snapshot().memory().resident().isEmpty();
          waited += SOON.toMillis()) {
        Thread.sleep(SOON.toMillis());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Closes the {@code Mallometer} two minutes after the last question. The poller calls this at
   * each poll. The time is read without the lock, because a question may hold the lock while it
   * waits for the poll.
   */
  private static void closeIfForgotten() {
    if (System.nanoTime() - lastAsked > PATIENCE.toNanos()) {
      close();
    }
  }
}
