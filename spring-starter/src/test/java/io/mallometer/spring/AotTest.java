package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.context.aot.AbstractAotProcessor;

@Tag("context")
@Tag("process")
@Tag("any-jdk")
class AotTest {

  /** Settings for beans that are not there by default: Spring decides ahead of time which exist. */
  private static final String[] ARGUMENTS = {
    "--mallometer.scopes.enabled=true",
    "--management.info.nativememory.enabled=true",
    "--management.endpoints.web.exposure.include=info"
  };

  private static final String CLASS_PATH = System.getProperty("java.class.path");

  @TempDir Path directory;

  @Test
  void processedApplicationPublishesTheSame() throws Exception {
    processAheadOfTime();
    compileGeneratedSources();

    List<String> command =
        new ArrayList<>(
            List.of(
                ChildProcess.java(),
                "-Dspring.aot.enabled=true",
                "-Dspring.devtools.restart.enabled=false",
                "-cp",
                String.join(File.pathSeparator, "classes", "resources", CLASS_PATH),
                OneShotApplication.class.getName()));
    command.addAll(List.of(ARGUMENTS));
    ChildProcess application = ChildProcess.runPreloaded(directory, command);

    assertThat(application.exitCode()).as(application.output()).isZero();
    assertThat(application.output())
        .contains("Starting AOT-processed OneShotApplication")
        .contains("mallometer_active 1.0")
        .containsPattern("native_malloc_request_size_bytes_count [1-9]")
        .contains("\"state\":\"ACTIVE\"")
        .contains("{\"nativeMemory\":{")
        .doesNotContain("WARNING:", "Exception");
  }

  private void processAheadOfTime() {
    AbstractAotProcessor.Settings settings =
        AbstractAotProcessor.Settings.builder()
            .sourceOutput(directory.resolve("sources"))
            .resourceOutput(directory.resolve("resources"))
            .classOutput(directory.resolve("classes"))
            .groupId("io.mallometer")
            .artifactId("application")
            .build();
    new SpringApplicationAotProcessor(OneShotApplication.class, settings, ARGUMENTS).process();
  }

  private void compileGeneratedSources() throws IOException {
    Path classes = Files.createDirectories(directory.resolve("classes"));
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-nowarn",
                "-proc:none",
                "-parameters",
                "-cp",
                classes + File.pathSeparator + CLASS_PATH,
                "-d",
                classes.toString()));
    try (Stream<Path> sources = Files.walk(directory.resolve("sources"))) {
      sources.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(arguments::add);
    }
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, arguments.toArray(String[]::new)))
        .isZero();
  }
}
