package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.push.ProfileStore;
import io.mallometer.push.ProfileStore.Pushed;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs an application under the agent that pushes profiles and has no port for scrapes. */
@Tag("process")
class PushTest {

  @TempDir private Path directory;

  @Test
  void profilesOfTheApplicationComeToTheStore() throws Exception {
    try (ProfileStore store = new ProfileStore(null, 0, () -> 200)) {
      Process application =
          UnderAgent.start(
              directory,
              "push.url=" + store.url() + ",push.interval=1s,push.labels=service_name=leaky");
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
}
