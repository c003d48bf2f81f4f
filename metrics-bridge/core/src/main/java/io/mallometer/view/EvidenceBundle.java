package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.internal.text.HumanText;
import io.mallometer.internal.text.JsonWriter;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.Setting;
import io.mallometer.report.LeakFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The evidence bundle: a zip to attach to a support ticket. It contains a text report, each view,
 * the recordings of this and the previous run, and the settings. It contains at most {@link
 * #MOST_SITES} call sites, and no recording of more than {@link #MOST_RECORDING_BYTES}.
 *
 * <p>The texts contain neither secrets nor memory addresses: the values of secret and unknown
 * settings are masked. The recordings are copied as they are.
 */
final class EvidenceBundle {

  static final String CONTENT_TYPE = "application/zip";

  static final int MOST_SITES = 1_000;
  private static final long MOST_RECORDING_BYTES = 4 << 20;

  private static final String MASKED = "******";

  /**
   * Parts of a setting's name that are ignored in comparisons: Spring Boot binds {@code max-scopes}
   * and {@code maxScopes} to one setting.
   */
  private static final Pattern NOT_COMPARED =
      Pattern.compile("^(mallometer\\.|MALLOMETER_)|\\[\\d+]|[^a-zA-Z]");

  /**
   * A memory address. A hexadecimal number after a plus does not match, because it is an offset.
   */
  private static final Pattern ADDRESS = Pattern.compile("(?<![+\\w])0x[0-9a-fA-F]+");

  private final Mallometer mallometer;
  private final Views views;
  private final Map<String, String> settings;
  private final ZipOutputStream zip;

  private EvidenceBundle(
      Mallometer mallometer, Views views, Map<String, String> settings, ZipOutputStream zip) {
    this.mallometer = mallometer;
    this.views = views;
    this.settings = settings;
    this.zip = zip;
  }

  /**
   * Writes the zip and does not close the stream.
   *
   * @param settings mallometer's settings by name, without those in system properties and
   *     environment variables, which this class reads itself
   */
  static void write(
      Mallometer mallometer, Views views, Map<String, String> settings, OutputStream out)
      throws IOException {
    Mallometer.History history = mallometer.history();
    write(mallometer, views, settings, history.recording(), history.previousRun(), out);
  }

  static void write(
      Mallometer mallometer,
      Views views,
      Map<String, String> settings,
      RecordingStatus recording,
      Optional<PreviousRun> previous,
      OutputStream out)
      throws IOException {
    ZipOutputStream zip = new ZipOutputStream(out, StandardCharsets.UTF_8);
    new EvidenceBundle(mallometer, views, settings, zip).write(recording, previous);
    zip.finish();
  }

  private void write(RecordingStatus recording, Optional<PreviousRun> previous) throws IOException {
    add("report.txt", this::report);
    add("leaks.txt", out -> LeakFormat.TEXT.write(mallometer.leaks().report(), true, out));
    for (String name : Views.NAMES) {
      add(name + ".json", views.answer(name, parameters(name)).body());
    }
    add("settings.json", this::settings);
    if (recording.state() == RecordingStatus.State.ON) {
      recording("recording", recording.path());
    }
    if (previous.isPresent()) {
      recording("recording.previous", previous.get().file());
    }
  }

  private static Map<String, String> parameters(String view) {
    return switch (view) {
      case "sites" -> Map.of("limit", Integer.toString(MOST_SITES));
      case "leaks" -> Map.of("all", "true");
      default -> Map.of();
    };
  }

  /**
   * Adds an entry. If the body cannot be written, the entry contains the error instead. The other
   * entries are not affected.
   */
  private void add(String name, Answer.Body body) throws IOException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try {
      body.writeTo(text);
    } catch (RuntimeException | LinkageError e) {
      text.writeBytes(
          ("this part could not be made: " + e + "\n").getBytes(StandardCharsets.UTF_8));
    }
    String masked = ADDRESS.matcher(text.toString(StandardCharsets.UTF_8)).replaceAll("[unknown]");
    put(name, masked.getBytes(StandardCharsets.UTF_8));
  }

  private void put(String name, byte[] bytes) throws IOException {
    ZipEntry entry = new ZipEntry(name);
    entry.setTime(mallometer.clock().millis());
    zip.putNextEntry(entry);
    zip.write(bytes);
    zip.closeEntry();
  }

  private void report(OutputStream out) throws IOException {
    Diagnosis diagnosis = mallometer.snapshot().diagnosis();
    StringBuilder text = new StringBuilder();
    line(
        text,
        "Native memory of process %d at %s",
        ProcessHandle.current().pid(),
        mallometer.snapshot().time());
    line(text, "%s: %s", diagnosis.state().words(), diagnosis.sentence());
    diagnosis.actions().forEach(action -> line(text, "  to do: %s", action));
    for (Diagnosis.Finding finding : diagnosis.findings()) {
      line(text, "  %s, %s: %s", finding.topic(), finding.state().words(), finding.text());
    }
    mallometer.snapshot().memory().resident().ifPresent(resident -> split(text, resident));
    out.write(text.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static void split(StringBuilder text, ResidentMemory resident) {
    line(text, "");
    line(text, "Resident %s, of which", HumanText.bytes(resident.totalBytes()));
    resident.parts().entrySet().stream()
        .sorted(Map.Entry.<ResidentPart, Long>comparingByValue(Comparator.reverseOrder()))
        .forEach(
            part ->
                line(text, "  %-24s %s", part.getKey().tag(), HumanText.bytes(part.getValue())));
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments)).append('\n');
  }

  private void settings(OutputStream out) throws IOException {
    SortedMap<String, String> all = new TreeMap<>(settings);
    for (String name : System.getProperties().stringPropertyNames()) {
      if (name.startsWith("mallometer.")) {
        all.put(name, System.getProperty(name, ""));
      }
    }
    System.getenv()
        .forEach(
            (name, value) -> {
              if (name.startsWith("MALLOMETER_")) {
                all.put(name, value);
              }
            });
    all.replaceAll(EvidenceBundle::masked);
    StringWriter json = new StringWriter();
    JsonWriter.to(json).tree(all);
    out.write(json.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static String masked(String name, String value) {
    String compared = NOT_COMPARED.matcher(name).replaceAll("").toLowerCase(Locale.ROOT);
    for (Setting<?> setting : Setting.all()) {
      if (NOT_COMPARED.matcher(setting.name()).replaceAll("").equals(compared)) {
        return setting.isSecret() ? MASKED : value;
      }
    }
    return MASKED;
  }

  private void recording(String name, String path) throws IOException {
    try {
      Path file = Path.of(path);
      if (Files.size(file) <= MOST_RECORDING_BYTES) {
        put(name, Files.readAllBytes(file));
      }
    } catch (IOException | RuntimeException e) {
      put(name + ".txt", ("cannot be read: " + e).getBytes(StandardCharsets.UTF_8));
    }
  }
}
