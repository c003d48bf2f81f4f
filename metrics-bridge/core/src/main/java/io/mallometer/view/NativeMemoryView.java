package io.mallometer.view;

import static io.mallometer.model.Figure.Unit.SECONDS;

import io.mallometer.model.Figure;
import io.mallometer.model.Observation;
import io.mallometer.model.Snapshot;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** The answer of the endpoint {@code nativememory}: the latest snapshot. */
public record NativeMemoryView(
    @Figure(value = "The latest snapshot", inline = true) Snapshot snapshot,
    @Figure(value = "The age of the snapshot; absent if there is nothing to read", unit = SECONDS)
        double ageSeconds,
    @Figure("The state of the diagnosis") String diagnosis,
    @Figure("The sentence of the diagnosis") String sentence,
    @Figure("The observation of objects, on which verdicts stand") Observation observation,
    @Figure("When the first epoch of the observation began; absent before")
        Optional<Instant> observedSince)
    implements View {

  static NativeMemoryView of(Snapshot snapshot, Clock clock, Observation observation) {
    return new NativeMemoryView(
        snapshot,
        snapshot.ageSeconds(clock),
        snapshot.diagnosis().state().tag(),
        snapshot.diagnosis().sentence(),
        observation,
        observedSince(observation, clock));
  }

  private static Optional<Instant> observedSince(Observation observation, Clock clock) {
    if (observation.period().startedNanos() == 0) {
      return Optional.empty();
    }
    long nanos = System.nanoTime() - observation.period().startedNanos();
    return Optional.of(clock.instant().minusNanos(nanos).truncatedTo(ChronoUnit.MINUTES));
  }
}
