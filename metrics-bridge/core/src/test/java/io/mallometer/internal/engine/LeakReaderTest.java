package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.SilentLibrary;
import io.mallometer.internal.leak.LeakWatch;
import io.mallometer.internal.process.GarbageCollections;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class LeakReaderTest {

  private static final String NOT_PRELOADED = "the library is not preloaded";

  private final SilentLibrary library = new SilentLibrary(Status.counting());
  private final LeakWatch watch =
      new LeakWatch(
          library,
          new CallSiteReader(library, Clock.systemUTC(), System::nanoTime),
          Clock.systemUTC(),
          System::nanoTime,
          () -> new GarbageCollections(0, 0, 0));
  private final LeakReader reader = new LeakReader(watch, library);

  @Test
  void aSnapshotFromBeforeAnAttachDoesNotEndWhatTheAttachBegan() {
    reader.configure(Optional.of(MallometerOptions.defaults()));
    Snapshot before =
        Snapshot.absent(Instant.now(), new Status(State.UNAVAILABLE, NOT_PRELOADED, ""));
    reader.read(before);
    assertThat(watch.latest().reason()).isEqualTo(NOT_PRELOADED);

    reader.attached();
    reader.read(before);
    assertThat(watch.latest().reason()).isEmpty();

    reader.read(before);
    assertThat(watch.latest().reason()).isEqualTo(NOT_PRELOADED);
  }
}
