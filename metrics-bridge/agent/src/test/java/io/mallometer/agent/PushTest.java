package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.program.DeflaterLeak;
import io.mallometer.push.ProfileStore;
import io.mallometer.push.ProfileStore.Pushed;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application that nothing can scrape, under the agent. */
@Tag("process")
class PushTest {

  @TempDir private Path directory;

  @Test
  void profilesOfTheApplicationComeToTheStore() throws Exception {
    try (ProfileStore store = new ProfileStore(null, 0, () -> 200)) {
      Process application =
          start("push.url=" + store.url() + ",push.interval=1s,push.labels=service_name=leaky");
      try {
        Pushed first = store.next();
        assertThat(first.labels()).containsEntry("service_name", "leaky");
        Pushed second = store.next();
        assertThat(second.text()).contains("io.mallometer.program.DeflaterLeak.main");
      } finally {
        application.destroyForcibly().waitFor();
      }
    }
  }

  private Process start(String options) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-javaagent:" + System.getProperty("agent.jar") + "=" + options,
                    "-cp",
                    "target/test-classes",
                    DeflaterLeak.class.getName()))
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("output").toFile());
    builder.environment().put("LD_PRELOAD", System.getProperty("library"));
    builder.environment().put("XDG_CACHE_HOME", directory.toString());
    return builder.start();
  }
}
