package io.mallometer.agent.command;

import java.io.InputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "bundle",
    description =
        "Saves everything that mallometer knows about a JVM's native memory in a zip: a text, every"
            + " view, the recordings and mallometer's settings. The texts hold no secrets or"
            + " addresses; the recordings are not masked.")
final class BundleCommand implements Callable<Integer> {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

  @Mixin private Target target = new Target();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "the file to write; mallometer-PID-TIME.zip by default, with the time in UTC")
  private @Nullable Path output;

  @Override
  public Integer call() throws Exception {
    try (Source source = target.open()) {
      Path file = output == null ? Path.of(name(source)) : output;
      Progress progress = Progress.begin("saving " + source.name());
      try (InputStream zip = source.get("evidence").body();
          Output out = Output.to(file)) {
        out.copy(zip);
        out.finish();
      } finally {
        progress.end();
      }
      Output.standard().line(file.toString()).flush();
    }
    return ExitCode.OK;
  }

  private String name(Source source) throws Exception {
    String pid =
        target.isProcess() ? target.given() : source.get("overview").json().at("pid").text();
    return "mallometer-" + pid + "-" + TIME.format(Instant.now()) + ".zip";
  }
}
