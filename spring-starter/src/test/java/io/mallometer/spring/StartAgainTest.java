package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.library.load.AttachVariable;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Starts an application without the library, because the variable that allows an attach is
 * mistyped. Starts it again as its log advises, and checks that native memory is counted then.
 */
@EnabledIf("io.mallometer.spring.Matrix#newest")
@Tag("context")
@Tag("process")
@Tag("any-jdk")
class StartAgainTest {

  private static final String ADVICE = "Native memory is not counted";

  @TempDir Path directory;

  /** Prints the series of an application without a web server, and ends. */
  static class Application {

    public static void main(String[] arguments) {
      try (ConfigurableApplicationContext context = Contexts.application().run(arguments)) {
        String scrape = context.getBean(PrometheusMeterRegistry.class).scrape();
        scrape.lines().filter(line -> !line.startsWith("#")).forEach(System.out::println);
      }
    }
  }

  @Test
  void theLoggedVariableStartsTheApplicationWithTheLibrary() throws Exception {
    writeJar(directory.resolve("app.jar"));

    List<String> command =
        List.of(
            ChildProcess.java(),
            "-Dspring.devtools.restart.enabled=false",
            "-Dmanagement.otlp.metrics.export.enabled=false",
            "-jar",
            "app.jar");
    List<String> mistyped = new ArrayList<>(List.of("env", AttachVariable.NAME + "=of"));
    mistyped.addAll(command);
    mistyped.add("--mallometer.attach=early");
    ChildProcess without = ChildProcess.run(directory, mistyped);

    assertThat(without.exitCode()).as(without.output()).isZero();
    assertThat(without.output()).contains("mallometer_active 0.0").doesNotContain("WARNING");
    assertThat(without.lines("LD_PRELOAD=").stream().filter(line -> line.contains(" INFO ")))
        .hasSize(1);
    assertThat(without.lines("Native memory is ")).hasSize(1);
    String advice = without.lines(ADVICE).get(0);
    assertThat(advice)
        .contains(" INFO ", "not counted: MALLOMETER_ATTACH=of is none of auto, early and off, and")
        .contains("the library is not preloaded")
        .endsWith("/libmallometer.so");

    List<String> again = new ArrayList<>(command);
    again.add(1, "--enable-native-access=ALL-UNNAMED");
    again.addAll(0, List.of("env", advice.substring(advice.indexOf("LD_PRELOAD="))));
    ChildProcess with = ChildProcess.run(directory, again);

    assertThat(with.exitCode()).as(with.output()).isZero();
    assertThat(with.output())
        .contains("mallometer_active 1.0")
        .contains("native_malloc_live_bytes ")
        .doesNotContain("WARNING")
        .doesNotContain(ADVICE);
  }

  private static void writeJar(Path file) throws IOException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, Application.class.getName());
    attributes.put(
        Attributes.Name.CLASS_PATH,
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(entry -> Path.of(entry).toUri().toString())
            .collect(Collectors.joining(" ")));
    try (OutputStream out = Files.newOutputStream(file);
        JarOutputStream jar = new JarOutputStream(out, manifest)) {
      jar.finish();
    }
  }
}
