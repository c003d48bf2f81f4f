package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.library.load.AttachVariable;
import io.mallometer.model.AttachMode;
import java.io.File;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

@Tag("context")
@Tag("process")
@Tag("any-jdk")
class DevtoolsTest {

  @TempDir Path directory;

  @Test
  void restartedApplicationHasEachMeterAndMBeanOnce() throws Exception {
    ChildProcess application = ChildProcess.runPreloaded(directory, command());

    assertThat(application.exitCode()).as(application.output()).isZero();
    assertThat(application.lines("RestartClassLoader")).hasSize(1);
    assertThat(application.lines("# TYPE mallometer_active gauge")).hasSize(1);
    assertThat(application.lines("mallometer_active 1.0")).hasSize(1);
    assertThat(application.lines("# TYPE native_malloc_request_size_bytes histogram")).hasSize(1);
    assertThat(application.output()).contains("MBeans: 5, pollers: 1");
  }

  @Test
  @EnabledIf("io.mallometer.spring.Matrix#oldest")
  void restartedApplicationStaysAttached() throws Exception {
    List<String> attaches =
        new ArrayList<>(List.of("env", AttachVariable.NAME + "=" + AttachMode.EARLY));
    attaches.addAll(command());

    ChildProcess application = ChildProcess.run(directory, attaches);

    assertThat(application.exitCode()).as(application.output()).isZero();
    assertThat(application.lines("RestartClassLoader")).hasSize(1);
    assertThat(application.lines("mallometer_active 1.0")).hasSize(1);
    assertThat(application.lines("Native memory is ")).hasSize(1);
    assertThat(application.output()).contains("MBeans: 5, pollers: 1");
  }

  private List<String> command() throws Exception {
    copyIntoDirectory(DevtoolsApplication.class);
    copyIntoDirectory(RunningApplication.class);
    return List.of(
        ChildProcess.java(),
        "-cp",
        "classes" + File.pathSeparator + System.getProperty("java.class.path"),
        DevtoolsApplication.class.getName());
  }

  private void copyIntoDirectory(Class<?> type) throws Exception {
    String file = type.getName().replace('.', '/') + ".class";
    Path copy = directory.resolve("classes").resolve(file);
    Files.createDirectories(copy.getParent());
    try (InputStream content = type.getClassLoader().getResourceAsStream(file)) {
      Files.copy(content, copy);
    }
  }
}
