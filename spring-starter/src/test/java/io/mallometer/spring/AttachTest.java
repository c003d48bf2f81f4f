package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.library.load.AttachVariable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("context")
@Tag("process")
class AttachTest {

  private static final String NOTICE = "Native memory is ";

  /** The deflaters take 53 MB. Counts of their bytes must exceed this bound. */
  private static final double KEPT = 50e6;

  @TempDir Path directory;

  @Test
  void applicationCountsWithTheDependencyAlone() throws Exception {
    ChildProcess application = run();

    assertAttached(application);
    assertThat(number(application, "at first: native_malloc_allocated_bytes_total"))
        .isBetween(1.0, KEPT);
    assertThat(detail(application, "allocatedBeforeBytes")).isGreaterThan(KEPT);
  }

  @Test
  @Tag("any-jdk")
  void earlyCountsWhatBeansAllocateAndAMistypedPropertyStopsTheStart() throws Exception {
    ChildProcess application = run("--mallometer.attach=early");

    assertAttached(application);
    assertThat(number(application, "at first: native_malloc_allocated_bytes_total"))
        .isGreaterThan(KEPT);
    assertThat(detail(application, "allocatedBeforeBytes")).isBetween(1.0, KEPT);
    assertThat(application.lines("beans have waited")).hasSize(1);
    assertThat(application.output())
        .contains("APPLICATION FAILED TO START", "mallometer.attach", "\"of\"")
        .contains("AUTO", "EARLY", "OFF");
  }

  private static void assertAttached(ChildProcess application) {
    assertThat(application.exitCode()).as(application.output()).isZero();
    assertThat(application.lines(NOTICE))
        .singleElement()
        .asString()
        .contains(" INFO ", "(attached); ", " MiB ± ", " were allocated before")
        .contains("To count from the first instruction: LD_PRELOAD=/");
    assertThat(application.lines("at first: mallometer_build_info{"))
        .singleElement()
        .asString()
        .contains("mode=\"attached\"");
    assertThat(application.lines("at first: mallometer_application_info{"))
        .singleElement()
        .asString()
        .contains("version=\"2.3.1\"");
    assertThat(number(application, "at first: native_malloc_live_bytes")).isPositive();
    assertThat(growth(application, "native_malloc_allocated_bytes_total"))
        .isBetween(KEPT, 3 * KEPT);
    // The growth is not exact, because the JVM's compilers free memory meanwhile.
    assertThat(growth(application, "native_malloc_live_bytes")).isBetween(KEPT / 2, 2 * KEPT);
    assertThat(application.lines("health "))
        .singleElement()
        .asString()
        .containsPattern("\"mode\":\"attached\",\"since\":\"20\\d\\d-[-0-9T:.]+Z\"");
  }

  private static double growth(ChildProcess application, String series) {
    return number(application, "then: " + series) - number(application, "at first: " + series);
  }

  private ChildProcess run(String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                "env",
                "-u",
                AttachVariable.NAME,
                ChildProcess.java(),
                "-Dspring.devtools.restart.enabled=false",
                "-cp",
                System.getProperty("java.class.path"),
                AttachedApplication.class.getName(),
                "--management.endpoints.web.exposure.include=prometheus,health",
                "--management.endpoint.health.show-details=always",
                "--spring.application.version=2.3.1"));
    command.addAll(List.of(arguments));
    return ChildProcess.run(directory, command);
  }

  private static double number(ChildProcess application, String series) {
    List<String> lines = application.lines(series + " ");
    assertThat(lines).as(application.output()).hasSize(1);
    return Double.parseDouble(lines.get(0).substring(lines.get(0).lastIndexOf(' ') + 1));
  }

  private static double detail(ChildProcess application, String name) {
    String health = application.lines("health ").get(0);
    assertThat(health).contains("\"" + name + "\":");
    String from = health.substring(health.indexOf("\"" + name + "\":") + name.length() + 3);
    return Double.parseDouble(from.split("[,}]")[0]);
  }
}
